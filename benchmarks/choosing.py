"""Choosing lam: eight values, five folds and the last fit, against one cold fit, GridSearchCV and LinearSVC.

    python benchmarks/choosing.py [--quick] [--threads 1] [--rounds 3] [--tol 1e-3 1e-5] [--data generated digits ...]
                                  [--linear-svc] [--every] [--rows 100000] [--save choosing]
    python benchmarks/choosing.py --kernels [--quick]

The methods take turns; medians count. Every method has the same folds. With --kernels: kernel models on Adult (rbf, the
gamma of the paper) and on small sets, one round. --every: with stop_early=False as well.

GridSearchCV is over our own estimator; LinearSVC (hinge, C = 1 / (lam m)) has its default tol, which asks for less.
--threads N: N threads for the search and for the cold fit, and for grids N processes of one thread each, in which their
last fit is alone. Work is what the fits count by themselves, whatever else the machine does; with one thread, times are
processor seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import contest
import numpy as np
from contest import Finding, compare
from sklearn import datasets as toys
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    PegasosClassifier,
    PegasosClassifierCV,
    datasets,
)

NAMES = ("generated", "texts", "arxiv", "digits", "cancer", "iris")
TARGETS = {"one fit": 8.0, "GridSearchCV": 5.0, "LinearSVC": 50.0}
AIMED_AT = ("generated", "texts", "arxiv", "adult")  # others only stand beside them
warnings.simplefilter("ignore")


@dataclass
class Bench:
    """Findings, printed as they come."""

    threads: int
    findings: list[Finding] = field(default_factory=list)

    def add(self, found: Finding, more: str = "") -> None:
        self.findings.append(found)
        contest.print_finding(found, more)

    def timed(self, work: Callable[[], Any]) -> tuple[float, Any]:
        clock = time.process_time if self.threads == 1 else time.perf_counter
        began = clock()
        found = work()
        return clock() - began, found

    def compare(self, what: str, data: str, peer: str, samples: dict[str, list[float]], **notes: Any) -> None:
        target = TARGETS[peer] if data in AIMED_AT and not what.startswith("every") else None
        sense: Any = "at most" if peer == "one fit" else "faster"
        against = f"{peer}; ours: {self.threads} thread{'s' * (self.threads > 1)}"
        self.add(compare(what, data, against, samples, target, sense, **notes))


def load(name: str, quick: bool, rows: int | None) -> tuple[Any, Any, Any] | None:
    """Rows, labels, values of lam; none where the data is not there."""
    if name == "generated":
        X, y = datasets.make_text(500 if quick else 10_000, random_state=0)
        return X, y, np.geomspace(1e-3, 1e-6, 8)
    if name in ("arxiv", "texts"):
        if quick or datasets.missing("arxiv"):
            return None
        X, y = datasets.load_arxiv()[:2]
        n = 10_000 if name == "texts" else rows
        return X[:n], y[:n], np.geomspace(1e-3, 1e-6, 8)
    found = {"digits": toys.load_digits, "cancer": toys.load_breast_cancer, "iris": toys.load_iris}[name]
    X, y = found(return_X_y=True)
    return (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9), y, np.geomspace(1e-1, 1e-6, 8)


def measure(bench: Bench, name: str, rows: tuple[Any, Any, Any], tol: float, args: argparse.Namespace) -> None:
    X, y, lams = rows
    folds, m = list(StratifiedKFold(5).split(X, y)), X.shape[0]
    params = {"tol": tol, "n_jobs": args.threads}
    alone = params | {"n_jobs": 1}  # GridSearchCV has as many processes as the search has threads

    def search(**how: Any) -> Any:
        return PegasosClassifierCV(lams, folds, **params, **how).fit(X, y)

    def grid(model: Any, name: str, values: Any) -> Any:
        return GridSearchCV(model, {name: values}, cv=folds, n_jobs=args.threads).fit(X, y)

    seconds: dict[str, list[float]] = {}
    found: dict[str, Any] = {}
    todo: dict[str, Callable[[], Any]] = {"search": search}
    if args.every:
        todo["every lam"] = lambda: search(stop_early=False)
    todo["one fit"] = lambda: PegasosClassifier(found["search"].lam_, **params).fit(X, y)
    todo["GridSearchCV"] = lambda: grid(PegasosClassifier(**alone), "lam", lams)
    if args.linear_svc:
        todo["LinearSVC"] = lambda: grid(LinearSVC(loss="hinge"), "C", 1 / (lams * m))
    for _ in range(args.rounds):
        for who, work in todo.items():
            took, found[who] = bench.timed(work)
            seconds.setdefault(who, []).append(took)
    whole = name != "arxiv" or args.rows is None
    report(bench, name if whole else f"{name}{m}", tol, seconds, found)


def report(bench: Bench, data: str, tol: float, seconds: dict[str, list[float]], found: dict[str, Any]) -> None:
    for who in ("search", "every lam"):
        if who not in found:
            continue
        model, what = found[who], f"{who} to {tol:g}"
        work, one = model._operations, found["one fit"]._operations
        target = TARGETS["one fit"] if data in AIMED_AT and who == "search" else None
        bench.add(Finding(f"{what}, counted", data, "one fit", work / 1e6, one / 1e6, target, "M"))
        for peer in [peer for peer in TARGETS if peer in seconds]:
            bench.compare(what, data, peer, {who: seconds[who], peer: seconds[peer]}, lam=model.lam_)
    chosen, by_grid = found["search"], found["GridSearchCV"]
    every = by_grid.cv_results_
    here = int(np.argmin(np.abs(every["param_lam"].astype(float) - chosen.lam_)))
    best = by_grid.best_index_
    folds = np.array([every[f"split{k}_test_score"] for k in range(5)])
    lost, error = every["mean_test_score"][best] - every["mean_test_score"][here], folds[:, best].std(ddof=1) / 5**0.5
    left_out = int(np.isnan(chosen.scores_).any(axis=0).sum())
    print(
        f"    lam {chosen.lam_:.3g}, by GridSearchCV {by_grid.best_params_['lam']:.3g}: {lost:.5f} lost, standard "
        f"error {error:.5f};\n    best_score_ {chosen.best_score_:.5f}, by GridSearchCV "
        f"{every['mean_test_score'][here]:.5f} at this lam; {left_out} lams left out",
        flush=True,
    )


def kernel_sets(quick: bool) -> dict[str, tuple[Any, Any, float, Any]]:
    """Rows, labels, gamma, values of lam."""
    sets: dict[str, tuple[Any, Any, float, Any]] = {}
    for name, load_toy in (("iris", toys.load_iris), ("wine", toys.load_wine), ("cancer", toys.load_breast_cancer)):
        X, y = load_toy(return_X_y=True)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        sets[name] = X, y, 1 / X.shape[1], np.geomspace(1e-1, 1e-5, 8)
    if datasets.missing("adult"):
        return sets
    X, y = datasets.load_adult()[:2]
    for m in (200,) if quick else (200, 1_000, 4_000):
        sets[f"adult{m}"] = X[:m], y[:m], 0.05, np.geomspace(1e-1, 1e-5, 8)
    return sets if quick else sets | {"adult": (X, y, 0.05, [1e-3, 3.07e-4, 1e-4, 3.07e-5, 1e-5])}


def measure_kernel(bench: Bench, name: str, rows: tuple[Any, Any, float, Any]) -> None:
    X, y, gamma, lams = rows
    params = {"gamma": gamma, "n_jobs": bench.threads}
    took, model = bench.timed(lambda: KernelPegasosClassifierCV(lams, **params).fit(X, y))
    plain = KernelPegasosClassifier(gamma=gamma, n_jobs=1)
    other, grid = bench.timed(lambda: GridSearchCV(plain, {"lam": lams}, cv=5, n_jobs=bench.threads).fit(X, y))
    bench.compare("kernel search", name, "GridSearchCV", {"search": [took], "GridSearchCV": [other]})
    print(
        f"    lam {model.lam_:.3g} and {grid.best_params_['lam']:.3g}, score {model.best_score_:.4f} and "
        f"{grid.best_score_:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 texts, one round")
    parser.add_argument("--kernels", action="store_true", help="kernel models")
    parser.add_argument("--only", nargs="+", help="of the kernel sets")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=None, help="of arxiv; all of them")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-3, 1e-5])
    parser.add_argument("--data", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--every", action="store_true", help="stop_early=False as well")
    parser.add_argument("--linear-svc", action="store_true", help="LinearSVC as well, which takes minutes")
    parser.add_argument("--save", help="where to write the findings, without .json", default="choosing")
    args = parser.parse_args()
    bench, facts = Bench(args.threads), contest.machine_facts()
    contest.print_facts(facts)
    contest.print_header()
    if args.kernels:
        for name, rows in kernel_sets(args.quick).items():
            if not args.only or name in args.only:
                measure_kernel(bench, name, rows)
    for name in args.data if not args.kernels else ():
        args.rounds = 1 if args.quick else args.rounds
        found = load(name, args.quick, args.rows)
        for tol in args.tol if found is not None else ():
            measure(bench, name, found, tol, args)
    print(contest.save(args.save, facts, bench.findings))


if __name__ == "__main__":
    main()
