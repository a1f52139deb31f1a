"""The loss of a classifier, with what each wrong answer costs where it takes costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .named import spec_of
from .spec import LossSpec

Floats = NDArray[np.float64]


def loss_of_classes(estimator: Any, classes: NDArray[Any]) -> LossSpec:
    """The loss of an estimator with `loss`, `costs` and `bias`, for these classes."""
    given, loss, bias = estimator.costs, spec_of(estimator.loss), estimator.bias
    if given is not None and "costs" not in loss.takes:
        raise ValueError(f"costs are for loss='multiclass_hinge'; with loss={loss} set costs=None.")
    if not loss.joint:
        return loss.bound()
    if bias not in ("regularized", "free", "none"):
        raise ValueError(
            f"bias={bias!r} is for one vector of weights; with loss={loss}, which has one a class, use "
            "bias='regularized', 'free' or 'none'."
        )
    costs = costs_between(given, classes) if "costs" in loss.takes else None
    return loss.bound(n_classes=len(classes), costs=costs)


def costs_between(given: Any, classes: NDArray[Any]) -> Floats:
    """A matrix, a frame or a dict of pairs as numbers, right class x answer; None: every mistake costs 1."""
    if given is None:
        return 1.0 - np.eye(len(classes))
    if isinstance(given, Mapping):
        given = _of_pairs(given, classes)
    elif hasattr(given, "columns") and hasattr(given, "index"):
        given = of_frame(given, classes, "costs")
    return _checked(given, len(classes))


def _of_pairs(given: Mapping[Any, Any], classes: NDArray[Any]) -> Any:
    """Pairs that are not named cost 1; those of a class that is not here (a fold without a rare one) are left out."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    costs = (1.0 - np.eye(len(classes))).astype(object)
    for pair, cost in given.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"a dict of costs has pairs (right class, answer) as keys, got {pair!r}.")
        right, answer = (label.item() if isinstance(label, np.generic) else label for label in pair)
        if right in place and answer in place:
            costs[place[right], place[answer]] = cost
    return costs


def of_frame(given: Any, classes: NDArray[Any], what: str) -> Any:
    """The lines and columns of the classes that are here, by name."""
    for side, names in (("index", given.index), ("columns", given.columns)):
        missing = [label for label in classes.tolist() if label not in names]
        if missing:
            raise ValueError(
                f"the {side} of the frame of {what} lacks the class {missing[0]!r}: it names {list(names)!r}."
            )
        if not names.is_unique:
            raise ValueError(f"the {side} of the frame of {what} names a class twice: {list(names)!r}.")
    return given.loc[classes.tolist(), classes.tolist()]


def hint_of_folds(matrix: NDArray[Any], n_classes: int) -> str:
    """For the error about a matrix that has more classes than there are."""
    if matrix.ndim != 2 or not matrix.shape[0] == matrix.shape[1] > n_classes:
        return ""
    return (
        " In cross-validation a fold may lack a class, and nobody can tell which line is its: give a DataFrame with "
        "the classes in its index and columns, which is read by their names."
    )


def _checked(given: Any, n_classes: int) -> Floats:
    try:
        if np.iscomplexobj(np.asarray(given)):
            raise TypeError
        costs = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"costs must be {n_classes} x {n_classes} numbers, one line for each class.") from None
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have one line and one column for each of the {n_classes} classes, in the order of classes_; "
            f"got shape {costs.shape}.{hint_of_folds(costs, n_classes)}"
        )
    bad = np.argwhere(~np.isfinite(costs) | (costs < 0))
    if len(bad):
        y, r = bad[0]
        raise ValueError(f"costs[{y}, {r}] = {costs[y, r]:g} must be a finite number >= 0.")
    wrong = np.flatnonzero(np.diag(costs))
    if len(wrong):
        y = wrong[0]
        raise ValueError(f"costs[{y}, {y}] = {costs[y, y]:g} must be 0: the right answer costs nothing.")
    return costs
