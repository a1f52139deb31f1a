"""gamma, degree, coef0 and kernel_params: checked, and settled on the training rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..rules import Number, Rule, check

_MOST = float(np.finfo(np.float64).max)  # where the variance is so small that its inverse has no number


class _Gamma:
    """'scale', 'auto' or a number."""

    def objection(self, value: Any) -> str | None:
        right = value in ("scale", "auto") if isinstance(value, str) else Number(0.0).objection(value) is None
        return None if right else "must be 'scale', 'auto' or a number >= 0"


@dataclass(frozen=True)
class Parameters:
    """What the user said about the kernel; after `resolve`, gamma is a number."""

    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    kernel_params: Mapping[str, Any] | None = field(default_factory=dict)

    @property
    def psd(self) -> bool:
        """Whether the user vouches for it."""
        return bool((self.kernel_params or {}).get("psd", False))


RULES: dict[str, Rule] = {"gamma": _Gamma(), "degree": Number(0.0), "coef0": Number(-np.inf)}


def resolve(
    given: Parameters, X: Any, s: NDArray[np.float64] | None, takes: tuple[str, ...], extra: tuple[str, ...] | None
) -> Parameters:
    """Parameters with gamma as a number. extra: the entries `kernel_params` may have, None for any."""
    check_parameters(given, extra)
    gamma = _gamma(given.gamma, X, s) if "gamma" in takes else 0.0
    return replace(given, gamma=gamma, kernel_params=dict(given.kernel_params or {}))


def check_parameters(given: Parameters, extra: tuple[str, ...] | None) -> None:
    """What can be said without rows."""
    check(RULES, given)
    said = given.kernel_params
    if said is not None and not isinstance(said, Mapping):
        raise ValueError(f"kernel_params must be None or a dict, got {said!r}.")
    for key in said or {}:
        if extra is not None and key not in extra:
            known = ", ".join(repr(name) for name in extra) or "none"
            raise ValueError(
                f"kernel_params has the entry {key!r}, which this kernel does not take; it takes: {known}."
            )
    psd = (said or {}).get("psd", False)
    if not isinstance(psd, bool | np.bool_):
        raise ValueError(f"kernel_params['psd'] must be True or False, got {psd!r}.")


def _gamma(given: Any, X: Any, s: NDArray[np.float64] | None) -> float:
    if not isinstance(given, str):
        return float(given)
    d = max(1, int(X.shape[1]))
    if given == "auto":
        return 1.0 / d
    variance = _variance(X, s)
    return min(1.0 / (d * variance), _MOST) if variance > 0 else 1.0


def _variance(X: Any, s: NDArray[np.float64] | None) -> float:
    """Of all entries together, as SVC's gamma="scale" takes it; a row of weight 2 counts like the row twice.

    The mean is taken first: the mean square of numbers far from zero says little about how far apart they are.
    """
    m, d = X.shape[0], max(1, int(X.shape[1]))
    share = np.full(m, 1.0 / m) if s is None else s / s.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        guess = float(share @ _row_sums(X, 0.0, 1)) / d
        off = float(share @ _row_sums(X, guess, 1)) / d  # what rounding has left
        return max(0.0, float(share @ _row_sums(X, guess, 2)) / d - off**2)


def _row_sums(X: Any, centre: float, power: int) -> NDArray[np.float64]:
    """sum_j (x_j - centre)^power of every row; sparse rows have zeros that are not written down."""
    out = np.empty(X.shape[0])
    for i in range(0, X.shape[0], 1024):
        rows = X[i : i + 1024].astype(np.float64)
        if sp.issparse(rows):
            absent = X.shape[1] - np.diff(rows.indptr)
            rows.data = (rows.data - centre) ** power
            out[i : i + 1024] = np.asarray(rows.sum(axis=1)).ravel() + absent * (0.0 - centre) ** power
        else:
            out[i : i + 1024] = ((rows - centre) ** power).sum(axis=1)
    return out
