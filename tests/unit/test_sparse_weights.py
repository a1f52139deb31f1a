"""sparsify and densify: the same predictions from weights in a sparse matrix."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import binary, three_classes
from sklearn.exceptions import NotFittedError

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosRegressor

X, Y = binary(density=0.3)
X = X.toarray() if sp.issparse(X) else X * (np.abs(X) > 0.8)
X[:, 2] = 0.0  # a weight of zero
X3, Y3 = three_classes()
MODELS = {
    "two classes": lambda: PegasosClassifier(lam=0.1, random_state=0).fit(X, Y),
    "three classes": lambda: PegasosClassifier(lam=0.1, random_state=0).fit(X3, Y3),
    "all together": lambda: PegasosClassifier(lam=0.1, loss="multinomial", random_state=0).fit(X3, Y3),
    "regressor": lambda: PegasosRegressor(lam=0.1, random_state=0).fit(X, Y),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix, lambda A: A.astype(np.float32)])
def test_sparse_weights_predict_the_same(name: str, kind: Any) -> None:
    fitted = MODELS[name]()
    rows = kind(X)
    before, shape = fitted.predict(rows), fitted.coef_.shape
    assert fitted.sparsify() is fitted
    assert sp.issparse(fitted.coef_)
    scores = fitted.decision_function if hasattr(fitted, "decision_function") else fitted.predict
    sparse = scores(rows)
    assert pickle.loads(pickle.dumps(fitted)).predict(rows).shape == before.shape
    assert fitted.sparsify().densify() is fitted
    assert isinstance(fitted.coef_, np.ndarray)
    assert fitted.coef_.shape == shape
    np.testing.assert_allclose(sparse, scores(rows), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(fitted.densify().predict(rows), before)


@pytest.mark.parametrize("name", ["two classes", "regressor"])
def test_a_fit_goes_on_from_sparse_weights(name: str) -> None:
    one, other = MODELS[name](), MODELS[name]().sparsify()
    for fitted in (one, other):
        fitted.partial_fit(X, Y)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_there_is_nothing_to_make_sparse_before_a_fit_or_in_a_kernel_model() -> None:
    with pytest.raises(NotFittedError):
        PegasosClassifier().sparsify()
    assert not hasattr(KernelPegasosClassifier(), "sparsify")
