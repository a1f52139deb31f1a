"""Rounds on partitions find the optimum of all rows, and prove it. No cluster: the tasks run here."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from here_models import (
    BIASES,
    CASES,
    ROWS,
    TABLE,
    TEXT,
    UNEQUAL,
    HereClassifier,
    HereRegressor,
    bytes_of,
    chunked,
    data,
    labels,
    local_of,
    quietly,
)
from sklearn.exceptions import ConvergenceWarning

from pegasos import convert_data, open_data


@pytest.fixture(autouse=True)
def _by_ascent_alone(request, monkeypatch):
    """Texts are few here: they are to be trained as if there were many features, without Newton steps."""
    if "text" in request.node.name:
        monkeypatch.setattr("pegasos.dask.ascent.MOST_WEIGHTS", 0)


def check_optimal(model, X, y, tol, **given):
    """The promise of tol, and that of gap_, against a local fit that goes on much longer."""
    exact = quietly(local_of(model, tol=1e-9, warm_start=False), X, y, **given)
    above = np.asarray(model.objective_) - np.asarray(exact.objective_)
    yardstick = np.mean(y**2) if isinstance(model, HereRegressor) else np.log(3)  # at least f(0)
    if getattr(model, "costs", None) is not None:
        yardstick = np.max(model.costs)
    assert model.converged_
    assert (np.asarray(model.gap_) >= above).all()
    assert (above <= tol * yardstick).all()


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("kind", "loss", "what"), CASES, ids=[f"{loss}" for _, loss, _ in CASES])
def test_every_loss_and_bias_has_the_optimum_of_a_local_fit(kind, loss, what, bias, rows):
    tol = 1e-6 if rows == "table" else 1e-4
    if (loss, bias, rows) == ("multiclass_hinge", "free", "text"):
        tol = 1e-3  # three biases that nothing holds: 1e-4 takes more than 1,000 epochs
    X, y = data(rows, what)
    model = kind(lam=1e-2, loss=loss, bias=bias, tol=tol).fit(X, y)
    check_optimal(model, ROWS[rows], labels(rows, what), tol)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_hundreds_of_features_to_the_sixth_digit(loss):
    X, y = data("text", "two")
    check_optimal(HereClassifier(lam=1e-2, loss=loss, tol=1e-6).fit(X, y), TEXT, labels("text", "two"), 1e-6)


@pytest.mark.parametrize("lam", [1e-3, 1e-6])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log", "multinomial"])
def test_few_features_take_few_rounds_at_any_lam(loss, lam):
    X, y = data("table", "three" if loss == "multinomial" else "two")
    model = HereClassifier(lam=lam, loss=loss, tol=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_rounds_ <= 70


@pytest.mark.parametrize("rows", ROWS)
def test_weights_are_those_of_a_local_fit(rows):
    s = np.random.default_rng(3).integers(0, 3, len(labels(rows, "two"))).astype(float)
    X, y = data(rows, "two")
    weights = {"no": 3.0, "yes": 0.5}
    tol = 1e-5 if rows == "table" else 1e-4
    model = HereClassifier(lam=1e-2, class_weight=weights, tol=tol)
    model.fit(X, y, sample_weight=chunked(s, UNEQUAL[rows]))
    check_optimal(model, ROWS[rows], labels(rows, "two"), tol, sample_weight=s)


def test_a_weight_of_two_is_the_row_twice():
    X, y = data("table", "two")
    s = np.where(np.arange(600) % 3 == 0, 2.0, 1.0)
    once = HereClassifier(lam=1e-2, tol=1e-7).fit(X, y, sample_weight=chunked(s, UNEQUAL["table"]))
    which = np.repeat(np.arange(600), s.astype(int))
    again = local_of(once).fit(TABLE[which], labels("table", "two")[which])
    np.testing.assert_allclose(once.objective_, again.objective_, atol=2e-7)


@pytest.mark.parametrize("bias", BIASES)
def test_several_classes_one_against_the_rest(bias):
    X, y = data("table", "three")
    model = HereClassifier(lam=1e-2, bias=bias, class_weight="balanced", tol=1e-5).fit(X, y)
    assert model.coef_.shape == (3, 6)
    check_optimal(model, TABLE, labels("table", "three"), 1e-5)


def test_costs_are_those_of_a_local_fit():
    X, y = data("table", "three")
    costs = np.array([[0, 1, 5], [2, 0, 1], [1, 1, 0.0]])
    model = HereClassifier(lam=1e-2, loss="multiclass_hinge", costs=costs, tol=1e-5).fit(X, y)
    check_optimal(model, TABLE, labels("table", "three"), 1e-5)


def test_the_gap_falls_and_history_ends_with_it():
    X, y = data("text", "two")
    model = HereClassifier(lam=1e-2, tol=1e-4).fit(X, y)
    gaps = model.history_["gap"]
    assert model.history_["objective"][-1] == model.objective_
    assert gaps[-1] == model.gap_
    assert (np.diff(gaps) <= 0).all()
    assert len(gaps) == model.n_rounds_


def test_partitions_of_text_that_crawl_gather_momentum(monkeypatch):
    """Without it 1e-4 takes 226 rounds."""
    X, y = data("text", "two")
    fast = HereClassifier(lam=1e-2, tol=1e-4).fit(X, y)
    monkeypatch.setattr("pegasos.dask.ascent.Ascent._gather_momentum", lambda _: None)
    slow = HereClassifier(lam=1e-2, tol=1e-4).fit(X, y)
    assert 2 * fast.n_rounds_ < slow.n_rounds_
    assert 2 * fast.n_steps_ < slow.n_steps_


def test_a_warm_start_on_text_goes_on():
    X, y = data("text", "two")
    cold = HereClassifier(lam=1e-2, tol=1e-4).fit(X, y)
    model = HereClassifier(lam=1e-2, tol=1e-3, warm_start=True).fit(X, y)
    model.fit(X, y)
    assert model.n_rounds_ == 1  # which proves what was there
    model.set_params(tol=1e-4).fit(X, y)
    assert model.converged_
    assert model.n_rounds_ < cold.n_rounds_


def test_rounds_one_at_a_time_get_there():
    X, y = data("table", "two")
    model = HereClassifier(lam=1e-2, tol=1e-3, warm_start=True, max_rounds=2)
    gaps = [quietly(model, X, y).gap_ for _ in range(12)]
    assert (np.diff(gaps) < 0).all()
    assert gaps[-1] < 0.004  # 0.015 at first


def test_a_warm_start_with_another_lam_or_other_rows_is_still_right():
    X, y = data("text", "two")
    model = HereClassifier(lam=1e-3, tol=1e-4, warm_start=True).fit(X, y)
    model.set_params(lam=1e-2).fit(X, y)
    check_optimal(model, TEXT, labels("text", "two"), 1e-4)
    model.fit(X[:700], y[:700])
    check_optimal(model, TEXT[:700], labels("text", "two")[:700], 1e-4)


def test_max_rounds_warns_with_the_gap():
    X, y = data("text", "two")
    with pytest.warns(ConvergenceWarning, match="Raise max_rounds=2"):
        model = HereClassifier(lam=1e-4, tol=1e-6, max_rounds=2).fit(X, y)
    assert model.n_rounds_ == 2
    assert 1e-6 < model.gap_ < 1


def test_no_time_at_all_ends_with_a_certificate():
    X, y = data("text", "two")
    with pytest.warns(ConvergenceWarning):
        model = HereClassifier(lam=1e-4, tol=1e-6, max_time=1e-9).fit(X, y)
    assert np.isfinite(model.gap_)
    assert not model.converged_


def test_seeds_decide_and_the_default_is_always_the_same():
    X, y = data("text", "two")
    first, second, other = (HereClassifier(lam=1e-3, random_state=seed).fit(X, y) for seed in (None, None, 7))
    assert bytes_of(first) == bytes_of(second)
    assert bytes_of(first) != bytes_of(other)


# What rows may be


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
def test_types_of_numbers(rows, dtype):
    X = chunked(ROWS[rows].astype(dtype), UNEQUAL[rows])
    model = HereClassifier(lam=1e-2, tol=1e-4).fit(X, data(rows, "two")[1])
    check_optimal(model, ROWS[rows].astype(dtype), labels(rows, "two"), 1e-4)


def test_chunks_along_columns_are_put_together():
    X, y = data("table", "two")
    a = HereClassifier().fit(X.rechunk({1: 2}), y)
    assert bytes_of(a) == bytes_of(HereClassifier().fit(X, y))


def test_labels_cut_in_another_way_are_cut_as_the_rows_are():
    X, y = data("table", "two")
    assert bytes_of(HereClassifier().fit(X, y.rechunk(77))) == bytes_of(HereClassifier().fit(X, y))


def test_dataframes_keep_their_names():
    dd = pytest.importorskip("dask.dataframe")
    names = [f"feature {i}" for i in range(6)]
    frame = dd.from_pandas(pd.DataFrame(TABLE, columns=names), npartitions=3)
    y = dd.from_pandas(pd.Series(labels("table", "two")), npartitions=3)
    model = HereClassifier(lam=1e-2).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    assert model.to_local().feature_names_in_.tolist() == names
    answers = model.predict(frame).compute(scheduler="synchronous")
    assert (answers == model.to_local().predict(pd.DataFrame(TABLE, columns=names))).all()


def test_delayed_frames_keep_theirs_too():
    names = list("abcdef")
    frames = [dask.delayed(pd.DataFrame(TABLE[i : i + 200], columns=names)) for i in (0, 200, 400)]
    y = [dask.delayed(labels("table", "two")[i : i + 200]) for i in (0, 200, 400)]
    assert HereClassifier().fit(frames, y).feature_names_in_.tolist() == names
    frames[1] = dask.delayed(pd.DataFrame(TABLE[200:400], columns=list("abcdgf")))
    with pytest.raises(ValueError, match="partition 1 has other column names"):
        HereClassifier().fit(frames, y)


@pytest.mark.parametrize("lazily", [True, False])
def test_files_of_open_data_are_partitions(tmp_path, lazily):
    y = labels("text", "two")
    files = []
    for i, at in enumerate((0, 300, 600)):
        files.append(tmp_path / f"rows{i}.pegasos")
        convert_data((TEXT[at : at + 300], y[at : at + 300]), files[-1], keep_order=True)
    parts = [dask.delayed(open_data)(file) if lazily else open_data(file) for file in files]
    model = HereClassifier(lam=1e-2, tol=1e-4).fit(parts)
    X = chunked(TEXT, (300, 300, 300))
    assert bytes_of(model) == bytes_of(HereClassifier(lam=1e-2, tol=1e-4).fit(X, da.from_array(y, chunks=300)))
    answers = model.predict(parts).compute(scheduler="synchronous")
    assert (answers == model.to_local().predict(TEXT)).all()


# What is refused


def bad_table(row, column, value):
    X = TABLE.copy()
    X[row, column] = value
    return chunked(X, UNEQUAL["table"])


def test_a_bad_number_is_named_with_partition_row_and_column():
    with pytest.raises(ValueError, match=r"partition 2: .*row 5, column 3"):
        HereClassifier().fit(bad_table(105, 3, np.nan), data("table", "two")[1])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"loss": "hing"}, "loss"),
        ({"bias": "batch"}, "bias='free'"),
        ({"lam": 0}, "lam must be"),
        ({"max_rounds": -1}, "max_rounds"),
    ],
)
def test_bad_parameters_say_what_to_do(change, match):
    with pytest.raises(ValueError, match=match):
        HereClassifier(**change).fit(*data("table", "two"))


def test_bad_data_says_what_to_do():
    X, y = data("table", "two")
    with pytest.raises(TypeError, match="X must be a dask array"):
        HereClassifier().fit(TABLE, y)
    with pytest.raises(ValueError, match="y has 500 entries for 600 rows"):
        HereClassifier().fit(X, y[:500])
    with pytest.raises(ValueError, match="y is missing"):
        HereClassifier().fit(X)
    with pytest.raises(ValueError, match=r"partition 0: sample_weight\[3\] = -1"):
        HereClassifier().fit(X, y, sample_weight=chunked(np.where(np.arange(600) == 3, -1.0, 1.0), UNEQUAL["table"]))
    with pytest.raises(ValueError, match="partition 1 has 5 columns, partition 0 has 6"):
        HereClassifier().fit(
            [dask.delayed(TABLE), dask.delayed(TABLE[:, :5])], [dask.delayed(labels("table", "two"))] * 2
        )
    with pytest.raises(ValueError, match="no row is left"):
        HereRegressor().fit(*data("table", "numbers"), sample_weight=chunked(np.zeros(600), UNEQUAL["table"]))
    with pytest.raises(ValueError, match="at least 2 classes"):
        HereClassifier().fit(X, chunked(np.ones(600), UNEQUAL["table"]))
