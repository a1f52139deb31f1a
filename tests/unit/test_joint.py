"""Losses that train all classes together: the steps of the paper, every way to go on, costs and probabilities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers import model, same_model, three_classes
from problems import DATA, seed_of, some_weights
from reference import with_bias
from samplers import picks_reference
from sklearn.linear_model import LogisticRegression

from pegasos import Pegasos, PegasosClassifier, losses

X, Y = three_classes(120)
JOINT = pytest.mark.parametrize("loss", losses.JOINT)
ZERO_ONE = 1.0 - np.eye(3)
LOSSES = {name: loss.bound(n_classes=3, costs=ZERO_ONE) for name, loss in losses.JOINT.items()}


def joint_steps(loss: str, bias: str, s: Any, T: int, k: int, sampling: str, radius: float) -> np.ndarray:
    """Fig. 2 with one vector a class, in plain NumPy."""
    rows, lam = with_bias(X, bias), 0.05
    share = np.ones(len(Y)) if s is None or sampling == "iid" else s * np.count_nonzero(s) / s.sum()
    picks = picks_reference(sampling, seed_of(0), len(Y), 0, T * k, s, k).reshape(T, k)
    W = np.zeros((3, rows.shape[1]))
    for t, A in enumerate(picks, start=1):
        slopes = LOSSES[loss].slope(rows[A] @ W.T, Y[A].astype(np.int32)) * share[A, None]
        W = (1 - 1 / t) * W - slopes.T @ rows[A] / (lam * t * k)
        W *= min(1.0, radius / max(np.linalg.norm(W), 1e-300))
    return W


@JOINT
@pytest.mark.parametrize("bias", ["regularized", "none"])
@pytest.mark.parametrize(
    ("k", "sampling"), [(1, "blocks"), (5, "iid"), (7, "permutation"), (4, "subsets"), (3, "fixed")]
)
@pytest.mark.parametrize("weights", ["equal", "with zeros"])
@pytest.mark.parametrize("projection", [False, True])
def test_native_steps_are_those_of_the_reference(
    loss: str, bias: str, k: int, sampling: str, weights: str, projection: bool
) -> None:
    s = some_weights(weights, len(Y))
    fitted = model(loss=loss, bias=bias, solver=Pegasos(T=150, k=k, sampling=sampling, projection=projection))
    fitted.fit(X, Y, sample_weight=s)
    at_zero = 1.0 if loss == "multiclass_hinge" else np.log(3)
    radius = np.sqrt(at_zero / 0.05) if projection else np.inf
    expected = joint_steps(loss, bias, s, 150, k, sampling, radius)
    found = np.column_stack([fitted.coef_, fitted.intercept_]) if bias == "regularized" else fitted.coef_
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert fitted.n_steps_ == 150


@JOINT
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_the_number_of_threads_changes_nothing(loss: str, solver: str) -> None:
    rng = np.random.default_rng(0)
    A = (rng.normal(size=(40_000, 8)) * (rng.random((40_000, 8)) < 0.5)).astype(np.float32)
    y = np.argmax(A @ rng.normal(size=(8, 4)) + rng.normal(size=(40_000, 4)), axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = {
            n_jobs: PegasosClassifier(
                lam=1e-3, loss=loss, solver=solver, random_state=1, n_jobs=n_jobs, max_epochs=4, tol=1e-6
            ).fit(A, y)
            for n_jobs in (1, 2, 3, 7)
        }
    assert all(same_model(fits[1], other) for other in fits.values())


@JOINT
@pytest.mark.parametrize("kind", DATA)
def test_every_layout_gives_the_same_model(loss: str, kind: str) -> None:
    A = np.where(np.abs(X) > 0.3, X, 0.0).astype(np.float32).astype(np.float64)
    one, other = (model(loss=loss, tol=1e-9).fit(data, Y) for data in (A, DATA[kind](A)))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)


@JOINT
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_a_warm_start_goes_on(loss: str, solver: str) -> None:
    going = model(loss=loss, solver=solver, warm_start=True, tol=1e-2).fit(X, Y)
    steps = going.n_steps_
    again = going.fit(X, Y)
    assert again.n_steps_ > steps
    assert again.n_iter_ <= 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smaller = going.set_params(lam=0.01).fit(X, Y)
    assert smaller.gap_ <= 2e-2


@JOINT
def test_solvers_and_kinds_of_loss_take_over_from_one_another(loss: str) -> None:
    going = model(solver="pegasos", warm_start=True).fit(X, Y)  # one against the rest
    for change in ({"loss": loss}, {"solver": "auto"}, {"solver": "sdca"}, {"loss": "hinge"}, {"solver": "auto"}):
        going.set_params(**change).fit(X, Y)
        assert going.converged_


@JOINT
@pytest.mark.parametrize("k", [1, 16, 1000])
def test_partial_fit_makes_one_pass(loss: str, k: int) -> None:
    streamed = model(loss=loss, solver=Pegasos(k=k))
    for epoch in range(30):
        for part in np.array_split(np.random.default_rng(epoch).permutation(len(Y)), 3):
            streamed.partial_fit(X[part], Y[part], classes=[0, 1, 2])
    assert streamed.n_steps_ == 90 * -(-40 // min(k, 40))
    assert np.isnan(streamed.gap_)
    assert streamed.score(X, Y) > 0.9


@JOINT
def test_two_classes_have_two_vectors_and_one_score(loss: str) -> None:
    two = Y < 2
    fitted = model(loss=loss).fit(X[two], Y[two])
    assert fitted.coef_.shape == (2, X.shape[1])
    np.testing.assert_allclose(fitted.coef_[0], -fitted.coef_[1], atol=1e-12)
    scores = fitted.decision_function(X)
    assert scores.shape == (len(X),)
    each = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(scores, each[:, 1] - each[:, 0], atol=1e-12)
    assert np.array_equal(fitted.predict(X), each.argmax(axis=1))


@JOINT
@pytest.mark.parametrize("factor", [0.1, 3.0, 1e9])
def test_only_ratios_of_weights_matter(loss: str, factor: float) -> None:
    s = np.random.default_rng(0).permutation(some_weights("with zeros", len(Y)))  # every class keeps some rows
    one, other = (model(loss=loss, tol=1e-9).fit(X, Y, sample_weight=w) for w in (s, factor * s))
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-9)
    left = model(loss=loss, tol=1e-9).fit(X[s > 0], Y[s > 0], sample_weight=s[s > 0])
    np.testing.assert_allclose(one.coef_, left.coef_, atol=1e-9)


def test_dear_mistakes_become_rare() -> None:
    """Missing class 2 costs ten: its recall rises, and the others pay for it."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 3000)
    A = rng.normal(size=(3000, 5)) + 0.9 * np.eye(3, 5)[y]
    costs = ZERO_ONE.copy()
    costs[2] *= 10
    recall = {}
    for name, given in {"even": None, "dear": costs}.items():
        fitted = PegasosClassifier(lam=1e-3, loss="multiclass_hinge", costs=given, tol=1e-8).fit(A, y)
        recall[name] = [np.mean(fitted.predict(A)[y == c] == c) for c in range(3)]
    assert recall["dear"][2] > recall["even"][2] + 0.2
    assert recall["dear"][0] < recall["even"][0]


