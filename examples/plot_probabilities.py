"""Probabilities that can be taken at their word: of the rows said to be of a class with 70 %, 70 % should be."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import BLUE, GREEN, GREY, ORANGE, panels, save

from pegasos import PegasosClassifier

BINS = np.linspace(0, 1, 11)


def make_rows(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Four overlapping classes; the model of "multinomial" is the true one."""
    rng = np.random.default_rng(seed)
    centres = 1.3 * np.random.default_rng(0).normal(size=(4, 5))
    y = rng.integers(0, 4, n_rows)
    return centres[y] + 1.2 * rng.normal(size=(n_rows, 5)), y


def reliability(probabilities: Any, y: Any) -> tuple[Any, Any, float]:
    """Said and true shares in ten bins, and the mean log loss."""
    said, true = probabilities.ravel(), np.eye(probabilities.shape[1])[y].ravel()
    bins = np.clip(np.digitize(said, BINS) - 1, 0, 9)
    count = np.maximum(np.bincount(bins, minlength=10), 1)
    loss = -np.mean(np.log(probabilities[np.arange(len(y)), y]))
    return np.bincount(bins, said, 10) / count, np.bincount(bins, true, 10) / count, float(loss)


def softmax(scores: Any) -> Any:
    probabilities = np.exp(scores - scores.max(axis=1, keepdims=True))
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def main() -> None:
    X, y = make_rows(5_000, seed=1)
    X_new, y_new = make_rows(50_000, seed=2)
    figure, (left, right) = panels(width=10.5, height=5.4)
    left.plot([0, 1], [0, 1], ":", color=GREY)
    for loss, colour in (("multinomial", BLUE), ("log", ORANGE), ("multiclass_hinge", GREEN)):
        model = PegasosClassifier(lam=1e-3, loss=loss, random_state=0).fit(X, y)
        hinge = loss == "multiclass_hinge"
        probabilities = softmax(model.decision_function(X_new)) if hinge else model.predict_proba(X_new)
        said, true, value = reliability(probabilities, y_new)
        name = f"softmax of {loss}'s scores" if hinge else f'loss="{loss}"'
        left.plot(said, true, "o-", markersize=5, color=colour, label=f"{name}: log loss {value:.3f}")
        if loss == "multinomial":
            sure = probabilities.max(axis=1)
            right.hist(sure, BINS, color=colour, alpha=0.3, label="rows")
            hit = model.predict(X_new) == y_new
            right.hist(sure[hit], BINS, color=colour, label="of these answered rightly")
    left.set(
        xlabel="probability that the model gives a class", ylabel="share of the rows that are of it", aspect="equal"
    )
    left.set_title("50,000 new rows, 4 classes")
    left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), fontsize=10, frameon=False)
    right.set(xlabel='probability of the answer, loss="multinomial"', ylabel="rows")
    right.set_title("The surer, the more often right")
    right.legend(loc="upper left", fontsize=10, frameon=False)
    save(figure, "probabilities")


if __name__ == "__main__":
    main()
