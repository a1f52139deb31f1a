"""Speed and memory of the linear SVM: `make bench`, or `python benchmarks/linear.py --help`.

Each contest is a function that yields findings; add yours to `CONTESTS`. Here are the contests of the Pegasos solver,
in one thread; those of the default solver are in dual.py.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import contest
import dual
import inputs
import losses
import memory
import numpy as np
import others
from contest import Finding, compare, interleave
from inputs import LAMBDAS, Data
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from pegasos import Pegasos, PegasosClassifier, _core

SEEDS = (0, 1, 2, 3, 4)
SEARCH = (0.5, 0.75, 0.9, 1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4)  # epochs of ours per epoch of theirs


def epoch(data: Data, problem: _core.Problem) -> Any:
    """One pass of steps from zero with the default settings, no certificate; returns w."""
    m, dim = len(data.y), data.X.shape[1] + 1
    options = _core.PegasosOptions()
    options.set_sampling(Pegasos().sampling)
    options.k, options.steps, options.tol, options.one_pass = 1, m, 0.0, True
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=True, stop=np.zeros(1, np.uint8), report=None)
    state: dict[str, Any] = {"v": np.zeros(dim), "counts": np.zeros(m), "out": np.zeros(dim), "B": np.zeros(0)}
    state |= {"c": 1.0, "t": 0, "hits": 0, "b": 0.0, "C": 0.0, "averaged": 0.0}
    _core.pegasos_fit(problem, options, state, 1, watch)
    return state["v"] * state["c"]


def one_epoch(data: Data, rounds: int) -> Iterator[Finding]:
    """A step costs little more than looking at its row: an epoch against a pass that only evaluates f(w)."""
    for lam in LAMBDAS:
        problem = data.problem(lam)
        w = epoch(data, problem)
        contestants = {
            "validation": data.validate,
            "epoch": partial(epoch, data, problem),
            "pass": partial(problem.objective, w),
        }
        samples = interleave(contestants, rounds)
        for ours, yardstick, said, target in (
            ("epoch", "pass", "one pass that evaluates f(w)", 2.5),
            ("validation", "epoch", "one epoch", 0.25),
        ):
            pair = {name: samples[name] for name in (ours, yardstick)}
            yield compare(f"{ours}, lam {lam:g}", data.name, said, pair, target, lam=lam)


def ours(data: Data, lam: float, epochs: float, seed: int = 0) -> PegasosClassifier:
    solver = Pegasos(T=round(epochs * len(data.y)))
    return PegasosClassifier(lam=lam, bias="none", solver=solver, random_state=seed).fit(data.X, data.y)


def sgd(data: Data, lam: float, epochs: int, seed: int = 0) -> SGDClassifier:
    model = SGDClassifier(alpha=lam, fit_intercept=False, max_iter=epochs, tol=None, random_state=seed)
    return model.fit(data.X, data.y)


def to_sgd_objective(data: Data, rounds: int, sgd_epochs: int = 1) -> Iterator[Finding]:
    """Whole fits of Pegasos with the fewest epochs whose objective is at most SGDClassifier's, against SGDClassifier.

    Objectives are medians over seeds, since the two trade places from seed to seed. The search is not timed.
    """
    for lam in LAMBDAS:
        goal = median(data.objective(sgd(data, lam, sgd_epochs, seed).coef_, lam) for seed in SEEDS)
        for epochs in sgd_epochs * np.array(SEARCH):
            reached = median(ours(data, lam, epochs, seed).objective_ for seed in SEEDS)
            if reached <= goal:
                break
        contestants = {"ours": partial(ours, data, lam, epochs), "sgd": partial(sgd, data, lam, sgd_epochs)}
        samples = interleave(contestants, rounds)
        notes = {"lam": lam, "epochs": epochs, "objective": reached, "goal": goal}
        said = f"{sgd_epochs} epoch of SGDClassifier; ours: {epochs:g}" + ("" if reached <= goal else ", NOT REACHED")
        target = 0.5 if reached <= goal else 0.0
        yield compare(f"Pegasos to SGD's objective, lam {lam:g}", data.name, said, samples, target, **notes)


CONTESTS: dict[str, Callable[[Data, int], Iterator[Finding]]] = {
    "epoch": one_epoch,
    "sgd": to_sgd_objective,
    "certified": dual.certified,
    "early": dual.early,
    "threads": dual.threads,
    "replicas": dual.replicas,
    "path": dual.path,
    "others": others.once,
    "losses": losses.contests,
}
FOR_DENSE = ("certified", "early", "losses")  # where nothing else is asked for


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=inputs.NAMES, help="default: generated, and the others there are")
    parser.add_argument("--contest", nargs="*", choices=[*CONTESTS, "memory"], help="default: all")
    parser.add_argument("--rounds", type=int, help="interleaved rounds of each contest (7; 2 with --quick)")
    parser.add_argument("--quick", action="store_true", help="a part of the rows: does it run? Not a result")
    parser.add_argument("--save", default="linear", help="name of the JSON file (linear)")
    args = parser.parse_args()
    args.rounds = args.rounds or (2 if args.quick else 7)
    return args


def findings(args: argparse.Namespace) -> Iterator[Finding]:
    for name in args.data or inputs.NAMES:
        if sentence := inputs.missing(name):
            if args.data:
                raise SystemExit(f"--data {name}: {sentence}")
            contest.print_skipped(name, sentence)
            continue
        data = inputs.load(name, args.quick)
        for which in args.contest or (FOR_DENSE if data.dense and not args.data else CONTESTS):
            if which in CONTESTS:
                yield from CONTESTS[which](data, args.rounds)
    if "memory" in (args.contest or ["memory"]):
        yield from memory.contests(500_000 if args.quick else 5_000_000)


def main() -> None:
    args = arguments()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        contest.hold(args.save, findings(args))


if __name__ == "__main__":
    main()
