"""DaskPegasosClassifier."""

from __future__ import annotations

from typing import Any, Self

import dask.array as da
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from .. import losses, words
from ..estimators.linear import PegasosClassifier
from ..estimators.scores import no_probabilities
from ..estimators.typed import available_unless
from ..losses.costs import loss_of_classes
from ..problem.data import InMemory
from ..problem.labels import check_classes, encode
from ..problem.problem import Problem, Weights
from ..problem.weights import row_weights, warn_of_strange_classes
from ..progress import Told, all_or_nothing, with_callbacks
from ..rules import OneOf
from .base import SHARED_RULES, DaskModel, columns_of
from .fitting import found_classes, load_classes, read
from .inputs import source_of
from .scoring import accuracy


class DaskPegasosClassifier(ClassifierMixin, DaskModel):  # type: ignore[misc]  # scikit-learn has no type hints
    """Linear support vector machine on rows that are spread over a Dask cluster.

    The problem, the attributes and the proof are those of `PegasosClassifier`. What one machine holds, that one trains
    faster: see docs/distributed.md.

    Parameters
    ----------
    lam : float, default=1e-4
        Strength of the L2 penalty.
    loss : {"hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"}, default="hinge"
        The loss of a row. The first three fit more than two classes one against the rest.
    bias : {"regularized", "free", "none"}, default="regularized"
        Whether b is penalised as a constant feature of 1, not penalised, or kept at 0.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, multiplied with `sample_weight`.
    costs : array-like of shape (n_classes, n_classes), dict, DataFrame or None, default=None
        For loss="multiclass_hinge": what a wrong answer costs.
    tol : float, default=1e-3
        Stop when ``gap_ <= tol * f(0)``.
    max_epochs : float, default=1000
        Stop after this many visits of each row, on average.
    max_time : float or None, default=None
        Stop after this many seconds, with the last model that has a certificate.
    warm_start : bool, default=False
        Whether `fit` goes on from the dual variables of the last one. They stay on the cluster meanwhile; where the
        partitions have other sizes, or the cluster is another, it starts anew.
    random_state : int, RandomState or None, default=None
        Seed of the order of the rows. None: always the same.
    verbose : int, default=0
        1 prints a line per round.
    max_rounds : int, default=1000
        Stop after this many rounds.
    client : distributed.Client or None, default=None
        None: the one that was made last.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, feature_names_in_
        The model, as `PegasosClassifier` has it.
    objective_, dual_objective_, gap_, converged_, n_iter_, n_steps_, history_
        What is proven of it, over all rows of all partitions. `history_` has a line a round.
    n_rounds_ : int
        Rounds of the last fit, but for a pass that only takes the last certificate.
    client_ : distributed.Client
        The client that is used.

    See Also
    --------
    PegasosClassifier : For rows in the memory of one machine.

    Notes
    -----
    The model depends on the data, on the parameters and on how rows are cut into partitions, not on the workers: it has
    the same bytes for any number of them, and if some of them die on the way.

    References
    ----------
    C. Ma, V. Smith, M. Jaggi, M. I. Jordan, P. Richtarik, M. Takac, "Adding vs. averaging in distributed primal-dual
    optimization", ICML 2015.
    """

    _rules = {  # noqa: RUF012  # read only
        **SHARED_RULES,
        "loss": OneOf((*losses.CLASSIFICATION, *losses.JOINT)),
    }
    _local = PegasosClassifier

    def __init__(
        self,
        lam: float = 1e-4,
        loss: words.ClassLoss | words.JointLoss = "hinge",
        bias: words.Bias = "regularized",
        class_weight: words.ClassWeight = None,
        costs: Any = None,
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
        self.bias = bias
        self.class_weight = class_weight
        self.costs = costs
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
        """Train on all partitions of X and y.

        Parameters
        ----------
        X : dask array, dask dataframe, or list of Delayed or Future
            Rows; chunks are arrays, CSR matrices or frames, of any length. Partitions are cut along rows.
        y : dask array, series, or list of Delayed or Future
            Class labels, cut as X is.
        sample_weight : dask array, series, list of Delayed or Future, or None, default=None
            Weight of each row, not negative.

        Returns
        -------
        self : DaskPegasosClassifier
        """
        run = self._begin()
        source = source_of(X, y, sample_weight)
        cluster = self._cluster(run)
        parts = read(cluster, source)
        each = found_classes(cluster, parts)
        labels = [found for found, _ in each if len(found)]
        if not labels:
            raise ValueError("no row is left to train on: every partition is empty.")
        classes = _all_of(labels)
        masses = _masses(classes, each)
        codes = np.arange(len(classes), dtype=np.int32)
        check_classes(classes, codes, None)
        by_class = self._by_class(classes, masses)
        loaded = load_classes(cluster, parts, classes, by_class)
        del parts
        masses = np.sum([facts.masses for facts in loaded.facts], axis=0)
        check_classes(classes, codes, np.flatnonzero(masses).astype(np.uint32))
        loss = loss_of_classes(self, classes)
        # A row of zeros for each class, as heavy as all of its rows: what depends on the labels alone is the same.
        summary = Problem(
            InMemory(np.zeros((len(classes), 1))),
            codes,
            Weights.of(masses, len(classes)),
            float(self.lam),
            loss,
            self.bias,
        )
        names = [str(label) for label in classes] if len(classes) > 2 and not loss.joint else [""]
        if self.warm_start and hasattr(self, "classes_") and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}. Set "
                "warm_start=False to start anew."
            )
        teller = self._teller()
        facts = {"classes_": classes, "_loss_of_fit": self.loss, **columns_of(loaded)}
        shape = _Shape(loss.joint, loss.width, loaded.n_features)
        told = Told(X, y, sample_weight, lambda weights: shape.attributes(weights) | facts)
        yardstick = {"at_zero": summary.at_zero, "zero_value": summary.zero_value, "masses": masses}
        fits = self._solve(cluster, loaded, loss, yardstick, names, told, run)
        self.__dict__.pop("feature_names_in_", None)
        teller._take(shape.attributes([fit.w for fit in fits]) | facts)
        self._record(teller, summary, fits, classes, run)
        return self

    def _by_class(self, classes: NDArray[Any], masses: NDArray[np.float64]) -> dict[int, float] | None:
        """The weight of each class. Those of the classes are those of a row each, as heavy as all of its rows."""
        if self.class_weight is None:
            return None
        codes = np.arange(len(classes), dtype=np.int32)
        s = row_weights(masses, self.class_weight, classes, codes)
        warn_of_strange_classes(self.class_weight, classes)
        assert s is not None
        heavy = np.where(masses > 0, masses, 1.0)
        return {c: float(weight) for c, weight in enumerate(s / heavy)}

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass of Pegasos steps over the partitions, one after the other, as `PegasosClassifier.partial_fit`.

        A step goes on from the one before, so that this takes as long as on one machine; it is for streams whose rows
        happen to be on a cluster. `gap_` becomes NaN.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (n_classes,), default=None
            Every label that will ever come; needed in the first call.

        Returns
        -------
        self : DaskPegasosClassifier
        """
        return self._partial(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> da.Array:
        """The class of each row, lazily.

        Returns
        -------
        labels : dask array of shape (n_rows,)
        """
        model = self.to_local()
        return self._lazily("predict", X, model.classes_.dtype)

    def decision_function(self, X: Any) -> da.Array:
        """Scores of each row, lazily.

        Returns
        -------
        scores : dask array of shape (n_rows,) or (n_rows, n_classes)
        """
        n_classes = len(self.to_local().classes_)
        return self._lazily("decision_function", X, np.float64, n_classes if n_classes > 2 else None)

    @available_unless(no_probabilities)
    def predict_proba(self, X: Any) -> da.Array:
        """The probability of each class, lazily; for loss="log" and "multinomial".

        Returns
        -------
        probabilities : dask array of shape (n_rows, n_classes)
        """
        return self._lazily("predict_proba", X, np.float64, len(self.to_local().classes_))

    @available_unless(no_probabilities)
    def predict_log_proba(self, X: Any) -> da.Array:
        """The logarithm of `predict_proba`, lazily.

        Returns
        -------
        logs : dask array of shape (n_rows, n_classes)
        """
        return self._lazily("predict_log_proba", X, np.float64, len(self.to_local().classes_))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over all rows, computed at once.

        Returns
        -------
        accuracy : float
        """
        return accuracy(self._cluster(self._begin()), self.to_local(), X, y, sample_weight)


