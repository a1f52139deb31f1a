"""Traces of systems over time, valued off the clock; optima; the papers' way to choose epsilon."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from data import Data
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from systems import System, Training

from pegasos import KernelPegasosClassifier, PegasosClassifier

Floats = NDArray[np.float64]
Go = tuple[float, float]  # seconds, and the test error there
GOES = 3  # times that each is measured
Trace = dict[str, list[float]]  # seconds, steps, suboptimality, error; kernels: evaluations
warnings.simplefilter("ignore", ConvergenceWarning)  # most fits here are stopped early on purpose


def moments(first: float, last: float, ratio: float = 1.2) -> list[float]:
    """Times at which to look, each `ratio` after the one before."""
    count = max(1, int(np.ceil(np.log(last / first) / np.log(ratio))))
    return [*(first * ratio**n for n in range(count)), last]


@dataclass(frozen=True)
class Optimum:
    """f at the best point known, at most `gap` above the minimum, and the test error there."""

    objective: float
    gap: float
    error: float
    seconds: float


def linear_optimum(data: Data, lam: float | None = None, tol: float = 1e-7) -> Optimum:
    lam = data.lam if lam is None else lam
    began = time.process_time()
    model = PegasosClassifier(lam=lam, bias="none", tol=tol, max_epochs=5000, n_jobs=2, random_state=0)
    model.fit(data.train.X, data.train.y)
    seconds = time.process_time() - began
    return Optimum(model.objective_, model.gap_, linear_error(data, model.coef_[0]), seconds)


def kernel_optimum(data: Data, lam: float | None = None, tol: float = 1e-6) -> Optimum:
    lam = data.lam if lam is None else lam
    began = time.process_time()
    model = KernelPegasosClassifier(
        lam=lam, kernel="rbf", gamma=data.gamma, bias="none", tol=tol, max_epochs=5000, random_state=0
    )
    model.fit(data.train.X, data.train.y)
    seconds = time.process_time() - began
    error = float(np.mean(model.predict(data.X_test) != data.y_test))
    return Optimum(model.objective_, model.gap_, error, seconds)


def linear_error(data: Data, w: Floats) -> float:
    """Share of test rows on the wrong side; a score of zero counts as -1, as everywhere in the library."""
    return float(np.mean(np.where(data.X_test @ w > 0, 1, -1) != data.y_test))


def trace_linear(system: System, data: Data, best: Optimum, times: Sequence[float], enough: float, lam: float) -> Trace:
    """Look at these times; stop when the system has ended, or is better than `enough`."""
    found: Trace = {"seconds": [], "steps": [], "suboptimality": [], "error": []}
    for moment in times:
        if moment > system.seconds:
            system.advance(moment - system.seconds)
        w = system.weights()
        found["seconds"].append(system.seconds)
        found["steps"].append(system.steps)
        found["suboptimality"].append(data.train.objective(w, lam) - best.objective)
        found["error"].append(linear_error(data, w))
        if system.ended or found["suboptimality"][-1] < enough:
            break
    return found


@dataclass
class Snapshots:
    """Coefficients of rows at some moments, to be valued together: their kernel values are computed once for all."""

    seconds: list[float]
    steps: list[int]
    evaluations: list[int]
    coefficients: list[Any]  # sparse: what is not zero, and where


def snapshots(system: Any, times: Iterable[float]) -> Snapshots:
    found = Snapshots([], [], [], [])
    for moment in times:
        if moment > system.seconds:
            system.advance(moment - system.seconds)
        found.seconds.append(system.seconds)
        found.steps.append(system.steps)
        found.evaluations.append(system.evaluations)
        found.coefficients.append(sp.csc_matrix(system.weights()[:, None]))
        if system.ended:
            break
    return found


def value(taken: dict[str, Snapshots], data: Data, best: Optimum, lam: float) -> dict[str, Trace]:
    """The objective and the test error of every snapshot of every system, in one pass over the rows."""
    all_of_them = sp.hstack([c for shots in taken.values() for c in shots.coefficients]).tocsr()
    support = np.unique(all_of_them.nonzero()[0])
    C = np.asarray(all_of_them[support].todense())
    kernel = gaussian(data.train, support, data.gamma)
    scores = np.vstack([kernel(block) @ C for block in blocks(data.train.X)])
    tested = np.vstack([kernel(block) @ C for block in blocks(data.X_test)])
    norm2 = np.einsum("ij,ij->j", C, scores[support])
    losses = np.maximum(0.0, 1.0 - data.train.y[:, None] * scores).mean(axis=0)
    excess = lam / 2 * norm2 + losses - best.objective
    errors = (np.where(tested > 0, 1, -1) != data.y_test[:, None]).mean(axis=0)
    traces, at = {}, 0
    for name, shots in taken.items():
        mine = slice(at, at + len(shots.seconds))
        at = mine.stop
        traces[name] = {
            "seconds": shots.seconds,
            "steps": shots.steps,
            "evaluations": shots.evaluations,
            "suboptimality": excess[mine].tolist(),
            "error": errors[mine].tolist(),
        }
    return traces


def gaussian(train: Training, support: NDArray[np.int64], gamma: float) -> Callable[[Any], Floats]:
    """K(rows, support rows), in float64."""
    B = _float64(train.X[support])
    b2 = _squares(B)

    def values(A: Any) -> Floats:
        A = _float64(A)
        products = A @ B.T
        products = np.asarray(products.todense()) if sp.issparse(products) else products
        return np.exp(-gamma * np.maximum(0.0, _squares(A)[:, None] + b2 - 2 * products))

    return values


def blocks(X: Any, rows: int = 1000) -> Iterable[Any]:
    return (X[i : i + rows] for i in range(0, X.shape[0], rows))


def _float64(X: Any) -> Any:
    return X.astype(np.float64)


def _squares(X: Any) -> Floats:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sp.issparse(X) else np.einsum("ij,ij->i", X, X)


def epsilon_of(traces: Iterable[Trace], error_at_best: float) -> float:
    """The paper's threshold: the largest so that nobody who is below it errs more than 1.1 times as at the optimum.

    Taken over all points of all traces; just below the best point that errs more.
    """
    bad = [
        excess
        for trace in traces
        for excess, error in zip(trace["suboptimality"], trace["error"], strict=True)
        if error > 1.1 * error_at_best
    ]
    return 0.999 * min(bad) if bad else float("inf")


def reached(trace: Trace, epsilon: float) -> Go | None:
    """Seconds and test error at the first point below epsilon."""
    for seconds, excess, error in zip(trace["seconds"], trace["suboptimality"], trace["error"], strict=True):
        if excess < epsilon:
            return seconds, error
    return None


def in_one_go(make: Callable[[], System], trace: Trace, data: Data, best: Optimum, epsilon: float) -> Go | None:
    """The steps of a trace to epsilon again, to a look every 3 % of them, and then without any look: looks are off the
    clock, but what they read takes the place of the system's rows in the caches.

    The same seed takes the same steps however they are cut. None where the trace does not get there.
    """
    steps, below = trace["steps"], [excess < epsilon for excess in trace["suboptimality"]]
    if not any(below):
        return None
    first = below.index(True)
    system = make()
    for count in finely(int(steps[first - 1]) if first else 0, int(steps[first])):
        system.advance(math.inf, count - system.steps)
        w = system.weights()
        if data.train.objective(w, data.lam) - best.objective < epsilon:
            break
    taken = []
    for _ in range(GOES):
        again = make()
        again.advance(math.inf, system.steps)
        taken.append(again.seconds)
    return median(taken), linear_error(data, w)


def finely(after: int, last: int, ratio: float = 1.03) -> list[int]:
    """Numbers of steps up to `last`, each `ratio` times the one before, but one more at least."""
    counts = [min(after + 1, last)]
    while counts[-1] < last:
        counts.append(min(last, max(counts[-1] + 1, int(counts[-1] * ratio))))
    return counts


def seconds_of(call: Callable[[], Any]) -> tuple[float, Any]:
    """Of this thread on the processor."""
    began = time.thread_time()
    result = call()
    return time.thread_time() - began, result


def spread(middle: float, least: float, most: float) -> str:
    """A median as a cell of a table has it, with the least and the most."""
    return f"{middle:.3g} s [{least:.3g}, {most:.3g}]"


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Of the line through the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
