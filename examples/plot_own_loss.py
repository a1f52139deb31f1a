"""A loss of one's own in ten lines: the pinball loss, whose best answer is a quantile instead of a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, ORANGE, panels, save

from pegasos import Loss, Pegasos, PegasosRegressor


class Pinball(Loss):
    def __init__(self, quantile: float) -> None:
        self.quantile = quantile

    def value(self, scores: Any, y: Any) -> Any:
        return np.maximum(self.quantile * (y - scores), (self.quantile - 1) * (y - scores))

    def slope(self, scores: Any, y: Any) -> Any:
        return np.where(scores < y, -self.quantile, 1 - self.quantile)

    def conjugate(self, a: Any, y: Any) -> Any:  # optional: with it the fit is certified
        return np.where((a >= self.quantile - 1) & (a <= self.quantile), -a * y, np.inf)


def features(hours: Any) -> Any:
    """A smooth day: a few waves."""
    return np.column_stack([f(2 * np.pi * n * hours / 24) for n in (1, 2, 3) for f in (np.sin, np.cos)])


def main() -> None:
    rng = np.random.default_rng(0)
    hours = rng.uniform(0, 24, 4_000)
    level = 4 + 2 * np.sin(2 * np.pi * (hours - 8) / 24) + np.sin(4 * np.pi * hours / 24)
    waiting = level * rng.gamma(4, 0.25, 4_000)  # minutes; long waits are more common by day
    figure, (axes, right) = panels(width=10.5, height=4.6, width_ratios=[1.7, 1])
    axes.scatter(hours, waiting, s=3, color="#c3ccd2")
    day = np.linspace(0, 24, 200)
    for quantile, colour in ((0.1, GREEN), (0.5, BLUE), (0.9, ORANGE)):
        model = PegasosRegressor(lam=1e-3, loss=Pinball(quantile), solver=Pegasos(k=50), random_state=0)
        model.fit(features(hours), waiting)
        below = np.mean(waiting < model.predict(features(hours)))
        name = f"quantile {quantile}: {below:.1%} lie below, at most {model.gap_:.2g} above the minimum"
        axes.plot(day, model.predict(features(day)), color=colour, linewidth=2.5, label=name)
        error = np.linspace(-2, 2, 101)
        right.plot(error, Pinball(quantile).value(-error, np.zeros(101)), color=colour)
    axes.set(xlabel="hour", ylabel="minutes of waiting", xlim=(0, 24), xticks=range(0, 25, 6), ylim=(0, 22))
    axes.set_title("How long one waits, with a loss of one's own")
    axes.legend(loc="upper left", fontsize=10, frameon=False)
    right.set(xlabel="y - score", ylabel="loss")
    right.set_title("The pinball loss")
    save(figure, "own_loss")


if __name__ == "__main__":
    main()
