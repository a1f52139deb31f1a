"""Threads make a fit faster and change nothing else: same bytes, nothing left behind, forks work."""

from __future__ import annotations

import functools
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, run_python, same_model, three_classes
from problems import csr, make_problem

from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, _core

M = 70_000  # enough for two replicas, and for more parts of a pass than threads
THREADS = (1, 2, 3, 7)
SOLVERS = {
    "auto": Auto(),
    "auto all rows": Auto(shrinking=False),
    "sdca": SDCA(),
    "sdca permutation": SDCA(sampling="permutation"),
    "pegasos": Pegasos(),
    "pegasos k": Pegasos(k=50, sampling="permutation"),
}


@functools.cache
def large(kind: str) -> tuple[Any, Any, Any]:
    X, y = make_problem(M, 8, density=0.9, noise=0.15)
    s = np.random.default_rng(1).exponential(size=M) + 0.01
    s[::40] = 0
    return {"dense": X, "float32": X.astype(np.float32), "csr": csr(X)}[kind], y, s


def fit(kind: str, solver: str, weighted: bool, bias: str, n_jobs: int | None) -> PegasosClassifier:
    X, y, s = large(kind)
    limits = {"tol": 1e-2} if "pegasos" in solver else {"tol": 1e-5}
    estimator = PegasosClassifier(lam=1e-3, bias=bias, solver=SOLVERS[solver], n_jobs=n_jobs, random_state=1, **limits)
    return estimator.fit(X, y, sample_weight=s if weighted else None)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("kind", "weighted", "bias"),
    [("dense", False, "none"), ("csr", True, "regularized"), ("float32", True, "none"), ("csr", False, "none")],
)
def test_the_model_has_the_same_bytes_for_any_number_of_threads(
    kind: str, weighted: bool, bias: str, solver: str
) -> None:
    one, *others = (fit(kind, solver, weighted, bias, n_jobs) for n_jobs in THREADS)
    assert one.converged_
    for other in others:
        assert same_model(one, other)
        for name in ("objective_", "dual_objective_", "n_steps_", "n_iter_"):
            assert getattr(one, name) == getattr(other, name), name
        for name in ("steps", "objective", "dual", "gap"):
            assert one.history_[name].tobytes() == other.history_[name].tobytes(), name


def test_passes_have_more_parts_than_these_tests_have_threads() -> None:
    """Else a pass that is cut by threads would go unseen. Small problems are one part and start no thread."""
    assert _core.testing.parts_of(M, 8 / 3 + 8, 9) > max(THREADS)  # dense rows, and their features and bias
    assert _core.testing.parts_of(M, 0.9 * 8 + 8, 9) > max(THREADS)
    assert _core.testing.parts_of(150, 12, 5) == 1


