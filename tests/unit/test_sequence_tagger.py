"""The tagger takes sequences as people have them, and behaves as scikit-learn's users expect."""

from __future__ import annotations

import pickle
import warnings
from enum import Enum
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from chains import DICTS, FLAT, LENGTHS, TAGS, WORDS, tagger
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score

from pegasos import Pegasos
from pegasos.structured.tokens import read


def columns_of(X: Any, **how: Any) -> list[list[dict[str, float]]]:
    """What the reader makes of tokens, by name."""
    stacked, features = read(X, None, None, None, how.get("min_count", 1), 0)
    values = np.ones(len(stacked.indices)) if stacked.values is None else stacked.values
    names = features.names or []
    tokens = [
        {names[j]: v for j, v in zip(stacked.indices[a:b].tolist(), values[a:b].tolist(), strict=True)}
        for a, b in zip(stacked.indptr[:-1], stacked.indptr[1:], strict=True)
    ]
    return [tokens[a:b] for a, b in zip(stacked.begins[:-1], stacked.begins[1:], strict=True)]


def test_tokens_follow_the_convention_of_crfsuite() -> None:
    token = {
        "word": "the", "upper": True, "digit": False, "length": 3, "share": 0.5, "numpy": np.float32(2),
        "nested": {"a": 2.0, "b": "x", "deep": {"c": 1}}, "list": ["p", "q"], "set": {"r"},
    }  # fmt: skip
    expected = {
        "word:the": 1, "upper": 1, "length": 3, "share": 0.5, "numpy": 2, "nested:a": 2, "nested:b:x": 1,
        "nested:deep:c": 1, "list:p": 1, "list:q": 1, "set:r": 1,
    }  # fmt: skip
    assert columns_of([[token], [["f", "g"]], []]) == [[expected], [{"f": 1, "g": 1}], []]


def test_the_convention_is_that_of_pycrfsuite_itself() -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    token = {"w": "a", "b": True, "x": 2.5, "n": {"k": "v", "z": 1}, "l": ["p", "q"]}
    (theirs,) = pycrfsuite.ItemSequence([token]).items()
    assert columns_of([[token]]) == [[theirs]]


def test_rare_features_are_left_out() -> None:
    assert columns_of([[["a", "b"], ["a"]], [["c"]]], min_count=2) == [[{"a": 1}, {"a": 1}], [{}]]


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_every_kind_of_input_gives_the_same_model(loss: str) -> None:
    names = ["w:the", "bias", "w:cat", "w:sat", "w:a", "w:dog"]
    rows = [[float(name in (f"w:{word}", "bias")) for name in names] for words in WORDS for word in words]
    stacked = np.array(rows)
    parts = np.split(stacked, np.cumsum(LENGTHS)[:-1])
    dicts = tagger(loss=loss).fit(DICTS, TAGS)
    lists = tagger(loss=loss).fit([[[f"w:{word}", "bias"] for word in words] for words in WORDS], TAGS)
    matrices = tagger(loss=loss).fit([sp.csr_matrix(part) for part in parts], TAGS)
    dense = tagger(loss=loss).fit(parts, TAGS)
    lengths = tagger(loss=loss).fit(sp.csc_matrix(stacked), FLAT, lengths=LENGTHS)
    groups = tagger(loss=loss).fit(stacked.astype(np.float32), FLAT, groups=np.repeat([7, 3, 5, 1, 2], LENGTHS))
    once = tagger(loss=loss).fit((iter(x) for x in DICTS), (iter(tags) for tags in TAGS))
    objects = np.empty(len(DICTS), object), np.empty(len(TAGS), object)
    objects[0][:], objects[1][:] = DICTS, TAGS
    arrays = tagger(loss=loss).fit(*objects)
    for other in (lists, matrices, dense, lengths, groups, once, arrays):
        np.testing.assert_allclose(other._w, dicts._w, atol=1e-12)
    assert dicts.predict(DICTS) == TAGS == matrices.predict(parts)
    assert lengths.predict(stacked, lengths=LENGTHS).tolist() == FLAT.tolist()
    assert dicts.feature_names_ == names
    assert matrices.feature_names_ is None


class Tag(Enum):
    DET, NOUN, VERB = "d", "n", "v"


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 3], [(1, "a"), (2, "b"), (0, "c")], [(1, 2), (4, 5), (7, 8)], [(), (1,), (2, 3)], ["x", None, 7],
        [True, 2.5, "z"], list(Tag), [2**63, -1, 2**63 + 1], ["a", "a\0", "b"], [frozenset({1}), frozenset(), range(2)],
    ],
    ids=str,
)  # fmt: skip
def test_labels_may_be_anything_hashable(labels: list[Any]) -> None:
    name = dict(zip("DNV", labels, strict=True))
    y = [[name[tag] for tag in tags] for tags in TAGS]
    model = tagger().fit(DICTS, y)
    assert model.predict(DICTS) == y
    assert model.score(DICTS, y) == 1.0
    flat: Any = np.empty(len(FLAT), object)
    flat[:] = [label for part in y for label in part]
    stacked = tagger().fit(np.eye(len(FLAT)), flat, lengths=LENGTHS).predict(np.eye(len(FLAT)), lengths=LENGTHS)
    assert stacked.shape == flat.shape
    assert stacked.tolist() == flat.tolist()


