"""The exact bias of a batch or of all rows (eq. 23 and 24), against brute force: the weighted median and its flat
pieces.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import HINGE
from reference import best_bias
from twin import balanced_slopes

from pegasos import _core

thorough = settings(derandomize=True, max_examples=500, deadline=None)


def counted(scores, y, s=None):
    """The bias of the native code, and how many kinks it has looked at, all rounds of the selection together."""
    s = np.ones(len(y)) if s is None else s
    return _core.testing.best_bias("hinge", *(np.array(values, dtype=float) for values in (scores, y, s)))


def native(scores, y, s=None):
    return counted(scores, y, s)[0]


def total(b, scores, y, s):
    return float(np.sum(s * HINGE.value(scores + b, y)))


def brute_force(scores, y, s):
    """The smallest sum of losses, by trying every kink."""
    return min(total(b, scores, y, s) for b in (y - scores)[s > 0])


def flat_piece(scores, y, s):
    """Both ends of where the sum is smallest, among the kinks of rows that exist."""
    kinks = np.unique((y - scores)[s > 0])
    values = np.array([total(b, scores, y, s) for b in kinks])
    best = kinks[values <= values.min() + 1e-9 * (1 + values.min())]
    return best[0], best[-1]


numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5).map(lambda x: round(x, 3)))
weights = st.one_of(st.just(1.0), st.sampled_from([0.0, 0.5, 2.0, 3.0]), st.floats(0.01, 10).map(lambda x: round(x, 2)))
rows = st.lists(st.tuples(numbers, st.sampled_from([-1.0, 1.0]), weights), min_size=1, max_size=40).filter(
    lambda rows: any(s > 0 for _, _, s in rows)
)


@thorough
@given(rows)
def test_the_bias_is_that_of_brute_force(rows):
    """Ties, weights, zero weights, one class alone: the smallest sum, and the middle where it is flat."""
    scores, y, s = np.array(rows).T
    b = native(scores, y, s)
    assert total(b, scores, y, s) <= brute_force(scores, y, s) + 1e-9
    assert b == pytest.approx(best_bias(scores, y, s), abs=1e-12)
    low, high = flat_piece(scores, y, s)
    both = {label for label, weight in zip(y, s, strict=True) if weight > 0} == {-1.0, 1.0}
    if both:  # else the flat piece has no other end, and b is the kink at the end it has
        assert b == pytest.approx((low + high) / 2, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 101, 1000])
@pytest.mark.parametrize("kind", ["random", "weights", "ties", "uneven classes", "all alike"])
def test_the_bias_of_many_rows(kind, n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        scores, y, s = rng.standard_normal(n), rng.choice([-1.0, 1.0], n), np.ones(n)
        if kind == "weights":
            s = rng.exponential(size=n) * (rng.random(n) < 0.7)
            s[0] = 1
        if kind == "ties":
            scores = rng.integers(-2, 3, n).astype(float)
        if kind == "uneven classes":
            y = np.where(rng.random(n) < 0.02, 1.0, -1.0)
        if kind == "all alike":
            scores[:] = 0.5
        b = native(scores, y, s)
        assert total(b, scores, y, s) <= brute_force(scores, y, s) + 1e-9 * n
        assert b == pytest.approx(best_bias(scores, y, s), abs=1e-12)


def test_a_flat_piece_is_cut_in_the_middle():
    assert native([0.0, 0.0], [1, -1]) == 0  # any b from -1 to 1 costs the same
    assert native([0.0, 0.0, 10.0], [1, -1, 1]) == 0  # one more row that never pays
    assert native([0.0, 0.0], [1, -1], [7.5, 7.5]) == 0
    assert native([4.0, -2.0], [1, -1]) == -1  # from 1 - 4 to -1 + 2 nothing is lost
    assert native([0.1] * 3 + [0.7] * 3, [1] * 3 + [-1] * 3, [0.1] * 6) == pytest.approx((0.9 - 1.7) / 2)


def test_a_row_of_weight_zero_does_not_cut_a_flat_piece_short():
    scores, y = np.array([0.0, 0.0, 0.5, -0.2]), np.array([1.0, -1.0, 1.0, -1.0])
    assert native(scores, y, [1, 1, 0, 0]) == 0
    assert native(scores, y, [0, 0, 1, 1]) == native(scores[2:], y[2:])


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_one_class_alone_is_just_satisfied(label):
    """The loss is zero from the last kink on: there is no other end of the piece to be in the middle of."""
    scores = np.array([0.3, -2.0, 1.4, 0.0])
    b = native(scores, np.full(4, label))
    assert b == (label - scores).max() if label > 0 else (label - scores).min()
    assert total(b, scores, np.full(4, label), np.ones(4)) == 0


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        scores, y, s = rng.standard_normal(n), rng.choice([-1.0, 1.0], n), rng.integers(0, 4, n)
        if s.any():
            assert native(scores, y, s) == native(np.repeat(scores, s), np.repeat(y, s))


@pytest.mark.parametrize("factor", [1e-12, 0.1, 1e12])
def test_scaling_all_weights_changes_nothing(factor):
    rng = np.random.default_rng(1)
    for _ in range(100):
        scores, y, s = rng.standard_normal(25), rng.choice([-1.0, 1.0], 25), rng.integers(1, 5, 25).astype(float)
        assert native(scores, y, factor * s) == native(scores, y, s)


@pytest.mark.parametrize(
    "bad", [[np.nan], [np.nan] * 5, [0.0, np.nan, 1.0, -1.0], [np.inf, -np.inf, 0.0], [np.inf] * 3]
)
def test_scores_that_are_no_numbers_do_not_hang(bad):
    native(bad, [1.0 if i % 2 else -1.0 for i in range(len(bad))])


def test_slopes_at_the_bias_sum_to_zero_and_are_sub_gradients():
    """What eq. 24 needs of a batch of both classes: the twin's slopes, which the native code is compared with."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(2, 12))
        scores, y = rng.choice([-1.5, -0.5, 0.0, 0.3, 2.0], n), rng.choice([-1.0, 1.0], n)
        share = rng.choice([1.0, 0.5, 3.0], n)
        b, slopes = balanced_slopes(scores, y, share)
        assert b == pytest.approx(native(scores, y, share))
        margins = y * (scores + b)
        assert (np.abs(slopes - HINGE.slope(scores + b, y) * share)[np.abs(margins - 1) > 1e-9] == 0).all()
        assert ((-slopes * y >= 0) & (-slopes * y <= share)).all()
        if len(set(y)) == 2:
            assert slopes.sum() == pytest.approx(0, abs=1e-12)
        # g of eq. 24 lies above its tangent: along any change of scores
        for change in rng.standard_normal((5, n)):
            moved = scores + change
            g = total(native(moved, y, share), moved, y, share)
            assert g >= total(b, scores, y, share) + slopes @ change - 1e-9


# --- expected linear time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["random", "ascending", "descending", "ties", "organ pipe"])
def test_eq_24_the_bias_of_a_batch_takes_expected_time_O_k(order):
    """Counted by the native code, not timed: random pivots look at 2 (1 + ln 2) n = 3.4 n kinks for a median, less
    elsewhere; sorting 200,000 would take 18 n. Of so many a sample says which few are left: one look at each, and
    pivots for those. No order of the rows is worse than another.
    """
    rng = np.random.default_rng(3)
    for n in (1000, 200_000):
        ratios = []
        for turn in range(40 if n < 1e5 else 4):
            m = n + turn  # draws depend on the number of rows
            scores, y = rng.standard_normal(m), rng.choice([-1.0, 1.0], m)
            if order == "ties":
                scores = np.round(scores)
            elif order != "random":
                scores = np.sort(scores)
                scores = {"ascending": scores, "descending": scores[::-1].copy()}.get(
                    order, np.concatenate([scores[::2], scores[1::2][::-1]])
                )
            ratios.append(counted(scores, y)[1] / m)
        assert np.min(ratios) >= 1
        assert np.mean(ratios) < 5
        assert np.max(ratios) < 15
