"""What must hold for any input: the scaled vector, the samplers, the validator, the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reference import picks_reference
from scipy.stats import chisquare

from pegasos import Pegasos, _core
from pegasos._labels import encode

thorough = settings(derandomize=True, max_examples=400, deadline=None)
modest = settings(derandomize=True, max_examples=60, deadline=None)
SAMPLINGS = Pegasos._rules["sampling"].words
EPOCHS = [order for order in SAMPLINGS if order != "iid"]
ScaledVector, picks = _core.testing.ScaledVector, _core.testing.picks

# --- the scaled vector -----------------------------------------------------------------------------------------------

D = 4
entries = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e6, -1e6, 1e-6]), st.floats(-1e6, 1e6, allow_subnormal=False))
rows = arrays(np.float64, D, elements=entries)
factors = st.one_of(st.sampled_from([0.0, 1e-60, 0.5, 1.0, 2.0, -1.0, 1 - 1e-9]), st.floats(1e-3, 1e3))
operations = st.one_of(
    st.tuples(st.sampled_from(["add", "add_keeping_norm"]), rows, st.one_of(st.sampled_from([1.0, -1.0]), factors)),
    st.tuples(st.just("scale"), factors),
    st.tuples(st.just("project"), st.one_of(st.sampled_from([0.0, 1e-3, 1.0]), st.floats(1e-6, 1e6))),
)


def apply(w, plain, name, *rest):
    """The operation on the scaled vector and on plain numbers of more digits; how far it rounds, how much it scales."""
    getattr(w, name)(*rest)
    if name.startswith("add"):
        change = rest[0].astype(np.longdouble) * rest[1]
        return plain + change, max(np.abs(plain).max(), np.abs(change).max()), 1.0
    factor = rest[0]
    if name == "project":
        norm = np.sqrt((plain * plain).sum())
        factor = min(np.longdouble(1), rest[0] / norm) if norm > 0 else 1.0
    return plain * factor, np.abs(plain * factor).max(), abs(factor)


def assert_norm_is_exact(w):
    np.testing.assert_allclose(w.norm2(), (w.to_array() ** 2).sum(), rtol=1e-11, atol=1e-290)
    assert w.norm2() >= 0
    assert w.c > 0


@thorough
@given(st.lists(operations, max_size=25))
def test_norm_is_exact_after_any_sequence_of_add_scale_project(sequence):
    """The norm is that of the vector itself; the vector is what plain arithmetic gives, but for rounding."""
    w, plain, largest = ScaledVector(D), np.zeros(D, np.longdouble), 0.0
    for operation in sequence:
        plain, rounded, factor = apply(w, plain, *operation)
        largest = max(largest * factor, rounded)  # of the numbers whose rounding is still in w
        assert_norm_is_exact(w)
        # Below 1e-150 squares are zero, and project with them.
        np.testing.assert_allclose(w.to_array(), plain.astype(float), rtol=0, atol=float(1e-14 * largest) + 1e-150)
        x = np.ones(D)
        np.testing.assert_allclose(w.dot(x), w.to_array() @ x, rtol=0, atol=1e-14 * np.abs(w.to_array()).sum() + 1e-280)


def test_scale_by_zero_clears():
    """t = 1 makes 1 - eta * lam zero: nothing may be left, and the vector goes on working."""
    w = ScaledVector(2)
    w.add(np.array([3.0, -4.0]), 2.0)
    w.scale(0.0)
    assert w.norm2() == 0
    assert w.c > 0
    w.add(np.array([0.5, 0.25]), 2.0)
    np.testing.assert_array_equal(w.to_array(), [1.0, 0.5])


@pytest.mark.parametrize("keeping", [False, True])
def test_underflow_is_folded(keeping):
    """Sixty times 1e-60 would end at c = 0 within six; what is added later must arrive in full."""
    w = ScaledVector(2)
    add = w.add_keeping_norm if keeping else w.add
    for _ in range(60):
        add(np.array([3.0, 4.0]), 1.0)
        assert w.norm2() == pytest.approx(25, rel=1e-14)
        w.scale(1e-60)
        assert w.c >= 1e-100
        assert_norm_is_exact(w)
    np.testing.assert_allclose(w.to_array(), [3e-60, 4e-60], rtol=1e-14)
    for _ in range(10):
        w.scale(1e-60)
    assert w.norm2() == 0
    assert w.c > 0


def test_overflow_of_the_scale_is_folded():
    w = ScaledVector(1)
    w.add(np.array([1e-250]), 1.0)
    for _ in range(5):
        w.scale(1e49)
        assert w.c <= 1e100
    np.testing.assert_allclose(w.to_array(), [1e-5], rtol=1e-13)
    assert_norm_is_exact(w)


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_cancelling_rows_leave_the_norm_of_what_is_left(size):
    """Rows of +-1e6: a norm kept by differences once came out as -128."""
    rng = np.random.default_rng(0)
    w = ScaledVector(D)
    for turn in range(200):
        x, rest = size * rng.standard_normal(D), rng.standard_normal(D)
        (w.add_keeping_norm if turn % 2 else w.add)(x, 1.0)  # the norm before the fall: kept, or computed afresh
        assert_norm_is_exact(w)
        for part, a in ((rest, 1e-3), (x, -1.0)) if turn % 3 else ((1e-3 * rest - x, 1.0),):
            w.add_keeping_norm(part, a)
            assert_norm_is_exact(w)
        w.scale(0.9)


def test_norm_does_not_drift_over_many_scalings():
    w, rng = ScaledVector(D), np.random.default_rng(0)
    w.add_keeping_norm(np.ones(D), 1.0)
    for factor in rng.uniform(0.99, 1.01, 100_000):
        w.scale(factor)
    assert_norm_is_exact(w)


# --- the samplers ----------------------------------------------------------------------------------------------------

seeds, sizes = st.integers(0, 2**64 - 1), st.integers(1, 3000)


@modest
@given(st.sampled_from(EPOCHS), seeds, sizes, st.integers(0, 2**40))
def test_every_epoch_is_a_permutation(sampling, seed, m, epoch):
    found = picks(sampling, seed, m, epoch * m, 2 * m)
    for part in (found[:m], found[m:]):
        np.testing.assert_array_equal(np.sort(part), np.arange(m))
    assert m < 8 or not np.array_equal(found[:m], found[m:])


@modest
@given(st.sampled_from(SAMPLINGS), seeds, sizes, st.integers(0, 10_000), st.lists(st.integers(1, 700), max_size=6))
def test_picks_do_not_depend_on_how_the_stream_is_cut(sampling, seed, m, first, pieces):
    whole = picks(sampling, seed, m, first, sum(pieces))
    at = first
    for count in pieces:
        np.testing.assert_array_equal(picks(sampling, seed, m, at, count), whole[at - first : at - first + count])
        at += count


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("m", [2, 7, 33, 40_000])
def test_the_first_pick_is_uniform(sampling, m):
    """Over 20,000 seeds, in 2 to 40 classes of equal size: p of the chi-square test above 1e-4."""
    n = 20_000 if m < 1000 else 1000
    first = np.array([picks(sampling, seed, m, 0, 1)[0] for seed in range(n)])
    assert chisquare(np.bincount(first * min(m, 40) // m, minlength=min(m, 40))).pvalue > 1e-4


@pytest.mark.parametrize("sampling", EPOCHS)
def test_every_place_of_an_epoch_is_uniform(sampling):
    """The row at each place, and the place of each row, over many epochs."""
    m, epochs = 9, 9000
    found = picks(sampling, 5, m, 0, m * epochs).reshape(epochs, m)
    for place in range(m):
        assert chisquare(np.bincount(found[:, place], minlength=m)).pvalue > 1e-4
    neighbours = np.bincount(found[:, 0] * m + found[:, 1], minlength=m * m).reshape(m, m)
    assert chisquare(neighbours[~np.eye(m, dtype=bool)]).pvalue > 1e-4


@modest
@given(seeds, st.lists(st.floats(0, 100), min_size=2, max_size=30).filter(lambda s: sum(s) > 1))
def test_iid_picks_follow_the_weights(seed, weights):
    s, n = np.array(weights), 20_000
    listed = np.flatnonzero(s).astype(np.uint32)
    found = picks("iid", seed, len(listed), 0, n, listed, s)
    np.testing.assert_array_equal(found[:100], picks_reference("iid", seed, len(s), 0, 100, s))
    expected = n * s / s.sum()
    often = expected > 5
    assert (s[found] > 0).all()
    seen = np.bincount(found, minlength=len(s))
    spread = np.sqrt(expected[often] * np.maximum(0, 1 - expected[often] / n)) + 1e-9
    assert (np.abs(seen[often] - expected[often]) < 6 * spread).all()


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("first", [2**31 - 2, 2**32 - 2, 2**53 - 3, 2**53 + 1, 2**62 - 3, 2**62 + 5])
def test_picks_far_down_the_stream(sampling, first):
    for m in (1, 5, 3001):
        found = picks(sampling, 1, m, first, 10)
        np.testing.assert_array_equal(found, picks_reference(sampling, 1, m, first, 10))
        assert len({tuple(picks(sampling, 1, m, first + j * m, 5)) for j in range(4)}) > 1 or m == 1


# --- the labels ------------------------------------------------------------------------------------------------------

labels = st.one_of(
    arrays(np.int64, st.integers(1, 60), elements=st.integers(-5, 5)),
    arrays(np.int64, st.integers(1, 600), elements=st.integers(-(2**63), 2**63 - 1)),
    arrays(np.uint8, st.integers(1, 600)),
    arrays(np.int16, st.integers(1, 60)),
    arrays(np.bool_, st.integers(1, 20)),
    arrays(np.float32, st.integers(1, 60), elements=st.sampled_from([-0.0, 0.0, 1.0, -3.0, 2.0**30])),
    arrays(np.float64, st.integers(1, 60), elements=st.integers(-(2**53), 2**53).map(float)),
    arrays(np.dtype("U5"), st.integers(1, 60)),
    arrays(np.dtype("S3"), st.integers(1, 60)),
    arrays(np.dtype(">i4"), st.integers(1, 60)),
)


@thorough
@given(labels, st.sampled_from([1, 2, -1]))
def test_labels_are_encoded_as_by_unique(y, stride):
    y = y[::stride]
    classes, codes = encode(y)
    expected, places = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, places)
    objects = encode(y.astype(object))
    np.testing.assert_array_equal(objects[0], expected)
    np.testing.assert_array_equal(objects[1], places)
