"""Every kernel against scikit-learn's formula; what each says about itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_problems import FORMULAS, matrix, rows
from sklearn.exceptions import ConvergenceWarning

from pegasos import KernelPegasosClassifier, kernels

X, _ = rows(40, 5, positive=True)
Z, _ = rows(300, 5, seed=1, positive=True)
KINDS = {"dense": np.asarray, "sparse": lambda A: sp.csr_matrix(A * (A > 0.5)), "float32": lambda A: A.astype("f4")}


def make(name, rows=X, **params):
    return kernels.make(name, kernels.Parameters(**{**FORMULAS[name][1], **params}), rows)


def test_every_kernel_has_a_formula_to_be_compared_with():
    assert set(kernels.names()) == {*FORMULAS, "precomputed"}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_scikit_learn(name, kind):
    A, B = KINDS[kind](X), KINDS[kind](Z)
    kernel = make(name)
    found = kernel.block(kernel.prepare(A), kernel.prepare(B))
    expected = matrix(name, *(np.asarray(M.todense() if sp.issparse(M) else M, dtype=float) for M in (A, B)))
    assert found.dtype == A.dtype
    np.testing.assert_allclose(
        found, expected, rtol=1e-4 if kind == "float32" else 1e-10, atol=1e-5 * (kind == "float32")
    )
    square = kernel.block(kernel.prepare(A), kernel.prepare(A))
    np.testing.assert_allclose(kernel.diagonal(kernel.prepare(A)), np.diagonal(square), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", FORMULAS)
def test_sparse_and_dense_rows_meet(name):
    """A model trained on one kind predicts the other."""
    kernel = make(name)
    A, B = sp.csr_matrix(X), np.asarray(Z)
    for left, right in ((A, B), (B, A)):
        found = kernel.block(kernel.prepare(left), kernel.prepare(right))
        expected = matrix(name, X, Z)
        np.testing.assert_allclose(found, expected if left is A else expected.T, rtol=1e-10)


def test_which_kernels_are_positive_semi_definite():
    psd = {name: make(name).is_psd(X) for name in FORMULAS}
    assert psd == {name: name != "sigmoid" for name in FORMULAS}
    assert not make("poly", coef0=-1.0).is_psd(X)
    assert not make("poly", degree=2.5).is_psd(X)
    assert not make("chi2").is_psd(-X)
    assert not make("chi2").is_psd(sp.csr_matrix(-X))
    for given in ("precomputed", lambda A, B: A @ B.T):
        assert not kernels.make(given, kernels.Parameters(), X).is_psd(X)
        assert kernels.make(given, kernels.Parameters(kernel_params={"psd": True}), X).is_psd(X)


@pytest.mark.parametrize("name", [name for name in FORMULAS if name != "sigmoid"])
def test_what_is_said_to_be_positive_semi_definite_is(name):
    kernel = make(name)
    K = kernel.block(kernel.prepare(Z), kernel.prepare(Z))
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def test_gamma_is_that_of_svc():
    assert make("rbf", gamma="scale").p.gamma == pytest.approx(1 / (5 * X.var()))
    assert make("rbf", sp.csr_matrix(X), gamma="scale").p.gamma == pytest.approx(1 / (5 * X.var()))
    assert make("rbf", gamma="auto").p.gamma == 0.2
    assert make("rbf", np.ones((4, 2)), gamma="scale").p.gamma == 1.0
    weighted = kernels.make("rbf", kernels.Parameters(), X, np.arange(40.0))
    assert weighted.p.gamma == pytest.approx(make("rbf", np.repeat(X, np.arange(40), axis=0), gamma="scale").p.gamma)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_the_scale_of_gamma_does_not_depend_on_where_the_rows_are(kind, shift):
    X = np.random.default_rng(0).normal(size=(3000, 4)) + shift
    X[:, 0] = shift  # zeros, where there is no shift
    gamma = kernels.make("rbf", kernels.Parameters(), kind(X)).p.gamma
    assert gamma == pytest.approx(1 / (4 * (X - shift).var()), rel=1e-6)


def test_both_kinds_of_weights_count_for_gamma():
    X = np.random.default_rng(0).normal(size=(60, 4)) * np.arange(1, 61)[:, None]
    y = np.arange(60) >= 30
    by_class = KernelPegasosClassifier(lam=1e-2, class_weight={True: 2.0}).fit(X, y)
    by_row = KernelPegasosClassifier(lam=1e-2).fit(X, y, sample_weight=1.0 + y)
    twice = KernelPegasosClassifier(lam=1e-2).fit(np.vstack([X, X[30:]]), np.append(y, y[30:]))
    for model in (by_class, by_row):
        assert model._fitted_kernel.p.gamma == pytest.approx(twice._fitted_kernel.p.gamma)


@pytest.mark.parametrize("psd", ["no", 1, None])
def test_psd_is_true_or_false(psd):
    with pytest.raises(ValueError, match=r"'psd'.* must be True or False"):
        kernels.make("precomputed", kernels.Parameters(kernel_params={"psd": psd}), np.eye(3))


def test_what_is_wrong_with_gamma_mentions_numbers():
    with pytest.raises(ValueError, match="or a number >= 0, got 'foo'"):
        kernels.make("rbf", kernels.Parameters(gamma="foo"), X)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_chi2_names_the_negative_value(kind):
    A = X.copy()
    A[7, 3] = -2.5
    with pytest.raises(ValueError, match=r"row 7 has -2\.5 in column 3"):
        KernelPegasosClassifier(kernel="chi2").fit(kind(A), np.arange(len(A)) % 2)


def test_a_function_that_returns_nan_is_told_so():
    with pytest.raises(ValueError, match="kernel function returned nan"):
        KernelPegasosClassifier(kernel=lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, np.arange(len(X)) % 2)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_a_function_may_write_to_its_rows(kind):
    def kernel(A, B, writes):
        values = kernels.dense(A @ B.T)
        if writes:
            (A.data if sp.issparse(A) else A)[:] = 0
            (B.data if sp.issparse(B) else B)[:] = 0
        return values

    data, y = kind(X), np.arange(len(X)) % 2
    model = KernelPegasosClassifier(kernel=kernel, lam=0.1, random_state=0)
    scores = [
        model.set_params(kernel_params={"psd": True, "writes": writes}).fit(data, y).decision_function(data)
        for writes in (False, True)
    ]
    np.testing.assert_array_equal(*scores)
    np.testing.assert_array_equal(kernels.dense(data), X)


def test_the_warning_says_how_many_epochs_it_took():
    with pytest.warns(ConvergenceWarning, match=r"It took [0-9.]+ epochs. Raise max_epochs=1,"):
        KernelPegasosClassifier(lam=1e-9, max_epochs=1).fit(X, np.arange(len(X)) % 2)
