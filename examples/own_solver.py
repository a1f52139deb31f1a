"""A solver of your own: gradient descent for smooth losses, with history, certificate, progress and Ctrl-C for nothing.

    python examples/own_solver.py

An `IterativeSolver` yields w after each pass over the rows. Anything else that has `check` and `solve` will do as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pegasos import PegasosClassifier, datasets
from pegasos.solvers import Floats, IterativeSolver, Problem, Run


class GradientDescent(IterativeSolver):
    """w <- w - gradient / L, with L the largest curvature that f can have; each step shrinks the error by 1 - lam/L.

    Parameters
    ----------
    momentum : bool, default=False
        Whether to look ahead as Nesterov does, which takes about sqrt(L/lam) steps where others take L/lam.
    """

    def __init__(self, momentum: bool = False) -> None:
        self.momentum = momentum

    def check(self, problem: Problem, run: Run) -> None:
        super().check(problem, run)
        if not np.isfinite(problem.loss.smoothness):
            raise ValueError(f"gradient descent needs a smooth loss, and the slope of loss={problem.loss} jumps.")

    def iterates(self, problem: Problem, w: Floats, seed: int) -> Iterator[Floats]:
        curvature = problem.lam + problem.loss.smoothness * (problem.largest_norm2() + 1)
        root = np.sqrt(problem.lam / curvature)
        ahead = (1 - root) / (1 + root) if self.momentum else 0.0
        before = w
        while True:
            point = w + ahead * (w - before)
            before, w = w, point - problem.gradient(point) / curvature
            yield w


def main() -> None:
    X, y = datasets.make_binary(2000, 20, random_state=0)
    for solver in (GradientDescent(), GradientDescent(momentum=True), "auto"):
        model = PegasosClassifier(lam=1e-2, loss="log", solver=solver, max_epochs=5000).fit(X, y)
        name = "auto" if solver == "auto" else f"gradient descent{', momentum' * solver.momentum}"
        print(f"{name:28} {model.n_iter_:6.0f} epochs   objective {model.objective_:.6f}   gap {model.gap_:.1e}")


if __name__ == "__main__":
    main()
