"""What the rounds of a fit have in common, from what is known of the partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..losses.spec import LossSpec
from ..problem.free_bias import bias_feature2
from .parts import Facts
from .work import Statement

Floats = NDArray[np.float64]

EPOCHS = 3  # over the rows that may move, in a round of large partitions (2: 20 rounds where ascent.py counts 9)
_ROUND = 2e7  # operations, some 20 ms: what a round costs besides. Small partitions make more epochs, up to
_MOST_EPOCHS = 30


@dataclass(frozen=True)
class Setting:
    """What the rounds of all problems have in common."""

    statement: Statement
    loss: LossSpec
    n_parts: int  # with rows
    m: int
    at_zero: float  # the yardstick of tol
    zero_value: float  # f(0)
    masses: Floats  # of the classes
    bias_feature: float  # where the bias is free: about as long as a row, longer where lam is large for the rows
    first_bias: float
    spread: float  # of the numbers of a regression; 1 for classes
    epochs: int = EPOCHS  # of a partition, in a round


def setting_of(
    statement: Statement,
    all_facts: list[Facts],
    loss: LossSpec,
    at_zero: float,
    zero_value: float,
    masses: Floats,
    first_bias: float = 0.0,
    spread: float = 1.0,
) -> Setting:
    facts = [each for each in all_facts if each.n_rows]
    m = sum(each.n_rows for each in facts)
    largest, heaviest = max(each.largest_norm2 for each in facts), max(each.heaviest for each in facts)
    with np.errstate(over="ignore"):
        share = np.float64(heaviest) * m / statement.total
        if not np.isfinite(largest * share**2 / statement.lam):
            raise ValueError(
                f"the largest squared norm of a row, {largest:.3g}, divided by lam = {statement.lam:g} overflows. "
                "Scale the features down, e.g. with dask_ml.preprocessing.StandardScaler, or raise lam."
            )
    mean = sum(each.norm2 for each in facts) / m
    work = sum(each.nonzeros for each in facts) * statement.width / len(facts)
    feature2 = bias_feature2(mean, loss.piecewise_linear, zero_value, lam=statement.lam)
    return Setting(
        statement=statement,
        loss=loss,
        n_parts=len(facts),
        m=m,
        at_zero=at_zero,
        zero_value=zero_value,
        masses=masses,
        bias_feature=float(np.sqrt(feature2)),
        first_bias=first_bias,
        spread=spread,
        epochs=_epochs_of(work),
    )


def _epochs_of(operations: float) -> int:
    """Epochs in a round, where one over a partition takes so many operations: a round must outweigh its scheduling."""
    return int(np.clip(_ROUND / max(operations, 1.0), EPOCHS, _MOST_EPOCHS))
