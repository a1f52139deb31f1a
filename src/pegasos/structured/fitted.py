"""What a fitted chain says: labellings, probabilities, scores, weights."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .. import _core
from . import run
from .labels import encode, flat
from .run import Floats
from .tokens import Features, Stacked, read
from .training_set import sequence_weights
from .weights import Shape


class FittedChain(run.SolverInside, run.Files, run.CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Predictions of a chain, from its weights, its features and its labels."""

    classes_: NDArray[Any]
    n_jobs: int | None
    verbose: int
    _w: Floats
    _shape: Shape
    _features: Features
    _loss: str

    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Any:
        """The best labelling of each sequence: a list of lists, or one array for a stacked matrix."""
        stacked, tagging = self._tagging(X, lengths, groups)
        codes, _ = tagging.decode(self._w, self._threads(), run.quiet_watch())
        if not stacked.is_list:
            return self.classes_[codes]
        labels, ends = self.classes_[codes].tolist(), stacked.begins.tolist()
        return [labels[a:b] for a, b in pairwise(ends)]

    def predict_marginals(self, X: Any, lengths: Any = None, groups: Any = None) -> Any:
        """Probabilities of each token's labels, in the order of `classes_`: an array a sequence, or one for all."""
        self._needs_log("predict_marginals")
        stacked, tagging = self._tagging(X, lengths, groups)
        marginals, _, _ = tagging.marginals(self._w, self._threads(), run.quiet_watch())
        return np.split(marginals, stacked.begins[1:-1]) if stacked.is_list and len(stacked.lengths) else marginals

    def labelling_score(self, X: Any, y: Any, lengths: Any = None, groups: Any = None) -> Floats:
        """<w, phi(x, y)> of each sequence with a labelling; minus infinity where it is forbidden."""
        _, tagging = self._tagging(X, lengths, groups, y)
        scores: Floats = tagging.scores(self._w, self._threads(), run.quiet_watch())
        return scores

    def labelling_log_proba(self, X: Any, y: Any, lengths: Any = None, groups: Any = None) -> Floats:
        """The logarithm of the probability of each labelling."""
        self._needs_log("labelling_log_proba")
        _, tagging = self._tagging(X, lengths, groups, y)
        scores: Floats = tagging.scores(self._w, self._threads(), run.quiet_watch())
        _, log_z, _ = tagging.marginals(self._w, self._threads(), run.quiet_watch())
        logs: Floats = np.minimum(scores - log_z, 0.0)
        return logs

    def score(self, X: Any, y: Any, lengths: Any = None, groups: Any = None, sample_weight: Any = None) -> float:
        """The share of tokens that get the right label; tokens have the weight of their sequence."""
        stacked, tagging = self._tagging(X, lengths, groups)
        codes, _ = tagging.decode(self._w, self._threads(), run.quiet_watch())
        right = flat(y, stacked)
        s = sequence_weights(sample_weight, stacked)
        weights = None if s is None else np.repeat(s, stacked.lengths)
        if not right or (weights is not None and not weights.any()):
            raise ValueError("there are no tokens to score.")
        hits = [a == b for a, b in zip(self.classes_[codes].tolist(), right, strict=True)]
        return float(np.average(hits, weights=weights))

    @property
    def coef_(self) -> Any:
        w = self._fitted()
        return self._shape.emission(w)

    @property
    def transitions_(self) -> Floats:
        w = self._fitted()
        return self._shape.transitions(w)

    @property
    def transition_coef_(self) -> Floats:
        w = self._fitted()
        return self._shape.feature_transitions(w)

    @property
    def transition_columns_(self) -> Any:
        self._fitted()
        return np.zeros(0, np.int32) if self._shape.chosen is None else self._shape.chosen.copy()

    @property
    def start_(self) -> Floats:
        w = self._fitted()
        return self._shape.first(w)

    @property
    def end_(self) -> Floats:
        w = self._fitted()
        return self._shape.last(w)

    @property
    def feature_names_(self) -> list[str] | None:
        self._fitted()
        return self._features.names

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        self._fitted()
        if self._features.columns is None:
            raise AttributeError("feature_names_in_ is there where the columns of a frame had names.")
        return np.array(self._features.columns, object)

    def _fitted(self) -> Floats:
        if "_w" not in vars(self):  # a property: hasattr must be able to say no
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )
        w: Floats = self._w
        return w

    def _threads(self) -> int:
        return run.thread_count(self.n_jobs)

    def _needs_log(self, method: str) -> None:
        check_is_fitted(self)
        if self._loss != "log":
            raise AttributeError(f"{method} needs probabilities: fit with loss='log'; this model has {self._loss!r}.")

    def _tagging(self, X: Any, lengths: Any, groups: Any, y: Any = None) -> tuple[Stacked, _core.Tagging]:
        check_is_fitted(self)
        stacked = self._stacked(X, lengths, groups)
        self._tell_unknown(stacked)
        labels = None if y is None else encode(flat(y, stacked), stacked, self.classes_)[1]
        tagging = _core.Tagging(stacked.native(), self._shape.layout, labels=labels)
        check_possible(tagging, stacked)
        return stacked, tagging

    def _stacked(self, X: Any, lengths: Any, groups: Any) -> Stacked:
        """X in the columns of the model."""
        return read(X, lengths, groups, self._features, 1, 0)[0]

    def _tell_unknown(self, stacked: Stacked) -> None:
        self.n_unknown_ = stacked.unknown
        if stacked.unknown and self.verbose:
            print(f"[pegasos] {stacked.unknown} features are not in the vocabulary, and were left out.")


def check_possible(tagging: _core.Tagging, stacked: Stacked) -> None:
    for n in np.unique(stacked.lengths).tolist():
        if not tagging.possible(n):
            i = int(np.flatnonzero(stacked.lengths == n)[0])
            raise ValueError(
                f"allowed leaves no labelling at all to a sequence of {n} tokens (sequence {stacked.number(i)})."
            )
