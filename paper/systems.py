"""The systems that the papers compare, under one protocol: work for a while, be looked at off the clock, go on.

Pegasos, NORMA and the fixed steps are the library's own steps, called without its certificates. The others are native,
in `native/`: stochastic DCA, SVM-Perf, SVM-Light, LASVM, and Pegasos for kernels with the kernel values one at a time,
as the three others of section 7.2 compute them.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pegasos import Pegasos, _core, losses
from pegasos.problem.data import InMemory
from pegasos.problem.problem import Problem, Weights

BUILT = Path(__file__).parent.parent / "build" / "paper" / "native"
NOT_BUILT = f"the systems of the papers are not built in {BUILT}: run `make paper-native`."
Floats = NDArray[np.float64]


def built() -> bool:
    """Whether `make paper-native` has been run."""
    return any(BUILT.glob("_systems*.so"))


def native() -> Any:
    """The native module."""
    if "_systems" not in sys.modules:
        if not built():
            raise ImportError(NOT_BUILT)
        spec = importlib.util.spec_from_file_location("_systems", next(iter(BUILT.glob("_systems*.so"))))
        assert spec is not None
        assert spec.loader is not None
        sys.modules["_systems"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["_systems"])
    return sys.modules["_systems"]


class System(Protocol):
    """What every system can do. `seconds` are of its thread on the processor, the looking on not included."""

    @property
    def seconds(self) -> float: ...
    @property
    def steps(self) -> int: ...
    @property
    def ended(self) -> bool: ...
    def advance(self, seconds: float, steps: int = 2**62) -> None: ...
    def weights(self) -> Floats: ...


@dataclass(frozen=True)
class Training:
    """Training rows and labels -1 and +1, no bias: the one convention of the paper's experiments."""

    X: Any
    y: NDArray[np.int8]

    @property
    def m(self) -> int:
        return len(self.y)

    @cached_property
    def rows(self) -> Any:
        """As the native systems read them."""
        X = sp.csr_matrix(self.X, dtype=np.float32)
        X.sum_duplicates()
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int64)
        return native().Rows(X.data, indices, indptr, self.y.astype(np.float64), X.shape[1])

    @cached_property
    def _source(self) -> InMemory:
        return InMemory(self.X)

    def problem(self, lam: float) -> Problem:
        """As the library states it."""
        codes = (self.y > 0).astype(np.int32)
        return Problem(self._source, codes, Weights.of(None, self.m), lam, losses.NAMED["hinge"], "none")

    def objective(self, w: Floats, lam: float) -> float:
        """f(w) over all rows, in float64, by the same code for every system."""
        return float(self.problem(lam).native().objective(np.append(w, 0.0), threads=1))


