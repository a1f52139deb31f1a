"""Model files with a right checksum and a random change: they are refused by a ValueError, or are models that answer.

python tests/fuzz_models.py 100000
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
from saved_models import MODELS

from pegasos.io.container import packed, unpacked
from pegasos.io.models import dumped, loaded

VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 2**31, 2**63, -(2**63), 10**30, 0.5, -1e308, "", "hinge", "log", "x" * 9, [], {},
    [[]], [1, 2], {"float": "nan"}, {"float": "inf"}, {"float": "x"}, {"tensor": "coef_"}, {"tensor": ""}, {"dict": []},
    {"tuple": []}, {"dict": [[1]]}, {"names": "coef_"}, {"bytes": "zz"}, {"bytes": "00"}, {"array": ["object", []]},
    {"array": ["<U3", ["a"]]}, {"csr": ["csr_matrix", [1, 5], "coef_", "coef_", "coef_"]}, {"random": []}, {"what": 1},
    {"nonzeros": [[1, 5], "classes_", "coef_"]}, {"solver": {"dict": []}}, {"resume": {"dict": []}}, {"object": "a.b"},
    {"tensor": "coef_", "dict": []},
]  # fmt: skip


def places(said: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of JSON, as a container and a key."""
    keys = said.items() if isinstance(said, dict) else enumerate(said) if isinstance(said, list) else ()
    return [place for key, value in list(keys) for place in [(said, key), *places(value)]]


def changed(array: Any, rng: random.Random) -> Any:
    """Another type, another shape, or other numbers."""
    array = array.copy()
    way = rng.randrange(6)
    if way == 0:
        with np.errstate(invalid="ignore"):
            return array.astype(rng.choice([np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, np.uint16]))
    if way == 1:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else array
    if way == 2:
        return array.ravel() if array.ndim > 1 else array[None]
    if way == 3:
        return np.concatenate([array, array]) if array.ndim else array
    if array.size:
        number = rng.choice([0, 1, -1, np.inf, -np.inf, np.nan, 1e300, 127])
        with np.errstate(invalid="ignore"):
            array.flat[rng.randrange(array.size)] = np.asarray(number).astype(array.dtype)
    return array


def forged(parts: list[Any], rng: random.Random) -> bytes:
    data = np.frombuffer(b"".join(bytes(piece) for piece in parts), np.uint8).copy()
    tensors, metadata = unpacked(data)
    said = json.loads(metadata.pop("model"))
    metadata.pop("checksum")
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        if rng.random() < 0.4 and tensors:
            name = rng.choice(sorted(tensors))
            tensors[name] = changed(tensors[name], rng)
            continue
        where, key = rng.choice(places(said))
        if rng.random() < 0.15:
            where.pop(key)
        else:
            where[key] = json.loads(json.dumps(rng.choice(VALUES)))
    return b"".join(bytes(piece) for piece in packed(tensors, {**metadata, "model": json.dumps(said)}))


def campaign(n: int, seed: int = 0) -> tuple[int, int]:
    """How many files were refused, and how many were models."""
    rng = random.Random(seed)
    files = [(dumped(make()), rows, objects) for make, rows, objects in MODELS.values()]
    refused = 0
    for _ in range(n):
        parts, rows, objects = rng.choice(files)
        try:
            model, _ = loaded(np.frombuffer(forged(parts, rng), np.uint8).copy(), "here", objects)
        except ValueError as error:
            if not str(error).startswith("here"):
                raise
            refused += 1
            continue
        # An error is an answer as well: some parameters matter only then.
        answers = suppress(ValueError, TypeError, AttributeError, IndexError)
        with warnings.catch_warnings(), np.errstate(all="ignore"), answers:
            warnings.simplefilter("ignore")
            model.predict(rows)
    return refused, n - refused


if __name__ == "__main__":
    print(
        "{} files refused, {} loaded".format(*campaign(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    )
