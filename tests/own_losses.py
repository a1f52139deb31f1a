"""Losses as a user would write them."""

from __future__ import annotations

import numpy as np

from pegasos import Loss


class Huber(Loss):
    """Squared up to an error of 1, then linear."""

    def value(self, scores, y):
        error = np.abs(scores - y)
        return np.where(error < 1, error**2 / 2, error - 0.5)

    def slope(self, scores, y):
        return np.clip(scores - y, -1, 1)


class CertifiedHuber(Huber):
    def conjugate(self, a, y):
        return np.where(np.abs(a) <= 1, a * a / 2 - a * y, np.inf)


class OwnHinge(Loss):
    def value(self, scores, y):
        return np.maximum(0, 1 - y * scores)

    def slope(self, scores, y):
        return np.where(y * scores < 1, -y, 0.0)


class CertifiedHinge(OwnHinge):
    def conjugate(self, a, y):
        return np.where((a * y >= 0) & (a * y <= 1), -a * y, np.inf)


class OwnSquare(Loss):
    """A slope without bounds: it says how fast that can change."""

    smoothness = 2.0

    def value(self, scores, y):
        return (scores - y) ** 2

    def slope(self, scores, y):
        return 2 * (scores - y)
