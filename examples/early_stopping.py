"""Stop a fit when a validation score stops rising: a callback of scikit-learn 1.9 sees the model of every certificate.

Run it with `python examples/early_stopping.py`. The model learns from 4,000 texts with a penalty far too weak for them:
the training objective goes on falling long after the validation error has begun to rise.
"""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from pegasos import PegasosClassifier, datasets


class StopByScore:
    """Ends a fit once the score on other rows has not risen for `patience` certificates; keeps the best model seen.

    The protocol is scikit-learn's: `fitted_estimator` is the model as it would be if the fit ended now, with
    `objective_`, `gap_` and `n_steps_`. What asks for none pays for none.
    """

    def __init__(self, X: Any, y: Any, patience: int = 2) -> None:
        self.X, self.y, self.patience = X, y, patience

    def setup(self, estimator: Any, context: Any) -> None:
        self.scores: list[float] = []
        self.best: Any = None

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        self.scores.append(fitted_estimator.score(self.X, self.y))
        if self.scores[-1] > max(self.scores[:-1], default=-1.0):
            self.best = fitted_estimator
        return len(self.scores) - 1 - self.scores.index(max(self.scores)) >= self.patience

    def teardown(self, estimator: Any, context: Any) -> None:
        pass


def compare(n_rows: int, lam: float = 1e-6) -> dict[str, PegasosClassifier]:
    """The fit to the end, and the best model of one that a validation score has ended, which is the one to use."""
    X, y = datasets.make_text(2 * n_rows, random_state=0)
    X, X_valid, y, y_valid = train_test_split(X, y, test_size=0.5, random_state=0)
    whole = PegasosClassifier(lam=lam, solver="pegasos", tol=1e-2, max_epochs=200, random_state=0)
    stopped = PegasosClassifier(**whole.get_params(deep=False))
    watcher = StopByScore(X_valid, y_valid)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to stop early is the point
        whole.fit(X, y)
        stopped.set_callbacks(watcher).fit(X, y)
    print(f"{'':>8} {'epochs':>7} {'objective':>10} {'validation':>11}")
    for name, model in {"whole": whole, "stopped": watcher.best}.items():
        score = model.score(X_valid, y_valid)
        print(f"{name:>8} {model.n_steps_ / n_rows:7.0f} {model.objective_:10.4f} {score:11.4f}")
    return {"whole": whole, "stopped": stopped, "best": watcher.best}


if __name__ == "__main__":
    compare(4000)
