"""Five orders of the rows: how near the optimum each comes per epoch, and how near its certificate proves it to be."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, GREY, ORANGE, PURPLE, geometric_mean, label_ends, optimum, panels, save

from pegasos import Pegasos, PegasosClassifier, datasets

LAM, K = 1e-3, 10
EPOCHS = [1, 2, 4, 8, 16, 32, 64]
COLOURS = {"iid": ORANGE, "subsets": PURPLE, "fixed": GREY, "permutation": GREEN, "blocks": BLUE}
SEEDS = range(5)


def path(X: Any, y: Any, sampling: str, seed: int) -> tuple[list[float], list[float]]:
    """Objective and gap after 1, 2, 4, ... epochs of one fit that goes on."""
    solver = Pegasos(k=K, T=1, sampling=sampling)
    model = PegasosClassifier(lam=LAM, bias="none", solver=solver, random_state=seed, warm_start=True)
    objectives, gaps, done = [], [], 0
    for epochs in EPOCHS:
        T = epochs * len(y) // K
        model.set_params(solver__T=T - done).fit(X, y)
        done = T
        objectives.append(model.objective_)
        gaps.append(model.gap_)
    return objectives, gaps


def main() -> None:
    X, y = datasets.make_text(10_000, 5_000, random_state=0)
    best = optimum(X, y, lam=LAM, bias="none")
    figure, (left, right) = panels(sharey=True)
    ends: dict[Any, list[Any]] = {left: [], right: []}
    for sampling, colour in COLOURS.items():
        objectives, gaps = zip(*(path(X, y, sampling, seed) for seed in SEEDS), strict=True)
        for axes, values in ((left, np.array(objectives) - best), (right, np.array(gaps))):
            line = geometric_mean(values)
            under = {"linewidth": 6, "alpha": 0.4} if sampling in ("iid", "permutation") else {"marker": "o"}
            axes.plot(EPOCHS, line, color=colour, markersize=4, **under)  # lines that coincide stay visible
            ends[axes].append((EPOCHS[-1], line[-1], sampling, colour))
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="epochs", xticks=EPOCHS, xlim=(0.9, 280), ylim=(2e-5, 0.2))
        axes.set_xticks(EPOCHS, [str(e) for e in EPOCHS], minor=False)
        axes.minorticks_off()
    left.set_title("Distance from the optimum")
    left.set_ylabel("f(w) - f(w*)")
    right.set_title("What the certificate proves (gap_)")
    right.tick_params(labelleft=True)
    for axes, found in ends.items():
        label_ends(axes, found)
    figure.suptitle(
        f"Orders that visit every row once an epoch come nearer, and their certificate is tight "
        f"({len(y):,} texts, $\\lambda$ = {LAM:g}, k = {K})",
        fontsize=11,
    )
    save(figure, "sampling_orders")


if __name__ == "__main__":
    main()
