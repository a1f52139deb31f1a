"""Parameter rules as data: what a value must be, and the sentence to say when it is not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Protocol


class Rule(Protocol):
    """Says why a value is wrong, or None when it is right."""

    def objection(self, value: Any) -> str | None: ...


def _is_number(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


@dataclass(frozen=True)
class Number:
    """A finite real number, at least `low` (or above it), at most `high`."""

    low: float
    above: bool = False
    high: float = math.inf

    def objection(self, value: Any) -> str | None:
        need = f"must be a number {'>' if self.above else '>='} {self.low:g}"
        if self.high < math.inf:
            need += f" and <= {self.high:g}"
        if not _is_number(value, Real) or not math.isfinite(value):
            return need
        value = float(value)  # NumPy would compare in float32, where a limit of 1e100 overflows
        right = value > self.low if self.above else value >= self.low
        return None if right and value <= self.high else need


@dataclass(frozen=True)
class Integer:
    """A whole number, at least `low`."""

    low: int | None

    def objection(self, value: Any) -> str | None:
        if _is_number(value, Integral) and (self.low is None or value >= self.low):
            return None
        return "must be a whole number" + ("" if self.low is None else f" >= {self.low}")


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    def objection(self, value: Any) -> str | None:
        if isinstance(value, str) and value in self.words:
            return None
        return "must be " + " or ".join(repr(word) for word in self.words)


@dataclass(frozen=True)
class LossNamed:
    """One of a few words, or a loss of the user's own that says nothing else of its labels."""

    words: tuple[str, ...]
    for_numbers: bool = False

    def objection(self, value: Any) -> str | None:
        from .losses.own import Loss

        if isinstance(value, Loss):
            if value.for_numbers in (None, self.for_numbers):
                return None
            return "is for numbers: use a regressor" if value.for_numbers else "is for classes: use a classifier"
        said = OneOf(self.words).objection(value)
        if isinstance(value, type) and issubclass(value, Loss):
            return f"must be an object, not a class: use loss={value.__name__}()"
        return said and f"{said}, or an object derived from pegasos.Loss"


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def objection(self, value: Any) -> str | None:
        import numpy as np

        return None if isinstance(value, (bool, np.bool_)) else "must be True or False"


@dataclass(frozen=True)
class Level:
    """0, 1, 2, ... or False and True."""

    def objection(self, value: Any) -> str | None:
        return None if Flag().objection(value) is None else Integer(0).objection(value)


@dataclass(frozen=True)
class OrNone:
    """None, or what another rule takes."""

    rule: Rule

    def objection(self, value: Any) -> str | None:
        if value is None:
            return None
        said = self.rule.objection(value)
        return None if said is None else said.replace("must be", "must be None or", 1)


class StepSize:
    """A step size: a word, or a constant."""

    def objection(self, value: Any) -> str | None:
        if isinstance(value, str):
            return OneOf(("pegasos", "norma")).objection(value)
        said = Number(0.0, above=True).objection(value)
        return None if said is None else "must be 'pegasos', 'norma' or a number > 0"


class StartVector:
    """A first w: a word, or a vector."""

    def objection(self, value: Any) -> str | None:
        if isinstance(value, str):
            return OneOf(("zero", "random")).objection(value)
        import numpy as np

        try:
            vector = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            vector = np.empty(())
        right = vector.ndim == 1 and np.isfinite(vector).all()
        return None if right else "must be 'zero', 'random' or a vector of finite numbers, one for each feature"


# Below about 1e-300, 1 / lam is infinite and every step with it; far above 1, lam * t is.
LAM = Number(1e-300, high=1e100)


def check(rules: Mapping[str, Rule], owner: object, hints: Mapping[str, str] | None = None) -> None:
    """Raise ValueError for the first parameter of `owner` that breaks its rule."""
    for name, rule in rules.items():
        value = getattr(owner, name)
        said = rule.objection(value)
        if said is not None:
            hint = (hints or {}).get(name, "")
            raise ValueError(f"{name} {said}, got {value!r}." + (f" {hint}" if hint else ""))
