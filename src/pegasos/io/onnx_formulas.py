"""What models compute, written down as nodes of an ONNX graph. All arithmetic is float64, as ours is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..problem.pairs import pairs_of


class Graph(Protocol):
    """Where nodes go: a graph of our own, or a container of skl2onnx."""

    def constant(self, value: NDArray[Any]) -> str:
        """The name of a constant."""

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """The name of a node's output, or a tuple of names."""


@dataclass(frozen=True)
class Answers:
    """Names of what a graph computes. scores: (n,) for two classes, else (n, K); probabilities: (n, K), "" if none."""

    label: str
    scores: str
    probabilities: str = ""


def number(g: Graph, value: float) -> str:
    return g.constant(np.array(value, np.float64))


def column(g: Graph, matrix: str, i: int) -> str:
    """One column of a matrix, as a vector."""
    found: str = g.node("Gather", matrix, g.constant(np.array(i, np.int64)), axis=1)
    return found


def total(g: Graph, matrix: str, axis: int = -1, keep: bool = False) -> str:
    found: str = g.node("ReduceSum", matrix, g.constant(np.array([axis], np.int64)), keepdims=int(keep))
    return found


def as_double(g: Graph, X: str) -> str:
    found: str = g.node("Cast", X, to=11)  # DOUBLE
    return found


# Scores of every model of an estimator, one column each.


def linear_scores(g: Graph, X: str, model: Any) -> str:
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    products = g.node("MatMul", as_double(g, X), g.constant(np.ascontiguousarray(coef.T, np.float64)))
    found: str = g.node("Add", products, g.constant(np.array(np.ravel(model.intercept_), np.float64)))
    return found


def kernel_scores(g: Graph, X: str, model: Any) -> str:
    factors = g.constant(np.ascontiguousarray(model.dual_coef_.T, np.float64))
    values = kernel_values(g, as_double(g, X), model)
    found: str = g.node("Add", g.node("MatMul", values, factors), g.constant(np.array(model.intercept_, np.float64)))
    return found


def kernel_values(g: Graph, X: str, model: Any) -> str:
    """k of every row with every support vector."""
    kernel = model._fitted_kernel
    p, name = kernel.p, kernel.name
    if name == "precomputed":
        found: str = g.node("Gather", X, g.constant(model.support_.astype(np.int64)), axis=1)
        return found
    if name == "callable":
        raise ValueError("the kernel is a function of yours, which ONNX cannot run.")
    support = model.support_vectors_.toarray() if sp.issparse(model.support_vectors_) else model.support_vectors_
    support = np.ascontiguousarray(support, np.float64)
    if name in ("laplacian", "chi2") or getattr(kernel, "_by_pairs", False):
        return _by_differences(g, X, support, name, float(p.gamma))
    if getattr(kernel, "_centre", None) is not None:
        X, support = g.node("Sub", X, g.constant(kernel._centre)), support - kernel._centre
    if name == "cosine":
        lengths = g.node("Sqrt", total(g, g.node("Mul", X, X), keep=True))
        X = g.node("Div", X, _or_one(g, lengths))
        norms = np.sqrt(np.square(support).sum(axis=1, keepdims=True))
        support = support / np.where(norms > 0, norms, 1.0)
    products: str = g.node("MatMul", X, g.constant(np.ascontiguousarray(support.T)))
    if name in ("linear", "cosine"):
        return products
    if name == "rbf":
        squares = g.constant(np.square(support).sum(axis=1)[None, :])
        far = g.node("Add", total(g, g.node("Mul", X, X), keep=True), squares)
        far = g.node("Sub", far, g.node("Mul", products, number(g, 2.0)))
        exponent = g.node("Mul", g.node("Max", far, number(g, 0.0)), number(g, -float(p.gamma)))
        return str(g.node("Exp", exponent))
    inner = g.node("Add", g.node("Mul", products, number(g, float(p.gamma))), number(g, float(p.coef0)))
    return str(g.node("Tanh", inner) if name == "sigmoid" else g.node("Pow", inner, number(g, float(p.degree))))


def _by_differences(g: Graph, X: str, support: NDArray[Any], name: str, gamma: float) -> str:
    """Sums over features of something of every pair of rows."""
    rows = g.node("Unsqueeze", X, g.constant(np.array([1], np.int64)))
    others = g.constant(support[None, :, :])
    apart = g.node("Sub", rows, others)
    if name == "laplacian":
        terms = g.node("Abs", apart)
    else:
        terms = g.node("Mul", apart, apart)
        if name == "chi2":
            terms = g.node("Div", terms, _or_one(g, g.node("Add", rows, others)))
    return str(g.node("Exp", g.node("Mul", total(g, terms), number(g, -gamma))))


def _or_one(g: Graph, values: str) -> str:
    """Ones in the place of zeros, which are divided by."""
    return str(g.node("Where", g.node("Equal", values, number(g, 0.0)), number(g, 1.0), values))


# What a classifier makes of scores.


def answers(g: Graph, scores: str, model: Any, n_models: int) -> Answers:
    """Labels, scores and probabilities as the estimator has them."""
    plain = _uncalibrated(g, scores, model, n_models)
    functions = getattr(model, "_calibrated", None)
    return plain if functions is None else replace(plain, probabilities=_calibrated(g, plain.scores, functions))


