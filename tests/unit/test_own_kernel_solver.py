"""A solver of the user's own in a kernel model: w has a factor for each row."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes

from pegasos import KernelPegasosClassifier
from pegasos.kernel_solvers.sdca import KernelSDCA
from pegasos.solvers import Fit

X, Y = binary()
X3, Y3 = three_classes()


class Kernel(KernelSDCA):
    """Returns what a function makes of a fit by SDCA."""

    def __init__(self, change: Callable[[Fit], Fit]) -> None:
        super().__init__("blocks", True)
        self.change = change

    def check(self, problem: Any, run: Any) -> None:
        pass

    def solve(self, *given: Any) -> Fit:
        return self.change(super().solve(*given))


@pytest.mark.parametrize("how", [{}, {"multi_class": "ovo"}, {"warm_start": True}])
def test_a_kernel_model_takes_one(how: Any) -> None:
    for A, y in ((X, Y), (X3, Y3)):
        fits = [KernelPegasosClassifier(lam=0.1, solver=s, **how) for s in (Kernel(lambda fit: fit), "sdca")]
        ours, theirs = (model.fit(A, y) for model in fits)
        np.testing.assert_array_equal(ours.dual_coef_, theirs.dual_coef_)
        assert ours.converged_ is theirs.converged_ is True


def test_kernel_solvers_are_looked_at_too() -> None:
    for how in ({}, {"multi_class": "ovo"}):
        bad = KernelPegasosClassifier(lam=0.1, solver=Kernel(lambda fit: replace(fit, w=fit.w[:-1])), **how)
        with pytest.raises(
            ValueError, match=r"finite real numbers, one a row and the bias last, but it returned an arr"
        ):
            bad.fit(X3, Y3)


@pytest.mark.parametrize(("kernel", "believed"), [("rbf", False), ("sigmoid", True)])
def test_without_a_bound_only_a_kernel_that_has_none_has_converged(kernel: str, believed: bool) -> None:
    solver = Kernel(lambda fit: replace(fit, history=fit.history * [1, 1, 1, np.nan], converged=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = KernelPegasosClassifier(lam=0.1, kernel=kernel, gamma=0.01, solver=solver).fit(X, Y)
    assert fitted.converged_ is believed


def test_dual_variables_are_all_that_a_warm_start_has() -> None:
    bare = Kernel(lambda fit: replace(fit, resume=fit.resume and replace(fit.resume, dual=None)))
    model = KernelPegasosClassifier(lam=0.1, solver=bare, warm_start=True).fit(X, Y)
    assert model.fit(X, Y).converged_  # from zero
