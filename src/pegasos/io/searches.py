"""Searches in files: the model that was fitted to all rows, and what cross-validation has found."""

from __future__ import annotations

from typing import Any

import numpy as np

from .container import Damaged
from .state import Family, State

_OF_FOLDS = ("scores_", "train_scores_", "gaps_", "objectives_", "n_support_")
_NUMBERS = ("lam_", "best_score_")


def searching(family: Family) -> Family:
    """The family of the searches for models of a family."""

    def state(model: Any) -> dict[str, Any]:
        if not model.refit:
            raise ValueError("a search with refit=False has no model to save.")
        return family.state(model) | _found(model)

    def restore(model: Any, state: State) -> None:
        _restore_found(model, state)
        family.restore(model, state)

    return Family(state, restore)


def _found(model: Any) -> dict[str, Any]:
    kept = {name: getattr(model, name) for name in (*_NUMBERS, *_OF_FOLDS, "lams_", "best_index_", "stopped_early_")}
    kept["exact_"] = model.exact_
    every, folds = model.cv_results_, range(model.n_splits_)
    kept["candidates"] = [{name: _plain(value) for name, value in each.items()} for each in every["params"]]
    for kind in ("test", "train"):
        kept[f"every_{kind}_score"] = np.stack([every[f"split{k}_{kind}_score"] for k in folds])
    calibrated = getattr(model, "_calibrated", None)
    return kept | {"chances": None if calibrated is None else [each.plain() for each in calibrated]}


def _plain(value: Any) -> Any:
    """What a file can hold; of a function, what it is called."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, int, float, str):
        return value
    return getattr(value, "__qualname__", repr(value))


def _restore_found(model: Any, state: State) -> None:
    from ..select.probabilities import probabilities_of
    from ..select.results import table

    model.lams_ = state.array("lams_", "f", (None,))
    model.scores_ = state.array("scores_", "f", (None, len(model.lams_)), finite=False)
    model.n_splits_ = n_folds = len(model.scores_)
    for name in _OF_FOLDS[1:]:
        setattr(model, name, state.array(name, "f", (n_folds, len(model.lams_)), finite=False))
    shape = (n_folds, len(model.lams_))  # files before 0.2 do not say which fits were exact
    model.exact_ = state.array("exact_", "b", shape) if "exact_" in state else np.zeros(shape, bool)
    for name in _NUMBERS:
        setattr(model, name, state.take(name, float))
    model.stopped_early_ = state.take("stopped_early_", bool)
    candidates = state.take("candidates", list)
    if not all(isinstance(each, dict) and type(each.get("lam")) is float for each in candidates):
        raise Damaged("candidates are no parameters")
    model.best_index_ = state.count("best_index_")
    if not n_folds or model.best_index_ >= len(candidates):
        raise Damaged(f"best_index_ is {model.best_index_}")
    model.best_params_ = candidates[model.best_index_]
    every = [state.array(f"every_{kind}_score", "f", (n_folds, len(candidates)), False) for kind in ("test", "train")]
    model.cv_results_ = table(candidates, *every)
    calibrated = state.take("chances")
    if hasattr(model, "probability"):
        model._calibrated = None if calibrated is None else probabilities_of(calibrated)