class _Shape:
    """Weights as the attributes of a model."""

    def __init__(self, joint: bool, width: int, n_features: int) -> None:
        self._joint, self._width, self._n_features = joint, width, n_features

    def attributes(self, weights: list[NDArray[np.float64]]) -> dict[str, Any]:
        models = weights[0].reshape(self._n_features + 1, self._width).T if self._joint else np.stack(weights)
        return {"coef_": np.ascontiguousarray(models[:, :-1]), "intercept_": models[:, -1].copy()}


def _all_of(labels: list[NDArray[Any]]) -> NDArray[Any]:
    """The classes of all partitions, in order. (NumPy would make strings of numbers, and nobody would know.)"""
    kinds = ["strings" if found.dtype.kind in "USTO" else "numbers" for found in labels]
    if len(set(kinds)) > 1:
        other = kinds.index("numbers" if kinds[0] == "strings" else "strings")
        raise ValueError(
            f"y has {kinds[0]} in one partition, such as {labels[0][0]!r}, and {kinds[other]} in another, such as "
            f"{labels[other][0]!r}."
        )
    return encode(np.concatenate(labels))[0]


def _masses(classes: NDArray[Any], each: list[tuple[NDArray[Any], NDArray[np.float64]]]) -> NDArray[np.float64]:
    masses = np.zeros(len(classes))
    for labels, weights in each:
        if len(labels):
            masses[np.searchsorted(classes, labels)] += weights
    return masses
