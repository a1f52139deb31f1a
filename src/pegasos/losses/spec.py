"""What a solver may know of a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from .own import Loss

Array = np.ndarray[Any, np.dtype[np.float64]]
Codes = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, eq=False)
class LossSpec:
    """A loss: formulas in NumPy, and what follows from them. Those that users name have a native twin in
    cpp/pegasos/loss/, which declares the same; contract tests compare the two.

    Attributes
    ----------
    name : str
        What the user writes; the class of a loss of the user's own.
    value, slope : callable
        loss(s, y) and one of its sub-gradients with respect to s, on arrays. Parameters come after y. A loss that is
        joint has scores of shape (n_rows, width) and class codes y, and slopes of the shape of the scores.
    conjugate : callable or None
        loss*(-a) for dual variables a at which it is finite. None: unknown, and nothing can be proven.
    dual_bounds : callable or None
        Lowest and highest a of a row, from its label; of losses of one score.
    takes : tuple of str
        The parameters, in the order of the formulas. A loss with a native twin has one at most: native code takes a
        number or, where a row has a score a class, costs.
    joint : bool
        Whether a row has one score a class, not one.
    smoothness : float
        How fast the slope can change; infinite where it jumps.
    bounded_slope : bool
        Whether no entry of a slope exceeds 1, as the paper's theorems ask. Pegasos begins with shorter steps otherwise.
    piecewise_linear : bool
        Whether the slope jumps, and does nothing else.
    at_zero : callable or None
        Of joint losses, whose `value` takes long with thousands of classes: the loss of each class where all scores are
        zero, from the number of classes and the parameters.
    probabilities : {"sigmoid", "softmax"} or None
        What makes probabilities of scores, where the loss has any.
    liblinear : tuple of str
        What files of LIBLINEAR call models with this loss: what is written, then all else that is read.
    sklearn : mapping or None
        The parameters with which LinearSVC or LinearSVR has this loss, none where it is that of LogisticRegression;
        None: scikit-learn does not have it.
    parameters : mapping
        Values of the parameters, once they are known: see `bound`.
    width : int
        Scores, and dual variables, of a row.
    number : float
        The parameter of a native loss of one score, which has one at most.
    own : Loss or None
        The object of the user's behind it: it has no native twin.
    """

    name: str
    value: Callable[..., Array]
    slope: Callable[..., Array]
    conjugate: Callable[..., Array] | None
    dual_bounds: Callable[[Array], tuple[Array, Array]] | None = None
    takes: tuple[str, ...] = ()
    joint: bool = False
    smoothness: float = np.inf
    bounded_slope: bool = True
    piecewise_linear: bool = False
    at_zero: Callable[..., Array] | None = None
    probabilities: Literal["sigmoid", "softmax"] | None = None
    liblinear: tuple[str, ...] = ()
    sklearn: Mapping[str, str] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    width: int = 1
    number: float = 0.0
    own: Loss | None = None

    def __post_init__(self) -> None:
        known = self.takes in ((), ("costs",)) if self.joint else len(self.takes) <= 1
        if self.own is None and not known:
            raise ValueError(
                f"the loss {self.name!r} takes {', '.join(self.takes)}, but native code takes "
                + ("no parameter but costs of a joint loss: " if self.joint else "one number at most of a loss: ")
                + "extend LossParameters in cpp/pegasos/loss/all.hpp, and what hands it over, first."
            )

    def __str__(self) -> str:
        """As the user wrote it, for messages."""
        return repr(self.name if self.own is None else self.own)

    def bound(self, *, n_classes: int = 1, **given: Any) -> LossSpec:
        """The same for so many classes and with the values of its parameters filled in; it takes those it has."""
        parameters = {name: given[name] for name in self.takes}
        width = n_classes if self.joint else 1
        if not parameters:
            return replace(self, width=width) if self.joint else self
        formulas: dict[str, Any] = {
            name: partial(getattr(self, name), **parameters) for name in ("value", "slope", "conjugate")
        }
        number = 0.0 if self.joint else float(parameters[self.takes[0]])
        return replace(self, **formulas, parameters=parameters, width=width, number=number)

    @property
    def has_native_twin(self) -> bool:
        return self.own is None

    @property
    def is_native_hinge(self) -> bool:
        """Whether it is "hinge" itself. A loss of the user's own is none, whatever its class is called and computes."""
        return self.has_native_twin and self.name == "hinge"
