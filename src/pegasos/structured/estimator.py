"""PegasosStructured: the structured hinge for any structure that an object of the user's can decode."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .. import words
from ..caller import user_level
from . import run
from .any_structure import frank_wolfe, pegasos
from .examples import Examples, Journal
from .run import Floats, Rule
from .solve import solver_for
from .working_set import WorkingSet

_ASKED = ("joint_feature", "decode", "decode_with_cost", "cost")


class Structure(Protocol):
    """What the user's object must be able to do."""

    def joint_feature(self, x: Any, y: Any) -> Any:
        """phi(x, y): a vector, or a sparse row."""

    def decode(self, x: Any, w: Floats) -> Any:
        """The y that maximises <w, phi(x, y)>."""

    def decode_with_cost(self, x: Any, y: Any, w: Floats) -> Any:
        """The y2 that maximises cost(y, y2) + <w, phi(x, y2)>."""

    def cost(self, y: Any, y2: Any) -> float:
        """What y2 costs where y is right: >= 0, and 0 for y itself."""


class PegasosStructured(run.SolverInside, run.Files, run.CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Structured prediction: rankings, trees, grids, whatever can be decoded.

    Parameters
    ----------
    model : object
        With `joint_feature(x, y)`, `decode(x, w)`, `decode_with_cost(x, y, w)` and `cost(y, y2)`. `decode_with_cost`
        must find the maximum: the proof rests on it. Where it is caught finding less, `gap_` is nan, with a warning.
    lam, tol, max_epochs, max_time, solver, warm_start, random_state, verbose
        As in `PegasosSequenceTagger`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    objective_, dual_objective_, gap_, converged_, history_, n_iter_, n_steps_
        As in `PegasosSequenceTagger`.

    Notes
    -----
    f(w) = lam/2 ||w||^2 + mean_i max_y cost(y_i, y) + <w, phi(x_i, y)> - <w, phi(x_i, y_i)>, eq. 20 of the Pegasos
    paper. The solvers are those of `PegasosSequenceTagger` for the hinge, in NumPy.

    Examples
    --------
    Which of three numbers is the largest?

    >>> import numpy as np
    >>> from pegasos import PegasosStructured
    >>> class Largest:
    ...     def joint_feature(self, x, y):
    ...         return np.array([x[y]])
    ...     def cost(self, y, y2):
    ...         return float(y != y2)
    ...     def decode(self, x, w):
    ...         return int(np.argmax(w[0] * x))
    ...     def decode_with_cost(self, x, y, w):
    ...         return int(np.argmax(w[0] * x + (np.arange(3) != y)))
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = PegasosStructured(Largest(), lam=0.01).fit(list(X), X.argmax(axis=1).tolist())
    >>> model.predict([np.array([0.2, 1.5, -1.0])])
    [1]
    >>> model.converged_
    True
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "lam": run.LAM,
        "tol": run.Number(0.0),
        "max_epochs": run.Number(0.0, above=True),
        "max_time": run.OrNone(run.Number(0.0, above=True)),
        "warm_start": run.Flag(),
        "verbose": run.Level(),
    }
    n_jobs = None

    _needs_memory = "an example is an object, and no row"

    def __init__(
        self,
        model: Structure | None = None,
        lam: float = 1e-4,
        tol: float = 1e-3,
        max_epochs: float = 1000,
        max_time: float | None = None,
        solver: words.Solver = "auto",
        warm_start: bool = False,
        random_state: words.RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.lam = lam
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.solver = solver
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @run.with_callbacks
    @run.all_or_nothing
    def fit(self, X: Any, Y: Any = None) -> Self:
        """Train on examples and their right structures, two lists of the same length."""
        stop = run.stop_of(self)
        lacking = [name for name in _ASKED if not callable(getattr(self.model, name, None))]
        if lacking:
            raise ValueError(f"model must have the method{'s' * (len(lacking) > 1)} {', '.join(lacking)}.")
        if Y is None:
            raise ValueError("Y is missing: give the right structure of each example.")
        X, Y = list(X), list(Y)
        if not X or len(X) != len(Y):
            raise ValueError(f"there are {len(X)} examples and {len(Y)} structures; they must be as many, and some.")
        solver = solver_for(self.solver, "structures")
        examples = Examples(self.model, X, Y, float(self.lam))
        self._check(examples, solver)
        before = getattr(self, "coef_", np.zeros(0)) if self.warm_start else np.zeros(0)
        w = before if len(before) == examples.size else np.zeros(examples.size)
        begun = stop.seconds()
        at_zero, _ = examples.objective(np.zeros(examples.size), None, lambda: None)
        pass_seconds = stop.seconds() - begun
        told = run.Told(X, Y, None, lambda weights: {"coef_": weights[0]})
        progress = run.Progress(self, [""], told, [w], lambda: float(self.tol * at_zero))
        stop = run.Run(**{**vars(stop), "report": progress.report_of(0)})
        seed = run.seed_of(self.random_state, solver)
        blocks = self._blocks(examples)
        journal = Journal(stop, at_zero, np.zeros(examples.size))
        journal.pass_seconds = pass_seconds
        if stop.seconds_left() < pass_seconds:  # no time for more than has been proven already: that of zero
            journal.note(0, at_zero, 0.0)
        if isinstance(solver, run.Pegasos):
            fit = pegasos(examples, solver, journal, at_zero, seed)
        else:
            fit = frank_wolfe(examples, journal, blocks, seed)
        progress.finish([fit.w])
        self.coef_, self.n_features_in_ = fit.w, examples.size
        self._kept = (X, Y, blocks) if self.warm_start else None
        run.set_history(self, fit)
        if fit.error is not None:
            raise fit.error
        if not examples.exact:
            warnings.warn(
                "decode_with_cost returned a structure that another one beats: it does not maximise, and nothing is "
                "proven (gap_ is nan).",
                stacklevel=user_level(),
            )
        else:
            run.warn_if_short(self, at_zero, not getattr(solver, "fixed_steps", False))
        return self

    def predict(self, X: Any) -> list[Any]:
        """The best structure of each example."""
        check_is_fitted(self)
        assert self.model is not None
        return [self.model.decode(x, self.coef_) for x in X]

    def score(self, X: Any, Y: Any) -> float:
        """Minus the mean cost of the predictions."""
        X, Y = list(X), list(Y)
        assert self.model is not None
        costs = [self.model.cost(y, found) for y, found in zip(Y, self.predict(X), strict=True)]
        return -float(np.mean(costs))

    def _check(self, examples: Examples, solver: Any) -> None:
        longest = max(v.inner(v) for v in examples.truth)
        if not np.isfinite(4.0 * longest / self.lam):
            raise ValueError(f"the squared norm of a joint feature vector, {longest:.3g}, divided by lam overflows.")
        if not isinstance(solver, run.Pegasos):
            return
        run.check(solver._rules, solver)
        if self.warm_start:
            raise ValueError("warm_start is for solver='auto' here.")
        run.refuse_long_step(solver, self.lam)
        if solver.k > examples.m:
            raise ValueError(f"k = {solver.k} examples per step, but there are only {examples.m}.")
        if (
            solver.output in ("random", "best")
            or solver.advance != "always"
            or not (isinstance(solver.start, str) and solver.start == "zero")
        ):
            raise ValueError("structures take output='last', 'average' or 'tail', advance='always' and start='zero'.")
        if not solver.certify:
            raise ValueError("certify=False is not for structures; use certify=True.")
        if solver.output == "tail" and solver.T is None:
            raise ValueError("output='tail' needs T: the number of steps whose last part is averaged.")

    def _blocks(self, examples: Examples) -> list[WorkingSet]:
        """Those of the last fit, if these are its examples; vectors are computed again, as examples may change."""
        blocks = [WorkingSet() for _ in range(examples.m)]
        kept = getattr(self, "_kept", None) if self.warm_start else None
        if kept is None or len(kept[2]) != examples.m:
            return blocks
        for i, (x, y, old) in enumerate(zip(*kept, strict=True)):
            if x is not examples.X[i] or y is not examples.Y[i]:
                return [WorkingSet() for _ in range(examples.m)]
            for structure, alpha in zip(old.structures, old.alpha, strict=True):
                if alpha > 0:
                    blocks[i].add(*examples.against(i, structure), structure)
                    blocks[i].alpha[-1] += alpha
        return blocks
