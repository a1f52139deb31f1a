"""Kernel models behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import losses, words
from ..losses.costs import loss_of_classes
from ..problem.labels import check_classes, encode
from ..problem.pairs import class_scores, pairs_of, votes
from ..problem.problem import Floats, Problem, Weights
from ..problem.weights import row_weights, warn_of_strange_classes
from ..progress import all_or_nothing, with_callbacks
from ..rules import OneOf
from ..solvers.base import Run
from .kernel_base import KERNEL_RULES, KernelModel, KernelStated
from .scores import Answers, in_parts


class KernelPegasosClassifier(Answers, KernelModel):
    """Support vector machine with a kernel, with a bound on how far from the optimum it can be.

    Minimises ``lam/2 ||w||^2 + mean_i loss(<w, phi(x_i)> + b, y_i)`` where ``<phi(x), phi(z)> = k(x, z)``.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty. From scikit-learn's SVC: ``lam = 1 / (C * n_rows)``.
    loss : {"hinge", "squared_hinge", "log"}, default="hinge"
        The loss of a row: max(0, 1 - z), its square, or log(1 + exp(-z)), where z = y (<w, phi(x)> + b).
    kernel : str or callable, default="rbf"
        "linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2", "precomputed", or a function that takes two
        blocks of rows and returns the kernel value of each pair, as an array or a sparse matrix. Only the function
        looks at rows that are no numbers: X may then be a list of strings, or of any objects.
    gamma : {"scale", "auto"} or float, default="scale"
        Of rbf, poly, sigmoid, laplacian and chi2. "scale" is ``1 / (n_features * X.var())``, "auto" ``1 / n_features``.
    degree : float, default=3
        Of poly.
    coef0 : float, default=0.0
        Of poly and sigmoid.
    kernel_params : dict or None, default=None
        For a function: what it is called with besides. For a function and "precomputed", ``{"psd": True}`` says that
        the kernel is positive semi-definite; without it there is no bound, and `gap_` is NaN.
    cache_mb : float, default=1000
        Megabytes for kernel values. Memory does not grow beyond it, whatever the number of rows.
    bias : {"none", "regularized", "free"}, default="none"
        "none" as in the paper. "regularized" adds 1 to the kernel. "free" does not penalise b, as in SVC.
    multi_class : {"ovr", "ovo"}, default="ovr"
        What more than two classes are: "ovr" fits each against the rest, "ovo" each against each other one on the rows
        of the two, as SVC does, which is faster with many classes. f is then that of a pair, with ``lam * S / S_pair``
        in place of `lam`, where S and S_pair are the weights of all rows and of the pair's: for
        ``lam = 1 / (C * n_rows)``, n_rows being all rows, the pairs are exactly those of SVC.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with `sample_weight`.
    costs : None
        Costs belong to the joint losses of `PegasosClassifier`; any are refused.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f(0)``; f(0), the objective of the zero model, is 1 for the hinge.
    max_epochs : float, default=1000
        Stop after as many visits to rows as this many passes have.
    max_time : float or None, default=None
        Stop after this many seconds. The result then depends on the speed of the machine.
    solver : {"auto", "sdca", "pegasos"} or Auto, SDCA, Pegasos, LASVM, default="auto"
        "auto" solves working sets of the rows that matter, "sdca" visits one row after the other, "pegasos" is Fig. 3
        of the paper, with the parameters of `Pegasos` but for `start`, `advance` and output="best". ``LASVM()`` is the
        online method of the literature, for the hinge without a free bias.
    warm_start : bool, default=False
        Whether `fit` goes on from the last one, on the same rows. `lam` and other parameters may have changed.
    n_jobs : int or None, default=None
        Threads; None for one, -1 for all cores. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows; None as in `PegasosClassifier`.
    verbose : int, default=0
        1 prints a line per certificate.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Rows with a part in w, of any class.
    support_vectors_ : ndarray or sparse matrix of shape (n_support, n_features)
        Copies of these rows; without columns for "precomputed".
    dual_coef_ : ndarray of shape (1, n_support), (n_classes, n_support) or (n_pairs, n_support)
        Their coefficients: a row scores ``sum_j dual_coef_j k(x_j, x) + intercept_``. Pairs are in the order (0, 1),
        (0, 2), ..., (1, 2), ... of `classes_`; a score above zero speaks for the second of the two.
    intercept_ : ndarray of shape (1,), (n_classes,) or (n_pairs,)
        Bias.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in `fit`.
    objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        As in `PegasosClassifier`, with one entry a pair for "ovo"; the class in `history_` then names the pair, as in
        "a vs b". For a kernel that may not be positive semi-definite `dual_objective_` and `gap_` are
        NaN, and `converged_` says whether a stationary point was reached.
    n_kernel_evaluations_ : int
        Kernel values computed by the fit.

    Notes
    -----
    More than two classes share kernel values. They are float32 for problems
    of more than 2,000 rows where `tol` allows it, dual variables and scores float64: see the documentation on kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import KernelPegasosClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = KernelPegasosClassifier(lam=1e-3, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> bool(model.gap_ <= 1e-3)
    True
    """

    _rules = {  # noqa: RUF012  # read only
        **KERNEL_RULES,
        "loss": OneOf(tuple(losses.CLASSIFICATION)),
        "multi_class": OneOf(("ovr", "ovo")),
    }

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.ClassLoss = "hinge",
        kernel: words.Kernel = "rbf",
        gamma: words.Gamma = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        kernel_params: Mapping[str, Any] | None = None,
        cache_mb: float = 1000,
        bias: words.Bias = "none",
        multi_class: words.MultiClass = "ovr",
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
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.cache_mb = cache_mb
        self.bias = bias
        self.multi_class = multi_class
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

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on X and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows; for kernel="precomputed" the kernel matrix, of shape (n_rows, n_rows).
        y : array-like of shape (n_rows,)
            Class labels: integers, booleans or strings.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : KernelPegasosClassifier
        """
        run = self._begin()
        stated = self._open(X, y, sample_weight, run, float(self.lam))
        self._finish(stated, self._solve_kernel(stated, run), run)
        return self

    def _open(self, X: Any, y: Any, sample_weight: Any, run: Run, lam: float) -> KernelStated:
        """The problem of a fit."""
        given, goes_on = (X, y, sample_weight), self._goes_on()
        X, data, labels = self._read_rows(X, y, reset=not goes_on)
        classes, codes = encode(labels, run.threads)
        if goes_on and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}. Set "
                "warm_start=False to start anew."
            )

        def weights_of(sample_weight: Any) -> Weights:
            return Weights.of(row_weights(sample_weight, self.class_weight, classes, codes), len(codes))

        weights = weights_of(sample_weight)
        warn_of_strange_classes(self.class_weight, classes)
        check_classes(classes, codes, weights.listed)
        plain = Problem(data, codes, weights, lam, loss_of_classes(self, classes), self.bias)
        in_pairs = len(classes) if self.multi_class == "ovo" and len(classes) > 2 else 0
        problem = self._with_kernel(plain, X, in_pairs)
        named = np.array([f"{classes[i]} vs {classes[k]}" for i, k in pairs_of(in_pairs)]) if in_pairs else classes
        names = [str(label) for label in named] if len(classes) > 2 else [""]
        facts = {"classes_": classes, "_loss_of_fit": self.loss, "_in_pairs": bool(in_pairs)}
        return self._stated(X, problem, given, (names, named, facts), weights_of)

    def _n_models(self) -> tuple[int, ...]:
        return (len(pairs_of(len(self.classes_))),) if self._in_pairs else super()._n_models()

    def decision_function(self, X: Any) -> Floats:
        """Scores of each row; for two classes how far the second is ahead.

        With multi_class="ovo" the score of a class is the number of pairs it wins, plus less than a third for how
        clearly it wins them.

        Returns
        -------
        scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self)
        if self._in_pairs:
            scores: Floats = self._of_pairs(X, class_scores, (len(self.classes_),), np.float64)
            return scores
        return super().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; with multi_class="ovo" the one that wins most pairs, the first of those if several.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        if self._in_pairs:
            labels: NDArray[Any] = self._of_pairs(
                X, lambda some, n: self.classes_[votes(some, n).argmax(axis=1)], (), self.classes_.dtype
            )
            return labels
        return super().predict(X)

    def _of_pairs(self, X: Any, made: Callable[[Floats, int], Any], shape: tuple[int, ...], dtype: Any) -> Any:
        """What `made` makes of the scores of pairs and the number of classes, of this shape and type for each row."""
        scores = self._scores(X)
        out = np.empty((len(scores), *shape), dtype)

        def piece(rows: slice) -> None:
            out[rows] = made(scores[rows], len(self.classes_))

        in_parts(scores.shape, self.n_jobs, piece)
        return out
