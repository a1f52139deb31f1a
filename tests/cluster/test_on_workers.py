"""The estimators on a cluster of processes: what a user does with them."""

import pickle
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pytest
from beside import Fit
from dask.sizeof import sizeof
from distributed import Client
from here_models import (
    TABLE,
    TEXT,
    UNEQUAL,
    HereClassifier,
    HereRegressor,
    bytes_of,
    chunked,
    data,
    labels,
    quietly,
)
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, r2_score

from pegasos import PegasosClassifier, PegasosRegressor, convert_data, open_data
from pegasos.dask import DaskPegasosClassifier, DaskPegasosRegressor
from pegasos.dask.cluster import Cluster
from pegasos.dask.parts import Part, read_part
from pegasos.dask.work import Outcome
from pegasos.solvers.base import Run

QUICK = {"lam": 1e-2, "tol": 1e-2}


def computed(client, lazy):
    return client.compute(lazy).result()


@pytest.mark.parametrize(
    ("kind", "here", "rows", "what"),
    [
        (DaskPegasosClassifier, HereClassifier, "table", "three"),
        (DaskPegasosRegressor, HereRegressor, "text", "numbers"),
    ],
)
def test_bytes_depend_on_the_partitions_alone(client, kind, here, rows, what):
    X, y = data(rows, what)
    assert bytes_of(kind(**QUICK, client=client).fit(X, y)) == bytes_of(here(**QUICK).fit(X, y))


def test_persisted_rows_and_futures_are_partitions(client):
    X, y = data("text", "two")
    expected = bytes_of(HereClassifier(**QUICK).fit(X, y))
    X, y = client.persist((X, y))
    assert bytes_of(DaskPegasosClassifier(**QUICK, client=client).fit(X, y)) == expected
    parts = client.compute([*X.to_delayed().ravel()]), client.compute([*y.to_delayed().ravel()])
    assert bytes_of(DaskPegasosClassifier(**QUICK, client=client).fit(*parts)) == expected


def _maps(file):
    return str(file) in Path("/proc/self/maps").read_text()


def test_files_of_open_data_are_mapped_by_the_workers(client, tmp_path):
    """Rows do not travel: workers read them where they are, and Dask counts next to nothing."""
    y = labels("text", "two")
    files = [tmp_path / f"rows{i}.pegasos" for i in range(3)]
    for i, file in enumerate(files):
        convert_data((TEXT[300 * i : 300 * i + 300], y[300 * i : 300 * i + 300]), file, keep_order=True)
    parts = [open_data(file) for file in files]
    fit = Fit(DaskPegasosClassifier(lam=1e-7, tol=1e-15, max_rounds=100, client=client), parts)
    fit.in_round(2)
    assert all(any(client.run(_maps, file).values()) for file in files)
    assert fit.ended() is None
    expected = HereClassifier(lam=1e-7, tol=1e-15, max_rounds=100)
    assert bytes_of(fit.estimator) == bytes_of(quietly(expected, parts))
    assert sizeof(read_part(0, parts[0], None, None)) < TEXT[:300].data.nbytes


def test_predictions_are_lazy_and_those_of_the_local_model(client):
    X, y = data("text", "three")
    model = DaskPegasosClassifier(**QUICK, loss="log", client=client).fit(X, y)
    local = model.to_local()
    assert type(local) is PegasosClassifier
    for method in ("predict", "decision_function", "predict_proba"):
        lazy = getattr(model, method)(X)
        assert isinstance(lazy, da.Array)
        assert lazy.chunks[0] == tuple(n for n in UNEQUAL["text"] if n)
        expected = getattr(local, method)(TEXT)
        assert lazy.shape == expected.shape
        assert lazy.dtype == expected.dtype
        np.testing.assert_array_equal(computed(client, lazy), expected)
    s = np.random.default_rng(0).random(900)
    score = model.score(X, y, sample_weight=chunked(s, UNEQUAL["text"]))
    np.testing.assert_allclose(score, accuracy_score(labels("text", "three"), local.predict(TEXT), sample_weight=s))


def test_the_hinge_has_no_probabilities(client):
    model = DaskPegasosClassifier(**QUICK, client=client).fit(*data("table", "two"))
    assert not hasattr(model, "predict_proba")


def test_r_squared_is_that_of_all_rows(client):
    X, y = data("table", "numbers")
    model = DaskPegasosRegressor(**QUICK, client=client).fit(X, y)
    assert type(model.to_local()) is PegasosRegressor
    score = model.score(X, y)
    np.testing.assert_allclose(score, r2_score(labels("table", "numbers"), model.to_local().predict(TABLE)))


def test_partial_fit_goes_through_the_partitions_in_their_order(client):
    X, y = data("table", "two")
    model = DaskPegasosClassifier(lam=1e-2, random_state=0, client=client).partial_fit(X, y, classes=["no", "yes"])
    model.partial_fit(X, y)
    local = PegasosClassifier(lam=1e-2, random_state=0)
    ends = np.cumsum(UNEQUAL["table"])
    for _ in range(2):
        for first, last in zip(ends - UNEQUAL["table"], ends, strict=True):
            if last > first:
                local.partial_fit(TABLE[first:last], labels("table", "two")[first:last], classes=["no", "yes"])
    np.testing.assert_array_equal(model.coef_, local.coef_)
    assert np.isnan(model.gap_)
    assert model.n_steps_ == local.n_steps_ == 1200


