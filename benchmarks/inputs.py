"""The data of the contests, and the one objective by which everybody's weights are valued."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos import PegasosClassifier, _core, datasets, losses
from pegasos.problem.data import InMemory
from pegasos.problem.problem import Problem, Weights

LAMBDAS = (1e-4, 1e-5, 1e-6)
NAMES = ("generated", "arxiv", "covertype")


@dataclass(frozen=True)
class Data:
    """Training rows in float32, the type that neither we nor most peers convert, and labels -1 and +1."""

    name: str
    X: Any
    y: Any
    patience: float = 100.0  # seconds for the search of a peer's best setting

    @cached_property
    def X64(self) -> Any:
        """For the peers that would convert."""
        return self.X.astype(np.float64)

    @property
    def dense(self) -> bool:
        return not sp.issparse(self.X)

    @cached_property
    def codes(self) -> Any:
        return (self.y > 0).astype(np.int32)

    @cached_property
    def source(self) -> InMemory:
        return InMemory(self.X)

    def validate(self) -> _core.Rows:
        """The whole native validation; nothing of the data is copied."""
        if self.dense:
            return _core.Rows.dense(self.X)
        return _core.Rows.csr(self.X.data, self.X.indices, self.X.indptr, self.X.shape[1])

    def problem(self, lam: float) -> _core.Problem:
        """No bias: the one convention that means the same to everybody."""
        hinge = losses.NAMED["hinge"]
        return Problem(self.source, self.codes, Weights.of(None, len(self.y)), lam, hinge, "none").native()

    def objective(self, w: Any, lam: float) -> float:
        """f(w) in float64, by the same code for everybody."""
        return self.problem(lam).objective(np.append(np.ravel(w).astype(np.float64), 0.0), threads=2)

    @cached_property
    def _known(self) -> dict[float, tuple[float, float]]:
        return {}

    def bracket(self, lam: float, tol: float = 1e-6) -> tuple[float, float]:
        """A lower bound on the minimum and the best objective known, at most `tol` apart; computed once."""
        if lam not in self._known:
            model = PegasosClassifier(lam=lam, bias="none", tol=tol, n_jobs=2, random_state=0).fit(self.X, self.y)
            self._known[lam] = model.dual_objective_, model.objective_
        return self._known[lam]


def missing(name: str) -> str | None:
    """Why this data cannot be had, None when it can."""
    return None if name == "generated" else datasets.missing(name)


def load(name: str, quick: bool) -> Data:
    X, y = LOADERS[name](quick)
    return Data(f"{name} {X.shape[0] / 1e3:.0f}k", X, y, 5.0 if quick else 100.0)


def _generated(quick: bool) -> tuple[Any, Any]:
    return datasets.make_text(30_000 if quick else 781_265, random_state=0)


def _arxiv(quick: bool) -> tuple[Any, Any]:
    X, y = datasets.load_arxiv()[:2]
    return (X[:30_000], y[:30_000]) if quick else (X, y)


def _covertype(quick: bool) -> tuple[Any, Any]:
    """Class 1 against the rest; measurements to mean 0 and deviation 1, as any user would."""
    X, kind = datasets.load_covertype()
    X[:, :10] = (X[:, :10] - X[:, :10].mean(axis=0)) / X[:, :10].std(axis=0)
    X, y = np.ascontiguousarray(X, dtype=np.float32), np.where(kind == 1, 1, -1).astype(np.int8)
    return (X[:20_000], y[:20_000]) if quick else (X, y)


LOADERS: dict[str, Callable[[bool], tuple[Any, Any]]] = dict(zip(NAMES, (_generated, _arxiv, _covertype), strict=True))
