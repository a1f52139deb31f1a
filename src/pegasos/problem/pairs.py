"""Pairs of classes, and how the scores of pairs become scores of classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """(0, 1), (0, 2), ..., (1, 2), ...: a score above zero speaks for the second class of its pair."""
    return list(combinations(range(n_classes), 2))


def votes(scores: Floats, n_classes: int) -> Floats:
    """How many pairs each class wins, for every line of scores of pairs."""
    found = np.zeros((len(scores), n_classes))
    for (first, second), score in zip(pairs_of(n_classes), scores.T, strict=True):
        found[:, second] += score >= 0
        found[:, first] += score < 0
    return found


def class_scores(scores: Floats, n_classes: int) -> Floats:
    """Votes, and among equal ones the sum of the scores, brought to less than a third of a vote: as SVC does it."""
    sums = np.zeros((len(scores), n_classes))
    for (first, second), score in zip(pairs_of(n_classes), scores.T, strict=True):
        sums[:, second] += score
        sums[:, first] -= score
    found: Floats = votes(scores, n_classes) + sums / (3 * (np.abs(sums) + 1))
    return found
