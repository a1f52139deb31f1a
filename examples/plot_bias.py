"""The bias on an uneven class split: one row in twenty is positive, and all rows lie far from the origin."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, geometric_mean, label_ends, optimum, panels, save

from pegasos import Pegasos, PegasosClassifier

LAM, ROWS = 0.003, 2_000
EPOCHS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
SEEDS = range(5)
LINES = {"none": GREY, "regularized": ORANGE, "free": BLUE}


def make_rows() -> tuple[Any, Any]:
    """Two round clouds, the rare one up and to the right of the other."""
    rng = np.random.default_rng(3)
    y = np.where(np.arange(ROWS) % 20 == 0, 1, -1)
    return rng.normal(size=(ROWS, 2)) + np.where(y[:, None] > 0, [5.2, 4.6], [3.0, 2.4]), y


def draw_lines(axes: Any, X: Any, y: Any) -> None:
    axes.scatter(*X[y < 0].T, s=5, color="#b9c4cc", label="19 in 20 rows")
    axes.scatter(*X[y > 0].T, s=14, color=RED, label="1 in 20 rows")
    across = np.array([-2.0, 10.0])
    for bias, colour in LINES.items():
        model = PegasosClassifier(lam=LAM, bias=bias, random_state=0).fit(X, y)
        (w1, w2), b = model.coef_[0], model.intercept_[0]
        found = np.mean(model.predict(X[y > 0]) > 0)
        wrong = np.mean(model.predict(X) != y)
        name = f"bias={bias!r}: {wrong:.1%} wrong, finds {found:.0%} of the rare class"
        axes.plot(across, -(b + w1 * across) / w2, color=colour, linewidth=2.5, label=name)
    axes.plot(0, 0, "k+", markersize=11)
    axes.annotate("origin", (0, 0), (8, -4), textcoords="offset points", va="top")
    axes.set(xlim=(-1.4, 8.6), ylim=(-1.4, 7.8), xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title("A rare class, far from the origin: where each bias cuts")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), fontsize=10, frameon=False)


def path(X: Any, y: Any, bias: str, k: int, seed: int) -> list[float]:
    """f after 1, 2, 4, ... epochs; every search begins anew, with eight trials in all."""
    found = []
    for epochs in EPOCHS:
        solver = Pegasos(k=k, sampling="permutation")
        model = PegasosClassifier(lam=LAM, bias=bias, solver=solver, tol=1e-9, max_epochs=epochs, random_state=seed)
        found.append(model.fit(X, y).objective_)
    return found


def draw_paths(axes: Any, X: Any, y: Any) -> None:
    best = optimum(X, y, lam=LAM, bias="free")
    ends = []
    for name, bias, k, colour in (
        ("free", "free", 1, BLUE),
        ("batch, k = 10", "batch", 10, "#c9a0dc"),
        ("batch, k = 100", "batch", 100, PURPLE),
        ("search", "search", 1, GREEN),
    ):
        line = geometric_mean(np.array([path(X, y, bias, k, seed) for seed in SEEDS]) - best)
        axes.plot(EPOCHS, line, "o-", markersize=4, color=colour)
        ends.append((EPOCHS[-1], line[-1], name, colour))
    exact = PegasosClassifier(lam=LAM, bias="free", tol=1e-6, random_state=0).fit(X, y)
    axes.plot(exact.n_iter_, 1e-6, "*", color=RED, markersize=13)
    axes.annotate(
        f"solver='auto', bias='free': proven\nto 1e-6 after {exact.n_iter_:.0f} epochs",
        (exact.n_iter_, 1e-6),
        (12, -2),
        textcoords="offset points",
        color=RED,
        fontsize=10,
        va="center",
    )
    axes.set(xscale="log", yscale="log", xlabel="epochs", xlim=(0.9, 2_500), ylim=(4e-7, 1))
    axes.set_xticks(EPOCHS[::2], [str(e) for e in EPOCHS[::2]])
    axes.minorticks_off()
    axes.set_ylabel("f(w, b) - minimum")
    axes.set_title("Ways of Pegasos to a bias without penalty")
    label_ends(axes, ends)


def main() -> None:
    X, y = make_rows()
    figure, (left, right) = panels(width=11.5, height=5.6)
    draw_lines(left, X, y)
    draw_paths(right, X, y)
    save(figure, "bias")


if __name__ == "__main__":
    main()
