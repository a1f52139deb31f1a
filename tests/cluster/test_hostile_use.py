"""What users do that nobody told them to: answered as by the local estimators, or refused with a sentence."""

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from here_models import SCORES, TABLE, UNEQUAL, HereClassifier, HereRegressor, bytes_of, chunked, data, labels
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pegasos import PegasosClassifier
from pegasos.dask import DaskPegasosClassifier

QUICK = {"lam": 1e-2, "tol": 1e-2}
LABELS = labels("table", "two")
LENGTHS = UNEQUAL["table"]
FRAME = pd.DataFrame(TABLE, columns=list("abcdef"))


def fitted_on(**columns):
    """A fit on a dask dataframe with other columns."""
    X = dd.from_pandas(FRAME.assign(**columns), npartitions=3)
    return HereClassifier(**QUICK).fit(X, dd.from_pandas(pd.Series(LABELS), npartitions=3))


@pytest.mark.parametrize(
    "column", [["red", "blue"] * 300, pd.Categorical(["red", "blue"] * 300), pd.array(["red", "blue"] * 300, "string")]
)
def test_columns_of_texts_are_refused_with_their_name(column):
    with pytest.raises(
        ValueError, match=r"partition 0: X contains 'red' at row 0, column 2 \('c'\), which is no number"
    ):
        fitted_on(c=column)


def test_columns_of_whole_numbers_and_truths_are_numbers():
    numbers = fitted_on(c=[1.0, 0.0] * 300)
    for column in ([True, False] * 300, pd.Categorical([1, 0] * 300), pd.array([1, 0] * 300, dtype="Int64")):
        assert bytes_of(fitted_on(c=column)) == bytes_of(numbers)
    with pytest.raises(ValueError, match=r"partition 0: X contains NaN at row 1, column 2 \('c'\)"):
        fitted_on(c=pd.array([1, None] * 300, dtype="Int64"))


@pytest.mark.parametrize("dtype", ["category", "string", "object"])
def test_labels_of_any_type_that_frames_have(dtype):
    X = dd.from_pandas(FRAME, npartitions=3)
    model = HereClassifier(**QUICK).fit(X, dd.from_pandas(pd.Series(LABELS, dtype=dtype), npartitions=3))
    assert model.classes_.tolist() == ["no", "yes"]


def test_a_partition_that_weighs_nothing_is_passed_by():
    X, y = data("table", "two")
    s = np.where((np.arange(600) >= 100) & (np.arange(600) < 350), 0.0, 1.0)  # all of the third
    model = HereClassifier(lam=1e-2, tol=1e-6).fit(X, y, sample_weight=chunked(s, LENGTHS))
    local = PegasosClassifier(lam=1e-2, tol=1e-6).fit(TABLE, LABELS, sample_weight=s)
    assert abs(model.objective_ - local.objective_) <= model.gap_ + local.gap_
    stream = HereClassifier(lam=1e-2).partial_fit(X, y, classes=["no", "yes"], sample_weight=chunked(s, LENGTHS))
    others = tuple(0 if n == 250 else n for n in LENGTHS)
    without = HereClassifier(lam=1e-2).partial_fit(
        chunked(TABLE[s > 0], others), chunked(LABELS[s > 0], others), classes=["no", "yes"]
    )
    np.testing.assert_array_equal(stream.coef_, without.coef_)
    with pytest.raises(ValueError, match="no row is left to train on"):
        HereRegressor().partial_fit(*data("table", "numbers"), sample_weight=chunked(0 * s, LENGTHS))


