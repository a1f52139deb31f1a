"""What cross-validation found: which lam is best, when to stop looking, and the table of it all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..problem.problem import Floats

_CLEARLY = 2.0  # standard errors of a difference


def best_of(scores: Floats, rule: str) -> int:
    """The column of the best mean score, the first of several; or the first that is within a standard error of it.

    Columns with a score that is not known do not count.
    """
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        raise ValueError("no lam has a score in every fold: scoring returned NaN.")
    best = int(np.nanargmax(means))
    if rule == "best":
        return best
    return int(np.flatnonzero(means >= means[best] - _standard_error(scores[:, best]))[0])


def is_past(scores: Floats, doubt: float = 0.0) -> bool:
    """Whether smaller lam can be left out: the last two columns are worse than the best before them, each worse than
    the one before it, and the last clearly: by more than a standard error of the best score, by more than two of the
    differences, fold by fold, and by more than it can be off (doubt). No proof: scores might rise again.
    """
    n = scores.shape[1]
    means = scores.mean(axis=0)
    if n < 3 or np.isnan(means).any():
        return False
    best = int(np.argmax(means))
    if best >= n - 2 or not means[-2] > means[-1] or means[-2] == means[best]:
        return False
    lost = scores[:, best] - scores[:, -1]
    return bool(lost.mean() > max(_standard_error(scores[:, best]), _CLEARLY * _standard_error(lost), doubt))


def open_questions(scores: Floats, exact: list[int], doubts: Floats) -> list[int]:
    """Columns that are not exact but might be the best if they were: the best, and those that are no further behind it
    than they can be off. None where the best is exact and clear.
    """
    means = scores.mean(axis=0)
    if np.isnan(means).all():
        return []
    behind = np.nanmax(means) - means
    return [int(i) for i in np.flatnonzero(behind <= doubts) if i not in exact]


def _param(values: list[Any]) -> Any:
    """A masked array, of numbers where all are numbers."""
    numeric = all(isinstance(value, float | int) and not isinstance(value, bool) for value in values)
    array = np.ma.MaskedArray(np.empty(len(values), float if numeric else object), mask=True)
    for i, value in enumerate(values):
        if value is not np.ma.masked:
            array[i] = value
    return array


def _standard_error(values: Floats) -> float:
    n = len(values)
    return float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else 0.0


def table(candidates: list[dict[str, Any]], held_out: Floats, train: Floats) -> dict[str, Any]:
    """cv_results_, as GridSearchCV has it but for the times: fits share their work, and have none of their own.

    candidates: the parameters of every column of the scores.
    """
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for each in candidates for name in each):
        found[f"param_{name}"] = _param([each.get(name, np.ma.masked) for each in candidates])
    found["params"] = candidates
    for name, scores in (("test", held_out), ("train", train)):
        for k, line in enumerate(scores):
            found[f"split{k}_{name}_score"] = line.copy()
        found[f"mean_{name}_score"] = scores.mean(axis=0)
        found[f"std_{name}_score"] = scores.std(axis=0)
    means = found["mean_test_score"]
    worst = np.nanmin(means) - 1 if not np.isnan(means).all() else 0.0
    found["rank_test_score"] = rankdata(-np.where(np.isnan(means), worst, means), method="min").astype(np.int32)
    return found
