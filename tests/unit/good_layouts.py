"""The same numbers in every layout numpy and scipy allow give the same model, and the arrays stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import scipy.sparse as sp
from bad_cases import Case
from helpers import same_model, steps

ROWS = np.random.default_rng(0).normal(size=(40, 7)) * (np.arange(280).reshape(40, 7) % 3 > 0)
Y = np.where(ROWS[:, 1] + ROWS[:, 2] > 0, 1, -1)
S = 0.5 + np.arange(40) / 32  # exact in float32


def unaligned(a: np.ndarray) -> np.ndarray:
    room = np.empty(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    room[...] = a
    assert a.dtype.itemsize == 1 or not room.flags.aligned
    return room


def read_only(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


def memory_mapped(a: np.ndarray) -> np.ndarray:
    """A file mapped for reading only: writing to it would end the process."""
    with TemporaryFile() as file:
        file.write(a.tobytes())
        file.flush()
        return np.memmap(file, a.dtype, mode="r", shape=a.shape)


def every_other(a: np.ndarray) -> np.ndarray:
    room = np.full((2 * len(a), *a.shape[1:]), 77, a.dtype)
    room[::2] = a
    return room[::2]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "the other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "unaligned": unaligned,
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "memory-mapped": memory_mapped,
    "negative strides": lambda a: a[::-1].copy()[::-1],
    "every other of a larger array": every_other,
}
COLUMN_LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "negative column strides": lambda a: a[:, ::-1].copy()[:, ::-1],
    "columns of a wider array": lambda a: np.hstack([a, a])[:, : a.shape[1]],
    "a list of lists": np.ndarray.tolist,
}


def check(make_X: Callable[[], Any], plain: Any, y: Any = Y, s: Any = S) -> None:
    """Equal bytes of the model at fit and partial_fit, and equal scores."""
    A = make_X()
    fitted, expected = steps().fit(A, y, s), steps().fit(plain, Y, S)
    assert same_model(fitted, expected), "fit differs"
    again = steps().partial_fit(A, y, classes=[-1, 1], sample_weight=s)
    assert same_model(again, steps().partial_fit(plain, Y, classes=[-1, 1], sample_weight=S)), "partial_fit differs"
    assert np.array_equal(expected.decision_function(A), expected.decision_function(plain)), "decision_function differs"
    assert np.array_equal(expected.predict(A), expected.predict(plain)), "predict differs"


def check_untouched(array: np.ndarray, use: Callable[[np.ndarray], Any]) -> None:
    before = array.tobytes() if isinstance(array, np.ndarray) else None
    use(array)
    assert not isinstance(array, np.ndarray) or array.tobytes() == before, "the array was written to"


def dense(layout: Callable[[np.ndarray], np.ndarray], dtype: Any) -> None:
    plain = ROWS.astype(dtype)
    expected = plain if not isinstance(layout(plain), list) else plain.astype(np.float64)
    check_untouched(layout(plain), lambda a: check(lambda: a, expected))


def csr_part(layout: Callable[[np.ndarray], np.ndarray], attribute: str, dtype: Any, index: Any) -> None:
    """A CSR matrix one of whose arrays has the layout; scipy would tidy it up, so it is put in afterwards."""
    plain = sp.csr_matrix(ROWS.astype(dtype))
    plain.indices, plain.indptr = plain.indices.astype(index), plain.indptr.astype(index)
    odd = plain.copy()
    array = layout(getattr(plain, attribute))
    setattr(odd, attribute, array)
    check_untouched(array, lambda _: check(lambda: odd, plain))


def labels(layout: Callable[[np.ndarray], np.ndarray], dtype: Any) -> None:
    y = Y.astype(dtype)
    odd = steps().fit(ROWS, layout(y), S)
    assert same_model(odd, steps().fit(ROWS, y, S))
    assert np.array_equal(odd.classes_, np.unique(y))
    assert np.mean(odd.predict(ROWS) == y) > 0.8


def weights(layout: Callable[[np.ndarray], np.ndarray], dtype: Any) -> None:
    check_untouched(layout(S.astype(dtype)), lambda s: check(ROWS.copy, ROWS, Y, s))


def untidy_csr(dtype: Any, index: Any) -> None:
    """Indices in falling order and twice, under flags that say the opposite, equal the tidy matrix."""
    plain = sp.csr_matrix(ROWS.astype(dtype))
    data, indices, indptr = [], [], [0]
    for i in range(40):
        row = slice(plain.indptr[i], plain.indptr[i + 1])
        for value, column in zip(plain.data[row][::-1], plain.indices[row][::-1], strict=True):
            data += [value / 2, value / 2]  # halves add up exactly
            indices += [column, column]
        indptr.append(len(data))
    odd = sp.csr_matrix((np.array(data, dtype), np.array(indices, index), np.array(indptr, index)), shape=plain.shape)
    odd.has_sorted_indices = odd.has_canonical_format = True
    before = odd.data.tobytes(), odd.indices.tobytes(), odd.indptr.tobytes()
    tidy, untidy = steps().fit(plain, Y), steps().fit(odd, Y)
    assert same_model(tidy, untidy)
    np.testing.assert_allclose(tidy.decision_function(odd), untidy.decision_function(plain), rtol=1e-12)
    assert (odd.data.tobytes(), odd.indices.tobytes(), odd.indptr.tobytes()) == before, "the matrix was tidied in place"


def _all() -> Iterator[Case]:
    floats, whole = (np.float32, np.float64), (np.int32, np.int64)
    for name, layout in {**LAYOUTS, **COLUMN_LAYOUTS}.items():
        for dtype in floats:
            yield Case("dense", f"dense X, {name}", dtype.__name__, partial(dense, layout, dtype), None)
    for name, layout in LAYOUTS.items():
        for attribute in ("data", "indices", "indptr"):
            for dtype in floats:
                for index in whole:
                    run = partial(csr_part, layout, attribute, dtype, index)
                    variant = f"{attribute}, {dtype.__name__}, {index.__name__}"
                    yield Case("csr", f"part of a CSR matrix, {name}", variant, run, None)
        for dtype in (np.int64, np.int8, np.float64, "U3"):
            yield Case("labels", f"y, {name}", str(np.dtype(dtype)), partial(labels, layout, dtype), None)
        for dtype in floats:
            yield Case("weights", f"sample_weight, {name}", dtype.__name__, partial(weights, layout, dtype), None)
    for dtype in floats:
        for index in whole:
            run = partial(untidy_csr, dtype, index)
            yield Case("csr", "CSR matrix with untidy rows", f"{dtype.__name__}, {index.__name__}", run, None)


CASES = list(_all())
