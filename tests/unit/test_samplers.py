"""Which rows a step looks at: each order keeps its promise, for any seed and any number of rows, anywhere."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samplers import bucket_size, picks_reference, subset, window_size
from scipy.stats import chisquare

from pegasos import Pegasos, _core

modest = settings(derandomize=True, max_examples=60, deadline=None)
SAMPLINGS = Pegasos._rules["sampling"].words
EPOCHS = [order for order in SAMPLINGS if order not in ("iid", "subsets")]
SHUFFLED_ANEW = [order for order in EPOCHS if order != "fixed"]
picks = _core.picks
seeds, sizes = st.integers(0, 2**64 - 1), st.integers(1, 3000)


@modest
@given(st.sampled_from(EPOCHS), seeds, sizes, st.integers(0, 2**40))
def test_every_epoch_is_a_permutation(sampling, seed, m, epoch):
    found = picks(sampling, seed, m, epoch * m, 2 * m)
    for part in (found[:m], found[m:]):
        np.testing.assert_array_equal(np.sort(part), np.arange(m))
    assert m < 8 or np.array_equal(found[:m], found[m:]) == (sampling == "fixed")


@modest
@given(seeds, sizes, st.integers(0, 2**40))
def test_fixed_is_the_first_permutation_again_and_again(seed, m, epoch):
    np.testing.assert_array_equal(picks("fixed", seed, m, epoch * m, m), picks("fixed", seed, m, 0, m))
    np.testing.assert_array_equal(picks("fixed", seed, m, 0, m), picks("permutation", seed, m, 0, m))


@modest
@given(
    st.sampled_from(SAMPLINGS),
    seeds,
    sizes,
    st.integers(1, 50),
    st.integers(0, 10_000),
    st.lists(st.integers(1, 700), max_size=6),
)
def test_picks_do_not_depend_on_how_the_stream_is_cut(sampling, seed, m, k, first, pieces):
    k = min(k, m)
    whole = picks(sampling, seed, m, first, sum(pieces), k=k)
    at = first
    for count in pieces:
        np.testing.assert_array_equal(picks(sampling, seed, m, at, count, k=k), whole[at - first : at - first + count])
        at += count


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("m", [2, 7, 33, 40_000])
def test_the_first_pick_is_uniform(sampling, m):
    """Over 20,000 seeds, in 2 to 40 classes of equal size: p of the chi-square test above 1e-4. Of a subset, too: in a
    pass that ends with a short batch it may be the only one.
    """
    n = 20_000 if m < 1000 else 1000
    first = np.array([picks(sampling, seed, m, 0, 1, k=min(m, 100) // 2)[0] for seed in range(n)])
    classes = min(m, 40)
    assert chisquare(np.bincount(first * classes // m, minlength=classes)).pvalue > 1e-4


@pytest.mark.parametrize(("sampling", "m"), [("runs", 1000), ("runs", 256 * 1024), ("runs", 10**6), ("blocks", 10**5)])
def test_runs_and_blocks_are_stretches_of_consecutive_rows(sampling, m):
    """A few stretches at a time, none of which comes again; their rows in a random order, other ones in each epoch."""
    length = bucket_size(sampling, m)
    together = window_size(sampling, length) // length
    found = picks(sampling, 3, m, 0, 2 * m)
    stretches = found // length
    ends = [np.flatnonzero(stretches[:m] == i)[[0, -1]] for i in range(-(-m // length))]
    assert max(last - first for first, last in ends) < together * length
    order = np.argsort([first for first, _ in ends])
    assert not np.array_equal(order, np.sort(order))
    apart = np.diff(stretches[:m]) != 0
    if together > 1:
        assert apart.mean() > 0.6 * (1 - 1 / together)
    beside = [np.flatnonzero(found[:m] == 0)[0], m + np.flatnonzero(found[m:] == 0)[0]]
    assert found[beside[0] - 1] != found[beside[1] - 1]


@pytest.mark.parametrize("sampling", SHUFFLED_ANEW)
def test_every_place_of_an_epoch_is_uniform(sampling):
    """The row at each place, and the place of each row, over many epochs."""
    m, epochs = 9, 9000
    found = picks(sampling, 5, m, 0, m * epochs).reshape(epochs, m)
    for place in range(m):
        assert chisquare(np.bincount(found[:, place], minlength=m)).pvalue > 1e-4
    neighbours = np.bincount(found[:, 0] * m + found[:, 1], minlength=m * m).reshape(m, m)
    assert chisquare(neighbours[~np.eye(m, dtype=bool)]).pvalue > 1e-4


def test_fixed_is_a_uniform_permutation_over_seeds():
    m, n = 5, 20_000
    found = np.array([picks("fixed", seed, m, 7 * m, m) for seed in range(n)])
    number = np.unique(found, axis=0, return_inverse=True)[1]
    assert chisquare(np.bincount(number.ravel(), minlength=120)).pvalue > 1e-4


# --- subsets ---------------------------------------------------------------------------------------------------------


@modest
@given(seeds, sizes, st.integers(1, 3000), st.integers(0, 2**40))
def test_a_subset_has_k_distinct_rows(seed, m, k, batch):
    k = min(k, m)
    found = picks("subsets", seed, m, batch * k, 2 * k, k=k).reshape(2, k)
    for A in found:
        assert len(set(A.tolist())) == k
        assert A.min() >= 0
        assert A.max() < m
    if k == m:
        np.testing.assert_array_equal(np.sort(found, axis=1), [np.arange(m)] * 2)


@pytest.mark.parametrize(("m", "k"), [(2, 1), (4, 2), (5, 3), (6, 5), (7, 3), (8, 4), (12, 2)])
def test_subsets_are_uniform_among_all_subsets(m, k):
    """Every set of k rows equally often, and every row at every place: chi-square over 30,000 batches."""
    n = 30_000
    found = picks("subsets", 11, m, 0, n * k, k=k).reshape(n, k)
    number = {A: i for i, A in enumerate(combinations(range(m), k))}
    seen = np.bincount([number[tuple(A)] for A in np.sort(found, axis=1).tolist()], minlength=len(number))
    assert chisquare(seen).pvalue > 1e-4
    for place in range(k):
        assert chisquare(np.bincount(found[:, place], minlength=m)).pvalue > 1e-4


@pytest.mark.parametrize(("m", "k", "part"), [(5, 3, 2), (6, 4, 1), (7, 4, 3), (6, 6, 3)])
def test_a_subset_cut_short_is_uniform_too(m, k, part):
    """The last batch of a partial_fit may be. Floyd's order alone would favour low row numbers."""
    n = 20_000
    found = np.sort(picks("subsets", 3, m, 0, n * k, k=k).reshape(n, k)[:, :part], axis=1)
    number = {A: i for i, A in enumerate(combinations(range(m), part))}
    assert chisquare(np.bincount([number[tuple(A)] for A in found.tolist()], minlength=len(number))).pvalue > 1e-4


