"""Which w to return: the last, an average of all or of the last half, one at random, or the best of three at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, GREY, ORANGE, RED, label_ends, optimum, panels, save

from pegasos import Pegasos, PegasosClassifier, datasets

LAM, CONSTANT = 1e-4, 0.1
STEPS = np.unique(np.geomspace(100, 100_000, 13).round().astype(int))
SEEDS = range(40)
COLOURS = {"last": BLUE, "average": ORANGE, "tail": GREEN, "random": GREY, "best": RED}


def distances(X: Any, y: Any, best: float, output: str, step: Any = "pegasos") -> Any:
    """f - f* after every number of steps, for every seed; i.i.d. picks."""

    def one(T: int, seed: int) -> float:
        solver = Pegasos(T=int(T), sampling="iid", step=step, output=output)
        return PegasosClassifier(lam=LAM, bias="none", solver=solver, random_state=seed).fit(X, y).objective_ - best

    return np.array([[one(T, seed) for T in STEPS] for seed in SEEDS])


def draw(axes: Any, outputs: tuple[str, ...], title: str, found: dict[str, Any]) -> list[Any]:
    ends = []
    for output in outputs:
        low, middle, high = np.quantile(found[output], [0.1, 0.5, 0.9], axis=0)
        axes.plot(STEPS, middle, color=COLOURS[output])
        axes.fill_between(STEPS, low, high, color=COLOURS[output], alpha=0.18, linewidth=0)
        ends.append((STEPS[-1], middle[-1], output, COLOURS[output]))
    axes.set(xscale="log", yscale="log", xlabel="steps T", xlim=(90, 700_000), ylim=(2e-4, 30))
    axes.set_title(title)
    axes.tick_params(labelleft=True)
    return ends


def main() -> None:
    X, y = datasets.make_binary(1_000, 20, noise=0.1, random_state=0)
    X /= np.linalg.norm(X, axis=1).max()
    best = optimum(X, y, lam=LAM, bias="none")
    figure, (left, middle, right) = panels(3, 13.5, 4.8, sharey=True)
    averages = ("last", "average", "tail")
    found = {output: distances(X, y, best, output) for output in COLOURS}
    steady = {output: distances(X, y, best, output, CONSTANT) for output in averages}
    ends = [
        draw(
            left,
            averages,
            "Steps 1/($\\lambda$t): an average of all remembers the\nbad beginning, one of the last half does not",
            found,
        ),
        draw(middle, averages, f"Constant step {CONSTANT}: the last w never settles,\naverages do", steady),
        draw(
            right,
            ("random", "best", "last"),
            "A random stop is good more often than not,\nthe best of three nearly always",
            found,
        ),
    ]
    left.set_ylabel("f(w) - f(w*)")
    figure.supxlabel(
        f"Medians of {len(SEEDS)} seeds, bands hold eight of ten; i.i.d. picks, k = 1, $\\lambda$ = {LAM:g}",
        fontsize=10,
    )
    for axes, names in zip((left, middle, right), ends, strict=True):
        label_ends(axes, names)
    save(figure, "averaging")


if __name__ == "__main__":
    main()
