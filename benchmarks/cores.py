"""What more cores bring: `python benchmarks/cores.py --help`.

Two parts, in one table. The first is counted, and says the same on any machine: row visits to a certified 1e-4, and the
critical path with as many threads as `--threads` names at most, for several numbers of replicas, by coordinate ascent
alone; last the number that suits: the shortest path of those that visit rows at most twice as often as one replica. The
path is in non-zeros as a pass over all rows reads them, priced as the solver prices them (cpp/pegasos/run/prices.hpp);
what is not known is counted against many replicas:

- of every round those of the replica that has most, times 1.5; times 2.5 with more than two replicas, which read a row
  once more where it moves (`DampedRow::look`), as if every visit did;
- two passes over all rows for a certificate, divided by the threads, and four looks at each weight, by one thread;
- a non-zero for a number that a merge reads or writes, although it does so in their order, divided by the threads;
- half of one for every visit by one thread, which puts together which rows are due, and for each of eight looks by all
  threads: a calm row is asked eight times before it is due;
- 10,000 for every meeting of the threads: two a round, two a certificate.

The second is measured: seconds of whole fits for 1, 2, 4, ... threads, with the default and with as many replicas as
threads, and Snap ML's where it is installed, each with its quickest setting that reaches the same objective.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
VISIT, DAMPED, CERTIFICATE = 1.5, 2.5, 2  # passes over the rows
MEETING, LOOK = 10_000, 0.5  # non-zeros, for a meeting of all threads and for a look at a number of a row or a weight
LOOKS_AT_WEIGHTS, LOOKS_AT_CALM_ROWS = 4, 8
MOST_EPOCHS = 100.0
MOST_VISITS = 2.0  # times those of one replica


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

    def path(self, data: Data, threads: int) -> float:
        """Non-zeros one after the other, with a thread for every replica at least."""
        passes = CERTIFICATE * self.certificates * (data.X.size if data.dense else data.X.nnz)
        shared = passes + self.merged + LOOK * LOOKS_AT_CALM_ROWS * self.visits
        alone = LOOK * (self.visits + LOOKS_AT_WEIGHTS * self.certificates * data.X.shape[1])
        meetings = self.meetings + 2 * self.certificates if threads > 1 else 0
        return (DAMPED if self.replicas > 2 else VISIT) * self.longest + shared / threads + alone + MEETING * meetings


def counted(data: Data, problem: _core.Problem, replicas: int, seed: int = 0) -> Course:
    options = dual_options(replicas)
    options.second_order, options.max_epochs, options.seed = False, MOST_EPOCHS, seed
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=True, stop=np.zeros(1, np.uint8), report=None)
    a, w = np.zeros(len(data.y)), np.zeros(data.X.shape[1] + 1)
    found = _core.dual_fit(problem, options, a, w, min(replicas, os.cpu_count() or 1), watch)
    lines = len(found["history"])
    return Course(found["replicas"], found["converged"], found["visits"], *found["critical_path"], lines)


def critical_paths(data: Data, lam: float, threads: int) -> Iterator[Finding]:
    """Against one replica in one thread; the number of replicas that suits comes last, and has the targets."""
    problem = data.problem(lam)
    one = counted(data, problem, 1)
    found: dict[int, tuple[float, list[Finding]]] = {}
    for asked in REPLICAS[1:]:
        many = counted(data, problem, asked)
        if not (one.converged and many.converged):  # work that has not led there compares with nothing
            print_skipped(
                f"{data.name}, lam {lam:g}, {asked} replicas", f"{ACCURACY:g} not reached in {MOST_EPOCHS:g} epochs"
            )
            continue
        path = many.path(data, max(threads, asked)) / 1e6
        found[asked] = path, list(_compared(data, lam, one, many, f"{asked} replicas", max(threads, asked)))
        yield from found[asked][1]
    if found:
        suits = min(found, key=lambda asked: (found[asked][1][1].score > MOST_VISITS, found[asked][0]))
        for each, least in zip(found[suits][1], (5.0 if lam >= 1e-5 else 3.0, MOST_VISITS), strict=True):
            name = each.contest.replace(f"{suits} replicas", "replicas that suit")
            yield replace(each, contest=name, target=None if data.dense else least)


def _compared(data: Data, lam: float, one: Course, many: Course, name: str, threads: int) -> Iterator[Finding]:
    said = f"one replica, one thread; ours: {many.replicas} replicas, {threads} threads"
    notes = {"lam": lam, "replicas": many.replicas, "one": vars(one), "many": vars(many)}
    paths = many.path(data, threads) / 1e6, one.path(data, 1) / 1e6
    yield Finding(f"critical path, {name}, lam {lam:g}", data.name, said, *paths, None, "M", "faster", notes=notes)
    visits = many.visits / len(data.y), one.visits / len(data.y)
    yield Finding(f"visits, {name}, lam {lam:g}", data.name, said, *visits, None, "epochs", notes=notes)


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
