"""The function to be minimised, and its sums over the rows, as a solver in Python asks for them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..losses.spec import LossSpec
from .data import Data, largest_norm2
from .weights import Weights

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Objective:
    """What `Problem` says of itself, in NumPy. Rows may live anywhere."""

    data: Data
    labels: NDArray[Any]  # int32 class codes, or the float64 numbers of a regression
    weights: Weights
    lam: float
    loss: LossSpec  # with its parameters
    bias: str
    positive: int = 1
    centre: float = 0.0  # already taken from the numbers of a regression; models have it in their bias
    threads: int = 1  # of sums over rows in memory, where the solver is one's own; others are told by the Run

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
    def dim(self) -> int:
        """Features and one more, for the bias."""
        return self.data.shape[1] + 1

    @property
    def n_weights(self) -> int:
        return self.dim * self.width

    @property
    def n_duals(self) -> int:
        return self.data.shape[0] * self.width

    @property
    def free_bias(self) -> bool:
        """Whether b is not penalised."""
        return self.bias in ("free", "batch", "search")

    @property
    def is_regression(self) -> bool:
        return self.labels.dtype.kind == "f"

    def on(self, threads: int) -> Self:
        """The same with so many threads for its sums; what is known of it already goes along."""
        if threads == self.threads:
            return self
        found = copy(self)
        object.__setattr__(found, "threads", threads)
        return found

    def numbers(self, rows: slice = slice(None)) -> Floats:
        """The labels as losses of one score read them: -1 and 1, or the numbers of a regression.

        Parameters
        ----------
        rows : slice, default=slice(None)
            Which rows; all of them, if not said.

        Returns
        -------
        y : ndarray of shape (n_rows,)
        """
        labels = self.labels[rows]
        return labels if self.is_regression else np.where(labels == self.positive, 1.0, -1.0)

    def targets(self) -> NDArray[Any]:
        """The labels of all rows as `loss` reads them.

        Returns
        -------
        y : ndarray of shape (n_rows,)
            `numbers`, or the codes of the classes where the loss is joint.
        """
        return self.labels if self.loss.joint else self.numbers()

    def shares(self) -> Floats:
        """What each row weighs: s_i / sum_i s_i.

        Returns
        -------
        shares : ndarray of shape (n_rows,)
        """
        n_rows = self.data.shape[0]
        return np.full(n_rows, 1.0 / n_rows) if self.weights.s is None else self.weights.s / self.weights.total

    def scores(self, w: Floats) -> Floats:
        """<w, x_i> + b of every row.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)

        Returns
        -------
        scores : ndarray of shape (n_rows,)
            Or (n_rows, width), one column a class, where the loss is joint.
        """
        W = np.asarray(w, dtype=np.float64).reshape(self.dim, self.width)
        if hasattr(self.data, "native"):
            each: Floats = _core.scores(self.rows, np.ascontiguousarray(W.T), self.threads)
        else:
            each = np.empty((self.data.shape[0], self.width))
            for some, X in self.data.blocks():
                each[some] = X @ W[:-1] + W[-1]
        return each if self.loss.joint else each[:, 0]

    def combine(self, a: Floats) -> Floats:
        """sum_i a_i x_i; in the place of the bias the sum of a, or zero where there is no bias.

        Parameters
        ----------
        a : ndarray of the shape of `scores`

        Returns
        -------
        sums : ndarray of shape (n_weights,)
        """
        A = np.asarray(a, dtype=np.float64).reshape(self.data.shape[0], self.width)
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
        """f(w), summed by NumPy.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)

        Returns
        -------
        f : float
        """
        penalised = w[: -self.width] if self.free_bias else w
        losses = self.loss.value(self.scores(w), self.targets())
        return self.lam / 2 * float(penalised @ penalised) + float(self.shares() @ losses)

    def gradient(self, w: Floats) -> Floats:
        """The gradient of f; any sub-gradient where there are several.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)

        Returns
        -------
        gradient : ndarray of shape (n_weights,)
        """
        slopes = self.loss.slope(self.scores(w), self.targets())
        penalised = w.copy()
        if self.free_bias:
            penalised[-self.width :] = 0.0
        return self.lam * penalised + self.combine((self.shares() * slopes.T).T)

    def largest_norm2(self) -> float:
        """The largest squared length of a row of positive weight, without the constant feature of the bias.

        Returns
        -------
        norm2 : float
        """
        return largest_norm2(self.data, self.weights)