@pytest.mark.parametrize("loss", ["log", "squared_hinge", "hinge"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_second_order_steps_have_the_same_bytes_for_any_number_of_threads(loss: str, kind: str) -> None:
    """With a free bias, and a lam so small that coordinate ascent is not the last to go."""
    X, y, s = large(kind)
    one, *others = (
        PegasosClassifier(lam=1e-7, loss=loss, bias="free", n_jobs=n, random_state=0, tol=1e-7, max_epochs=60).fit(
            X[:20_000], y[:20_000], s[:20_000]
        )
        for n in THREADS
    )
    for other in others:
        assert same_model(one, other)
        assert one.history_["gap"].tobytes() == other.history_["gap"].tobytes()


@pytest.mark.parametrize("kind", ["dense", "float32", "csr"])
def test_scores_have_the_same_bytes_for_any_number_of_threads(kind: str) -> None:
    X = large(kind)[0]
    assert _core.testing.parts_of(M, 8 / 3 + 4) > max(THREADS)
    fitted = model().fit(X[:200], large(kind)[1][:200])
    alone = fitted.decision_function(X)
    np.testing.assert_allclose(alone, X @ fitted.coef_.T[:, 0] + fitted.intercept_, rtol=1e-5, atol=1e-6)
    for n_jobs in (*THREADS, -1):
        assert fitted.set_params(n_jobs=n_jobs).decision_function(X).tobytes() == alone.tobytes()


def test_the_first_of_several_faults_is_named_for_any_number_of_threads() -> None:
    X, y, _ = large("dense")
    X = np.tile(X, (2, 1))
    X[[M - 1, M // 3, 2 * M - 1], 5] = [np.nan, np.inf, np.nan]
    for n_jobs in THREADS:
        with pytest.raises(ValueError, match=rf"row {M // 3}, column 5"):
            model(n_jobs=n_jobs).fit(X, np.tile(y, 2))


def test_all_cores_and_none_are_numbers_of_threads_like_others() -> None:
    models = [fit("csr", "auto", False, "regularized", n_jobs) for n_jobs in (None, -1, -2, 2)]
    assert all(same_model(models[0], other) for other in models[1:])


def test_fits_repeat_themselves_to_the_byte() -> None:
    """Whatever the threads do in the meantime: a race would show as a difference sooner or later."""
    models = [fit("dense", "sdca", True, "regularized", 2) for _ in range(10)]
    assert all(same_model(models[0], other) for other in models[1:])


def no_more_threads_than(before: int) -> bool:
    """A thread that has been joined may be listed for a moment."""
    deadline = time.perf_counter() + 2
    while threads_now() > before and time.perf_counter() < deadline:
        time.sleep(0.01)
    return threads_now() <= before


def threads_now() -> int:
    return len(os.listdir("/proc/self/task"))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_no_thread_outlives_its_fit(solver: str) -> None:
    fit("dense", solver, False, "none", 2)
    before = threads_now()
    for n_jobs in (2, 3, 7, -1):
        fit("dense", solver, False, "none", n_jobs)
        model(n_jobs=n_jobs).fit(*three_classes())
        assert no_more_threads_than(before)
        model(n_jobs=n_jobs).fit(*three_classes()).predict(np.zeros((M, 6)))
        assert no_more_threads_than(before)
    with pytest.raises(ValueError, match="NaN"):
        model(n_jobs=7).fit(np.full((M, 2), np.nan), np.arange(M) % 2)
    assert no_more_threads_than(before)


def test_many_fits_at_once_in_threads_of_python() -> None:
    """Every one of them with threads of its own, and each the same as alone."""
    X, y = binary(3000, 10)
    alone = [model(lam=lam, n_jobs=2).fit(X, y) for lam in (1e-3, 1e-2, 1e-1, 1.0)] * 4
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda each: model(lam=each.lam, n_jobs=3).fit(X, y), alone))
    assert all(same_model(a, b) for a, b in zip(alone, together, strict=True))
    large("dense")
    with ThreadPoolExecutor(3) as pool:
        models = list(pool.map(lambda n: fit("dense", "sdca", False, "none", n), (1, 2, 3)))
    assert same_model(models[0], models[1])
    assert same_model(models[0], models[2])


FORKING = """
import os, sys, warnings
import numpy as np
from problems import make_problem
from pegasos import PegasosClassifier
warnings.simplefilter("ignore")  # Python warns of forks with threads
X, y = make_problem(70_000, 8, noise=0.15)
def fit():
    return PegasosClassifier(lam=1e-3, n_jobs=2, random_state=0).fit(X, y)
before = fit()
child = os.fork()
if child == 0:
    os._exit(0 if fit().coef_.tobytes() == before.coef_.tobytes() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert fit().coef_.tobytes() == before.coef_.tobytes()
import threading
busy = threading.Thread(target=lambda: [fit() for _ in range(3)])
busy.start()
for _ in range(5):  # while threads of a fit are at work
    child = os.fork()
    if child == 0:
        os._exit(0 if fit().coef_.tobytes() == before.coef_.tobytes() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
busy.join()
print("done")
"""


def test_a_fork_after_and_during_a_fit_with_threads_works() -> None:
    done = run_python("-c", FORKING, timeout=60)
    assert done.stdout == "done\n", done.stderr


FEW_THREADS = """
import resource
from helpers import binary
from pegasos import PegasosClassifier
X, y = binary()
PegasosClassifier().fit(X, y)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))  # room for a few hundred stacks
for solver in ("auto", "sdca", "pegasos"):
    try:
        PegasosClassifier(n_jobs=20_000, solver=solver, tol=1e-2).fit(X, y)
    except (MemoryError, RuntimeError, OSError) as error:
        print("error")
    else:
        print("fitted")
"""


def test_more_threads_than_the_system_gives_do_not_crash() -> None:
    done = run_python("-c", FEW_THREADS, timeout=60)
    assert done.returncode == 0, done.stderr[-500:]
    assert set(done.stdout.split()) <= {"fitted", "error"}


def test_a_thousand_jobs_cost_no_more_than_a_second() -> None:
    """No fit has work for more than a few threads."""
    X, y = binary()
    begin = time.perf_counter()
    many = model(n_jobs=1000).fit(X, y)
    assert time.perf_counter() - begin < 1
    assert same_model(many, model().fit(X, y))
