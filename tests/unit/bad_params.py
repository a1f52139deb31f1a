"""Parameters and weights out of their range: the error names the parameter and says what it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from bad_cases import Case
from helpers import binary, model

from pegasos import Pegasos

X, Y = binary(40, 5)
FROM_C = r"lam = 1 / \(C \* n_rows\)"

# Parameter: what its message says, and the values that must bring it up.
PARAMETERS: dict[str, tuple[tuple[str, ...], list[Any]]] = {
    "lam": (("lam must be a number", FROM_C), [0, 0.0, -1.0, np.nan, np.inf, 1e-320, "1", None, [1.0], 1j, True]),
    "tol": (("tol must be a number >= 0",), [-1e-9, np.nan, np.inf, "small", None]),
    "max_epochs": (("max_epochs must be a number >= 0",), [-1, np.nan, "many", None]),
    "max_time": (("max_time must be None or a number > 0",), [0, -1, np.nan, np.inf, "long"]),
    "n_jobs": (("n_jobs must", "number|None or 1"), [0, 1.5, "all"]),
    "random_state": (("random_state",), ["seed", -1, 2**40, 1.5, [[1]]]),
    "verbose": (("verbose must be a whole number >= 0",), [-1, 1.5, "loud", None]),
    "warm_start": (("warm_start must be True or False",), ["yes", 1, None]),
    "class_weight": (("class_weight must be a dict, 'balanced' or None",), ["even", [1, 2], np.array([1.0, 2.0]), 3]),
    "solver": (
        ("solver must be 'auto', 'sdca', 'pegasos', or an Auto, SDCA or Pegasos object",),
        ["newton", None, 3, Pegasos],
    ),
    "solver__k": (("k must be a whole number >= 1",), [0, -1, 1.5, np.nan, "all", None, True]),
    "solver__T": (("T must be None or a whole number >= 1",), [0, -1, 1.5, np.inf, "all", True]),
}
FIT_ONLY_PARAMETERS: dict[str, tuple[tuple[str, ...], list[Any]]] = {
    "solver__k": (("k = ", "only 40 rows", "Lower k to at most 40"), [41, 10**6, 2**40, 2**70]),
}


def with_parameter(name: str, value: Any, method: str) -> Any:
    solver = {"solver": Pegasos(T=5)} if name.startswith("solver__") else {}
    made = model(**solver).set_params(**{name: value})
    return made.fit(X, Y) if method == "fit" else made.partial_fit(X, Y, classes=[-1, 1])


def spoiled(value: float) -> np.ndarray:
    s = np.ones(40)
    s[7] = value
    return s


WEIGHTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "one weight negative": (spoiled(-1.0), (r"sample_weight\[7\] = -1\b", "negative", "use 0")),
    "one weight NaN": (spoiled(np.nan), (r"sample_weight\[7\] = nan", "not finite")),
    "one weight infinite": (spoiled(np.inf), (r"sample_weight\[7\] = inf", "not finite")),
    "one weight minus infinity": (spoiled(-np.inf), (r"sample_weight\[7\] = -inf",)),
    "one weight None": ([None] + [1.0] * 39, (r"sample_weight\[0\] = nan|sample_weight must be numbers",)),
    "too few weights": (np.ones(39), ("sample_weight has 39 entries", "40 rows")),
    "too many weights": (np.ones(41), ("sample_weight has 41 entries", "40 rows")),
    "no weights at all": ([], ("sample_weight has 0 entries", "40 rows")),
    "weights in a column": (np.ones((40, 1)), ("[Ss]ample.weight", "1D", r"\(40, 1\)")),
    "weights in two columns": (np.ones((40, 2)), ("[Ss]ample.weight", "1D", r"\(40, 2\)")),
    "weights all zero": (np.zeros(40), ("weights are zero",)),
    "one weight for all, negative": (-1.0, ("sample_weight", "negative")),
    "weights of words": (["heavy"] * 40, ("sample_weight must be numbers", "one for each row")),
    "one word for all weights": ("balanced", ("sample_weight must be numbers",)),
    "weights complex": (np.full(40, 1 + 1j), ("sample_weight",)),
    "weights in a dict": ({-1: 1.0, 1: 2.0}, ("sample_weight",)),
}
CLASS_WEIGHTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "class_weight negative": ({1: -1.0}, (r"class_weight\[1\] = -1.0", ">= 0")),
    "class_weight NaN": ({1: np.nan}, (r"class_weight\[1\] = nan", "finite")),
    "class_weight infinite": ({1: np.inf}, (r"class_weight\[1\] = inf", "finite")),
    "class_weight a word": ({1: "heavy"}, (r"class_weight\[1\] = 'heavy'", "number")),
    "class_weight None": ({1: None}, (r"class_weight\[1\] = None", "number")),
    "class_weight all zero": ({-1: 0, 1: 0}, ("weights are zero",)),
}
ALONE: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "class_weight='balanced' in partial_fit": (
        lambda: model(class_weight="balanced").partial_fit(X, Y, classes=[-1, 1]),
        ("class_weight='balanced'", "partial_fit", "dict"),
    ),
    "k above the rows of positive weight": (
        lambda: model(solver=Pegasos(k=35)).fit(X, Y, (np.arange(40) % 4 > 0).astype(float)),
        ("k = 35", "only 30 rows of positive weight", "at most 30"),
    ),
    "lam so small that rows overflow": (
        lambda: model(lam=1e-290).fit(1e10 * X, Y),
        ("squared norm of a row", "lam = 1e-290", "raise lam"),
    ),
    "predict before fit": (lambda: model().predict(X), ("not fitted",)),
}


def _all() -> Iterator[Case]:
    for name, (says, values) in PARAMETERS.items():
        for value in values:
            for method in ("fit", "partial_fit"):
                run = partial(with_parameter, name, value, method)
                yield Case("parameters", f"{name}={value!r}", method, run, says)
    for name, (says, values) in FIT_ONLY_PARAMETERS.items():
        for value in values:
            yield Case("parameters", f"{name}={value!r}", "fit", partial(with_parameter, name, value, "fit"), says)
    for fault, (s, says) in WEIGHTS.items():
        fit, again = model().fit, partial(model().partial_fit, classes=[-1, 1])
        yield Case("weights", fault, "fit", partial(fit, X, Y, sample_weight=s), says)
        yield Case("weights", fault, "partial_fit", partial(again, X, Y, sample_weight=s), says)
    for fault, (weight, says) in CLASS_WEIGHTS.items():
        fit, again = model(class_weight=weight).fit, partial(model(class_weight=weight).partial_fit, classes=[-1, 1])
        yield Case("weights", fault, "fit", partial(fit, X, Y), says)
        yield Case("weights", fault, "partial_fit", partial(again, X, Y), says)
    for fault, (run, says) in ALONE.items():
        yield Case("alone", fault, "as said", run, says)


CASES = list(_all())
