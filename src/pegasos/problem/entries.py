"""Entries of X that are no numbers, named with their row, their column and the column's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np

_PLACE = re.compile(r"at row \d+, column (\d+)")
_TEXT = (
    "Encode the column first (OneHotEncoder or OrdinalEncoder in a ColumnTransformer; TfidfVectorizer for texts), or "
    "drop it."
)
_DATES = (
    "Turn dates into numbers first, such as days since the first one, (dates - dates.min()) / np.timedelta64(1, 'D'), "
    "or their year, month and weekday, or drop the column."
)


def refuse_masked(name: str, given: Any) -> None:
    """scikit-learn would read what is under the mask."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        place = tuple(int(i) for i in np.argwhere(np.ma.getmaskarray(given))[0])
        where = f"row {place[0]}" + (f", column {place[1]}" if len(place) == 2 else "")
        raise ValueError(f"{name} is a masked array, masked at {where}. Fill it, {name}.filled(...), or drop the rows.")


def refuse_dates(X: Any, called: str = "X") -> None:
    """NumPy reads dates as whole numbers in whatever unit they are stored in, and a missing one as -2^63."""
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise ValueError(f"{called} holds dates or times ({X.dtype}), not numbers. {_DATES}")
        return
    for j, (name, dtype) in enumerate(_columns(X)):
        if getattr(dtype, "kind", "") in ("m", "M") or getattr(dtype, "is_temporal", bool)():
            raise ValueError(f"{called} holds dates or times ({dtype}) in column {j} ({name!r}), not numbers. {_DATES}")


def _columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Names and types of the columns of a frame, of pandas or polars."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return iter(())
    return zip(X.columns, X.dtypes, strict=True)


def refuse_objects(X: Any, called: str = "X") -> None:
    """Name the first text, date or missing value, as the native validator names NaN; who asks has an error about other
    objects.
    """
    objects = np.asarray(X)
    if objects.ndim != 2 or objects.dtype.kind not in "OUS":
        return
    names = getattr(X, "columns", None)
    for j, column in enumerate(objects.T):
        for row, value in enumerate(column):
            fault = "" if _is_number(value) else _fault(value)
            if fault:
                named = "" if names is None else f" ({names[j]!r})"
                raise ValueError(f"{called} contains {_shown(value)} at row {row}, column {j}{named}{fault}") from None


def _is_number(value: Any) -> bool:
    try:
        float(value if value is not None else np.nan)  # NumPy reads None as NaN
    except (TypeError, ValueError, OverflowError):  # a whole number beyond all floats is one of these
        return False
    return True


def _shown(value: Any) -> str:
    return repr(str(value)) if isinstance(value, (str, bytes)) else str(value)


def _fault(value: Any) -> str:
    """What to do about it; nothing for objects of which nobody knows."""
    if isinstance(value, (str, bytes)):
        return f", which is no number. {_TEXT}"
    if type(value).__name__ in ("NAType", "NaTType"):
        return ". Impute or drop missing values first."
    is_date = isinstance(value, (date, time, timedelta, np.datetime64, np.timedelta64)) or hasattr(value, "start_time")
    return f", which is no number. {_DATES}" if is_date else ""


def with_names(said: str, names: Any) -> str:
    """What the native validator says about an entry, with the name of its column."""
    return _PLACE.sub(lambda place: f"{place[0]} ({str(names[int(place[1])])!r})", said)
