"""Choosing lam: eight values, five folds and the last fit, against one cold fit, GridSearchCV and LinearSVC.

    python benchmarks/choosing.py [--quick] [--threads 1] [--rounds 3] [--tol 1e-3 1e-5] [--data generated digits ...]
    python benchmarks/choosing.py --kernels [--quick]

The methods take turns; medians of the ratios of a turn count, seconds do not. Every method has the same folds.
With --kernels: kernel models on Adult (rbf, the gamma of the paper) and on small sets, in CPU seconds, one round.

GridSearchCV is over our own estimator; LinearSVC (hinge, C = 1 / (lam m)) has its default tol, which asks for less.
Work is what the fits count by themselves, whatever else the machine does; with one thread, times are processor seconds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
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
warnings.simplefilter("ignore")


def load(name: str, quick: bool, rows: int) -> tuple[Any, Any, Any] | None:
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


def timed(work: Callable[[], Any], threads: int) -> tuple[float, Any]:
    clock = time.process_time if threads == 1 else time.perf_counter
    began = clock()
    found = work()
    return clock() - began, found


def measure(name: str, rows: tuple[Any, Any, Any], tol: float, args: argparse.Namespace) -> None:
    X, y, lams = rows
    folds, m = list(StratifiedKFold(5).split(X, y)), X.shape[0]
    params = {"tol": tol, "n_jobs": args.threads}

    def search(**how: Any) -> Any:
        return PegasosClassifierCV(lams, folds, **params, **how).fit(X, y)

    def grid(model: Any, name: str, values: Any) -> Any:
        return GridSearchCV(model, {name: values}, cv=folds, n_jobs=None).fit(X, y)

    seconds: dict[str, list[float]] = {}
    found: dict[str, Any] = {}
    for _ in range(args.rounds):
        todo: dict[str, Callable[[], Any]] = {
            "search": search,
            "every lam": lambda: search(stop_early=False),
            "GridSearchCV": lambda: grid(PegasosClassifier(**params), "lam", lams),
        }
        if args.linear_svc:
            todo["LinearSVC"] = lambda: grid(LinearSVC(loss="hinge"), "C", 1 / (lams * m))
        for who, work in todo.items():
            took, found[who] = timed(work, args.threads)
            seconds.setdefault(who, []).append(took)
        took, found["one fit"] = timed(
            lambda: PegasosClassifier(found["search"].lam_, **params).fit(X, y), args.threads
        )
        seconds.setdefault("one fit", []).append(took)
    report(name, tol, seconds, found, (X, y, lams, folds))


def report(name: str, tol: float, seconds: dict[str, list[float]], found: dict[str, Any], rows: Any) -> None:
    X, y, lams, folds = rows
    one, chosen, best = found["one fit"], found["search"], found["GridSearchCV"]
    cold = sum(
        PegasosClassifier(lam, tol=tol).fit(X[train], y[train])._operations for lam in lams for train, _ in folds
    )
    cold += PegasosClassifier(best.best_params_["lam"], tol=tol).fit(X, y)._operations
    print(
        f"{name}, {X.shape[0]} rows, tol {tol:g}: lam {chosen.lam_:.3g}, by GridSearchCV {best.best_params_['lam']:.3g}"
    )
    for who in ("search", "every lam"):
        model, took = found[who], np.array(seconds[who])
        fits, faster = (np.median(x) for x in (took / seconds["one fit"], np.array(seconds["GridSearchCV"]) / took))
        left_out = int(np.isnan(model.scores_).any(axis=0).sum())
        print(
            f"  {who:>10}: {fits:6.1f} times one fit, {faster:5.1f} times as fast as GridSearchCV; counted work "
            f"{model._operations / one._operations:6.1f} and {cold / model._operations:5.1f}; {left_out} lams left out"
        )
        if "LinearSVC" in seconds:
            print(f"{'':>12} {np.median(np.array(seconds['LinearSVC']) / took):.1f} times as fast as LinearSVC")
    every = found["every lam"].cv_results_["mean_test_score"]
    print(f"  mean scores differ by {np.abs(every - best.cv_results_['mean_test_score']).max():.4f} at most")


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
        sets[f"adult {m}"] = X[:m], y[:m], 0.05, np.geomspace(1e-1, 1e-5, 8)
    return sets if quick else sets | {"adult": (X, y, 0.05, [1e-3, 3.07e-4, 1e-4, 3.07e-5, 1e-5])}


def measure_kernel(name: str, rows: tuple[Any, Any, float, Any], threads: int) -> None:
    X, y, gamma, lams = rows
    params = {"gamma": gamma, "n_jobs": threads}
    began = time.process_time()
    model = KernelPegasosClassifierCV(lams, **params).fit(X, y)
    middle = time.process_time()
    grid = GridSearchCV(KernelPegasosClassifier(**params), {"lam": lams}, cv=5).fit(X, y)
    took, other = middle - began, time.process_time() - middle
    print(
        f"{name}, {X.shape[0]} rows: {took:.3g} CPU s, GridSearchCV {other:.3g}: {other / took:.1f} times; lam "
        f"{model.lam_:.3g} and {grid.best_params_['lam']:.3g}, score {model.best_score_:.4f} and {grid.best_score_:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="500 texts, one round")
    parser.add_argument("--kernels", action="store_true", help="kernel models")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=100_000, help="of arxiv")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tol", type=float, nargs="+", default=[1e-3, 1e-5])
    parser.add_argument("--data", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--linear-svc", action="store_true", help="LinearSVC as well, which takes minutes")
    args = parser.parse_args()
    if args.kernels:
        for name, rows in kernel_sets(args.quick).items():
            measure_kernel(name, rows, args.threads)
        return
    if args.quick:
        args.rounds = 1
    for name in args.data:
        rows = load(name, args.quick, args.rows)
        for tol in args.tol if rows is not None else ():
            measure(name, rows, tol, args)


if __name__ == "__main__":
    main()
