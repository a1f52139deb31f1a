"""Fitted models as scikit-learn's own: LinearSVC, LogisticRegression, LinearSVR, SVC, SVR, and several of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from ..losses import LossSpec
from ..problem.pairs import pairs_of
from .mixin import answers_as, loss_of_answers

Floats = NDArray[np.float64]


def to_sklearn(model: Any) -> Any:
    """The model of scikit-learn with the same answers."""
    makers = {
        "PegasosClassifier": _linear_classifier,
        "PegasosRegressor": _linear_regressor,
        "KernelPegasosClassifier": _kernel_classifier,
        "KernelPegasosRegressor": _kernel_regressor,
    }
    name = answers_as(model)
    if name not in makers:
        raise ValueError(f"scikit-learn has no estimator for what a {name} does.")
    loss, spec = loss_of_answers(model)
    if spec is None or spec.sklearn is None:
        raise ValueError(f"scikit-learn has no such model of loss={loss!r}. Use model.to_onnx() or model.save().")
    if getattr(model, "_calibrated", None) is not None and spec.probabilities:
        raise ValueError(
            f"scikit-learn's estimator would answer with the probabilities of loss={loss!r}, not with those of "
            f"probability={model.probability!r}. Use model.to_onnx() or model.save()."
        )
    found = makers[name](model, spec)
    found.n_features_in_ = model.n_features_in_ if hasattr(model, "n_features_in_") else 1
    if hasattr(model, "feature_names_in_"):
        found.feature_names_in_ = model.feature_names_in_.copy()
    return found


def _dense(coef: Any) -> Floats:
    return np.array(coef.toarray() if sp.issparse(coef) else coef, np.float64)


def _linear_classifier(model: Any, spec: LossSpec) -> Any:
    coef, intercept = np.atleast_2d(_dense(model.coef_)), np.array(model.intercept_, np.float64)
    if len(model.classes_) == 2 and len(coef) == 2:  # how far the second is ahead
        coef, intercept = coef[[1]] - coef[[0]], intercept[[1]] - intercept[[0]]
    if spec.probabilities == "sigmoid" and len(coef) > 2:
        return _against_the_rest(
            model.classes_, [_logistic(w[None], b[None]) for w, b in zip(coef, intercept, strict=True)]
        )
    if spec.probabilities:
        return _set(_logistic(coef, intercept), classes_=model.classes_.copy())
    found = LinearSVC(**(spec.sklearn or {}))
    return _set(found, coef_=coef, intercept_=intercept, classes_=model.classes_.copy(), n_iter_=0)


def _logistic(coef: Floats, intercept: Floats) -> Any:
    n = np.zeros(1, np.int32)
    return _set(LogisticRegression(), coef_=coef, intercept_=intercept, classes_=np.array([0, 1]), n_iter_=n,
                n_features_in_=coef.shape[1])  # fmt: skip


def _against_the_rest(classes: NDArray[Any], each: list[Any]) -> Any:
    found = OneVsRestClassifier(each[0])
    known = LabelBinarizer(sparse_output=True).fit(classes)
    _set(found, estimators_=each, label_binarizer_=known)
    if not hasattr(found, "classes_"):  # a property of the binarizer's in some versions
        found.classes_ = known.classes_
    return found


def _linear_regressor(model: Any, spec: LossSpec) -> Any:
    coef = np.ravel(_dense(model.coef_))
    found = LinearSVR(epsilon=model.epsilon, **(spec.sklearn or {}))
    return _set(found, coef_=coef, intercept_=np.array([model.intercept_]), n_iter_=0)


def _set(found: Any, **attributes: Any) -> Any:
    for name, value in attributes.items():
        setattr(found, name, value)
    return found


# Kernels. An SVC is its attributes and some of libsvm's, which differ between versions of scikit-learn: a model of a
# toy problem has them all, and gets the numbers of ours.


def _kernel_said(model: Any) -> dict[str, Any]:
    """The kernel as SVC takes it."""
    kernel = model._fitted_kernel
    p = kernel.p
    if kernel.name in ("linear", "precomputed"):
        return {"kernel": kernel.name}
    if kernel.name in ("rbf", "sigmoid", "poly"):
        said = {"kernel": kernel.name, "gamma": float(p.gamma)}
        if kernel.name != "rbf":
            said["coef0"] = float(p.coef0)
        if kernel.name == "poly":
            if p.degree != int(p.degree):
                raise ValueError(f"SVC takes whole degrees, this model has degree={p.degree:g}.")
            said["degree"] = int(p.degree)
        return said
    from sklearn.metrics import pairwise

    if kernel.name == "cosine":
        return {"kernel": pairwise.cosine_similarity}
    if kernel.name == "chi2" and sp.issparse(model.support_vectors_):
        raise ValueError(
            "scikit-learn's chi2_kernel takes dense rows only, and this model was fitted to sparse ones. Fit it to "
            "X.toarray(), or use model.to_onnx() or model.save()."
        )
    if kernel.name in ("laplacian", "chi2"):
        return {"kernel": partial(getattr(pairwise, f"{kernel.name}_kernel"), gamma=float(p.gamma))}
    if not hasattr(model, "n_features_in_"):
        raise ValueError("SVC takes rows of numbers; this model has rows that are objects.")
    return {"kernel": partial(kernel._function, **kernel._options)}


def _filled(found: Any, model: Any, order: NDArray[Any], counts: Any, factors: Floats, intercept: Floats) -> Any:
    """A toy model with our support vectors, in this order, and what libsvm multiplies them with."""
    said = _kernel_said(model)
    found.set_params(**said)
    rows = model.support_vectors_[order]
    n_fit = model.n_features_in_ if said["kernel"] == "precomputed" else len(order)
    numbers = model.support_[order].astype(np.int32)
    found._sparse = sp.issparse(rows) and not callable(said["kernel"])
    if callable(said["kernel"]):
        found._BaseLibSVM__Xfit = rows
        rows, numbers = np.empty((0, 0)), np.arange(len(order), dtype=np.int32)
    elif said["kernel"] == "precomputed":
        rows = np.empty((0, 0))
    elif found._sparse:
        rows = rows.astype(np.float64).tocsr()
        rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        rows.sort_indices()
        places = np.tile(np.arange(len(order), dtype=np.int32), len(factors))
        ends = np.arange(0, factors.size + 1, max(1, len(order)), dtype=np.int32)[: len(factors) + 1]
        factors = sp.csr_matrix((factors.ravel(), places, ends), shape=factors.shape)
    else:
        rows = np.ascontiguousarray(rows, np.float64)
    own = {"_dual_coef_": factors, "_intercept_": intercept, "_n_support": np.asarray(counts, np.int32)}
    _set(found, **own, support_=numbers, support_vectors_=rows, dual_coef_=factors.copy(), intercept_=intercept.copy())
    return _set(found, shape_fit_=(n_fit, _width(model)), _gamma=said.get("gamma", 0.0))


def _width(model: Any) -> int:
    return int(getattr(model, "n_features_in_", 1))


def _kernel_classifier(model: Any, _: LossSpec) -> Any:
    classes = model.classes_
    if model._in_pairs:
        return _pairs(model)
    if len(classes) == 2:
        return _two(model, model.dual_coef_[0], model.intercept_[0], classes)
    each = [_two(model, line, b, np.array([0, 1])) for line, b in zip(model.dual_coef_, model.intercept_, strict=True)]
    for one in each:
        one.n_features_in_ = _width(model)
    return _against_the_rest(classes, each)


def _two(model: Any, factors: Floats, b: float, classes: NDArray[Any]) -> Any:
    """libsvm's score speaks for the first class, ours for the second."""
    toy = SVC(kernel="linear").fit(np.arange(2.0)[:, None], classes)
    used = np.flatnonzero(factors)
    order = used[np.argsort(factors[used] > 0, kind="stable")]
    counts = [int((factors[order] <= 0).sum()), int((factors[order] > 0).sum())]
    found = _filled(toy, model, order, counts, -factors[order][None, :], np.array([-b]))
    found.dual_coef_, found.intercept_ = -found.dual_coef_, -found.intercept_
    return found


def _pairs(model: Any) -> Any:
    """Every pair of classes has a score; a support vector of class i is part of K - 1 of them."""
    K, codes = len(model.classes_), model._support_codes
    toy = SVC(kernel="linear").fit(np.arange(float(K))[:, None], model.classes_)
    order = np.argsort(codes, kind="stable")
    factors = np.zeros((K - 1, len(order)))
    for p, (first, second) in enumerate(pairs_of(K)):
        line = -model.dual_coef_[p][order]
        mine, others = codes[order] == first, codes[order] == second
        factors[second - 1, mine] = line[mine]
        factors[first, others] = line[others]
    counts = np.bincount(codes, minlength=K)
    return _filled(toy, model, order, counts, factors, -np.array(model.intercept_))


def _kernel_regressor(model: Any, _: LossSpec) -> Any:
    toy = SVR(kernel="linear", epsilon=model.epsilon).fit(np.arange(3.0)[:, None], np.arange(3.0))
    order = np.arange(len(model.support_))
    counts = [len(order), 0]
    return _filled(toy, model, order, counts, np.array(model.dual_coef_), np.array(model.intercept_))
