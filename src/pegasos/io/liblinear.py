"""LIBLINEAR's model files: text that its own predict, and everything built on it, reads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..losses import JOINT, NAMED
from .atomic import Path, write_whole
from .mixin import answers_as, loss_of_answers

# Two losses may share a name: it is read as that of the first.
_LOSSES = {kind: loss.name for loss in reversed([*NAMED.values(), *JOINT.values()]) for kind in loss.liblinear}


def save_liblinear(model: Any, path: Path) -> None:
    """Write a linear model as LIBLINEAR would."""
    write_whole(path, liblinear_text(model))


def kind_for(name: str, model: Any) -> str:
    """What LIBLINEAR calls such models, those of the estimator of this name, be they fitted or not."""
    if name not in ("PegasosClassifier", "PegasosRegressor"):
        raise ValueError(f"LIBLINEAR has linear models of rows; a {name} is none.")
    loss, spec = loss_of_answers(model)
    if spec is None or not spec.liblinear:
        raise ValueError(f"LIBLINEAR has no models of loss={loss!r}. Use model.save() or model.to_onnx().")
    return spec.liblinear[0]


def liblinear_text(model: Any) -> list[bytes]:
    """The text of a model's file, in two pieces."""
    kind = kind_for(answers_as(model), model)
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.atleast_2d(model.coef_)
    weights = np.column_stack([coef, np.ravel(model.intercept_)]).T
    lines = [f"solver_type {kind}", f"nr_class {max(2, len(getattr(model, 'classes_', ())))}"]
    if hasattr(model, "classes_"):
        labels = whole_labels(model.classes_)
        if len(labels) == 2 and weights.shape[1] == 1:
            labels.reverse()  # a score above zero speaks for the first that is named
        elif kind != "MCSVM_CS" and len(labels) == 2:
            raise AssertionError("two vectors of weights belong to the losses that train all classes together")
        lines.append("label " + " ".join(map(str, labels)))
    lines += [f"nr_feature {len(weights) - 1}", "bias 1", "w"]
    rows = ("".join(f"{number:.17g} " for number in row) + "\n" for row in weights.tolist())
    return [("\n".join(lines) + "\n").encode(), "".join(rows).encode()]


def whole_labels(classes: NDArray[Any]) -> list[int]:
    """Labels as LIBLINEAR knows them."""
    try:
        labels = [int(label) for label in classes.tolist()]
    except (TypeError, ValueError):
        labels = []
    if not labels or any(a != b for a, b in zip(labels, classes.tolist(), strict=True)):
        raise ValueError(f"LIBLINEAR's labels are whole numbers; this model has {classes.tolist()[:3]!r} ...")
    return labels


def from_liblinear(path: Path) -> Any:
    """Read a model that LIBLINEAR has written.

    Parameters
    ----------
    path : str or path-like
        The file, as LIBLINEAR's train, or ``model.save(path, format="liblinear")``, writes it.

    Returns
    -------
    model : PegasosClassifier or PegasosRegressor
        It predicts as LIBLINEAR does. Such files say nothing of C or of the objective: `lam` is the default, and
        `objective_` and `gap_` are NaN.

    Notes
    -----
    A score of exactly zero is the first class here, and the second of those that the file names there.
    """
    place = os.fspath(path)
    with open(path, encoding="ascii", errors="replace") as file:
        return parsed_liblinear(file.read(), place)


def parsed_liblinear(text: str, place: str) -> Any:
    """The model that a text describes; place: where it comes from, for messages."""
    fields, weights = _parsed(text.split("\n"), place)
    kind = fields["solver_type"]
    if kind not in _LOSSES:
        raise ValueError(f"{place}:1: there is no estimator for models of the type {kind}.")
    if ("label" in fields) == ("SVR" in kind):
        raise ValueError(f"{place}: a model of the type {kind} has {'no' if 'SVR' in kind else 'a line of'} labels.")
    bias = float(fields["bias"])
    coef = weights[: int(fields["nr_feature"])].T
    intercept = weights[-1] * bias if bias >= 0 else np.zeros(len(coef))
    return _classifier(fields, coef, intercept) if "label" in fields else _regressor(fields, coef, intercept)


