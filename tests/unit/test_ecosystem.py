"""scikit-learn's tools around our estimators: searches, ensembles, selection, inspection, frames."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, learning_curve, validation_curve
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, PegasosClassifier, PegasosRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5))
CODES = (X[:, 0] > 0.3).astype(int) + (X[:, 1] > 0.3)
Y = np.array(["low", "middle", "high"])[CODES]
NUMBERS = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 3

LINEAR, LOG = PegasosClassifier(lam=1e-2), PegasosClassifier(lam=1e-2, loss="log", bias="free")
JOINT = PegasosClassifier(lam=1e-2, loss="multinomial", bias="free")
KERNEL, PAIRS = KernelPegasosClassifier(lam=1e-2, bias="free"), KernelPegasosClassifier(lam=1e-2, multi_class="ovo")
CLASSIFIERS = {"linear": LINEAR, "log": LOG, "multinomial": JOINT, "kernel": KERNEL, "pairs": PAIRS}
REGRESSORS = {
    "linear": PegasosRegressor(lam=1e-3, bias="free"),
    "kernel": KernelPegasosRegressor(lam=1e-4, bias="free"),
}
every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
every_regressor = pytest.mark.parametrize("name", REGRESSORS)

AROUND = {
    "calibration": lambda inner: CalibratedClassifierCV(inner, cv=3),
    "one against the rest": OneVsRestClassifier,
    "one against one": OneVsOneClassifier,
    "output code": lambda inner: OutputCodeClassifier(inner, code_size=5, random_state=1),
    "bagging": lambda inner: BaggingClassifier(inner, n_estimators=4, random_state=0),
    "bagging of features": lambda inner: BaggingClassifier(inner, n_estimators=4, max_features=0.6, random_state=0),
    "voting": lambda inner: VotingClassifier([("a", inner), ("b", clone(LINEAR))]),
    "stacking": lambda inner: StackingClassifier([("a", inner)], final_estimator=clone(LOG), cv=3),
    "stacking on top": lambda inner: StackingClassifier([("a", clone(LOG))], final_estimator=inner, cv=3),
    "search": lambda inner: GridSearchCV(inner, {"lam": [1e-1, 1e-2]}, cv=3),
    "pipeline": lambda inner: make_pipeline(StandardScaler(), inner),
}


@every_classifier
@pytest.mark.parametrize("around", AROUND)
def test_meta_estimators_take_the_classifiers(name: str, around: str) -> None:
    outer = AROUND[around](clone(CLASSIFIERS[name])).fit(X, Y)
    assert outer.score(X, Y) > 0.6
    assert set(outer.classes_) == {"low", "middle", "high"}


@every_classifier
def test_predictions_under_cross_validation(name: str) -> None:
    estimator = CLASSIFIERS[name]
    labels = cross_val_predict(estimator, X, Y, cv=3)
    assert np.mean(labels == Y) > 0.6
    assert cross_val_predict(estimator, X, Y, cv=3, method="decision_function").shape == (150, 3)
    if hasattr(estimator, "predict_proba"):
        for method in ("predict_proba", "predict_log_proba"):
            assert cross_val_predict(estimator, X, Y, cv=3, method=method).shape == (150, 3)


@every_classifier
def test_curves_and_importances(name: str) -> None:
    estimator = CLASSIFIERS[name]
    sizes, _, test = learning_curve(estimator, X, Y, cv=3, train_sizes=[0.4, 1.0], shuffle=True, random_state=0)
    assert len(sizes) == len(test) == 2
    _, test = validation_curve(estimator, X, Y, param_name="lam", param_range=[1e-3, 1e-1], cv=3)
    assert test.shape == (2, 3)
    found = permutation_importance(clone(estimator).fit(X, Y), X, Y, n_repeats=3, random_state=0).importances_mean
    assert set(np.argsort(-found)[:2]) == {0, 1}


@pytest.mark.parametrize("estimator", [LINEAR, LOG, JOINT, REGRESSORS["linear"]], ids=repr)
def test_features_are_selected_by_their_weights(estimator: Any) -> None:
    y = NUMBERS if isinstance(estimator, PegasosRegressor) else CODES
    wanted = {0, 1, 4} if isinstance(estimator, PegasosRegressor) else {0, 1}
    assert wanted <= set(np.flatnonzero(RFECV(clone(estimator), cv=3, min_features_to_select=2).fit(X, y).support_))
    assert wanted <= set(
        SelectFromModel(clone(estimator), max_features=3, threshold=-np.inf).fit(X, y).get_support(True)
    )
    forward = SequentialFeatureSelector(clone(estimator), n_features_to_select=2, cv=2).fit(X, y)
    assert forward.get_support(True)[0] in wanted


@every_regressor
def test_meta_estimators_take_the_regressors(name: str) -> None:
    inner = REGRESSORS[name]
    for outer in (
        BaggingRegressor(clone(inner), n_estimators=3, random_state=0),
        StackingRegressor([("a", clone(inner))], final_estimator=clone(inner), cv=3),
        TransformedTargetRegressor(clone(inner), transformer=StandardScaler()),
        GridSearchCV(clone(inner), {"lam": [1e-3, 1e-2], "epsilon": [0.0, 0.1]}, cv=3),
    ):
        assert outer.fit(X, NUMBERS).score(X, NUMBERS) > 0.7
    several = MultiOutputRegressor(clone(inner)).fit(X, np.column_stack([NUMBERS, -NUMBERS]))
    assert several.predict(X).shape == (150, 2)


def test_several_outputs_boosting_and_unlabelled_rows() -> None:
    both = np.column_stack([CODES > 0, CODES > 1])
    assert MultiOutputClassifier(clone(LINEAR)).fit(X, both).predict(X).shape == (150, 2)
    assert ClassifierChain(clone(LOG)).fit(X, both).predict_proba(X).shape == (150, 2)
    assert AdaBoostClassifier(clone(LOG), n_estimators=3).fit(X, Y).score(X, Y) > 0.6
    partly = np.where(np.arange(150) % 3 == 0, CODES, -1)
    assert SelfTrainingClassifier(clone(LOG)).fit(X, partly).score(X, CODES) > 0.6


@every_classifier
def test_frames_through_column_transformers(name: str) -> None:
    frame = pd.DataFrame(X, columns=list("abcde")).assign(town=np.where(CODES == 2, "Rome", "Oslo"))
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), list("abcde")), ("town", OneHotEncoder(sparse_output=False), ["town"])]
    ).set_output(transform="pandas")
    pipe = make_pipeline(columns, clone(CLASSIFIERS[name])).fit(frame, pd.Series(Y))
    assert pipe[-1].feature_names_in_.tolist() == columns.fit(frame).get_feature_names_out().tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pipe.score(frame, Y) > 0.6
    search = GridSearchCV(pipe, {f"{pipe.steps[-1][0]}__lam": [1e-2, 1e-1]}, cv=3).fit(frame, Y)
    assert search.best_score_ > 0.6


@every_classifier
def test_processes_of_joblib_give_the_same_predictions(name: str) -> None:
    one = clone(CLASSIFIERS[name]).fit(X, Y).decision_function(X)
    others = Parallel(n_jobs=2)(delayed(_scores)(CLASSIFIERS[name]) for _ in range(2))
    for other in others:
        np.testing.assert_array_equal(other, one)


def _scores(estimator: Any) -> Any:
    return clone(estimator).fit(X, Y).decision_function(X)


@every_classifier
def test_weights_are_routed_to_fits_inside(name: str) -> None:
    weights = np.where(CODES == 1, 1.0, 1e-3)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(CLASSIFIERS[name]).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        fitted = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), inner).fit(
            X, Y, sample_weight=weights
        )
    direct = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name]))
    direct.fit(X, Y, **{f"{direct.steps[-1][0]}__sample_weight": weights})
    plain = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name])).fit(X, Y)
    assert np.abs(plain.decision_function(X) - direct.decision_function(X)).max() > 0.01
    np.testing.assert_allclose(fitted.decision_function(X), direct.decision_function(X))


@every_classifier
def test_a_bootstrap_without_a_class_is_no_failure(name: str) -> None:
    rare = np.where(np.arange(150) < 2, "rare", np.where(CODES > 0, "a", "b"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        bag = BaggingClassifier(clone(CLASSIFIERS[name]), n_estimators=8, max_samples=20, random_state=0).fit(X, rare)
    assert bag.predict(X).shape == (150,)
