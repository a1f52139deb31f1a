"""The paper's set-ups that take a second: real data from a folder of yours."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, Pegasos, datasets
from pegasos.datasets.readers import tfidf


def need(name):
    if reason := datasets.missing(name):
        pytest.skip(reason)


def usps():
    need("usps")
    X, y, Z, z = datasets.load_usps()
    return normalize(X), y == 8, normalize(Z), z == 8, {"gamma": 2.0, "lam": 1.36e-4}


def reuters():
    need("reuters")
    X, Y, Z, W = datasets.load_reuters()
    topic = datasets.reuters_topics().index("money-fx")
    idf = np.log(X.shape[0] / np.maximum(1, np.bincount(X.indices, minlength=X.shape[1])))
    for counts in (X, Z):
        tfidf(counts, idf)
    return X, Y[:, topic], Z, W[:, topic], {"gamma": 1.0, "lam": 1.29e-4}


@pytest.mark.parametrize("load", [usps, reuters])
def test_the_optimum_and_the_test_error_of_svc(load):
    X, y, Z, z, params = load()
    X, y = X[:2500], y[:2500]  # a second, not a minute
    ours = KernelPegasosClassifier(**params, bias="free", random_state=0).fit(X, y)
    assert ours.gap_ <= 1e-3
    svc = SVC(C=1 / (params["lam"] * len(y)), gamma=params["gamma"], cache_size=500).fit(X.astype(np.float64), y)
    wrong = [np.mean(model.predict(Z) != z) for model in (ours, svc)]
    assert wrong[0] <= 1.1 * wrong[1]
    c = np.zeros(len(y))
    c[svc.support_] = np.ravel(svc.dual_coef_.todense() if hasattr(svc.dual_coef_, "todense") else svc.dual_coef_)
    label, score = np.where(y, 1.0, -1.0), svc.decision_function(X.astype(np.float64))
    f = params["lam"] / 2 * c @ (score - svc.intercept_[0]) + np.maximum(0, 1 - label * score).mean()
    assert ours.dual_objective_ <= f + 1e-6
    assert ours.objective_ <= f + 1e-3


def test_fig_3_learns_usps():
    X, y, Z, z, params = usps()
    model = KernelPegasosClassifier(**params, solver=Pegasos(T=7291, sampling="iid"), random_state=0).fit(X, y)
    assert np.mean(model.predict(Z) != z) < 0.02
    assert model.gap_ >= 0
