"""Folds of labelled sequences: each has a tagger of its own, which goes on from lam to lam."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from ..problem.problem import Floats
from ..structured import run
from ..structured.labels import flat
from ..structured.tagger import PegasosSequenceTagger
from ..structured.tokens import Stacked
from ..structured.training_set import Reader, TrainingSet, Whole
from .folds import Fold

Numbers = NDArray[np.int64]


class FoldTagger(PegasosSequenceTagger):
    """Knows the columns of sequences that were read before, by the list that holds them."""

    _known: tuple[tuple[Any, Stacked], ...] = ()

    def _stacked(self, X: Any, lengths: Any, groups: Any) -> Stacked:
        for known, stacked in self._known:
            if X is known:
                return stacked
        return super()._stacked(X, lengths, groups)


@dataclass(frozen=True)
class Part:
    """Some sequences as a scorer gets them, and their weights."""

    X: list[Any]
    y: list[list[Any]]
    s: Floats | None
    stacked: Stacked

    @classmethod
    def of(cls, whole: Whole, numbers: Numbers, s: Floats | None, columns: NDArray[np.bool_] | None) -> Part:
        stacked = whole.part(numbers, columns)
        X, y = whole.given[0], flat(whole.given[1], whole.stacked)
        begins = whole.stacked.begins
        spans = [slice(int(begins[i]), int(begins[i + 1])) for i in numbers]
        rows = [X[i] for i in numbers.tolist()] if stacked.is_list else [_rows(X, span) for span in spans]
        as_list = Stacked(**{**vars(stacked), "is_list": True})
        return cls(rows, [y[span] for span in spans], None if s is None else s[numbers], as_list)


def _rows(X: Any, span: slice) -> Any:
    return X.iloc[span] if hasattr(X, "iloc") else X.tocsr()[span] if hasattr(X, "tocsr") else X[span]


def refuse_empty(k: int, fold: Fold, whole: Whole, s: Floats | None, weighs_scores: bool) -> None:
    """A fold without anything to train on or to score. s: weights of all sequences."""
    tokens = whole.stacked.lengths
    weighed = tokens if s is None else tokens * (s > 0)
    for does, numbers, counted in (
        ("trains only on", fold.train, weighed),
        ("holds out only", fold.held_out, weighed if weighs_scores else tokens),
    ):
        if not counted[numbers].any():
            why = "empty sequences" if not tokens[numbers].any() else "sequences of weight zero or without tokens"
            raise ValueError(f"fold {k} of cv {does} {why}.")


def _between(given: Any, classes: NDArray[Any], here: NDArray[Any]) -> Any:
    """Of a matrix of all labels, the lines and columns of those that are here; all else is read by labels."""
    if given is None or isinstance(given, (str, Mapping)) or callable(given) or hasattr(given, "columns"):
        return given
    place = {label: i for i, label in enumerate(classes.tolist())}
    lines = [place[label] for label in here.tolist()]
    return np.asarray(given)[np.ix_(lines, lines)]


class TaggedFold:
    """One fold: what it trains on and holds out, and its tagger."""

    def __init__(
        self, tagger: FoldTagger, whole: Whole, fold: Fold, s: Floats | None, reader: Reader, classes: NDArray[Any]
    ) -> None:
        """s: weights of all sequences; classes: their labels, of which a fold may lack some."""
        shares = fold.share(s, len(whole.stacked.lengths))
        self._data: TrainingSet = reader.chosen(whole, shares)
        columns = self._data.columns
        self._held_out = Part.of(whole, np.unique(fold.held_out), s, columns)
        self._train = Part.of(whole, np.unique(fold.train), s, columns)
        self._tagger = tagger.set_params(
            allowed=_between(tagger.allowed, classes, self._data.classes),
            costs=_between(tagger.costs, classes, self._data.classes),
        )
        self._tagger._known = tuple((part.X, part.stacked) for part in (self._held_out, self._train))

    def fit(self, lam: float, max_time: float | None) -> None:
        """The next, smaller lam."""
        tagger = self._tagger.set_params(lam=lam, max_time=max_time)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # one for all folds is enough
            tagger._train(self._data, run.stop_of(tagger), tagger._before())

    @property
    def model(self) -> FoldTagger:
        return self._tagger

    def n_support(self) -> float:
        """Sequences that w is made of; NaN where the solver has no dual variables."""
        left = self._tagger._going_on
        if left is None or left[0].dual is None:
            return np.nan
        return float((left[0].dual.__getstate__()[0] > 0).sum())

    def scores(self, scoring: Any) -> tuple[float, float]:
        """Of the held-out sequences, and of those it was trained on."""
        held_out, train = (self._score(scoring, part) for part in (self._held_out, self._train))
        return held_out, train

    def _score(self, scoring: Any, part: Part) -> float:
        if scoring is None:
            return self._tagger.score(part.X, part.y, sample_weight=part.s)
        return float(scoring(self._tagger, part.X, part.y))
