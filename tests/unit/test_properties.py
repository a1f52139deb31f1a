"""What must hold for any input: the scaled vector, the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pegasos import _core
from pegasos.problem.labels import encode

thorough = settings(derandomize=True, max_examples=400, deadline=None)
ScaledVector = _core.testing.ScaledVector

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
