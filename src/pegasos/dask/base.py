"""What both estimators share: parameters, the way of a fit through the cluster, and the local model it leaves."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import RULES, seed_of
from ..losses.own import Loss
from ..losses.spec import LossSpec
from ..progress import CallbackSupportMixin, Progress, Told
from ..rules import Integer, OneOf, Rule, check
from ..solvers.base import Fit, Run
from .ascent import Ascent
from .cluster import Cluster, client_of
from .fitting import Course, Loaded, statement_of, with_direction
from .inputs import source_of
from .parts import labels_of, named, weights_of
from .scoring import apply_lazily
from .setting import Setting, setting_of

Floats = NDArray[np.float64]

SHARED_RULES: dict[str, Rule] = {
    **{name: rule for name, rule in RULES.items() if name != "n_jobs"},
    "bias": OneOf(("regularized", "free", "none")),
    "max_rounds": Integer(1),  # without a round nothing is proven
}
_OWN = ("client", "max_rounds")  # parameters that the local model does not have
_ON_THE_CLUSTER = ("_duals", "_duals_fit")


class DaskModel(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no type hints
    """Base of the estimators on a cluster. What the labels mean is theirs to know."""

    _rules: ClassVar[dict[str, Rule]]
    _local: ClassVar[type]  # the ordinary estimator
    client: Client | None
    classes_: NDArray[Any]
    _in_vain: int  # the last rounds of a fit that gave up

    @property
    def client_(self) -> Client:
        """The client that `fit` uses: that of the parameter, or the one that was made last."""
        return client_of(self.client)

    def _cluster(self, run: Run) -> Any:
        """Where the tasks of a fit run."""
        return Cluster(self.client_, run)

    def _place(self) -> str:
        """Dual variables are there, or nowhere."""
        return str(self.client_.id)

    def to_local(self) -> Any:
        """The ordinary estimator, fitted, with no tie to the cluster.

        Returns
        -------
        model : PegasosClassifier or PegasosRegressor
        """
        check_is_fitted(self, "coef_")
        model = self._local(**self._local_params())
        model.__dict__.update({name: value for name, value in vars(self).items() if self._is_fitted_part(name)})
        return model

    def _local_params(self) -> dict[str, Any]:
        return {name: value for name, value in self.get_params(deep=False).items() if name not in _OWN}

    def _is_fitted_part(self, name: str) -> bool:
        fitted = name.endswith("_") and not name.startswith("_")
        return fitted or name in ("_loss_of_fit", "_rounding", "_operations", "_resumes")

    def __sklearn_clone__(self) -> Self:
        """A client is not copied: two estimators may use the same."""
        given = self.get_params(deep=False)
        client = given.pop("client")
        copy = type(self)(**{name: clone(value, safe=False) for name, value in given.items()}, client=client)
        if "_skl_callbacks" in vars(self):
            copy._skl_callbacks = self._skl_callbacks  # shared, as scikit-learn's own clones share them
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Without what lives on the cluster: client and dual variables."""
        state = {name: value for name, value in super().__getstate__().items() if name not in _ON_THE_CLUSTER}
        return {**state, "client": None}

    def _begin(self) -> Run:
        began = time.perf_counter()
        if isinstance(getattr(self, "loss", None), Loss):
            raise ValueError(
                "a loss of your own has no dual step, which a fit on partitions needs. Use one of the built-in losses, "
                "or PegasosClassifier(solver='pegasos') on one machine."
            )
        if self.bias in ("batch", "search"):
            raise ValueError(
                f"bias={self.bias!r} is a way of Pegasos, which takes one step after the other; partitions are trained "
                "side by side. Use bias='free', whose optimum is the same."
            )
        check(self._rules, self, hints={"lam": "Coming from C? lam = 1 / (C * n_rows)."})
        return Run(self.tol, self.max_epochs, self.max_time, began=began)

    def _solve(
        self,
        cluster: Cluster,
        loaded: Loaded,
        loss: LossSpec,
        yardstick: dict[str, Any],
        names: list[str],
        told: Told,
        run: Run,
    ) -> list[Fit]:
        """Rounds until every problem has converged; one problem, or one for each named class against the rest."""
        statement = statement_of(loaded, float(self.lam), loss, self.bias, regression=not len(yardstick["masses"]))
        setting = setting_of(statement, loaded.facts, loss, **yardstick)
        loaded = with_direction(cluster, loaded, setting)
        starts = self._starts(loaded, setting, len(names))
        seed = seed_of(self.random_state, None)
        jobs = [
            Ascent(setting, run, seed, k if len(names) > 1 else 1, None if starts is None else starts[1][k])
            for k in range(len(names))
        ]
        progress = Progress(self, names, told, [job.w for job in jobs], lambda: run.tol * setting.at_zero)
        outcomes = [None] * len(loaded.parts) if starts is None else starts[0]
        course = Course(cluster, loaded, setting, run, jobs, progress.report_of, int(self.max_rounds), list(outcomes))
        course.go()
        progress.finish([job.proven for job in jobs])
        self.n_rounds_ = course.rounds
        self._in_vain = min((job.in_vain for job in jobs if not job.history.converged), default=0)
        self._keep_duals(course, loaded, setting)
        fits = [job.fit(course.error) for job in jobs]
        if not all(np.isfinite(fit.w).all() for fit in fits):
            raise ValueError("the weights have overflown. Scale the features down, or raise lam.")
        return fits

    # Going on

    def _keep_duals(self, course: Course, loaded: Loaded, setting: Setting) -> None:
        for name in _ON_THE_CLUSTER:
            self.__dict__.pop(name, None)
        if self.warm_start and course.error is None and all(last is not None for last in course.outcomes):
            self._duals = course.duals()
            self._duals_fit = self._what_duals_fit(loaded, setting)

    def _starts(self, loaded: Loaded, setting: Setting, n_jobs: int) -> tuple[list[Any], list[Floats]] | None:
        """Dual variables of the last fit and its weights, where these partitions had them."""
        if not self.warm_start or getattr(self, "_duals_fit", None) != self._what_duals_fit(loaded, setting):
            return None
        if any(getattr(each, "status", "") in ("cancelled", "lost", "error") for each in self._duals):
            return None  # the cluster has been restarted since
        models = np.column_stack([np.atleast_2d(self.coef_), np.ravel(self.intercept_)])
        joint = setting.loss.joint
        if models.shape != (setting.statement.width if joint else n_jobs, setting.statement.n_features + 1):
            return None
        return self._duals, [np.ascontiguousarray(models.T).ravel()] if joint else list(models)

    def _what_duals_fit(self, loaded: Loaded, setting: Setting) -> tuple[Any, ...]:
        return self._place(), [each.n_duals for each in loaded.facts], setting.statement.width

    # Predictions

    def _lazily(self, method: str, X: Any, dtype: Any, columns: int | None = None) -> da.Array:
        return apply_lazily(self.to_local(), method, X, dtype, columns)

    def _record(self, teller: Any, summary: Any, fits: list[Fit], names: NDArray[Any], run: Run) -> None:
        """Attributes as the local estimator has them; what interrupted the fit is raised when they are there."""
        try:
            teller._record(summary, fits, names, run)
        finally:
            self.__dict__.update({k: v for k, v in vars(teller).items() if self._is_fitted_part(k)})
            self._resumes = None

    def _teller(self) -> Any:
        """The local estimator in the role of who sets attributes, and says what was not reached."""
        model = self

        class Teller(self._local):  # type: ignore[misc, name-defined]  # known at run time alone
            def _steps_advice(self) -> str:
                if model._in_vain:
                    return f"More rounds would not help, the last {model._in_vain} have brought nothing: raise lam"
                more = f" or max_time={self.max_time}" if self.max_time else ""
                return f"Raise max_rounds={model.max_rounds}, max_epochs={self.max_epochs}{more}"

        return Teller(**self._local_params())

    def _partial(self, X: Any, y: Any, sample_weight: Any, **known: Any) -> Self:
        """One pass over the partitions in their order: each step follows another, so they cannot go side by side."""
        cluster = self._cluster(self._begin())
        source = source_of(X, y, sample_weight)
        model = self.to_local() if hasattr(self, "coef_") else self._local(**self._local_params())
        if self.random_state is None:
            model.random_state = 0  # a pass that is lost and taken again must come to the same
        all_chunks = list(zip(*cluster.computed(source.X, source.y, source.sample_weight), strict=True))
        model = cluster.keep(model, "model", beside=all_chunks[0][0])
        for number, chunks in enumerate(all_chunks):
            model = cluster.submit(_one_pass, number, model, *chunks, known, what="pass")
        found = cluster.values([model])[0]
        if not hasattr(found, "coef_"):
            raise ValueError("no row is left to train on: every partition is empty, or all weights are zero.")
        self.__dict__.update({name: value for name, value in vars(found).items() if self._is_fitted_part(name)})
        self.__dict__.pop("n_rounds_", None)  # of a fit before
        return self


def _one_pass(number: int, model: Any, X: Any, y: Any, sample_weight: Any, known: dict[str, Any]) -> Any:
    if not X.shape[0]:
        return model
    with named(number):
        s = None if sample_weight is None else weights_of(sample_weight, X.shape[0])
        if s is not None and not s.any():
            return model
        return deepcopy(model).partial_fit(X, labels_of(X, y), sample_weight=s, **known)  # the given one is not ours


def columns_of(loaded: Loaded) -> dict[str, Any]:
    """What is known of the features."""
    names = {} if loaded.names is None else {"feature_names_in_": loaded.names}
    return {"n_features_in_": loaded.n_features, **names}
