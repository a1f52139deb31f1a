"""What a worker does in a round, as pure functions: the same arguments give the same bytes, wherever and however often.

A round goes from (partition, dual variables, orders) to new dual variables, which stay on the worker, and a message:
sums that are added up in the order of the partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .parts import Part

Floats = NDArray[np.float64]
Duals = tuple[Floats, Floats]  # before the last round's visits and after them

# Of Message.counts, as the native round names them.
CONJUGATES, WEIGHT, ROWS, FIRST_GAP, LAST_GAP, VISITS, EPOCHS, ACTIVE, NONZEROS = range(9)

_NONE = np.empty(0)

FAN_IN = 16  # messages that are added up by one task


@dataclass(frozen=True)
class Statement:
    """The problem, as far as no row is needed to say it."""

    lam: float
    loss: str
    number: float  # parameter of a loss of one score
    classes: int  # of a joint loss; 0: one score a row
    costs: Floats | None
    bias: str
    total: float  # sum_i s_i over all partitions
    n_features: int
    regression: bool

    @property
    def free_bias(self) -> bool:
        return self.bias == "free"

    @property
    def width(self) -> int:
        return max(self.classes, 1)

    @property
    def n_weights(self) -> int:
        return (self.n_features + 1) * self.width

    def native(self, part: Part, positive: int) -> _core.Problem:
        return _core.Problem(
            part.native(),
            bias=float(self.bias == "regularized"),
            free_bias=self.free_bias,
            codes=None if self.regression else part.y,
            numbers=part.y if self.regression else None,
            positive=positive,
            s=part.s,
            listed=None,
            total=self.total,
            lam=self.lam,
            loss=self.loss,
            parameter=self.number,
            classes=self.classes,
            costs=self.costs,
        )


@dataclass(frozen=True)
class NewtonOrders:
    """What a Newton step adds to the orders of a round."""

    base: Floats  # from which the last step was taken
    way: Floats  # parts of it at which it is measured
    curvature: float


@dataclass(frozen=True)
class Orders:
    """What the coordinator wants of a round, of one of its problems."""

    w: Floats  # of the dual variables; a free bias is the last block
    best: Floats  # the best weights so far
    u: Floats  # sum_i s_i a_i x_i of all partitions, from which visits start
    step: int  # how much of the last round's change is taken, in fourths
    sigma: float
    common: float
    momentum: float
    seed: int
    growing: bool
    most_epochs: int
    visits: float  # most visits of a partition, in parts of its rows
    good_enough: float
    bias_feature: float
    offsets: Floats
    candidates: Floats  # between the two, at which losses are summed: a part of the way and a shift of b each
    sides: tuple[float, float]
    sums: Floats
    answered: Floats
    positive: int = 1
    newton: NewtonOrders | None = None


def _nothing_of() -> Floats:
    return _NONE


@dataclass(frozen=True)
class Message:
    """Sums over the rows of a partition, or of several."""

    losses: Floats
    along: Floats
    balance: Floats
    counts: Floats
    errors: Floats
    largest: Floats
    u: Floats
    change: Floats  # what visits have added to u; of a Newton step, u of the dual variables that answer its weights
    values: Floats = field(default_factory=_nothing_of)  # of a Newton step
    matrix: Floats = field(default_factory=_nothing_of)

    def plus(self, other: Message) -> Message:
        added = {name: getattr(self, name) + getattr(other, name) for name in vars(self) if name != "largest"}
        return Message(**added, largest=np.maximum(self.largest, other.largest))


Messages = dict[int, Message]  # by the number of the problem


@dataclass(frozen=True)
class Outcome:
    """What a round leaves on the worker: dual variables for the next one, and what is to be told."""

    duals: dict[int, Duals]
    messages: Messages

    def __sizeof__(self) -> int:
        """For Dask: of the arrays, which are all there is to it."""
        told = (array for message in self.messages.values() for array in vars(message).values())
        kept = (a for pair in self.duals.values() for a in pair)
        return sum(array.nbytes for array in (*told, *kept))

    def quiet(self) -> Outcome:
        """Without what has been told already."""
        return Outcome(self.duals, {})


def take_round(
    part: Part, last: Outcome | Mapping[int, Floats] | None, orders: Mapping[int, Orders], statement: Statement
) -> Outcome:
    """One round on one partition. last: the outcome of the round before, dual variables to start from, or nothing."""
    duals = _duals_of(last)
    messages: Messages = {}
    for job, order in orders.items():
        if not part.n_rows:
            messages[job] = _nothing(order, statement)
            continue
        zeros = np.zeros(part.n_rows * statement.width) if job not in duals else None
        before, after = duals[job] if zeros is None else (zeros, zeros)
        found = _moved(statement.native(part, order.positive), part, order, before, after)
        duals[job] = (found.pop("before"), found.pop("after"))
        messages[job] = Message(**found)
    return Outcome(duals, messages)


def _moved(problem: _core.Problem, part: Part, order: Orders, before: Floats, after: Floats) -> dict[str, Floats]:
    shared = {name: getattr(order, name) for name in ("w", "best", "step", "candidates", "sums", "answered")}
    shared |= {"before": before, "after": after}
    if order.newton is not None:
        return _core.partition_newton(problem, **shared, **vars(order.newton), sides=list(order.sides))
    along = _NONE if part.along is None else part.along
    return _core.partition_ascent(
        problem, _options(order, part), **shared, u=order.u, offsets=order.offsets, along=along
    )


def _duals_of(last: Outcome | Mapping[int, Floats] | None) -> dict[int, Duals]:
    if isinstance(last, Outcome):
        return dict(last.duals)
    return {job: (a, a) for job, a in (last or {}).items()}


def _options(order: Orders, part: Part) -> _core.PartitionOptions:
    options = _core.PartitionOptions()
    options.sigma = order.sigma
    options.common = order.common
    options.momentum = order.momentum
    options.seed = _mixed(order.seed, part.number)
    options.growing = order.growing
    options.most_epochs = order.most_epochs
    options.most_visits = order.visits * part.n_rows
    options.good_enough = order.good_enough
    options.bias_feature = order.bias_feature
    options.sides = list(order.sides)
    return options


def _mixed(seed: int, number: int) -> int:
    """Another order of the rows in every partition."""
    return (seed * 0x9E3779B97F4A7C15 + number * 0xBF58476D1CE4E5B9) % 2**64


def _nothing(order: Orders, statement: Statement) -> Message:
    """The message of a partition without rows."""
    wide = statement.width if statement.classes else 2
    return Message(
        losses=np.zeros(len(order.candidates)),
        along=np.zeros(5),
        balance=np.zeros((5, wide)),
        counts=np.zeros(9),
        errors=np.zeros(6),
        largest=np.array([0.0, 0.0, -np.inf, 0.0]),
        u=np.zeros(statement.n_weights),
        change=np.zeros(statement.n_weights),
        values=_NONE if order.newton is None else np.zeros(len(order.newton.way)),
        matrix=_NONE if order.newton is None else np.zeros((statement.n_weights, statement.n_weights)),
    )


def told(outcome: Outcome) -> Messages:
    return outcome.messages


def merged(each: list[Messages]) -> Messages:
    """Messages added up in their order."""
    total = dict(each[0])
    for messages in each[1:]:
        for job, message in messages.items():
            total[job] = total[job].plus(message)
    return total


def total(each: list[Floats]) -> Floats:
    """Vectors added up in their order."""
    found = each[0].copy()
    for vector in each[1:]:
        found += vector
    return found


def chosen_duals(outcome: Outcome, steps: Mapping[int, int]) -> dict[int, Floats]:
    """The dual variables that a fit ends with: so many fourths of the last change are taken."""
    return {job: _at(*pair, steps.get(job, 0)) for job, pair in outcome.duals.items()}


def _at(before: Floats, after: Floats, step: int) -> Floats:
    return after if step == 4 else before + step / 4 * (after - before)


def value_as_is(value: Any, beside: Any) -> Any:
    """A task that holds what it was made with: what is lost with a worker is found in the scheduler.

    beside: what the worker has already on which it runs.
    """
    return value
