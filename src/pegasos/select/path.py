"""Models along a path of falling lam."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..caller import user_level
from ..estimators.base import Stated, seed_of
from ..estimators.linear import PegasosClassifier
from ..estimators.regression import PegasosRegressor
from ..losses import REGRESSION
from ..losses.own import Loss
from ..problem.data import own_labels
from ..problem.labels import INSTEAD, Continuous
from ..problem.problem import Floats
from ..rules import check
from ..solvers.base import Fit, Run
from ..solvers.many import Job, solve_many
from ..solvers.store import refuse_store
from .chain import chains, solve_next
from .grid import Lams, largest_lam, spaced, values_of

_NAMED = 5  # values of lam in a warning


@dataclass(frozen=True)
class LamPath:
    """What `lam_path` returns: one entry a lam, the largest first.

    Attributes
    ----------
    lams : ndarray of shape (n_lams,)
    coefs : ndarray of shape (n_lams, n_features), or (n_lams, n_classes, n_features) for more than two classes
    intercepts : ndarray of shape (n_lams,) or (n_lams, n_classes)
    objectives, gaps : ndarray of shape (n_lams,) or (n_lams, n_classes)
        f(w), and what it can be above the minimum at most; one a class where each is fitted against the rest.
    """

    lams: Floats
    coefs: Floats
    intercepts: Floats
    objectives: Floats
    gaps: Floats


@dataclass
class _Asked:
    lams: Any


def lam_path(X: Any, y: Any, lams: Any = 10, *, sample_weight: Any = None, **params: Any) -> LamPath:
    """The models for falling lam, each from the dual variables of those before.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Class labels; numbers where `loss` is one of numbers. With a loss of your own its `for_numbers` says which;
        where that is None, numbers that are not all whole are no classes.
    lams : int or array-like, default=10
        How many values, spaced evenly on a logarithmic scale over five decades down from the largest at which anything
        happens (see `PegasosClassifierCV`), or the values.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weight of each row.
    **params
        Of `PegasosClassifier`, or of `PegasosRegressor` where y is numbers: loss, bias, tol, n_jobs and so on, but for
        lam and warm_start.

    Returns
    -------
    path : LamPath
        lams, coefs, intercepts, objectives and gaps.

    Notes
    -----
    Ctrl-C ends the path with the last lam that is finished, and a warning says which are missing; where none is, it is
    raised.

    Examples
    --------
    >>> from pegasos import datasets, lam_path
    >>> X, y = datasets.make_binary(500, 10, random_state=0)
    >>> path = lam_path(X, y, [1e-1, 1e-2, 1e-3])
    >>> path.coefs.shape, bool((path.gaps <= 1e-3).all())
    ((3, 10), True)
    """
    check({"lams": Lams()}, _Asked(lams))
    if refused := {"lam", "warm_start"} & set(params):
        raise ValueError(f"lam_path goes through lams by itself: it takes no {' and no '.join(sorted(refused))}.")
    numeric = _is_regression(params.get("loss"), X, y)
    model: Any = PegasosRegressor(**params) if numeric else PegasosClassifier(**params)
    refuse_store("lam_path")
    run = replace(model._begin(), remember=True)
    values = values_of(lams)
    try:
        stated = model._open(X, y, sample_weight, run, 1.0 if values is None else float(values[-1]))
    except Continuous as error:
        raise ValueError(str(error).replace(INSTEAD, f"give loss={' or '.join(map(repr, REGRESSION))}")) from None
    stated.problem.check_scale()
    if values is None:
        values = spaced(largest_lam(stated.problem, len(stated.names)), int(lams))
    found: list[tuple[Floats, list[Fit]]] = []
    try:
        for one in _along(model, stated, values, run):
            found.append(one)
    except KeyboardInterrupt:
        if not found:
            raise
        _warn_unfinished(values, len(found))
    return _path(values[: len(found)], np.stack([models for models, _ in found]), [fits for _, fits in found])


def _along(model: Any, stated: Stated, lams: Floats, run: Run) -> Iterator[tuple[Floats, list[Fit]]]:
    """Models and fits of one lam after the other."""
    problem, n_models = stated.problem, len(stated.names)
    solver = model._method(problem, run)
    solver.check(problem, run)
    series = chains(n_models, np.zeros(problem.n_weights), solver)
    seed = seed_of(model.random_state, solver)
    for i, lam in enumerate(lams.tolist()):
        at_lam = replace(problem, lam=lam)
        several = n_models > 1
        jobs = [Job(at_lam, chain.start(), k if several else None) for k, chain in enumerate(series)]
        share = None if run.max_time is None else run.seconds() + max(0.0, run.seconds_left()) / (len(lams) - i)
        in_time = replace(run, max_time=share)
        each = solve_next(series, jobs, run, partial(solve_many, solver=solver, run=in_time, seed=seed))
        if error := next((fit.error for fit in each if fit.error is not None), None):
            raise error
        yield at_lam.models([fit.w for fit in each]), each


def _warn_unfinished(lams: Floats, done: int) -> None:
    left = ", ".join(f"{lam:.3g}" for lam in lams[done : done + _NAMED].tolist())
    warnings.warn(
        f"interrupted: the path has {done} of {len(lams)} values of lam; missing: {left}"
        f"{', ...' if len(lams) > done + _NAMED else ''}.",
        stacklevel=user_level(),
    )


def _is_regression(loss: Any, X: Any, y: Any) -> bool:
    """What the loss says; y, where a loss of the user's own says nothing."""
    if not isinstance(loss, Loss):
        return isinstance(loss, str) and loss in REGRESSION
    if loss.for_numbers is not None:
        return bool(loss.for_numbers)
    numbers = np.asarray(own_labels(X, y))
    return numbers.dtype.kind == "f" and bool((numbers != np.floor(numbers)).any())


def _path(lams: Floats, models: Floats, fits: list[list[Fit]]) -> LamPath:
    numbers = np.array([[(fit.objective, fit.objective - fit.dual_objective) for fit in each] for each in fits])
    objectives, gaps = np.moveaxis(numbers[:, 0] if numbers.shape[1] == 1 else numbers, -1, 0)
    one = models.shape[1] == 1
    coefs, intercepts = models[..., :-1], models[..., -1]
    return LamPath(lams, coefs[:, 0] if one else coefs, intercepts[:, 0] if one else intercepts, objectives, gaps)