def _parsed(lines: list[str], place: str) -> tuple[dict[str, str], NDArray[np.float64]]:
    fields: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        name, _, value = line.strip().partition(" ")
        if name == "w":
            break
        if not name:
            continue
        if name not in ("solver_type", "nr_class", "label", "nr_feature", "bias") or name in fields:
            raise ValueError(f"{place}:{number}: {line[:40]!r} is not what a model of LIBLINEAR says.")
        fields[name] = value
    else:
        raise ValueError(f"{place} has no line 'w': it is no model of LIBLINEAR, or was cut short.")
    missing = {"solver_type", "nr_class", "nr_feature", "bias"} - set(fields)
    if missing:
        raise ValueError(f"{place} does not say its {min(missing)}.")
    try:
        n_classes, n_features, bias = int(fields["nr_class"]), int(fields["nr_feature"]), float(fields["bias"])
    except ValueError:
        raise ValueError(f"{place}: nr_class, nr_feature and bias must be numbers.") from None
    if n_classes < 2 or n_features < 0 or not np.isfinite(bias):
        raise ValueError(f"{place}: there is no model with {n_classes} classes, {n_features} features, bias {bias}.")
    labels = fields.get("label", "").split()
    if "label" in fields and (len(labels) != n_classes or len(set(labels)) != n_classes):
        raise ValueError(f"{place}: {len(set(labels))} different labels for {n_classes} classes.")
    wide = n_classes > 2 or fields["solver_type"] == "MCSVM_CS"
    width, height = n_classes if wide else 1, n_features + (bias >= 0)
    rows = [line.split() for line in lines[number:] if line.strip()]
    if len(rows) != height:
        raise ValueError(f"{place} has {len(rows)} lines of weights where its header says {height}: it was cut short.")
    weights = np.empty((height, width))
    for i, row in enumerate(rows, number + 1):
        try:
            numbers = [float(word) for word in row]
        except ValueError:
            numbers = []
        if len(numbers) != width:
            raise ValueError(f"{place}:{i}: {width} numbers were expected, got {' '.join(row)[:40]!r}.")
        if not np.isfinite(numbers).all():
            raise ValueError(f"{place}:{i}: a weight is not finite.")
        weights[i - number - 1] = numbers
    return fields, weights


def _classifier(fields: dict[str, str], coef: NDArray[Any], intercept: NDArray[Any]) -> Any:
    from ..estimators.linear import PegasosClassifier

    labels = np.array([int(label) for label in fields["label"].split()])
    loss: Any = _LOSSES[fields["solver_type"]]
    model: Any = PegasosClassifier(loss=loss)
    order = np.argsort(labels)
    if len(coef) == 1:
        sign = 1.0 if order[0] else -1.0  # a score above zero speaks for the first that is named
        model.coef_, model.intercept_ = sign * coef, sign * intercept
    else:
        model.coef_, model.intercept_ = np.ascontiguousarray(coef[order]), intercept[order]
    model.classes_, model._loss_of_fit = labels[order], model.loss
    return _as_fitted(model, coef.shape[1])


def _regressor(fields: dict[str, str], coef: NDArray[Any], intercept: NDArray[Any]) -> Any:
    from ..estimators.regression import PegasosRegressor

    loss: Any = _LOSSES[fields["solver_type"]]
    model: Any = PegasosRegressor(loss=loss)
    model.coef_, model.intercept_ = coef[0].copy(), float(intercept[0])
    return _as_fitted(model, coef.shape[1])


def _as_fitted(model: Any, n_features: int) -> Any:
    model.n_features_in_ = n_features
    model.objective_ = model.dual_objective_ = model.gap_ = float("nan")
    model.converged_, model.n_iter_, model.n_steps_ = False, 0.0, 0
    model.history_ = {name: np.empty(0) for name in ("seconds", "steps", "objective", "dual", "gap")}
    return model
