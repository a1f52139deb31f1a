"""What is to be minimised. How, belongs to the solver."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.joint import good_joint_constant, joint_value_at_zero
from ..losses.spec import LossSpec
from .data import Data, InMemory, largest_norm2
from .rows import naming
from .weights import Weights as Weights

Floats = NDArray[np.float64]
UNIT = 2.0**-53  # the largest relative error of one operation in float64
_PIECE = 1 << 20  # rows


@dataclass(frozen=True)
class Problem:
    """f(w) = lam/2 ||w||^2 + sum_i s_i loss(<w, x_i>, y_i) / sum_i s_i.

    For classes, y_i is 1 for class `positive` and -1 for the others, or the code itself where the loss is joint: w then
    holds one vector a class.
    """

    data: Data
    labels: NDArray[Any]  # int32 class codes, or the float64 numbers of a regression
    weights: Weights
    lam: float
    loss: LossSpec  # with its parameters
    bias: str
    positive: int = 1
    centre: float = 0.0  # already taken from the numbers of a regression; models have it in their bias

    is_linear = True  # w is a vector over features

    @property
    def rows(self) -> _core.Rows:
        """As native solvers read them."""
        native = getattr(self.data, "native", None)
        if native is None:
            raise ValueError(
                f"this solver reads rows in memory, and these live in {self.data.place}. Use a solver that reads "
                "blocks of rows, or load them into an array."
            )
        rows: _core.Rows = native()
        return rows

    @property
    def m(self) -> int:
        return self.weights.m

    @property
    def width(self) -> int:
        """Scores, and dual variables, of a row."""
        return self.loss.width

    @property
    def n_weights(self) -> int:
        return self.dim * self.width

    @property
    def n_duals(self) -> int:
        return self.data.shape[0] * self.width

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

    @property
    def free_bias(self) -> bool:
        """Whether b is not penalised."""
        return self.bias in ("free", "batch", "search")

    @property
    def dim(self) -> int:
        """Features and one more, for the bias."""
        return self.data.shape[1] + 1

    @property
    def is_regression(self) -> bool:
        return self.labels.dtype.kind == "f"

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
        return float(labelled.native().objective(np.zeros(labelled.dim)))

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

    def numbers(self, rows: slice = slice(None)) -> Floats:
        """The labels as losses of one score read them."""
        labels = self.labels[rows]
        return labels if self.is_regression else np.where(labels == self.positive, 1.0, -1.0)

    def targets(self) -> NDArray[Any]:
        """The labels as the loss reads them."""
        return self.labels if self.loss.joint else self.numbers()

    def shares(self) -> Floats:
        """s_i / sum_i s_i."""
        n_rows = self.data.shape[0]
        return np.full(n_rows, 1.0 / n_rows) if self.weights.s is None else self.weights.s / self.weights.total

    def scores(self, w: Floats) -> Floats:
        """<w, x_i> + b of every row; with one column a class where the loss is joint."""
        W = w.reshape(self.dim, self.width)
        if hasattr(self.data, "native"):
            each: Floats = _core.scores(self.rows, np.ascontiguousarray(W.T))
        else:
            each = np.empty((self.data.shape[0], self.width))
            for some, X in self.data.blocks():
                each[some] = X @ W[:-1] + W[-1]
        return each if self.loss.joint else each[:, 0]

    def combine(self, a: Floats) -> Floats:
        """sum_i a_i x_i in the shape of w; in the place of the bias the sum of a, or zero where there is no bias."""
        A = a.reshape(-1, self.width)
        total = np.zeros((self.width, self.dim))
        has_bias = float(self.bias != "none")
        if hasattr(self.data, "native"):
            every = np.arange(len(A))
            for column, sums in zip(np.ascontiguousarray(A.T), total, strict=True):
                _core.batch_add(self.rows, has_bias, every, column, sums)
        else:
            for some, X in self.data.blocks():
                total[:, :-1] += (X.T @ A[some]).T
            total[:, -1] = has_bias * A.sum(axis=0)
        return np.ascontiguousarray(total.T).ravel()

    def objective(self, w: Floats) -> float:
        """f(w), summed by NumPy."""
        penalised = w[: -self.width] if self.free_bias else w
        losses = self.loss.value(self.scores(w), self.targets())
        return self.lam / 2 * float(penalised @ penalised) + float(self.shares() @ losses)

    def gradient(self, w: Floats) -> Floats:
        """Of f at w; any sub-gradient where there are several."""
        slopes = self.loss.slope(self.scores(w), self.targets())
        penalised = w.copy()
        if self.free_bias:
            penalised[-self.width :] = 0.0
        return self.lam * penalised + self.combine((self.shares() * slopes.T).T)

    def largest_norm2(self) -> float:
        """The largest squared length of a row of positive weight, without the constant feature."""
        return largest_norm2(self.data, self.weights)

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
