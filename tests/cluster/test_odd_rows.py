"""Rows and labels that nobody expects: they are trained on, or refused with a sentence."""

import dask
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from here_models import TABLE, UNEQUAL, HereClassifier, HereRegressor, chunked, data, labels

from pegasos import PegasosClassifier, convert_data, open_data
from pegasos.dask.parts import Part, facts_of, read_part

QUICK = {"lam": 1e-2, "tol": 1e-2}
LABELS = labels("table", "two")


def halves(array):
    return [dask.delayed(array[:300]), dask.delayed(array[300:])]


def test_one_delayed_is_one_partition():
    model = HereClassifier(**QUICK).fit(dask.delayed(TABLE), dask.delayed(LABELS))
    assert model.coef_.shape == (1, 6)
    assert model.predict(dask.delayed(TABLE)).compute(scheduler="synchronous").shape == (600,)


def test_strings_and_numbers_are_no_labels_of_one_problem():
    y = [dask.delayed(LABELS[:300]), dask.delayed(np.arange(300) % 2)]
    with pytest.raises(ValueError, match=r"y has strings in one partition, such as .*'no'.*, and numbers in another"):
        HereClassifier(**QUICK).fit(halves(TABLE), y)


def test_labels_of_several_lengths_and_types_come_together():
    y = [
        dask.delayed(np.where(LABELS[:300] == "no", "n", "y")),
        dask.delayed(np.array(["no", "y"])[np.arange(300) % 2]),
    ]
    assert HereClassifier(**QUICK).fit(halves(TABLE), y).classes_.tolist() == ["n", "no", "y"]
    y = [dask.delayed((LABELS[:300] == "no").astype(np.int8)), dask.delayed((LABELS[300:] == "no").astype(float))]
    assert HereClassifier(**QUICK).fit(halves(TABLE), y).classes_.tolist() == [0, 1]


def test_classes_may_be_missing_in_some_partitions():
    y = labels("table", "three")
    order = np.argsort(y, kind="stable")
    lengths = (int((y == 0).sum()), int((y == 1).sum()), 0, int((y == 2).sum()))
    model = HereClassifier(lam=1e-2, tol=1e-4).fit(chunked(TABLE[order], lengths), chunked(y[order], lengths))
    assert model.classes_.tolist() == [0, 1, 2]
    local = model._local(lam=1e-2, tol=1e-6).fit(TABLE, y)
    assert (model.objective_ - local.objective_ <= model.gap_ + local.gap_).all()
    assert (local.objective_ - model.objective_ <= local.gap_).all()


def test_rows_that_weighed_nothing_have_dual_variables():
    """A warm start must not mistake as many other rows for them."""
    s = np.where(np.arange(600) < 50, 0.0, 1.0)
    model = HereClassifier(**QUICK, warm_start=True)
    model.fit(*data("table", "two"), sample_weight=chunked(s, UNEQUAL["table"]))
    others = (50, *UNEQUAL["table"][1:])
    model.fit(chunked(TABLE[50:], others), chunked(LABELS[50:], others))
    assert model.converged_


def test_weights_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match=r"add up to 6e-298, which is too little\. Scale them up"):
        HereClassifier().fit(*data("table", "two"), sample_weight=chunked(np.full(600, 1e-300), UNEQUAL["table"]))


def test_a_stream_from_files_and_labels_that_are_missing(tmp_path):
    parts = []
    for i in range(2):
        file = tmp_path / f"{i}.pegasos"
        convert_data((TABLE[300 * i : 300 * i + 300], LABELS[300 * i : 300 * i + 300]), file, keep_order=True)
        parts.append(open_data(file))
    model = HereClassifier(lam=1e-2).partial_fit(parts, None, classes=["no", "yes"])
    local = PegasosClassifier(lam=1e-2, random_state=0)
    for part in parts:
        local.partial_fit(part, LABELS[:300] if part is parts[0] else LABELS[300:], classes=["no", "yes"])
    np.testing.assert_array_equal(model.coef_, local.coef_)
    assert model.score(parts) == local.score(TABLE, LABELS)
    for missing in (lambda: model.score(halves(TABLE)), lambda: model.partial_fit(halves(TABLE), None)):
        with pytest.raises(ValueError, match="y is missing"):
            missing()


