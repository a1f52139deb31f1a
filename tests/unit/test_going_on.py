"""warm_start and partial_fit go on where the last call ended; weights say how much each row counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from helpers import binary, model, same_model, steps, three_classes
from sklearn.utils.class_weight import compute_sample_weight

from pegasos import Pegasos, PegasosClassifier

X, Y = binary()
X3, Y3 = three_classes()
PROBLEMS = {"two classes": (X, Y), "three classes": (X3, Y3)}
SAMPLINGS = ["blocks", "permutation", "iid"]


def full_batch_step(fitted: PegasosClassifier, lam: float) -> tuple[np.ndarray, float]:
    """Step t + 1 with all rows, from the definition."""
    w, b, t = fitted.coef_[0], fitted.intercept_[0], fitted.n_steps_ + 1
    missed = np.where(Y * (X @ w + b) < 1, Y, 0)
    return (1 - 1 / t) * w + missed @ X / (lam * t * len(Y)), (1 - 1 / t) * b + missed.sum() / (lam * t * len(Y))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(("first", "then", "k"), [(37, 50, 1), (120, 240, 1), (100, 900, 3), (1, 1, 1), (11, 500, 7)])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_two_warm_fits_are_one_long_fit_to_the_byte(problem: str, first: int, then: int, k: int, sampling: str) -> None:
    A, y = PROBLEMS[problem]
    pieces = steps(T=first, k=k, sampling=sampling, warm_start=True).fit(A, y)
    pieces.set_params(solver__T=then).fit(A, y)
    whole = steps(T=first + then, k=k, sampling=sampling).fit(A, y)
    assert np.array_equal(pieces.n_steps_, whole.n_steps_)
    np.testing.assert_allclose(pieces.gap_, whole.gap_, rtol=1e-9, atol=1e-12)
    assert same_model(pieces, whole)


VARIANTS: dict[str, dict[str, Any]] = {
    "average": {"output": "average"},
    "average, norma": {"output": "average", "step": "norma", "p": 0.7},
    "average, projected": {"output": "average", "projection": True, "lam": 0.01},
    "constant": {"step": 0.5, "start": "random"},
    "norma, projected": {"step": "norma", "p": 0.7, "projection": True},
    "on_loss": {"advance": "on_loss"},
    "free": {"bias": "free"},
    "free, average": {"bias": "free", "output": "average"},
    "batch": {"bias": "batch", "sampling": "subsets"},
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_two_warm_fits_of_a_variant_are_one_long_fit_to_the_byte(problem: str, variant: str) -> None:
    """The iterate, the running bias, the count of losses and the sum of iterates go on, not what was returned."""
    A, y = PROBLEMS[problem]
    how = {"k": 3, **VARIANTS[variant]}
    pieces = steps(T=100, warm_start=True, **how).fit(A, y)
    for T in (1, 399):
        pieces.set_params(solver__T=T).fit(A, y)
    whole = steps(T=500, **how).fit(A, y)
    assert same_model(pieces, whole)
    np.testing.assert_allclose(pieces.gap_, whole.gap_, rtol=1e-9, atol=1e-12)


def test_a_warm_start_from_other_weights_has_no_old_average() -> None:
    """Weights set by hand are another trajectory: what was summed before does not belong to it."""
    warm = steps(T=50, k=120, output="average", warm_start=True).fit(X, Y)
    warm.coef_ = warm.coef_ + 1.0
    w, _ = full_batch_step(warm, lam=warm.lam)
    middle = (warm.coef_[0] + w) / 2
    warm.set_params(solver__T=2).fit(X, Y)
    np.testing.assert_allclose(warm.coef_[0], middle, rtol=1e-10)


def test_warm_start_counts_steps_on_and_a_cold_start_from_zero() -> None:
    warm = model(warm_start=True).fit(X, Y)
    before = warm.n_steps_
    warm.fit(X, Y)
    assert warm.n_steps_ > before
    assert warm.n_iter_ == pytest.approx((warm.n_steps_ - before) / 120)  # epochs of the last fit
    cold = model().fit(X, Y)
    assert cold.fit(X, Y).n_steps_ == before


def test_warm_start_keeps_what_was_learned() -> None:
    warm = model(tol=1e-3, warm_start=True).fit(X, Y)
    warm.set_params(tol=2e-3).fit(X, Y)
    assert warm.converged_
    assert warm.n_iter_ == 1  # the first certificate is enough


def test_a_warm_start_with_another_lam_keeps_w_and_t() -> None:
    warm = steps(T=500, k=120, warm_start=True).fit(X, Y)
    w, b = full_batch_step(warm, lam=0.7)
    warm.set_params(lam=0.7, solver__T=1).fit(X, Y)
    assert warm.n_steps_ == 501
    np.testing.assert_allclose(warm.coef_[0], w, rtol=1e-10)
    np.testing.assert_allclose(warm.intercept_[0], b, rtol=1e-10)


def test_a_warm_start_takes_other_rows() -> None:
    warm = steps(T=500, k=10, warm_start=True).fit(X[:60], Y[:60])
    warm.set_params(solver__k=120, solver__T=1)
    w, _ = full_batch_step(warm, lam=warm.lam)
    warm.fit(X, Y)
    assert warm.n_steps_ == 501
    np.testing.assert_allclose(warm.coef_[0], w, rtol=1e-10)
    assert np.isfinite(warm.gap_)


def test_a_warm_start_with_a_smaller_bias_leaves_none_behind() -> None:
    warm = model(warm_start=True).fit(X + 1, Y)
    assert warm.intercept_[0] != 0
    warm.set_params(bias="none", tol=0.05).fit(X + 1, Y)
    assert warm.intercept_[0] == 0


def test_a_warm_start_refuses_other_classes_and_other_columns() -> None:
    warm = model(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"warm_start.*classes.*warm_start=False"):
        warm.fit(X, Y + 5)
    with pytest.raises(ValueError, match="features"):
        warm.fit(X[:, :3], Y)


def test_partial_fit_goes_on_from_fit_and_from_itself() -> None:
    fitted = steps(T=500, k=120).fit(X, Y)
    w, b = full_batch_step(fitted, lam=fitted.lam)
    fitted.partial_fit(X, Y)
    assert fitted.n_steps_ == 501
    np.testing.assert_allclose(fitted.coef_[0], w, rtol=1e-10)
    np.testing.assert_allclose(fitted.intercept_[0], b, rtol=1e-10)
    w, b = full_batch_step(fitted, lam=fitted.lam)
    fitted.partial_fit(X, Y)
    assert fitted.n_steps_ == 502
    np.testing.assert_allclose(fitted.coef_[0], w, rtol=1e-10)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_partial_fit_never_warns_and_makes_no_promise(problem: str) -> None:
    A, y = PROBLEMS[problem]
    estimator = model(tol=0.0, max_epochs=0.01, solver=Pegasos(T=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (slice(0, 50), slice(50, None)):
            estimator.partial_fit(A[rows], y[rows], classes=np.unique(y))
    assert np.all(estimator.n_steps_ == len(y))  # neither T nor max_epochs nor tol count
    assert np.all(np.isnan(estimator.gap_))
    assert np.all(np.isnan(estimator.objective_))
    assert np.shape(estimator.gap_) == (() if len(np.unique(y)) == 2 else (3,))
    assert not estimator.converged_
    assert all(len(column) == 0 for column in estimator.history_.values())
    assert estimator.score(A, y) > 0.6


@pytest.mark.parametrize("sampling", ["blocks", "permutation"])
@pytest.mark.parametrize(("m", "k"), [(20, 1), (20, 5), (20, 7), (20, 20), (20, 50), (1, 3)])
def test_partial_fit_sees_each_row_once_also_when_k_does_not_divide(m: int, k: int, sampling: str) -> None:
    # Rows at right angles: the score of a row is 0 until it was seen, so every row counts, with 1/k of its batch.
    y = np.where(np.arange(m) % 3 == 0, 1, -1)
    estimator = model(lam=0.5, bias="none", solver=Pegasos(k=k, sampling=sampling))
    estimator.partial_fit(np.eye(m), y, classes=[-1, 1])
    T = -(-m // k)
    sizes = np.minimum(k, m - k * np.arange(T))
    assert estimator.n_steps_ == T
    expected = np.repeat(1 / (0.5 * (T + 2) * sizes), sizes)  # a stream of rows of length 1 begins 1/lam steps late
    np.testing.assert_allclose(np.sort(estimator.coef_[0] * y), np.sort(expected), rtol=1e-12)


@pytest.mark.parametrize("k", [1, 5, 7, 50])
def test_partial_fit_is_one_epoch(k: int) -> None:
    fitted = model(solver=Pegasos(k=k)).partial_fit(X[:20], Y[:20], classes=[-1, 1])
    assert fitted.n_iter_ == 1


def test_partial_fit_takes_rows_of_one_class() -> None:
    estimator = model()
    for label in (-1, 1):
        estimator.partial_fit(X[label == Y], Y[label == Y], classes=[-1, 1])
    assert estimator.n_steps_ == 120


def test_partial_fit_repeats_itself_to_the_byte() -> None:
    a, b = (model().partial_fit(X, Y, classes=[-1, 1]).partial_fit(X, Y) for _ in range(2))
    assert same_model(a, b)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_class_weight_is_the_matching_sample_weight(problem: str) -> None:
    A, y = PROBLEMS[problem]
    weight = {label: 0.5 + i for i, label in enumerate(np.unique(y).tolist())}
    s = np.array([weight[label] for label in y.tolist()])
    assert same_model(steps(class_weight=weight).fit(A, y), steps().fit(A, y, s))
    extra = np.linspace(0.1, 2.0, len(y))
    assert same_model(steps(class_weight=weight).fit(A, y, extra), steps().fit(A, y, s * extra))
    classes = np.unique(y)
    once = steps(class_weight=weight).partial_fit(A, y, classes=classes)
    assert same_model(once, steps().partial_fit(A, y, classes=classes, sample_weight=s))


def test_a_class_left_out_of_class_weight_counts_once() -> None:
    assert same_model(steps(class_weight={1: 3.0}).fit(X, Y), steps(class_weight={-1: 1.0, 1: 3.0}).fit(X, Y))
    assert same_model(steps(class_weight={}).fit(X, Y), steps().fit(X, Y))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_balanced_gives_every_class_the_same_total(problem: str) -> None:
    A, y = PROBLEMS[problem][0][:70], PROBLEMS[problem][1][:70]
    balanced = steps(class_weight="balanced").fit(A, y)
    expected = steps().fit(A, y, compute_sample_weight("balanced", y))
    np.testing.assert_allclose(balanced.coef_, expected.coef_, rtol=1e-10)
    # With weights it counts weight: a row of weight 2 is two rows.
    s = 1.0 + (np.arange(70) % 2)
    totals = np.array([s[y == label].sum() for label in np.unique(y)])
    by_hand = s / totals[np.searchsorted(np.unique(y), y)]
    weighted = steps(class_weight="balanced").fit(A, y, s)
    np.testing.assert_allclose(weighted.coef_, steps().fit(A, y, by_hand).coef_, rtol=1e-10)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_rows_of_weight_zero_are_rows_left_out(problem: str, sampling: str) -> None:
    A, y = PROBLEMS[problem]
    keep = np.arange(len(y)) % 4 > 0
    s = np.where(keep, 1.0 + np.arange(len(y)) % 2, 0.0)
    zero, out = steps(k=3, sampling=sampling).fit(A, y, s), steps(k=3, sampling=sampling).fit(A[keep], y[keep], s[keep])
    assert same_model(zero, out)
    assert np.array_equal(zero.gap_, out.gap_)
    assert np.array_equal(zero.n_iter_, out.n_iter_)


@pytest.mark.parametrize("sampling", ["blocks", "permutation"])
def test_weights_of_one_and_zero_need_no_weights(sampling: str) -> None:
    keep = np.arange(120) % 4 > 0
    zero, out = steps(sampling=sampling).fit(X, Y, keep.astype(float)), steps(sampling=sampling).fit(X[keep], Y[keep])
    assert same_model(zero, out)
    to_tol = model(tol=1e-3, solver="pegasos").fit(X, Y, keep.astype(float))
    assert same_model(to_tol, model(tol=1e-3, solver="pegasos").fit(X[keep], Y[keep]))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("factor", [3.7, 1e-3, 1e99, 1e150, 1e300, 1e-150, 1e-300])
@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 1e10}], ids=["none", "balanced", "dict"])
def test_scaling_all_weights_changes_nothing(factor: float, sampling: str, class_weight: Any) -> None:
    s = np.linspace(0.5, 2.0, 120)
    plain, scaled = (steps(sampling=sampling, class_weight=class_weight).fit(X, Y, f * s) for f in (1.0, factor))
    np.testing.assert_allclose(scaled.coef_, plain.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scaled.objective_, plain.objective_, rtol=1e-12)
    np.testing.assert_allclose(scaled.gap_, plain.gap_, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("class_weight", [None, "balanced", {-1: 1e200, 1: 1e200}], ids=["none", "balanced", "dict"])
def test_the_largest_weights_there_are_change_nothing(class_weight: Any) -> None:
    equal = steps(class_weight="balanced" if class_weight == "balanced" else None)
    huge = steps(class_weight=class_weight).fit(X, Y, np.full(120, 1e308))
    np.testing.assert_allclose(huge.coef_, equal.fit(X, Y, np.ones(120)).coef_, rtol=1e-12)
