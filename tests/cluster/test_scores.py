"""Scores say what the local ones say: a number, or what is wrong with the labels."""

import warnings

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from here_models import SCORES, TABLE, UNEQUAL, HereClassifier, HereRegressor, chunked, data, labels
from sklearn.exceptions import UndefinedMetricWarning

QUICK = {"lam": 1e-2, "tol": 1e-2}
LENGTHS = UNEQUAL["table"]
X, LABELS = chunked(TABLE, LENGTHS), labels("table", "two")
TRUE = LABELS == "yes"
FRAME = pd.DataFrame(TABLE, columns=list("abcdef"))


@pytest.mark.parametrize(
    ("trained", "asked", "match"),
    [
        (LABELS, TRUE.astype(int), "y has numbers, such as .*, but the classes of the model are strings, such as"),
        (TRUE.astype(int), LABELS, "y has strings, such as .*, but the classes of the model are numbers, such as"),
        (TRUE.astype(int), TRUE.astype(int).astype(str), "y has strings"),
        (TRUE.astype(int), np.where(np.arange(600) == 357, np.nan, TRUE), r"partition 4: y is NaN in row 0\."),
        (LABELS, np.where(np.arange(600) == 2, None, LABELS), r"partition 0: Input y contains NaN or None \(row 2\)"),
    ],
)
def test_labels_that_no_answer_can_equal_are_refused(trained, asked, match):
    model = HereClassifier(**QUICK).fit(X, chunked(trained, LENGTHS))
    with pytest.raises(ValueError, match=match):
        model.score(X, chunked(asked, LENGTHS))
    with pytest.raises((ValueError, TypeError)):
        model.to_local().score(TABLE, asked)


def test_labels_of_another_type_that_are_equal_count():
    model = HereClassifier(**QUICK).fit(X, chunked(TRUE.astype(int), LENGTHS))
    expected = model.to_local().score(TABLE, TRUE.astype(int))
    for same in (TRUE, TRUE.astype(float), TRUE.astype(np.int8)):
        assert model.score(X, chunked(same, LENGTHS)) == pytest.approx(expected, rel=1e-15)
    texts = HereClassifier(**QUICK).fit(X, chunked(LABELS, LENGTHS))
    assert texts.score(X, chunked(LABELS.astype(object), LENGTHS)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("asked", "match"),
    [
        (np.where(np.arange(600) == 103, np.nan, SCORES), "partition 2: y is nan in row 3"),
        (np.where(np.arange(600) == 103, np.inf, SCORES), "partition 2: y is inf in row 3"),
        (LABELS, "y must be numbers to predict; for classes use DaskPegasosClassifier"),
    ],
)
def test_numbers_that_are_none_are_refused(asked, match):
    model = HereRegressor(**QUICK).fit(*data("table", "numbers"))
    with pytest.raises(ValueError, match=match):
        model.score(X, chunked(asked, LENGTHS))


def test_one_row_has_no_r_squared():
    model = HereRegressor(**QUICK).fit(*data("table", "numbers"))
    with pytest.warns(UndefinedMetricWarning, match="less than two rows"):
        assert np.isnan(model.score([dask.delayed(TABLE[:1])], [dask.delayed(SCORES[:1])]))


def test_a_class_of_no_class_weight_is_told():
    with pytest.warns(UserWarning, match="only 1 class, 'yes', has rows of positive weight") as told:
        HereClassifier(**QUICK, class_weight={"no": 0.0}).fit(*data("table", "two"))
    assert len([each for each in told if "positive weight" in str(each.message)]) == 1
    with pytest.raises(ValueError, match="no row is left"):
        HereClassifier(**QUICK, class_weight={"no": 0.0, "yes": 0.0}).fit(*data("table", "two"))


def names_told(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = call()
    return found, [str(each.message) for each in told if "feature names" in str(each.message)]


def test_names_that_only_one_side_has_are_told_once():
    frame = dd.from_pandas(FRAME, npartitions=3)
    y = dd.from_pandas(pd.Series(LABELS), npartitions=3)
    named = HereClassifier(**QUICK).fit(frame, y)
    plain = HereClassifier(**QUICK).fit(X, chunked(LABELS, LENGTHS))
    for model, rows, right, said in (
        (
            named,
            X,
            chunked(LABELS, LENGTHS),
            "X does not have valid feature names, but PegasosClassifier was fitted with",
        ),
        (plain, frame, y, "X has feature names, but PegasosClassifier was fitted without feature names"),
    ):
        with dask.config.set(scheduler="synchronous"):
            answers, told = names_told(lambda model=model, rows=rows: model.predict(rows).compute())
            _, told_by_score = names_told(lambda model=model, rows=rows, y=right: model.score(rows, y))
        np.testing.assert_array_equal(answers, model.to_local().__class__.predict(model.to_local(), TABLE))
        assert len(told) == len(told_by_score) == 1
        assert said in told[0]
    assert names_told(lambda: named.predict(frame).compute(scheduler="synchronous"))[1] == []