def test_probabilities_are_those_of_all_labellings() -> None:
    model = tagger(loss="log").fit(DICTS, TAGS)
    from itertools import product

    every = [list(y) for y in product(["D", "N", "V"], repeat=2)]
    probabilities = np.exp(model.labelling_log_proba([DICTS[1]] * 9, every))
    assert probabilities.sum() == pytest.approx(1.0)
    marginals = model.predict_marginals([DICTS[1]])[0]
    assert marginals[0, 0] == pytest.approx(probabilities[:3].sum())
    scores = model.labelling_score([DICTS[1]] * 9, every)
    assert scores.argmax() == probabilities.argmax()
    assert model.predict([DICTS[1]]) == [every[int(scores.argmax())]]


def test_the_weights_explain_the_score() -> None:
    model = tagger(loss="log", pairs="all").fit(DICTS, TAGS)
    assert sp.issparse(tagger().fit(DICTS, TAGS).coef_)
    place = {name: j for j, name in enumerate(model.feature_names_ or [])}
    emission = (
        model.coef_[:, [place["w:a"], place["bias"]]].sum(1)[0]
        + model.coef_[:, [place["w:dog"], place["bias"]]].sum(1)[1]
    )
    expected = emission + model.start_[0] + model.transitions_[0, 1] + model.end_[1]
    assert model.labelling_score([DICTS[1]], [["D", "N"]])[0] == pytest.approx(expected)


def test_hashing_needs_no_vocabulary() -> None:
    model = tagger(n_hashed=64).fit(DICTS, TAGS)
    assert model.n_features_in_ == 64
    assert model.predict(DICTS) == TAGS
    assert model.feature_names_ is None


def test_unknown_features_are_ignored_counted_and_said(capsys: Any) -> None:
    model = tagger(verbose=1).fit(DICTS, TAGS)
    capsys.readouterr()
    assert model.predict([[{"w": "zebra", "bias": 1}, {"new": 2.0}]])
    assert model.n_unknown_ == 2
    assert "2 features are not in the vocabulary" in capsys.readouterr().out


BIO = [["B-X", "I-X", "O"], ["O", "B-Y", "I-Y"], ["B-X", "B-Y", "O"]]


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize(
    "allowed", ["BIO", "IOB2", lambda a, b: not (b or "O").startswith("I") or (a or "O")[1:] == b[1:]]
)
def test_forbidden_steps_are_never_predicted(loss: str, allowed: Any) -> None:
    rng = np.random.default_rng(0)
    X = [[{str(f): 1 for f in rng.integers(5, size=2)} for _ in range(3)] for _ in range(30)]
    y = [BIO[i % 3] for i in range(30)]
    model = tagger(loss=loss, allowed=allowed, lam=0.3).fit(X, y)
    for labels in model.predict(X):
        for before, after in zip([None, *labels], labels, strict=False):
            assert not after.startswith("I") or (before is not None and before != "O" and before[2:] == after[2:])
    assert np.isneginf(model.transitions_[list(model.classes_).index("O"), list(model.classes_).index("I-X")])
    if loss == "log":
        assert model.predict_marginals(X)[0][0, list(model.classes_).index("I-X")] == 0.0


def test_a_mask_that_forbids_the_training_set_names_the_place() -> None:
    X = [[["a"]] * 3, [["a"]] * 2]
    with pytest.raises(ValueError, match=r"forbids 'I-X' after 'O'.*sequence 1, token 1"):
        tagger(allowed="BIO").fit(X, [["B-X", "I-X", "O"], ["O", "I-X"]])
    with pytest.raises(ValueError, match=r"begin with 'I-X'.*sequence 1, token 0"):
        tagger(allowed="BIO").fit(X, [["B-X", "I-X", "O"], ["I-X", "O"]])
    with pytest.raises(ValueError, match=r"end with 'B-X'.*sequence 0, token 2"):
        tagger(allowed="IOBES").fit(X, [["S-X", "O", "B-X"], ["O", "O"]])
    never = np.array([[False, True], [False, True]])
    model = tagger(allowed=never).fit([[["a"], ["b"]]], [["p", "q"]])
    assert model.predict([[["b"], ["b"], ["b"]]])[0][1:] == ["q", "q"]
    with pytest.raises(ValueError, match="no labelling at all to a sequence of 3 tokens"):
        tagger(allowed=lambda a, b: a is None or b is None or (a, b) == ("p", "q")).fit(
            [[["a"], ["b"]]], [["p", "q"]]
        ).predict([[["a"]] * 3])


