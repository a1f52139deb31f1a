"""Kernel problems that are one native block: their certificate, what a polish may cost, who may interrupt."""

import gc
import os
import signal
import threading
import weakref

import numpy as np
import pytest
from kernel_problems import classifier, coefficients, matrix, rows
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, _core, losses
from pegasos.kernel_solvers import whole as kernel_whole
from pegasos.kernel_solvers.auto import KernelAuto
from pegasos.kernel_solvers.cache import touched
from pegasos.kernel_solvers.matrix import KernelMatrix
from pegasos.kernel_solvers.working_set import WorkingSet
from pegasos.problem.rows import make_rows
from pegasos.solvers.base import Run

X, Y = rows(150, 3, seed=1)
K = matrix("rbf", X)
ALL = [*losses.CLASSIFICATION, *losses.REGRESSION]


def model_of(loss, **params):
    kind = KernelPegasosClassifier if loss in losses.CLASSIFICATION else KernelPegasosRegressor
    return kind(**{"loss": loss, "lam": 1e-3, "gamma": 0.4, "random_state": 0, **params})


def labels_of(loss):
    return Y if loss in losses.CLASSIFICATION else np.sin(2 * X[:, 0]) + X[:, 1] + 3


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_certificate_is_that_of_plain_numpy(loss, bias, weighted):
    y, named = labels_of(loss), losses.NAMED[loss]
    s = np.random.default_rng(0).choice([0.0, 1.0, 2.5], len(y)) if weighted else np.ones(len(y))
    model = model_of(loss, bias=bias, tol=1e-2).fit(X, y, sample_weight=s)
    extra = () if loss in losses.CLASSIFICATION else (model.epsilon,)
    c, b, share = coefficients(model, len(y)), model.intercept_[0], s / s.sum()
    square = c @ K @ c + (b**2 if bias == "regularized" else 0)
    f = model.lam / 2 * square + share @ named.value(K @ c + b, y, *extra)
    a = np.divide(c * model.lam, share, out=np.zeros_like(c), where=share > 0)
    dual = -share @ named.conjugate(a, y, *extra) - model.lam / 2 * square
    assert model.objective_ == pytest.approx(f, abs=1e-10)
    assert model.dual_objective_ == pytest.approx(dual, abs=1e-10)
    if bias == "free":
        assert abs(c.sum()) <= 1e-10 * np.abs(c).sum() + 1e-12
    if bias == "regularized":
        assert b == pytest.approx(c.sum())


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_row_of_weight_two_is_the_row_twice(loss, bias):
    y, s = labels_of(loss), np.random.default_rng(2).integers(0, 3, len(Y))
    weighted = model_of(loss, bias=bias, tol=1e-9).fit(X, y, sample_weight=s)
    repeated = model_of(loss, bias=bias, tol=1e-9, gamma=0.4).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-8)


@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("m", [4500, 300])
def test_greedy_steps_reach_the_optimum_of_svc(lam, m):
    A, y = rows(m, 5, seed=6)
    lam = max(lam, 1e-5) if m > 1000 else lam
    model = classifier("rbf", lam=lam, bias="free", tol=1e-5).fit(A, y)
    assert model.converged_
    svc = SVC(C=1 / (lam * m), gamma=0.4, tol=1e-5).fit(A, y)
    c, kernel = np.zeros(m), matrix("rbf", A)
    c[svc.support_] = svc.dual_coef_[0]
    theirs = lam / 2 * c @ kernel @ c + np.maximum(0, 1 - y * (kernel @ c + svc.intercept_[0])).mean()
    assert model.dual_objective_ <= theirs + 1e-6
    assert model.objective_ <= theirs + 1.2e-5


@pytest.fixture
def works(monkeypatch):
    """What every native call was allowed to do, and did."""
    found = []

    def counted(usual):
        def call(block, options, *others):
            before = block.work
            result = usual(block, options, *others)
            found.append((usual is polish, options.budget, block.work - before))
            return result

        return call

    polish = WorkingSet.polish
    monkeypatch.setattr(WorkingSet, "climb", counted(WorkingSet.climb))
    monkeypatch.setattr(WorkingSet, "polish", counted(polish))
    return found


@pytest.mark.parametrize("loss", ALL)
@pytest.mark.parametrize("m", [30, 150, 800])
@pytest.mark.parametrize("lam", [1e-2, 1e-4])
def test_a_polish_costs_no_more_than_the_fit_so_far_or_a_millisecond(loss, m, lam, works):
    A, y = rows(m, 4, seed=2)
    y = y if loss in losses.CLASSIFICATION else A[:, 0] + 0.1 * A[:, 1]
    model_of(loss, lam=lam, bias="free", warm_start=True).fit(A, y)  # else it is one native call
    polishes = [work for work in works if work[0]]
    so_far = sum(work[2] for work in works if not work[0])
    assert len(polishes) <= 1
    for _, budget, spent in polishes:
        assert budget <= max(so_far, kernel_whole.MILLISECOND)
        free = min(m, 256)  # the last system may be begun within the budget and end beyond it
        assert spent <= budget + 2 * (free**3 / 6 + 4 * free**2 + 4 * m * free + 40 * 40 * m)


def test_without_polish_tol_is_the_end(works):
    model = model_of("hinge", bias="free")
    model._method = lambda *_: KernelAuto(polish=False)
    model.fit(X, Y)
    assert not any(work[0] for work in works)
    assert model.gap_ > 1e-9
    assert model.converged_


def test_history_belongs_to_the_model_and_only_counts_forward():
    model = classifier("rbf", lam=1e-6, tol=1e-8).fit(*rows(900, 4, seed=3))
    assert (np.diff(model.history_["steps"]) > 0).all()
    assert model.history_["gap"][-1] == model.gap_


