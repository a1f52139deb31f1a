"""Python values as JSON and arrays, and back: a list of kinds, and nothing that could run.

Numbers, strings, lists and None are themselves. Everything else is an object with one key that names its kind:
``{"tensor": name}`` an array of numbers, ``{"dict": [[key, value], ...]}``, ``{"float": "nan"}`` and so on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..memory import memory_of_machine
from .container import Damaged, Tensors, is_tensor

_WORTH = 64  # numbers: shorter arrays are written as they are
_TEXT = re.compile(r"[<>|]?[US]\d{1,6}")
_MATRICES = {"csr_matrix": sp.csr_matrix, "csr_array": sp.csr_array}


class Unwritable(ValueError):
    """A value that a file cannot hold."""


@dataclass(frozen=True)
class Part:
    """A type of ours: as a dict of plain values, and from it. `build` checks what it is given."""

    kind: str
    types: tuple[type[Any], ...]
    plain: Callable[[Any], dict[str, Any]]
    build: Callable[[dict[str, Any]], Any]


class Names(list[str]):
    """Many strings, which are one array of bytes in the file and not part of its header."""


class Writer:
    """Collects the arrays of a file while it turns values into JSON.

    sparse: whether arrays of which more than half is zero are written as places and values.
    """

    def __init__(self, parts: tuple[Part, ...] = (), sparse: bool = False) -> None:
        self.tensors: Tensors = {}
        self._parts, self._sparse = parts, sparse

    def write(self, value: Any, at: str) -> Any:
        """The value as JSON; at: what it is called, which its arrays are named after."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, Names):
            return {"names": self._keep(np.frombuffer(json.dumps(value).encode(), np.uint8), at)}
        if type(value) is list:
            return [self.write(item, f"{at}.{i}") for i, item in enumerate(value)]
        if type(value) is tuple:
            return {"tuple": [self.write(item, f"{at}.{i}") for i, item in enumerate(value)]}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            return {"dict": [[self.write(k, f"{at}.key{i}"), self.write(v, _under(at, k, i))] for i, (k, v) in pairs]}
        if type(value) is np.ndarray:
            return self._array(value, at)
        if sp.issparse(value):
            return self._matrix(value.tocsr(), at)
        if isinstance(value, np.random.RandomState):
            return {"random": self.write(value.get_state(), at)}
        for part in self._parts:
            if type(value) in part.types:
                return {part.kind: self.write(part.plain(value), at)}
        raise Unwritable(f"{at} is a {type(value).__name__}, which a model file cannot hold: {value!r:.100}")

    def _keep(self, array: NDArray[Any], at: str) -> str:
        name, n = at, 2
        while name in self.tensors:
            name, n = f"{at}.{n}", n + 1
        self.tensors[name] = array
        return name

    def _array(self, array: NDArray[Any], at: str) -> Any:
        if is_tensor(array):
            places = np.flatnonzero(_bits(array)) if self._sparse and array.size >= _WORTH else None
            if places is None or 2 * len(places) >= array.size:
                return {"tensor": self._keep(array, at)}
            values = np.ascontiguousarray(array).ravel()[places]
            kept = [self._keep(places.astype(np.int64), f"{at}.places"), self._keep(values, f"{at}.values")]
            return {"nonzeros": [list(array.shape), *kept]}
        if array.dtype.kind not in "USO" or array.ndim != 1:
            raise Unwritable(f"{at} is an array of {array.dtype}, which a model file cannot hold")
        dtype = "object" if array.dtype.kind == "O" else array.dtype.str
        items = array.tolist()
        if dtype == "object" and all(type(item) is str for item in items):
            return {"array": [dtype, self.write(Names(items), at)]}
        return {"array": [dtype, [self.write(item, f"{at}.{i}") for i, item in enumerate(items)]]}

    def _matrix(self, matrix: Any, at: str) -> Any:
        parts = [
            self._keep(np.asarray(getattr(matrix, part)), f"{at}.{part}") for part in ("data", "indices", "indptr")
        ]
        kind = "csr_array" if isinstance(matrix, sp.sparray) else "csr_matrix"
        return {"csr": [kind, list(matrix.shape), *parts]}


