"""Kernel functions that return sparse matrices, and kernels on rows that are no numbers: strings, sets, sequences."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
WORDS = ["".join(RNG.choice(list("aab" if label else "abb"), RNG.integers(3, 9))) for label in Y]


def shared(A: Any, B: Any) -> Any:
    """How many pairs of letters two words have in common, by their counts: an inner product."""
    counts = [
        [np.array([word.count(pair) for pair in ("a", "b", "aa", "ab", "ba", "bb")]) for word in Z] for Z in (A, B)
    ]
    return np.array([[float(a @ b) for b in counts[1]] for a in counts[0]])


def classifier(kernel: Any, **params: Any) -> KernelPegasosClassifier:
    return KernelPegasosClassifier(
        **{"lam": 1e-2, "kernel": kernel, "kernel_params": {"psd": True}, "bias": "free", "tol": 1e-6, **params}
    )


def test_a_kernel_function_may_return_a_sparse_matrix() -> None:
    sparse, dense = (
        classifier(kernel).fit(X, Y) for kernel in (lambda A, B: sp.csr_matrix(A @ B.T), lambda A, B: A @ B.T)
    )
    assert sparse.converged_
    np.testing.assert_array_equal(sparse.decision_function(X), dense.decision_function(X))


ROWS = {
    "list": WORDS,
    "array of objects": np.array(WORDS, dtype=object),
    "array of text": np.array(WORDS),
    "tuples of letters": [tuple(word) for word in WORDS],
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_may_be_text(kind: str) -> None:
    rows = ROWS[kind]
    kernel = (lambda A, B: shared(["".join(a) for a in A], ["".join(b) for b in B])) if "tuples" in kind else shared
    fitted = classifier(kernel).fit(rows, Y)
    K = shared(WORDS, WORDS)
    theirs = SVC(kernel="precomputed", C=1 / (1e-2 * len(Y)), tol=1e-9).fit(K, Y)
    assert fitted.converged_
    np.testing.assert_allclose(fitted.decision_function(rows), theirs.decision_function(K), atol=2e-2)
    assert len(fitted.support_vectors_) == len(fitted.support_) < len(Y)
    assert not hasattr(fitted, "n_features_in_")
    assert (fitted.predict(rows[:7]) == fitted.predict(rows)[:7]).all()


def test_models_of_objects_can_be_cloned_pickled_and_cross_validated() -> None:
    fitted = classifier(shared).fit(WORDS, Y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(WORDS), fitted.decision_function(WORDS))
    assert cross_val_score(clone(fitted), WORDS, Y, cv=3, error_score="raise").min() > 0.5


def test_every_solver_several_classes_and_regression_take_objects() -> None:
    three = np.array([word.count("a") % 3 for word in WORDS])
    for solver in ("auto", "sdca", "pegasos"):
        assert set(classifier(shared, solver=solver, tol=0.1).fit(WORDS, three).predict(WORDS)) <= {0, 1, 2}
    pairs = classifier(shared, multi_class="ovo").fit(WORDS, three)
    assert pairs.dual_coef_.shape[0] == 3
    lengths = np.array([float(len(word)) for word in WORDS])
    regressor = KernelPegasosRegressor(lam=1e-5, kernel=shared, kernel_params={"psd": True}, bias="free")
    assert regressor.fit(WORDS, lengths).score(WORDS, lengths) > 0.95


def test_a_model_of_objects_can_become_one_of_numbers_and_back() -> None:
    both = classifier(lambda A, B: shared(A, B) if A.dtype.kind == "O" else A @ B.T)
    both.fit(WORDS, Y)
    both.fit(X, Y)
    assert both.n_features_in_ == 4
    both.predict(X)
    both.fit(WORDS, Y)
    assert not hasattr(both, "n_features_in_")
    both.predict(WORDS)


@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        ("abc", Y, "X must be a list or an array of rows"),
        (WORDS[:-1], Y, "inconsistent numbers of samples"),
        (WORDS, [*Y[:-1], None], "NaN or None"),
    ],
)
def test_what_is_no_list_of_rows_is_refused(rows: Any, labels: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        classifier(shared).fit(rows, labels)


def test_tables_of_numbers_are_validated_as_for_any_kernel() -> None:
    wrong = X.copy()
    wrong[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN at row 3, column 1"):
        classifier(lambda A, B: A @ B.T).fit(wrong, Y)
    with pytest.raises(ValueError, match="numbers to predict"):
        KernelPegasosRegressor(kernel=shared).fit(WORDS, WORDS)
