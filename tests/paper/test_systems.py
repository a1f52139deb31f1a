"""Every system of the papers arrives at the optimum, and takes the steps that its paper describes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import systems
from alpha_descent import descend, objective
from problems import seed_of
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import LASVM, KernelPegasosClassifier, Pegasos, PegasosClassifier, _core, datasets
from pegasos.kernel_solvers.lasvm import KernelLASVM

LAM, GAMMA = 2e-3, 0.05


def dense() -> systems.Training:
    X, y = datasets.make_binary(300, 10, random_state=1)
    return systems.Training(X.astype(np.float32), y)


def text() -> systems.Training:
    """Sparse, unit rows, and one without any word."""
    X, y = datasets.make_text(400, 2000, n_nonzeros=20, random_state=0)
    X = sp.vstack([X, sp.csr_matrix((1, 2000), dtype=np.float32)]).tocsr()
    return systems.Training(X, np.append(y, np.int8(1)))


def linear_best(data: systems.Training) -> float:
    return float(PegasosClassifier(lam=LAM, bias="none", tol=1e-9).fit(data.X, data.y).objective_)


def gram(data: systems.Training) -> np.ndarray:
    return rbf_kernel(np.asarray(data.X, dtype=np.float64), gamma=GAMMA)


def kernel_best(data: systems.Training) -> float:
    model = KernelPegasosClassifier(kernel="rbf", gamma=GAMMA, lam=LAM, bias="none", tol=1e-8)
    return float(model.fit(data.X, data.y).objective_)


LINEAR = {
    "dca": lambda data: systems.linear_dca(data, LAM),
    "svm_perf": lambda data: systems.svm_perf(data, LAM, 1e-6),
    "lasvm": lambda data: systems.LinearLasvm(data, LAM, tau=1e-6),
}
KERNEL = {
    "dca": lambda data: systems.kernel_dca(data, LAM, GAMMA),
    "svm_light": lambda data: systems.svm_light(data, LAM, GAMMA, 1e-6),
    "lasvm": lambda data: systems.lasvm(data, LAM, GAMMA, tau=1e-6),
}
STEPS = 300_000


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("make", [dense, text])
def test_a_linear_system_arrives_at_the_optimum(native, name, make):
    data = make()
    system = LINEAR[name](data)
    system.advance(np.inf, STEPS)
    excess = data.objective(system.weights(), LAM) - linear_best(data)
    assert -1e-9 < excess < 2e-6
    assert system.ended == (name != "dca")  # stochastic DCA has no criterion of its own


@pytest.mark.parametrize("name", KERNEL)
def test_a_kernel_system_arrives_at_the_optimum(native, name):
    data = dense()
    system = KERNEL[name](data)
    system.advance(np.inf, 60_000)
    excess = objective(gram(data), data.y, LAM, system.weights()) - kernel_best(data)
    assert -1e-7 < excess < 2e-6
    assert system.evaluations > 0


@pytest.mark.parametrize(("name", "end"), [("svm_light", 0.01), ("svm_light", 1e-4), ("lasvm", 0.01), ("lasvm", 1e-4)])
def test_a_decomposition_ends_when_no_condition_is_violated_by_more_than_asked(native, name, end):
    data, K = dense(), gram(dense())
    make = {"svm_light": systems.svm_light, "lasvm": lambda *a: systems.lasvm(*a[:3], 0, a[3])}[name]
    system = make(data, LAM, GAMMA, end)
    system.advance(np.inf)
    assert system.ended
    a, slack = data.y * system.weights(), 1 - data.y * (K @ system.weights())
    C = 1 / (LAM * data.m)
    assert a.min() >= 0
    assert a.max() <= C * (1 + 1e-12)
    worst = np.where(slack > 0, np.where(a < C, slack, 0), np.where(a > 0, -slack, 0)).max()
    assert worst <= end + 1e-5  # kernel values are kept in float32
    early = make(data, LAM, GAMMA, end)
    early.advance(np.inf, system.steps - 1)
    assert not early.ended


def test_svm_perf_ends_with_a_proof(native):
    data = text()
    best = linear_best(data)
    for epsilon in (0.1, 1e-2, 1e-3):
        system = systems.svm_perf(data, LAM, epsilon)
        system.advance(np.inf)
        assert system.ended
        assert system.violation <= epsilon
        assert 0 <= data.objective(system.weights(), LAM) - best <= epsilon


def test_stochastic_dca_takes_the_steps_of_its_formula(native):
    data, T = dense(), 700
    system = systems.linear_dca(data, LAM, seed=4)
    system.advance(np.inf, T)
    X, y, C = data.X.astype(np.float64), data.y.astype(np.float64), 1 / (LAM * data.m)
    a, w = np.zeros(data.m), np.zeros(X.shape[1])
    for i in _core.picks("iid", 4, data.m, 0, T):
        reached = np.clip(a[i] + (1 - y[i] * X[i] @ w) / (X[i] @ X[i]), 0, C)
        w += (reached - a[i]) * y[i] * X[i]
        a[i] = reached
    np.testing.assert_allclose(system.weights(), w, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(system.dual(), a, rtol=1e-9, atol=1e-12)
    kernel = systems.kernel_dca(data, LAM, 0.0, seed=4)
    kernel.advance(np.inf, T)
    np.testing.assert_allclose(kernel.weights(), a * y, rtol=1e-7, atol=1e-9)


def test_kernel_pegasos_takes_the_steps_of_the_library(native):
    data, T = dense(), 500
    system = systems.kernel_pegasos(data, LAM, GAMMA, seed=seed_of(7))
    system.advance(np.inf, T)
    model = KernelPegasosClassifier(
        kernel="rbf", gamma=GAMMA, lam=LAM, bias="none", solver=Pegasos(T=T, sampling="iid"), random_state=7
    ).fit(data.X, data.y)
    theirs = np.zeros(data.m)
    theirs[model.support_] = model.dual_coef_[0]
    np.testing.assert_allclose(system.weights(), theirs, rtol=1e-12)
    counts = np.abs(system.weights()) * LAM * T
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)


def test_linear_pegasos_is_the_library_without_certificates():
    data = dense()
    how = {
        "plain": Pegasos(sampling="iid"),
        "projected": Pegasos(sampling="iid", projection=True),
        "norma": Pegasos(sampling="iid", step="norma", p=0.7),
        "fixed": Pegasos(sampling="iid", step=0.1),
        "on loss": Pegasos(sampling="iid", advance="on_loss"),
        "batch": Pegasos(sampling="iid", k=3),
    }
    for name, solver in how.items():
        T = data.m // solver.k
        system = systems.LinearPegasos(data, LAM, seed_of(0), solver)
        system.advance(np.inf, T)
        assert system.steps == T
        fitted = PegasosClassifier(lam=LAM, bias="none", solver=solver.set_params(T=T), random_state=0)
        fitted.fit(data.X, data.y)
        np.testing.assert_allclose(system.weights(), fitted.coef_[0], rtol=1e-10, err_msg=name)


@pytest.mark.parametrize("name", ["lasvm", "svm_light"])
def test_what_is_kept_of_the_kernel_matrix_changes_the_work_and_not_the_answer(native, name):
    data = dense()
    made = {
        "lasvm": [lambda n=n: native.Lasvm(data.rows, GAMMA, LAM, most_cached=n) for n in (24_000, 50)],
        "svm_light": [lambda n=n: native.SvmLight(data.rows, GAMMA, LAM, cache_megabytes=n) for n in (100.0, 0.0)],
    }[name]
    kept, dropped = (make() for make in made)
    for system in (kept, dropped):
        system.advance(np.inf)
        assert system.ended
    np.testing.assert_allclose(kept.weights(), dropped.weights(), atol=1e-3 / (LAM * data.m))
    assert dropped.evaluations > kept.evaluations


def test_shrinking_leaves_rows_out_and_brings_them_back(native):
    data = dense()
    system = native.SvmLight(data.rows, GAMMA, LAM / 100, epsilon=1e-5)
    active = set()
    while not system.ended:
        system.advance(np.inf, 10)
        active.add(system.active)
    assert min(active) < data.m
    assert system.active == data.m
    whole = native.SvmLight(data.rows, GAMMA, LAM / 100, epsilon=1e-5, shrinking=False)
    whole.advance(np.inf)
    f = [objective(gram(data), data.y, LAM / 100, x.weights()) for x in (system, whole)]
    assert f[0] == pytest.approx(f[1], abs=1e-6)


def test_lasvm_throws_out_what_it_does_not_need(native):
    data = dense()
    system = systems.lasvm(data, LAM, GAMMA)
    system.advance(np.inf)
    assert np.count_nonzero(system.weights()) <= system.expansion < data.m
    assert system.epochs >= 2  # the last one took nothing in


def test_preconditioned_steps_on_alpha_are_pegasos():
    data, K = dense(), gram(dense())
    picks = _core.picks("iid", 1, data.m, 0, 400)
    alpha = descend(K, data.y, LAM, picks, preconditioned=True, eta=lambda t: 1 / (LAM * t))
    counts = np.zeros(data.m)
    for t, i in enumerate(picks, start=1):
        score = K[i] @ (data.y * counts) / (LAM * (t - 1)) if t > 1 else 0.0
        counts[i] += data.y[i] * score < 1
    np.testing.assert_allclose(alpha, data.y * counts / (LAM * len(picks)), rtol=1e-9, atol=1e-12)


def test_plain_steps_on_alpha_follow_the_gradient_of_eq_19():
    data, K = dense(), gram(dense())
    picks, step = _core.picks("iid", 2, data.m, 0, 20), 1e-3
    seen = [np.zeros(data.m)]
    descend(
        K, data.y, LAM, picks, preconditioned=False, eta=lambda t: step, watch=lambda t, a: seen.append(a.copy())
    )  # fmt: skip
    at, i = seen[-2], picks[-1]

    def one_row(alpha):
        return LAM / 2 * alpha @ K @ alpha + max(0.0, 1 - data.y[i] * K[i] @ alpha)

    numeric = [(one_row(at + 1e-6 * e) - one_row(at - 1e-6 * e)) / 2e-6 for e in np.eye(data.m)[:40]]
    np.testing.assert_allclose((at - seen[-1])[:40] / step, numeric, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"y": np.array([1.0, 0.0])}, "label of row 1"),
        ({"column": np.array([0, 9], np.int32)}, "row 1 has a column outside"),
        ({"start": np.array([0, 2, 1], np.int64)}, "start"),
        ({"start": np.array([0, 2], np.int64)}, "start"),
    ],
)
def test_bad_rows_are_refused(native, change, says):
    good = {
        "value": np.ones(2, np.float32),
        "column": np.array([0, 1], np.int32),
        "start": np.array([0, 1, 2], np.int64),
        "y": np.array([1.0, -1.0]),
    }
    native.Rows(**good, features=3)
    with pytest.raises(ValueError, match=says):
        native.Rows(**{**good, **change}, features=3)


def test_lasvm_takes_the_steps_of_the_library(native, monkeypatch):
    """The same rows in the same order: PROCESS, REPROCESS, what it throws out and finishing are those of `LASVM`."""
    data, tau = dense(), 1e-3
    system = systems.lasvm(data, LAM, GAMMA, seed=3, tau=tau)
    order = _core.picks("permutation", 3, data.m, 0, data.m)
    sizes, found = [], []

    def in_that_order(self, epoch, _):
        S, matrix = self.S, self.problem.matrix

        def process(i):
            if S.place[i] < 0:
                S.process(int(i), matrix.block(np.array([i]), S.members)[0], tau)

        for i in sorted(np.concatenate([np.flatnonzero(data.y == side)[:5] for side in (-1, 1)])):
            process(i)
        for i in order:
            process(i)
            S.reprocess(tau)
            system.advance(np.inf, 1)
            sizes.append((len(S), system.expansion))
        while S.reprocess(tau):
            system.advance(np.inf, 1)
            sizes.append((len(S), system.expansion))
        found.append(self._dual() / (LAM * data.m))
        self.visits = data.m  # an epoch: the end of the fit
        return False

    monkeypatch.setattr(KernelLASVM, "_epoch", in_that_order)
    model = KernelPegasosClassifier(gamma=GAMMA, lam=LAM, bias="none", solver=LASVM(), tol=1e-9, max_epochs=1)
    with pytest.warns(ConvergenceWarning):
        model.fit(data.X, data.y)
    ours, theirs = np.transpose(sizes)
    np.testing.assert_array_equal(ours, theirs)
    assert len(ours) > data.m + 100
    assert (np.diff(ours) < 0).sum() > 20  # what was thrown out was the same
    np.testing.assert_allclose(found[0], system.weights(), atol=1e-4 / (LAM * data.m))


def test_lasvm_and_the_library_find_the_same_support_vectors(native):
    """The Gaussian kernel leaves one optimum, whatever the order of the rows."""
    data = dense()
    system = systems.lasvm(data, LAM, GAMMA, seed=3, tau=1e-6)
    system.advance(np.inf)
    model = KernelPegasosClassifier(gamma=GAMMA, lam=LAM, bias="none", solver=LASVM(), tol=1e-9).fit(data.X, data.y)
    theirs = np.zeros(data.m)
    theirs[model.support_] = model.dual_coef_[0]
    C = 1 / (LAM * data.m)
    np.testing.assert_allclose(system.weights(), theirs, atol=1e-3 * C)
    assert objective(gram(data), data.y, LAM, system.weights()) == pytest.approx(model.objective_, abs=1e-7)
    np.testing.assert_array_equal(np.abs(system.weights()) > 1e-3 * C, np.abs(theirs) > 1e-3 * C)
