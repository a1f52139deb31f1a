"""What is wrong with a column of a frame is said with the name of the column."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import binary

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor

X, Y = binary(20, 2)
FRAME = pd.DataFrame(X, columns=["height", "age"])
DAY = pd.Timestamp("2020-02-29")
every_estimator = pytest.mark.parametrize(
    "kind", [PegasosClassifier, KernelPegasosClassifier, PegasosRegressor, KernelPegasosRegressor]
)


def with_one(value: Any, dtype: Any = None) -> pd.DataFrame:
    """The frame with this value at row 5 of its column of index 1, `age`."""
    column = pd.Series([1.0] * 5 + [value] + [1.0] * 14, dtype=dtype)
    return FRAME.assign(age=column)


MISSING = {
    "NaN": (with_one(np.nan), "NaN"),
    "Int64 with NA": (with_one(pd.NA, "Int64"), "NaN"),
    "boolean with NA": (with_one(pd.NA, "boolean"), "NaN"),
    "objects with NA": (with_one(pd.NA, object), "<NA>"),
    "objects with None": (with_one(None, object), "NaN"),
    "polars": (pl.DataFrame({"height": X[:, 0], "age": [1.0] * 5 + [None] + [1.0] * 14}), "NaN"),
}


@every_estimator
@pytest.mark.parametrize("name", MISSING)
def test_a_missing_value_is_named_with_its_column(kind: Any, name: str) -> None:
    frame, shown = MISSING[name]
    says = rf"X contains {shown} at row 5, column 1 \('age'\)\. Impute"
    with pytest.raises(ValueError, match=says):
        kind().fit(frame, Y)
    with pytest.raises(ValueError, match=says):
        kind().fit(FRAME, Y).predict(frame)


@every_estimator
def test_infinity_is_named_with_its_column(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"X contains infinity at row 5, column 1 \('age'\)"):
        kind().fit(with_one(np.inf), Y)


def test_without_names_the_number_of_the_column_is_enough() -> None:
    for nameless in (with_one(np.nan).to_numpy(), pd.DataFrame(with_one(np.nan).to_numpy())):
        with pytest.raises(ValueError, match=r"X contains NaN at row 5, column 1\. Impute"):
            PegasosClassifier().fit(nameless, Y)


DATES = {
    "dates": FRAME.assign(age=DAY),
    "dates of a time zone": FRAME.assign(age=DAY.tz_localize("UTC")),
    "dates, one missing": FRAME.assign(age=[pd.NaT] + [DAY] * 19),
    "nothing but dates": pd.DataFrame({"height": [DAY] * 20, "age": [DAY] * 20})[["age", "height"]],
    "differences of dates": FRAME.assign(age=pd.Timedelta(days=1)),
    "months": FRAME.assign(age=DAY.to_period("M")),
    "objects": FRAME.assign(age=pd.Series([datetime.date(2020, 2, 29)] * 20, dtype=object)),
    "polars": pl.DataFrame({"height": X[:, 0], "age": [datetime.date(2020, 2, 29)] * 20}),
}


@every_estimator
@pytest.mark.parametrize("name", DATES)
def test_a_column_of_dates_is_named_and_what_to_do_is_said(kind: Any, name: str) -> None:
    with pytest.raises(ValueError, match=r"column [01] \('age'\).*days since"):
        kind().fit(DATES[name], Y)


def test_an_array_of_dates_is_refused() -> None:
    with pytest.raises(ValueError, match=r"X holds dates or times \(datetime64\[D\]\).*days since"):
        PegasosClassifier().fit(np.full((20, 2), "2020-02-29", "datetime64[D]"), Y)


def test_the_advice_about_dates_works() -> None:
    dates = pd.Series(pd.date_range("2020-01-01", periods=20))
    days = (dates - dates.min()) / np.timedelta64(1, "D")
    assert days.tolist() == list(range(20))
    assert PegasosClassifier().fit(FRAME.assign(age=days), Y).converged_


class Blocks:
    """Rows in blocks, which look at the model while it predicts, as another thread may."""

    place, names = "blocks", ["height", "age"]

    def __init__(self, X: Any, model: Any) -> None:
        self.X, self.model, self.shape = X, model, X.shape
        self.seen: list[list[str]] = []

    def blocks(self, size: int = 5) -> Any:
        for first in range(0, len(self.X), size):
            self.seen.append(list(getattr(self.model, "feature_names_in_", ())))
            yield slice(first, first + size), self.X[first : first + size]


@pytest.mark.parametrize("kind", [PegasosClassifier, PegasosRegressor])
def test_a_model_keeps_its_names_while_it_predicts(kind: Any) -> None:
    model = kind(lam=0.1).fit(FRAME, Y)
    rows = Blocks(X, model)
    np.testing.assert_array_equal(model.predict(rows), model.predict(FRAME))
    assert rows.seen == [["height", "age"]] * 4
