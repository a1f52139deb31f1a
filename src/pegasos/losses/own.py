"""The base of a user's own loss, and the questions it is asked before it is trusted."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rules import Number, OrNone
from .spec import LossSpec

Floats = NDArray[np.float64]
_FAR = 1e100  # a score beyond it belongs to no sensible model; NaN is neither


class Loss:
    """Base of a loss of your own, for ``loss=MyLoss()``.

    Derive from it and write `value` and `slope`. Both get an array of scores and an array of labels, the rows of one
    step, and return an array; y is -1 or 1 for `PegasosClassifier`, a number for `PegasosRegressor`. The loss must be
    convex in the score and not negative. Before the first step it is tried at a few hundred points, and an error shows
    one at which `slope` is not a sub-gradient of `value`.

    Linear models take it. `Pegasos`, which is also what ``solver="auto"`` means here, asks for the slopes of a batch,
    one call a step: the larger k, the less the calls matter. Every option works but ``bias="batch"`` and ``"search"``,
    the hinge's own, and ``certify=False`` where the slope is not bounded. Solvers of your own that derive from
    `pegasos.solvers.IterativeSolver` take it as well; `SDCA` does not.

    Attributes
    ----------
    smoothness : float or None, default=None
        How fast the slope can change with the score. Set it where the slope is not bounded, 2 for (score - y)^2 for
        example: steps then begin small enough not to explode.
    for_numbers : bool or None, default=None
        Whether y is numbers to predict. True is refused by classifiers, False by regressors, and None by neither.
        `lam_path`, which takes both, then goes by y: numbers that are not all whole are a regression.

    Notes
    -----
    A third method, ``conjugate(a, y)``, is optional: the supremum of ``-a s - value(s, y)`` over all scores s, infinite
    where there is none. With it a fit is certified, and stops at `tol`. Without it `gap_` is NaN, the fit stops after
    `max_epochs` or the solver's T, and a warning comes only if the model is worse than weights of zero.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos import Loss, PegasosRegressor
    >>> class Pinball(Loss):
    ...     def value(self, scores, y):
    ...         return np.maximum(0.9 * (y - scores), 0.1 * (scores - y))
    ...
    ...     def slope(self, scores, y):
    ...         return np.where(scores < y, -0.9, 0.1)
    >>> X, y = np.ones((100, 1)), np.arange(100.0)
    >>> model = PegasosRegressor(lam=1e-4, loss=Pinball(), bias="none", max_epochs=200, random_state=0).fit(X, y)
    >>> bool(abs(model.predict(X[:1])[0] - 90) < 5)  # nine tenths lie below
    True
    """

    smoothness: float | None = None
    for_numbers: bool | None = None
    conjugate: Any = None

    def value(self, scores: Floats, y: Floats) -> Floats:
        """The loss of each row."""
        raise NotImplementedError(f"{type(self).__name__} needs a method value(scores, y).")

    def slope(self, scores: Floats, y: Floats) -> Floats:
        """The derivative of each row's loss with respect to its score; any sub-gradient where there is none."""
        raise NotImplementedError(f"{type(self).__name__} needs a method slope(scores, y).")


def spec_of_own(loss: Loss) -> LossSpec:
    """What solvers may know of it. A slope whose smoothness is not said counts as bounded."""
    return LossSpec(
        name=type(loss).__name__,
        value=partial(call, loss, "value"),
        slope=partial(call, loss, "slope"),
        conjugate=None if loss.conjugate is None else partial(call, loss, "conjugate"),
        smoothness=np.inf if loss.smoothness is None else loss.smoothness,
        bounded_slope=loss.smoothness is None,
        own=loss,
    )


def frozen(x: Floats) -> Floats:
    """The array itself; nobody can write to it any more."""
    x.flags.writeable = False
    return x


def call(loss: Loss, method: str, x: Floats, y: Floats) -> Floats:
    """value, slope or conjugate of rows, with the shape and type checked."""
    return asked(loss, method, x, y)[0]


def asked(loss: Loss, method: str, x: Floats, y: Floats) -> tuple[Floats, float]:
    """What a method returns, and the rounding of the type that it is in. It cannot write to what it is given."""
    x, y = frozen(x.view()), frozen(y.view())
    found = _shaped(loss, method, x, y, getattr(loss, method)(x, y))
    numbers = found.astype(np.float64)
    refuse_bad_numbers(loss, method, x, y, numbers)
    return numbers, float(np.finfo(found.dtype).eps) if found.dtype.kind == "f" else 0.0


