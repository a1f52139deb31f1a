"""lam chosen by cross-validation, and probabilities from the scores that it has computed anyway."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, GREY, ORANGE, panels, save
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.metrics import brier_score_loss

from pegasos import LamPathDisplay, PegasosClassifier, PegasosClassifierCV, datasets

ROWS, NEW = 4_000, 20_000


def main() -> dict[str, float]:
    X, y = datasets.make_text(ROWS + NEW, random_state=0)
    X_new, y_new, X, y = X[ROWS:], y[ROWS:], X[:ROWS], y[:ROWS]
    figure, (left, right) = panels(width=10.5, height=4.8)
    model = PegasosClassifierCV(probability="sigmoid", stop_early=False).fit(X, y)
    shown = LamPathDisplay.from_estimator(model, axes=[left, figure.add_subplot(label="not shown")])
    shown.axes_[1].remove()
    for axis in figure.axes[2:]:
        axis.remove()
    left.set_xlabel("lam")
    left.set_title(f"{ROWS:,} texts: ten values, five folds")
    right.plot([0, 1], [0, 1], ":", color=GREY)
    peer = CalibratedClassifierCV(PegasosClassifier(model.lam_), cv=5).fit(X, y)
    found = {}
    methods: list[tuple[str, Any, str]] = [
        ('probability="sigmoid", no further fit', model, BLUE),
        ("CalibratedClassifierCV, 5 fits more", peer, ORANGE),
        ('probability="isotonic"', clone(model).set_params(lams=[model.lam_], probability="isotonic").fit(X, y), GREEN),
    ]
    for name, fitted, colour in methods:
        probabilities = fitted.predict_proba(X_new)[:, 1]
        true, said = calibration_curve(y_new > 0, probabilities, n_bins=10)
        found[name] = float(brier_score_loss(y_new > 0, probabilities))
        right.plot(said, true, "o-", color=colour, markersize=5, label=f"{name}: Brier score {found[name]:.4f}")
    right.set(xlabel="probability that the model gives", ylabel="share of the rows that are of the class")
    right.set_title(f"{NEW:,} new texts")
    right.legend(loc="upper left", fontsize=9.5, frameon=False)
    right.set_ylim(-0.02, 1.3)
    right.set_yticks(np.linspace(0, 1, 6))
    save(figure, "choosing_lambda")
    return found


if __name__ == "__main__":
    print(main())
