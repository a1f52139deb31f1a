"""Bad sequences are refused with their place; odd ones have the obvious answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from chains import DICTS, TAGS, tagger
from sklearn.exceptions import NotFittedError

from pegasos import Auto, Pegasos, PegasosSequenceTagger, PegasosStructured, load_model

FRAME = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0]})
LOOP: dict[str, Any] = {}
LOOP["again"] = LOOP
ALLOWED = pd.DataFrame(True, index=list("DNV"), columns=list("VND"))


class OwnSolver:
    def check(self, problem: Any, run: Any) -> None: ...
    def solve(self, *given: Any) -> None: ...


class OwnPegasos(Pegasos):
    def solve(self, *given: Any) -> Any: ...


GOOD: dict[str, Any] = {"X": DICTS, "y": TAGS}
BAD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {"X": []}, "no sequences"),
    ({}, {"X": [[], []], "y": [[], []]}, "all sequences are empty"),
    ({}, {"X": DICTS[0], "y": TAGS[0]}, r"X\[0\] must be a list of tokens, got dict"),
    ({}, {"X": "text"}, "got a string|got str"),
    ({}, {"X": 3}, "must be a list of sequences"),
    ({}, {"X": [["the", "cat"]], "y": [["D", "N"]]}, r"X\[0\]\[0\] must be a dict of features or a list of strings"),
    ({}, {"X": [[{"a": np.nan}]], "y": [["D"]]}, r"X\[0\]\[0\] has the feature 'a' with the value NaN"),
    (
        {},
        {"X": [[{"a": 1}, {"b": None}]], "y": [["D", "N"]]},
        r"X\[0\]\[1\] has the feature 'b' with a value of type None",
    ),
    ({}, {"X": [[{1: 1}]], "y": [["D"]]}, "name is of type int"),
    ({}, {"X": [[[3]]], "y": [["D"]]}, "name is of type int"),
    ({}, {"y": TAGS[:-1]}, "4 label sequences for 5"),
    ({}, {"y": [["D"], *TAGS[1:]]}, r"y\[0\] has 1 labels for the 3 tokens"),
    ({}, {"X": {"a": DICTS}}, "must be a list of sequences, or one stacked matrix with lengths; got dict"),
    ({}, {"y": None}, "y is missing"),
    ({}, {"y": [{"D", "N", "V"}, *TAGS[1:]]}, r"y\[0\] must be a list of labels, got set"),
    ({}, {"y": ["DNV", *TAGS[1:]]}, r"y\[0\] must be a list of labels"),
    ({}, {"y": [["D", float("nan"), "V"], *TAGS[1:]]}, r"NaN \(sequence 0, token 1\)"),
    ({}, {"y": [["D", [], "V"], *TAGS[1:]]}, "not hashable"),
    ({}, {"X": np.eye(2), "y": np.array([(1, 2), (3, 4)]), "lengths": [2]}, "give lists of tuples"),
    ({}, {"X": np.ones((3, 2)), "y": [0, 1, 0]}, "needs either lengths"),
    ({}, {"X": np.ones((3, 2)), "y": [0, 1, 0], "lengths": [1, 1]}, "add up to 2, but there are 3"),
    ({}, {"X": np.ones((3, 2)), "y": [0, 1, 0], "groups": [1, 2, 1]}, "must stand together"),
    ({}, {"X": np.ones((3, 2)), "y": [0, 1, 0], "groups": [1, np.nan, np.nan]}, "groups is NaN for token 1"),
    ({}, {"X": np.array([[1.0], [np.nan]]), "y": [0, 1], "lengths": [2]}, "NaN at row 1, column 0"),
    ({}, {"X": [np.ones((2, 2)), np.ones((1, 3))], "y": [[0, 1], [1]]}, r"X\[1\] has 3 columns"),
    ({}, {"X": [np.ones((2, 2)), [["a"]]], "y": [[0, 1], [1]]}, r"X\[1\] is a list"),
    ({}, {"lengths": [3, 2, 3, 1, 2]}, "list of sequences already"),
    ({"lam": 0}, {}, "lam must be"),
    ({"loss": "squared"}, {}, "loss must be 'hinge' or 'log'"),
    ({"pairs": "some"}, {}, "pairs must be"),
    ({"allowed": "XYZ"}, {}, "allowed must be one of"),
    ({"allowed": np.ones((2, 2), bool)}, {}, "allowed must be 3 x 3"),
    ({"allowed": "BIO"}, {}, r"is for labels O, B-\.\.\., I-\.\.\.; the training set has 'D'"),
    ({"allowed": "BIO"}, {"y": [["B-X", "I-X", "E-X"], *TAGS[1:]]}, "the training set has 'D'"),
    ({"allowed": "IOB2"}, {"X": DICTS[3:4], "y": [["E-X"]]}, "the training set has 'E-X'"),
    ({"allowed": "IOBES"}, {"X": DICTS[3:4], "y": [["B-"]]}, "the training set has 'B-'"),
    ({"allowed": "BIO"}, {"X": DICTS[3:4], "y": [[("B", "X")]]}, r"the training set has \('B', 'X'\)"),
    ({"loss": "log", "costs": np.ones((3, 3))}, {}, "costs are for loss='hinge'"),
    ({"costs": np.ones((3, 3))}, {}, "the right answer costs nothing"),
    ({"solver": "sdca"}, {}, "SDCA is not for sequences"),
    ({"solver": "lbfgs"}, {}, "take solver='auto', 'pegasos' or a Pegasos object, got 'lbfgs'"),
    ({"solver": OwnSolver()}, {}, "check and solve of other objects are about rows"),
    ({"solver": OwnPegasos()}, {}, "check and solve of other objects are about rows"),
    ({"solver": Auto(polish=False)}, {}, r"Auto\(polish=...\) is about rows, and has no effect on sequences"),
    (
        {},
        {"X": np.eye(2), "y": np.ma.array([0, 1], mask=[0, 1]), "lengths": [2]},
        "y is a masked array, masked at row 1",
    ),
    ({}, {"y": [np.ma.array([0, 1, 2], mask=[0, 0, 1]), *TAGS[1:]]}, r"y\[0\] is a masked array, masked at row 2"),
    ({"allowed": ALLOWED.loc[["D", "N"]]}, {}, "the index of the frame of allowed lacks the class 'V'"),
    ({"allowed": ALLOWED.rename(columns={"N": "M"})}, {}, "the columns of the frame of allowed lacks the class 'N'"),
    ({"allowed": lambda a, b: None}, {}, r"allowed\('D', 'D'\) returned None"),
    ({"solver": Pegasos(k=9)}, {}, "k = 9 sequences per step"),
    ({"solver": Pegasos(T=5, output="best")}, {}, "is not for sequences"),
    ({"n_jobs": 0}, {}, "n_jobs must not be 0"),
    ({"solver": Pegasos(T=5, certify=False)}, {}, "certify=False is not for sequences"),
    ({"solver": Pegasos(advance="on_loss")}, {}, "is not for sequences"),
    ({"solver": Pegasos(start="random")}, {}, "start is not for sequences"),
    ({}, {"y": [["D", pd.NA, "V"], *TAGS[1:]]}, r"NaN \(sequence 0, token 1\)"),
    ({}, {"y": [["D", pd.NaT, "V"], *TAGS[1:]]}, r"NaN \(sequence 0, token 1\)"),
    ({}, {"y": [np.array([1, "NaT", 2], "M8[ns]"), *TAGS[1:]]}, r"NaN \(sequence 0, token 1\)"),
    (
        {},
        {"X": np.eye(2), "y": np.array(["2020-01-01", "NaT"], "M8[D]"), "lengths": [2]},
        r"NaN \(sequence 0, token 1\)",
    ),
    ({"allowed": np.ones((4, 4), bool)}, {}, "a fold may lack a class.* give a DataFrame"),
    ({"costs": 1 - np.eye(4)}, {}, "a fold may lack a class.* give a DataFrame"),
    ({}, {"X": np.ones((3, 2)), "y": [0, 1, 0], "groups": [[1], [1], [2]]}, r"groups has shape \(3, 1\)"),
    ({}, {"X": np.ones((2, 2)), "y": [0, 1], "groups": np.array([{}, {}])}, "names that can be compared"),
    ({}, {"X": np.ones((2, 2)), "y": [0, 1], "lengths": np.array([2**63, 2**63, 2], np.uint64)}, "but there are 2 tok"),
    ({}, {"X": np.ones((2, 2)), "y": [0, 1], "lengths": [1.0, 1.0]}, "whole numbers"),
    ({}, {"X": [FRAME, FRAME[["b", "a"]]], "y": [[0, 1], [1, 0]]}, r"X\[1\] has other names of columns than X\[0\]"),
    ({}, {"X": [[{"a": 10**400}]], "y": [["D"]]}, r"X\[0\]\[0\] has the feature 'a' .*too large"),
    ({"n_hashed": 64}, {"X": np.ones((2, 2)), "y": [0, 1], "lengths": [2]}, "n_hashed is for features that have names"),
    ({"min_count": 2}, {"X": [np.ones((2, 2))], "y": [[0, 1]]}, "min_count is for features that have names"),
    ({"min_count": 2, "n_hashed": 64}, {}, "min_count goes with a vocabulary"),
    ({}, {"X": [[{"a": 1e200}]], "y": [["D"]]}, "overflows although its entries are finite"),
    ({}, {"X": [[{"a": "\ud800"}]], "y": [["D"]]}, "no valid Unicode"),
    ({}, {"X": [[{"a": b"x"}]], "y": [["D"]]}, "value of type bytes"),
    ({}, {"X": [[LOOP]], "y": [["D"]]}, "nested too deeply"),
    ({"costs": [[0, np.nan, 1], [1, 0, 1], [1, 1, 0]]}, {}, "costs"),
    ({"costs": [[0, -1, 1], [1, 0, 1], [1, 1, 0]]}, {}, "costs"),
    ({"allowed": np.ones((3, 3))}, {}, "allowed must be 3 x 3 of True and False"),
    ({"n_hashed": 2**40}, {}, r"2\^31 - 1 columns"),
]


@pytest.mark.parametrize(("params", "data", "said"), BAD, ids=lambda x: x if isinstance(x, str) else "")
def test_bad_input_is_refused_with_its_place(params: dict[str, Any], data: dict[str, Any], said: str) -> None:
    given = GOOD | data
    with pytest.raises(ValueError, match=said):
        tagger(**params).fit(given.pop("X"), given.pop("y"), **given)


def test_odd_but_sound_input_has_the_obvious_answer() -> None:
    one_label = tagger().fit(DICTS, [["A"] * len(tags) for tags in TAGS])
    assert one_label.predict(DICTS[:1]) == [["A"] * 3]
    assert one_label.objective_ == 0.0
    with_empty = tagger().fit([*DICTS, []], [*TAGS, []])
    assert with_empty.predict([[], DICTS[3], []]) == [[], ["V"], []]
    assert with_empty.predict([]) == []
    once = tagger(loss="log").fit(DICTS, [["D", "Q", "V"], *TAGS[1:]])
    assert "Q" in once.classes_
    bare = tagger(loss="log").fit([[[], []], [[]]], [["a", "b"], ["a"]])  # no features at all: transitions alone
    assert len(bare.predict([[[], []]])[0]) == 2


def test_two_kinds_of_input_are_not_mixed() -> None:
    with pytest.raises(ValueError, match="fitted on lists of tokens"):
        tagger().fit(DICTS, TAGS).predict(np.ones((2, 6)), lengths=[2])
    matrices = tagger().fit([np.ones((2, 3))], [["a", "b"]])
    with pytest.raises(ValueError, match="fitted on matrices"):
        matrices.predict(DICTS)
    with pytest.raises(ValueError, match="has 2 features, but the model was fitted with 3"):
        matrices.predict([np.ones((1, 2))])


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_one_sequence_may_be_as_long_as_a_book(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(10_000, 6)) < 0.3).astype(float)
    y = (X[:, 0] + rng.uniform(size=len(X)) > 0.8).astype(int)
    model = tagger(loss=loss, lam=1.0).fit(X, y, lengths=[len(X)])
    assert model.converged_
    assert model.score(X, y, lengths=[len(X)]) > 0.8
    if loss == "log":
        np.testing.assert_allclose(model.predict_marginals(X, lengths=[len(X)]).sum(axis=1), 1.0)


def test_columns_of_a_frame_keep_their_names() -> None:
    model = tagger().fit([FRAME, FRAME], [["x", "y"], ["x", "y"]])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.predict([FRAME]) == model.predict([FRAME.to_numpy()]) == [["x", "y"]]
    with pytest.raises(ValueError, match=r"has the columns b, a; the model was fitted with a, b"):
        model.predict(FRAME[["b", "a"]], lengths=[2])
    assert not hasattr(tagger().fit(DICTS, TAGS), "feature_names_in_")


def test_sequences_may_be_named_by_anything() -> None:
    names = np.array([None, None, "b", ("c", 1)], object)
    model = tagger().fit(np.eye(4), [0, 1, 0, 1], groups=names)
    np.testing.assert_array_equal(model._w, tagger().fit(np.eye(4), [0, 1, 0, 1], lengths=[2, 1, 1])._w)


@pytest.mark.parametrize("model", [PegasosSequenceTagger(), PegasosStructured()])
def test_parameters_of_a_solver_need_an_object(model: Any) -> None:
    with pytest.raises(ValueError, match="solver__k needs a solver object, but solver is the word 'auto'"):
        model.set_params(solver__k=3)
    assert model.set_params(solver=Pegasos(), solver__k=3).solver.k == 3


def test_a_frame_says_by_its_labels_what_may_follow_what() -> None:
    rule = pd.DataFrame(True, index=list("VND"), columns=list("NDV"))
    rule.loc["V", "D"] = False
    model = tagger(allowed=rule).fit(DICTS, TAGS)
    assert np.argwhere(np.isneginf(model.transitions_)).tolist() == [[2, 0]]  # classes_ are D, N, V


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("pairs", ["seen", "all"])
def test_a_model_of_one_label_can_be_looked_at_and_saved(loss: str, pairs: str, tmp_path: Path) -> None:
    model = tagger(loss=loss, pairs=pairs).fit(DICTS, [["A"] * len(tags) for tags in TAGS])
    assert model.coef_.shape == (1, model.n_features_in_)
    model.save(tmp_path / "one.peg")
    assert load_model(tmp_path / "one.peg").predict(DICTS[:1]) == [["A"] * 3]


def test_what_is_not_fitted_says_so_as_scikit_learn_does() -> None:
    with pytest.raises(NotFittedError, match="PegasosSequenceTagger instance is not fitted yet"):
        _ = tagger().coef_
    assert not hasattr(tagger(), "coef_")


def test_tokens_that_are_sets_have_the_same_columns_in_every_process() -> None:
    """The order of a set of strings differs from process to process; names are numbered as they appear."""
    model = tagger().fit([[{"q", "b", "x", "a", "m"}], [{"zz", "c", "a"}]], [["N"], ["V"]])
    assert model.feature_names_ == ["a", "b", "m", "q", "x", "c", "zz"]
    with pytest.raises(ValueError, match=r"X\[0\]\[0\] has a feature whose name is of type int"):
        tagger().fit([[{"a", 3}]], [["N"]])