def slopes_of(loss: Loss, scores: Floats, y: Floats) -> Floats:
    """The slopes of a batch, of arrays that nobody can write to; whether they are finite is left to the caller."""
    found = loss.slope(scores, y)
    if type(found) is np.ndarray and found.dtype == np.float64 and found.shape == scores.shape:
        return found
    return _shaped(loss, "slope", scores, y, found).astype(np.float64)


def unchecked(loss: Loss, method: str, x: Floats, y: Floats) -> Floats:
    """Like `call`, far away from any score that rows have: numbers may overflow there."""
    x, y = frozen(x.view()), frozen(y.view())
    with np.errstate(all="ignore"):
        return _shaped(loss, method, x, y, getattr(loss, method)(x, y)).astype(np.float64)


def _shaped(loss: Loss, method: str, x: Floats, y: Floats, returned: Any) -> NDArray[Any]:
    found = np.asarray(returned)
    if found.shape != x.shape or found.dtype.kind not in "fiub":
        raise ValueError(
            f"{type(loss).__name__}.{method} must return one number for each of the {len(x)} rows it is given, got "
            f"{found.dtype} of shape {found.shape}."
        )
    return found


def refuse_bad_numbers(loss: Loss, method: str, x: Floats, y: Floats, numbers: Floats) -> None:
    """Raise ValueError with the first row whose number is none, or infinite where that has no meaning."""
    if np.isnan(numbers).any() or (method != "conjugate" and np.isinf(numbers).any()):
        i = int(np.flatnonzero(~np.isfinite(numbers))[0])
        far = method != "conjugate" and loss.smoothness is None and not abs(x[i]) <= _FAR
        raise ValueError(
            f"{type(loss).__name__}.{method} is {numbers[i]} at {x[i]:.6g} for y = {y[i]:.6g}."
            + " Steps were too long: if the slope is not bounded, set `smoothness` (2 for (score - y)^2)." * far
        )


def check_loss(loss: Loss, labels: Floats) -> None:
    """Raise ValueError with a counter-example where slope is no sub-gradient of value, or conjugate no conjugate."""
    name = type(loss).__name__
    said = OrNone(Number(0.0, above=True)).objection(loss.smoothness)
    if said is not None:
        raise ValueError(f"{name}.smoothness {said}, got {loss.smoothness!r}.")
    rng = np.random.default_rng(0)
    y = rng.choice(labels, 400)
    reach = np.array([0.1, 1.0, 10.0, 3.0 * float(labels.std())])[np.arange(400) % 4]
    s, u = y + reach * rng.standard_normal(400), y + reach * rng.standard_normal(400)
    s[:40], u[40:80] = 0.0, y[40:80]  # places where many losses have their corner
    (value, of_value), (slope, of_slope) = asked(loss, "value", s, y), asked(loss, "slope", s, y)
    other = call(loss, "value", u, y)
    line = value + slope * (u - s)
    # Scores near y lose digits of y itself in a type of few digits.
    size = 1.0 + np.abs(value) + np.abs(slope) * (np.abs(u) + np.abs(s) + np.abs(y))
    slack = np.maximum(1e-7 * (1.0 + np.abs(line)), 8 * max(of_value, of_slope) * size)
    i = int(np.argmax(line - other - slack))
    if line[i] > other[i] + slack[i]:
        raise ValueError(
            f"{name}.slope is not a sub-gradient of {name}.value. For y = {y[i]:.6g}: value({s[i]:.6g}) = "
            f"{value[i]:.6g} and slope({s[i]:.6g}) = {slope[i]:.6g} put the line at {line[i]:.6g} in {u[i]:.6g}, above "
            f"value({u[i]:.6g}) = {other[i]:.6g}. slope must be the derivative of value with respect to the score, "
            "not its negative, and value must be convex."
        )
    if (value < 0).any():
        i = int(np.argmin(value))
        raise ValueError(f"{name}.value must not be negative; it is {value[i]:.6g} at {s[i]:.6g} for y = {y[i]:.6g}.")
    if loss.conjugate is None:
        return
    a = -slope
    found, of_found = asked(loss, "conjugate", a, y)
    part = max(1e-6, 8 * max(of_value, of_slope, of_found))
    wrong = np.abs(value + found + a * s) > part * (1.0 + np.abs(value) + np.abs(a * s) + np.abs(a * y))
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{name}.conjugate is wrong. For y = {y[i]:.6g}, at a = -slope({s[i]:.6g}) = {a[i]:.6g} it must be "
            f"-a s - value(s) = {-a[i] * s[i] - value[i]:.6g}, got {found[i]:.6g}."
        )
