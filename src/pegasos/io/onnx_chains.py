"""The labelling of a sequence as nodes of an ONNX graph: Viterbi, and forward-backward for probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from .onnx_formulas import as_double, labels_of, total

_NEVER = -1e30  # for minus infinity, whose differences are no numbers
_DOUBLE, _INT64 = 11, 7


def _finite(scores: Any) -> Any:
    return np.where(np.isneginf(scores), _NEVER, scores)


def chain_answers(g: Any, X: str, model: Any) -> dict[str, str]:
    """Names of the labels of one sequence, and of its marginals. X: a row of features for each token, one or more.

    A further label stands before the first token: all tokens are then alike, and a sequence of one needs no exception.
    """
    K = len(model.classes_)
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else model.coef_
    products = g.node("MatMul", as_double(g, X), g.constant(np.ascontiguousarray(coef.T, np.float64)))
    rows = g.node("Pad", products, _whole(g, [0, 0, 0, 1]), g.constant(np.array(_NEVER)))
    steps = np.full((K + 1, K + 1), _NEVER)
    steps[:K, :K], steps[K, :K] = _finite(model.transitions_), _finite(model.start_)
    begin = np.full(K + 1, _NEVER)
    begin[K] = 0.0
    end = np.append(_finite(model.end_), _NEVER)
    found = {"label": _best(g, rows, steps, begin, end, model)}
    if model._loss == "log":
        found["marginals"] = _marginals(g, rows, steps, begin, end)
    return found


def _whole(g: Any, value: Any) -> str:
    return str(g.constant(np.array(value, np.int64)))


def _after_first(g: Any, rows: str) -> str:
    return str(g.node("Slice", rows, _whole(g, [1]), _whole(g, [np.iinfo(np.int64).max]), _whole(g, [0])))


def _best(g: Any, rows: str, steps: Any, begin: Any, end: Any, model: Any) -> str:
    """Forward the best score of each label and where it came from, then back from the best of all."""
    size = [len(end)]

    def forward(b: Any, score: str, row: str) -> tuple[str, str]:
        each = b.node("Add", b.node("Unsqueeze", score, _whole(b, [1])), b.constant(steps))  # from x to
        best = b.node("ReduceMax", each, axes=[0], keepdims=0)
        return b.node("Add", best, row), b.node("ArgMax", each, axis=0, keepdims=0)

    def backward(b: Any, label: str, came: str) -> tuple[str, str]:
        before = b.node("Gather", came, label)
        return before, b.node("Identity", before)

    score, came = _scan(g, g.constant(begin), rows, forward, ((_DOUBLE, size), (_DOUBLE, size), (_INT64, size)))
    last = g.node("ArgMax", g.node("Add", score, g.constant(end)), axis=0, keepdims=0)
    _, path = _scan(g, last, came, backward, ((_INT64, []), (_INT64, size), (_INT64, [])), reverse=True)
    whole = g.node("Concat", _after_first(g, path), g.node("Unsqueeze", last, _whole(g, [0])), axis=0)
    return str(g.node("Gather", g.constant(labels_of(model)), whole, axis=0))


def _marginals(g: Any, rows: str, steps: Any, begin: Any, end: Any) -> str:
    """exp(forward + backward), which is proportional to the probability of each label."""
    size = [len(end)]
    kinds = ((_DOUBLE, size), (_DOUBLE, size), (_DOUBLE, size))

    def forward(b: Any, score: str, row: str) -> tuple[str, str]:
        each = b.node("Add", b.node("Unsqueeze", score, _whole(b, [1])), b.constant(steps))
        new = b.node("Add", _log_sum(b, each, 0), row)
        return new, b.node("Identity", new)

    def backward(b: Any, score: str, row: str) -> tuple[str, str]:
        """score and row belong to the token after this one."""
        after = b.node("Unsqueeze", b.node("Add", score, row), _whole(b, [0]))
        new = _log_sum(b, b.node("Add", after, b.constant(steps)), 1)
        return new, b.node("Identity", new)

    _, front = _scan(g, g.constant(begin), rows, forward, kinds)
    _, behind = _scan(g, g.constant(end), rows, backward, kinds, reverse=True)
    back = g.node("Concat", _after_first(g, behind), g.constant(end[None, :]), axis=0)
    both = g.node("Slice", g.node("Add", front, back), _whole(g, [0]), _whole(g, [len(end) - 1]), _whole(g, [1]))
    return str(g.node("Softmax", both, axis=1))


def _log_sum(g: Any, each: str, axis: int) -> str:
    most = g.node("ReduceMax", each, axes=[axis], keepdims=1)
    sums = total(g, g.node("Exp", g.node("Sub", each, most)), axis)
    return str(g.node("Add", g.node("Log", sums), g.node("Squeeze", most, _whole(g, [axis]))))


Kind = tuple[int, list[int]]


def _scan(
    g: Any,
    state: str,
    rows: str,
    step: Callable[[Any, str, str], tuple[str, str]],
    kinds: tuple[Kind, Kind, Kind],
    reverse: bool = False,
) -> Any:
    """The last state and a line for each row. kinds: type and shape of the state, of a row, of a line."""
    body = g.inner(step, (kinds[0], kinds[1]), (kinds[0], kinds[2]))
    turned = {"scan_input_directions": [1], "scan_output_directions": [1]} if reverse else {}
    return g.node("Scan", state, rows, outputs=2, body=body, num_scan_inputs=1, **turned)
