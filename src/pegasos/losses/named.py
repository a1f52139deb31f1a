"""The losses that have names, and the way from what a user says to a LossSpec."""

from __future__ import annotations

from typing import Any

from .joint import MULTICLASS_HINGE, MULTINOMIAL
from .one_score import EPSILON_INSENSITIVE, HINGE, LOG, SQUARED_EPSILON_INSENSITIVE, SQUARED_HINGE
from .own import Loss, spec_of_own
from .spec import LossSpec

CLASSIFICATION: dict[str, LossSpec] = {loss.name: loss for loss in (HINGE, SQUARED_HINGE, LOG)}
REGRESSION: dict[str, LossSpec] = {loss.name: loss for loss in (EPSILON_INSENSITIVE, SQUARED_EPSILON_INSENSITIVE)}
JOINT: dict[str, LossSpec] = {loss.name: loss for loss in (MULTICLASS_HINGE, MULTINOMIAL)}
NAMED: dict[str, LossSpec] = {**CLASSIFICATION, **REGRESSION}  # those of one score


def all() -> list[LossSpec]:
    """Every loss of one score; contract tests run over this list, and over JOINT."""
    return list(NAMED.values())


def spec_of(given: str | Loss) -> LossSpec:
    """The loss behind the `loss` parameter, its own parameters still to be `bound`."""
    if isinstance(given, Loss):
        return spec_of_own(given)
    return JOINT[given] if given in JOINT else NAMED[given]


def bound_loss(given: Any, **parameters: Any) -> LossSpec:
    """The same with its parameters: those of the estimator, of which each loss takes what it has."""
    return spec_of(given).bound(**parameters)