def test_a_class_that_weighs_nothing_is_told():
    s = (LABELS == "no").astype(float)
    with pytest.warns(UserWarning, match="only 1 class, 'no', has rows of positive weight"):
        HereClassifier(**QUICK).fit(*data("table", "two"), sample_weight=chunked(s, LENGTHS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HereClassifier(**QUICK).fit(*data("table", "two"))


@pytest.mark.parametrize(("kind", "what"), [(HereClassifier, "two"), (HereRegressor, "numbers")])
def test_scores_of_nothing_and_of_bad_weights_are_refused(kind, what):
    X, y = data("table", what)
    model = kind(**QUICK).fit(X, y)
    for nothing in ((X[:0], y[:0]), (X, y, chunked(np.zeros(600), LENGTHS))):
        with pytest.raises(ValueError, match="no row is left to score"):
            model.score(*nothing)
    with pytest.raises(ValueError, match=r"partition 2: sample_weight\[0\] = -1"):
        model.score(X, y, chunked(np.where(np.arange(600) == 100, -1.0, 1.0), LENGTHS))


def test_other_classes_in_a_later_call_of_partial_fit_are_refused():
    X, y = data("table", "two")
    model = HereClassifier(**QUICK).partial_fit(X, y, classes=["no", "yes"])
    model.partial_fit(X, y, classes=["yes", "no"])
    with pytest.raises(ValueError, match="differs from the classes of the first call"):
        model.partial_fit(X, y, classes=["no", "yes", "maybe"])


def test_no_round_at_all_is_refused():
    with pytest.raises(ValueError, match="max_rounds must be a whole number >= 1"):
        HereClassifier(max_rounds=0).fit(*data("table", "two"))


def test_an_array_is_for_the_local_model():
    X, y = data("table", "two")
    model = HereClassifier(**QUICK).fit(X, y)
    with pytest.raises(TypeError, match=r"X must be a dask array.*got ndarray.*to_local\(\)"):
        model.predict(TABLE)
    with pytest.raises(TypeError, match="sample_weight must be a dask array"):
        model.fit(X, y, sample_weight=np.ones(600))


def test_numbers_far_from_zero_and_all_alike():
    X = chunked(TABLE, LENGTHS)
    far = HereRegressor(lam=1e-2, bias="free").fit(X, chunked(SCORES + 1e8, LENGTHS))
    assert far.converged_
    assert HereRegressor(**QUICK).fit(X, chunked(np.zeros(600), LENGTHS)).gap_ == 0


# On a cluster


def test_a_search_over_parameters_and_a_pipeline(client):
    X, y = data("table", "two")
    search = GridSearchCV(DaskPegasosClassifier(**QUICK, client=client), {"lam": [1e-3, 1e-1]}, cv=2)
    with client.as_current():  # scikit-learn computes the labels to cut them
        search.fit(X, y)
        assert search.best_estimator_.client is client
        pipeline = make_pipeline(FunctionTransformer(), DaskPegasosClassifier(**QUICK, client=client)).fit(X, y)
        assert pipeline.predict(X).compute().shape == (600,)


def test_rows_of_another_cluster_are_refused(client):
    X, y = (client.compute(list(each.to_delayed().ravel())) for each in data("table", "two"))
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with (
        LocalCluster(**here) as cluster,
        Client(cluster, set_as_default=False) as other,
        pytest.raises(ValueError, match="partition 0 is a Future of the cluster at tcp"),
    ):
        DaskPegasosClassifier(**QUICK, client=other).fit(X, y)
    X[1].cancel()
    with pytest.raises(ValueError, match="partition 1 is a Future that was cancelled"):
        DaskPegasosClassifier(**QUICK, client=client).fit(X, y)


def test_a_warm_start_whose_dual_variables_a_restart_has_cancelled_starts_anew(client):
    """Cancelled one by one: a real restart would take the workers from the tests that follow."""
    X, y = data("table", "two")
    model = DaskPegasosClassifier(**QUICK, warm_start=True, client=client).fit(X, y)
    anew = model.n_rounds_
    client.cancel(model._duals)
    assert {each.status for each in model._duals} == {"cancelled"}
    assert model.fit(X, y).n_rounds_ == anew
    assert model.fit(X, y).n_rounds_ < anew


def test_lazy_answers_are_columns_of_a_frame():
    X = dd.from_pandas(FRAME, npartitions=3)
    model = fitted_on()
    answers = model.predict(X)
    assert isinstance(answers, da.Array)
    with dask.config.set(scheduler="synchronous"):
        found = X.assign(label=answers).compute()
    np.testing.assert_array_equal(found["label"].to_numpy(str), model.to_local().predict(FRAME))