class Reader:
    """Turns JSON back into values. What does not fit is `Damaged`."""

    def __init__(self, tensors: Tensors, parts: tuple[Part, ...] = ()) -> None:
        self._tensors = tensors
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": self._float,
            "bytes": bytes.fromhex,
            "names": self._names,
            "tuple": lambda items: tuple(self.read(item) for item in items),
            "dict": lambda pairs: {self.read(key): self.read(value) for key, value in pairs},
            "tensor": lambda name: self._tensors[name],
            "nonzeros": lambda parts: self._nonzeros(*parts),
            "array": lambda parts: self._array(*parts),
            "csr": lambda parts: self._matrix(*parts),
            "random": self._random,
        }
        for part in parts:
            self._kinds[part.kind] = partial(self._part, part.build)

    def read(self, said: Any) -> Any:
        if isinstance(said, list):
            return [self.read(item) for item in said]
        if not isinstance(said, dict):
            return said
        try:
            ((kind, content),) = said.items()
            return self._kinds[kind](content)
        except Damaged:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
            raise Damaged(f"a value in it makes no sense ({str(said)[:80]}: {error})") from None

    def _part(self, build: Callable[[Any], Any], said: Any) -> Any:
        return build(self.read(said))

    @staticmethod
    def _float(text: str) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise ValueError("no number")
        return float(text)

    def _names(self, name: str) -> Names:
        found = json.loads(self._tensors[name].tobytes().decode())
        if not isinstance(found, list) or not all(type(item) is str for item in found):
            raise ValueError("no list of names")
        return Names(found)

    def _nonzeros(self, shape: list[int], places: str, values: str) -> NDArray[Any]:
        where, what = self._tensors[places], self._tensors[values]
        size = math.prod(shape)
        if any(type(n) is not int or n < 0 for n in shape) or size * what.itemsize > memory_of_machine():
            raise Damaged(f"it has an array of shape {tuple(shape)}, which is more than this machine's memory")
        if where.ndim != 1 or where.shape != what.shape or where.dtype != np.int64:
            raise ValueError("places and values do not match")
        if len(where) and (where[0] < 0 or where[-1] >= size or (np.diff(where) <= 0).any()):
            raise ValueError("places out of order")
        array = np.zeros(size, what.dtype)
        array[where] = what
        return array.reshape(shape)

    def _array(self, dtype: str, items: Any) -> NDArray[Any]:
        values = self.read(items)
        if dtype == "object":
            array = np.empty(len(values), object)
            for i, value in enumerate(values):  # at once, tuples would become a second dimension
                array[i] = value
            return array
        if not _TEXT.fullmatch(dtype):
            raise ValueError("no type of text")
        array = np.array(values, dtype)
        if array.ndim != 1 or array.tolist() != values:
            raise ValueError("text that its type cannot hold")
        return array

    def _matrix(self, kind: str, shape: list[int], *parts: str) -> Any:
        data, indices, indptr = (self._tensors[name] for name in parts)
        rows, columns = shape
        if any(type(n) is not int or not 0 <= n < 2**31 for n in shape):
            raise ValueError("no shape")
        if any(part.ndim != 1 for part in (data, indices, indptr)) or {indices.dtype, indptr.dtype} - _PLACES:
            raise ValueError("no CSR matrix")
        sound = len(indptr) == rows + 1 and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
        if not sound or (np.diff(indptr) < 0).any():
            raise ValueError("row pointers that do not fit")
        if len(indices) and (indices.min() < 0 or indices.max() >= columns):
            raise ValueError("a column that is not there")
        return _MATRICES[kind]((data, indices, indptr), shape=(rows, columns))

    def _random(self, said: Any) -> np.random.RandomState:
        state = np.random.RandomState()
        state.set_state(self.read(said))
        return state


_PLACES = {np.dtype(np.int32), np.dtype(np.int64)}


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    """Not zero means any bit: -0.0 is kept."""
    flat = np.ascontiguousarray(array).ravel()
    return flat if array.dtype.kind != "f" else flat.view(f"u{array.itemsize}")


def _under(at: str, key: Any, i: int) -> str:
    return f"{at}.{key}" if isinstance(key, str) else f"{at}.{i}"