def test_a_warm_start_at_the_optimum_takes_no_step():
    model = classifier("rbf", lam=1e-3, bias="free", warm_start=True, tol=1e-3).fit(X, Y)
    steps, objective = model.n_steps_, model.objective_
    model.fit(X, Y)
    assert model.n_steps_ - steps <= 3 * len(Y)
    assert model.objective_ == pytest.approx(objective, abs=1e-9)


def test_ctrl_c_in_native_code_keeps_what_was_learned():
    A, y = rows(3500, 12, seed=8)
    y[np.random.default_rng(0).random(3500) < 0.3] *= -1
    model = classifier("rbf", lam=1e-9, tol=0.0, gamma=0.3, bias="free", max_time=20.0)
    timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(A, y)
    timer.cancel()
    assert not model.converged_
    assert len(model.support_) > 0
    assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()


def test_somebody_is_told_every_second(capsys, monkeypatch):
    monkeypatch.setattr("pegasos.kernel_solvers.journal._SILENCE", 0.0)
    model = classifier("rbf", lam=1e-3, verbose=1, cache_mb=1).fit(*rows(1200, 5, seed=4))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > len(model.history_["gap"]) + 1
    assert "objective 1  gap 1" in lines[0]


def test_matrices_in_use_never_share_memory_and_old_memory_is_used_again(monkeypatch):
    monkeypatch.setattr("pegasos.kernel_solvers.cache._kept", [])
    arrays = [touched((400, 400), np.float64) for _ in range(5)]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
    first = arrays[0].ctypes.data
    part = arrays.pop(0)[3:5]
    assert touched((400, 400), np.float64).ctypes.data != first
    del part
    assert touched((390, 400), np.float64).ctypes.data == first


def test_a_fit_leaves_no_matrix_behind(monkeypatch):
    seen, usual = [], KernelMatrix.__init__

    def begin(made, *given, **named):
        usual(made, *given, **named)
        seen.extend([weakref.ref(made), weakref.ref(made._values)])

    monkeypatch.setattr(KernelMatrix, "__init__", begin)
    gc.disable()
    try:
        models = [
            classifier("rbf", multi_class=which, verbose=verbose).fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
            for which in ("ovr", "ovo")
            for verbose in (0, 1)
        ]
        assert len(models) == 4
        assert len(seen) >= 8
        assert all(ref() is None for ref in seen)
    finally:
        gc.enable()


def test_native_blocks_are_checked_at_the_border():
    labelled = _core.Labelled("hinge", 0.0, np.ones(3))
    options = _core.Labelled.Options(False, 0.0, 1.0, 0.0)
    terms = _core.Labelled.RoundingTerms(1.0, 0.0, 0.0, 3, False, False)
    lines, three = np.ones((2, 3)), np.ones(3)
    for a, errors in ((np.zeros(2), lines), (np.zeros(3), lines[:, :2])):
        with pytest.raises(ValueError, match="different lengths"):
            labelled.certify(np.eye(3), 0.0, three, a, np.zeros(3), options, 0.0, three, errors.copy(), lines, terms)
    with pytest.raises(ValueError, match="different lengths"):
        labelled.rounding(three, three, three, np.ones(2), three, lines, lines, terms)
    with pytest.raises(ValueError, match="different lengths"):
        labelled.rounding(three, three, three, three, three, lines, np.ones((1, 3)), terms)
    with pytest.raises(ValueError, match="unknown kind"):
        _core.pair_sums(make_rows(lines, training=True), make_rows(lines, training=True), "cubed")
    watch = Run(1e-3, 1.0).watch(lambda: three)
    with pytest.raises(ValueError, match="square"):
        labelled.polish(np.ones((3, 2)), 0.0, np.ones(3), np.zeros(3), np.zeros(3), options, 0.0, watch)
    with pytest.raises(ValueError, match="square"):
        _core.Labelled.typical(np.ones((3, 2)))


def test_native_pairs_are_checked_at_the_border():
    options, one = _core.Labelled.Options(False, 0.0, 1.0, 0.0), np.ones((1, 1))
    terms = _core.Labelled.PairTerms(1e-3, 1e-3, 10.0, False, 0.0, 0.0)
    watch = Run(1e-3, 1.0).watch(lambda: np.ones(1))

    def solve(rows=(0, 1), second=1, across=one, s=None, errors=((1, 2), (1, 2))):
        classes = [np.array([row]) for row in rows]
        lines = [np.zeros(shape) for shape in errors]
        pairs = _core.Labelled.Pairs("hinge", 0.0, 0.0, 1.0, 1.0, classes, s, np.ones(2), *lines)
        return pairs.solve([(one, one, across, 0, second, 0.5, 2.0)], terms, options, watch)

    assert solve()[2] is None
    for wrong in ({"across": np.ones((2, 1))}, {"s": np.ones(3)}, {"errors": ((1, 3), (1, 3))}):
        with pytest.raises(ValueError, match="different lengths"):
            solve(**wrong)
    with pytest.raises(ValueError, match="not there"):
        solve(rows=(0, 2))
    with pytest.raises((IndexError, ValueError)):
        solve(second=2)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("C", [0.01, 1.0])
def test_a_column_of_large_numbers_is_no_reason_to_give_up(multi_class: str, C: float) -> None:
    """Greedy steps end early there: rows differ in length by a factor of ten thousand."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(100, 2)), rng.lognormal(10, 1, 100)])
    y = (X[:, 0] + rng.normal(size=100) > 0) + (X[:, 1] > 1).astype(int)
    model = KernelPegasosClassifier(
        lam=1 / (C * 100), kernel="linear", bias="free", multi_class=multi_class, random_state=0
    )
    assert model.fit(X, y).converged_
