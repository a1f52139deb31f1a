"""A fit on a cluster: from partitions of rows to weights and their certificates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Future
from numpy.typing import NDArray

from ..losses.spec import LossSpec
from ..solvers.base import Report, Run
from .ascent import Ascent
from .cluster import Cluster, OutOfTime
from .inputs import Source
from .parts import (
    Facts,
    classes_of,
    coded,
    directed,
    facts_of,
    losses_of_constants,
    numbered,
    read_part,
    sum_of_rows,
)
from .setting import Setting
from .work import Statement, chosen_duals, merged, take_round, told, total

Floats = NDArray[np.float64]
_GRID = 33  # constants that are compared at a time
_LIGHTEST = 1e-100  # sum of the weights, whose square is divided by
# Dual variables that the scheduler is given a copy of now and then, through the client, which holds so many at a time.
# Of more, up to the second number (half a gigabyte), copies are rarer: among many workers a round is cheaper than one.
_AT_A_TIME, _KEPT = 4_000_000, 32_000_000
_FIRST, _EVERY = (2, 4), 8  # rounds after which one is made: few fits have many, and a round is as dear as a copy


@dataclass(frozen=True)
class Loaded:
    """Partitions in the workers' memory, and what is known of them."""

    parts: list[Future]
    facts: list[Facts]

    @property
    def n_features(self) -> int:
        return self._first[1].n_features

    @property
    def names(self) -> NDArray[Any] | None:
        return self._first[1].names

    @property
    def _first(self) -> tuple[int, Facts]:
        """The first partition that has columns: one without rows may have none."""
        return next(((i, each) for i, each in enumerate(self.facts) if each.n_features), (0, self.facts[0]))

    @property
    def m(self) -> int:
        return sum(each.n_rows for each in self.facts)

    @property
    def total(self) -> float:
        return sum(each.weight for each in self.facts)

    def check(self) -> None:
        """Refuse partitions that do not fit together."""
        first = self._first[0]
        for number, each in enumerate(self.facts):
            if not each.n_features:
                continue
            if each.n_features != self.n_features:
                raise ValueError(
                    f"partition {number} has {each.n_features} columns, partition {first} has {self.n_features}."
                )
            if not _alike(each.names, self.names):
                raise ValueError(
                    f"partition {number} has other column names than partition {first}, or in another order: "
                    f"{_some(each.names)} and {_some(self.names)}."
                )
        if not sum(each.n_rows for each in self.facts):
            raise ValueError("no row is left to train on: every partition is empty, or all weights are zero.")
        if self.total < _LIGHTEST:
            raise ValueError(f"the weights of all rows add up to {self.total:.3g}, which is too little. Scale them up.")


def _alike(names: NDArray[Any] | None, others: NDArray[Any] | None) -> bool:
    return np.array_equal(names, others) if names is not None and others is not None else names is others


def _some(names: NDArray[Any] | None) -> str:
    return "no names" if names is None else ", ".join(map(repr, names[:5].tolist()))


def read(cluster: Cluster, source: Source) -> list[Future]:
    """The partitions, checked, where Dask wants them."""
    each = zip(*cluster.computed(source.X, source.y, source.sample_weight), strict=True)
    parts = [cluster.submit(read_part, number, *chunks, what="read") for number, chunks in enumerate(each)]
    cluster.wait(parts)
    return parts


def found_classes(cluster: Cluster, parts: list[Future]) -> list[tuple[NDArray[Any], Floats]]:
    return cluster.values([cluster.submit(classes_of, part, what="classes") for part in parts])


def load_classes(
    cluster: Cluster, parts: list[Future], classes: NDArray[Any], by_class: dict[int, float] | None
) -> Loaded:
    """The partitions with codes for labels; by_class: the weight of each class."""
    return _loaded(
        cluster, [cluster.submit(coded, part, classes, by_class, what="rows") for part in parts], len(classes)
    )


def load_numbers(cluster: Cluster, parts: list[Future]) -> Loaded:
    """The partitions of a regression."""
    return _loaded(cluster, [cluster.submit(numbered, part, what="rows") for part in parts], 0)


def _loaded(cluster: Cluster, parts: list[Future], n_classes: int) -> Loaded:
    found = cluster.values([cluster.submit(facts_of, part, n_classes, what="facts") for part in parts])
    loaded = Loaded(parts, found)
    loaded.check()
    return loaded


def zero_value(cluster: Cluster, loaded: Loaded, loss: LossSpec) -> float:
    """f(0): the mean loss of the zero model."""
    return float(_mean_losses(cluster, loaded, loss, np.zeros(1))[0])


def _mean_losses(cluster: Cluster, loaded: Loaded, loss: LossSpec, constants: Floats) -> Floats:
    tasks = [
        cluster.submit(losses_of_constants, part, loss.value, constants, what="constants") for part in loaded.parts
    ]
    means: Floats = np.sum(cluster.values(tasks), axis=0) / loaded.total
    if not np.isfinite(means).all():
        raise ValueError(f"y is too large: the loss {loss} overflows. Scale y down.")
    return means


