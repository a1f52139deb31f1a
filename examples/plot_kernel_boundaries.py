"""Where a kernel machine draws the line, as gamma and lambda change: two moons, some labels wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, RED, plt, save

from pegasos import KernelPegasosClassifier

GAMMAS = (0.3, 3.0, 30.0)
LAMBDAS = (1e-1, 1e-2, 1e-4)


def make_moons(m: int = 240) -> tuple[Any, Any]:
    """Two half circles, one upside down, that reach into each other."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(m) % 2 == 0, 1, -1)
    angle = rng.uniform(0, np.pi, m)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(y[:, None] > 0, X, [1.0, 0.45] - X)
    return X + 0.18 * rng.normal(size=X.shape), np.where(rng.random(m) < 0.05, -y, y)


def draw(axes: Any, X: Any, y: Any, gamma: float, lam: float) -> None:
    model = KernelPegasosClassifier(lam=lam, gamma=gamma, bias="free", random_state=0).fit(X, y)
    across, up = np.meshgrid(np.linspace(-1.7, 2.6, 160), np.linspace(-1.5, 1.6, 130))
    scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axes.contourf(across, up, np.clip(scores, -2, 2), levels=np.linspace(-2, 2, 13), cmap="RdBu", alpha=0.55)
    axes.contour(
        across, up, scores, levels=[-1, 0, 1], colors="k", linewidths=[0.8, 2, 0.8], linestyles=["--", "-", "--"]
    )
    held = np.zeros(len(y), bool)
    held[model.support_] = True
    for label, colour in ((1, BLUE), (-1, RED)):
        axes.scatter(*X[held & (y == label)].T, s=22, color=colour, edgecolor="k", linewidth=0.7)
        axes.scatter(*X[~held & (y == label)].T, s=9, color=colour, alpha=0.6)
    wrong = np.mean(model.predict(X) != y)
    axes.set_title(f"{len(model.support_)} support vectors, {wrong:.0%} wrong", fontsize=10)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)


def main() -> None:
    X, y = make_moons()
    figure, panels = plt.subplots(len(LAMBDAS), len(GAMMAS), figsize=(10, 7.6), layout="constrained")
    for line, lam in zip(panels, LAMBDAS, strict=True):
        line[0].set_ylabel(f"lam = {lam:g}", fontsize=13)
        for axes, gamma in zip(line, GAMMAS, strict=True):
            draw(axes, X, y, gamma, lam)
    for axes, gamma in zip(panels[-1], GAMMAS, strict=True):
        axes.set_xlabel(f"gamma = {gamma:g}", fontsize=13)
    figure.suptitle(
        "Solid: the boundary. Dashed: the margin. Ringed: rows with a part in w. 5 % of the labels are wrong."
    )
    save(figure, "kernel_boundaries")


if __name__ == "__main__":
    main()
