"""SDCA and Auto: solvers that climb the dual."""

from __future__ import annotations

from typing import ClassVar

from sklearn.base import BaseEstimator

from .. import _core, words
from ..problem.problem import Problem
from ..rules import Flag, Integer, OneOf, OrNone, Rule, check
from .base import Fit, Resume, Run


class DualSolver(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """What the dual solvers share."""

    _rules: ClassVar[dict[str, Rule]]
    _pegasos_first = False
    _second_order = False
    sampling: words.DualSampling = "blocks"
    replicas: int | None = None
    polish = False

    def check(self, problem: Problem, run: Run) -> None:
        """Refuse what cannot work, before anything runs."""
        check(self._rules, self)
        if self.sampling == "iid" and (self.replicas or 1) > 1:
            raise ValueError(
                f"replicas={self.replicas} with sampling='iid': independent draws may hand the same row to two. "
                "Use replicas=None, or another sampling."
            )
        if not problem.loss.has_native_twin:
            raise ValueError(
                f"{type(self).__name__} climbs the dual of the built-in losses; a loss of your own needs "
                "solver='pegasos' or a Pegasos object."
            )
        if problem.bias in ("batch", "search") and not problem.loss.is_native_hinge:
            raise ValueError(f"bias={problem.bias!r} is for the hinge; with loss={problem.loss} use bias='free'.")
        if problem.bias == "batch":
            raise ValueError("bias='batch' needs batches: use solver=Pegasos(k=...) with k > 1, or bias='free'.")

    def solve(self, problem: Problem, run: Run, start: Resume, seed: int) -> Fit:
        """Maximise the dual, from the dual variables in `start` where there are any."""
        a = run.memory.zeros(problem.n_duals) if start.dual is None else run.memory.copy(start.dual)
        w = start.w.copy()  # what is handed back if there is no time for anything else
        options = _core.DualOptions()
        options.set_sampling(self.sampling)
        options.seed = seed
        options.shrinking = bool(self.shrinking)
        options.pegasos_first = self._pegasos_first
        options.second_order = self._second_order and run.memory.second_order
        options.polish = bool(self.polish) * min(1.0, 2.0 / run.problems)
        options.replicas = min(self.replicas or 0, 1 << 20)
        # Auto chooses where it starts, SDCA goes on with all of alpha.
        options.new_lam = self._pegasos_first and start.lam == start.lam and start.lam != problem.lam
        options.tol = run.tol * problem.at_zero
        options.max_epochs = min(run.max_epochs, 1e18)
        kept = {"scratch": run.memory.folder, **run.snapshots()}
        found = _core.dual_fit(problem.native(), options, a, w, run.threads, run.watch(w.copy), **kept)
        steps = start.steps + found["visits"]
        return Fit(
            w=w,
            steps=steps,
            epochs=found["visits"] / problem.m,
            history=found["history"],
            converged=found["converged"],
            interrupted=found["interrupted"],
            rounding=found["rounding"],
            error=found["error"],
            resume=Resume(w, steps, a, problem.lam) if run.remember else None,
            operations=found["operations"],
            replicas=found["replicas"],
        )

    @property
    def fixed_steps(self) -> bool:
        return False


class SDCA(DualSolver):
    """Stochastic dual coordinate ascent.

    Parameters
    ----------
    sampling : {"blocks", "runs", "permutation", "iid"}, default="blocks"
        The order of the rows in an epoch, as in `Pegasos`. "iid" draws one row after the other, each independently and
        whatever its weight: an epoch is as many draws as there are rows.
    shrinking : bool, default=True
        Whether rows that have settled at a bound sit out until the proof.
    replicas : int or None, default=None
        Copies of the weights that take rows at the same time, as in `Auto`.

    Notes
    -----
    ``SDCA(sampling="iid", shrinking=False)`` is the stochastic DCA that section 7 of the paper compares Pegasos with:
    one row at a time, drawn at random. The default orders need fewer epochs, and with shrinking late ones are short.

    References
    ----------
    C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate descent method for
    large-scale linear SVM", ICML 2008.

    S. Shalev-Shwartz, T. Zhang, "Stochastic dual coordinate ascent methods for regularized loss minimization", Journal
    of Machine Learning Research 14, 2013.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "sampling": OneOf(("blocks", "runs", "permutation", "iid")),
        "shrinking": Flag(),
        "replicas": OrNone(Integer(1)),
    }

    def __init__(
        self, sampling: words.DualSampling = "blocks", shrinking: bool = True, replicas: int | None = None
    ) -> None:
        self.sampling = sampling
        self.shrinking = shrinking
        self.replicas = replicas


class Auto(DualSolver):
    """Starts as Pegasos, goes on as SDCA, ends with second-order methods where cheaper; certified all along.

    Smooth losses on many rows of few features begin with second-order steps, on samples of the rows.

    Parameters
    ----------
    shrinking : bool, default=True
        Whether rows that have settled at a bound sit out until the proof.
    polish : bool, default=True
        Whether the last digits are computed as well where they are expected to cost no more than about a millisecond
        (two for all classes together, each against the rest; kernels: or no more than the fit so far). Small problems
        then have the same model to seven digits, however it was reached.
    sampling : {"blocks", "runs"}, default="blocks"
        The order of the rows in an epoch of coordinate ascent, as in `Pegasos`.
    replicas : int or None, default=None
        Copies of the weights that take rows at the same time, and are merged after every few thousand of them. This is
        how many threads coordinate ascent can use. The model depends on this number, never on `n_jobs`. None: two for
        65,000 rows and more (later with very many features), else one. More than two are for as many cores, and for
        a `lam` of several times one over the number of rows: they need more visits, so that one thread takes 1.4 to 6
        times as long with eight of them. There is at most one for every 64 rows, and no more of them
        than fit into half a gigabyte; `n_replicas_` of the fitted model says how many there were.
    """

    _rules: ClassVar[dict[str, Rule]] = {
        "shrinking": Flag(),
        "polish": Flag(),
        "sampling": OneOf(("blocks", "runs")),
        "replicas": OrNone(Integer(1)),
    }
    _pegasos_first = True
    _second_order = True

    def __init__(
        self,
        shrinking: bool = True,
        polish: bool = True,
        sampling: words.AutoSampling = "blocks",
        replicas: int | None = None,
    ) -> None:
        self.shrinking = shrinking
        self.polish = polish
        self.sampling = sampling
        self.replicas = replicas
