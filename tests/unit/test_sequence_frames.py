"""Frames and arrays of tokens whose columns are of several kinds: what is a number is one, and all else is named."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pegasos import PegasosClassifier, PegasosSequenceTagger

FRAME = pd.DataFrame({"len": [3.0, 1.0, 4.0, 1.0], "upper": [True, False, True, False]})
Y = ["a", "b", "a", "b"]
KINDS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "bool": lambda frame: frame,
    "nullable": lambda frame: frame.convert_dtypes(),
    "objects": lambda frame: frame.astype(object),
    "array of objects": lambda frame: frame.to_numpy(),
    "decimals": lambda frame: np.array([[Decimal(str(a)), b] for a, b in frame.to_numpy()], object),
    "categories": lambda frame: frame.astype("category"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_several_kinds_are_numbers(kind: str) -> None:
    made, plain = KINDS[kind](FRAME), FRAME.to_numpy(float)
    expected = PegasosSequenceTagger(lam=0.1).fit(plain, Y, lengths=[2, 2])
    found = PegasosSequenceTagger(lam=0.1).fit(made, Y, lengths=[2, 2])
    assert found._w.tobytes() == expected._w.tobytes()
    assert found.predict(made, lengths=[2, 2]).tolist() == expected.predict(plain, lengths=[2, 2]).tolist()
    PegasosClassifier(lam=0.1).fit(made, Y)  # takes them as well


@pytest.mark.parametrize("kind", KINDS)
def test_so_are_those_of_lists(kind: str) -> None:
    parts = [KINDS[kind](FRAME[:3]), KINDS[kind](FRAME[3:])]
    expected = PegasosSequenceTagger(lam=0.1).fit(
        [FRAME[:3].to_numpy(float), FRAME[3:].to_numpy(float)], [Y[:3], Y[3:]]
    )
    found = PegasosSequenceTagger(lam=0.1).fit(parts, [Y[:3], Y[3:]])
    assert found._w.tobytes() == expected._w.tobytes()
    assert found.predict(parts) == expected.predict([FRAME[:3].to_numpy(float), FRAME[3:].to_numpy(float)])


def test_arrays_of_tokens_are_sequences_of_one_length() -> None:
    tokens = np.array([[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]], object)
    found = PegasosSequenceTagger(lam=0.1).fit(tokens, [["A", "B"], ["B", "A"]])
    assert found.predict(tokens) == [["A", "B"], ["B", "A"]]
    with pytest.raises(ValueError, match="X is a list of sequences already"):
        found.fit(tokens, [["A", "B"], ["B", "A"]], lengths=[2, 2])


REFUSED: list[tuple[Any, str]] = [
    (FRAME.assign(w=list("wxyz")), r"X contains 'w' at row 0, column 2 \('w'\), which is no number"),
    (FRAME.assign(w=list("1234")), "X has the text '1'"),
    (FRAME.assign(w=pd.to_datetime(["2020-01-01"] * 4)), r"X holds dates or times .* in column 2 \('w'\)"),
    (FRAME.convert_dtypes().assign(len=pd.array([1, None, 2, 3], "Int64")), "X contains NaN at row 1, column 0"),
    (np.array([[1.0, True], [None, False]] * 2, object), "X contains NaN at row 1, column 0"),
    (np.array([[1.0, 1j]] * 4, object), "X has dtype object; matrices hold numbers"),
    (np.array([[10**400, 1]] * 4, object), "X has dtype object; matrices hold numbers"),
    (np.array([["1", "2"]] * 4), "X has the text '1' and dtype <U1"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_no_number_is_named(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PegasosSequenceTagger(lam=0.1).fit(given, Y, lengths=[2, 2])
    with pytest.raises(ValueError, match=words.replace("X", r"X\[0\]", 1) if "NaN" not in words else words):
        PegasosSequenceTagger(lam=0.1).fit([given, given], [Y, Y])


def test_an_array_of_objects_without_lengths_is_asked_for_them() -> None:
    with pytest.raises(ValueError, match="one stacked matrix needs either lengths="):
        PegasosSequenceTagger(lam=0.1).fit(FRAME.to_numpy(), Y)
