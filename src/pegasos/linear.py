"""Linear models behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from . import _core, losses
from ._labels import Codes, encode
from ._model import LinearModel
from ._problem import Floats, Problem, Stop, Weights
from ._progress import with_callbacks
from ._rules import LAM, Exactly, Flag, Integer, Level, Number, OneOf, OrNone
from ._weights import row_weights


def _has_chances(estimator: Any) -> bool:
    return bool(estimator.loss == "log")


class PegasosClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """Linear support vector machine, with a bound on how far from the optimum it can be.

    Minimises ``lam/2 ||w||^2 + mean_i loss(<w, x_i> + b, y_i)``. When `fit` returns, ``objective_`` is the value
    reached and ``gap_`` is a proven upper bound on its distance from the smallest possible one.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty. From scikit-learn: ``lam = 1 / (C * n_rows)`` for SVC and LinearSVC,
        ``lam = alpha`` for SGDClassifier.
    loss : {"hinge", "squared_hinge", "log"}, default="hinge"
        The loss of a row: max(0, 1 - z), its square, or log(1 + exp(-z)), where z = y (<w, x> + b).
    bias : {"regularized", "free", "batch", "search", "none"}, default="regularized"
        "regularized" gives every row a constant feature of 1, so that b is part of w and of the penalty. "free" does
        not penalise b, as in SVC: exact with "auto" and "sdca", while Pegasos gives b steps of its own, 1/sqrt(t) long.
        "batch" and "search" are two other ways of Pegasos to the same problem: each batch of k > 1 rows with the b that
        suits it best, which stays off the minimum for small k however long it trains; or a search for b around fits
        with b held fixed, eight trials that share `max_epochs` (with T: trials of T steps each). All three end with the
        exact b over all rows, in `partial_fit` with the running one. "none" keeps b at 0.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with `sample_weight`. "balanced" gives every class the same total weight.
    costs : None
        Reserved for joint multi-class losses.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f(0)``; f(0), the objective of the zero model, is 1 for the hinge.
    max_epochs : float, default=1000
        Stop after this many passes over the rows.
    max_time : float or None, default=None
        Stop after this many seconds. The result then depends on the speed of the machine: it is not reproducible.
    solver : {"auto", "sdca", "pegasos"} or Auto, SDCA, Pegasos, default="auto"
        The method. "auto" starts as Pegasos, goes on as SDCA and ends with Newton's method where that is cheaper.
        ``solver=Pegasos(k=100)`` sets parameters of the method, ``solver__k`` searches over them.
    warm_start : bool, default=False
        Whether `fit` goes on from the current weights and step number. If `lam` changed, both are kept.
    n_jobs : int or None, default=None
        Threads over the classes when there are more than two; -1 for all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows. The same int gives the same bytes.
    verbose : int, default=0
        1 prints a line per certificate.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, float64.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Bias.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string column names.
    objective_, dual_objective_, gap_ : float or ndarray of shape (n_classes,)
        f(w) of the returned weights, a lower bound on its minimum, and their difference. One per class with more than
        two classes. NaN where there is none, after `partial_fit` for example.
    converged_ : bool
        Whether every gap is at most ``tol * f(0)``.
    n_iter_ : float or ndarray of shape (n_classes,)
        Epochs of the last fit, perhaps fractional.
    n_steps_ : int or ndarray of shape (n_classes,)
        Steps taken in all, t in the papers.
    history_ : dict of ndarray
        "seconds", "steps", "objective", "dual", "gap" of each certificate, and "class" with more than two classes.

    See Also
    --------
    Pegasos : The solver and its parameters.

    Notes
    -----
    More than two classes are fitted one against the rest. Weights: ``f(w) = lam/2 ||w||^2 + sum_i s_i loss_i /
    sum_i s_i`` with ``s_i = sample_weight_i * class_weight[y_i]``; a weight of 2 has the optimum of the row twice, a
    weight of 0 that of no row. With one-vs-rest, ``class_weight`` is that of the row's own class.

    Ctrl-C stops a fit within a tenth of a second; the attributes then hold the weights of that moment.

    Examples
    --------
    >>> from pegasos import PegasosClassifier, datasets
    >>> X, y = datasets.make_binary(1000, 20, random_state=0)
    >>> model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, y)
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        "lam": LAM,
        "loss": OneOf(tuple(losses.CLASSIFICATION), later=("multiclass_hinge", "multinomial")),
        "bias": OneOf(("regularized", "free", "batch", "search", "none")),
        "costs": Exactly(None),
        "tol": Number(0.0),
        "max_epochs": Number(0.0, above=True),
        "max_time": OrNone(Number(0.0, above=True)),
        "warm_start": Flag(),
        "n_jobs": OrNone(Integer(None)),
        "verbose": Level(),
    }

    def __init__(
        self,
        lam: float = 1e-4,
        loss: str = "hinge",
        bias: str = "regularized",
        class_weight: Mapping[Any, float] | str | None = None,
        costs: Any = None,
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.bias = bias
        self.class_weight = class_weight
        self.costs = costs
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            float32 and float64 arrays in C order and CSR matrices are used as they are, without a copy.
        y : array-like of shape (n_rows,)
            Class labels: integers, booleans or strings.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : PegasosClassifier
        """
        stop = self._stop()
        goes_on = self.warm_start and hasattr(self, "coef_")
        rows, labels = self._read(X, y, reset=not goes_on)
        classes, codes = encode(labels)
        if goes_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}. Set "
                "warm_start=False to start anew."
            )
        return self._train(rows, classes, codes, sample_weight, stop, goes_on)

    @with_callbacks  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over the given rows, going on from the current weights and step number.

        Takes Pegasos steps, with the parameters of the solver if that is a `Pegasos` object and its defaults otherwise.
        Ignores `tol`, `max_epochs` and the solver's T, never warns, and sets `gap_` to NaN: a bound would need the
        rows of earlier calls. A last batch with fewer than k rows counts as a step.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            Every label that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row.

        Returns
        -------
        self : PegasosClassifier
        """
        stop = self._stop(one_pass=True)
        goes_on = hasattr(self, "coef_")
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once and cannot serve partial_fit; pass a dict of weights."
            )
        rows, labels = self._read(X, y, reset=not goes_on)
        known = self._known_classes(classes, goes_on)
        seen, codes = encode(labels)
        place = np.searchsorted(known, seen)
        strange = [c for c, i in zip(seen, place, strict=True) if i == len(known) or known[i] != c]
        if strange:
            raise ValueError(
                f"y has the labels {np.array(strange).tolist()!r}, which are not in classes={known.tolist()!r}."
            )
        _core.relabel(codes, place.astype(np.int32))
        return self._train(rows, known, codes, sample_weight, stop, goes_on)

    def decision_function(self, X: Any) -> Floats:
        """Scores <w, x> + b of each row.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @available_if(_has_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The chance of each class, for loss="log": 1 / (1 + exp(-score)), scaled to sum to one with several classes.

        Returns
        -------
        chances : ndarray of shape (n_rows, n_classes)
        """
        scores = self.decision_function(X)
        chances = np.exp(-np.logaddexp(0.0, -scores))
        if scores.ndim == 1:
            return np.column_stack([np.exp(-np.logaddexp(0.0, scores)), chances])
        total = chances.sum(axis=1, keepdims=True)
        each: Floats = np.where(total > 0, chances / np.where(total > 0, total, 1.0), 1.0 / chances.shape[1])
        return each

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def _known_classes(self, classes: Any, goes_on: bool) -> NDArray[Any]:
        if not goes_on:
            if classes is None:
                raise ValueError("the first call of partial_fit needs classes=, every label that will ever come.")
            return self._given_classes(classes)
        if classes is not None and not np.array_equal(self._given_classes(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} differs from the classes of the first call, {self.classes_.tolist()!r}."
            )
        known: NDArray[Any] = self.classes_
        return known

    @staticmethod
    def _given_classes(classes: Any) -> NDArray[Any]:
        given = np.asarray(classes)
        if given.ndim != 1 or not given.size:
            raise ValueError(f"classes must be a list of labels, got {classes!r}.")
        return encode(given)[0]

    def _train(
        self, rows: _core.Rows, classes: NDArray[Any], codes: Codes, sample_weight: Any, stop: Stop, goes_on: bool
    ) -> Self:
        weights = Weights.of(row_weights(sample_weight, self.class_weight, classes, codes), len(codes))
        _check_classes(classes, codes, weights, stop)
        problem = Problem(rows, codes, weights, float(self.lam), self.loss, self.bias)
        names = [str(label) for label in classes] if len(classes) > 2 else [""]
        fits = self._solve(problem, names, stop, goes_on)
        self.classes_ = classes
        self._set(problem, fits, classes, stop)
        return self


def _check_classes(classes: NDArray[Any], codes: Codes, weights: Weights, stop: Stop) -> None:
    if len(classes) < 2:
        raise ValueError(
            f"a classifier needs at least 2 classes, got {len(classes)} class: {classes.tolist()!r}. Check that y "
            "holds the labels, and that the rows were not sorted by class before being cut."
        )
    if stop.one_pass or weights.listed is None:
        return
    left = np.unique(codes[weights.listed])
    if len(left) < 2:
        raise ValueError(f"only 1 class, {classes.tolist()[left[0]]!r}, has rows of positive weight; 2 are needed.")
