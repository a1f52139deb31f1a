"""What users of scikit-learn expect: logarithms of probabilities, weights and costs by name, errors with a place."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers import binary, model, three_classes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    cores,
)

X, Y = binary()
X3, CODES = three_classes()
Y3 = np.array(["ant", "bee", "cat"])[CODES]
CLASSIFIERS = [PegasosClassifier, KernelPegasosClassifier]
REGRESSORS = [PegasosRegressor, KernelPegasosRegressor]
every_classifier = pytest.mark.parametrize("kind", CLASSIFIERS)


@every_classifier
@pytest.mark.parametrize("data", [(X, Y), (X3, Y3)], ids=["two classes", "three classes"])
def test_predict_log_proba_is_the_logarithm_of_predict_proba(kind: Any, data: Any) -> None:
    fitted = kind(lam=0.01, loss="log").fit(*data)
    probabilities = fitted.predict_proba(data[0])
    np.testing.assert_allclose(fitted.predict_log_proba(data[0]), np.log(probabilities), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("loss", ["log", "multinomial"])
@pytest.mark.parametrize("data", [(X, Y), (X3, Y3)], ids=["two classes", "three classes"])
def test_the_logarithm_of_a_chance_too_small_to_be_written_down_is_finite(loss: str, data: Any) -> None:
    fitted = model(loss=loss).fit(*data)
    logs = fitted.predict_log_proba(1e6 * data[0])
    assert np.isfinite(logs).all()
    assert logs.min() < -1000
    assert (fitted.predict_proba(1e6 * data[0]).min(axis=1) == 0).any()


@every_classifier
def test_probabilities_of_the_hinge_are_not_there_and_the_error_says_what_to_do(kind: Any) -> None:
    fitted = kind().fit(X, Y)
    for name in ("predict_proba", "predict_log_proba"):
        assert not hasattr(fitted, name)
        with pytest.raises(AttributeError) as raised:
            getattr(fitted, name)
        said = str(raised.value)
        assert said.startswith(f"This {kind.__name__!r} has no attribute {name!r}: loss='hinge' has scores")
        assert "loss='log'" in said
        assert "CalibratedClassifierCV" in said
    pairs = KernelPegasosClassifier(loss="log", multi_class="ovo")
    assert not hasattr(pairs, "predict_proba")
    with pytest.raises(AttributeError, match=r"votes, not probabilities\. Fit with multi_class='ovr'"):
        KernelPegasosClassifier.predict_proba(pairs, X)  # of the class: by its name alone nothing is known


def test_without_n_jobs_there_is_one_thread_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    count = cores.thread_count

    def noted(n_jobs: int | None) -> int:
        used.append(count(n_jobs))
        return used[-1]

    for module in ("course", "kernel_base", "linear_base"):
        monkeypatch.setattr(f"pegasos.estimators.{module}.thread_count", noted)
    for kind in CLASSIFIERS:
        kind(lam=0.1).fit(X, Y).predict(X)
    assert len(used) >= 3
    assert set(used) == {1}


@every_classifier
def test_class_weight_may_name_classes_that_are_not_here(kind: Any) -> None:
    wide, narrow = (
        kind(lam=0.1, random_state=0, class_weight=w).fit(X3, Y3) for w in ({"bee": 3, "dog": 9}, {"bee": 3})
    )
    np.testing.assert_array_equal(wide.decision_function(X3), narrow.decision_function(X3))
    with pytest.warns(UserWarning, match=r"no effect: it names 'dog', and y has the classes \['ant', 'bee', 'cat'\]"):
        kind(lam=0.1, class_weight={"dog": 9}).fit(X3, Y3)
    with pytest.raises(ValueError, match="class_weight\\['dog'\\] = -1 must be"):
        kind(class_weight={"dog": -1}).fit(X3, Y3)


COSTS = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
NAMES = ["dog", "cat", "bee", "ant"]
FRAME = pd.DataFrame(1.0 - np.eye(4), index=NAMES, columns=NAMES)[NAMES[::-1]]  # columns in another order
FRAME.loc["ant", "bee"], FRAME.loc["cat", "ant"] = 2.0, 5.0


@pytest.mark.parametrize(
    "costs", [{("ant", "bee"): 2, ("cat", "ant"): 5, ("cat", "dog"): 9}, FRAME], ids=["dict", "frame"]
)
def test_costs_by_name_are_those_of_the_matrix(costs: Any) -> None:
    params = {"lam": 0.1, "loss": "multiclass_hinge", "random_state": 0}
    named, matrix = (PegasosClassifier(costs=c, **params).fit(X3, Y3) for c in (costs, COSTS))
    np.testing.assert_array_equal(named.coef_, matrix.coef_)


def test_folds_without_a_rare_class_take_costs_by_name() -> None:
    y = Y3.copy()
    y[:1] = "dog"  # in one fold only
    estimator = PegasosClassifier(lam=0.1, loss="multiclass_hinge", costs=FRAME)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        assert cross_val_score(estimator, X3, y, cv=3, error_score="raise").min() > 0.8


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"ant": 2}, r"pairs \(right class, answer\) as keys, got 'ant'"),
        ({("ant", "ant"): 2}, r"costs\[0, 0\] = 2 must be 0"),
        ({("ant", "bee"): -1}, r"costs\[0, 1\] = -1 must be"),
        ({("ant", "bee"): "much"}, "costs must be 3 x 3 numbers"),
        (FRAME.drop(index="bee"), "index of the frame of costs lacks the class 'bee'"),
        (FRAME.drop(columns="cat"), "columns of the frame of costs lacks the class 'cat'"),
        (FRAME.loc[[*NAMES, "ant"]], "names a class twice"),
    ],
)
def test_wrong_costs_by_name_are_refused(costs: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        PegasosClassifier(loss="multiclass_hinge", costs=costs).fit(X3, Y3)


TABLE = pd.DataFrame(X[:, :2], columns=["age", "height"]).assign(city="Rome")
OBJECTS = X.astype(object)
OBJECTS[4, 2] = "tall"


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_text_is_named_with_its_row_and_column(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"X contains 'Rome' at row 0, column 2 \('city'\).*OneHotEncoder"):
        kind().fit(TABLE, Y)
    for texts in (OBJECTS, OBJECTS.astype(str), OBJECTS.tolist()):
        with pytest.raises(ValueError, match=r"X contains .*'tall'.* at row 4, column 2, which is no number"):
            kind().fit(texts, Y)
    with pytest.raises(ValueError, match="X contains 'tall' at row 4, column 2"):
        kind().fit(X, Y).predict(OBJECTS)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
def test_masked_arrays_are_refused(kind: Any) -> None:
    hidden = np.zeros(X.shape, bool)
    hidden[7, 3] = True
    with pytest.raises(ValueError, match="X is a masked array, masked at row 7, column 3"):
        kind().fit(np.ma.array(X, mask=hidden), Y)
    with pytest.raises(ValueError, match="y is a masked array, masked at row 7"):
        kind().fit(X, np.ma.array(Y, mask=hidden[:, 3]))
    with pytest.raises(ValueError, match="sample_weight is a masked array, masked at row 7"):
        kind().fit(X, Y, sample_weight=np.ma.array(np.ones(len(Y)), mask=hidden[:, 3]))
    with pytest.raises(ValueError, match="X is a masked array"):
        kind().fit(X, Y).predict(np.ma.array(X, mask=hidden))
    kind().fit(np.ma.array(X), Y)  # nothing is hidden


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_targets_far_from_zero_are_no_silent_failure(kind: Any, bias: str) -> None:
    y = 1e6 + X[:, 0]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        score = kind(bias=bias).fit(X, y).score(X, y)
    assert (score > 0.9) == (bias == "free")
    said = "".join(str(warning.message) for warning in heard)
    assert ("as good as a mere constant" in said and "bias='free'" in said) == (bias != "free")


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("lam", [1e-6, 1e-2, 1e4])
def test_targets_around_zero_are_no_reason_to_warn(kind: Any, bias: str, lam: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(bias=bias, lam=lam).fit(X, X[:, 0] + 0.05)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
def test_no_epochs_hand_back_the_start_with_its_certificate(kind: Any, solver: str, bias: str) -> None:
    with pytest.warns(ConvergenceWarning, match="max_epochs=0"):
        fitted = kind(lam=0.1, solver=solver, bias=bias, max_epochs=0).fit(X, Y)
    assert fitted.n_iter_ == fitted.n_steps_ == 0
    assert not fitted.converged_
    rest = fitted.predict(X) - fitted.intercept_ if kind in REGRESSORS else np.zeros(1)
    assert not rest.any()
    best = kind(lam=0.1, bias=bias).fit(X, Y).objective_
    assert fitted.objective_ - fitted.gap_ <= best <= fitted.objective_


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_no_epochs_after_a_fit_keep_it(kind: Any) -> None:
    fitted = kind(lam=0.1, warm_start=True, random_state=0).fit(X, Y)
    scores = fitted.decision_function(X)
    fitted.set_params(max_epochs=0).fit(X, Y)
    np.testing.assert_allclose(fitted.decision_function(X), scores, rtol=1e-9, atol=1e-9)
    assert fitted.converged_


@every_classifier
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log"])
def test_a_bootstrap_that_leaves_one_class_fits_and_warns(kind: Any, bias: str, loss: str) -> None:
    with pytest.warns(UserWarning, match="only 1 class, 1, has rows of positive weight"):
        fitted = kind(lam=0.1, bias=bias, loss=loss).fit(X, Y, sample_weight=Y > 0)
    assert fitted.converged_
    assert fitted.classes_.tolist() == [-1, 1]
    assert bias == "none" or (fitted.predict(X[Y > 0]) == 1).all()


@pytest.mark.parametrize("loss", ["multinomial", "multiclass_hinge"])
def test_a_bootstrap_that_leaves_one_class_fits_all_classes_together(loss: str) -> None:
    with pytest.warns(UserWarning, match="only 1 class, 'bee', has rows"):
        fitted = model(loss=loss).fit(X3, Y3, sample_weight=Y3 == "bee")
    assert (fitted.predict(X3[Y3 == "bee"]) == "bee").all()


@every_classifier
@pytest.mark.parametrize("weights", ["sample", "class"])
def test_a_class_of_several_that_weighs_nothing_is_told(kind: Any, weights: str) -> None:
    given = {"sample_weight": Y3 != "bee"} if weights == "sample" else {}
    estimator = kind(lam=0.1, class_weight=None if given else {"bee": 0})
    with pytest.warns(
        UserWarning, match="1 of 3 classes, 'bee', has no row of positive weight: .* nothing of it"
    ) as told:
        fitted = estimator.fit(X3, Y3, **given)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert fitted.converged_
    assert fitted.classes_.tolist() == sorted(set(Y3))
    assert not (fitted.predict(X3) == "bee").any()


def test_of_many_classes_that_weigh_nothing_a_few_are_named() -> None:
    y = np.arange(150) % 10
    with pytest.warns(UserWarning, match=r"8 of 10 classes, 2, 3, 4, 5, 6, \.\.\., have no row .* nothing of them"):
        model(loss="multinomial").fit(X3, y, sample_weight=y < 2)


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *REGRESSORS])
@pytest.mark.parametrize("solver", ["auto", "sdca"])
def test_without_random_state_fits_have_the_same_bytes(kind: Any, solver: str) -> None:
    one, two = (kind(lam=1e-3, solver=solver, tol=1e-2, bias="free").fit(X, Y) for _ in range(2))
    assert one.predict(X).tobytes() == two.predict(X).tobytes()
    assert np.asarray(one.intercept_).tobytes() == np.asarray(two.intercept_).tobytes()


def test_without_random_state_pegasos_draws_anew() -> None:
    one, two = (PegasosClassifier(solver=Pegasos(T=50)).fit(X, Y) for _ in range(2))
    assert one.coef_.tobytes() != two.coef_.tobytes()


def test_what_lies_in_memory_does_not_matter_to_a_kernel_fit() -> None:
    fits = []
    for i in range(25):
        noise = [np.full(len(Y3), 10.0**i) for _ in range(4)]  # what the next arrays of this size will find
        del noise
        fits.append(KernelPegasosClassifier(lam=1e-2, bias="free").fit(X3, Y3).dual_coef_.tobytes())
    assert len(set(fits)) == 1
