"""The fitted attributes of a file, taken one by one, each with what it has to be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .container import Damaged

Shape = Sequence[int | None]


class State:
    """What a file says about a model. Whoever builds one takes everything out; what is left over is an error."""

    def __init__(self, values: Any) -> None:
        if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
            raise Damaged("its attributes are no dict")
        self._values = dict(values)

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def peek(self, name: str) -> Any:
        """A value that will be taken later, None where there is none."""
        return self._values.get(name)

    def take(self, name: str, *kinds: type) -> Any:
        """A value of one of these types, or of any."""
        if name not in self._values:
            raise Damaged(f"{name} is missing")
        value = self._values.pop(name)
        if kinds and type(value) not in kinds:
            raise Damaged(
                f"{name} is a {type(value).__name__} instead of {' or '.join(kind.__name__ for kind in kinds)}"
            )
        return value

    def count(self, name: str, least: int = 0) -> int:
        value: int = self.take(name, int)
        if not least <= value < 2**63:
            raise Damaged(f"{name} is {value}")
        return value

    def array(self, name: str, kinds: str, shape: Shape, finite: bool = True) -> NDArray[Any]:
        """An array of numbers. kinds: letters of dtypes as numpy has them; shape: None stands for any length."""
        array: NDArray[Any] = self.take(name, np.ndarray)
        if array.dtype.kind not in kinds:
            raise Damaged(f"{name} has the type {array.dtype}")
        _expect(name, array.shape, shape)
        if finite and array.dtype.kind == "f" and not np.isfinite(array).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise Damaged(f"{name} has {array[place]} at {place}")
        return array

    def rows(self, name: str, shape: Shape, kinds: str = "f") -> Any:
        """The same, of an array or a sparse matrix."""
        value: Any = self.peek(name)
        if not sp.issparse(value):
            return self.array(name, kinds, shape)
        del self._values[name]
        _expect(name, value.shape, shape)
        if value.dtype.kind not in kinds or not np.isfinite(value.data).all():
            raise Damaged(f"{name} has the type {value.dtype}, or values that are not finite")
        return value

    def labels(self, name: str, least: int) -> NDArray[Any]:
        """Different labels of any kind."""
        array: NDArray[Any] = self.take(name, np.ndarray)
        found = array.tolist()
        try:
            different = len(set(found))
        except TypeError:
            raise Damaged(f"{name} has labels of which nobody can tell whether they are equal") from None
        if array.ndim != 1 or len(found) < least or different < len(found):
            raise Damaged(f"{name} does not have {least} or more different labels")
        return array

    def end(self) -> None:
        if self._values:
            raise Damaged(f"it has attributes that this version does not know: {', '.join(sorted(self._values))}")


def _expect(name: str, found: tuple[int, ...], wanted: Shape) -> None:
    fits = len(found) == len(wanted) and all(w is None or w == n for n, w in zip(found, wanted, strict=True))
    if not fits:
        said = ", ".join("any" if n is None else str(n) for n in wanted)
        raise Damaged(f"{name} has shape {found} where the model needs ({said})")


@dataclass(frozen=True)
class Family:
    """state: the attributes that say what the model is; restore: sets them, and refuses those that do not fit."""

    state: Callable[[Any], dict[str, Any]]
    restore: Callable[[Any, State], None]
