"""What the kernel solvers share: the problem, a dual point with its scores, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from .. import _core
from ..problem.free_bias import balanced
from ..problem.pairs import pairs_of
from ..problem.problem import Floats, Problem, Weights
from .cache import Index
from .certificate import Certificate, rounding
from .matrix import KernelMatrix


@dataclass(frozen=True)
class KernelProblem(Problem):
    """f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, phi(x_i)>, y_i) / sum_i s_i with <phi(x), phi(z)> = k(x, z).

    w = sum_i p_i a_i phi(x_i), p_i = s_i / (lam sum_i s_i): only a is ever written down.
    """

    matrix: KernelMatrix = field(kw_only=True)
    scale: float = 1.0  # of all p; above 1 where a sample stands for all rows
    in_pairs: int = 0  # the number of classes where each is fitted against each other one, not against the rest

    is_linear = False

    @cached_property
    def y(self) -> Floats:
        """Numbers, or 1 for class `positive` and -1 for the others."""
        if self.is_regression:
            return np.asarray(self.labels, dtype=np.float64)
        return np.where(self.labels == self.positive, 1.0, -1.0)

    @cached_property
    def labelled(self) -> _core.Labelled:
        return _core.Labelled(self.loss.name, self.loss.number, self.y)

    def some(self, chosen: Index) -> _core.Labelled:
        """Loss and labels of some rows."""
        return _core.Labelled(self.loss.name, self.loss.number, self.y[chosen])

    @cached_property
    def p(self) -> Floats:
        each = self.per_dual(self.lam)
        return np.full(self.matrix.m, self.scale * each) if isinstance(each, float) else self.scale * each

    @cached_property
    def existing(self) -> Index:
        """The rows of positive weight."""
        listed = self.weights.listed
        return np.arange(self.matrix.m) if listed is None else listed.astype(np.intp)

    def best_constants(self) -> Floats:
        """As for any problem; of every pair where there are pairs."""
        if not self.in_pairs:
            return super().best_constants()
        s = np.ones(self.matrix.m) if self.weights.s is None else self.weights.s
        found = np.zeros(len(pairs_of(self.in_pairs)))
        for i, pair in enumerate(pairs_of(self.in_pairs)):
            mine = np.where(np.isin(self.labels, pair), s, 0.0)
            if mine.any():
                part = replace(self, weights=Weights.of(mine, len(mine)), positive=pair[1])
                found[i] = part.native().best_constant()
        return found

    @cached_property
    def zero_value(self) -> float:
        """f(0), which no lower bound of f exceeds; `at_zero` may be that of a constant."""
        if not self.is_regression:
            return self.at_zero
        return float((self.lam * self.p) @ self.labelled.values(np.zeros(self.matrix.m)))

    @cached_property
    def unit_of_duals(self) -> float:
        """How large dual variables are: one where a loss bounds them; but a squared one has them in the unit of its
        numbers.
        """
        if self.is_piecewise_linear or not self.is_regression:
            return 1.0
        return self.lam * float(self.p @ np.abs(self.labels)) or 1.0

    def largest_norm2(self) -> float:
        """The largest squared length of a row of positive weight as the kernel has it, without the bias feature."""
        return float(np.max(self.matrix.diagonal[self.existing]))

    @property
    def is_piecewise_linear(self) -> bool:
        """Whether the slope of the loss jumps, and does nothing else."""
        return self.loss.piecewise_linear

    @property
    def offset(self) -> float:
        """The bias feature, squared."""
        return float(self.bias == "regularized")


@dataclass(frozen=True)
class Point:
    """Dual variables of all rows, and the scores they lead to: g = K (p a), without the bias."""

    problem: KernelProblem
    a: Floats
    g: Floats
    b: float = 0.0  # of a free bias
    stirred: Floats | None = None  # the sizes of all changes of p a that g is the sum of; None: p a itself, at once
    terms: int = 0  # the longest chain of additions in g
    summed: float | None = None  # a penalised bias that native code has summed up, in its own order
    coarse: bool | None = None  # whether float32 kernel values are in g; None: as in the view of the problem

    def __post_init__(self) -> None:
        # Of these very scores: a view with all digits, in which the same point may be seen later, has not made them.
        if self.coarse is None:
            object.__setattr__(self, "coarse", self.problem.matrix.is_coarse)

    @classmethod
    def zero(cls, problem: KernelProblem) -> Point:
        """Where every fit starts."""
        a, g, stirred = np.zeros((3, problem.matrix.m))
        return cls(problem, a, g, stirred=stirred)

    @classmethod
    def of(cls, problem: KernelProblem, a: Floats, b: float = 0.0) -> Point:
        """A feasible point near a, its scores summed up anew."""
        a = cls.clipped(problem, a)
        return cls.zero(problem).moved(np.flatnonzero(a), a[a != 0], b)

    @staticmethod
    def clipped(problem: KernelProblem, a: Floats) -> Floats:
        """a made feasible: clipped, and balanced where the bias is free."""
        a = problem.labelled.feasible(a)
        a[problem.p == 0] = 0.0
        return balanced(a, problem.p) if problem.free_bias else a

    def moved(self, chosen: Index, change: Floats, b: float | None = None) -> Point:
        """The point after some dual variables have changed by so much."""
        step = self.problem.p[chosen] * change
        product = self.problem.matrix.times(chosen, step)[:, 0] if len(chosen) else np.zeros(0)
        return self.shifted(chosen, change, product, b)

    def shifted(self, chosen: Index, change: Floats, product: Floats, b: float | None = None) -> Point:
        """The same where the change of g is known."""
        a, stirred, step = self.a.copy(), self.sizes.copy(), self.problem.p[chosen] * change
        a[chosen] += change
        stirred[chosen] += np.abs(step)
        g = self.g + product if len(chosen) else self.g
        terms = max(self.terms, len(chosen)) + 2
        return replace(self, a=a, g=g, b=self.b if b is None else b, stirred=stirred, terms=terms, summed=None)

    def scaled(self, problem: KernelProblem, part: float) -> Point:
        """A part of the dual variables as a point of a problem that differs in lam."""
        c = part * self.problem.lam / problem.lam
        a, g, stirred = part * self.a, c * self.g, c * self.sizes
        return replace(self, problem=problem, a=a, g=g, stirred=stirred, terms=self.terms + 1, summed=None)

    @property
    def sizes(self) -> Floats:
        """Of all changes of p a that g is the sum of."""
        return np.abs(self.problem.p * self.a) if self.stirred is None else self.stirred

    def refined(self) -> Point:
        """The same with scores summed up anew, if its view has more digits than they."""
        if self.coarse and not self.problem.matrix.is_coarse:
            return self.of(self.problem, self.a, self.b)
        return self

    def settled(self) -> Point:
        """The same with scores summed up anew, if they are the sum of so many changes that their rounding shows."""
        if self.sizes.sum() > 4 * float(np.abs(self.problem.p * self.a).sum()) and not self.problem.matrix.is_coarse:
            return self.of(self.problem, self.a, self.b)
        return self

    @property
    def bias(self) -> float:
        """b; where it is part of w, the sum of the contributions to the constant feature."""
        if self.problem.free_bias:
            return self.b
        return float(self.problem.p @ self.a) * self.problem.offset if self.summed is None else self.summed

    @property
    def scores(self) -> Floats:
        return self.g + self.bias

    def certified(self, dual: Point | None = None) -> tuple[Point, Certificate]:
        """With the best b, and the certificate of exactly that. dual: another point, if the bound is to come from it,
        as it must if the dual variables here are not feasible.
        """
        problem, point, s = self.problem, self, self.problem.p * self.problem.lam
        if problem.free_bias:
            point = replace(self, b=problem.labelled.best_bias(self.g, s, self.b))
        objective = point._square() / 2 + float(s @ problem.labelled.values(point.scores))
        above, below = rounding(point)
        feasible = point if dual is None else dual
        if dual is not None:
            below = rounding(dual)[1]
        bound = feasible.bound(s)
        found = Certificate(objective, bound if problem.matrix.psd else np.nan, feasible.disagreement(), above, below)
        return point, found

    def bound(self, s: Floats) -> float:
        """The dual value. s: p lam."""
        return -float(s @ self.problem.labelled.conjugates(self.a)) - self._square() / 2

    def _square(self) -> float:
        """lam ||w||^2."""
        own = 0.0 if self.problem.free_bias else self.bias * self.bias  # a power would raise
        return self.problem.lam * (float((self.problem.p * self.a) @ self.g) + own)

    def disagreement(self) -> float:
        """sum_i s_i (loss_i + loss*(-a_i) + a_i score_i) / S: the gap, and zero at a stationary point of any kernel."""
        problem = self.problem
        return float(problem.lam * (problem.p @ problem.labelled.gaps(self.a, self.scores)))
