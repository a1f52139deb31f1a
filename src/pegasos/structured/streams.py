"""How long the first steps of a stream may be: its sequences come once, and what a step has spoilt is not undone."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .run import Floats
from .tokens import Stacked

# Measured on CoNLL-2000 and on generated chains of 5 to 2,000 tokens, 4 to 22 labels: docs/sequences.md, streams.
_OF_A_TOKEN, _OF_AVERAGES, _OF_A_SEQUENCE = {"hinge": 3.0, "log": 2.0}, 0.5, 1.0 / 3.0


def reach_of(stacked: Stacked, n_labels: int, s: Floats | None, loss: str, averages: bool) -> float:
    """The curvature along a typical step, to be divided by lam.

    A step moves the scores of a token by its squared length, and where tokens of a sequence agree, as they do in a
    constant feature, by |sum of them|^2 / n. Few tokens of a sequence are wrong at once, and fewer in the same way: the
    longest a sum could be, n^2, is far from what happens. Transitions are features of value one, in a label's share of
    the tokens. Averages bear longer steps, and so does the log loss, whose slopes are smaller.
    """
    full = stacked.lengths > 0
    values = np.ones(len(stacked.indices)) if stacked.values is None else stacked.values
    X = sp.csr_matrix((values, stacked.indices, stacked.indptr), shape=(stacked.n_tokens, stacked.n_features))
    n = stacked.lengths[full].astype(float)
    begins = stacked.begins[:-1][full]
    squares = np.concatenate([[0.0], np.cumsum(values * values)])
    ends = stacked.begins[1:][full]
    tokens = (squares[stacked.indptr[ends]] - squares[stacked.indptr[begins]]) / n + 1.0
    of = np.repeat(np.arange(len(n)), stacked.lengths[full])
    sums = sp.csr_matrix((np.ones(len(of)), (of, np.arange(len(of)))), shape=(len(n), len(of))) @ X
    agreeing = np.asarray(sums.multiply(sums).sum(axis=1)).ravel() / n + n / n_labels
    weights = None if s is None else s[full]
    part = _OF_AVERAGES if averages else _OF_A_TOKEN[loss]
    return float(np.average(part * tokens + _OF_A_SEQUENCE * agreeing, weights=weights))
