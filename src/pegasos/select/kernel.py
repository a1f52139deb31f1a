"""Kernel models that choose their lam, and parameters of their kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import words
from ..estimators.kernel import KernelPegasosClassifier
from ..estimators.kernel_regression import KernelPegasosRegressor
from ..rules import OneOf, OrNone
from .kernel_base import KERNEL_SEARCH_RULES, KernelSearch
from .probabilities import Probabilities


class KernelPegasosClassifierCV(Probabilities, KernelSearch, KernelPegasosClassifier):
    """`KernelPegasosClassifier` that chooses lam, and parameters of its kernel, by cross-validation.

    One kernel matrix serves all folds and values of lam: a row that is held out has weight zero. lam falls, and every
    fit begins with the dual variables and scores of the one before. Every fit is as exact as `tol` asks for, and
    `gaps_` proves it.

    Parameters
    ----------
    lams, cv, scoring, rule, refit, stop_early, probability
        As in `PegasosClassifierCV`. The largest lam is looked for in a thousand rows. Up to as many rows as a kernel
        matrix within `cache_mb` has (15,000 by default), the last model has the bytes of
        ``KernelPegasosClassifier(lam=lam_)``; with more it begins with the mean of the folds' models, and is as exact.
    loss, kernel, gamma, degree, coef0, kernel_params
        As in `KernelPegasosClassifier`. `gamma="scale"` is that of all rows, in the folds as well.
    kernel_grid : dict, list of dicts or None, default=None
        Parameters of the kernel to choose from, as GridSearchCV takes them: ``{"gamma": [0.01, 0.1]}``. Names are
        kernel, gamma, degree, coef0 and kernel_params. Each has a kernel matrix of its own, and its own lams where
        `lams` is a number.
    cache_mb, bias, multi_class, class_weight, costs, tol, max_epochs, max_time, solver, n_jobs, random_state, verbose
        As in `KernelPegasosClassifier`; `max_time` is for all fits together. Solvers other than "auto", and
        multi_class="ovo", start every fit anew.

    Attributes
    ----------
    lam_, lams_, scores_, train_scores_, gaps_, exact_, objectives_, n_support_, best_score_, stopped_early_, n_splits_
        As in `PegasosClassifierCV`, for the chosen kernel.
    best_params_ : dict
        `lam_`, and what was chosen from `kernel_grid`.
    best_index_ : int
        The place of `best_params_` in `cv_results_`.
    cv_results_ : dict
        As GridSearchCV has it, but for the times: all lams of the first kernel, then those of the next.
    support_, support_vectors_, dual_coef_, intercept_, classes_, objective_, dual_objective_, gap_, converged_, \
n_iter_, n_steps_, history_, n_kernel_evaluations_
        Of the model that was fitted to all rows, as in `KernelPegasosClassifier`; kernel values are those of all fits
        with its kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelPegasosClassifierCV().fit(X, X[:, 0] * X[:, 1] > 0)
    >>> bool(model.best_score_ > 0.9)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **{name: rule for name, rule in KernelPegasosClassifier._rules.items() if name not in ("lam", "warm_start")},
        **KERNEL_SEARCH_RULES,
        "probability": OrNone(OneOf(("sigmoid", "isotonic"))),
    }

    def __init__(
        self,
        lams: Any = 10,
        cv: Any = 5,
        scoring: Any = None,
        rule: words.SearchRule = "best",
        refit: bool = True,
        stop_early: bool = True,
        probability: words.Calibration = None,
        loss: words.ClassLoss = "hinge",
        kernel: words.Kernel = "rbf",
        gamma: words.Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: Mapping[str, Any] | None = None,
        kernel_grid: Any = None,
        cache_mb: float = 1000,
        bias: words.Bias = "none",
        multi_class: words.MultiClass = "ovr",
        class_weight: words.ClassWeight = None,
        costs: Any = None,
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: words.Solver = "auto",
        n_jobs: int | None = None,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.stop_early = stop_early
        self.probability = probability
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.kernel_grid = kernel_grid
        self.cache_mb = cache_mb
        self.bias = bias
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.costs = costs
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class KernelPegasosRegressorCV(KernelSearch, KernelPegasosRegressor):
    """`KernelPegasosRegressor` that chooses lam, and parameters of its kernel, by cross-validation.

    Parameters
    ----------
    lams, cv, scoring, rule, refit, stop_early, kernel_grid
        As in `KernelPegasosClassifierCV`; scoring=None is R^2.
    loss, epsilon, kernel, gamma, degree, coef0, kernel_params, cache_mb, bias, tol, max_epochs, max_time, solver, \
n_jobs, random_state, verbose
        As in `KernelPegasosRegressor`.

    Attributes
    ----------
    lam_, lams_, scores_, train_scores_, gaps_, exact_, objectives_, n_support_, best_score_, best_params_, \
best_index_, stopped_early_, n_splits_, cv_results_
        As in `KernelPegasosClassifierCV`.
    support_, support_vectors_, dual_coef_, intercept_, objective_, dual_objective_, gap_, converged_, n_iter_, \
n_steps_, history_, n_kernel_evaluations_
        Of the model that was fitted to all rows, as in `KernelPegasosRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> model = KernelPegasosRegressorCV(epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(model.best_score_ > 0.9)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **{name: rule for name, rule in KernelPegasosRegressor._rules.items() if name not in ("lam", "warm_start")},
        **KERNEL_SEARCH_RULES,
    }

    def __init__(
        self,
        lams: Any = 10,
        cv: Any = 5,
        scoring: Any = None,
        rule: words.SearchRule = "best",
        refit: bool = True,
        stop_early: bool = True,
        loss: words.NumberLoss = "epsilon_insensitive",
        epsilon: float = 0.1,
        kernel: words.Kernel = "rbf",
        gamma: words.Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: Mapping[str, Any] | None = None,
        kernel_grid: Any = None,
        cache_mb: float = 1000,
        bias: words.Bias = "none",
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: words.Solver = "auto",
        n_jobs: int | None = None,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.lams = lams
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.refit = refit
        self.stop_early = stop_early
        self.loss = loss
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.kernel_grid = kernel_grid
        self.cache_mb = cache_mb
        self.bias = bias
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
