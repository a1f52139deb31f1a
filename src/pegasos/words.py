"""The words that parameters take, as types: checkers find the misspelt ones. `_rules` says the same at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
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
RandomState = int | np.integer[Any] | np.random.RandomState | None

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
