"""Kernel regression within a tube."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from .. import losses, words
from ..problem.problem import Problem, Weights
from ..problem.targets import warn_far_from_zero
from ..problem.weights import row_weights
from ..progress import all_or_nothing, with_callbacks
from ..rules import Number, OneOf
from ..solvers.base import Fit, Run
from .kernel_base import KERNEL_RULES, KernelModel, KernelStated


class KernelPegasosRegressor(RegressorMixin, KernelModel):  # type: ignore[misc]  # no type hints there
    """Support vector regression with a kernel, with a bound on how far from the optimum it can be.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty. From scikit-learn's SVR: ``lam = 1 / (C * n_rows)``.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        max(0, \\|score - y\\| - epsilon), or its square.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, in units of y.
    kernel, gamma, degree, coef0, kernel_params, cache_mb, bias
        As in `KernelPegasosClassifier`.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f``, where f is the mean loss of the best constant (of the zero model with
        bias="none").
    max_epochs, max_time, solver, warm_start, n_jobs, random_state, verbose
        As in `KernelPegasosClassifier`.

    Attributes
    ----------
    support_, support_vectors_, n_kernel_evaluations_
        As in `KernelPegasosClassifier`.
    dual_coef_ : ndarray of shape (1, n_support)
        Coefficients of the support vectors.
    intercept_ : ndarray of shape (1,)
        Bias.
    objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        As in `PegasosRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> bool(KernelPegasosRegressor(lam=1e-3, epsilon=0.01).fit(X, np.sin(X[:, 0])).converged_)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **KERNEL_RULES,
        "loss": OneOf(tuple(losses.REGRESSION)),
        "epsilon": Number(0.0),
    }

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.NumberLoss = "epsilon_insensitive",
        epsilon: float = 0.1,
        kernel: words.Kernel = "rbf",
        gamma: words.Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: Mapping[str, Any] | None = None,
        cache_mb: float = 1000,
        bias: words.Bias = "none",
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cache_mb = cache_mb
        self.bias = bias
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X and the numbers y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows; for kernel="precomputed" the kernel matrix, of shape (n_rows, n_rows).
        y : array-like of shape (n_rows,)
            The numbers to predict.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : KernelPegasosRegressor
        """
        run = self._begin()
        stated = self._open(X, y, sample_weight, run, float(self.lam))
        self._finish(stated, self._solve_kernel(stated, run), run)
        return self

    def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> KernelStated:
        """The problem of a fit."""
        given = X, y, sample_weight
        X, data, y = self._read_rows(X, y, reset=not self._goes_on(), numeric=True)
        numbers = np.require(y, dtype=np.float64, requirements=["C", "A"])

        def weights_of(sample_weight: Any) -> Weights:
            return Weights.of(row_weights(sample_weight, None, None, len(numbers)), len(numbers))

        loss = losses.bound_loss(self.loss, epsilon=float(self.epsilon))
        plain = Problem(data, numbers, weights_of(sample_weight), lam, loss, self.bias)
        return self._stated(X, self._with_kernel(plain, X), given, ([""], np.empty(0), {}), weights_of)

    def _finish(self, stated: KernelStated, fits: list[Fit], run: Run) -> None:
        super()._finish(stated, fits, run)
        warn_far_from_zero(stated.problem, self.dual_objective_)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Scores of each row.

        Returns
        -------
        numbers : ndarray of shape (n_rows,)
        """
        return self._scores(X)[:, 0]

    def _n_models(self) -> tuple[int, ...]:
        return (1,)
