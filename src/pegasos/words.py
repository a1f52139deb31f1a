"""The words that parameters take, as types: checkers find the misspelt ones. `_rules` says the same at run time.

Types are written out: those of losses and kernels stand beside the registries in `losses/` and `kernels/`, and a test
compares them. The command takes its own from here, where nothing heavy is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np

    from .losses.own import Loss
    from .solvers import SDCA, Auto, Pegasos
    from .solvers import Solver as Own

ClassLoss = Literal["hinge", "squared_hinge", "log"]
JointLoss = Literal["multiclass_hinge", "multinomial"]
NumberLoss = Literal["epsilon_insensitive", "squared_epsilon_insensitive"]
OfClasses: TypeAlias = "ClassLoss | JointLoss | Loss"
OfNumbers: TypeAlias = "NumberLoss | Loss"

Bias = Literal["regularized", "free", "none"]
HingeBias = Literal["regularized", "free", "batch", "search", "none"]
Solver: TypeAlias = "Literal['auto', 'sdca', 'pegasos'] | Auto | SDCA | Pegasos | Own"
ClassWeight = Mapping[Any, float] | Literal["balanced"] | None
RandomState: TypeAlias = "int | np.integer[Any] | np.random.RandomState | None"

KernelName = Literal["linear", "rbf", "poly", "sigmoid", "laplacian", "cosine", "chi2", "precomputed"]
Kernel = KernelName | Callable[..., Any]
Gamma = Literal["scale", "auto"] | float
MultiClass = Literal["ovr", "ovo"]

Sampling = Literal["blocks", "runs", "permutation", "fixed", "iid", "subsets"]
DualSampling = Literal["blocks", "runs", "permutation", "iid"]
AutoSampling = Literal["blocks", "runs"]
Step = Literal["pegasos", "norma"] | float
Output = Literal["last", "average", "tail", "random", "best"]
Advance = Literal["always", "on_loss"]

SearchRule = Literal["best", "one_standard_error"]
Calibration = Literal["sigmoid", "isotonic"] | None
