"""Which features have weights for (feature, from, to): chosen by name, by a function of names, or by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .tokens import Features

Columns = NDArray[np.int32]


def chosen_columns(given: Any, features: Features, n_features: int) -> Columns | None:
    """Their columns, ascending; None: there are none."""
    if given is None:
        return None
    if features.named and features.names is None:
        raise ValueError(
            "transition_features are chosen by name, and n_hashed keeps no names. Set one of them to None."
        )
    known = features.names or features.columns
    if callable(given):
        names: Sequence[Any] = known or range(n_features)
        found = [j for j, name in enumerate(names) if given(name)]
    elif isinstance(given, (str, bytes)) or not np.iterable(given):
        raise ValueError(
            f"transition_features must be a list of features, or a function of their names, got {given!r}."
        )
    elif features.names is not None or (known and any(isinstance(name, str) for name in given)):
        found = _by_name(list(given), known or [])
    else:
        found = _by_column(list(given), n_features)
    if not len(found):
        raise ValueError("transition_features chooses no feature of the training set. Set it to None for none.")
    return np.asarray(found, np.int32)


def _by_name(given: list[Any], names: Sequence[str]) -> list[int]:
    """A name stands for the feature of that name, and for its values: 'tag' for 'tag:NN', 'tag:DT' and so on."""
    found: dict[Any, list[int]] = {}
    for name in given:
        if not isinstance(name, str):
            raise ValueError(f"transition_features are names of features here, got {name!r}.")
        found[name] = []
    for j, name in enumerate(names):
        end = len(name)
        while end > 0:
            if name[:end] in found:
                found[name[:end]].append(j)
            end = name.rfind(":", 0, end)
    missing = next((name for name, columns in found.items() if not columns), None)
    if missing is not None:
        raise ValueError(
            f"transition_features has {missing!r}, which is no feature of the training set, nor one with values "
            f"({missing}:...)."
        )
    return sorted({j for columns in found.values() for j in columns})


def _by_column(given: list[Any], n_features: int) -> list[int]:
    for j in given:
        if isinstance(j, (bool, np.bool_)) or not isinstance(j, (int, np.integer)) or not 0 <= j < n_features:
            raise ValueError(f"transition_features are columns of X here, from 0 to {n_features - 1}; got {j!r}.")
    return sorted({int(j) for j in given})
