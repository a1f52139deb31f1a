"""What more cores bring: `python benchmarks/cores.py --help`.

Two parts, in one table. The first is counted, and says the same on any machine: row visits to a certified 1e-4, and the
critical path with as many threads as `--threads` names at most, for several numbers of replicas, by coordinate ascent
alone. The path is in non-zeros: of every round those of the replica that has most, merges and certificates divided by
the threads, and 10,000 for every meeting of the threads. A number that a merge reads or writes, one after the other,
counts as a quarter of a non-zero, as in the prices that the solver itself goes by (cpp/pegasos/run/prices.hpp).

The second is measured: seconds of whole fits for 1, 2, 4, ... threads, with the default and with as many replicas as
threads, and Snap ML's where it is installed, each with its quickest setting that reaches the same objective.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import contest
import inputs
import numpy as np
from contest import Finding, compare, interleave, print_skipped
from dual import ACCURACY, dual_options
from inputs import LAMBDAS, Data
from peers import OURS, SNAP

from pegasos import Auto, _core

REPLICAS = (1, 2, 4, 8, 16)
MEETING, STREAMED = 10_000, 0.25  # non-zeros, for a meeting of all threads and for a number read in its order
MOST_EPOCHS = 100.0


@dataclass(frozen=True)
class Course:
    """A fit, counted: rows visited, and what its critical path is made of."""

    replicas: int
    converged: bool
    visits: int
    longest: int
    merged: float
    meetings: int
    certificates: int

    def path(self, nonzeros: int, threads: int) -> float:
        """Non-zeros one after the other, with a thread for every replica at least."""
        shared = STREAMED * self.merged + self.certificates * nonzeros
        return self.longest + shared / threads + self.meetings * MEETING


def counted(data: Data, problem: _core.Problem, replicas: int, seed: int = 0) -> Course:
    options = dual_options(replicas)
    options.second_order, options.max_epochs, options.seed = False, MOST_EPOCHS, seed
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=True, stop=np.zeros(1, np.uint8), report=None)
    a, w = np.zeros(len(data.y)), np.zeros(data.X.shape[1] + 1)
    found = _core.dual_fit(problem, options, a, w, min(replicas, os.cpu_count() or 1), watch)
    lines = len(found["history"])
    return Course(found["replicas"], found["converged"], found["visits"], *found["critical_path"], lines)


def critical_paths(data: Data, lam: float, threads: int) -> Iterator[Finding]:
    """Against one replica in one thread."""
    problem = data.problem(lam)
    nonzeros = data.X.size if data.dense else data.X.nnz
    one = counted(data, problem, 1)
    for asked in REPLICAS[1:]:
        many = counted(data, problem, asked)
        suits = asked == REPLICAS[-1]
        target = (5.0 if lam >= 1e-5 else 3.0) if suits and not data.dense else None
        said = f"one replica, one thread; ours: {many.replicas} replicas, {max(threads, asked)} threads"
        if not (one.converged and many.converged):  # work that has not led there compares with nothing
            print_skipped(
                f"{data.name}, lam {lam:g}, {asked} replicas", f"{ACCURACY:g} not reached in {MOST_EPOCHS:g} epochs"
            )
            continue
        notes = {"lam": lam, "one": vars(one), "many": vars(many)}
        paths = many.path(nonzeros, max(threads, asked)) / 1e6, one.path(nonzeros, 1) / 1e6
        name = f"critical path, {asked} replicas, lam {lam:g}"
        yield Finding(name, data.name, said, *paths, target, "M", "faster", notes=notes)
        visits = many.visits / len(data.y), one.visits / len(data.y)
        target = 2.0 if target else None
        yield Finding(f"visits, {asked} replicas, lam {lam:g}", data.name, said, *visits, target, "epochs", notes=notes)


def seconds(data: Data, lam: float, counts: list[int], rounds: int) -> Iterator[Finding]:
    """Whole fits to a certified 1e-4 for growing numbers of threads, against one thread and against Snap ML."""
    goal = data.bracket(lam)[1] + ACCURACY
    calls: dict[str, Any] = {f"default {n}": OURS.call(data, lam, {"tol": ACCURACY}, n) for n in counts}
    for n in counts[1:]:
        calls[f"replicas {n}"] = partial(OURS.fit, data, lam, n, 0, tol=ACCURACY, solver=Auto(replicas=n))
    if SNAP.missing() is None:
        for n in counts:
            calls[f"Snap {n}"] = SNAP.call(data, lam, SNAP.quickest(data, lam, goal, n).setting, n)
    samples = interleave(calls, rounds)
    for name, times in samples.items():
        kind, n = name.split()
        if kind != "Snap" and name != "default 1":
            pair = {name: times, "default 1": samples["default 1"]}
            said = "one thread, default"
            yield compare(f"{n} threads, {kind}, lam {lam:g}", data.name, said, pair, None, "faster", lam=lam)
        if kind != "Snap" and f"Snap {n}" in samples:
            pair = {name: times, f"Snap {n}": samples[f"Snap {n}"]}
            said = f"Snap ML, {n} threads"
            yield compare(f"{n} threads, {kind}, lam {lam:g}", data.name, said, pair, None, "faster", lam=lam)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=inputs.NAMES, help="default: all there are")
    parser.add_argument("--lam", nargs="*", type=float, default=LAMBDAS, help="default: 1e-4 1e-5 1e-6")
    parser.add_argument("--threads", nargs="*", type=int, help="to measure; default: 1, 2, 4, ... to all cores")
    parser.add_argument("--part", nargs="*", choices=("counted", "measured"), default=("counted", "measured"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a part of the rows: does it run? Not a result")
    parser.add_argument("--save", default="cores", help="name of the JSON file (cores)")
    return parser.parse_args()


def findings(args: argparse.Namespace, cores: int) -> Iterator[Finding]:
    counts = args.threads or [1 << n for n in range(cores.bit_length()) if 1 << n <= cores]
    for name in args.data or inputs.NAMES:
        why = inputs.missing(name)
        if why:
            print_skipped(name, why)
            continue
        data = inputs.load(name, args.quick)
        for lam in args.lam:
            if "counted" in args.part:
                yield from critical_paths(data, lam, max(16, *counts))
            if "measured" in args.part:
                yield from seconds(data, lam, counts, args.rounds)


def main() -> None:
    args = arguments()
    facts = contest.machine_facts()
    contest.print_facts(facts)
    contest.print_header()
    found = []
    for finding in findings(args, int(facts["cores"] or 1)):
        contest.print_finding(finding)
        found.append(finding)
    print(f"\nwritten to {contest.save(args.save, facts, found)}")


if __name__ == "__main__":
    main()