def test_a_warm_start_stays_on_the_cluster(client):
    X, y = data("text", "two")
    model = DaskPegasosClassifier(**QUICK, warm_start=True, client=client).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_rounds_ == 1
    np.testing.assert_array_equal(model.coef_, first)


def test_models_are_cloned_and_pickled_without_the_cluster(client):
    model = DaskPegasosClassifier(lam=1e-3, warm_start=True, client=client)
    copy = clone(model)
    assert copy.client is client
    assert copy.get_params()["lam"] == 1e-3
    model.fit(*data("table", "two"))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.to_local().predict(TABLE), model.to_local().predict(TABLE))


def test_the_last_client_is_taken_where_none_is_named(client):
    X, y = data("table", "two")
    with client.as_current():
        model = DaskPegasosClassifier(**QUICK).fit(X, y)
        assert model.client_ is client
    with pytest.raises(ValueError, match="there is no Dask client"):
        DaskPegasosClassifier().fit(X, y)
    closed = Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match="client is closed"):
        DaskPegasosClassifier(client=closed).fit(X, y)
    with pytest.raises(TypeError, match=r"must be a distributed\.Client"):
        DaskPegasosClassifier(client="tcp://127.0.0.1:1").fit(X, y)


def test_nothing_is_known_before_a_fit():
    with pytest.raises(NotFittedError):
        DaskPegasosClassifier().to_local()


def test_rounds_are_told(client, capsys):
    DaskPegasosClassifier(**QUICK, verbose=1, client=client).fit(*data("table", "two"))
    assert "gap" in capsys.readouterr().out


def test_a_task_that_raises_is_named_with_partition_row_and_column(client):
    X = TABLE.copy()
    X[105, 3] = np.inf
    with pytest.raises(ValueError, match=r"partition 2: .*row 5, column 3"):
        DaskPegasosClassifier(**QUICK, client=client).fit(chunked(X, UNEQUAL["table"]), data("table", "two")[1])


def _fails():
    raise OSError("disk on fire")


def test_errors_of_the_users_own_tasks_come_as_they_are(client):
    parts = [dask.delayed(TABLE), dask.delayed(_fails)()]
    with pytest.raises(OSError, match="disk on fire"):
        DaskPegasosClassifier(**QUICK, client=client).fit(parts, [dask.delayed(labels("table", "two"))] * 2)


def slowly(X, seconds):
    time.sleep(seconds)
    return X


def test_max_time_ends_a_fit(client):
    X, y = data("text", "two")
    model = quietly(DaskPegasosClassifier(lam=1e-6, tol=1e-14, max_time=1.0, max_rounds=10**6, client=client), X, y)
    assert not model.converged_
    assert np.isfinite(model.gap_)


@pytest.mark.parametrize("when", ["reading", "rounds"])
def test_ctrl_c_ends_a_fit_and_leaves_no_task_behind(client, when, monkeypatch):
    X, y = data("text", "two")
    if when == "reading":
        X = X.map_blocks(slowly, 60, meta=X._meta)
    model = DaskPegasosClassifier(lam=1e-7, tol=1e-14, max_rounds=10**6, client=client)
    _interrupt_after(monkeypatch, *((3, "orders") if when == "rounds" else (2, "read")))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    if when == "rounds":
        assert np.isfinite(model.gap_)
        assert not model.converged_
    else:
        assert not hasattr(model, "coef_")
    _until(lambda: not any("pegasos" in str(key) for keys in client.processing().values() for key in keys))
    if when == "reading":
        client.restart()  # a task that sleeps cannot be stopped


def _interrupt_after(monkeypatch, n, kind):
    """Ctrl-C, a moment after the n-th task of a kind."""
    import _thread

    real, seen = Cluster.submit, []

    def submit(cluster, function, *args, what):
        if what == kind:
            seen.append(what)
            if len(seen) == n:
                threading.Timer(0.3, _thread.interrupt_main).start()
        return real(cluster, function, *args, what=what)

    monkeypatch.setattr(Cluster, "submit", submit)


def _until(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def test_dask_knows_how_large_things_are():
    X = np.zeros((1000, 10))
    assert sizeof(Part(0, X, np.zeros(1000), None)) >= X.nbytes
    assert sizeof(Outcome({0: (np.zeros(1000), np.zeros(1000))}, {})) >= 16000


def test_weights_of_many_features_are_sent_without_a_warning(client, recwarn):
    """Dask warns of large graphs; what is large here are the weights, and they are no mistake of the user's."""
    cluster = Cluster(client, Run(1e-3, 1, None))
    kept = cluster.keep(np.zeros(2_000_000), "orders", beside=cluster.submit(int, what="zero"))
    cluster.values([cluster.submit(np.size, kept, what="size")])
    assert not [w for w in recwarn if "large" in str(w.message).lower()]
