"""What losses cannot do is refused with a sentence: costs, biases of joint losses, and losses of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary, model, three_classes
from own_losses import Huber, OwnHinge
from test_refusals import said_by_fit

from pegasos import SDCA, Auto, Loss, Pegasos, PegasosClassifier, PegasosRegressor, losses

X3, Y3 = three_classes()
JOINT = pytest.mark.parametrize("loss", losses.JOINT)
RIGHT = 1.0 - np.eye(3)


def changed(y: int, r: int, cost: float) -> np.ndarray:
    costs = RIGHT.copy()
    costs[y, r] = cost
    return costs


@pytest.mark.parametrize(
    "loss", [name for name in (*losses.CLASSIFICATION, *losses.JOINT) if name != "multiclass_hinge"]
)
def test_costs_are_for_the_multiclass_hinge(loss: str) -> None:
    said = said_by_fit(model(loss=loss, costs=[[0, 1], [1, 0]]))
    assert said == f"costs are for loss='multiclass_hinge'; with loss={loss!r} set costs=None."


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        (np.ones((2, 2)), "3 classes, in the order of classes_; got shape (2, 2)"),
        (np.ones(3), "got shape (3,)"),
        (5.0, "got shape ()"),
        ("dear", "costs must be 3 x 3 numbers"),
        ([[0, 1], [1, 0, 1], [1, 1, 0]], "costs must be 3 x 3 numbers"),
        (changed(0, 1, -1.0), "costs[0, 1] = -1 must be a finite number >= 0"),
        (changed(2, 1, np.nan), "costs[2, 1] = nan must be a finite number"),
        (changed(1, 0, np.inf), "costs[1, 0] = inf must be a finite number"),
        (changed(1, 1, 0.5), "costs[1, 1] = 0.5 must be 0: the right answer costs nothing"),
    ],
)
def test_costs_out_of_range_are_named(costs: Any, says: str) -> None:
    with pytest.raises(ValueError, match=r"\.$") as error:
        model(loss="multiclass_hinge", costs=costs).fit(X3, Y3)
    assert says in str(error.value)


@JOINT
@pytest.mark.parametrize("bias", ["batch", "search"])
def test_a_joint_loss_has_no_bias_of_the_hinge(loss: str, bias: str) -> None:
    said = said_by_fit(model(loss=loss, bias=bias, solver=Pegasos(k=2)))
    assert f"bias={bias!r}" in said
    assert "bias='regularized', 'free' or 'none'" in said


@JOINT
def test_a_joint_loss_takes_no_array_to_start_from(loss: str) -> None:
    assert "use start='zero' or 'random'" in said_by_fit(model(loss=loss, solver=Pegasos(start=np.zeros(6))))


@pytest.mark.parametrize("solver", ["sdca", SDCA(), SDCA(shrinking=False)])
def test_a_loss_of_ones_own_is_for_pegasos(solver: Any) -> None:
    with pytest.raises(ValueError, match=r"needs solver='pegasos' or a Pegasos object\.$"):
        model(loss=OwnHinge(), solver=solver).fit(*binary())


class hinge(OwnHinge):  # a name that is taken
    pass


@pytest.mark.parametrize("bias", ["batch", "search"])
@pytest.mark.parametrize("loss", [OwnHinge(), hinge()])
def test_a_loss_of_ones_own_has_no_bias_of_the_hinge(bias: str, loss: Loss) -> None:
    said = said_by_fit(model(loss=loss, bias=bias, solver=Pegasos(k=2)))
    assert f"bias={bias!r} is for the hinge" in said
    assert "use bias='free'" in said


class NegativeSlope(Huber):
    def slope(self, scores, y):
        return -super().slope(scores, y)


class NotConvex(Huber):
    def value(self, scores, y):
        return np.sqrt(super().value(scores, y))


class OneNumber(Huber):
    def value(self, scores, y):
        return 1.0


class Words(Huber):
    def slope(self, scores, y):
        return np.full(len(y), "steep")


class Missing(Huber):
    def slope(self, scores, y):
        return np.where(scores > y, np.nan, 0.0)


class Negative(Huber):
    def value(self, scores, y):
        return super().value(scores, y) - 1.0


class WrongConjugate(Huber):
    def conjugate(self, a, y):
        return a * a - a * y


class OnlyValue(Loss):
    def value(self, scores, y):
        return 0.0 * scores


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (NegativeSlope(), ("NegativeSlope.slope is not a sub-gradient", "above value(", "not its negative")),
        (NotConvex(), ("not a sub-gradient of NotConvex.value", "value must be convex")),
        (OneNumber(), ("one number for each of the 400 rows", "shape ()")),
        (Words(), ("Words.slope must return one number",)),
        (Missing(), ("Missing.slope is nan at",)),
        (Negative(), ("Negative.value must not be negative", "for y = ")),
        (WrongConjugate(), ("WrongConjugate.conjugate is wrong", "at a = -slope(")),
    ],
)
@pytest.mark.parametrize("solver", ["auto", "pegasos", Pegasos(k=5), Auto()])
def test_a_loss_that_contradicts_itself_is_shown_where(loss: Loss, says: tuple[str, ...], solver: Any) -> None:
    regressor = PegasosRegressor(loss=loss, solver=solver)
    with pytest.raises(ValueError, match=r"\.$") as error:
        regressor.fit(X3, X3[:, 0])
    assert all(part in str(error.value) for part in says), error.value
    assert not hasattr(regressor, "coef_")


def test_a_loss_without_a_method_is_told_which() -> None:
    with pytest.raises(NotImplementedError, match=r"OnlyValue needs a method slope\(scores, y\)"):
        PegasosRegressor(loss=OnlyValue()).fit(X3, X3[:, 0])


@pytest.mark.parametrize("estimator", [PegasosClassifier, PegasosRegressor])
def test_a_class_in_the_place_of_an_object_is_refused(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"loss must be an object, not a class: use loss=Huber\(\)"):
        estimator(loss=Huber).fit(X3, np.arange(len(X3)) % 2)
