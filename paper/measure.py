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
    return Optimum(model.objective_, near_enough(model), linear_error(data, model.coef_[0]), seconds)


def kernel_optimum(data: Data, lam: float | None = None, tol: float = 1e-6) -> Optimum:
    lam = data.lam if lam is None else lam
    began = time.process_time()
    model = KernelPegasosClassifier(
        lam=lam, kernel="rbf", gamma=data.gamma, bias="none", tol=tol, max_epochs=5000, random_state=0
    )
    model.fit(data.train.X, data.train.y)
    seconds = time.process_time() - began
    error = float(np.mean(model.predict(data.X_test) != data.y_test))
    return Optimum(model.objective_, near_enough(model), error, seconds)


def near_enough(model: Any, most: float = 1e-5) -> float:
    """The gap of what stands for the minimum; what is measured against it is read down to some 1e-5."""
    if not model.gap_ <= most:
        raise RuntimeError(f"the minimum is known to {model.gap_:.2g} only, at lam = {model.lam:g}: no yardstick.")
    return float(model.gap_)


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


def first_below(trace: Trace, epsilon: float) -> int | None:
    """Which point of it that is."""
    return next((n for n, excess in enumerate(trace["suboptimality"]) if excess < epsilon), None)


def reached(trace: Trace, epsilon: float) -> Go | None:
    """Seconds and test error at the first point below epsilon."""
    first = first_below(trace, epsilon)
    return None if first is None else (trace["seconds"][first], trace["error"][first])


def around(make: Callable[[], System], trace: Trace, data: Data, best: Optimum, epsilon: float) -> Trace:
    """A trace with looks every 3 % of the steps before its first point below epsilon; the same one where it has them
    already, or never gets there. The same seed takes the same steps however they are cut."""
    first = first_below(trace, epsilon)
    if first is None or math.isinf(epsilon):
        return trace
    counts = finely(int(trace["steps"][first - 1]) if first else 0, int(trace["steps"][first]))[:-1]
    if not counts:
        return trace
    system, looks = make(), []
    for count in counts:
        system.advance(math.inf, count - system.steps)
        w = system.weights()
        excess = data.train.objective(w, data.lam) - best.objective
        looks.append((system.seconds, float(system.steps), excess, linear_error(data, w)))
    columns = ("seconds", "steps", "suboptimality", "error")
    return {
        what: [*trace[what][:first], *(look[n] for look in looks), *trace[what][first:]]
        for n, what in enumerate(columns)
    }


def in_one_go(make: Callable[[], System], steps: int) -> float:
    """Seconds of so many steps without a look: looks are off the clock, but what they read takes the place of the
    system's rows in the caches."""
    taken = []
    for _ in range(GOES):
        system = make()
        system.advance(math.inf, steps)
        taken.append(system.seconds)
    return median(taken)


def finely(after: int, last: int, ratio: float = 1.03) -> list[int]:
    """Numbers of steps up to `last`, each `ratio` times the one before, but one more at least."""

    def following(count: int) -> int:
        return min(last, max(count + 1, int(count * ratio)))

    counts = [following(after)]
    while counts[-1] < last:
        counts.append(following(counts[-1]))
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
