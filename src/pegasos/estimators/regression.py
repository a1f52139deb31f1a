"""Linear regression within a tube."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from sklearn.base import RegressorMixin

from .. import losses, words
from ..problem.problem import Floats, Problem, Weights
from ..problem.targets import check_targets, median, minus, warn_far_from_zero, with_rounded_bias
from ..problem.weights import row_weights
from ..progress import Told, all_or_nothing, with_callbacks
from ..rules import LossNamed, Number, OneOf
from ..solvers.base import Fit, Run
from .base import RULES, Stated
from .fitted import linear_models
from .linear_base import LinearModel, OwnLabels

if TYPE_CHECKING:
    from ..io.stored import StoredData


class PegasosRegressor(OwnLabels, RegressorMixin, LinearModel):  # type: ignore[misc]
    """Linear support vector regression, with a bound on how far from the optimum it can be.

    Minimises ``lam/2 ||w||^2 + mean_i loss(<w, x_i> + b, y_i)``.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty. From scikit-learn: ``lam = 1 / (C * n_rows)`` for SVR and LinearSVR.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"} or Loss, default="epsilon_insensitive"
        max(0, \\|score - y\\| - epsilon), its square, or a loss of your own, see `Loss`.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y.
    bias : {"regularized", "free", "none"}, default="regularized"
        As in `PegasosClassifier`.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f``, where f is the mean loss of the best constant (of the zero model with
        bias="none").
    max_epochs : float, default=1000
        Stop after this many passes over the rows.
    max_time : float or None, default=None
        Stop after this many seconds; the result then depends on the speed of the machine.
    solver : {"auto", "sdca", "pegasos"} or Auto, SDCA, Pegasos, default="auto"
        The method.
    warm_start : bool, default=False
        Whether `fit` goes on from the current weights and step number.
    n_jobs : int or None, default=None
        Threads of fits and predictions; None for one, -1 for all cores. Neither depends on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows; None as in `PegasosClassifier`.
    verbose : int, default=0
        1 prints a line per certificate.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, float64.
    intercept_ : float
        Bias.
    objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, n_replicas_, history_
        As in `PegasosClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import PegasosRegressor
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> model = PegasosRegressor(lam=1e-3, epsilon=0.01).fit(X, X @ [1.0, 2.0] + 3.0)
    >>> bool(model.converged_)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **RULES,
        "loss": LossNamed(tuple(losses.REGRESSION), for_numbers=True),
        "epsilon": Number(0.0),
        "bias": OneOf(("regularized", "free", "none")),
    }

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.OfNumbers = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: words.Bias = "regularized",
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: words.Solver = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @overload
    def fit(self, X: StoredData, y: None = None, sample_weight: Any = None) -> Self: ...

    @overload
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X and the numbers y.

        Parameters
        ----------
        X : array-like, sparse matrix or `open_data` of shape (n_rows, n_features)
            float32 and float64 arrays in C order and CSR matrices are used as they are, without a copy. Rows of a file
            that `open_data` has opened stay there.
        y : array-like of shape (n_rows,)
            The numbers to predict. None where `open_data` has them.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : PegasosRegressor
        """
        return self._train(X, y, sample_weight, self._begin(), bool(self.warm_start) and hasattr(self, "coef_"))

    @with_callbacks
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass of Pegasos steps over the given rows, going on from the current weights; `gap_` becomes NaN.

        Steps are as in `PegasosClassifier`: with the tube the first ones move the score of a row by about 1, whatever
        the unit of y, which is to be scaled to that.

        Parameters
        ----------
        X : array-like, sparse matrix or `open_data` of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their numbers; None where `open_data` has them.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row.

        Returns
        -------
        self : PegasosRegressor
        """
        return self._train(X, y, sample_weight, self._begin(one_pass=True), hasattr(self, "coef_"))

    def predict(self, X: Any) -> Floats:
        """Scores <w, x> + b of each row.

        Returns
        -------
        numbers : ndarray of shape (n_rows,)
        """
        return self._scores(X)[:, 0]

    def _weights(self) -> Floats:
        coef: Any = self.coef_ if np.ndim(self.coef_) != 1 else np.asarray(self.coef_)[None, :]
        return linear_models(coef, self.intercept_, self._n_models(), self.n_features_in_)

    def _n_models(self) -> tuple[int, ...]:
        return (1,)

    def _train(self, X: Any, y: Any, sample_weight: Any, run: Run, goes_on: bool) -> Self:
        stated = self._stated((X, y, sample_weight), run, goes_on, float(self.lam))
        self._finish(stated, self._solve(stated.problem, stated.names, run, goes_on, stated.told), run)
        return self

    def _finish(self, stated: Stated, fits: list[Fit], run: Run) -> None:
        problem = stated.problem
        self._centre = problem.centre
        self._set(problem, [with_rounded_bias(problem, fit, run) for fit in fits], stated.labels, run)
        if not run.one_pass:
            warn_far_from_zero(problem, self.dual_objective_)

    def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> Stated:
        """The problem of a fit that goes on from nothing."""
        return self._stated((X, y, sample_weight), run, False, lam)

    def _stated(self, given: tuple[Any, Any, Any], run: Run, goes_on: bool, lam: float) -> Stated:
        data, labels = self._read(*given[:2], run, reset=not goes_on, numeric=True)
        numbers = np.require(labels, dtype=np.float64, requirements=["C", "A"])

        def weights_of(sample_weight: Any) -> Weights:
            return Weights.of(row_weights(sample_weight, None, None, len(numbers)), len(numbers))

        weights = weights_of(given[2])
        centre = self._centre_of(numbers, weights, run.one_pass and goes_on)
        problem = Problem(
            data,
            minus(numbers, centre),
            weights,
            lam,
            losses.bound_loss(self.loss, epsilon=float(self.epsilon)),
            self.bias,
            centre=centre,
        )
        check_targets(problem)
        told = Told(*given, lambda weights: self._shaped(problem, weights))
        return Stated(problem, [""], np.empty(0), {}, told, weights_of)

    def _centre_of(self, numbers: Floats, weights: Weights, same: bool) -> float:
        """Where a free bias starts, so that numbers far from zero are like others; the `same` as before, or new."""
        if self.bias != "free":
            return 0.0
        return float(getattr(self, "_centre", 0.0)) if same else median(numbers, weights.s)

    def _shaped(self, problem: Problem, weights: list[Floats]) -> dict[str, Any]:
        w = problem.models(weights)
        return {"coef_": w[0, :-1].copy(), "intercept_": float(w[0, -1])}
