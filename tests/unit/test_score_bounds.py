"""score_bounds_: what gaps prove about the held-out scores of the optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, PegasosClassifierCV, PegasosRegressor, PegasosRegressorCV, datasets

X2, Y2 = binary()
X3, Y3 = three_classes()
TEXT = datasets.make_text(400, 2000, random_state=0)[:2]
LAMS = [1e-1, 1e-2, 1e-3]


def optima(plain: Any, X: Any, y: Any, folds: Any, **params: Any) -> Any:
    """Held-out scores of models that are all but exact, and their answers: folds x lams."""
    found = np.empty((folds.get_n_splits(), len(LAMS)))
    for k, (train, held_out) in enumerate(folds.split(X, y)):
        for i, lam in enumerate(LAMS):
            model = plain(lam=lam, tol=1e-10, max_epochs=100_000, **params).fit(X[train], y[train])
            found[k, i] = model.score(X[held_out], y[held_out])
    return found


CLASSES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "two": (X2, Y2, {}),
    "text": (*TEXT, {"bias": "none"}),
    "squared": (X2, Y2, {"loss": "squared_hinge"}),
    "log": (X2, Y2, {"loss": "log"}),
    "three": (X3, Y3, {}),
    "joint": (X3, Y3, {"loss": "multiclass_hinge"}),
    "weights": (X2, Y2, {"solver": "pegasos"}),
}


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
@pytest.mark.filterwarnings("ignore:not converged")
def test_the_optimum_scores_within_its_bounds(name: str, tol: float) -> None:
    X, y, params = CLASSES[name]
    if params.get("solver") == "pegasos" and tol < 1e-3:
        pytest.skip("Pegasos takes too long to such a gap")
    model = PegasosClassifierCV(LAMS, cv=3, tol=tol, stop_early=False, score_bounds=True, **params).fit(X, y)
    exact = optima(PegasosClassifier, X, y, StratifiedKFold(3), **{k: v for k, v in params.items() if k != "solver"})
    low, high = np.moveaxis(model.score_bounds_, -1, 0)
    assert (low <= exact + 1e-12).all()
    assert (exact <= high + 1e-12).all()
    assert (low <= model.scores_).all()
    assert (model.scores_ <= high).all()
    sizes = np.array([len(held_out) for _, held_out in StratifiedKFold(3).split(X, y)])[:, None]
    assert np.allclose(high - low, model.n_undecided_ / sizes, atol=1e-12)


def test_small_gaps_decide_most_rows_and_large_ones_few() -> None:
    left = [
        PegasosClassifierCV(LAMS, tol=tol, stop_early=False, score_bounds=True).fit(X2, Y2).n_undecided_.sum()
        for tol in (1e-2, 1e-4, 1e-8)
    ]
    assert left[0] > left[1] > left[2]
    assert left[2] <= 0.02 * len(Y2) * len(LAMS)
    assert left[0] > 0.1 * len(Y2) * len(LAMS)


def test_numbers_have_bounds_of_R2() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    widths = []
    for tol in (1e-2, 1e-8):
        model = PegasosRegressorCV(LAMS, cv=KFold(3), tol=tol, stop_early=False, score_bounds=True).fit(X, y)
        exact = optima(PegasosRegressor, X, y, KFold(3))
        low, high = np.moveaxis(model.score_bounds_, -1, 0)
        assert ((low <= exact) & (exact <= high)).all()
        assert ((low <= model.scores_) & (model.scores_ <= high)).all()
        widths.append(high - low)
    assert (widths[1] < widths[0]).all()
    assert np.max(widths[1]) < 0.02
    assert not hasattr(model, "n_undecided_")


def test_nothing_is_proven_of_a_free_bias_or_another_score() -> None:
    with pytest.raises(ValueError, match="nothing is proven of any row"):
        PegasosClassifierCV(LAMS, bias="free", score_bounds=True).fit(X2, Y2)
    with pytest.raises(ValueError, match="needs scoring=None"):
        PegasosClassifierCV(LAMS, scoring="f1_macro", score_bounds=True).fit(X2, Y2)
    assert not hasattr(PegasosClassifierCV(LAMS).fit(X2, Y2), "score_bounds_")
