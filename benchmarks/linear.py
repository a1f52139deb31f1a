"""Speed and memory of the linear SVM: `make bench`, or `python benchmarks/linear.py --help`.

Everything runs in one thread. Each contest is a function that yields findings; add yours to `CONTESTS`.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from statistics import median
from typing import Any

import contest
import memory
import numpy as np
import scipy.sparse as sp
from contest import Finding, compare, interleave
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from pegasos import Pegasos, PegasosClassifier, _core, datasets

LAMBDAS = (1e-4, 1e-5, 1e-6)
SEEDS = (0, 1, 2, 3, 4)
SEARCH = (0.5, 0.75, 0.9, 1, 1.05, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4)  # epochs of ours per epoch of theirs


@dataclass(frozen=True)
class Data:
    """Training rows in float32, the type neither we nor SGDClassifier convert, and labels -1 and +1."""

    name: str
    X: Any
    y: Any

    @cached_property
    def codes(self) -> Any:
        return (self.y > 0).astype(np.int32)

    @cached_property
    def rows(self) -> _core.Rows:
        return self.validate()

    def validate(self) -> _core.Rows:
        """The whole native validation; nothing of the data is copied."""
        if not sp.issparse(self.X):
            return _core.Rows.dense(self.X)
        return _core.Rows.csr(self.X.data, self.X.indices, self.X.indptr, self.X.shape[1])

    def problem(self, lam: float) -> _core.Problem:
        """No bias: the one convention that means the same to everybody."""
        weights = {"s": None, "listed": None, "total": float(len(self.y))}
        return _core.Problem(self.rows, bias=0.0, codes=self.codes, positive=1, lam=lam, loss="hinge", **weights)

    def objective(self, model: Any, lam: float) -> float:
        """f(w) in float64, by the same code for everybody."""
        return self.problem(lam).objective(np.append(model.coef_[0].astype(np.float64), 0.0))


def load(name: str, quick: bool) -> Data:
    if name == "generated":
        X, y = datasets.make_text(100_000 if quick else 781_265, random_state=0)
    elif name == "arxiv":
        X, y = datasets.load_arxiv()[:2]
        X, y = (X[:100_000], y[:100_000]) if quick else (X, y)
    else:  # covertype, class 1 against the rest; measurements to mean 0 and deviation 1, as any user would
        X, kind = datasets.load_covertype()
        X[:, :10] = (X[:, :10] - X[:, :10].mean(axis=0)) / X[:, :10].std(axis=0)
        X, y = np.ascontiguousarray(X, dtype=np.float32), np.where(kind == 1, 1, -1).astype(np.int8)
    return Data(f"{name} {X.shape[0] / 1e3:.0f}k", X, y)


def epoch(data: Data, problem: _core.Problem) -> Any:
    """One pass of steps from zero with the default settings, no certificate; returns w."""
    m, dim = len(data.y), data.X.shape[1] + 1
    flags = {"tol": 0.0, "to_the_end": False, "one_pass": True}
    options = _core.PegasosOptions(k=1, sampling=Pegasos().sampling, seed=0, steps=m, **flags)
    watch = _core.Watch(started=0.0, give_up=np.inf, polls_signals=True, stop=np.zeros(1, np.uint8), report=None)
    v = np.zeros(dim)
    state = _core.State(v, np.zeros(m), 1.0, 0)
    _core.pegasos_fit(problem, options, state, watch)
    return v * state.c


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
    """Whole fits: ours with the fewest epochs whose objective is at most SGDClassifier's, against SGDClassifier.

    Objectives are medians over seeds, since the two trade places from seed to seed. The search is not timed.
    """
    for lam in LAMBDAS:
        goal = median(data.objective(sgd(data, lam, sgd_epochs, seed), lam) for seed in SEEDS)
        for epochs in sgd_epochs * np.array(SEARCH):
            reached = median(ours(data, lam, epochs, seed).objective_ for seed in SEEDS)
            if reached <= goal:
                break
        contestants = {"ours": partial(ours, data, lam, epochs), "sgd": partial(sgd, data, lam, sgd_epochs)}
        samples = interleave(contestants, rounds)
        notes = {"lam": lam, "epochs": epochs, "objective": reached, "goal": goal}
        said = f"{sgd_epochs} epoch of SGDClassifier; ours: {epochs:g}" + ("" if reached <= goal else ", NOT REACHED")
        target = 0.5 if reached <= goal else 0.0
        yield compare(f"fit to SGD's objective, lam {lam:g}", data.name, said, samples, target, **notes)


CONTESTS: dict[str, Callable[[Data, int], Iterator[Finding]]] = {"epoch": one_epoch, "sgd": to_sgd_objective}
DATA = ("generated", "arxiv", "covertype")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=DATA, help="default: generated, and arxiv where its file is")
    parser.add_argument("--contest", nargs="*", choices=[*CONTESTS, "memory"], help="default: all")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds of each contest (7)")
    parser.add_argument("--quick", action="store_true", help="100,000 rows (memory: 500,000): a try, not a result")
    return parser.parse_args()


def findings(args: argparse.Namespace) -> Iterator[Finding]:
    chosen = args.contest or [*CONTESTS, "memory"]
    for name in args.data or ["generated"] + (["arxiv"] if datasets.missing("arxiv") is None else []):
        if name != "generated" and (sentence := datasets.missing(name)):
            raise SystemExit(f"--data {name}: {sentence}")
        data = load(name, args.quick)
        for which in chosen:
            if which in CONTESTS:
                yield from CONTESTS[which](data, args.rounds)
    if "memory" in chosen:
        yield from memory.contests(500_000 if args.quick else 5_000_000)


def main() -> None:
    args = arguments()
    warnings.simplefilter("ignore", ConvergenceWarning)
    facts = contest.machine_facts()
    contest.print_facts(facts)
    contest.print_header()
    found = []
    with threadpool_limits(1):
        for finding in findings(args):
            contest.print_finding(finding)
            found.append(finding)
    short = sum(not f.ok for f in found)
    facts["load_after"] = contest.machine_facts()["load"]
    path = contest.save("linear", facts, found)
    print(f"\n{len(found) - short} of {len(found)} targets met; all measurements: {'/'.join(path.parts[-3:])}")


if __name__ == "__main__":
    main()
