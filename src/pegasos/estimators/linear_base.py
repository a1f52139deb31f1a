"""What the linear estimators share: rows in, w out, scores from w."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .. import _core
from ..cores import thread_count
from ..problem.data import Data, InMemory, is_source, own_labels
from ..problem.labels import Encoded, refuse_missing
from ..problem.problem import Floats, Problem
from ..problem.rows import make_rows, validated
from ..problem.targets import assert_numbers
from ..progress import Told
from ..solvers import SDCA, Auto, Pegasos, solver_of
from ..solvers.base import Fit, Resume, Run, Solver
from ..solvers.many import Job, ReportOf, solve_many
from ..solvers.memory_budget import budget_for, explained
from .base import Model
from .fitted import linear_models, sparse_models
from .sparse_weights import SparseWeights, sparse_scores

_WORTH_THREADS = 1 << 15  # numbers in the rows to be scored
_FEW_WEIGHTS = 1 << 23  # sparse ones that are written out, in 64 MB, since a dense product is several times quicker


class OwnLabels:
    """Mixin before those of scikit-learn: rows may bring their labels, which `score` compares with."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The accuracy of a classifier, or the R^2 of a regressor, as scikit-learn has them.

        Parameters
        ----------
        X : array-like, sparse matrix or `open_data` of shape (n_rows, n_features)
            Rows.
        y : array-like of shape (n_rows,) or None, default=None
            What is right; None where X has labels of its own.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weight of each row.

        Returns
        -------
        score : float
        """
        return float(super().score(X, own_labels(X, y), sample_weight))  # type: ignore[misc]  # of the next one


class LinearModel(SparseWeights, Model):
    """Base of the linear estimators: a model is a vector of weights, `coef_`, and a bias."""

    coef_: Any
    intercept_: Any
    n_features_in_: int
    _keeps_checkpoints = True

    def _read(self, X: Any, y: Any, run: Run, reset: bool, numeric: bool = False) -> tuple[Data, Any]:
        if is_source(X):
            return self._read_source(X, y, reset, numeric)
        refuse_missing(y)
        X, y = validated(self, X, y, reset=reset, multi_output=False, y_numeric=numeric)
        names = getattr(self, "feature_names_in_", None)
        return InMemory(X, run.threads, names, check=not self._draws_only(run)), np.asarray(y)

    def _draws_only(self, run: Run) -> bool:
        """Whether the solver looks at no row that it does not draw, and checks those that it does."""
        solver = solver_of(self.solver)
        return isinstance(solver, Pegasos) and solver.certify is False and not run.one_pass

    def _read_source(self, X: Any, y: Any, reset: bool, numeric: bool) -> tuple[Data, Any]:
        """Rows that stay where they are: what they are made into, if anything, is the solver's choice. Labels are an
        array, or `Encoded`.
        """
        labels = getattr(X, "labels", None) if y is None else None
        if labels is None:
            refuse_missing(y)
            labels = column_or_1d(y, warn=True)
        if len(labels) != X.shape[0]:
            raise ValueError(f"y has {len(labels)} labels for {X.shape[0]} rows in {X.place}.")
        self._expect_columns(X, reset)
        if numeric:
            return X, assert_numbers(labels.labels() if isinstance(labels, Encoded) else labels)
        return X, labels

    def _expect_columns(self, X: Any, reset: bool = False) -> None:
        names = getattr(X, "names", None)
        if reset:
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = int(X.shape[1])
            if names is not None:
                self.feature_names_in_ = np.array(names, object)
        elif names is not None and hasattr(self, "feature_names_in_") and list(self.feature_names_in_) != list(names):
            raise ValueError(f"the columns in {X.place} have other names than those that the model was fitted with.")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"the rows in {X.place} have {X.shape[1]} features, but {type(self).__name__} was fitted with "
                f"{self.n_features_in_}."
            )

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        if is_source(X):
            self._expect_columns(X)
            return self._scores_of_source(X)
        X = validated(self, X, reset=False)
        numbers = np.size(X.data if sp.issparse(X) else X)  # nnz would believe an indptr that nobody has checked yet
        threads = 1 if numbers < _WORTH_THREADS else thread_count(self.n_jobs)  # to count cores takes long
        rows = make_rows(X, training=False, threads=threads, names=getattr(self, "feature_names_in_", None))
        if sp.issparse(self.coef_):
            coef, biases = sparse_models(self.coef_, self.intercept_, self._n_models(), self.n_features_in_)
            if coef.shape[0] * coef.shape[1] > _FEW_WEIGHTS:
                return sparse_scores(X, coef, biases, threads)
            models = np.column_stack([coef.toarray(), biases])
        else:
            models = self._weights()
        scores: Floats = _core.scores(rows, models, threads)
        return scores

    def _scores_of_source(self, X: Any) -> Floats:
        every: Floats | None = None
        # Names are compared already, and blocks have none. Other threads may look at the model meanwhile: it stays.
        nameless = object.__new__(type(self))
        nameless.__dict__ = {name: value for name, value in vars(self).items() if name != "feature_names_in_"}
        for some, block in X.blocks():
            scores = nameless._scores(block)
            every = np.empty((X.shape[0], scores.shape[1])) if every is None else every
            every[some] = scores
        return every if every is not None else np.empty((0, self._n_models()[0]))

    def _weights(self) -> Floats:
        """Models as rows, the bias as last column."""
        return linear_models(self.coef_, self.intercept_, self._n_models(), self.n_features_in_)

    def _solve(self, problem: Problem, names: list[str], run: Run, goes_on: bool, told: Told) -> list[Fit]:
        """One fit, or one for each named class against the rest."""
        run = replace(run, memory=budget_for(problem, run, len(names), goes_on))
        with explained(run.memory):
            problem.check_scale()
            solver = self._method(problem, run)
            solver.check(problem, run)
            zero = Resume(np.zeros(problem.n_weights))
            starts = self._starts(problem, len(names)) if goes_on else [zero] * len(names)
            return self._solve_all(problem, names, solver, run, starts, told)

    def _solve_jobs(self, jobs: list[Job], solver: Solver, run: Run, seed: int, report_of: ReportOf) -> list[Fit]:
        place = np.empty((len(jobs), jobs[0].stated.n_weights)) if len(jobs) > 1 else None
        return solve_many(jobs, solver, run, seed, report_of, place)

    def _method(self, problem: Problem, run: Run) -> Solver:
        solver, named = solver_of(self.solver), isinstance(self.solver, str)
        # Pegasos is the only method for a loss of the user's own; and a dual solver needs rows that come back, one pass
        # is a stochastic gradient's trade.
        own = not problem.loss.has_native_twin and isinstance(solver, Auto)
        if own or (run.one_pass and not isinstance(solver, Pegasos)):
            solver, named = Pegasos(), True
        if named and isinstance(solver, (Auto, Pegasos, SDCA)):  # an object says itself what its order is
            solver.sampling = getattr(problem.data, "sampling", solver.sampling)
        return solver

    def _starts(self, problem: Problem, n_models: int) -> list[Resume]:
        models = self._weights()
        if len(models) != max(n_models, problem.width):
            raise ValueError(
                f"warm_start goes on with {len(models)} vector{'s' * (len(models) > 1)} of weights, but "
                f"loss={problem.loss} needs {max(n_models, problem.width)}: the loss differs from that of the last "
                "fit. Set warm_start=False to start anew."
            )
        if models.shape[1] != problem.dim:
            raise ValueError(f"coef_ has shape {self.coef_.shape}, which does not fit the data to go on with.")
        models[:, -1] -= problem.centre
        if problem.bias == "none":
            models[:, -1] = 0.0
        steps = np.atleast_1d(self.n_steps_)
        resumes = getattr(self, "_resumes", None) or [None] * len(steps)  # a file leaves them out where there are none
        if len(resumes) != n_models or len(steps) != n_models:  # one against the rest before, joint now, or vice versa
            resumes, steps = [None] * n_models, np.full(n_models, steps.max())
        found = zip(resumes, problem.vectors(models), map(int, steps), strict=True)
        by = "pegasos" if self._were_steps_of_pegasos(problem) else ""
        return [Resume(w, t, solver=by) if left is None else left.at(w, t, problem.n_duals) for left, w, t in found]

    def _were_steps_of_pegasos(self, problem: Problem) -> bool:
        """Whether those of the last fit were, as far as parameters and attributes tell."""
        solver = solver_of(self.solver)
        own = not problem.loss.has_native_twin and isinstance(solver, Auto)
        return (own or isinstance(solver, Pegasos)) and not hasattr(self, "n_replicas_")

    def _set(self, problem: Problem, fits: list[Fit], names: NDArray[Any], run: Run) -> None:
        """Set the fitted attributes; what interrupted the fit is raised at the end."""
        weights = [fit.w for fit in fits]
        self._take(self._shaped(problem, weights) if len(fits) == 1 else _split(weights[0].base, problem.centre))
        self._record(problem, fits, names, run)

    def _shaped(self, problem: Problem, weights: list[Floats]) -> dict[str, Any]:
        """The attributes that weights become."""
        w = problem.models(weights)
        return {"coef_": np.ascontiguousarray(w[:, :-1]), "intercept_": w[:, -1].copy()}


def _split(models: Any, centre: float) -> dict[str, Any]:
    """Models as rows, the bias last, as attributes. Where they lie, the weights move up to one another, without a copy
    of them, which there may be no memory for.
    """
    intercept = models[:, -1] + centre
    count, width = models.shape[0], models.shape[1] - 1
    everything = models.reshape(-1)
    for k in range(1, count):
        everything[k * width : (k + 1) * width] = models[k, :-1]
    return {"coef_": everything[: count * width].reshape(count, width), "intercept_": intercept}
