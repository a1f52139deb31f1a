"""Paths of models over falling lam, and where they begin."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from interrupts import Stops
from own_losses import Huber, OwnHinge

from pegasos import (
    Pegasos,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    datasets,
    lam_path,
)

X2, Y2 = binary()
X3, Y3 = three_classes()
POSITIVE = np.equal(Y2, np.unique(Y2)[1])
LAMS = np.geomspace(1e-1, 1e-5, 6)
TEXT = datasets.make_text(400, 2000, random_state=0)[:2]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log"])
@pytest.mark.parametrize("bias", ["regularized", "none", "free"])
def test_every_model_of_a_path_is_as_good_as_its_gap_says(loss: str, bias: str) -> None:
    X, y = TEXT
    path = lam_path(X, y, np.geomspace(1e-2, 1e-7, 10), loss=loss, bias=bias, tol=1e-4)
    signs = np.where(y == np.unique(y)[1], 1.0, -1.0)
    for i, lam in enumerate(path.lams):
        z = signs * (X @ path.coefs[i] + path.intercepts[i])
        values = {"hinge": np.maximum(0, 1 - z), "squared_hinge": np.maximum(0, 1 - z) ** 2, "log": np.logaddexp(0, -z)}
        b = path.intercepts[i] if bias == "regularized" else 0.0
        f = lam / 2 * (path.coefs[i] @ path.coefs[i] + b * b) + values[loss].mean()
        assert f == pytest.approx(path.objectives[i], rel=1e-9, abs=1e-12)
        best = PegasosClassifier(lam, loss, bias, tol=1e-9, max_epochs=10_000).fit(X, y)
        assert path.objectives[i] - path.gaps[i] <= best.objective_ + 1e-12
    assert (path.gaps <= 1e-4).all()


def test_where_every_row_can_be_satisfied_smaller_lams_need_no_fit() -> None:
    path = lam_path(*TEXT, [1e-6, 1e-7, 1e-8, 1e-9])
    assert (path.coefs[1:] == path.coefs[1]).all()
    assert (path.gaps <= 1e-3).all()
    assert (np.diff(path.objectives) < 0).all()


def test_the_optimum_of_the_hinge_has_a_gap_of_its_mean_loss_times_how_far_lam_has_fallen() -> None:
    """Why values are not placed by it: docs/choosing-lambda.md."""
    model = PegasosClassifier(1e-2, tol=1e-9, max_epochs=10_000).fit(X2, Y2)
    loss = np.maximum(0, 1 - np.where(POSITIVE, 1, -1) * model.decision_function(X2)).mean()
    square = float(np.square(model.coef_).sum() + np.square(model.intercept_).sum())
    conjugates = model.dual_objective_ + 1e-2 / 2 * square
    for part in (0.9, 0.5):
        f = loss + part * 1e-2 / 2 * square
        dual = part * conjugates - part * 1e-2 / 2 * square  # with this part of the dual variables w(a) is what it was
        assert f - dual == pytest.approx((1 - part) * loss, abs=1e-7)


def test_ctrl_c_keeps_the_part_of_a_path_that_is_finished() -> None:
    lams = [1e-4, 1e-1, 1e-3, 1e-2]
    with pytest.warns(UserWarning, match=r"has 2 of 4 values of lam; missing: 0\.001, 0\.0001\.$"):
        path = lam_path(X2, Y2, lams, solver=Stops(3))
    whole = lam_path(X2, Y2, lams, solver=Stops(-1))
    np.testing.assert_array_equal(path.lams, whole.lams[:2])
    np.testing.assert_array_equal(path.coefs, whole.coefs[:2])
    np.testing.assert_array_equal(path.gaps, whole.gaps[:2])
    with pytest.warns(UserWarning, match="has 1 of 2 values"):
        assert lam_path(X3, Y3, [1e-1, 1e-2], solver=Stops(5)).coefs.shape == (1, 3, X3.shape[1])
    with pytest.warns(UserWarning, match=r"has 1 of 8 values of lam; missing: (\S+, ){5}\.\.\."):
        lam_path(X2, Y2, 8, solver=Stops(2))
    with pytest.raises(KeyboardInterrupt):
        lam_path(X2, Y2, [1e-1, 1e-2], solver=Stops(1))


def test_numbers_without_a_loss_of_numbers_are_told_which_there_are() -> None:
    for y in (X2[:, 0], X2[:, 0].astype(object)):
        with pytest.raises(ValueError, match="For numbers to predict give loss='epsilon_insensitive' or 'squared_"):
            lam_path(X2, y, 3)
    with pytest.raises(ValueError, match="For numbers to predict use a regressor") as refused:
        PegasosClassifier().fit(X2, X2[:, 0].astype(object))
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)  # as processes of a search hand it over


def test_a_path_of_classes_and_one_of_numbers() -> None:
    path = lam_path(X3, Y3, 4)
    assert path.coefs.shape == (4, 3, X3.shape[1])
    assert path.gaps.shape == path.intercepts.shape == (4, 3)
    joint = lam_path(X3, Y3, [1e-2, 1e-3], loss="multinomial")
    assert joint.coefs.shape == (2, 3, X3.shape[1])
    assert joint.gaps.shape == (2,)
    numbers = lam_path(X2, X2[:, 0] + 5, [1e-2, 1e-3], loss="epsilon_insensitive", bias="free", epsilon=0.01)
    model = PegasosRegressor(1e-3, epsilon=0.01, bias="free").fit(X2, X2[:, 0] + 5)
    assert numbers.intercepts[1] == pytest.approx(model.intercept_, abs=0.05)
    with pytest.raises(ValueError, match="takes no lam"):
        lam_path(X2, Y2, lam=1e-3)


@pytest.mark.parametrize("lams", [0, -1, True, "many", [], [0.1, 0.0], [[0.1]], [0.1, np.nan], 2.5])
def test_lams_that_are_none_are_refused(lams: Any) -> None:
    with pytest.raises(ValueError, match="lams"):
        lam_path(X2, Y2, lams)
    with pytest.raises(ValueError, match="lams"):
        PegasosClassifierCV(lams).fit(X2, Y2)


def test_no_lam_is_tried_twice_where_rows_are_huge() -> None:
    lams = PegasosClassifierCV(10, 3, loss="squared_hinge", refit=False).fit(X2 * 1e52, Y2).lams_
    assert (np.diff(lams) < 0).all()


@pytest.mark.parametrize("bias", ["regularized", "none"])
@pytest.mark.parametrize("s", [None, np.arange(len(Y2)) % 3])
def test_at_the_largest_lam_of_the_hinge_every_dual_variable_is_at_its_bound(bias: str, s: Any) -> None:
    largest = float(lam_path(X2, Y2, 1, bias=bias, sample_weight=s).lams[0])
    y, shares = np.where(POSITIVE, 1.0, -1.0), np.ones(len(Y2)) if s is None else s
    v = (shares * y) @ np.column_stack([X2, np.full(len(y), float(bias == "regularized"))]) / shares.sum()
    for part, at_bound in ((1.0, True), (0.7, False)):
        model = PegasosClassifier(part * largest, bias=bias, tol=1e-10).fit(X2, Y2, s)
        found = np.append(model.coef_, model.intercept_)
        assert np.allclose(found * part * largest, v, atol=1e-6) is at_bound


@pytest.mark.parametrize(("loss", "bias"), [("log", "regularized"), ("log", "free"), ("hinge", "free")])
def test_at_the_largest_lam_no_model_is_clearly_better_than_a_constant(loss: str, bias: str) -> None:
    X, y = datasets.make_binary(300, 8, random_state=1, noise=0.3)
    y = np.where(np.arange(300) % 3 == 0, 1, y)
    largest = float(lam_path(X, y, 1, loss=loss, bias=bias).lams[0])
    model = PegasosClassifier(largest, loss, bias, tol=1e-9).fit(X, y)
    ahead = float((y == 1).mean())
    entropy = -ahead * np.log(ahead) - (1 - ahead) * np.log(1 - ahead)
    constant = {
        ("log", "regularized"): np.log(2),
        ("log", "free"): entropy,
        ("hinge", "free"): 2 * min(ahead, 1 - ahead),
    }
    assert 0.99 * constant[loss, bias] - 1e-6 <= model.objective_ <= constant[loss, bias] + 1e-6


@pytest.mark.parametrize("shares", [[0.97, 0.015, 0.015], [0.6, 0.3, 0.1], [0.34, 0.33, 0.33]], ids=str)
@pytest.mark.parametrize("loss", ["multinomial", "multiclass_hinge"])
def test_at_the_largest_lam_of_a_joint_loss_no_model_with_a_free_bias_is_clearly_better_than_a_constant(
    loss: str, shares: list[float]
) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(3, 1000, p=shares)
    X = rng.normal(size=(1000, 5)) + 20.0 * y[:, None] * np.eye(5)[0]
    lams = lam_path(X, y, 1, loss=loss, bias="free").lams
    path = lam_path(X, y, [lams[0], 1e8 * lams[0]], loss=loss, bias="free", tol=1e-6)
    constant, best = path.objectives[:, 0] if path.objectives.ndim > 1 else path.objectives
    assert 0.99 * constant - 2e-6 <= best <= constant + 2e-6
    assert best < (1 - 1e-3) * constant  # and not because it is far too large
    np.testing.assert_allclose(lam_path(X - 7.0, y, 1, loss=loss, bias="free").lams, lams)  # the bias takes it up


class hinge(OwnHinge):
    """Called like the built-in loss, which it is not."""


@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_what_the_class_of_an_own_loss_is_called_changes_nothing(bias: str) -> None:
    params = {"bias": bias, "solver": Pegasos(T=50), "random_state": 0}
    one, other = (lam_path(X2, Y2, 3, loss=loss, **params) for loss in (hinge(), OwnHinge()))
    np.testing.assert_array_equal(one.lams, other.lams)
    np.testing.assert_array_equal(one.coefs, other.coefs)


class HuberOfNumbers(Huber):
    for_numbers = True


@pytest.mark.parametrize(
    ("loss", "y"),
    [
        (Huber(), X2[:, 0]),
        (Huber(), list(X2[:, 0])),
        (HuberOfNumbers(), X2[:, 0]),
        (HuberOfNumbers(), np.arange(len(X2)) % 3),
    ],
    ids=["from y", "from a list", "said", "said, whole numbers"],
)
def test_an_own_loss_of_numbers_has_a_path_of_regressions(loss: Any, y: Any) -> None:
    params = {"solver": Pegasos(T=300), "random_state": 0}
    path = lam_path(X2, y, [1e-1, 1e-2], loss=loss, **params)
    assert path.coefs.shape == (2, X2.shape[1])
    model = PegasosRegressor(1e-1, loss=loss, **params).fit(X2, y)
    np.testing.assert_array_equal(path.coefs[0], model.coef_)


def test_an_own_loss_that_says_nothing_takes_whole_numbers_for_classes() -> None:
    path = lam_path(X3, Y3, [1e-1], loss=OwnHinge(), solver=Pegasos(T=50))
    assert path.coefs.shape == (1, 3, X3.shape[1])


def test_an_own_loss_is_for_the_estimators_that_it_says() -> None:
    of_classes = OwnHinge()
    of_classes.for_numbers = False
    with pytest.raises(ValueError, match="loss is for numbers: use a regressor"):
        PegasosClassifier(loss=HuberOfNumbers()).fit(X2, Y2)
    with pytest.raises(ValueError, match="loss is for classes: use a classifier"):
        PegasosRegressor(loss=of_classes).fit(X2, X2[:, 0])
    assert PegasosClassifier(lam=1.0, loss=of_classes).fit(X2, Y2).coef_.any()
