"""Everything scikit-learn takes as X and y, and what it says about feature names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import binary, model, same_model, steps, three_classes

X, Y = binary(120, 6, sparse=True, density=0.4)
DENSE = X.toarray()
X3, Y3 = three_classes()
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]
NAMES = list("abcdef")


@pytest.mark.parametrize("kind", ["matrix", "array"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_gives_the_model_of_csr(form: str, kind: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)  # 113 diagonals
        A = getattr(sp, f"{form}_{kind}")(X)
    fitted = steps().fit(A, Y)
    assert same_model(fitted, steps().fit(X, Y))
    assert np.array_equal(fitted.decision_function(A), fitted.decision_function(X))
    again = steps().partial_fit(A, Y, classes=[-1, 1])
    assert same_model(again, steps().partial_fit(X, Y, classes=[-1, 1]))


@pytest.mark.parametrize("sampling", ["blocks", "permutation", "iid"])
@pytest.mark.parametrize("k", [1, 7, 120])
def test_sparse_equals_dense(sampling: str, k: int) -> None:
    s = np.linspace(0.5, 2.0, 120)
    sparse, dense = (steps(k=k, sampling=sampling).fit(A, Y, s) for A in (X, DENSE))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sparse.gap_, dense.gap_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(DENSE), rtol=1e-9, atol=1e-12)


def test_three_classes_sparse_equal_dense() -> None:
    sparse, dense = steps().fit(sp.csr_matrix(X3), Y3), steps().fit(X3, Y3)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-12)
    assert np.array_equal(sparse.predict(sp.csr_matrix(X3)), dense.predict(X3))


def test_explicit_zeros_and_empty_rows_change_nothing() -> None:
    zeros = X.copy()
    zeros.data[::5] = 0.0
    pruned = zeros.copy()
    pruned.eliminate_zeros()
    empty = sp.vstack([pruned[:60], sp.csr_matrix((3, 6)), pruned[60:]]).tocsr()
    assert pruned.nnz < zeros.nnz
    np.testing.assert_allclose(steps().fit(zeros, Y).coef_, steps().fit(pruned, Y).coef_, rtol=1e-9, atol=1e-12)
    y = np.concatenate([Y[:60], [1, -1, 1], Y[60:]])
    rows = empty.toarray()
    np.testing.assert_allclose(steps().fit(empty, y).coef_, steps().fit(rows, y).coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("container", "dtype"),
    [(np.asarray, t) for t in (np.int8, np.int64, np.uint16, bool, np.float16, np.longdouble, object)]
    + [(sp.csr_matrix, t) for t in (np.int8, np.int64, np.uint16, bool, np.longdouble)],
)
def test_other_number_types_are_converted_at_the_door(container: Any, dtype: Any) -> None:
    whole = np.abs(np.rint(2 * DENSE))
    whole = whole > 0 if dtype is bool else whole
    fitted = steps().fit(container(whole.astype(dtype)), Y)
    assert same_model(fitted, steps().fit(container(whole.astype(np.float64)), Y))


LABELS: dict[str, tuple[Any, list[Any]]] = {
    "integers": (np.where(Y > 0, 7, -3), [-3, 7]),
    "unsigned": (np.where(Y > 0, 200, 3).astype(np.uint8), [3, 200]),
    "large integers": (np.where(Y > 0, 2**62 + 1, 2**62), [2**62, 2**62 + 1]),
    "booleans": (Y > 0, [False, True]),
    "whole floats": (np.where(Y > 0, 2.0, -1.0), [-1.0, 2.0]),
    "whole floats with a negative zero": (np.where(Y > 0, 1.0, np.where(np.arange(120) % 2, 0.0, -0.0)), [0.0, 1.0]),
    "words": (np.where(Y > 0, "spam", "ham"), ["ham", "spam"]),
    "words as objects": (np.where(Y > 0, "spam", "ham").astype(object), ["ham", "spam"]),
    "words with accents": (np.where(Y > 0, "émile", "zoë"), ["zoë", "émile"]),
    "bytes": (np.where(Y > 0, b"spam", b"ham"), [b"ham", b"spam"]),
    "integers as objects": (np.where(Y > 0, 7, -3).astype(object), [-3, 7]),
    "booleans as objects": ((Y > 0).astype(object), [False, True]),
    "a list of words": (np.where(Y > 0, "spam", "ham").tolist(), ["ham", "spam"]),
    "a list of integers": (Y.tolist(), [-1, 1]),
    "a tuple": (tuple(Y.tolist()), [-1, 1]),
    "a pandas series": (pd.Series(np.where(Y > 0, "spam", "ham"), index=np.arange(120)[::-1]), ["ham", "spam"]),
    "a pandas categorical": (pd.Series(np.where(Y > 0, "spam", "ham")).astype("category"), ["ham", "spam"]),
    "pandas integers with a mask": (pd.Series(np.where(Y > 0, 7, -3), dtype="Int64"), [-3, 7]),
    "pandas strings": (pd.Series(np.where(Y > 0, "spam", "ham"), dtype="string"), ["ham", "spam"]),
    "a polars series": (pl.Series(np.where(Y > 0, "spam", "ham").tolist()), ["ham", "spam"]),
    "polars integers": (pl.Series(Y.tolist()), [-1, 1]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type_come_back_sorted_and_predicted(kind: str) -> None:
    y, classes = LABELS[kind]
    fitted = steps().fit(X, y)
    assert fitted.classes_.tolist() == classes
    assert same_model(fitted, steps().fit(X, Y))  # the larger label is the positive class
    predicted = fitted.predict(X)
    assert predicted.dtype == fitted.classes_.dtype
    assert set(predicted.tolist()) == set(classes)
    assert np.mean([a == b for a, b in zip(predicted, y, strict=True)]) > 0.8


@pytest.mark.parametrize("kind", LABELS)
def test_partial_fit_takes_the_same_labels(kind: str) -> None:
    y, classes = LABELS[kind]
    fitted = steps().partial_fit(X, y, classes=classes).partial_fit(X, y)
    assert fitted.classes_.tolist() == classes
    assert same_model(fitted, steps().partial_fit(X, Y, classes=[-1, 1]).partial_fit(X, Y))


def test_many_classes_are_numbered_in_order() -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(-150, 150) * 3, 2))
    fitted = steps(T=10).fit(rng.normal(size=(600, 2)), y)
    assert np.array_equal(fitted.classes_, np.arange(-150, 150) * 3)
    assert fitted.coef_.shape == (300, 2)


FRAMES = {
    "pandas": lambda A: pd.DataFrame(A, columns=NAMES[: A.shape[1]]),
    "pandas float32": lambda A: pd.DataFrame(A.astype(np.float32), columns=NAMES[: A.shape[1]]),
    "pandas of mixed columns": lambda A: pd.DataFrame(A, columns=NAMES[: A.shape[1]]).astype({"a": np.float32}),
    "pandas nullable": lambda A: pd.DataFrame(A, columns=NAMES[: A.shape[1]]).astype("Float64"),
    "pandas sparse": lambda A: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(A), columns=NAMES[: A.shape[1]]),
    "polars": lambda A: pl.DataFrame(A, schema=NAMES[: A.shape[1]]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_keep_their_names_and_warn_of_nothing(kind: str) -> None:
    rounded = np.rint(64 * DENSE) / 64  # exact in float32
    frame = FRAMES[kind](rounded)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = steps().fit(frame, Y)
        assert fitted.feature_names_in_.tolist() == NAMES
        assert fitted.n_features_in_ == 6
        np.testing.assert_allclose(fitted.coef_, steps().fit(rounded, Y).coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            fitted.decision_function(frame), rounded @ fitted.coef_[0] + fitted.intercept_, rtol=1e-9, atol=1e-12
        )
        steps().partial_fit(frame, Y, classes=[-1, 1]).partial_fit(frame, Y)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_an_array_after_a_frame_is_warned_about(kind: str) -> None:
    fitted = model().fit(FRAMES[kind](DENSE), Y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.predict(DENSE)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_frame_after_an_array_is_warned_about(kind: str) -> None:
    fitted = model().fit(DENSE, Y)
    assert not hasattr(fitted, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but PegasosClassifier was fitted without"):
        fitted.predict(FRAMES[kind](DENSE))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("method", ["predict", "decision_function", "partial_fit"])
def test_other_names_or_another_order_are_refused(kind: str, method: str) -> None:
    frame = FRAMES[kind](DENSE)
    fitted = model().fit(frame, Y)
    arguments = (Y,) if method == "partial_fit" else ()
    swapped = frame[["b", "a", "c", "d", "e", "f"]]
    with pytest.raises(ValueError, match="same order"):
        getattr(fitted, method)(swapped, *arguments)
    renamed = frame.rename(columns={"a": "z"}) if kind == "pandas" else frame.rename({"a": "z"})
    with pytest.raises(ValueError, match="feature names should match"):
        getattr(fitted, method)(renamed, *arguments)
    fewer = frame[["a", "b"]]
    with pytest.raises(ValueError, match="feature names should match"):
        getattr(fitted, method)(fewer, *arguments)


def test_names_that_are_no_words_are_left_out() -> None:
    fitted = model().fit(pd.DataFrame(DENSE), Y)
    assert not hasattr(fitted, "feature_names_in_")


def test_a_new_fit_forgets_old_names_and_width() -> None:
    fitted = model().fit(FRAMES["pandas"](DENSE), Y).fit(DENSE[:, :4], Y)
    assert not hasattr(fitted, "feature_names_in_")
    assert fitted.n_features_in_ == 4
    assert fitted.coef_.shape == (1, 4)


def test_weights_of_every_container_are_equal() -> None:
    s = np.linspace(0.5, 2.0, 120)
    expected = steps().fit(X, Y, s)
    for other in (s.tolist(), tuple(s), pd.Series(s, index=np.arange(120)[::-1]), pl.Series(s), s.astype(object)):
        assert same_model(steps().fit(X, Y, other), expected)
    assert same_model(steps().fit(X, Y, 3), steps().fit(X, Y))
    assert same_model(steps().fit(X, Y, np.ones(120, int)), steps().fit(X, Y))