def _uncalibrated(g: Graph, scores: str, model: Any, n_models: int) -> Answers:
    K, probabilities = len(model.classes_), _probabilities(model)
    if getattr(model, "_in_pairs", False):
        return _of_pairs(g, scores, model)
    if K > 2:
        best = g.node("ArgMax", scores, axis=1, keepdims=0)
        if probabilities == "sigmoid":
            probability = g.node("Softmax", _log_sigmoid(g, scores), axis=1)
        else:
            probability = g.node("Softmax", scores, axis=1) if probabilities else ""
        return Answers(_labels(g, best, model), scores, probability)
    ahead = column(g, scores, 0) if n_models == 1 else g.node("Sub", column(g, scores, 1), column(g, scores, 0))
    best = g.node("Cast", g.node("Greater", ahead, number(g, 0.0)), to=7)  # INT64
    if not probabilities:
        return Answers(_labels(g, best, model), ahead)
    return Answers(_labels(g, best, model), ahead, g.node("Sigmoid", both_ways(g, ahead)))


def _calibrated(g: Graph, scores: str, functions: Sequence[Any]) -> str:
    """As `Probabilities.predict_proba` of select/probabilities.py has them: one function for two classes, else K."""
    if len(functions) == 1:
        second = _column_of(g, _probability(g, scores, functions[0]))
        return str(g.node("Concat", g.node("Sub", number(g, 1.0), second), second, axis=1))
    columns = [_column_of(g, _probability(g, column(g, scores, k), each)) for k, each in enumerate(functions)]
    each, even = g.node("Concat", *columns, axis=1), g.constant(np.full((1, len(functions)), 1 / len(functions)))
    sums = total(g, each, keep=True)
    return str(g.node("Where", g.node("Greater", sums, number(g, 0.0)), g.node("Div", each, _or_one(g, sums)), even))


def _column_of(g: Graph, vector: str) -> str:
    return str(g.node("Unsqueeze", vector, g.constant(np.array([1], np.int64))))


def _probability(g: Graph, scores: str, function: Any) -> str:
    """A sigmoid, or lines between points: what every piece between two of them adds."""
    said = function.plain()
    if "scale" in said:
        slope, offset = said["point"]
        inner = g.node("Mul", g.node("Div", scores, number(g, said["scale"])), number(g, slope))
        return str(g.node("Sigmoid", g.node("Add", inner, number(g, offset))))
    points, values = said["scores"], said["chances"]
    lengths = np.diff(points)
    slopes = np.divide(np.diff(values), lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    into = g.node("Sub", _column_of(g, scores), g.constant(points[None, :-1]))
    into = g.node("Min", g.node("Max", into, number(g, 0.0)), g.constant(lengths[None, :]))
    return str(g.node("Add", total(g, g.node("Mul", into, g.constant(slopes[None, :]))), number(g, values[0])))


def both_ways(g: Graph, ahead: str) -> str:
    """(n, 2): the score of the second class, and before it its negative."""
    wide = g.node("Unsqueeze", ahead, g.constant(np.array([1], np.int64)))
    return str(g.node("Concat", g.node("Neg", wide), wide, axis=1))


def _log_sigmoid(g: Graph, scores: str) -> str:
    """min(s, 0) - log(1 + exp(-|s|)), which neither overflows nor loses digits."""
    small = g.node("Exp", g.node("Neg", g.node("Abs", scores)))
    log = g.node("Log", g.node("Add", small, number(g, 1.0)))
    return str(g.node("Sub", g.node("Min", scores, number(g, 0.0)), log))


def _of_pairs(g: Graph, scores: str, model: Any) -> Answers:
    K = len(model.classes_)
    first, second = np.zeros((2, len(pairs_of(K)), K))
    for p, (a, b) in enumerate(pairs_of(K)):
        first[p, a] = second[p, b] = 1.0
    wins = g.node("Cast", g.node("GreaterOrEqual", scores, number(g, 0.0)), to=11)
    lost = g.node("Sub", number(g, 1.0), wins)
    votes = g.node("Add", g.node("MatMul", wins, g.constant(second)), g.node("MatMul", lost, g.constant(first)))
    sums = g.node("MatMul", scores, g.constant(second - first))
    most = g.node("Mul", g.node("Add", g.node("Abs", sums), number(g, 1.0)), number(g, 3.0))
    best = g.node("ArgMax", votes, axis=1, keepdims=0)
    return Answers(_labels(g, best, model), g.node("Add", votes, g.node("Div", sums, most)))


def _probabilities(model: Any) -> str | None:
    from ..estimators.scores import _probabilities_of

    return _probabilities_of(model) if hasattr(model, "predict_proba") else None


def labels_of(model: Any) -> NDArray[Any]:
    """Classes as ONNX has them: whole numbers or strings."""
    classes = model.classes_
    if classes.dtype.kind in "biu" or (classes.dtype.kind == "f" and (classes == np.floor(classes)).all()):
        return np.asarray(classes, np.int64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return np.array(classes.tolist(), object)
    raise ValueError(f"ONNX has labels that are whole numbers or strings; this model has {classes.tolist()[:3]!r} ...")


def _labels(g: Graph, best: str, model: Any) -> str:
    return str(g.node("Gather", g.constant(labels_of(model)), best, axis=0))