def test_even_costs_are_the_default() -> None:
    plain, given = (model(loss="multiclass_hinge", costs=c).fit(X, Y) for c in (None, ZERO_ONE))
    assert same_model(plain, given)


def test_costs_of_zero_leave_nothing_to_learn() -> None:
    fitted = model(loss="multiclass_hinge", costs=np.zeros((3, 3))).fit(X, Y)
    assert not fitted.coef_.any()
    assert fitted.objective_ == fitted.gap_ == 0
    assert fitted.converged_


@pytest.mark.parametrize("loss", ["log", "multinomial"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_sum_to_one_and_agree_with_predict(loss: str, scale: float, n_classes: int) -> None:
    mine = n_classes > Y
    fitted = model(loss=loss).fit(X[mine], Y[mine])
    probabilities = fitted.predict_proba(scale * X)
    assert probabilities.shape == (len(X), n_classes)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
    best = probabilities.max(axis=1)
    assert (probabilities[np.arange(len(X)), fitted.predict(scale * X)] == best).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "multiclass_hinge"])
def test_losses_without_probabilities_have_no_predict_proba(loss: str) -> None:
    assert not hasattr(model(loss=loss).fit(X, Y), "predict_proba")


@JOINT
def test_a_class_that_no_row_has_in_partial_fit_is_no_trouble(loss: str) -> None:
    fitted = model(loss=loss).partial_fit(X, Y, classes=[0, 1, 2, 3])
    assert fitted.coef_.shape == (4, X.shape[1])
    assert set(fitted.predict(X)) <= {0, 1, 2}


