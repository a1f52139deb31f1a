"""The coordinator of one problem: from the sums of a round to its certificate, and to the orders for the next round.

Nothing here knows where rounds run. The method is CoCoA+ (Ma et al. 2015): cpp/pegasos/dual/partition.hpp says what a
partition does. A change of all partitions is taken as far as the dual objective grows, in fourths; by how far it could
have gone, sigma, the damping of the next round, is chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..solvers.base import Fit, Run
from ..solvers.history import History
from .dual_values import half_square, top_of
from .newton import MOST_WEIGHTS, NewtonSteps
from .setting import EPOCHS, Setting
from .work import CONJUGATES, ROWS, VISITS, Message, Orders

Floats = NDArray[np.float64]

# Measured on 697,957 abstracts, lam = 1e-5, certified 1e-3, in 8 and 64 partitions: with these 9 and 29 rounds, 13 and
# 53 epochs. sigma follows the top of the dual along a change, by this power where it could have been smaller (0.5: 10
# and 38 rounds, 1: 11 and 33), and is at least and at most these parts of the number of partitions.
_EAGER, _LEAST, _MOST = 0.7, 1 / 8, 2.0
_COMMON = 1 / 4  # sigma along what rows have in common, as a part of the partitions (1/10: 11 and 33, 1/2: 11 and 32)
_FAST = 0.85  # what a round leaves of the gap where it needs no momentum (0.5: 14 rounds in 8 partitions)
_TOO_FAR = 2  # fourths of a change that are taken, or fewer
_GOOD_ENOUGH, _BETTER = 0.1, 0.01  # the part of the gap, as a partition sees it, at which its visits end
_PATIENCE = 8  # rounds in a row that change nothing
_MORE_PATIENCE = 40  # Newton steps that do not lower the gap: several are taken around a centre
_BEFORE_NEWTON = 4  # rounds of ascent, which are good at finding the rows that matter
_AFTER_WARM_START = 2  # the first of them adds up; the second is of use to fits of two rounds, a Newton step takes more
_NONE = np.empty(0)
_WAY = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # parts of the way to new weights that are tried


class Ascent:
    """One problem on its way: the weights so far, what is proven of them, and the orders for the next round."""

    def __init__(self, setting: Setting, run: Run, seed: int, positive: int, start: Floats | None = None) -> None:
        """start: the weights of a fit whose dual variables are there already; the first round adds them up."""
        goes_on = start is not None
        self._set, self._run, self._seed, self._positive = setting, run, seed, positive
        statement = setting.statement
        self.history = History(run, run.tol * setting.at_zero, known=setting.zero_value)
        self.u = np.zeros(statement.n_weights)
        self.sigma = float(setting.n_parts)
        self.step = 4 if goes_on else 0
        self.rounds, self.visits = 0, 0
        self._sums_up, self._from_zero = goes_on, not goes_on
        self._centres = np.full(statement.width, setting.first_bias) if statement.free_bias else _NONE
        self._balance: Floats | None = None
        self._reach = setting.spread  # how far around b better ones are looked for
        self.w = self._weights() if start is None else start
        if start is not None and statement.free_bias:
            self._centres = start[-statement.width :].copy()
        self.proven = self.w  # the best weights so far: the last line of history is about them
        self._idle = 0
        self._pace, self._momentum, self._last_gap = 1.0, 0.0, np.inf
        self._newton: NewtonSteps | None = None
        self._smallest = np.inf  # gap
        self.closes = False  # whether the next round is the last, which only proves what there is
        self._is_closed = self.is_over = False

    def orders(self) -> Orders:
        """For the next round."""
        sides, sums, answered = self._balancing()
        epochs = int(np.clip(self._left, 1, self._set.epochs))
        rests = self._sums_up or self.closes
        return Orders(
            w=self.w,
            best=self.proven,
            u=self.u,
            step=self.step,
            sigma=self.sigma,
            common=max(self.sigma, _COMMON * self._set.n_parts),
            momentum=0.0 if rests or self._left < epochs + 1 else self._momentum,  # which is a visit, too
            seed=self._seed + self.rounds,
            growing=self._from_zero and self.rounds == 0,
            most_epochs=0 if rests else epochs,
            visits=2 / 3 * self._set.epochs,
            good_enough=_GOOD_ENOUGH if self._set.epochs == EPOCHS else _BETTER,
            bias_feature=self._set.bias_feature,
            offsets=self._centres,
            candidates=self._candidates(),
            sides=sides,
            sums=sums,
            answered=answered,
            positive=self._positive,
            newton=None if self._newton is None or rests else self._newton.orders(),
        )

    def take(self, found: Message) -> None:
        """The sums of the round that was ordered last."""
        self.rounds += 1
        self._certify(found)
        if self.closes:
            self._is_closed = True
            return
        self.visits += int(found.counts[VISITS])
        self._go_on(found)
        self.closes = self._left < 1

    def _go_on(self, found: Message) -> None:
        """The weights of the next round."""
        if self._newton is not None:
            self._take_step(self._newton, found)
            return
        if self._sums_up:
            self._start_from(found)
        else:
            self._advance(found)
        self.w = self._weights()
        before = _BEFORE_NEWTON if self._from_zero else _AFTER_WARM_START
        if self.rounds >= before and self._set.statement.n_weights <= MOST_WEIGHTS:
            self._newton = NewtonSteps(
                self._set.statement, bool(np.isfinite(self._set.loss.smoothness)), self.proven, self._gap
            )
            self.w = self._newton.w

    def is_done(self) -> bool:
        """Whether there is nothing left to do, or nothing that another round would change."""
        return self.history.converged or self._is_closed or self.in_vain > 0

    @property
    def _left(self) -> float:
        """Of max_epochs."""
        return self._run.max_epochs - self.visits / self._set.m

    @property
    def in_vain(self) -> int:
        """How many rounds in a row have brought nothing, if that is enough to give up."""
        patience = _PATIENCE if self._newton is None else _MORE_PATIENCE
        return self._idle if self._idle >= patience and not self.history.converged else 0

    def fit(self, error: BaseException | None) -> Fit:
        """What it has come to; error: what has interrupted it."""
        return Fit(
            w=self.proven,
            steps=self.visits,
            epochs=self.visits / self._set.m,
            history=self.history.array,
            converged=self.history.converged,
            interrupted=error is not None,
            error=error,
            rounding=self.history.rounding,
        )

    # Certificate

    def _certify(self, found: Message) -> None:
        """A line of history about w: docs/certificate.md, summed over the partitions."""
        s = self._set.statement
        candidates = self._candidates()
        tried = [self._mixed(*candidate) for candidate in candidates]
        squares = [half_square(w[: -s.width] if s.free_bias else w, np.sqrt(s.lam)) for w in tried]
        best = int(np.argmin(squares + found.losses / s.total))
        w, square = tried[best], squares[best]
        if s.free_bias:
            self._look_nearer(candidates[best, 1])
        dual_square = half_square(found.u, 1 / (np.sqrt(s.lam) * s.total))
        objective = square + float(found.losses[best]) / s.total
        dual = -float(found.counts[CONJUGATES]) / s.total - dual_square
        costs = s.costs
        above, below = _core.rounding_of_partitions(
            errors=found.errors.tolist(),
            largest=found.largest[:3].tolist(),
            rows=float(found.counts[ROWS]),
            weights=float(len(w)),
            total=s.total,
            lam=s.lam,
            square=square,
            dual_square=dual_square,
            losses=float(found.losses[best]),
            b=float(np.abs(w[-s.width :]).max()) if s.free_bias else 0.0,
            bounded_slope=self._set.loss.bounded_slope,
            costly=self._set.loss.probabilities is not None,
            free_bias=s.free_bias,
            width=float(s.width),
            largest_cost=float(costs.max()) if costs is not None and s.free_bias else 0.0,
        )
        self.history.add(self.visits, objective, dual - below, above, below)
        self.proven = w

    # The dual

    def _start_from(self, found: Message) -> None:
        """Dual variables that were given have been added up; with a free bias, without their bias feature."""
        s = self._set.statement
        self.u = found.u.copy()
        if s.free_bias:
            sums = found.balance[0] if s.classes else found.balance[0][:1] - found.balance[0][1:]
            self.u[-s.width :] = self._set.bias_feature * sums
        self._balance = found.balance[0]
        self._sums_up, self.step = False, 0

    def _advance(self, found: Message) -> None:
        """Takes the best part of the change, and learns sigma from it."""
        s = self._set.statement
        steps = len(found.along) - 1
        at = [self._dual(found, k / steps) for k in range(steps + 1)]
        values = np.array([-found.along[k] / s.total - at[k] for k in range(steps + 1)])
        self.step = int(np.argmax(values))
        self.u = self.u + self.step / steps * found.change
        self._balance = found.balance[self.step]
        top = top_of(values)
        change = top**_EAGER if top > 1 else top
        most = self._set.n_parts
        self.sigma = float(np.clip(self.sigma / change, max(1.0, _LEAST * most), _MOST * most))
        self._idle = self._idle + 1 if self.step == 0 else 0
        self._gather_momentum()
        if s.free_bias:
            self._centres = self._biases()

    def _gather_momentum(self) -> None:
        """Nesterov's sequence. It begins anew while rounds are fast without it, and goes half of its way back where the
        last change went too far.
        """
        fast, self._last_gap = self._gap < _FAST * self._last_gap, self._gap
        if fast:
            self._pace = 1.0
        elif self.step <= _TOO_FAR:
            self._pace = max(1.0, self._pace / 2)
        faster = (1 + np.sqrt(1 + 4 * self._pace**2)) / 2
        self._momentum, self._pace = (self._pace - 1) / faster, faster

    @property
    def _gap(self) -> float:
        assert self.history.last is not None
        return float(self.history.last[2] - self.history.last[3])

    def _take_step(self, newton: NewtonSteps, found: Message) -> None:
        """A Newton step: the next weights to look at, and maybe a new centre."""
        gap = self._gap
        self._idle = 0 if gap < self._smallest else self._idle + 1
        self._smallest = min(gap, self._smallest)
        self.visits += int(found.counts[ROWS])
        self.step = 4 if newton.take(found, gap) else 0
        self._balance = found.balance[self.step]
        self.w = newton.w

    def _dual(self, found: Message, part: float) -> float:
        """lam/2 ||w(a)||^2 with so much of the change, and what the pull of a free bias adds."""
        s = self._set.statement
        u = self.u + part * found.change
        square = half_square(u, 1 / (np.sqrt(s.lam) * s.total))
        if not s.free_bias:
            return square
        return square + float(self._centres @ u[-s.width :]) / (self._set.bias_feature * s.total)

    # Bias

    def _weights(self) -> Floats:
        s = self._set.statement
        w = self.u / (s.lam * s.total)
        if s.free_bias:
            w[-s.width :] = self._biases()
        elif s.bias == "none":
            w[-s.width :] = 0.0
        return w

    def _biases(self) -> Floats:
        """Of a free bias: where it is pulled to, and what the dual variables add."""
        s = self._set.statement
        b: Floats = self._centres + self._set.bias_feature * self.u[-s.width :] / (s.lam * s.total)
        return b

    def _candidates(self) -> Floats:
        """Where losses are summed: between the best weights so far and those of the dual variables, which jump about
        more than the dual objective does; and with a free bias at some numbers around b.
        """
        s = self._set.statement
        if not s.free_bias or s.classes:
            return np.column_stack([_WAY, np.zeros(len(_WAY))])
        shifts = self._reach * np.array([0.0, 1.0, -1.0, 0.25, -0.25])
        return np.array([(part, shift) for part in _WAY for shift in shifts])

    def _mixed(self, part: float, shift: float) -> Floats:
        w = self.proven + part * (self.w - self.proven)
        if shift:
            w[-1] += shift
        return w

    def _look_nearer(self, best: float) -> None:
        self._reach = 4 * abs(best) if best else self._reach / 4

    def _balancing(self) -> tuple[tuple[float, float], Floats, Floats]:
        """What makes the dual variables feasible where the bias is free: proof/free_bias.hpp."""
        s = self._set.statement
        if not s.free_bias or self._balance is None:
            return (1.0, 1.0), _NONE, _NONE
        if s.classes:
            return (1.0, 1.0), self._balance, self._set.masses - self._balance
        plus, minus = map(float, self._balance)
        if plus > minus:
            return (minus / plus, 1.0), _NONE, _NONE
        return (1.0, plus / minus if minus > 0 else 1.0), _NONE, _NONE
