"""What is to be minimised. How, belongs to the solver."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.joint import good_joint_constant, joint_value_at_zero
from .data import InMemory
from .objective import Floats as Floats
from .objective import Objective
from .rows import naming
from .weights import Weights as Weights

UNIT = 2.0**-53  # the largest relative error of one operation in float64
_PIECE = 1 << 20  # rows


@dataclass(frozen=True)
class Problem(Objective):
    """f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, x_i> + b, y_i) / sum_i s_i: what a solver is to minimise.

    w is one vector: a weight for each feature and the bias last. For classes y_i is 1 for class `positive` and -1 for
    the others, or the code itself where the loss is joint: w then holds one vector a class, the classes of a feature
    side by side. Estimators make problems; a solver of your own gets one.

    Attributes
    ----------
    data : object
        The rows: `shape`, `place`, and `blocks(size)`, which yields a slice and an array or a CSR matrix at a time.
    labels : ndarray of shape (n_rows,)
        Codes of classes, or the numbers of a regression. `targets` is what the loss reads.
    weights : object
        s_i, from sample and class weights: `weights.s` is an array, or None for all ones. A row of weight zero does not
        exist. `shares` has them divided by their sum.
    lam : float
        Strength of the penalty.
    loss : LossSpec
        The loss, with its parameters.
    bias : {"regularized", "free", "none", "batch", "search"}
        What b is: penalised as part of w, not penalised, or always zero; the other two are for `Pegasos`.
    positive : int
        The class that is 1.
    centre : float
        What was taken from the numbers of a regression already.
    threads : int
        Of sums over rows in memory that a solver of your own asks for. What they are does not depend on it.
    m : int
        Rows that exist.
    dim : int
        Features and one more, for the bias.
    width : int
        Scores of a row: 1, or the number of classes where the loss is joint.
    n_weights : int
        Entries of w: `dim * width`.
    free_bias : bool
        Whether b is not penalised.
    is_regression : bool
        Whether labels are numbers.
    is_linear : bool
        Whether w is a vector over features. That of a kernel model has a factor a row and the bias last.
    at_zero : float
        The yardstick of `tol`: f(0), or in regression the mean loss of the best constant, if a constant is allowed. A
        fit has converged when its gap is at most ``run.tol * problem.at_zero``.
    zero_value : float
        f(0).
    """

    is_linear = True  # w is a vector over features

    def models(self, weights: list[Floats]) -> Floats:
        """One model a line, the bias last. A joint loss has one vector, the classes of a feature side by side."""
        if self.loss.joint:
            return weights[0].reshape(self.dim, self.width).T
        models = np.stack(weights)
        models[:, -1] += self.centre
        return models

    def vectors(self, models: Floats) -> list[Floats]:
        """The inverse of `models`."""
        return list(models) if not self.loss.joint else [np.ascontiguousarray(models.T).ravel()]

    def per_dual(self, lam: float) -> Floats | float:
        """What a dual variable of 1 contributes to w, per unit of the row."""
        s = 1.0 if self.weights.s is None else np.repeat(self.weights.s, self.width)
        return s / (lam * self.weights.total)

    @cached_property
    def at_zero(self) -> float:
        """The yardstick of tol: f(0), or in regression the mean loss of the best constant, if a constant is allowed."""
        if not self.loss.has_native_twin:
            values = self.loss.value(np.zeros(self.data.shape[0]), self.numbers())
            return float(np.average(values, weights=self.weights.s))
        if self.loss.joint:
            return joint_value_at_zero(self.loss, self.class_shares())
        if not self.is_regression:
            return float(self.loss.value(np.zeros(1), np.ones(1))[0])
        zero = self._zero_of_numbers()
        return (zero if self.bias == "none" else self._best_number) or zero

    @cached_property
    def zero_value(self) -> float:
        """f(0). `at_zero` may be that of a constant."""
        if not self.is_regression or not self.loss.has_native_twin:
            return self.at_zero
        return self._zero_of_numbers()

    def _zero_of_numbers(self) -> float:
        labelled = self._labelled()
        return float(labelled.native().objective(np.zeros(labelled.dim), self.threads))

    def best_constants(self) -> Floats:
        """The mean loss of the best constant score, for each class against the rest; one number for two classes."""
        if not self.loss.has_native_twin:
            return np.array([self.at_zero])
        if self.loss.joint:
            return np.array([good_joint_constant(self.loss, self.class_shares())])
        if self.is_regression:
            return np.array([self._best_number])
        masses = self._class_masses(int(self.labels.max()) + 1)
        each = [1] if len(masses) <= 2 else range(len(masses))
        return np.array([self._best_constant(masses[k], masses.sum()) for k in each])

    @cached_property
    def _best_number(self) -> float:
        """The mean loss of the best constant, in regression: a look at all targets, several times."""
        return float(self._labelled().native().best_constant())

    def _best_constant(self, mass: float, total: float) -> float:
        """Of a class that weighs so much of the total: all rows of one label are like one."""
        s = np.array([total - mass, mass])
        rows, codes = InMemory(np.zeros((2, 1))), np.arange(2, dtype=np.int32)
        both = replace(self, data=rows, labels=codes, weights=Weights.of(s, 2), positive=1)
        return float(both.native().best_constant())

    def _class_masses(self, n_classes: int) -> Floats:
        """What the rows of each class weigh. Without weights some rows at a time: NumPy would copy all labels."""
        masses: Floats = np.zeros(n_classes)
        if self.weights.s is not None:
            return masses + np.bincount(self.labels, weights=self.weights.s, minlength=n_classes)
        for piece in np.array_split(self.labels, len(self.labels) // _PIECE + 1):
            masses += np.bincount(piece, minlength=n_classes)
        return masses

    def _labelled(self) -> Problem:
        """The same, or with rows of zeros where rows are not in memory, or not checked: for what depends on the labels
        alone.
        """
        if hasattr(self.data, "native") and getattr(self.data, "is_checked", True):
            return self
        return replace(self, data=InMemory(np.zeros((self.data.shape[0], 1))))

    def class_shares(self) -> Floats:
        """The part of the weight that each class has."""
        return self._class_masses(self.width) / self.weights.total

    def naming_columns(self) -> AbstractContextManager[None]:
        """What is said about an entry of a row that is checked when it is drawn, is said with the column's name."""
        return naming(getattr(self.data, "names", None))

    def native(self) -> _core.Problem:
        """As native code reads it; made once."""
        return self._native

    @cached_property
    def _native(self) -> _core.Problem:
        return self.native_with(self.weights.s, self.weights.listed)

    def native_with(self, s: Floats | None, listed: NDArray[np.uint32] | None) -> _core.Problem:
        """The same with these weights, whose total is that of ours."""
        return _core.Problem(
            self.rows,
            bias=float(self.bias == "regularized"),
            free_bias=self.free_bias,
            codes=None if self.is_regression else self.labels,
            numbers=self.labels if self.is_regression else None,
            positive=self.positive,
            s=s,
            listed=listed,
            total=self.weights.total,
            lam=self.lam,
            loss=self.loss.name if self.loss.has_native_twin else "own",
            parameter=self.loss.number,
            classes=self.loss.width if self.loss.joint else 0,
            costs=self.loss.parameters.get("costs"),
        )

    @property
    def largest_share(self) -> float:
        """The largest weight, relative to the mean."""
        return 1.0 if self.weights.s is None else float(np.max(self.weights.s)) * self.m / self.weights.total

    def check_scale(self) -> None:
        """Refuse rows so long that w itself could overflow: ||w|| <= R / lam times the largest share of a row."""
        if not hasattr(self.data, "native"):
            return  # that would be a pass; weights that overflow are refused at the end
        with np.errstate(over="ignore"):
            reach = np.float64(self.largest_share) ** 2 / self.lam
            if np.isfinite(self.rows.norm2_bound * reach):
                return
            largest = self.largest_norm2()
            if not np.isfinite(largest * reach):
                raise ValueError(
                    f"the largest squared norm of a row, {largest:.3g}, divided by lam = {self.lam:g} overflows. "
                    "Scale the features down, e.g. with StandardScaler, or raise lam."
                )
