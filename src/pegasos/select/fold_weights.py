"""The weights of folds in a byte a row, which folds share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..estimators.base import Stated
from ..problem.problem import Floats, Weights
from ..problem.weights import CODES, CodedWeights
from .folds import PIECE, CodedFold, Fold, refined

_UNITS = 4 * 2.0**-52  # a product of two weights, or a factor of one, is wrong by less

Codes = NDArray[np.uint8]


def weights_of_folds(stated: Stated, folds: Sequence[Fold]) -> list[Weights]:
    """What `stated.weights_of` says of each fold: as a factor of the weights of all rows where that is all there is to
    it. Balanced classes have other weights in each fold: then by class as well.
    """
    problem, given = stated.problem, stated.told.sample_weight
    n_rows, by_class = problem.data.shape[0], _ByClass(problem.labels)
    found: list[Weights] = []
    for fold in folds:
        whole = stated.weights_of(fold.share(given, n_rows))
        coded = None
        if isinstance(fold, CodedFold) and hasattr(problem.data, "native") and problem.loss.has_native_twin:
            coded = _coded(problem.weights.s, fold.codes, whole)
            if coded is None and (finer := by_class.codes_of(fold.codes)) is not None:
                coded = _coded(problem.weights.s, finer, whole)
        found.append(coded or whole)
    return found


class _ByClass:
    """Codes of folds, one for each class; made once for folds that share them."""

    def __init__(self, labels: NDArray[np.int32] | Floats) -> None:
        self._labels = labels
        self._known: tuple[Codes | None, Codes | None] = None, None

    def codes_of(self, codes: Codes) -> Codes | None:
        if self._known[0] is not codes:
            n_classes = int(self._labels.max()) + 1 if self._labels.dtype.kind == "i" else CODES + 1
            pairs, finer = refined(codes, self._labels, n_classes) if n_classes <= CODES else (None, codes)
            self._known = codes, None if pairs is None else finer
        return self._known[1]


def _coded(base: Floats | None, codes: Codes, whole: Weights) -> CodedWeights | None:
    """The same weights by code; none where those of a code differ from the base by more than a factor."""
    s = whole.s
    assert s is not None
    example = np.full(CODES, -1)  # of each code: a row that weighs something in all
    for at in range(0, len(codes), PIECE):
        rows = np.arange(at, min(at + PIECE, len(codes)))
        if base is not None:
            rows = rows[base[rows] > 0]
        example[codes[rows]] = rows
    factors, known = np.zeros(CODES), example >= 0
    rows = example[known]
    factors[known] = s[rows] if base is None else s[rows] / base[rows]
    coded = CodedWeights(base, codes, factors, whole.total, whole.m)
    for at in range(0, len(codes), PIECE):
        some = slice(at, at + PIECE)
        if not (np.abs(coded.part(some, len(codes)) - s[some]) <= (0.0 if base is None else _UNITS) * s[some]).all():
            return None
    return coded
