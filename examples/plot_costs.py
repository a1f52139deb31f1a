"""A cost matrix: three kinds of tissue, and missing the malignant one is ten times as bad as a false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import panels, save
from sklearn.metrics import confusion_matrix

from pegasos import PegasosClassifier

NAMES = ("healthy", "benign", "malignant")
COSTS = np.array([[0, 1, 1], [1, 0, 1], [10, 10, 0]])  # rows: what is there, columns: the answer


def make_rows(n_rows: int, seed: int) -> tuple[Any, Any]:
    """Six measurements of a hospital's patients, of whom three in ten have a malignant tumour."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n_rows, p=[0.4, 0.3, 0.3])
    centres = np.array([[0, 0, 0, 0, 0, 0], [1.2, 0.4, 0, 0.3, 0, 0], [1.4, 1.1, 0.5, 0, 0, 0]])
    return centres[y] + rng.normal(size=(n_rows, 6)), y


def draw(axes: Any, model: PegasosClassifier, X: Any, y: Any, title: str) -> None:
    counts = confusion_matrix(y, model.predict(X))
    shares = counts / counts.sum(axis=1, keepdims=True)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for there in range(3):
        for answer in range(3):
            share, dear = shares[there, answer], COSTS[there, answer] > 1
            ink = "white" if share > 0.5 else "#b5262b" if dear else "black"
            text = f"{share:.0%}\n{counts[there, answer]} rows"
            axes.text(answer, there, text, ha="center", va="center", color=ink, weight="bold" if dear else None)
    mean = (counts * COSTS).sum() / counts.sum()
    axes.set(xticks=range(3), xticklabels=NAMES, yticks=range(3), yticklabels=NAMES, xlabel="answer")
    axes.set_title(f"{title}\nmean cost of a row {mean:.2f}, {np.trace(counts) / counts.sum():.0%} right")
    axes.grid(False)


def main() -> None:
    X, y = make_rows(6_000, seed=0)
    X_new, y_new = make_rows(6_000, seed=1)
    figure, (left, right) = panels(width=10.5, height=4.9)
    for axes, costs, title in (
        (left, None, "Every mistake costs 1"),
        (right, COSTS, "Missing a malignant row costs 10"),
    ):
        model = PegasosClassifier(lam=1e-3, loss="multiclass_hinge", costs=costs, random_state=0).fit(X, y)
        draw(axes, model, X_new, y_new, title)
    left.set_ylabel("what is there")
    save(figure, "costs")


if __name__ == "__main__":
    main()
