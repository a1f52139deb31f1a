"""What each kind of estimator keeps in a file, and how it comes back: checked, so that no wrong model is built."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from ..estimators.fitted import support_numbers
from ..estimators.kernel_scores import parts_of
from ..kernels import from_settled, settled_parameters
from ..problem.pairs import pairs_of
from ..solvers import SDCA, Auto, Pegasos
from ..solvers.resume import Resume
from ..structured.tokens import Features
from ..structured.weights import Shape
from .container import Damaged
from .searches import searching
from .state import Family, State
from .tag_streams import restore_stream, stream_of
from .values import Names, Part

# How the fit went, of every estimator.

_NUMBERS = ("objective_", "dual_objective_", "gap_", "n_iter_", "n_steps_")


def _course(model: Any) -> dict[str, Any]:
    known = vars(model)
    names = (*_NUMBERS, "converged_", "history_", "n_replicas_", "_operations", "_rounding")
    return {name: known[name] for name in names if name in known} | {"n_features_in_": known.get("n_features_in_")}


def _restore_course(model: Any, state: State, n_models: tuple[int, ...] = (1,)) -> None:
    for name in _NUMBERS:
        value = state.take(name, float, int, np.ndarray)
        if isinstance(value, np.ndarray) and (
            value.dtype.kind not in "fi" or value.shape not in [(n,) for n in n_models]
        ):
            raise Damaged(f"{name} has shape {value.shape}")
        setattr(model, name, value)
    model.converged_ = state.take("converged_", bool)
    history = state.take("history_", dict)
    lines = {np.shape(column) for column in history.values()}
    if len(lines) != 1 or not all(isinstance(column, np.ndarray) and column.ndim == 1 for column in history.values()):
        raise Damaged("history_ is no dict of columns")
    model.history_ = history
    for name in ("_operations", "_rounding"):
        if name in state:
            setattr(model, name, state.take(name, float, int))
    if "n_replicas_" in state:
        model.n_replicas_ = state.count("n_replicas_")


def _features(model: Any, state: State) -> int:
    """n_features_in_, and their names where there are any."""
    model.n_features_in_ = n = state.count("n_features_in_")
    if "feature_names_in_" in state:
        model.feature_names_in_ = _column_names(state, n)
    return n


def _column_names(state: State, n: int) -> Any:
    names = state.take("feature_names_in_", np.ndarray)
    if names.shape != (n,) or not all(isinstance(name, str) for name in names):
        raise Damaged(f"feature_names_in_ does not have {n} names")
    return names


def _names_of(model: Any) -> dict[str, Any]:
    return {"feature_names_in_": model.feature_names_in_} if hasattr(model, "feature_names_in_") else {}


def _restore_resumes(model: Any, state: State) -> None:
    if "_resumes" not in state:
        return
    model._resumes = state.take("_resumes", list)
    if not all(left is None or isinstance(left, Resume) for left in model._resumes):
        raise Damaged("_resumes is something else")


def _resumes(model: Any) -> dict[str, Any]:
    left = getattr(model, "_resumes", None)
    return {"_resumes": left} if left and any(one is not None for one in left) else {}


# Linear models.


def _linear(model: Any) -> dict[str, Any]:
    kept = _course(model) | _names_of(model) | _resumes(model)
    for name in ("coef_", "intercept_", "classes_", "_centre"):
        if name in vars(model):
            kept[name] = vars(model)[name]
    if isinstance(getattr(model, "_loss_of_fit", None), str):
        kept["_loss_of_fit"] = model._loss_of_fit
    return kept


def _restore_linear_classifier(model: Any, state: State) -> None:
    n = _features(model, state)
    model.classes_ = state.labels("classes_", 2)
    model.coef_ = state.rows("coef_", (None, n))
    if model.coef_.shape[0] not in model._n_models():
        raise Damaged(f"coef_ has {model.coef_.shape[0]} vectors of weights for {len(model.classes_)} classes")
    model.intercept_ = state.array("intercept_", "f", (model.coef_.shape[0],))
    model._loss_of_fit = state.take("_loss_of_fit", str) if "_loss_of_fit" in state else model.loss
    _restore_resumes(model, state)
    _restore_course(model, state, (len(model.classes_),))


def _restore_linear_regressor(model: Any, state: State) -> None:
    n = _features(model, state)
    matrix = not isinstance(state.peek("coef_"), np.ndarray)  # sparsify() makes a line of it
    model.coef_ = state.rows("coef_", (1, n) if matrix else (n,))
    model.intercept_ = state.take("intercept_", float)
    if not np.isfinite(model.intercept_):
        raise Damaged(f"intercept_ is {model.intercept_}")
    if "_centre" in state:
        model._centre = state.take("_centre", float)
    _restore_resumes(model, state)
    _restore_course(model, state)


# Kernel models.


def _kernel(model: Any) -> dict[str, Any]:
    known = vars(model)
    kept = _course(model) | _names_of(model) | _resumes(model) | {"kernel": settled_parameters(model._fitted_kernel)}
    names = ("support_", "support_vectors_", "dual_coef_", "intercept_", "classes_", "n_kernel_evaluations_")
    for name in (*names, "_loss_of_fit", "_in_pairs", "_score_scale", "_support_codes"):
        if name in known:
            kept[name] = known[name]
    return kept


def _restore_kernel(model: Any, state: State) -> None:
    if (n := state.peek("n_features_in_")) is None:  # rows are objects, which only the kernel function knows
        state.take("n_features_in_")
    else:
        n = _features(model, state)
    if "classes_" in state:
        model.classes_ = state.labels("classes_", 2)
        model._in_pairs = state.take("_in_pairs", bool)
        model._loss_of_fit = state.take("_loss_of_fit", str)
    model.support_ = state.array("support_", "i", (None,))
    model.dual_coef_ = state.array("dual_coef_", "f", (None, len(model.support_)))
    model.intercept_ = state.array("intercept_", "f", (len(model.dual_coef_),))
    codes = state.take("_support_codes")
    n_classes = len(model.classes_) if getattr(model, "_in_pairs", False) else 0
    if n_classes and not (
        isinstance(codes, np.ndarray) and codes.shape == model.support_.shape and codes.dtype == np.int32
    ):
        raise Damaged("_support_codes does not name the class of each support vector")
    model._support_codes = codes if n_classes else None
    model._parts = parts_of(len(model.support_), model._support_codes, n_classes)
    said = state.take("kernel", dict)
    for value in said["learned"].values():
        if isinstance(value, np.ndarray) and (value.shape != (n,) or not np.isfinite(value).all()):
            raise Damaged(f"the kernel has learned something of shape {value.shape}")
    model._fitted_kernel = from_settled(said, model.kernel, model.kernel_params)
    support_numbers(model, len(model.support_))
    if n is None:
        model.support_vectors_ = state.take("support_vectors_", np.ndarray)
        if len(model.support_vectors_) != len(model.support_):
            raise Damaged("support_vectors_ has not as many entries as support_")
    else:
        columns = 0 if model._fitted_kernel.name == "precomputed" else n
        model.support_vectors_ = state.rows("support_vectors_", (len(model.support_), columns))
    model._score_scale = state.take("_score_scale", float)
    model.n_kernel_evaluations_ = state.take("n_kernel_evaluations_", int, float)
    _restore_resumes(model, state)
    n_problems = len(pairs_of(n_classes)) if n_classes else len(getattr(model, "classes_", "1"))
    _restore_course(model, state, (n_problems,))


# Structured models.


def _tagger(model: Any) -> dict[str, Any]:
    shape, features = model._shape, model._features
    w = model._w
    return _course(model) | {
        "classes_": model.classes_,
        "_loss": model._loss,
        "n_unknown_": model.n_unknown_,
        "hashed": features.hashed,
        "feature_names_": None if features.names is None else Names(features.names),
        "named": features.named,
        "seen": shape.seen,
        "boundaries": (shape.start, shape.end),
        "allowed": shape.allowed,
        **_names_of(model),
        **({} if shape.chosen is None else {"transition_columns_": shape.chosen}),
        **shape.weights(w),
        **stream_of(model),
    }


def _restore_tagger(model: Any, state: State) -> None:
    n = model.n_features_in_ = state.count("n_features_in_")
    columns = _column_names(state, n) if "feature_names_in_" in state else None
    model.classes_ = state.labels("classes_", 1)
    K = len(model.classes_)
    seen, (start, end), allowed = state.take("seen"), state.take("boundaries", tuple), state.take("allowed")
    # Every array is as large as it says before native code makes room for as much.
    count = None if seen is None else len(seen[1])
    emission = state.array("emission", "f", (n, K) if seen is None else (count,))
    weights = {"transitions": state.array("transitions", "f", (K, K))}
    weights |= {name: state.array(name, "f", (K,)) for name in ("first", "last")}
    chosen = None
    if "transition_columns_" in state:
        chosen = np.ascontiguousarray(state.array("transition_columns_", "i", (None,)), np.int32)
        weights["feature_transitions"] = state.array("feature_transitions", "f", (len(chosen), K, K))
    if seen is not None and len(seen[0]) != n + 1:
        raise Damaged(f"seen does not have {n} features")
    if allowed is not None:
        allowed = tuple(np.ascontiguousarray(mask, np.uint8) for mask in allowed)
        if [mask.shape for mask in allowed] != [(K, K), (K,), (K,)]:
            raise Damaged(f"allowed does not have {K} labels")
    model._shape = Shape(n, K, seen, bool(start), bool(end), allowed, chosen)
    model._w = model._shape.vector(emission, **weights)
    names, named, hashed = state.take("feature_names_"), state.take("named", bool), state.count("hashed")
    if (names is not None and len(names) != n) or (names is None) != (not named or hashed > 0) or hashed not in (0, n):
        raise Damaged(f"feature_names_ does not have {n} names")
    model._features = (
        Features.of(names or [], hashed, n)
        if named
        else Features(n_features=n, columns=None if columns is None else tuple(columns))
    )
    model._loss, model.n_unknown_ = state.take("_loss", str), state.count("n_unknown_")
    _restore_course(model, state)
    restore_stream(model, state)


def _structured(model: Any) -> dict[str, Any]:
    return _course(model) | {"coef_": model.coef_}


def _restore_structured(model: Any, state: State) -> None:
    model.n_features_in_ = state.count("n_features_in_")
    model.coef_ = state.array("coef_", "f", (model.n_features_in_,))
    _restore_course(model, state)


FAMILIES = {
    "PegasosClassifier": Family(_linear, _restore_linear_classifier),
    "PegasosRegressor": Family(_linear, _restore_linear_regressor),
    "KernelPegasosClassifier": Family(_kernel, _restore_kernel),
    "KernelPegasosRegressor": Family(_kernel, _restore_kernel),
    "PegasosSequenceTagger": Family(_tagger, _restore_tagger),
    "PegasosStructured": Family(_structured, _restore_structured),
}
_SEARCHED = (
    "PegasosClassifier",
    "PegasosRegressor",
    "KernelPegasosClassifier",
    "KernelPegasosRegressor",
    "PegasosSequenceTagger",
)
FAMILIES |= {f"{name}CV": searching(FAMILIES[name]) for name in _SEARCHED}


# Objects inside of parameters and attributes.

_SOLVERS = {solver.__name__: solver for solver in (Pegasos, SDCA, Auto)}


def _build_solver(said: dict[str, Any]) -> Any:
    return _SOLVERS[said["name"]](**said["parameters"])


def _build_resume(said: dict[str, Any]) -> Resume:
    left = Resume(**said)
    vectors = [left.w] if left.dual is None else [left.w, left.dual]
    if not all(isinstance(v, np.ndarray) and v.dtype == np.float64 and v.ndim == 1 for v in vectors):
        raise ValueError("no vectors to go on from")
    if not all(np.isfinite(v).all() for v in vectors) or type(left.steps) is not int or not isinstance(left.own, dict):
        raise ValueError("nothing to go on from")
    return left


PARTS = (
    Part(
        "solver",
        tuple(_SOLVERS.values()),
        lambda solver: {"name": type(solver).__name__, "parameters": solver.get_params(deep=False)},
        _build_solver,
    ),
    Part("resume", (Resume,), lambda left: {f.name: getattr(left, f.name) for f in fields(left)}, _build_resume),
)
