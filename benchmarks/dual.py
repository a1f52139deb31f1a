"""Contests of the default solver, `Auto`: whole fits with two threads, one thread beside.

Peers get their best fair settings: each is searched, outside the timing, for the quickest setting whose objective is as
good as asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from contest import Finding, compare, interleave, print_skipped
from inputs import LAMBDAS, Data
from peers import LINEAR_SVC, OURS, SGD, SNAP, Choice, Setting

from pegasos import PegasosClassifier, _core

ACCURACY = 1e-4  # certified for ours; for the peers, of the best objective known
EXACT: Setting = {"tol": ACCURACY}
PATH = tuple(10 ** (-3 - n / 2) for n in range(7))  # 1e-3, 3.2e-4, ... 1e-6


def certified(data: Data, rounds: int) -> Iterator[Finding]:
    """Whole fits to a certified 1e-4, against LinearSVC and Snap ML to 1e-4 of the same minimum."""
    why = SNAP.missing()
    if why:
        print_skipped("Snap ML", why)
    for lam in LAMBDAS:
        goal = data.bracket(lam)[1] + ACCURACY
        calls = {f"ours {n}": OURS.call(data, lam, EXACT, n) for n in (1, 2)}
        chosen: dict[str, Choice] = {}
        for name, peer, threads in (("LinearSVC", LINEAR_SVC, 1), ("Snap 1", SNAP, 1), ("Snap 2", SNAP, 2)):
            if peer is SNAP and why:
                continue
            chosen[name] = peer.quickest(data, lam, goal, threads)
            calls[name] = peer.call(data, lam, chosen[name].setting, threads)
        samples = interleave(calls, rounds)
        for ours, theirs, target in _pairings(data, lam):
            if theirs not in chosen:
                continue
            pair = {name: samples[name] for name in (ours, theirs)}
            notes = {
                "lam": lam,
                "setting": chosen[theirs].setting,
                "over_best": chosen[theirs].objective + ACCURACY - goal,
            }
            said = f"{theirs}, {chosen[theirs]}{_to(chosen[theirs])}; ours: {_threads(ours)}"
            yield compare(f"fit to 1e-4, lam {lam:g}", data.name, said, pair, target, "faster", **notes)


def _pairings(data: Data, lam: float) -> tuple[tuple[str, str, float | None], ...]:
    svc = 4.0 if data.dense else 7.0 if lam < 1e-5 else 12.0 if lam < 1e-4 else 15.0
    snap = None if data.dense else 2.0
    return (
        ("ours 2", "LinearSVC", svc),
        ("ours 1", "LinearSVC", None),
        ("ours 2", "Snap 2", snap),
        ("ours 1", "Snap 1", snap),
    )


def _threads(name: str) -> str:
    return "1 thread" if name.endswith("1") else "2 threads"


def _to(choice: Choice) -> str:
    return "" if choice.reached else f" (NOT REACHED: ends at {choice.objective:.5f})"


def early(data: Data, rounds: int) -> Iterator[Finding]:
    """Whole fits to the objective that SGDClassifier has after 1 and 5 epochs; of its two kinds the harder one."""
    for lam in LAMBDAS:
        for epochs in (1, 5):
            yield from _early(data, rounds, lam, epochs)


def _early(data: Data, rounds: int, lam: float, epochs: int) -> Iterator[Finding]:
    kinds = {f"average={average}": {"max_iter": epochs, "average": average} for average in (False, True)}
    calls: dict[str, Any] = {}
    ours: dict[str, Choice] = {}
    goals: dict[str, float] = {}
    for kind, setting in kinds.items():
        goals[kind] = SGD.measure(data, lam, setting)[1]
        ours[kind] = OURS.quickest(data, lam, goals[kind], threads=2)
        calls[f"{kind} sgd"] = SGD.call(data, lam, setting)
        for threads in (1, 2):
            calls[f"{kind} ours {threads}"] = OURS.call(data, lam, ours[kind].setting, threads)
    samples = interleave(calls, rounds)
    harder = min(kinds, key=lambda kind: np.median(samples[f"{kind} sgd"]) / np.median(samples[f"{kind} ours 2"]))
    for threads, target in ((2, 2.0), (1, None)):
        pair = {name: samples[name] for name in (f"{harder} ours {threads}", f"{harder} sgd")}
        mine = f"{_threads(str(threads))}, {ours[harder]}{_to(ours[harder])}"
        said = f"SGDClassifier, {epochs} epoch{'s'[: epochs - 1]}, {harder}; ours: {mine}"
        notes = {"lam": lam, "epochs": epochs, "goal": goals[harder], "setting": ours[harder].setting}
        name = f"fit to SGD's epoch {epochs}, lam {lam:g}"
        yield compare(name, data.name, said, pair, target, "faster", **notes)


def threads(data: Data, rounds: int) -> Iterator[Finding]:
    """What two threads gain in a fit, against what they gain in a pass that only evaluates f(w)."""
    for lam in LAMBDAS:
        problem = data.problem(lam)
        w = np.append(OURS.fit(data, lam, 2, 0, **EXACT), 0.0)
        calls = {f"fit {n}": OURS.call(data, lam, EXACT, n) for n in (1, 2)}
        calls |= {f"pass {n}": partial(problem.objective, w, threads=n) for n in (1, 2)}
        times = interleave(calls, max(rounds, 11))
        gains = {
            what: [one / two for one, two in zip(times[f"{what} 1"], times[f"{what} 2"], strict=True)]
            for what in ("fit", "pass")
        }
        said = "gain of two threads in a pass that evaluates f(w)"
        name = f"gain of two threads, lam {lam:g}"
        yield compare(name, data.name, said, gains, 0.8, "at least", "x", lam=lam, seconds=times)


def replicas(data: Data, rounds: int) -> Iterator[Finding]:
    """What it costs one thread that rows are visited as two threads would; each round draws them in another order."""
    for lam in LAMBDAS:
        problem = data.problem(lam)
        fits = {f"{n} replicas": partial(dual_fit, data, problem, n, count()) for n in (2, 1)}
        samples = interleave(fits, max(rounds, 11))
        yield compare(f"two replicas, lam {lam:g}", data.name, "one replica; both one thread", samples, 1.1, lam=lam)


def dual_options(replicas: int) -> _core.DualOptions:
    """Those of `Auto`, to a certified 1e-4."""
    options = _core.DualOptions()
    options.set_sampling("blocks")
    options.shrinking = options.pegasos_first = options.second_order = True
    options.tol, options.max_epochs, options.replicas = ACCURACY, 1000.0, replicas
    return options


def dual_fit(data: Data, problem: _core.Problem, n_replicas: int, seeds: Iterator[int]) -> Any:
    m, dim = len(data.y), data.X.shape[1] + 1
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=True, stop=np.zeros(1, np.uint8), report=None)
    options = dual_options(replicas=n_replicas)
    options.seed = next(seeds)
    return _core.dual_fit(problem, options, np.zeros(m), np.zeros(dim), 1, watch)


def path(data: Data, rounds: int) -> Iterator[Finding]:
    """Seven fits along a decreasing lam, each going on from the one before, against seven fits from zero."""

    def along(warm_start: bool) -> None:
        model = PegasosClassifier(bias="none", tol=ACCURACY, n_jobs=2, random_state=0, warm_start=warm_start)
        for lam in PATH:
            model.set_params(lam=lam).fit(data.X, data.y)

    samples = interleave({"warm": partial(along, True), "cold": partial(along, False)}, rounds)
    said = f"cold starts; {len(PATH)} values of lam from {PATH[0]:g} to {PATH[-1]:g}"
    yield compare("warm starts along a path of lam", data.name, said, samples, 1.0, "faster", lambdas=PATH)
