"""The digits that a kernel machine remembers best: for each class the rows with the largest part in w."""

from __future__ import annotations

from typing import Any

import numpy as np
from _picture import plt, save
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from pegasos import KernelPegasosClassifier

SHOWN = 8


def largest(model: Any, digit: int, own: bool, labels: Any) -> Any:
    """Support vectors with the largest coefficients of the right sign, of this digit or of the others."""
    parts = model.dual_coef_[digit] * (1 if own else -1)
    return np.argsort(-np.where((labels[model.support_] == digit) == own, parts, -np.inf))[: SHOWN // 2]


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, Z, y, z = train_test_split(X / 16, y, random_state=0)
    model = KernelPegasosClassifier(lam=1e-4, gamma=0.3, bias="free", random_state=0).fit(X, y)
    figure, panels = plt.subplots(10, SHOWN, figsize=(6.4, 8.6), layout="constrained")
    for digit, line in enumerate(panels):
        places = np.concatenate([largest(model, digit, own, y) for own in (True, False)])
        for axes, place in zip(line, places, strict=True):
            part = model.dual_coef_[digit, place]
            axes.imshow(model.support_vectors_[place].reshape(8, 8), cmap="gray_r")
            axes.set_title(f"{part:+.2f}", fontsize=8, color="#0b62a8" if part > 0 else "#b5262b", loc="center", pad=2)
            axes.axis("off")
        line[0].text(-6, 4, str(digit), fontsize=15, va="center")
    wrong = np.mean(model.predict(Z) != z)
    figure.suptitle(
        f"{len(model.support_)} of {len(y)} rows are support vectors, {wrong:.1%} of {len(z)} new rows are wrong.\n"
        "Left: what speaks most for each digit. Right: what speaks most against it.",
        fontsize=10.5,
    )
    save(figure, "kernel_digits")


if __name__ == "__main__":
    main()
