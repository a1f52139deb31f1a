"""Small kernel problems and their exact values, from the kernel matrix written out."""

from __future__ import annotations

from typing import Any

import numpy as np
from reference import Array, exact_optimum, mean
from sklearn.metrics import pairwise

from pegasos import KernelPegasosClassifier


def rows(m: int = 60, d: int = 4, seed: int = 0, positive: bool = False) -> tuple[Array, Array]:
    """Two classes that no plane tells apart, with some noise; entries are exact in float32."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d)).astype(np.float32).astype(np.float64)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(m) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    return (np.abs(X) if positive else X), y


# What scikit-learn's formula takes for each name, and the parameters that make it ours.
FORMULAS: dict[str, tuple[Any, dict[str, Any]]] = {
    "linear": (pairwise.linear_kernel, {}),
    "rbf": (pairwise.rbf_kernel, {"gamma": 0.4}),
    "poly": (pairwise.polynomial_kernel, {"gamma": 0.3, "degree": 2, "coef0": 1.0}),
    "sigmoid": (pairwise.sigmoid_kernel, {"gamma": 0.02, "coef0": 0.0}),
    "laplacian": (pairwise.laplacian_kernel, {"gamma": 0.3}),
    "cosine": (pairwise.cosine_similarity, {}),
    "chi2": (pairwise.chi2_kernel, {"gamma": 0.5}),
}


def matrix(name: str, X: Array, Z: Array | None = None) -> Array:
    function, parameters = FORMULAS[name]
    return np.asarray(function(X, X if Z is None else Z, **parameters), dtype=np.float64)


def features(K: Array) -> Array:
    """Rows whose inner products are K, a positive semi-definite matrix."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def optimum(K: Array, y: Array, lam: float, loss: Any, bias: str, s: Array | None = None) -> float:
    """The least objective of any w."""
    return exact_optimum(features(K + (bias == "regularized")), y, lam, loss, s, free=bias == "free").value


def coefficients(model: Any, m: int, which: int = 0) -> Array:
    """One for every training row."""
    found = np.zeros(m)
    found[model.support_] = model.dual_coef_[which]
    return found


def value(model: Any, K: Array, y: Array, loss: Any, s: Array | None = None, which: int = 0) -> float:
    """f of the fitted coefficients."""
    c, b = coefficients(model, len(y), which), model.intercept_[which]
    square = c @ K @ c + (b**2 if model.bias == "regularized" else 0.0)
    return float(model.lam / 2 * square + mean(loss.value(K @ c + b, y), s))


def classifier(name: str, **params: Any) -> KernelPegasosClassifier:
    given: dict[str, Any] = {"lam": 0.01, "random_state": 0, "kernel": name, **FORMULAS[name][1]}
    return KernelPegasosClassifier(**{**given, **params})
