"""Linear models behind scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core, losses, words
from ..losses.costs import loss_of_classes
from ..problem.data import Data
from ..problem.labels import Codes, check_classes, encode, known_classes
from ..problem.problem import Problem, Weights
from ..problem.weights import row_weights, warn_of_strange_classes
from ..progress import Told, all_or_nothing, with_callbacks
from ..rules import LossNamed, OneOf
from ..solvers.base import Fit, Run
from .base import RULES, Stated
from .linear_base import LinearModel, OwnLabels
from .scores import Answers

if TYPE_CHECKING:
    from ..io.stored import StoredData

Given = tuple[Any, Any, Any]  # X, y and sample_weight as they came


class PegasosClassifier(OwnLabels, Answers, LinearModel):
    """Linear support vector machine, with a bound on how far from the optimum it can be.

    Minimises ``lam/2 ||w||^2 + mean_i loss(<w, x_i> + b, y_i)``. When `fit` returns, ``objective_`` is the value
    reached and ``gap_`` is a proven upper bound on its distance from the smallest possible one.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty. From scikit-learn: ``lam = 1 / (C * n_rows)`` for SVC and LinearSVC,
        ``lam = alpha`` for SGDClassifier.
    loss : {"hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"} or Loss, default="hinge"
        The loss of a row: max(0, 1 - z), its square, or log(1 + exp(-z)), where z = y (<w, x> + b); more than two
        classes are fitted one against the rest. The last two train all classes together, one vector of weights a
        class: max_r (costs[y, r] + s_r) - s_y and log(sum_r exp(s_r)) - s_y with the scores s_r = <w_r, x> + b_r.
        A loss of your own: see `Loss`.
    bias : {"regularized", "free", "batch", "search", "none"}, default="regularized"
        "regularized" gives every row a constant feature of 1, so that b is part of w and of the penalty. "free" does
        not penalise b, as in SVC: exact with "auto" and "sdca", while Pegasos gives b steps of its own, 1/sqrt(t) long.
        "batch" and "search" are two other ways of Pegasos to the same problem: each batch of k > 1 rows with the b that
        suits it best, which stays off the minimum for small k however long it trains; or a search for b around fits
        with b held fixed, which share `max_epochs` (with T: each begins with T steps). All three end with the
        exact b over all rows, in `partial_fit` with the running one. "none" keeps b at 0. "batch" and "search" are for
        the hinge. The losses that train all classes together have one b a class, "regularized", "free" or "none"; with
        "free" Pegasos returns the running ones.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with `sample_weight`; 1 for classes that a dict does not name, and it may name
        some that are not in y. "balanced" gives every class the same total weight.
    costs : array-like of shape (n_classes, n_classes), dict, DataFrame or None, default=None
        For loss="multiclass_hinge": what it costs to answer the class of column r where that of row y is right, both in
        the order of ``classes_``. Not negative, zero on the diagonal. A dict ``{(y, r): cost}`` names pairs of classes,
        others cost 1; a frame has the classes in its index and columns. Both may name classes that are not in y, as in
        a fold without a rare one. None: 1 for every wrong answer, the loss of Crammer and Singer.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f(0)``; f(0), the objective of the zero model, is 1 for the hinge.
    max_epochs : float, default=1000
        Stop after this many passes over the rows. 0: the start, zero or that of `warm_start`, with its certificate.
    max_time : float or None, default=None
        Stop after this many seconds. The result then depends on the speed of the machine: it is not reproducible.
    solver : {"auto", "sdca", "pegasos"} or Auto, SDCA, Pegasos, default="auto"
        The method. "auto" starts as Pegasos, goes on as SDCA and ends with second-order methods where that is cheaper.
        ``solver=Pegasos(k=100)`` sets parameters of the method, ``solver__k`` searches over them.
    warm_start : bool, default=False
        Whether `fit` goes on from the current weights and step number. If `lam` changed, both are kept.
    n_jobs : int or None, default=None
        Threads of a fit, over the classes when there are more than two, and of predictions; None for one, -1 for all
        cores. Neither model nor predictions depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows. The same int gives the same bytes. None: the same bytes, too, with "auto" and
        "sdca", and another order every time with Pegasos, as in SGDClassifier.
    verbose : int, default=0
        1 prints a line per certificate.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights, float64. One row for two classes, two rows where the loss trains all classes together.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Bias.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had string column names.
    objective_, dual_objective_, gap_ : float or ndarray of shape (n_classes,)
        f(w) of the returned weights, a lower bound on its minimum, and their difference. One per class where classes
        are fitted one against the rest. NaN where there is none, after `partial_fit` for example.
    converged_ : bool
        Whether every gap is at most ``tol * f(0)``.
    n_iter_ : float or ndarray of shape (n_classes,)
        Epochs of the last fit, perhaps fractional.
    n_steps_ : int or ndarray of shape (n_classes,)
        Steps taken in all, t in the papers.
    n_replicas_ : int
        Copies of the weights in which coordinate ascent has worked, see `Auto`; not there with other solvers.
    label_seconds_ : float
        Seconds that `fit` took to encode y, with ``solver=Pegasos(certify=False)``.
    history_ : dict of ndarray
        "seconds", "steps", "objective", "dual", "gap" of each certificate, and "class" with more than two classes.

    See Also
    --------
    Pegasos : The solver and its parameters.

    Notes
    -----
    The losses that train all classes together keep 8 bytes per row and class while they train (115 MB for 721,000 rows
    and 20 classes), and as much afterwards with `warm_start`; one against the rest keeps 8 bytes per row.

    Weights: ``f(w) = lam/2 ||w||^2 + sum_i s_i loss_i /
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
        **RULES,
        "loss": LossNamed((*losses.CLASSIFICATION, *losses.JOINT)),
        "bias": OneOf(("regularized", "free", "batch", "search", "none")),
    }

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.OfClasses = "hinge",
        bias: words.HingeBias = "regularized",
        class_weight: words.ClassWeight = None,
        costs: Any = None,
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

    @overload
    def fit(self, X: StoredData, y: None = None, sample_weight: Any = None) -> Self: ...

    @overload
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self: ...

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X and y.

        Parameters
        ----------
        X : array-like, sparse matrix or `open_data` of shape (n_rows, n_features)
            float32 and float64 arrays in C order and CSR matrices are used as they are, without a copy. Rows of a file
            that `open_data` has opened stay there.
        y : array-like of shape (n_rows,)
            Class labels: integers, booleans or strings. None where `open_data` has them.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : PegasosClassifier
        """
        run = self._begin()
        goes_on = self.warm_start and hasattr(self, "coef_")
        data, labels = self._read(X, y, run, reset=not goes_on)
        began = run.seconds()
        classes, codes = encode(labels, run.threads)
        if not getattr(data, "is_checked", True):  # else it would be one number more that differs in every fit
            self.label_seconds_ = run.seconds() - began
        if goes_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}. Set "
                "warm_start=False to start anew."
            )
        return self._train(data, classes, codes, (X, y, sample_weight), run, goes_on)

    @with_callbacks
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over the given rows, going on from the current weights and step number.

        Takes Pegasos steps, with the parameters of the solver if that is a `Pegasos` object and its defaults otherwise;
        ``Pegasos(output="average")`` averages over all calls. A stream begins with shorter steps, 1/(lam (t + t0)) with
        t0 = R^2/lam, where R^2 is the mean squared length of its first rows. After a `fit` by another solver, and with
        another `lam`, steps go on with the number t, or with R^2/lam where that is larger; a fit by Pegasos goes on
        with its own. Ignores `tol`, `max_epochs` and the solver's T, never warns, and sets `gap_` to NaN: a bound would
        need the rows of earlier calls. A last batch with fewer than k rows counts as a step.

        Parameters
        ----------
        X : array-like, sparse matrix or `open_data` of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,)
            Their labels; None where `open_data` has them.
        classes : array-like of shape (n_classes,), default=None
            Every label that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row.

        Returns
        -------
        self : PegasosClassifier
        """
        run = self._begin(one_pass=True)
        goes_on = hasattr(self, "coef_")
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ValueError(
                "class_weight='balanced' needs all rows at once and cannot serve partial_fit; pass a dict of weights."
            )
        data, labels = self._read(X, y, run, reset=not goes_on)
        known = known_classes(classes, self.classes_ if goes_on else None)
        seen, codes = encode(labels, run.threads)
        place = np.searchsorted(known, seen)
        strange = [c for c, i in zip(seen, place, strict=True) if i == len(known) or known[i] != c]
        if strange:
            raise ValueError(
                f"y has the labels {np.array(strange).tolist()!r}, which are not in classes={known.tolist()!r}."
            )
        if len(place) < len(known):
            codes = np.array(codes)  # those of a file are not to be written to
            _core.relabel(codes, place.astype(np.int32))
        return self._train(data, known, codes, (X, y, sample_weight), run, goes_on)

    def _train(
        self,
        data: Data,
        classes: NDArray[Any],
        codes: Codes,
        given: Given,
        run: Run,
        goes_on: bool,
    ) -> Self:
        stated = self._stated(data, classes, codes, given, run, float(self.lam))
        fits = self._solve(stated.problem, stated.names, run, goes_on, stated.told)
        self._finish(stated, fits, run)
        return self

    def _finish(self, stated: Stated, fits: list[Fit], run: Run) -> None:
        self._take(stated.facts)
        self._set(stated.problem, fits, stated.labels, run)

    def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> Stated:
        """The problem of a fit that goes on from nothing."""
        data, labels = self._read(X, y, run, reset=True)
        return self._stated(data, *encode(labels, run.threads), (X, y, sample_weight), run, lam)

    def _stated(self, data: Data, classes: NDArray[Any], codes: Codes, given: Given, run: Run, lam: float) -> Stated:
        def weights_of(sample_weight: Any) -> Weights:
            return Weights.of(row_weights(sample_weight, self.class_weight, classes, codes), len(codes))

        weights = weights_of(given[2])
        warn_of_strange_classes(self.class_weight, classes)
        check_classes(classes, codes, weights.listed if not run.one_pass else None)
        loss = loss_of_classes(self, classes)
        problem = Problem(data, codes, weights, lam, loss, self.bias)
        names = [str(label) for label in classes] if len(classes) > 2 and not loss.joint else [""]
        facts = {"classes_": classes, "_loss_of_fit": self.loss}
        told = Told(*given, lambda weights: self._shaped(problem, weights) | facts)
        return Stated(problem, names, classes, facts, told, weights_of)