@JOINT
def test_the_warning_states_the_gap(loss: str) -> None:
    with pytest.warns(UserWarning, match=r"not converged: the objective is at most \d") as caught:
        stopped = model(loss=loss, solver="pegasos", tol=1e-9, max_epochs=2).fit(X, Y)
    assert f"{stopped.gap_:.3g}" in str(caught[0].message)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_free_biases_are_those_of_logistic_regression(C: float) -> None:
    rows, codes = X + 2.0, np.where(Y == 2, 0, Y)  # off centre, and one class rarer than the others
    codes[:4] = 2
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(rows, codes)
    ours = PegasosClassifier(lam=1 / (C * len(codes)), loss="multinomial", bias="free", tol=1e-9).fit(rows, codes)
    assert ours.converged_
    np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-4)
    penalised = PegasosClassifier(lam=1 / (C * len(codes)), loss="multinomial", tol=1e-9).fit(rows, codes)
    assert np.abs(penalised.predict_proba(rows) - theirs.predict_proba(rows)).max() > 1e-3


@pytest.mark.parametrize("loss", losses.JOINT)
@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_a_warm_start_goes_on_with_free_biases(loss: str, solver: str) -> None:
    estimator = model(loss=loss, bias="free", solver=solver, warm_start=True, max_epochs=5000, tol=0.02).fit(X, Y)
    assert estimator.converged_
    once = estimator.n_iter_
    again = estimator.fit(X, Y)
    assert again.converged_
    assert again.n_iter_ <= max(1, once / 2)


def test_partial_fit_steps_free_biases() -> None:
    stream = model(loss="multinomial", bias="free", lam=1e-3)
    for _ in range(30):
        stream.partial_fit(X, Y, classes=[0, 1, 2])
    exact = model(loss="multinomial", bias="free", lam=1e-3, tol=1e-6).fit(X, Y)
    assert stream.intercept_.any()
    assert abs(stream.score(X, Y) - exact.score(X, Y)) < 0.03


@pytest.mark.parametrize("output", ["last", "average"])
@pytest.mark.parametrize("loss", ["multiclass_hinge", "multinomial"])
def test_steps_of_pegasos_go_on_with_free_biases_as_if_there_had_been_no_end(loss: str, output: str) -> None:
    def steps(T: int) -> PegasosClassifier:
        solver = Pegasos(k=2, T=T, sampling="permutation", output=output)
        return model(loss=loss, bias="free", solver=solver, warm_start=True)

    going, whole = steps(60).fit(X, Y).fit(X, Y), steps(120).fit(X, Y)
    np.testing.assert_array_equal(going.coef_, whole.coef_)
    np.testing.assert_array_equal(going.intercept_, whole.intercept_)
