"""Features and numbers to predict may be in any unit: a fit converges whether lam is large or small for its rows.

Every case is a table of few rows that a user may have before scaling anything; warnings are errors.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor

UNITS = (1e-6, 1e-3, 1.0)  # of features
LAMS = (1e-7, 1e-4, 1e-1, 10.0)
REGRESSION = ("epsilon_insensitive", "squared_epsilon_insensitive")
every_unit = pytest.mark.parametrize("unit", UNITS)


def failures(kind: Any, X: Any, y: Any, **params: Any) -> list[str]:
    """The lams at which a fit does not converge, or warns, with what it says."""
    found = []
    for lam in LAMS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = kind(lam=lam, random_state=0, **params).fit(X, y)
        if caught or not model.converged_:
            found.append(f"lam {lam:g}: {[str(one.message) for one in caught]}")
    return found


def table(m: int, d: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(m + d)
    return rng.normal(size=(m, d)), rng.normal(size=m)


@every_unit
@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e3])
@pytest.mark.parametrize(("m", "d"), [(20, 5), (200, 30)])
def test_free_bias_of_regression(unit: float, loss: str, scale: float, m: int, d: int) -> None:
    X, noise = table(m, d)
    y = scale * (X[:, 0] + noise)
    for epsilon in (0.0, 0.5 * scale):
        assert failures(PegasosRegressor, unit * X, y, bias="free", loss=loss, epsilon=epsilon) == []


@every_unit
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial"])
@pytest.mark.parametrize("rare", [0.1, 0.5])
def test_free_bias_of_classes(unit: float, loss: str, rare: float) -> None:
    X, noise = table(60, 5)
    y = np.digitize(noise, np.quantile(noise, [rare, 0.9] if loss.startswith("multi") else [rare]))
    assert failures(PegasosClassifier, unit * X, y, bias="free", loss=loss) == []


@every_unit
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log"])
@pytest.mark.parametrize("m", [20, 300])
def test_free_bias_of_kernels(unit: float, loss: str, m: int) -> None:
    X, noise = table(m, 5)
    assert failures(KernelPegasosClassifier, unit * X, noise > 1, kernel="linear", bias="free", loss=loss) == []


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("scale", [1e-2, 30.0, 1e5])
@pytest.mark.parametrize("m", [20, 100])
def test_numbers_of_any_size_with_kernels(bias: str, loss: str, kernel: str, scale: float, m: int) -> None:
    """Dual variables of a squared loss are as large as the numbers: what holds them back must know that."""
    X, noise = table(m, 5)
    y = scale * (X[:, 0] + noise)
    assert failures(KernelPegasosRegressor, X, y, kernel=kernel, bias=bias, loss=loss, epsilon=0.1 * scale) == []
