"""The projection of eq. 6: what it does to the length of w, and what is left of it after a few steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREY, ORANGE, geometric_mean, optimum, panels, save

from pegasos import Pegasos, PegasosClassifier, datasets

LAM = 1e-4
SEEDS = range(10)
STEPS = np.unique(np.geomspace(1, 300_000, 45).round().astype(int))


def path(X: Any, y: Any, projection: bool, seed: int) -> tuple[list[float], list[float]]:
    """The norm of w and f(w) along one fit that goes on."""
    solver = Pegasos(sampling="iid", projection=projection)
    model = PegasosClassifier(lam=LAM, bias="none", solver=solver, random_state=seed, warm_start=True)
    norms, objectives, done = [], [], 0
    for T in STEPS:
        model.set_params(solver__T=int(T) - done).fit(X, y)
        done = int(T)
        norms.append(float(np.linalg.norm(model.coef_)))
        objectives.append(model.objective_)
    return norms, objectives


def main() -> None:
    X, y = datasets.make_text(10_000, 5_000, random_state=0)
    best = optimum(X, y, lam=LAM, bias="none")
    length = np.linalg.norm(PegasosClassifier(lam=LAM, bias="none", tol=1e-6, random_state=0).fit(X, y).coef_)
    figure, (left, right) = panels()
    for projection, colour, name in ((False, ORANGE, "without projection"), (True, BLUE, "with projection")):
        norms, objectives = (np.array(part) for part in zip(*(path(X, y, projection, s) for s in SEEDS), strict=True))
        left.plot(STEPS, geometric_mean(norms), color=colour, label=name)
        right.plot(STEPS, geometric_mean(objectives - best), color=colour, label=name)
    for axes in (left, right):
        axes.set(xscale="log", yscale="log", xlabel="step t")
    left.axhline(1 / np.sqrt(LAM), color=GREY, linewidth=1.2, linestyle="--")
    left.text(3e5, 1.12 / np.sqrt(LAM), "the ball, $1/\\sqrt{\\lambda}$", color=GREY, ha="right", va="bottom")
    left.axhline(length, color=GREY, linewidth=1.2, linestyle=":")
    left.text(1, length / 1.08, "length of the optimum", color=GREY, va="top")
    left.set_ylim(13, 2e4)
    left.set_title("||w||: step 1 is 1/$\\lambda$ long, the ball stops it")
    right.set_title("f(w) - f(w*): after 1/$\\lambda$ steps no difference is left")
    right.legend(frameon=False)
    figure.supxlabel(
        f"10,000 texts, $\\lambda$ = {LAM:g}, k = 1, i.i.d. picks, means of {len(SEEDS)} seeds", fontsize=10
    )
    save(figure, "projection")


if __name__ == "__main__":
    main()
