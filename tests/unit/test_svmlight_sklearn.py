"""read_svmlight returns what scikit-learn's reader returns, on files of any shape that both accept."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from pegasos import read_svmlight

SPACES = st.sampled_from([" ", "  ", "\t", " \r", "\v\f "])
DIGITS = st.integers(0, 10**25).map(str)
NUMBERS = st.one_of(
    st.integers(-5, 5).map(str),
    st.floats().map(repr),
    st.builds("{}{}.{}e{}".format, st.sampled_from(["+", "-", ""]), DIGITS, DIGITS, st.integers(-400, 400)),
)
FINITE = st.one_of(st.integers(-3, 3).map(str), st.floats(allow_nan=False).map(repr))
COMMENTS = st.one_of(st.just(""), st.sampled_from(["#", "# a:b", "#qid:1,2", "##1 1:2"]))


@st.composite
def lines(draw: Any, multilabel: bool, queries: bool, lowest: int) -> str:
    if draw(st.integers(0, 9)) == 0:
        return str(draw(SPACES) if draw(st.booleans()) else "") + str(draw(COMMENTS))
    labels = draw(st.lists(FINITE, min_size=0, max_size=3)) if multilabel else [draw(NUMBERS)]
    columns = sorted(set(draw(st.lists(st.integers(lowest, 40), max_size=5))))
    tokens = [",".join(labels)] if labels else []
    tokens += [f"qid:{draw(st.integers(-(2**63), 2**63 - 1))}"] if queries else []
    tokens += [f"{column}:{draw(NUMBERS)}" for column in columns]
    if not tokens:
        return ""
    line = "".join(token + draw(SPACES) for token in tokens[:-1]) + tokens[-1]
    return str(draw(st.sampled_from(["", " "]))) + line + str(draw(COMMENTS))


@st.composite
def files(draw: Any) -> tuple[bytes, dict[str, Any]]:
    multilabel, queries = draw(st.booleans()), draw(st.booleans())
    lowest = draw(st.integers(0, 1))
    options: dict[str, Any] = {
        "multilabel": multilabel,
        "query_id": queries,
        "zero_based": draw(st.sampled_from(["auto", lowest == 0])),
        "dtype": draw(st.sampled_from([np.float64, np.float32])),
        "n_features": draw(st.sampled_from([None, 41, 100])),
    }
    text = "".join(
        line + draw(st.sampled_from(["\n", "\r\n"]))
        for line in draw(st.lists(lines(multilabel, queries, lowest), max_size=5))
    )
    return (text if draw(st.booleans()) else text.rstrip("\r\n")).encode(), options


@settings(max_examples=150, deadline=None)
@given(files())
@example((b"1 1:1e400\n", {"dtype": np.float32}))
def test_the_same_arrays_as_scikit_learn(given_: tuple[bytes, dict[str, Any]]) -> None:
    text, options = given_
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        theirs = load_svmlight_file(io.BytesIO(text), **options)
        ours = read_svmlight(io.BytesIO(text), **options)
    assert len(ours) == len(theirs)
    (X, y, *q), (their_X, their_y, *their_q) = ours, theirs
    assert X.shape == their_X.shape
    assert X.format == "csr"
    assert X.dtype == their_X.dtype
    assert X.data.tobytes() == their_X.data.tobytes()
    np.testing.assert_array_equal(X.indices, their_X.indices)
    np.testing.assert_array_equal(X.indptr, their_X.indptr)
    if options.get("multilabel"):
        assert y == their_y
    else:
        assert y.dtype == their_y.dtype
        assert y.tobytes() == their_y.tobytes()
    for mine, other in zip(q, their_q, strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(list("01.:-+e,# \t\nqidnaf")), max_size=24).map(lambda parts: "".join(parts).encode()))
def test_what_we_read_scikit_learn_reads_alike(text: bytes) -> None:
    """Of text that is mostly nonsense: what is accepted is never another matrix than theirs."""
    try:
        ours = read_svmlight(io.BytesIO(text))
    except ValueError:
        return
    try:
        theirs = load_svmlight_file(io.BytesIO(text))
    except ValueError as error:
        pytest.fail(f"scikit-learn refuses it: {error}")
    assert ours[0].shape == theirs[0].shape
    assert ours[0].data.tobytes() == theirs[0].data.tobytes()
    np.testing.assert_array_equal(ours[0].indices, theirs[0].indices)
    assert ours[1].tobytes() == theirs[1].tobytes()
