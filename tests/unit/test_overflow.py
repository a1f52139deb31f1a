"""Rows so long that steps made for others would overflow."""

import numpy as np
import pytest

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    datasets,
)


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("size", [1e20, 1e60, 1e100])
@pytest.mark.parametrize("output", ["last", "average", "tail", "random", "best"])
@pytest.mark.parametrize("step", ["pegasos", "norma"])
def test_long_rows_leave_finite_weights(size, output, step):
    X, y = datasets.make_binary(40, 3, random_state=1)
    solver = Pegasos(T=200, output=output, step=step)
    for loss, kind in (("squared_hinge", PegasosClassifier), ("squared_epsilon_insensitive", PegasosRegressor)):
        for lam in (1e-4, 1e-30):
            model = kind(lam=lam, loss=loss, solver=solver, random_state=0).fit(X * size, y)
            assert np.isfinite(model.coef_).all()
            assert model.objective_ <= 10
            if output not in ("random", "best"):
                model.partial_fit(X * size, y)
                assert np.isfinite(model.coef_).all()


@pytest.mark.filterwarnings("ignore:not converged")
def test_long_rows_leave_finite_kernel_models():
    X, y = datasets.make_binary(40, 3, random_state=1)
    for kind, loss in (
        (KernelPegasosClassifier, "squared_hinge"),
        (KernelPegasosRegressor, "squared_epsilon_insensitive"),
    ):
        model = kind(kernel="linear", loss=loss, solver=Pegasos(T=200), lam=1e-4).fit(X * 1e20, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.isfinite(model.objective_)


def test_weights_that_overflow_are_refused_and_the_model_before_stays(monkeypatch):
    X, y = datasets.make_binary(40, 3, random_state=1)
    model = PegasosClassifier(lam=0.1, loss="squared_hinge", solver=Pegasos(T=50)).fit(X, y)
    before = model.coef_.copy()
    monkeypatch.setattr("pegasos.solvers.pegasos_options._MOST_LATE", 0.0)  # steps as if slopes were bounded
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="the weights have overflown"):
            call(X * 1e150, y)
        np.testing.assert_array_equal(model.coef_, before)
