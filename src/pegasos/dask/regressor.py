"""DaskPegasosRegressor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import dask.array as da
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .. import losses, words
from ..estimators.regression import PegasosRegressor
from ..losses.spec import LossSpec
from ..progress import Told, all_or_nothing, with_callbacks
from ..rules import Number, OneOf
from .base import SHARED_RULES, DaskModel, columns_of
from .fitting import best_constant, load_numbers, read, zero_value
from .inputs import source_of
from .scoring import r_squared


class DaskPegasosRegressor(RegressorMixin, DaskModel):  # type: ignore[misc]  # scikit-learn has no type hints
    """Linear support vector regression on rows that are spread over a Dask cluster.

    The problem, the attributes and the proof are those of `PegasosRegressor`.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The loss of a row.
    epsilon : float, default=0.1
        Errors up to this size cost nothing.
    bias : {"regularized", "free", "none"}, default="regularized"
        Whether b is penalised as a constant feature of 1, not penalised, or kept at 0.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol`` times the mean loss of the best constant, or of zero with ``bias="none"``.
    max_epochs, max_time, warm_start, random_state, verbose, max_rounds, client
        As in `DaskPegasosClassifier`.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        The model, as `PegasosRegressor` has it.
    objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        What is proven of it, over all rows of all partitions. `history_` has a line a round.
    n_rounds_ : int
        Rounds of the last fit.
    client_ : distributed.Client
        The client that is used.

    See Also
    --------
    PegasosRegressor : For rows in the memory of one machine.
    """

    _rules = {  # noqa: RUF012  # read only
        **SHARED_RULES,
        "loss": OneOf(tuple(losses.REGRESSION)),
        "epsilon": Number(0.0),
    }
    _local = PegasosRegressor

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.NumberLoss = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: words.Bias = "regularized",
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        warm_start: bool = False,
        random_state: words.RandomState = None,
        verbose: int = 0,
        max_rounds: int = 1000,
        client: Client | None = None,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.max_rounds = max_rounds
        self.client = client

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on all partitions of X and the numbers y.

        Parameters
        ----------
        X : dask array, dask dataframe, or list of Delayed or Future
            Rows; chunks are arrays, CSR matrices or frames, of any length.
        y : dask array, series, or list of Delayed or Future
            The numbers to predict, cut as X is.
        sample_weight : dask array, series, list of Delayed or Future, or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : DaskPegasosRegressor
        """
        run = self._begin()
        source = source_of(X, y, sample_weight)
        cluster = self._cluster(run)
        loaded = load_numbers(cluster, read(cluster, source))
        loss = losses.bound_loss(self.loss, epsilon=float(self.epsilon))
        zero = zero_value(cluster, loaded, loss)
        constant, mean_loss = best_constant(cluster, loaded, loss)
        at_zero = zero if self.bias == "none" else mean_loss or zero
        summary = _Summary(loss, at_zero, mean_loss)
        yardstick = {
            "at_zero": at_zero,
            "zero_value": zero,
            "masses": np.empty(0),
            "first_bias": constant,
            "spread": max(mean_loss, float(self.epsilon)) or 1.0,
        }
        facts = columns_of(loaded)
        teller = self._teller()
        told = Told(X, y, sample_weight, lambda weights: _attributes(weights) | facts)
        fits = self._solve(cluster, loaded, loss, yardstick, [""], told, run)
        self.__dict__.pop("feature_names_in_", None)
        teller._take(_attributes([fit.w for fit in fits]) | facts)
        self._record(teller, summary, fits, np.empty(0), run)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass of Pegasos steps over the partitions, one after the other, as `PegasosRegressor.partial_fit`.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self : DaskPegasosRegressor
        """
        return self._partial(X, y, sample_weight)

    def predict(self, X: Any) -> da.Array:
        """Scores <w, x> + b of each row, lazily.

        Returns
        -------
        numbers : dask array of shape (n_rows,)
        """
        return self._lazily("predict", X, np.float64)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R^2 over all rows, computed at once.

        Returns
        -------
        r_squared : float
        """
        return r_squared(self._cluster(self._begin()), self.to_local(), X, y, sample_weight)


@dataclass(frozen=True)
class _Summary:
    """What is said about a fit needs this much of the problem."""

    loss: LossSpec
    at_zero: float
    constant: float
    is_regression = True

    def best_constants(self) -> NDArray[np.float64]:
        return np.array([self.constant])


def _attributes(weights: list[NDArray[np.float64]]) -> dict[str, Any]:
    return {"coef_": weights[0][:-1].copy(), "intercept_": float(weights[0][-1])}
