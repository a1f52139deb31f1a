"""What the kernel estimators share: validate, solve, set attributes, predict in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .. import kernels
from ..caller import user_level
from ..cores import thread_count
from ..kernel_solvers.auto import KernelAuto
from ..kernel_solvers.blas import single_blas
from ..kernel_solvers.curvature import is_sound, refuse_asymmetry
from ..kernel_solvers.matrix import KernelMatrix
from ..kernel_solvers.pairs import PairSolver
from ..kernel_solvers.pegasos import KernelPegasos, refusals
from ..kernel_solvers.problem import KernelProblem
from ..kernel_solvers.sdca import KernelSDCA
from ..kernel_solvers.small import goes_at_once, is_small, solve_small
from ..problem.columns import FEW, owned, used_columns
from ..problem.data import Data, InMemory
from ..problem.labels import refuse_missing
from ..problem.problem import Floats, Problem, Weights
from ..problem.rows import validated
from ..problem.targets import assert_numbers
from ..progress import Told
from ..rules import Number, OneOf, Rule
from ..solvers import SDCA, Auto, Pegasos, solver_of
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.many import Job, ReportOf
from ..solvers.store import refuse_store
from .base import RULES, Stated
from .course import end_of_its_own
from .kernel_scores import KernelScores, parts_of, tidy

_EXACT = 2000  # up to so many rows kernel values are always float64

KERNEL_RULES: dict[str, Rule] = {
    **RULES,
    "bias": OneOf(("none", "regularized", "free")),
    "cache_mb": Number(1.0),
}
KERNEL_PARAMETERS = ("kernel", "gamma", "degree", "coef0", "kernel_params")


@dataclass(frozen=True)
class KernelStated(Stated):
    """A problem with its kernel matrix."""

    problem: KernelProblem
    X: Any = field(kw_only=True)  # the rows as kernels read them


class KernelModel(KernelScores):
    """Base of the kernel estimators. w is a sum over rows: what a linear model keeps per feature is per row here."""

    _keeps_checkpoints = True
    _needs_memory = "a kernel compares each with all others"
    support_: NDArray[np.intp]
    dual_coef_: Floats
    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    cache_mb: float
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _goes_on(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "dual_coef_")

    def _read_rows(self, X: Any, y: Any, reset: bool, numeric: bool = False) -> tuple[Any, Data, NDArray[Any]]:
        """X in an order that kernels can use, the same as it came, and y."""
        refuse_missing(y)
        if callable(self.kernel) and not kernels.is_table(X):
            return self._read_objects(X, y, numeric)
        X, y = validated(self, X, y, reset=reset, multi_output=False, y_numeric=numeric)
        X = owned(X)
        # A kernel matrix is looked at once, and not as rows of features: that would take longer than many a fit.
        sound = self.kernel == "precomputed" and is_sound(X)
        data = InMemory(np.zeros((len(X), 0)) if sound else X, names=getattr(self, "feature_names_in_", None))
        return tidy(X), data, np.asarray(y)

    def _read_objects(self, X: Any, y: Any, numeric: bool) -> tuple[Any, Data, NDArray[Any]]:
        """Rows of which only the kernel function knows what they are; native code sees as many, without numbers."""
        things, labels = kernels.Objects(kernels.as_things(X)), column_or_1d(y, warn=True)
        check_consistent_length(things, labels)
        if numeric:
            labels = assert_numbers(labels)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        return things, InMemory(np.zeros(things.shape)), labels

    def _said_of_kernel(self, other: Mapping[str, Any] | None = None) -> tuple[Any, kernels.Parameters]:
        """Its name or function, and its parameters, of which `other` has some in place of those of the model."""
        said = {name: getattr(self, name) for name in KERNEL_PARAMETERS} | dict(other or {})
        return said.pop("kernel"), kernels.Parameters(**said)

    def _refuse_kernel(self, other: Mapping[str, Any]) -> None:
        """What is wrong with it whatever the rows are."""
        kernels.check(*self._said_of_kernel(other))

    def _with_kernel(
        self, problem: Problem, X: Any, in_pairs: int = 0, other: Mapping[str, Any] | None = None
    ) -> KernelProblem:
        """The problem with its kernel matrix. other: parameters of the kernel in place of those of the model."""
        kernel = kernels.make(*self._said_of_kernel(other), X, problem.weights.s)
        sound = kernel.name == "precomputed" and not problem.rows.shape[1]  # as `_read_rows` has found
        if kernel.name == "precomputed" and not sound:
            refuse_asymmetry(X)
        if kernel.skips_zeros and X.shape[1] > FEW:
            kernel.prepare(X)  # what it refuses, it names by the columns of the user
            (X,) = used_columns(X)
        dtype: type[np.floating[Any]] = np.float64
        size = np.sort(np.bincount(problem.labels))[-2:].sum() if in_pairs else len(problem.labels)
        lies_there = kernel.name == "precomputed" and isinstance(X, np.ndarray)  # to round it would be a copy
        if (
            size > _EXACT
            and not lies_there
            and self.tol >= kernel.coarseness(kernel.placed(X)) / (problem.lam * np.sqrt(problem.m))
        ):
            dtype = np.float32
        matrix = KernelMatrix(kernel, X, dtype, float(self.cache_mb), thread_count(self.n_jobs))
        matrix.sound = sound
        fields = {name: getattr(problem, name) for name in Problem.__dataclass_fields__}
        stated = KernelProblem(**fields, matrix=matrix, in_pairs=in_pairs)
        largest = stated.largest_norm2()
        with np.errstate(over="ignore"):
            if not np.isfinite(largest * problem.largest_share**2 / problem.lam):
                raise ValueError(
                    f"the largest kernel value of a row with itself, {largest:.3g}, divided by lam = {problem.lam:g} "
                    "is not finite. Scale the features down, e.g. with StandardScaler, or raise lam."
                )
        return stated

    def _solve_jobs(self, jobs: list[Job], solver: Solver, run: Run, seed: int, report_of: ReportOf) -> list[Fit]:
        if isinstance(solver, PairSolver):  # small ones together
            return solver.solve_all(jobs, run, seed, report_of)
        if goes_at_once(jobs, solver, run, report_of) and is_small(cast("KernelProblem", jobs[0].stated)):
            return solve_small(jobs, cast("KernelAuto", solver), run, seed, report_of)
        return super()._solve_jobs(jobs, solver, run, seed, report_of)

    def _stated(
        self,
        X: Any,
        problem: KernelProblem,
        given: tuple[Any, Any, Any],
        named: tuple[list[str], NDArray[Any], dict[str, Any]],
        weights_of: Callable[[Any], Weights],
    ) -> KernelStated:
        """named: the problems, as they are called in messages and in `history_`, and what is known of their labels."""
        told = Told(*given, lambda weights: self._kept(X, problem, weights) | named[2])
        return KernelStated(problem, *named, told, weights_of, X=X)

    def _solve_kernel(self, stated: KernelStated, run: Run) -> list[Fit]:
        """One fit, or one for each named class against the rest, or each named pair; they share kernel values."""
        problem, names, told = stated.problem, stated.names, stated.told
        if problem.in_pairs:
            refuse_store("multi_class='ovo', whose pairs are solved many at a time,")
        solver = self._paired(self._method(problem, run, len(names)), problem)
        starts = self._starts(problem, len(names))
        # Threads are ours, each with a product of its own: those inside of BLAS wait for each other at every turn.
        with single_blas():
            return self._solve_all(problem, names, solver, replace(run, threads=1), starts, told)

    def _paired(self, solver: Any, problem: KernelProblem) -> Any:
        """The solver of one problem, or of pairs of classes."""
        return PairSolver(solver, problem) if problem.in_pairs else solver

    def _method(self, problem: KernelProblem, run: Run, n_models: int) -> Any:
        given = solver_of(self.solver, problem.loss.is_native_hinge)
        given.check(problem, run)
        if getattr(given, "replicas", None) is not None:
            raise ValueError("replicas are for linear models; kernels share their work by tiles. Leave replicas=None.")
        if isinstance(given, Pegasos):
            refusals(given, problem)
            return KernelPegasos(given)
        if isinstance(given, SDCA):
            return KernelSDCA(given.sampling, bool(given.shrinking))
        if not isinstance(given, Auto):
            return given  # of the user's own
        shared = n_models > 1 and not problem.in_pairs
        return KernelAuto(bool(given.polish), 1 / n_models, shared)

    def _starts(self, problem: KernelProblem, n_models: int) -> list[Resume]:
        zero = np.zeros(problem.matrix.m + 1)
        resumes = getattr(self, "_resumes", None) if self._goes_on() else None
        if not resumes or resumes[0] is None:
            return [Resume(zero)] * n_models
        if len(resumes) != n_models:
            raise ValueError(
                f"warm_start goes on with {len(resumes)} problems, but here are {n_models}: multi_class has changed. "
                "Set warm_start=False to start anew."
            )
        n_rows = len(resumes[0].dual)
        if n_rows != problem.matrix.m:
            raise ValueError(
                f"warm_start goes on with the rows of the last fit, which had {n_rows} of them, but X "
                f"has {problem.matrix.m}. Set warm_start=False to start anew."
            )
        steps = np.broadcast_to(self.n_steps_, n_models)
        return [left.at(zero, int(t), problem.n_duals) for t, left in zip(steps, resumes, strict=True)]

    def _finish(self, stated: KernelStated, fits: list[Fit], run: Run) -> None:
        """Set the fitted attributes; what interrupted the fit is raised at the end."""
        problem = stated.problem
        self._take(stated.facts | self._kept(stated.X, problem, [fit.w for fit in fits]))
        self.n_kernel_evaluations_ = problem.matrix.evaluations
        self._record(problem, fits, stated.labels, run)

    def _kept(self, X: Any, problem: KernelProblem, weights: list[Floats]) -> dict[str, Any]:
        """What is needed to predict with these weights, one for each row and the bias last."""
        kernel, used = problem.matrix.kernel, np.zeros(problem.matrix.m, bool)
        # Thousands of pairs have few rows each: to copy what is zero would take seconds, as after Ctrl-C.
        own = [np.flatnonzero(w[:-1]) for w in weights]
        used[np.concatenate(own)] = True
        support, place = np.flatnonzero(used), np.cumsum(used) - 1
        factors = np.zeros((len(weights), len(support)))
        for line, w, rows in zip(factors, weights, own, strict=True):
            line[place[rows]] = w[rows]
        codes = problem.labels[support] if problem.in_pairs else None
        return {
            "support_": support,
            "support_vectors_": kernel.stored(X, support),
            "dual_coef_": factors,
            "intercept_": np.array([w[-1] for w in weights]),
            "_fitted_kernel": kernel,
            "_score_scale": float(np.abs(problem.y).mean()),
            "_support_codes": codes,
            "_parts": parts_of(len(support), codes, problem.in_pairs),
        }

    def _steps_advice(self) -> str:
        """max_epochs is looked at between working sets; a solver that gets nowhere ends before."""
        epochs = float(np.max(self.n_iter_))
        if epochs < self.max_epochs and self.max_time is None:
            return f"After {epochs:.4g} epochs no step gained anything: raise lam"
        return f"It took {epochs:.4g} epochs. {super()._steps_advice()}"

    def _conclude(self, problem: Problem, fits: list[Fit]) -> None:
        """As for linear models, but without a bound there is none to speak of."""
        assert isinstance(problem, KernelProblem)
        if problem.matrix.psd:
            super()._conclude(problem, fits)
            return
        said = "at a stationary point to within tol; there is no bound, since the kernel may not be an inner product"
        if self.verbose and self.converged_:
            print(f"[pegasos] {said}.")
        if not self.converged_ and not self._steps_were_given():
            advice = end_of_its_own(self, fits) or f"Raise max_epochs={self.max_epochs}"
            warnings.warn(
                f"not {said}. {advice}, raise tol, or use another kernel.",
                ConvergenceWarning,
                stacklevel=user_level(),
            )
