"""The numbers of docs/variants.md: what the variants of Pegasos really do. Generated data, no clock, two minutes.

python benchmarks/variants.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pegasos import Pegasos, PegasosClassifier, datasets

EPOCHS = (1, 4, 16, 64)
SEEDS = range(5)


def table(title: str, head: Iterable[str], lines: Iterable[Iterable[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(list(head))}")
    for line in lines:
        print(f"| {' | '.join(line)} |", flush=True)


def number(x: float) -> str:
    return f"{x:.2g}" if x >= 1e-3 else f"{x:.1e}"


def optimum(X: Any, y: Any, **problem: Any) -> PegasosClassifier:
    return PegasosClassifier(tol=1e-9, max_epochs=1e4, random_state=0, **problem).fit(X, y)


def fit(X: Any, y: Any, seed: int, problem: dict[str, Any], **solver: Any) -> PegasosClassifier:
    return PegasosClassifier(solver=Pegasos(**solver), random_state=seed, **problem).fit(X, y)


def mean_over_seeds(X: Any, y: Any, problem: dict[str, Any], best: float, **solver: Any) -> tuple[float, float]:
    """Mean distance from the optimum and mean gap."""
    models = [fit(X, y, seed, problem, **solver) for seed in SEEDS]
    return float(np.mean([m.objective_ for m in models]) - best), float(np.mean([m.gap_ for m in models]))


def orders() -> None:
    X, y = datasets.make_text(20_000, 20_000, random_state=0)
    lines = []
    for lam in (1e-3, 1e-4, 1e-5):
        problem = {"lam": lam, "bias": "none"}
        best = optimum(X, y, **problem).objective_
        for sampling in ("iid", "permutation"):
            found = [mean_over_seeds(X, y, problem, best, T=e * len(y), sampling=sampling) for e in EPOCHS]
            lines.append([f"{lam:g}", f'`"{sampling}"`', "gap", *(number(gap) for _, gap in found)])
            lines.append([f"{lam:g}", f'`"{sampling}"`', "distance", *(number(far) for far, _ in found)])
    head = ["lam", "sampling", "", *(f"{e} epochs" for e in EPOCHS)]
    table("i.i.d. and permutation, 20,000 texts, k = 1", head, lines)


def small_problem(positive: float = 0.5, rows: int = 2_000) -> tuple[Any, Any]:
    """Two round clouds off the origin."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(rows) < positive * rows, 1, -1)
    order = rng.permutation(rows)
    X = rng.normal(size=(rows, 2)) + np.where(y[:, None] > 0, [5.2, 4.6], [3.0, 2.4])
    return X[order], y[order]


def on_loss() -> None:
    X, y = datasets.make_text(20_000, 20_000, random_state=0)
    lines = []
    for lam in (1e-2, 1e-3, 1e-4):
        problem = {"lam": lam, "bias": "none"}
        best = optimum(X, y, **problem)
        model = PegasosClassifier(warm_start=True, random_state=0, **problem)
        model.set_params(solver=Pegasos(T=200 * len(y), advance="on_loss", sampling="permutation")).fit(X, y)
        share = model._resumes[0].own["hits"] / model.n_steps_
        limit = optimum(X, y, lam=lam * share, bias="none")
        apart = np.linalg.norm(model.coef_ - limit.coef_) / np.linalg.norm(limit.coef_ - best.coef_)
        error = [f"{1 - m.score(X, y):.2%}" for m in (model, best)]
        far = model.objective_ - best.objective_
        lines.append([f"{lam:g}", f"{share:.2f}", number(far), number(model.gap_), f"{apart:.3f}", *error])
    head = [
        "lam",
        "share of steps with a loss",
        "distance",
        "gap",
        "from that optimum",
        "training error",
        "of the optimum",
    ]
    table('advance="on_loss", 20,000 texts, 200 epochs', head, lines)


def batches() -> None:
    sizes = (2, 5, 10, 50, 200, 2_000)
    lines = []
    for positive in (0.5, 0.2, 0.05):
        X, y = small_problem(positive)
        problem = {"lam": 0.003, "bias": "batch"}
        best = optimum(X, y, lam=0.003, bias="free").objective_
        steps = {k: max(500 * len(y) // k, 20_000) for k in sizes}
        found = [
            mean_over_seeds(X, y, problem, best, T=steps[k], k=k, sampling="subsets", output="tail") for k in sizes
        ]
        lines.append([f"{positive:.0%}", f"{best:.3f}", *(number(far) for far, _ in found)])
    head = ["positive rows", "minimum", *(f"k = {k:,}" for k in sizes)]
    table('bias="batch": distance that stays, 2,000 rows, 500 epochs and 20,000 steps at least', head, lines)


def free() -> None:
    epochs = (1, 4, 16, 64, 256)
    lines = []
    for positive in (0.5, 0.05):
        X, y = small_problem(positive)
        for bias, k in (("regularized", 1), ("free", 1), ("free", 20), ("search", 1)):
            problem = {"lam": 0.003, "bias": bias, "tol": 1e-9}
            best = optimum(X, y, lam=0.003, bias="regularized" if bias == "regularized" else "free").objective_
            found = []
            for n in epochs:
                models = [
                    PegasosClassifier(max_epochs=n, random_state=seed, solver=Pegasos(k=k), **problem).fit(X, y)
                    for seed in SEEDS
                ]
                found.append(np.mean([m.objective_ for m in models]) - best)
            lines.append([f"{positive:.0%}", f'`"{bias}"`, k = {k}', *(number(far) for far in found)])
        auto = PegasosClassifier(lam=0.003, bias="free", tol=1e-8, random_state=0).fit(X, y)
        lines.append(
            [f"{positive:.0%}", f'`"free"`, `solver="auto"`: {number(auto.gap_)} proven after {auto.n_iter_:.0f}']
        )
    head = ["positive rows", "bias", *(f"{n} epochs" for n in epochs)]
    table("bias without penalty by Pegasos: distance from the minimum of its own problem", head, lines)


def starts() -> None:
    X, y = datasets.make_text(20_000, 20_000, random_state=0)
    problem = {"lam": 1e-3, "bias": "none"}
    best = optimum(X, y, **problem)
    counts = (1, 10, 100, 1_000, 20_000)
    lines = []
    for step, shown in (("pegasos", '`"pegasos"`'), ("norma", '`"norma"`'), (1.0, "1.0")):
        for start, name in (("zero", '`"zero"`'), ("random", '`"random"`'), (best.coef_[0], "the optimum itself")):
            found = [
                mean_over_seeds(X, y, problem, best.objective_, T=T, step=step, p=0.7, start=start, sampling="iid")[0]
                for T in counts
            ]
            lines.append([shown, name, *(number(far) for far in found)])
    head = ["step", "start", *(f"{T:,} steps" for T in counts)]
    table("start: distance from the optimum, 20,000 texts, lam = 1e-3, i.i.d. picks", head, lines)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    for part in (orders, on_loss, batches, free, starts):
        part()


if __name__ == "__main__":
    main()
