"""A sequence of weight 2 is that sequence twice, one of weight 0 is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from chains import DICTS, FLAT, LENGTHS, TAGS, tagger
from sklearn.model_selection import cross_val_score

WEIGHTS = [2, 1, 3, 0, 1]
TWICE = [x for x, s in zip(DICTS, WEIGHTS, strict=True) for _ in range(s)]
TWICE_TAGS = [x for x, s in zip(TAGS, WEIGHTS, strict=True) for _ in range(s)]


@pytest.mark.parametrize("params", [{}, {"min_count": 3}, {"n_hashed": 16}, {"pairs": "all"}], ids=str)
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_whole_weights_are_repeated_sequences(loss: str, params: dict[str, Any]) -> None:
    given = {"loss": loss, "tol": 1e-8, "max_epochs": 5000} | params
    weighted = tagger(**given).fit(DICTS, TAGS, sample_weight=WEIGHTS)
    repeated = tagger(**given).fit(TWICE, TWICE_TAGS)
    assert weighted.converged_
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-7)
    assert set(weighted.feature_names_ or []) == set(repeated.feature_names_ or [])
    scores = [model.labelling_score(TWICE, TWICE_TAGS) for model in (weighted, repeated)]
    np.testing.assert_allclose(*scores, atol=2e-2)


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_weight_of_zero_leaves_a_sequence_out(loss: str) -> None:
    """Its labels and features, too; and what is wrong with another one is told by the number the user knows."""
    X, y = [[{"odd": 1}, {"odd": 1}], *DICTS], [["?", "D"], *TAGS]
    model = tagger(loss=loss).fit(X, y, sample_weight=[0, 1, 1, 1, 1, 1])
    plain = tagger(loss=loss).fit(DICTS, TAGS)
    np.testing.assert_array_equal(model._w, plain._w)
    assert model.classes_.tolist() == plain.classes_.tolist()
    assert model.feature_names_ == plain.feature_names_
    assert model.gap_ == plain.gap_
    with pytest.raises(ValueError, match=r"forbids 'N' after 'D'.*sequence 1, token 1"):
        tagger(allowed=lambda a, b: b != "N").fit(X, y, sample_weight=[0, 1, 1, 1, 1, 1])


def test_stacked_matrices_take_a_weight_a_sequence() -> None:
    X = np.random.default_rng(0).normal(size=(len(FLAT), 4))
    weighted = tagger(tol=1e-8).fit(X, FLAT, lengths=LENGTHS, sample_weight=np.array([1, 0, 1, 1, 2]))
    rows = np.repeat([0, 2, 3, 4, 4], 1)
    parts = np.split(np.arange(len(FLAT)), np.cumsum(LENGTHS)[:-1])
    picked = np.concatenate([parts[i] for i in rows])
    repeated = tagger(tol=1e-8).fit(X[picked], FLAT[picked], lengths=[len(parts[i]) for i in rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, abs=1e-7)


@pytest.mark.parametrize("scale", [3.0, 1e-300, 1e300])
def test_only_ratios_of_weights_matter(scale: float) -> None:
    equal = tagger().fit(DICTS, TAGS, sample_weight=np.full(5, scale))
    np.testing.assert_array_equal(equal._w, tagger().fit(DICTS, TAGS)._w)


def test_scores_weigh_tokens_by_their_sequence() -> None:
    model = tagger().fit(DICTS, TAGS)
    wrong = [["V"], *TAGS[:3]]
    X = [DICTS[1][:1], *DICTS[:3]]
    assert model.score(X, wrong, sample_weight=[1, 0, 0, 0]) == 0.0
    assert model.score(X, wrong, sample_weight=[0, 1, 1, 1]) == 1.0
    assert model.score(X, wrong, sample_weight=[4, 1, 1, 1]) == pytest.approx(8 / 12)
    with pytest.raises(ValueError, match="no tokens to score"):
        model.score(X, wrong, sample_weight=[0, 0, 0, 0])


def test_streams_and_searches_hand_weights_on() -> None:
    model = tagger(pairs="all", random_state=0)
    for _ in range(40):
        model.partial_fit(DICTS, TAGS, classes=["D", "N", "V"], sample_weight=[1, 2, 1, 1, 1])
    assert model.predict(DICTS) == TAGS
    weights = np.tile([1.0, 2.0, 1.0, 1.0, 3.0], 4)
    assert len(cross_val_score(tagger(), DICTS * 4, TAGS * 4, cv=2, params={"sample_weight": weights})) == 2


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, 1], "has 2 entries for 5 sequences"),
        ([1, 1, -1, 1, 1], r"sample_weight\[2\] = -1 is negative; use 0 to leave a sequence out"),
        ([1, np.nan, 1, 1, 1], "is not finite"),
        ([0, 0, 0, 0, 0], "no sequence is left to train on"),
        (["a"] * 5, "must be numbers, one for each sequence"),
    ],
)
def test_bad_weights_are_refused(weights: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tagger().fit(DICTS, TAGS, sample_weight=weights)


@pytest.mark.parametrize("s", [None, 2.0])
def test_a_min_count_that_leaves_no_feature_is_told(s: float | None) -> None:
    """A typo would otherwise be a model of transitions alone, and not a word."""
    weights = None if s is None else np.full(len(DICTS), s)
    with pytest.warns(UserWarning, match=r"min_count=1000000 leaves none of the .* features, of which the commonest"):
        model = tagger(min_count=10**6).fit(DICTS, TAGS, sample_weight=weights)
    assert model.n_features_in_ == 0