def test_a_stream_that_begins_without_a_row_is_refused():
    X, y = data("table", "numbers")
    with pytest.raises(ValueError, match="no row is left"):
        HereRegressor().partial_fit(X[:0], y[:0])
    model = HereRegressor().partial_fit(X, y)
    before = model.coef_.copy()
    np.testing.assert_array_equal(model.partial_fit(X[:0], y[:0]).coef_, before)


def test_logarithms_of_probabilities_are_lazy_too():
    X, y = data("table", "two")
    model = HereClassifier(**QUICK, loss="log").fit(X, y)
    logs = model.predict_log_proba(X).compute(scheduler="synchronous")
    np.testing.assert_array_equal(logs, model.to_local().predict_log_proba(TABLE))
    assert not hasattr(HereClassifier(**QUICK).fit(X, y), "predict_log_proba")


def test_rows_of_weight_zero_do_not_make_rows_long():
    """Of the lengths follow the bias feature, and whether rows are too long for lam."""
    X, s = np.array([[3.0, 4.0], [1e6, 0.0], [0.0, 1.0]]), np.array([1.0, 0.0, 2.0])
    facts = facts_of(Part(0, X, np.array([0, 1, 1], np.int32), s), 2)
    assert (facts.n_rows, facts.norm2, facts.largest_norm2) == (2, 26.0, 25.0)
    assert facts_of(Part(0, X, np.array([0, 1, 1], np.int32), np.zeros(3)), 2).largest_norm2 == 0


def test_tables_that_are_nearly_all_zeros_are_trained_on_without_them():
    """One-hot columns of a partition: as a local fit does, see tests/unit/test_nearly_empty_tables.py."""
    X = np.eye(60)[np.arange(600) * 7 % 60]
    assert sp.issparse(read_part(0, X, LABELS, None).X)
    assert not sp.issparse(read_part(0, TABLE, LABELS, None).X)
    assert read_part(0, X[:0], LABELS[:0], None).n_rows == 0
    lengths = (250, 0, 350)
    table, sparse = (
        HereClassifier(**QUICK).fit(chunked(rows, lengths), chunked(LABELS, lengths)) for rows in (X, sp.csr_matrix(X))
    )
    np.testing.assert_array_equal(table.coef_, sparse.coef_)
    X[17, 5] = np.nan
    with pytest.raises(ValueError, match=r"partition 0: .*row 17, column 5"):
        read_part(0, X, LABELS, None)


def test_names_of_columns_are_strings_all_of_them_or_none():
    """As scikit-learn asks of local fits."""
    mixed = pd.DataFrame(TABLE, columns=["a", "b", 3, "d", "e", "f"])
    with pytest.raises(TypeError, match="partition 0: column names must be strings, all of them or none: 3 is int"):
        HereClassifier(**QUICK).fit([dask.delayed(mixed)], [dask.delayed(LABELS)])
    numbers = pd.DataFrame(TABLE)
    assert not hasattr(
        HereClassifier(**QUICK).fit([dask.delayed(numbers)], [dask.delayed(LABELS)]), "feature_names_in_"
    )


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("nothing", [pd.DataFrame(), np.empty((0, 0))], ids=["frame", "array"])
def test_a_partition_without_rows_need_not_know_its_columns(nothing, first):
    frame = pd.DataFrame(TABLE, columns=list("abcdef"))
    X, y = [dask.delayed(each) for each in (frame[:300], frame[300:])], halves(LABELS)
    without = HereClassifier(**QUICK).fit(X, y)
    at = 0 if first else 1
    X.insert(at, dask.delayed(nothing)), y.insert(at, dask.delayed(nothing))
    model = HereClassifier(**QUICK).fit(X, y)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert abs(model.objective_ - without.objective_) <= model.gap_ + without.gap_
    assert model.score(X, y) == model.score([X[1 - at], X[2]], [y[1 - at], y[2]])
    with pytest.raises(ValueError, match="no row is left"):
        HereClassifier(**QUICK).fit(X[at : at + 1], y[at : at + 1])


def test_weights_may_be_a_column():
    s = np.random.default_rng(0).random(600)
    X, y = data("table", "two")
    once, again = (HereClassifier(**QUICK).fit(X, y, chunked(each, UNEQUAL["table"])) for each in (s, s[:, None]))
    np.testing.assert_array_equal(once.coef_, again.coef_)


def test_a_stream_has_no_rounds():
    X, y = data("table", "two")
    model = HereClassifier(**QUICK).fit(X, y)
    assert model.n_rounds_
    assert not hasattr(model.partial_fit(X, y), "n_rounds_")
