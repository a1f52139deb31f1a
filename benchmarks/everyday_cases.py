"""The cases of the course of ordinary inputs: which data, which problem. Nothing is loaded before a case is run.

To add a generated case, write a line in a function of `_GENERATED`; a real one, a line in `_REAL`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal

import everyday_data as data

from pegasos import datasets, losses

Group = Literal["generated", "real"]
ROUGH, FINE = 1e-3, 1e-6  # tol


@dataclass(frozen=True)
class Case:
    """One input: rows, and the problem to be solved on them.

    make : returns X and y, cached. needs : the data set whose files it reads. setting : the peer's first setting, where
    that is not its default.
    """

    name: str
    group: Group
    make: Callable[[], data.Rows]
    lam: float
    loss: str = "hinge"
    bias: str = "regularized"
    tol: float = ROUGH
    kernel: bool = False
    needs: str | None = None
    setting: Mapping[str, Any] = field(default_factory=dict)

    @property
    def regression(self) -> bool:
        return self.loss in losses.REGRESSION

    def missing(self) -> str | None:
        """Why the data cannot be had, None when it can."""
        return datasets.missing(self.needs) if self.needs else None

    def __str__(self) -> str:
        kind = "kernel" if self.kernel else "linear"
        return f"{self.name:44} {self.group:9} {kind} {self.loss:27} {self.bias:11} lam {self.lam:g} tol {self.tol:g}"


@cache
def cases() -> tuple[Case, ...]:
    """All of them, the generated ones first."""
    found = tuple(case for some in (*_GENERATED, _real) for case in some())
    if len({case.name for case in found}) < len(found):
        raise ValueError("two cases have the same name")
    return found


def _generated(name: str, make: Callable[[], data.Rows], lam: float, loss: str = "hinge", **more: Any) -> Case:
    """A user of LogisticRegression raises max_iter at its first warning: these cases begin there."""
    setting = {"max_iter": 1000} if loss in ("log", "multinomial") else {}
    return Case(name, "generated", make, lam, loss, **{"setting": setting} | more)


def _texts() -> Iterator[Case]:
    """Two classes, from nearly separable to mostly noise."""
    for n in (1_000, 3_000, 6_000, 10_000):
        for noise in (0.1, 1.0, 2.0):
            for lam in (1e-2, 1e-3, 1e-4, 1e-5):
                yield _generated(f"text{n}_noise{noise:g}_{lam:g}", partial(data.text, n, noise), lam)


def _text_losses() -> Iterator[Case]:
    """Other losses, a free bias, twenty classes."""
    for loss in ("squared_hinge", "log"):
        for n in (3_000, 8_000):
            for lam in (1e-2, 1e-3, 3e-4, 1e-5):
                yield _generated(f"text{n}_{loss}_{lam:g}", partial(data.text, n), lam, loss)
    for n in (2_000, 6_000):
        for lam in (1e-2, 1e-3, 1e-4):
            yield _generated(f"text{n}_free_{lam:g}", partial(data.text, n), lam, bias="free")
    for loss in ("hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"):
        for lam in (1e-3, 1e-4, 1e-5):
            make = partial(data.text, 8_000, n_classes=20)
            yield _generated(f"text8000_20classes_{loss}_{lam:g}", make, lam, loss)


def _odd_shapes() -> Iterator[Case]:
    yield _generated("rare_class_0.5%", data.rare_class, 1e-5)
    yield _generated("dense_2000x1500", data.dense, 1e-1)
    yield _generated("wide_300x20000", data.wide, 1e-2)
    yield _generated("wide_free", data.wide, 1e-2, bias="free")
    yield _generated("cancer_unscaled", partial(data.toy, "breast_cancer"), 1e-3)
    yield _generated("digits_ovr", partial(data.toy, "digits"), 1e-3)
    yield _generated("digits_multinomial", partial(data.toy, "digits"), 1e-3, "multinomial")


def _loops() -> Iterator[Case]:
    """Fits so short that a user has many of them, in a cross-validation for example."""
    yield _generated("loop200_hinge", data.small, 1e-3)
    yield _generated("loop200_log", data.small, 1e-3, "log", setting={})
    yield _generated("loop_iris_multinomial", partial(data.toy, "iris"), 1e-3, "multinomial")
    yield _generated("loop200_tube", data.wave, 1e-3, "epsilon_insensitive")


def _kernels() -> Iterator[Case]:
    makers: dict[str, tuple[Callable[[], data.Rows], str]] = {
        "loop200": (data.small, "hinge"),
        "loop_iris": (partial(data.toy, "iris"), "hinge"),
        "loop_wave": (data.wave, "epsilon_insensitive"),
        "wine": (partial(data.toy, "wine", scaled=True), "hinge"),
        "digits": (partial(data.toy, "digits"), "hinge"),
        "wave3000": (partial(data.wave, 3_000), "epsilon_insensitive"),
    }
    for lam in (1e-2, 1e-3, 1e-5):
        for name, (make, loss) in makers.items():
            yield _generated(f"kernel_{name}_{lam:g}", make, lam, loss, bias="free", kernel=True)


_GENERATED = (_texts, _text_losses, _odd_shapes, _loops, _kernels)

# Data by name: the files it needs, and how it is made.
_SOURCES: dict[str, tuple[str, Callable[[], data.Rows]]] = {
    "reuters90": ("reuters", data.reuters),
    "rcv1": ("rcv1_small", data.rcv1),
    "adult": ("adult", data.adult),
    "adult5000": ("adult", partial(data.adult, 5_000)),
    "usps": ("usps", data.usps),
    "usps8": ("usps", partial(data.usps, 8)),
    "housing": ("california_housing", data.housing),
    "housing_unscaled": ("california_housing", partial(data.housing, scaled=False)),
    "housing4000": ("california_housing", partial(data.housing, n_rows=4_000)),
    "covertype20000": ("covertype", partial(data.covertype, 20_000)),
    "abstracts2000": ("arxiv", partial(data.abstracts, 2_000)),
    "abstracts6000": ("arxiv", partial(data.abstracts, 6_000)),
    "abstracts20000": ("arxiv", partial(data.abstracts, 20_000)),
    "conll10000": ("conll2000", partial(data.tokens, 10_000)),
}

# Data, "loss bias" or "kernel loss bias", every lam with tol 1e-3, every lam with tol 1e-6. Biases are the peer's own
# where it has one (LinearSVC penalises it, LogisticRegression, SVC and SVR do not). bias="batch" is missing: the
# default solver refuses it.
_REAL: tuple[tuple[str, str, tuple[float, ...], tuple[float, ...]], ...] = (
    ("reuters90", "hinge regularized", (1e-3, 1e-4, 1e-5), (1e-4, 1e-5)),
    ("reuters90", "hinge none", (1e-5,), ()),
    ("reuters90", "squared_hinge regularized", (1e-4,), (1e-4,)),
    ("reuters90", "log free", (1e-4,), ()),
    ("rcv1", "hinge regularized", (1e-2, 1e-4, 1e-6), (1e-2, 1e-4, 1e-6)),
    ("rcv1", "hinge free", (1e-3,), (1e-3,)),
    ("rcv1", "hinge search", (1e-3,), ()),
    ("rcv1", "squared_hinge none", (1e-3,), (1e-3,)),
    ("rcv1", "log free", (1e-4,), (1e-4,)),
    ("rcv1", "kernel hinge free", (1e-4,), ()),
    ("adult", "hinge regularized", (1e-2, 1e-4, 1e-6), (1e-4,)),
    ("adult", "hinge none", (1e-5,), ()),
    ("adult", "squared_hinge regularized", (1e-4,), (1e-4,)),
    ("adult", "log free", (1e-2, 1e-4, 1e-6), (1e-4,)),
    ("adult5000", "hinge free", (1e-3,), (1e-3,)),
    ("adult5000", "kernel hinge free", (1e-2, 1e-4, 1e-5), (1e-4,)),
    ("adult5000", "kernel squared_hinge regularized", (1e-3,), ()),
    ("adult5000", "kernel log none", (1e-3,), ()),
    ("usps", "hinge regularized", (1e-2, 1e-4), ()),
    ("usps", "squared_hinge regularized", (1e-4,), ()),
    ("usps", "multiclass_hinge regularized", (1e-3,), ()),
    ("usps", "multinomial none", (1e-3, 1e-5), (1e-3,)),
    ("usps", "kernel hinge free", (1e-4,), ()),
    ("usps8", "hinge free", (1e-2,), ()),
    ("usps8", "kernel hinge free", (1e-3, 1e-5), (1e-4,)),
    ("usps8", "kernel hinge none", (1e-4,), ()),
    ("housing", "epsilon_insensitive regularized", (1e-2, 1e-4, 1e-6), (1e-4,)),
    ("housing", "squared_epsilon_insensitive regularized", (1e-3,), (1e-3,)),
    ("housing", "squared_epsilon_insensitive none", (1e-4,), ()),
    ("housing_unscaled", "epsilon_insensitive regularized", (1e-3,), ()),
    ("housing4000", "epsilon_insensitive free", (1e-3,), ()),
    ("housing4000", "kernel epsilon_insensitive free", (1e-2, 1e-4), (1e-3,)),
    ("housing4000", "kernel squared_epsilon_insensitive regularized", (1e-3,), ()),
    ("covertype20000", "hinge regularized", (1e-2, 1e-4), ()),
    ("covertype20000", "squared_hinge regularized", (1e-4,), (1e-4,)),
    ("covertype20000", "log regularized", (1e-4,), ()),
    ("covertype20000", "multinomial none", (1e-4,), (1e-4,)),
    ("abstracts2000", "hinge regularized", (1e-2, 1e-3, 1e-5), (1e-3, 1e-5)),
    ("abstracts2000", "multinomial none", (1e-4,), (1e-4,)),
    ("abstracts6000", "hinge regularized", (1e-4,), (1e-4,)),
    ("abstracts6000", "squared_hinge regularized", (1e-4,), ()),
    ("abstracts6000", "multiclass_hinge none", (1e-3,), ()),
    ("abstracts20000", "hinge regularized", (1e-3, 1e-5), ()),
    ("abstracts20000", "log regularized", (1e-4,), ()),
    ("abstracts20000", "multinomial none", (1e-3,), ()),
    ("conll10000", "hinge regularized", (1e-3, 1e-5), (1e-4,)),
    ("conll10000", "squared_hinge none", (1e-4,), ()),
    ("conll10000", "multiclass_hinge regularized", (1e-4,), ()),
    ("conll10000", "multinomial none", (1e-4,), ()),
)


def _real() -> Iterator[Case]:
    for source, problem, rough, fine in _REAL:
        needs, make = _SOURCES[source]
        *kind, loss, bias = problem.split()
        said = problem.replace("epsilon_insensitive", "tube").removesuffix(" regularized").replace(" ", "_")
        for tol, lams in ((ROUGH, rough), (FINE, fine)):
            for lam in lams:
                name = f"{source}_{said}_{lam:g}" + (f"_tol{tol:g}" if tol == FINE else "")
                yield Case(name, "real", make, lam, loss, bias, tol, bool(kind), needs)


# Every kind of case that takes little time: does the course run, and is there a trap in sight?
_QUICK = (
    *("text3000_noise1_", "text3000_squared_hinge_", "text3000_log_", "text2000_free_0.001", "cancer", "rare", "dense"),
    *("loop", "kernel_digits_0.001", "kernel_wave3000_0.001", "rcv1_hinge_0.0001", "rcv1_squared", "rcv1_log"),
    *("adult_log_free_0.01", "usps8_kernel_hinge_free_0.001", "housing_tube_0.01", "abstracts2000_hinge"),
)


def quick(case: Case) -> bool:
    return any(part in case.name for part in _QUICK)