class LinearPegasos:
    """The library's steps, some thousands a call, without its certificates; NORMA and fixed steps by their `step`."""

    def __init__(self, data: Training, lam: float, seed: int = 0, how: Pegasos | None = None) -> None:
        self.how = how if how is not None else Pegasos(sampling="iid")
        if self.how.sampling not in ("iid", "subsets"):
            raise ValueError("steps without certificates have no epochs: sampling must be iid or subsets.")
        self._problem = data.problem(lam)  # holds what the native one looks at
        self._native = self._problem.native()
        self._lam, self._m, self._seed = lam, data.m, seed
        d = data.X.shape[1] + 1
        self._state: dict[str, Any] = {
            "v": self._first(d), "counts": np.zeros(data.m), "out": np.zeros(d), "B": np.zeros(0),
            "c": 1.0, "t": 0, "hits": 0, "b": 0.0, "C": 0.0, "averaged": 0.0,
        }  # fmt: skip
        self.seconds, self.ended, self._pace = 0.0, False, 1000.0

    def _first(self, d: int) -> Floats:
        """w_1, the bias last: zero, or a random vector no longer than 1/sqrt(lam)."""
        w = np.zeros(d)
        if self.how.start == "random":
            rng = np.random.default_rng(self._seed)
            direction = rng.normal(size=d - 1)
            w[:-1] = direction * (rng.uniform() / math.sqrt(self._lam) / np.linalg.norm(direction))
        return w

    @property
    def steps(self) -> int:
        return int(self._state["t"])

    def advance(self, seconds: float, steps: int = 2**62) -> None:
        """Calls of about a third of the time left, and no more than an epoch each, which is what the library does in
        one pass without a certificate. The same steps are taken however they are cut into calls."""
        until, last = self.seconds + seconds, self.steps + steps
        while self.seconds < until and self.steps < last:
            many = max(64.0, self._pace * (until - self.seconds) / 3) if math.isfinite(seconds) else 2.0**40
            self._take(int(min(many, last - self.steps, self._m // self.how.k)))

    def _take(self, many: int) -> None:
        options = _core.PegasosOptions()
        options.k, options.seed, options.one_pass = self.how.k, self._seed, True
        options.set_sampling(self.how.sampling)
        options.set_step(*self._schedule(), 0.0)
        options.from_start = self.steps == 0 and self.how.start == "random"
        options.on_loss = self.how.advance == "on_loss"
        options.radius = 1.0 / math.sqrt(self._lam) if self.how.projection else 0.0
        options.steps = self.steps + many
        watch = _core.Watch(started=0.0, give_up=math.inf, polls_signals=False, stop=np.zeros(1, np.uint8), report=None)
        began = time.thread_time()
        _core.pegasos_fit(self._native, options, self._state, 1, watch)
        passed = time.thread_time() - began
        self.seconds += passed
        self._pace = many / max(passed, 1e-6)

    def _schedule(self) -> tuple[str, float]:
        if self.how.step == "norma":
            return "norma", 1.0 / math.sqrt(2.0) if self.how.p is None else self.how.p
        return ("pegasos", 0.0) if isinstance(self.how.step, str) else ("constant", float(self.how.step))

    def weights(self) -> Floats:
        return np.array(self._state["out"][:-1] if self.steps else self._state["v"][:-1])


def linear_dca(data: Training, lam: float, seed: int = 0) -> System:
    """Stochastic dual coordinate ascent: one row drawn at a time, no shrinking, one replica."""
    return native().LinearDca(data.rows, lam, seed)


def svm_perf(data: Training, lam: float, epsilon: float = 1e-4) -> System:
    """The one-slack cutting plane."""
    return native().SvmPerf(data.rows, lam, epsilon)


class LinearLasvm:
    """LASVM with the linear kernel: its coefficients of rows, looked at, are w."""

    def __init__(self, data: Training, lam: float, seed: int = 0, tau: float = 1e-3) -> None:
        self._inner, self._X = lasvm(data, lam, 0.0, seed, tau), data.X

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def weights(self) -> Floats:
        return np.asarray(self._X.T @ self._inner.weights(), dtype=np.float64)


def lasvm(data: Training, lam: float, gamma: float, seed: int = 0, tau: float = 1e-3) -> System:
    """LASVM; gamma 0 is the linear kernel. Its weights are coefficients of rows."""
    return native().Lasvm(data.rows, gamma, lam, tau, seed)


def svm_light(data: Training, lam: float, gamma: float, epsilon: float = 1e-3) -> System:
    """Decomposition with a working set of ten, a cache of a gigabyte, and shrinking."""
    return native().SvmLight(data.rows, gamma, lam, epsilon)


def kernel_pegasos(data: Training, lam: float, gamma: float, seed: int = 0) -> System:
    """Fig. 3, kernel values one at a time."""
    return native().KernelPegasos(data.rows, gamma, lam, seed)


def kernel_dca(data: Training, lam: float, gamma: float, seed: int = 0) -> System:
    """Stochastic dual coordinate ascent for kernels."""
    return native().KernelDca(data.rows, gamma, lam, seed)
