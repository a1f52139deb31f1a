"""Regression within a tube: a few wild rows move the squared loss, and leave the epsilon-insensitive one alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREY, ORANGE, RED, panels, save

from pegasos import PegasosRegressor

EPSILON = 0.5


def make_rows(wild: int) -> tuple[Any, Any]:
    """A line with noise, and some rows at its right end that were written down wrongly."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 10, 120)
    y = 0.6 * x + 1.0 + rng.uniform(-0.6, 0.6, 120)
    y[np.argsort(x)[len(x) - wild :]] -= 9.0
    return x[:, None], y


def draw(axes: Any, wild: int) -> None:
    X, y = make_rows(wild)
    across = np.array([[0.0], [10.0]])
    for loss, colour in (("epsilon_insensitive", BLUE), ("squared_epsilon_insensitive", ORANGE)):
        model = PegasosRegressor(lam=1e-4, loss=loss, epsilon=EPSILON, bias="free", random_state=0).fit(X, y)
        line = model.predict(across)
        axes.plot(across, line, color=colour, label=f"{loss}: slope {model.coef_[0]:.2f}")
        if loss == "epsilon_insensitive":
            axes.fill_between(across[:, 0], line - EPSILON, line + EPSILON, color=colour, alpha=0.12, linewidth=0)
    axes.plot(across, 0.6 * across + 1.0, ":", color=GREY, label="the truth: slope 0.60")
    odd = np.zeros(len(y), bool)
    odd[np.argsort(X[:, 0])[len(y) - wild :]] = wild > 0
    axes.scatter(X[~odd, 0], y[~odd], s=9, color="#7f8c94")
    axes.scatter(X[odd, 0], y[odd], s=16, color=RED)
    axes.set(xlabel="x", ylim=(-4, 8.5))
    axes.set_title(f"{wild} of {len(y)} rows written down wrongly" if wild else "Every row as it should be")
    axes.legend(loc="lower left", fontsize=10, frameon=False)


def main() -> None:
    figure, (left, right) = panels(sharey=True)
    draw(left, 0)
    draw(right, 12)
    left.set_ylabel("y")
    save(figure, "regression")


if __name__ == "__main__":
    main()
