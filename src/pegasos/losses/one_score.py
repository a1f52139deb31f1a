"""The losses of one score s a row, with a label y: 1 or -1, or a number to predict."""

from __future__ import annotations

import numpy as np

from .spec import Array, LossSpec


def _unbounded(y: Array) -> tuple[Array, Array]:
    return np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)


def entropy(p: Array) -> Array:
    """p log p, 0 at 0 and outside."""
    return np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def _beyond(s: Array, y: Array, epsilon: float) -> Array:
    return np.sign(s - y) * np.maximum(0.0, np.abs(s - y) - epsilon)


HINGE = LossSpec(
    name="hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s),
    slope=lambda s, y: np.where(y * s < 1.0, -y, 0.0),
    conjugate=lambda a, y: -a * y,
    dual_bounds=lambda y: (np.minimum(y, 0.0), np.maximum(y, 0.0)),
    piecewise_linear=True,
    liblinear=("L2R_L1LOSS_SVC_DUAL",),
    sklearn={"loss": "hinge"},
)

SQUARED_HINGE = LossSpec(
    name="squared_hinge",
    value=lambda s, y: np.maximum(0.0, 1.0 - y * s) ** 2,
    slope=lambda s, y: -2.0 * y * np.maximum(0.0, 1.0 - y * s),
    conjugate=lambda a, y: a * a / 4.0 - a * y,
    dual_bounds=_unbounded,
    smoothness=2.0,
    bounded_slope=False,
    liblinear=("L2R_L2LOSS_SVC", "L2R_L2LOSS_SVC_DUAL", "L1R_L2LOSS_SVC"),
    sklearn={"loss": "squared_hinge"},
)

LOG = LossSpec(
    name="log",
    value=lambda s, y: np.logaddexp(0.0, -y * s),
    slope=lambda s, y: -y * np.exp(-np.logaddexp(0.0, y * s)),
    conjugate=lambda a, y: entropy(a * y) + entropy(1.0 - a * y),
    dual_bounds=HINGE.dual_bounds,
    smoothness=0.25,
    probabilities="sigmoid",
    liblinear=("L2R_LR", "L2R_LR_DUAL", "L1R_LR"),
    sklearn={},
)

EPSILON_INSENSITIVE = LossSpec(
    name="epsilon_insensitive",
    value=lambda s, y, epsilon: np.abs(_beyond(s, y, epsilon)),
    slope=lambda s, y, epsilon: np.sign(_beyond(s, y, epsilon)),
    conjugate=lambda a, y, epsilon: epsilon * np.abs(a) - a * y,
    dual_bounds=lambda y: (np.full_like(y, -1.0), np.full_like(y, 1.0)),
    takes=("epsilon",),
    piecewise_linear=True,
    liblinear=("L2R_L1LOSS_SVR_DUAL",),
    sklearn={"loss": "epsilon_insensitive"},
)

SQUARED_EPSILON_INSENSITIVE = LossSpec(
    name="squared_epsilon_insensitive",
    value=lambda s, y, epsilon: _beyond(s, y, epsilon) ** 2,
    slope=lambda s, y, epsilon: 2.0 * _beyond(s, y, epsilon),
    conjugate=lambda a, y, epsilon: epsilon * np.abs(a) - a * y + a * a / 4.0,
    dual_bounds=lambda y: (np.full_like(y, -np.inf), np.full_like(y, np.inf)),
    takes=("epsilon",),
    smoothness=2.0,
    bounded_slope=False,
    liblinear=("L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR_DUAL"),
    sklearn={"loss": "squared_epsilon_insensitive"},
)
