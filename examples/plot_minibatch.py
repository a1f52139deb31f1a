"""Mini-batches: what k rows a step cost in rows visited, and what they save in steps (figure 7 of the paper)."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
from _picture import geometric_mean, optimum, panels, save

from pegasos import Pegasos, PegasosClassifier, datasets

LAM = 1e-3
SEEDS = range(5)


def path(X: Any, y: Any, k: int, steps: list[int], seed: int) -> list[float]:
    model = PegasosClassifier(
        lam=LAM, bias="none", solver=Pegasos(k=k, sampling="subsets"), random_state=seed, warm_start=True
    )
    found, done = [], 0
    for T in steps:
        found.append(model.set_params(solver__T=T - done).fit(X, y).objective_)
        done = T
    return found


def main() -> None:
    X, y = datasets.make_text(4_000, 3_000, random_state=0)
    m = len(y)
    best = optimum(X, y, lam=LAM, bias="none")
    sizes = {1: "k = 1", 10: "k = 10", 100: "k = 100", 1000: "k = 1,000", m: f"k = m = {m:,}"}
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, len(sizes)))
    figure, (left, right) = panels(sharey=True)
    for (k, name), colour in zip(sizes.items(), colours, strict=True):
        steps = sorted({round(t) for t in np.geomspace(max(1, m // k // 8), 200 * m // k, 16)})
        line = geometric_mean(np.array([path(X, y, k, steps, seed) for seed in SEEDS]) - best)
        wide = {"linewidth": 7, "alpha": 0.35} if k == 1 else {}  # it lies under k = 10
        left.plot(np.array(steps) * k / m, line, color=colour, label=name, **wide)
        right.plot(steps, line, color=colour, **wide)
    left.set(xscale="log", yscale="log", xlabel="epochs: rows visited / m")
    left.set_ylabel("f(w) - f(w*)")
    left.set_title("Per row visited: up to k = 100 nothing is lost")
    right.set(xscale="log", xlabel="steps")
    right.set_title("Per step: the larger k, the fewer steps")
    right.tick_params(labelleft=True)
    figure.legend(loc="outside lower center", ncols=len(sizes), frameon=False)
    save(figure, "minibatch")


if __name__ == "__main__":
    main()
