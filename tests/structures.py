"""Two structures beside the chain, small enough to decode by going through all answers: rankings and grids."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Ranking:
    """x: rows of features, one an item. y: the items, best first. A labelling's features are differences of rows."""

    def joint_feature(self, x: Array, y: tuple[int, ...]) -> Array:
        return sum((x[a] - x[b] for a, b in combinations(y, 2)), np.zeros(x.shape[1]))

    def answers(self, x: Array) -> list[tuple[int, ...]]:
        return list(permutations(range(len(x))))

    def decode(self, x: Array, w: Array) -> tuple[int, ...]:
        return tuple(int(i) for i in np.argsort(-(x @ w), kind="stable"))  # the best order is that of the scores

    def decode_with_cost(self, x: Array, y: tuple[int, ...], w: Array) -> tuple[int, ...]:
        return max(self.answers(x), key=lambda z: self.cost(y, z) + float(self.joint_feature(x, z) @ w))

    def cost(self, y: tuple[int, ...], z: tuple[int, ...]) -> float:
        """Pairs in the wrong order."""
        place = {item: i for i, item in enumerate(z)}
        return float(sum(place[a] > place[b] for a, b in combinations(y, 2)))


class Grid:
    """x: rows x columns of numbers. y: a 0 or 1 for each; neighbours like to agree. Features are sparse rows."""

    def joint_feature(self, x: Array, y: tuple[int, ...]) -> Any:
        labels = np.reshape(y, x.shape)
        agree = (labels[1:] == labels[:-1]).sum() + (labels[:, 1:] == labels[:, :-1]).sum()
        return sp.csr_array([[float(x[labels == 1].sum()), float(labels.sum()), float(agree)]])

    def answers(self, x: Array) -> list[tuple[int, ...]]:
        return list(product((0, 1), repeat=x.size))

    def decode(self, x: Array, w: Array) -> tuple[int, ...]:
        return max(self.answers(x), key=lambda z: float((self.joint_feature(x, z) @ w)[0]))

    def decode_with_cost(self, x: Array, y: tuple[int, ...], w: Array) -> tuple[int, ...]:
        return max(self.answers(x), key=lambda z: self.cost(y, z) + float((self.joint_feature(x, z) @ w)[0]))

    def cost(self, y: tuple[int, ...], z: tuple[int, ...]) -> float:
        return float(sum(a != b for a, b in zip(y, z, strict=True)))


class Timid(Ranking):
    """Does not maximise: once there are weights it finds the answer that does the least harm."""

    def decode_with_cost(self, x: Array, y: tuple[int, ...], w: Array) -> tuple[int, ...]:
        worst = max if not w.any() else min
        return worst(self.answers(x), key=lambda z: self.cost(y, z) + float(self.joint_feature(x, z) @ w))


def ranking_data(n: int = 12, seed: int = 0) -> tuple[list[Array], list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(4, 3)) for _ in range(n)]
    right = np.array([1.0, -2.0, 0.5])
    return X, [tuple(int(i) for i in np.argsort(-(x @ right + 0.1 * rng.normal(size=4)))) for x in X]


def grid_data(n: int = 10, seed: int = 0) -> tuple[list[Array], list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    Y = [np.repeat(rng.integers(2, size=2), 3).reshape(2, 3) for _ in range(n)]
    X = [2 * y - 1 + 0.7 * rng.normal(size=(2, 3)) for y in Y]
    return X, [tuple(int(v) for v in y.ravel()) for y in Y]
