"""Blocks of all rows: lines of the kernel matrix computed when they are needed, steps of two rows, Newton's method."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_blobs, make_classification
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, _core
from pegasos.kernel_solvers import auto, whole
from pegasos.kernel_solvers.matrix import KernelMatrix
from pegasos.solvers.base import Run

BLOBS = make_blobs(1500, 5, centers=2, cluster_std=2.5, random_state=0)
IRIS = tuple(np.concatenate([part] * 20) for part in load_iris(return_X_y=True))
BIASES = ["none", "regularized", "free"]


def closed(monkeypatch):
    """All lines at once, as before a problem is large enough."""
    monkeypatch.setattr(whole, "OPEN_FROM", 10**9)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("bias", BIASES)
def test_the_objective_is_that_of_the_whole_matrix(bias, kernel, tol, monkeypatch):
    X, y = BLOBS
    model = KernelPegasosClassifier(lam=1e-3, kernel=kernel, gamma=0.1, bias=bias, tol=tol)
    few = model.fit(X, y)
    found = few.objective_, few.dual_objective_, few.converged_
    closed(monkeypatch)
    every = model.fit(X, y)
    assert found[2]
    assert every.converged_
    assert found[0] >= every.dual_objective_ - 1e-12
    assert every.objective_ >= found[1] - 1e-12


@pytest.mark.parametrize("bias", BIASES)
def test_rows_that_a_gap_tells_apart_need_few_lines(bias):
    X, y = make_blobs(3000, 5, centers=[[0] * 5, [4] * 5], random_state=0)
    model = KernelPegasosClassifier(lam=1e-4, bias=bias).fit(X, y)
    assert model.converged_
    assert model.n_kernel_evaluations_ < 0.1 * len(y) ** 2


@pytest.mark.parametrize("bias", ["regularized", "free"])
@pytest.mark.parametrize("C", [1.0, 100.0])
def test_repeated_rows_of_three_classes_need_few_lines(C, bias):
    """A matrix for every pair would be two thirds of all values."""
    X, y = IRIS
    model = KernelPegasosClassifier(lam=1 / (C * len(y)), bias=bias, multi_class="ovo").fit(X, y)
    assert model.converged_
    assert model.n_kernel_evaluations_ < 0.25 * len(y) ** 2
    if bias == "free":
        assert np.mean(model.predict(X) == SVC(C=C).fit(X, y).predict(X)) > 0.99


@pytest.mark.parametrize("bias", BIASES)
def test_noise_needs_hardly_more_values_than_the_whole_matrix(bias, monkeypatch):
    X, y = make_classification(2000, 10, flip_y=0.5, random_state=0)
    model = KernelPegasosClassifier(lam=1e-3, bias=bias, tol=1e-4)
    found = model.fit(X, y).n_kernel_evaluations_
    closed(monkeypatch)
    assert found < 1.15 * model.fit(X, y).n_kernel_evaluations_


@pytest.mark.parametrize("bias", BIASES)
def test_any_number_of_threads_gives_the_same_bytes(bias):
    X, y = BLOBS
    one, two = (KernelPegasosClassifier(lam=1e-4, bias=bias, n_jobs=n).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.dual_coef_, two.dual_coef_)
    assert (one.objective_, one.gap_) == (two.objective_, two.gap_)


@pytest.mark.parametrize("bias", BIASES)
def test_weights_of_zero_are_no_rows(bias):
    X, y = BLOBS
    s = np.random.default_rng(0).integers(0, 2, len(y)).astype(float)
    few = KernelPegasosClassifier(lam=1e-3, bias=bias, gamma=0.1, tol=1e-9).fit(
        np.vstack([X, X]), np.tile(y, 2), np.tile(s, 2)
    )
    alone = KernelPegasosClassifier(lam=1e-3, bias=bias, gamma=0.1, tol=1e-9).fit(X[s > 0], y[s > 0])
    assert few.objective_ == pytest.approx(alone.objective_, abs=1e-8)


def test_a_warm_start_has_the_lines_of_its_rows():
    X, y = BLOBS
    model = KernelPegasosClassifier(lam=1e-3, warm_start=True).fit(X, y)
    first = model.objective_
    model.set_params(tol=1e-8).fit(X, y)
    assert model.converged_
    assert model.objective_ <= first + 1e-12
    assert model.objective_ == pytest.approx(KernelPegasosClassifier(lam=1e-3, tol=1e-8).fit(X, y).objective_, abs=1e-7)


def test_numbers_in_a_wide_tube_need_few_lines():
    X = np.linspace(0, 6, 3000)[:, None]
    model = KernelPegasosRegressor(lam=1e-4, epsilon=0.3).fit(X, np.sin(X[:, 0]))
    assert model.converged_
    assert model.n_kernel_evaluations_ < 0.3 * len(X) ** 2


@pytest.mark.parametrize("after", [1, 2, 4])
def test_an_interrupt_between_lines_leaves_a_model(after, monkeypatch):
    X, y = BLOBS
    usual, calls = KernelMatrix.fill, []

    def fill(self, places):
        calls.append(len(places))
        if len(calls) > after:
            raise KeyboardInterrupt
        usual(self, places)

    monkeypatch.setattr(KernelMatrix, "fill", fill)
    model = KernelPegasosClassifier(lam=1e-4, tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.converged_
    assert len(model.support_) <= sum(calls[:after])
    assert model.decision_function(X[:5]).shape == (5,)


@pytest.mark.parametrize("bias", ["none", "regularized"])
def test_rows_that_are_alike_do_not_crawl(bias):
    """One row at a time took 10 epochs for the classes that are hard to tell apart; two take a tenth of that."""
    X, y = IRIS
    few = y > 0
    model = KernelPegasosClassifier(lam=1 / (100 * few.sum()), bias=bias).fit(X[few], y[few])
    assert model.converged_
    assert model.n_iter_ < 2


def test_a_polish_that_gains_nothing_counts_in_either_way_of_solving(monkeypatch):
    """Visits are those of all steps; see also test_kernel_at_once.py."""
    X, y = BLOBS
    monkeypatch.setattr(auto, "POLISHED", 10**6)
    monkeypatch.setattr(
        whole.WorkingSet, "polish", lambda self, options, beside: setattr(self, "visits", self.visits + 7)
    )
    counted = KernelPegasosClassifier(lam=1e-3, tol=1e-4).fit(X, y).n_steps_
    monkeypatch.setattr(whole.WorkingSet, "polish", lambda self, options, beside: False)
    assert counted == KernelPegasosClassifier(lam=1e-3, tol=1e-4).fit(X, y).n_steps_ + 7


@pytest.mark.parametrize("excess", [0.3, -0.3])
def test_pairs_of_rows_take_back_what_newton_has_left_over(excess):
    """A pair keeps sum_i p_i a_i as it is: a fit whose Newton step had left something went on for minutes."""
    X, y = make_blobs(200, 3, centers=2, cluster_std=3.0, random_state=0)
    K, y = np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2)), np.where(y == 1, 1.0, -1.0)
    p, a = np.full(200, 0.05), np.zeros(200)
    one = np.flatnonzero(y * excess > 0)[:10]
    a[one] = excess / (p[0] * len(one))
    score = K @ (p * a)
    options = _core.Labelled.Options(True, 0.0, 1.0, 0.0)
    options.target, options.budget, options.visits = 1e-6, 1e9, 1e9
    _core.Labelled("hinge", 0.0, y).solve(K, 0.0, p, a, score, options, Run(1e-3, 1.0).watch())
    assert abs(p @ a) < 1e-12
    assert np.ptp(score - K @ (p * a)) < 1e-10  # but for the bias


@pytest.mark.parametrize("degree", [2, 3])
def test_sweeps_do_not_undo_what_newton_steps_have_gained(degree):
    """Each fall of the gap by Newton's method was followed by 100 epochs of sweeps that raised it again."""
    X, y = load_diabetes(return_X_y=True)
    X, y = (X / X.std(axis=0))[:400], (y[:400] - y.mean()) / y.std()
    model = KernelPegasosRegressor(
        lam=1e-7, loss="squared_epsilon_insensitive", kernel="poly", degree=degree, coef0=0.0, bias="none"
    ).fit(X, y)
    assert model.converged_