def test_following_subsets_are_independent():
    m, k, n = 5, 2, 40_000
    found = np.sort(picks("subsets", 4, m, 0, n * k, k=k).reshape(n, k), axis=1)
    number = found[:, 0] * m + found[:, 1]
    pairs = np.unique(number[:-1:2] * m * m + number[1::2], return_counts=True)[1]
    assert len(pairs) == 100
    assert chisquare(pairs).pvalue > 1e-4


def test_a_subset_costs_k_draws_whatever_m_is():
    """Rows are never listed: m may be larger than any memory."""
    m = 2**40
    found = picks("subsets", 5, m, 0, 50_000, k=50)
    assert chisquare(np.bincount(found * 16 // m, minlength=16)).pvalue > 1e-4
    np.testing.assert_array_equal(found[:500].reshape(10, 50), [subset(5, batch, m, 50) for batch in range(10)])


# --- weights, and far down -------------------------------------------------------------------------------------------


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
        k = min(m, 4)
        found = picks(sampling, 1, m, first, 10, k=k)
        np.testing.assert_array_equal(found, picks_reference(sampling, 1, m, first, 10, k=k))
        different = {tuple(picks(sampling, 1, m, first + j * m, 5, k=k)) for j in range(4)}
        assert (len(different) == 1) == (m == 1 or sampling == "fixed")
