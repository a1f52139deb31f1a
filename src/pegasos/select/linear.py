"""Linear models that choose their lam."""

from __future__ import annotations

from typing import Any

from .. import words
from ..estimators.linear import PegasosClassifier
from ..estimators.regression import PegasosRegressor
from ..rules import OneOf, OrNone
from .linear_base import LINEAR_SEARCH_RULES, LinearSearch
from .probabilities import Probabilities


class PegasosClassifierCV(Probabilities, LinearSearch, PegasosClassifier):
    """`PegasosClassifier` that chooses lam by cross-validation, with less work than a grid.

    Folds are weights of zero over the same rows, nothing is copied. lam falls, and every fit begins with the dual
    variables of those before; where held-out scores clearly fall with it, smaller ones are left out. Fits of folds are
    rough at first; those of the chosen lam are as exact as `tol`. `exact_` says which are, `gaps_` how exact each is.

    Parameters
    ----------
    lams : int or array-like, default=10
        The values to choose from, or how many: spaced evenly on a logarithmic scale over five decades, down from a
        largest one that follows from the data. For the hinge without a free bias that is the largest y_i <v, x_i>,
        v = sum s y x / sum s, above which a model is only scaled; otherwise the one at which no model is more than 1 %
        better than the best constant.
    cv : int, splitter or iterable, default=5
        As in GridSearchCV: a number of (stratified) folds, a splitter of scikit-learn, or pairs of row numbers.
    scoring : str, callable or None, default=None
        As in GridSearchCV; None: accuracy, where rows count by their weight in the fit, that of their class included.
        Scorers that scikit-learn has a name for get `sample_weight`.
    rule : {"best", "one_standard_error"}, default="best"
        The lam with the best mean score, the largest if several, or the largest lam whose score is within one standard
        error of it.
    refit : bool, default=True
        Whether a model is fitted to all rows with the chosen lam; it has the bytes of ``PegasosClassifier(lam=lam_)``.
    stop_early : bool, default=True
        Whether to spend less on what is worse. With 1,000 rows and more, fits of folds then begin roughly, to a gap of
        0.05 f(0) or a tenth of what the best constant loses, but for numbers; those of the best lam are fitted to
        `tol`, and so are those of any other that is no farther behind than 0.2 times its gap. The search ends two steps
        and more below the best lam if scores have fallen twice, and by more than two standard errors of the difference.
        That is no proof: `stopped_early_` says that some lams were left out, with NaN in `scores_`, or left rough, see
        `exact_`. False: every fit is as exact as `tol`;
        and so are those of one or two folds, and where `rule` is "one_standard_error".
    score_bounds : bool, default=False
        Whether to compute `score_bounds_`: what the gaps prove of the scores that the optimum of each fold would have.
        Needs scoring=None and a bias that is not free. Small gaps prove more: stop_early=False, and a small `tol`.
    probability : {"sigmoid", "isotonic"} or None, default=None
        Probabilities for `predict_proba` from the scores of held-out rows at the chosen lam: Platt's sigmoid, or
        scikit-learn's IsotonicRegression, for each class; no further fits.
    loss, bias, class_weight, costs, tol, max_epochs, max_time, solver, n_jobs, random_state
        As in `PegasosClassifier`. `max_time` is for all fits together. No result depends on `n_jobs`.
    verbose : int, default=0
        1 prints a line per lam with the time left, and one per certificate of the last fit.

    Attributes
    ----------
    lam_ : float
        The chosen one.
    lams_ : ndarray of shape (n_lams,)
        Falling.
    scores_, train_scores_ : ndarray of shape (n_folds, n_lams)
        Scores of held-out rows and of those trained on: facts about the models that were fitted, nothing is estimated.
    gaps_ : ndarray of shape (n_folds, n_lams)
        How far from its minimum the objective of each fit can be at most; the largest over classes.
    exact_ : ndarray of bool, shape (n_folds, n_lams)
        Which fits have met `tol`; those of the chosen lam have, unless a warning says that they could not.
    objectives_, n_support_ : ndarray of shape (n_folds, n_lams)
        The objective that each fit has reached, the mean over classes, and the number of rows that w is made of (NaN
        where the solver has no dual variables).
    score_bounds_ : ndarray of shape (n_folds, n_lams, 2)
        With score_bounds=True: the lowest and the highest accuracy on held-out rows that the true optimum may have.
    n_undecided_ : ndarray of shape (n_folds, n_lams)
        With score_bounds=True: held-out rows whose class the gap does not settle; often most.
    best_index_, best_score_ : int, float
        The place of `lam_` in `lams_`, and its mean score.
    stopped_early_ : bool
        Whether some lams were left out, or their folds left less exact than `tol`.
    n_splits_ : int
        Number of folds.
    cv_results_ : dict
        As GridSearchCV has it, but for the times.
    coef_, intercept_, classes_, objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        Of the model that was fitted to all rows, as in `PegasosClassifier`.

    See Also
    --------
    lam_path : The models themselves.

    Notes
    -----
    Ctrl-C leaves the scores of all fits that were finished, and says which were not.

    Examples
    --------
    >>> from pegasos import PegasosClassifierCV, datasets
    >>> X, y = datasets.make_binary(500, 20, random_state=0)
    >>> model = PegasosClassifierCV([1e-1, 1e-2, 1e-3]).fit(X, y)
    >>> model.lam_ in model.lams_, model.scores_.shape
    (True, (5, 3))
    """

    _rules = {  # noqa: RUF012  # read only
        **{name: rule for name, rule in PegasosClassifier._rules.items() if name not in ("lam", "warm_start")},
        **LINEAR_SEARCH_RULES,
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
        score_bounds: bool = False,
        probability: words.Calibration = None,
        loss: words.OfClasses = "hinge",
        bias: words.HingeBias = "regularized",
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
        self.score_bounds = score_bounds
        self.probability = probability
        self.loss = loss
        self.bias = bias
        self.class_weight = class_weight
        self.costs = costs
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class PegasosRegressorCV(LinearSearch, PegasosRegressor):
    """`PegasosRegressor` that chooses lam by cross-validation, with less work than a grid.

    Parameters
    ----------
    lams, cv, scoring, rule, refit, stop_early, score_bounds
        As in `PegasosClassifierCV`; scoring=None is R^2.
    loss, epsilon, bias, tol, max_epochs, max_time, solver, n_jobs, random_state, verbose
        As in `PegasosRegressor`.

    Attributes
    ----------
    lam_, lams_, scores_, train_scores_, gaps_, exact_, objectives_, n_support_, best_index_, best_score_, \
stopped_early_, n_splits_, cv_results_, score_bounds_
        As in `PegasosClassifierCV`.
    coef_, intercept_, objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        Of the model that was fitted to all rows, as in `PegasosRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import PegasosRegressorCV
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = PegasosRegressorCV(bias="free").fit(X, X @ [1.0, 2.0] + 3.0)
    >>> bool(model.best_score_ > 0.99)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **{name: rule for name, rule in PegasosRegressor._rules.items() if name not in ("lam", "warm_start")},
        **LINEAR_SEARCH_RULES,
    }

    def __init__(
        self,
        lams: Any = 10,
        cv: Any = 5,
        scoring: Any = None,
        rule: words.SearchRule = "best",
        refit: bool = True,
        stop_early: bool = True,
        score_bounds: bool = False,
        loss: words.OfNumbers = "epsilon_insensitive",
        epsilon: float = 0.1,
        bias: words.Bias = "regularized",
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
        self.score_bounds = score_bounds
        self.loss = loss
        self.epsilon = epsilon
        self.bias = bias
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