def best_constant(cluster: Cluster, loaded: Loaded, loss: LossSpec) -> tuple[float, float]:
    """The constant whose mean loss over all numbers is smallest, and that loss.

    The loss is convex: around the best place of a grid is a smaller one. Five of them leave a part in 10^6 of the range
    of y, and the loss is known better still.
    """
    low = min(each.low for each in loaded.facts)
    high = max(each.high for each in loaded.facts)
    best = (low, np.inf)
    for _ in range(5):
        grid = np.linspace(low, high, _GRID)
        sums = _mean_losses(cluster, loaded, loss, grid)
        at = int(np.argmin(sums))
        if sums[at] < best[1]:
            best = (float(grid[at]), float(sums[at]))
        low, high = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, _GRID - 1)])
    return best


def with_direction(cluster: Cluster, loaded: Loaded, setting: Setting) -> Loaded:
    """The partitions with the products of their rows with the mean row, along which partitions go the same way."""
    s = setting.statement
    bias = setting.bias_feature if s.free_bias else float(s.bias == "regularized")
    with_rows = [part for part, facts in zip(loaded.parts, loaded.facts, strict=True) if facts.n_duals]
    sums = [cluster.submit(sum_of_rows, part, bias, what="row") for part in with_rows]
    mean = cluster.merge(sums, total)
    length = float(np.sqrt(np.sum(mean**2)))
    direction = cluster.keep(mean / length if length > 0 else mean, "direction", loaded.parts[0])
    return replace(loaded, parts=[cluster.submit(directed, p, direction, bias, what="rows") for p in loaded.parts])


def statement_of(loaded: Loaded, lam: float, loss: LossSpec, bias: str, regression: bool) -> Statement:
    return Statement(
        lam=lam,
        loss=loss.name,
        number=loss.number,
        classes=loss.width if loss.joint else 0,
        costs=loss.parameters.get("costs"),
        bias=bias,
        total=loaded.total,
        n_features=loaded.n_features,
        regression=regression,
    )


@dataclass
class Course:
    """Rounds of several problems over the same partitions, one after the other until each has converged."""

    cluster: Cluster
    loaded: Loaded
    setting: Setting
    run: Run
    jobs: list[Ascent]
    report_of: Callable[[int], Report | None]
    max_rounds: int
    outcomes: list[Future | None]
    error: BaseException | None = None
    rounds: int = 0

    def go(self) -> None:
        """Until all have converged or something ends it: that is kept in `error`, if it is one.

        What a round finds, the next one proves. Where a limit ends the fit, a last one does only that.
        """
        try:
            with self.cluster.hears_ctrl_c():
                self._go_to_a_limit()
                for i in self.open:
                    self.jobs[i].closes = True
                if self.open:
                    self._round()
        except KeyboardInterrupt as error:
            self.error = error

    def _go_to_a_limit(self) -> None:
        try:
            while not all(self.jobs[i].closes for i in self.open) and self.rounds < self.max_rounds:
                self._round()
                self.rounds += 1
                self.cluster.hurries = True  # from now on there is a model to end with
                if self.open and self._is_time_for_a_copy():
                    self._shorten_the_way_back()
        except OutOfTime:
            pass
        self.cluster.hurries = False  # the last certificate takes no longer than a pass over the rows

    @property
    def open(self) -> list[int]:
        return [i for i, job in enumerate(self.jobs) if not job.is_over]

    def _round(self) -> None:
        which = self.open
        statement = self.setting.statement
        beside = self.loaded.parts[self.rounds % len(self.loaded.parts)]
        orders = self.cluster.keep({i: self.jobs[i].orders() for i in which}, "orders", beside)
        tasks = [
            self.cluster.submit(take_round, part, last, orders, statement, what="round")
            for part, last in zip(self.loaded.parts, self.outcomes, strict=True)
        ]
        messages = [self.cluster.submit(told, task, what="message") for task in tasks]
        sums = self.cluster.merge(messages, merged)
        self.outcomes = list(tasks)
        for i in which:
            self._take(i, sums[i])

    def _take(self, i: int, found: Any) -> None:
        job = self.jobs[i]
        job.take(found)
        report = self.report_of(i)
        line = job.history.last
        enough = report is not None and line is not None and report(*line, lambda: job.proven)
        job.is_over = bool(enough) or job.is_done()

    def duals(self) -> list[Future | None]:
        """The dual variables that the fit ends with, as futures for a warm start."""
        steps = {i: job.step for i, job in enumerate(self.jobs)}
        return [last and self.cluster.submit(chosen_duals, last, steps, what="duals") for last in self.outcomes]

    def _shorten_the_way_back(self) -> None:
        """When a worker dies, its dual variables are computed again from the last copy, not from the first round.

        A copy on another worker would not do: Dask keeps the tasks and orders of all rounds from which it was made.
        """
        batch: list[int] = []
        for number, n in enumerate(self._held()):
            if batch and sum(self._held()[i] for i in batch) + n > _AT_A_TIME:
                self._copy(batch)
                batch = []
            batch.append(number)
        self._copy(batch)

    def _copy(self, numbers: list[int]) -> None:
        kept = self.cluster.values([self.outcomes[i] for i in numbers])
        for i, outcome in zip(numbers, kept, strict=True):
            self.outcomes[i] = self.cluster.keep(outcome.quiet(), "copy", self.loaded.parts[i])

    def _held(self) -> list[int]:
        """Dual variables of each partition."""
        return [each.n_duals * self.setting.statement.width * len(self.jobs) for each in self.loaded.facts]

    def _is_time_for_a_copy(self) -> bool:
        held = sum(self._held())
        often = self.rounds in _FIRST and held <= _AT_A_TIME
        return (often or self.rounds % _EVERY == 0) and held <= _KEPT
