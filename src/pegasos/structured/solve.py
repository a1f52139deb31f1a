"""One fit of a chain: the native solvers, and what a later fit goes on with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .run import (
    Fit,
    Floats,
    Pegasos,
    Run,
    average_left,
    last_step,
    native_watch,
    refuse_long_step,
    schedule,
    solver_of,
    stream_late,
)


@dataclass(frozen=True)
class Task:
    """f(w) = lam/2 ||w||^2 + mean over sequences of their loss."""

    tagging: _core.Tagging
    n_weights: int
    m: int
    lam: float
    loss: str
    at_zero: float  # f(0)
    stream_reach: float = 0.0  # a stream begins with steps of one over it; 0: this is none


@dataclass
class Going:
    """Where a fit goes on from: w after so many steps, and what its solver left."""

    w: Floats
    steps: int = 0
    lam: float = 0.0
    dual: _core.TagDual | None = None  # of the hinge
    running: dict[str, Any] | None = None  # of Pegasos

    @property
    def fresh(self) -> bool:
        return self.steps == 0


def solver_for(given: Any, things: str) -> Any:
    """The solver object behind `solver`; what would have no effect is refused. things: what it is for."""
    known = f"{things} take solver='auto', 'pegasos' or a Pegasos object"
    if isinstance(given, str) and given not in ("auto", "pegasos", "sdca"):
        raise ValueError(f"{known}, got {given!r}.")
    solver: Any = solver_of(given) if isinstance(given, str) else given
    kind = type(solver)
    if kind.__name__ == "SDCA":
        raise ValueError(f"SDCA is not for {things}; use solver='auto', its counterpart for them, or 'pegasos'.")
    if isinstance(solver, Pegasos) and kind.check is Pegasos.check and kind.solve is Pegasos.solve:
        return solver
    auto: Any = type(solver_of("auto"))
    if kind is not auto:
        raise ValueError(f"{known}, got {given!r}: check and solve of other objects are about rows.")
    usual = auto().get_params()
    own = [name for name, value in solver.get_params().items() if value != usual[name]]
    if own:
        raise ValueError(f"Auto({own[0]}=...) is about rows, and has no effect on {things}: use solver='auto'.")
    return solver


def check_pegasos(solver: Pegasos, task: Task, one_pass: bool) -> None:
    """Refuse what cannot work, before anything runs."""
    if solver.k > task.m and not one_pass:
        raise ValueError(
            f"k = {solver.k} sequences per step, but there are only {task.m}. Lower k to at most {task.m}."
        )
    if solver.output in ("random", "best"):
        raise ValueError(f"output={solver.output!r} is not for sequences; use 'last', 'average' or 'tail'.")
    if not isinstance(solver.start, str) or solver.start != "zero":
        raise ValueError("start is not for sequences; use start='zero', and warm_start to go on from a fit.")
    if not solver.certify:
        raise ValueError(
            "certify=False is not for sequences; use certify=True, or partial_fit, which certifies nothing."
        )
    if solver.advance != "always":
        raise ValueError("advance='on_loss' is not for sequences; use 'always'.")
    refuse_long_step(solver, task.lam)


def solve(task: Task, solver: Any, stop: Run, going: Going, seed: int) -> tuple[Fit, Going]:
    """Minimise f from there."""
    if task.at_zero <= 0 and not stop.one_pass:  # losses are never negative: zero is the minimum
        zero, line = np.zeros(task.n_weights), np.zeros((1, 4))
        line[0, 1] = going.steps
        return Fit(zero, going.steps, 0.0, line, converged=True), Going(zero, going.steps, task.lam)
    if isinstance(solver, Pegasos) or stop.one_pass:
        pegasos = solver if isinstance(solver, Pegasos) else Pegasos()
        return _pegasos(task, pegasos, stop, going, seed)
    w = going.w.copy()
    common: dict[str, Any] = {
        "tol": stop.tol * task.at_zero,
        "max_epochs": float(min(stop.max_epochs, 1e18)),
        "seed": seed,
        "at_zero": task.at_zero,
        "threads": stop.threads,
        **stop.snapshots(),
    }  # no watch: what interrupts a fit knows its frames, and a watch knows what interrupted it
    dual = None
    if task.loss == "log":
        goes_on = not going.fresh and bool(w.any())
        found = _core.tag_log(task.tagging, w, goes_on=goes_on, watch=native_watch(stop, w), **common)
    else:
        dual = _core.TagDual() if going.dual is None else going.dual
        found = _core.tag_hinge(task.tagging, dual, w, watch=native_watch(stop, w), **common)
    steps = going.steps + found["visits"]
    return _fit(found, w, steps, found["visits"] / task.m), Going(w, steps, task.lam, dual)


def _fit(found: dict[str, Any], w: Floats, steps: int, epochs: float) -> Fit:
    return Fit(
        w=w,
        steps=steps,
        epochs=epochs,
        history=found["history"],
        converged=found["converged"],
        interrupted=found["interrupted"],
        rounding=found["rounding"],
        error=found["error"],
    )


def _options(task: Task, solver: Pegasos, stop: Run, t: int, late: float, seed: int) -> _core.PegasosOptions:
    o = _core.PegasosOptions()
    o.k, o.seed = min(solver.k, task.m), seed
    o.set_sampling(solver.sampling)
    o.steps = last_step(solver, stop, task.m, o.k, t)
    o.tol, o.to_the_end, o.one_pass = stop.tol * task.at_zero, solver.T is not None, stop.one_pass
    o.set_step(*schedule(solver), late)
    if solver.projection:
        o.radius = math.sqrt(task.at_zero / task.lam)
    o.tail = {"average": 1.0, "tail": float(solver.tail)}.get(solver.output, 0.0)
    return o


def _late(task: Task, solver: Pegasos, stop: Run, going: Going) -> float:
    """By how many steps they are late. A stream goes on as it has begun; it begins after a fit, or with another lam."""
    run = going.running
    late = run["late"] if run is not None else 0.0
    if not stop.one_pass or solver.step != "pegasos" or (late and run is not None and run["lam"] == task.lam):
        return float(late)
    return stream_late(task.stream_reach, task.lam, going.steps)


def _pegasos(task: Task, solver: Pegasos, stop: Run, going: Going, seed: int) -> tuple[Fit, Going]:
    t, run = going.steps, going.running
    late = _late(task, solver, stop, going)
    plain = solver.step == "pegasos" and not solver.projection
    c = 1.0 / (task.lam * (t + late)) if t and plain else 1.0
    averages = solver.output in ("average", "tail")
    v, counts, out = going.w / c, np.zeros(task.m), np.zeros(task.n_weights)
    B = np.zeros(task.n_weights if averages else 0)
    same = run is not None and np.array_equal(run["out"], going.w)
    if run is not None and same:
        v = run["v"] * (run["c"] / c)
    state = _core.TagState(v, counts, out, B)
    state.c, state.t = c, t
    if run is not None and same and averages and len(run["B"]):
        B[:], state.C, state.averaged = average_left(run, c, t, stop.one_pass)
    if run is not None and same and len(run["counts"]) == task.m and run["known"] and run["lam"] == task.lam:
        counts[:] = run["counts"] * (run["c"] / c)
        state.cost = run["cost"] * (run["c"] / c)
        state.known = True
    else:
        state.known = t == 0
    options = _options(task, solver, stop, t, late, seed)
    found = _core.tag_pegasos(
        task.tagging, task.loss == "log", options, state, stop.threads, native_watch(stop, out), **stop.snapshots()
    )
    visits = (state.t - t) * options.k
    running = {
        "v": v, "c": state.c, "B": B, "C": state.C, "averaged": state.averaged, "out": out.copy(), "late": late,
        "counts": counts if not stop.one_pass else np.zeros(0), "cost": state.cost, "lam": task.lam,
        "known": state.known and not stop.one_pass,
    }  # fmt: skip
    fit = _fit(found, out, state.t, (min(visits, task.m) if stop.one_pass else visits) / task.m)
    return fit, Going(out, state.t, task.lam, running=running)
