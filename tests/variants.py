"""Every allowed combination of what Pegasos can be told, sampled so that every pair of values occurs together."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from problems import DATA
from reference import FREE

from pegasos import Pegasos, PegasosClassifier

# No round lam: n / (lam t) = 1 would be a margin of exactly one in a row without features, and rounding would decide.
LAM, D = 0.0517, 6
START = np.array([0.3, -1.2, 0.7, 2.0, -0.1, 1.1])
OPTIONS: dict[str, tuple[Any, ...]] = {
    "bias": PegasosClassifier._rules["bias"].words,
    "output": Pegasos._rules["output"].words,
    "sampling": Pegasos._rules["sampling"].words,
    "step": ("pegasos", "norma", "norma, p = 0.3", 0.02 / LAM, 0.8 / LAM),
    "projection": (False, True),
    "start": ("zero", "random", "array"),
    "advance": Pegasos._rules["advance"].words,
    "k": (1, 3, 8),
    "tail": (0.5, 0.3, 1.0),
    "weights": ("equal", "uneven", "with zeros"),
    "kind": tuple(DATA),
    "tol": (1e-3, 0.6),  # with the second, output="best" compares on a sample of 33 rows
}
Combination = dict[str, Any]


def allowed(c: Combination) -> bool:
    """What is not is refused with a sentence: tests/unit/test_refusals.py."""
    return not (c["bias"] == "batch" and c["k"] == 1) and not (c["projection"] and c["bias"] in FREE)


def draw(rng: np.random.Generator, **given: Any) -> Combination:
    while True:
        found = {name: given.get(name, values[rng.integers(len(values))]) for name, values in OPTIONS.items()}
        if allowed(found):
            return found


def pairs_of(c: Combination) -> set[tuple[str, Any, str, Any]]:
    return {(a, c[a], b, c[b]) for a, b in combinations(OPTIONS, 2)}


def all_pairs() -> set[tuple[str, Any, str, Any]]:
    every = {(a, x, b, y) for a, b in combinations(OPTIONS, 2) for x in OPTIONS[a] for y in OPTIONS[b]}
    never = {("bias", "batch", "k", 1)} | {("bias", bias, "projection", True) for bias in FREE}
    return every - never


def solver_of(c: Combination, T: int | None) -> Pegasos:
    step, p = (c["step"], None) if c["step"] != "norma, p = 0.3" else ("norma", 0.3)
    return Pegasos(
        k=c["k"],
        T=T,
        sampling=c["sampling"],
        step=step,
        p=p,
        projection=c["projection"],
        start=START if c["start"] == "array" else c["start"],
        output=c["output"],
        tail=c["tail"],
        advance=c["advance"],
    )


def model_of(c: Combination, T: int | None, seed: int = 0, **params: Any) -> PegasosClassifier:
    return PegasosClassifier(lam=LAM, bias=c["bias"], tol=c["tol"], solver=solver_of(c, T), random_state=seed, **params)
