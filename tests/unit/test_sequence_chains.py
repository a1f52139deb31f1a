"""Viterbi, loss-augmented Viterbi and forward-backward are sums and maxima over all labellings."""

from __future__ import annotations

import numpy as np
import pytest
from chains import Chain, small_chains, watch
from hypothesis import given, settings

from pegasos import _core

CHEAP = settings(max_examples=60, deadline=None)


def parts_of(labels: np.ndarray, chain: Chain) -> list[tuple[int, ...]]:
    return [tuple(int(k) for k in part) for part in np.split(labels, chain.begins[1:-1])]


@given(chain=small_chains())
@CHEAP
def test_viterbi_finds_the_best_of_all_labellings(chain: Chain) -> None:
    labels, scores = chain.plain.decode(chain.weights, 1, watch())
    for i, found in enumerate(parts_of(labels, chain)):
        every = {y: float(chain.phi(i, y) @ chain.weights) for y in chain.labellings(i)}
        assert found in every
        assert scores[i] == pytest.approx(max(every.values()), rel=1e-12, abs=1e-11)
        assert every[found] == pytest.approx(max(every.values()), rel=1e-12, abs=1e-11)


@given(chain=small_chains())
@CHEAP
def test_loss_augmented_viterbi_finds_the_worst_margin(chain: Chain) -> None:
    labels, scores = chain.augmented.decode(chain.weights, 2, watch())
    for i, found in enumerate(parts_of(labels, chain)):
        every = {y: float(chain.phi(i, y) @ chain.weights) + chain.cost(i, y) for y in chain.labellings(i)}
        assert scores[i] == pytest.approx(max(every.values()), rel=1e-12, abs=1e-11)
        assert every[found] == pytest.approx(max(every.values()), rel=1e-12, abs=1e-11)


@given(chain=small_chains(scales=(0.1, 1.0, 30.0, 1000.0)))
@CHEAP
def test_forward_backward_sums_over_all_labellings(chain: Chain) -> None:
    """At a scale of 1000 probabilities underflow, and sums are taken in log space."""
    marginals, log_z, steps = chain.plain.marginals(chain.weights, 1, watch())
    expected_steps = np.zeros((chain.K, chain.K))
    for i, n in enumerate(chain.lengths):
        every = chain.labellings(i)
        scores = np.array([chain.phi(i, y) @ chain.weights for y in every])
        top = scores.max()
        assert log_z[i] == pytest.approx(top + np.log(np.exp(scores - top).sum()), rel=1e-11, abs=1e-11)
        expected = np.zeros((n, chain.K))
        p = np.exp(scores - log_z[i])
        for y, chance in zip(every, p, strict=True):
            expected[np.arange(n), list(y)] += chance
            np.add.at(expected_steps, (list(y[:-1]), list(y[1:])), chance)
        np.testing.assert_allclose(marginals[chain.begins[i] : chain.begins[i + 1]], expected, atol=1e-9)
    np.testing.assert_allclose(steps, expected_steps, atol=1e-8)


@given(chain=small_chains())
@CHEAP
def test_the_score_of_a_labelling_is_that_of_its_features(chain: Chain) -> None:
    scores = chain.plain.scores(chain.weights, 1, watch())
    expected = [chain.phi(i, chain.truth(i)) @ chain.weights for i in range(chain.m)]
    np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


def long_chain(n: int, K: int, forced: float, seed: int = 0) -> Chain:
    rng = np.random.default_rng(seed)
    X = np.eye(n)[:, : min(n, 40)] + (rng.uniform(size=(n, min(n, 40))) < 0.1)
    chain = Chain(X, [n], rng.integers(K, size=n).astype(np.uint16), K, seed, scale=forced)
    return chain


@pytest.mark.parametrize("chosen", [(), (0,)])
def test_probabilities_that_underflow_are_summed_in_log_space(chosen: tuple[int, ...]) -> None:
    """A step of e^-100 again and again, to be made good by the last token."""
    K, n = 3, 12
    steps = np.ones((K, K), np.uint8)
    steps[[0, 1], 2] = 0  # label 2 only from the start on
    X = np.ones((n, 1))
    X[-1] = -20.0
    chain = Chain(X, [n], np.zeros(n, np.uint16), K, 0, steps=steps, chosen=chosen)
    w = np.zeros(chain.layout.size)
    w[2] = -100.0  # the emission weight of label 2: bad everywhere but at the end
    marginals, log_z, _ = chain.plain.marginals(w, 1, watch())
    good = -100.0 * (n - 1) + 2000.0  # all tokens have label 2
    assert log_z[0] == pytest.approx(good, rel=1e-12)
    np.testing.assert_allclose(marginals[:, 2], 1.0)


def test_ten_thousand_tokens_in_one_sequence_have_a_labelling_and_marginals() -> None:
    chain = long_chain(10_000, 4, 3.0)
    labels, score = chain.plain.decode(chain.weights, 2, watch())
    marginals, log_z, steps = chain.plain.marginals(chain.weights, 2, watch())
    assert len(labels) == 10_000
    assert score[0] <= log_z[0] <= score[0] + 10_000 * np.log(4)
    np.testing.assert_allclose(marginals.sum(1), 1.0, rtol=1e-9)
    assert steps.sum() == pytest.approx(9_999, rel=1e-9)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bytes(threads: int) -> None:
    rng = np.random.default_rng(3)
    lengths = list(rng.integers(1, 40, size=600))
    tokens = sum(lengths)
    X = (rng.uniform(size=(tokens, 30)) < 0.3).astype(float)
    chain = Chain(X, lengths, rng.integers(9, size=tokens).astype(np.uint16), 9, 3)
    one, many = chain.plain.marginals(chain.weights, 1, watch()), chain.plain.marginals(chain.weights, threads, watch())
    for a, b in zip(one, many, strict=True):
        assert a.tobytes() == b.tobytes()
    alone, together = chain.plain.decode(chain.weights, 1, watch()), chain.plain.decode(chain.weights, threads, watch())
    assert alone[0].tobytes() == together[0].tobytes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"indptr": [0, 2, 1]}, "indptr decreases at row 1"),
        ({"indptr": [0, 1, 9]}, "indptr ends at 9"),
        ({"indices": [0, 7]}, r"column index 7 in row 1 is outside 0\.\.2"),
        ({"indices": [-1, 0]}, "column index -1 in row 0"),
        ({"values": [1.0, np.nan]}, "NaN at row 1, column 1"),
        ({"values": [np.inf, 1.0]}, "infinity at row 0, column 0"),
        ({"values": [1e200, 1.0]}, "row 0 overflows"),
        ({"values": [1.0]}, "1 values for 2 column indices"),
        ({"begins": [0, 3]}, "end with the last of the 2 tokens"),
        ({"begins": [0, 2, 1, 2]}, "ascending"),
    ],
)
def test_bad_arrays_are_refused_with_their_place(change: dict[str, list[float]], said: str) -> None:
    given = {"indptr": [0, 1, 2], "indices": [0, 1], "values": [1.0, 1.0], "begins": [0, 2]} | change
    kinds = {"indptr": np.int64, "indices": np.int32, "values": np.float64, "begins": np.int64}
    arrays = [np.array(given[name], kind) for name, kind in kinds.items()]
    with pytest.raises(ValueError, match=said):
        _core.Chains(*arrays, 3)