def test_costs_move_predictions_towards_the_dearer_label() -> None:
    rng = np.random.default_rng(1)
    X = [[{"x": float(v)} for v in rng.normal(size=4)] for _ in range(40)]
    y = [["a" if token["x"] + rng.normal() > 0 else "b" for token in s] for s in X]
    plain = sum(p.count("a") for p in tagger(pairs="all").fit(X, y).predict(X))
    dear = sum(p.count("a") for p in tagger(pairs="all", costs={("a", "b"): 5.0}).fit(X, y).predict(X))
    assert dear > plain


def test_the_hinge_has_no_probabilities() -> None:
    model = tagger().fit(DICTS, TAGS)
    with pytest.raises(AttributeError, match="loss='log'"):
        model.predict_marginals(DICTS)
    with pytest.raises(AttributeError, match="loss='log'"):
        model.labelling_log_proba(DICTS, TAGS)
    with pytest.raises(ValueError, match="which is not among the known ones"):
        model.labelling_score(DICTS[:1], [["D", "N", "?"]])


def test_scikit_learns_tools_work_on_lists_of_sequences() -> None:
    X, y = DICTS * 4, TAGS * 4
    assert len(cross_val_score(tagger(), X, y, cv=2)) == 2
    search = GridSearchCV(tagger(), {"lam": [1e-2, 10.0]}, cv=2).fit(X, y)
    assert search.best_params_ == {"lam": 1e-2}
    model = clone(tagger(loss="log", solver=Pegasos(T=20), random_state=0)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X)
    assert again.gap_ == model.gap_
    np.testing.assert_array_equal(again.coef_.toarray(), model.coef_.toarray())


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("solver", ["auto", "pegasos"])
def test_a_warm_start_goes_on(loss: str, solver: str) -> None:
    model = tagger(loss=loss, solver=solver, warm_start=True, tol=1e-2, random_state=0).fit(DICTS, TAGS)
    first, steps = model.objective_, model.n_steps_
    model.set_params(tol=1e-3).fit(DICTS, TAGS)
    assert model.converged_
    assert model.n_steps_ > steps
    assert model.objective_ <= first + 1e-12
    with pytest.raises(ValueError, match="not among the known ones"):
        model.fit(DICTS, [["D", "?", "V"], *TAGS[1:]])


@pytest.mark.parametrize(("change", "solver"), [("sequences", Pegasos(T=300)), ("allowed", "auto")], ids=str)
def test_the_certificate_of_a_warm_start_is_about_the_new_problem(change: str, solver: Any) -> None:
    """Dual variables of other sequences, or of labellings that are forbidden now, would prove too much."""
    rng = np.random.default_rng(0)
    lengths = [4, 3, 2, 4, 3, 2]
    for _ in range(6):
        X, y = rng.normal(size=(18, 4)), np.concatenate([np.sort(rng.permutation(4)[:n] % 3) for n in lengths])
        model = tagger(solver=solver, warm_start=True, random_state=0, lam=0.5).fit(X, y, lengths=lengths)
        if change == "sequences":
            X = 5 * rng.normal(size=X.shape)
            model.set_params(solver=Pegasos(T=1))
        else:
            model.set_params(allowed=np.triu(np.ones((3, 3), bool)))
        model.fit(X, y, lengths=lengths)
        exact = tagger(tol=1e-7, lam=0.5, allowed=model.allowed).fit(X, y, lengths=lengths)
        assert model.dual_objective_ <= exact.objective_


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_partial_fit_takes_sequences_as_they_come(loss: str) -> None:
    model = tagger(loss=loss, pairs="all", n_hashed=128, random_state=0)
    for _ in range(30):
        for i in range(0, 5, 2):
            model.partial_fit(DICTS[i : i + 2], TAGS[i : i + 2], classes=["D", "N", "V"])
    assert model.predict(DICTS) == TAGS
    assert np.isnan(model.gap_)
    with pytest.raises(ValueError, match="not among the known ones"):
        model.partial_fit(DICTS[:1], [["D", "N", "?"]])
    with pytest.raises(ValueError, match="needs classes="):
        tagger(pairs="all").partial_fit(DICTS, TAGS)
    with pytest.raises(ValueError, match="needs pairs='all'"):
        tagger().partial_fit(DICTS, TAGS, classes=["D", "N", "V"])


@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_no_time_still_gives_a_model_with_its_proof(loss: str) -> None:
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = tagger(loss=loss, max_time=1e-9, tol=1e-12).fit(DICTS * 50, TAGS * 50)
    assert not model.converged_
    assert np.isfinite(model.gap_)
    assert len(model.predict(DICTS)) == 5


def test_verbose_prints_the_history(capsys: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tagger(loss="log", verbose=1, tol=1e-9, max_epochs=20).fit(DICTS, TAGS)
    assert "[pegasos]" in capsys.readouterr().out
    assert set(model.history_) == {"seconds", "steps", "objective", "dual", "gap"}
    assert (np.diff(model.history_["dual"]) >= 0).all()
