"""Features with a weight for every (feature, from, to): how they are chosen, and what they make possible."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chains import DICTS, FLAT, LENGTHS, TAGS, tagger

from pegasos import Pegasos, PegasosSequenceTagger, load_model


def stays_or_turns(m: int, seed: int = 0) -> tuple[list[Any], list[list[str]]]:
    """Two labels, and a token that says whether the label is that of the token before: no emission weight helps."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(m):
        turns = rng.integers(2, size=6)
        labels = np.cumsum(turns) % 2
        X.append([{"turns": bool(turn), "stays": not turn, "bias": 1} for turn in turns])
        y.append(["ab"[k] for k in labels])
    return X, y


@pytest.mark.parametrize("solver", ["auto", Pegasos(T=6000, output="tail")], ids=["auto", "pegasos"])
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_steps_that_depend_on_a_feature_can_be_learned(loss: str, solver: Any) -> None:
    X, y = stays_or_turns(40)
    given = {"loss": loss, "solver": solver, "lam": 1e-2, "random_state": 0}
    assert tagger(**given).fit(X, y).score(X, y) < 0.8
    model = tagger(**given, transition_features=["turns"]).fit(X, y)
    assert model.score(X, y) > 0.97
    assert model.transition_columns_.tolist() == [(model.feature_names_ or []).index("turns")]
    weights = model.transition_coef_[0]
    assert weights[0, 1] + weights[1, 0] > weights[0, 0] + weights[1, 1] + 1


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["w"], {"w:the", "w:cat", "w:sat", "w:a", "w:dog"}),
        (["w:cat", "bias"], {"w:cat", "bias"}),
        (("bias", "bias"), {"bias"}),
        (lambda name: name.endswith("t"), {"w:cat", "w:sat"}),
        (None, set()),
    ],
)
def test_features_are_chosen_by_name_or_by_a_function_of_it(chosen: Any, expected: set[str]) -> None:
    model = tagger(transition_features=chosen).fit(DICTS, TAGS)
    names = model.feature_names_ or []
    assert {names[j] for j in model.transition_columns_} == expected
    assert model.transition_coef_.shape == (len(expected), 3, 3)


def test_columns_of_matrices_are_chosen_by_number() -> None:
    X = np.random.default_rng(0).normal(size=(len(FLAT), 4))
    by_number = tagger(transition_features=np.array([3, 1])).fit(X, FLAT, lengths=LENGTHS)
    by_function = tagger(transition_features=lambda j: j % 2 == 1).fit(X, FLAT, lengths=LENGTHS)
    assert by_number.transition_columns_.tolist() == [1, 3]
    np.testing.assert_array_equal(by_number._w, by_function._w)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"transition_features": ["w", "caps"]}, r"has 'caps', which is no feature of the training set.*caps:\.\.\."),
        ({"transition_features": "w"}, "must be a list of features"),
        ({"transition_features": 3}, "must be a list of features"),
        ({"transition_features": [0]}, "are names of features here, got 0"),
        ({"transition_features": []}, "chooses no feature"),
        ({"transition_features": lambda name: False}, "chooses no feature"),
        ({"transition_features": ["w"], "n_hashed": 8}, "n_hashed keeps no names"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_what_cannot_be_chosen_is_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tagger(**params).fit(DICTS, TAGS)


@pytest.mark.parametrize("chosen", [["w"], [-1], [4], [1.0], [True]], ids=str)
def test_what_is_no_column_is_refused(chosen: list[Any]) -> None:
    with pytest.raises(ValueError, match="are columns of X here, from 0 to 3; got"):
        tagger(transition_features=chosen).fit(np.ones((len(FLAT), 4)), FLAT, lengths=LENGTHS)


def test_the_weights_explain_the_score() -> None:
    X = np.random.default_rng(1).normal(size=(len(FLAT), 4))
    model = tagger(transition_features=[2], pairs="all", loss="log", lam=0.01).fit(X, FLAT, lengths=LENGTHS)
    labels = list(model.classes_)
    y = [labels.index(tag) for tag in TAGS[0]]
    steps = sum(
        model.transitions_[a, b] + X[t + 1, 2] * model.transition_coef_[0, a, b] for t, (a, b) in enumerate(pairwise(y))
    )
    emission = sum(model.coef_[k] @ X[t] for t, k in enumerate(y))
    expected = emission + steps + model.start_[y[0]] + model.end_[y[-1]]
    assert model.labelling_score(X[:3], TAGS[0], lengths=[3])[0] == pytest.approx(expected)
    assert model.predict_marginals(X[:3], lengths=[3]).sum(axis=1) == pytest.approx(1.0)


def test_forbidden_steps_stay_forbidden() -> None:
    X, y = stays_or_turns(10)
    mask = np.array([[True, True], [False, True]])
    y = [sorted(labels) for labels in y]
    model = tagger(transition_features=["turns"], allowed=mask).fit(X, y)
    assert np.isneginf(model.transition_coef_[0, 1, 0])
    assert all(labels == sorted(labels) for labels in model.predict(X))


def test_a_model_of_transition_features_is_saved_and_pickled(tmp_path: Path) -> None:
    X, y = stays_or_turns(10)
    model = tagger(transition_features=["turns", "bias"], loss="log").fit(X, y)
    model.save(tmp_path / "model")
    for again in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert again.transition_features == ["turns", "bias"]
        np.testing.assert_array_equal(again.transition_coef_, model.transition_coef_)
        np.testing.assert_array_equal(again.predict_marginals(X)[0], model.predict_marginals(X)[0])


def test_onnx_says_that_it_cannot() -> None:
    pytest.importorskip("onnx")
    model = tagger(transition_features=["w"]).fit(DICTS, TAGS)
    with pytest.raises(ValueError, match="transition_features has no ONNX graph"):
        model.to_onnx()


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_other_features_may_be_chosen_before_a_fit_goes_on(loss: str) -> None:
    X, y = stays_or_turns(20)
    model = tagger(loss=loss, warm_start=True, transition_features=["bias"], lam=0.01).fit(X, y)
    model.set_params(transition_features=["turns"]).fit(X, y)
    cold: PegasosSequenceTagger = tagger(loss=loss, transition_features=["turns"], lam=0.01).fit(X, y)
    assert model.converged_
    assert model.objective_ <= cold.objective_ + cold.gap_ + model.gap_
    assert model.objective_ >= cold.dual_objective_


def test_too_many_kinds_of_tokens_in_one_sequence_are_refused() -> None:
    """Values that all differ: each token's steps have scores of their own, and room is needed for all of them."""
    n, K = 4000, 100
    X = np.random.default_rng(0).normal(size=(n, 1))
    with pytest.raises(ValueError, match="sequence 0 has tokens with 3999 different combinations"):
        tagger(transition_features=[0]).fit(X, np.arange(n) % K, lengths=[n])


def test_columns_of_a_frame_are_chosen_by_name() -> None:
    frame = pd.DataFrame(np.eye(4, 3), columns=["a", "b", "c"])
    model = tagger(transition_features=["c", "a"]).fit(frame, list("xyxy"), lengths=[4])
    assert model.transition_columns_.tolist() == [0, 2]
    by_number = tagger(transition_features=[0, 2]).fit(frame, list("xyxy"), lengths=[4])
    np.testing.assert_array_equal(by_number._w, model._w)
    asked = tagger(transition_features=lambda name: name == "b").fit([frame], [list("xyxy")])
    assert asked.transition_columns_.tolist() == [1]
    with pytest.raises(ValueError, match="has 'd', which is no feature of the training set"):
        tagger(transition_features=["d"]).fit(frame, list("xyxy"), lengths=[4])
