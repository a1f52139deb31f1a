"""Fitted attributes that were written to since the fit: predictions say so, and do not crash."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor, datasets


def linear():
    X, y = datasets.make_multiclass(60, 5, 3)
    return PegasosClassifier(lam=0.1).fit(X, y), X


def regression():
    X, y = datasets.make_binary(60, 5)
    return PegasosRegressor(lam=0.1).fit(X, y), X


def sparse_kernel():
    X, y = datasets.make_binary(60, 5, sparse=True, density=0.5)
    return KernelPegasosClassifier(lam=0.1).fit(X, y), X


def looked_up():
    X, y = datasets.make_binary(60, 5)
    return KernelPegasosRegressor(lam=0.1, kernel="precomputed").fit(X @ X.T, y), X @ X.T


def pairs():
    X, y = datasets.make_multiclass(60, 5, 4)
    return KernelPegasosClassifier(lam=0.1, multi_class="ovo").fit(X, y), X


def kernel_classes():
    X, y = datasets.make_multiclass(60, 5, 3)
    return KernelPegasosClassifier(lam=0.1).fit(X, y), X


def put(model, name, value):
    setattr(model, name, value)


@pytest.mark.parametrize(
    ("make", "edit", "says"),
    [
        (linear, lambda m: put(m, "coef_", m.coef_[:, :3]), "coef_ has shape"),
        (linear, lambda m: put(m, "coef_", m.coef_[:2]), "coef_ has 2 vectors"),
        (linear, lambda m: put(m, "coef_", m.coef_[0]), "coef_ has shape"),
        (linear, lambda m: put(m, "coef_", m.coef_.astype(str)), "coef_ must hold real numbers"),
        (linear, lambda m: put(m, "coef_", m.coef_ * 1j), "coef_ must hold real numbers"),
        (linear, lambda m: put(m, "coef_", m.coef_ * np.nan), "coef_ has nan at"),
        (linear, lambda m: put(m, "intercept_", m.intercept_[:2]), "intercept_ has shape"),
        (regression, lambda m: put(m, "coef_", m.coef_[:3]), "coef_ has shape"),
        (regression, lambda m: put(m, "intercept_", [1.0, 2.0]), "intercept_ has shape"),
        (sparse_kernel, lambda m: m.support_vectors_.indices.fill(2**30), "support_vectors_ was changed.*column index"),
        (sparse_kernel, lambda m: m.support_vectors_.indices.fill(-7), "support_vectors_ was changed.*column index"),
        (sparse_kernel, lambda m: put(m, "support_vectors_", m.support_vectors_[:, :3]), "support_vectors_ has shape"),
        (sparse_kernel, lambda m: put(m, "support_vectors_", m.support_vectors_[:3]), "support_vectors_ has shape"),
        (sparse_kernel, lambda m: put(m, "dual_coef_", m.dual_coef_[:, :3]), "dual_coef_ has shape"),
        (sparse_kernel, lambda m: put(m, "dual_coef_", m.dual_coef_[0]), "dual_coef_ has shape"),
        (sparse_kernel, lambda m: put(m, "intercept_", np.zeros(4)), "intercept_ has shape"),
        (sparse_kernel, lambda m: put(m, "support_", m.support_[:3]), "support_ must be the"),
        (pairs, lambda m: put(m, "classes_", m.classes_[:3]), "dual_coef_ has 6 rows where the 3 classes"),
        (pairs, lambda m: put(m, "dual_coef_", m.dual_coef_[:4]), "dual_coef_ has 4 rows where the 4 classes"),
        (kernel_classes, lambda m: put(m, "classes_", m.classes_[:2]), "dual_coef_ has 3 rows where the 2 classes"),
        (looked_up, lambda m: put(m, "dual_coef_", np.tile(m.dual_coef_, (2, 1))), "dual_coef_ has 2 rows"),
        (looked_up, lambda m: put(m, "support_", m.support_ + 1000), "support_ names columns outside"),
        (looked_up, lambda m: put(m, "dual_coef_", m.dual_coef_ * np.inf), "dual_coef_ has -?inf|nan at"),
    ],
)
def test_an_attribute_that_does_not_fit_is_named(make, edit, says):
    model, X = make()
    before = model.predict(X)
    assert len(before) == X.shape[0]
    edit(model)
    with pytest.raises(ValueError, match=says):
        model.predict(X)


def test_weights_of_other_types_serve():
    model, X = linear()
    labels = model.predict(X)
    for coef in (model.coef_.astype(np.float32), model.coef_.tolist(), sp.csr_matrix(model.coef_)):
        model.coef_ = coef
        np.testing.assert_array_equal(model.predict(X), labels)


@pytest.mark.parametrize("make", [linear, kernel_classes, pairs])
def test_attributes_may_lie_in_memory_as_they_like(make):
    model, X = make()
    scores = model.decision_function(X)
    layouts = (np.asfortranarray, lambda a: np.repeat(a, 2, axis=1)[:, ::2])
    for layout in layouts:
        for name in ("coef_", "dual_coef_", "support_vectors_"):
            value = getattr(model, name, None)
            if value is not None and not sp.issparse(value):
                put(model, name, layout(value))
        np.testing.assert_allclose(model.decision_function(X), scores, rtol=1e-12)
