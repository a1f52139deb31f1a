"""One small fitted model of every kind that a file can hold, with rows to try it on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold

import pegasos
from pegasos import (
    SDCA,
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    KernelPegasosRegressor,
    KernelPegasosRegressorCV,
    Loss,
    Pegasos,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    PegasosRegressorCV,
    PegasosSequenceTagger,
    PegasosSequenceTaggerCV,
    PegasosStructured,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
SIGNS = np.where(X[:, 0] + 0.3 * RNG.normal(size=60) > 0, 1, -1)
WORDS = np.array(["ant", "bee", "cow"])[np.argmax(X[:, :3], axis=1)]
NUMBERS = X @ np.arange(5.0) + 0.1 * RNG.normal(size=60)
TOKENS = [[{"word": "the", "size": 0.5}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}, {"word": "runs"}]]
TAGS = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]


class Ramp(Loss):  # type: ignore[misc]
    """A loss of the user's own: the hinge with its corner at 2."""

    def value(self, s: Any, y: Any) -> Any:
        return np.maximum(0.0, 2 - y * s)

    def slope(self, s: Any, y: Any) -> Any:
        return np.where(y * s < 2, -y, 0.0)


class Largest:
    """Which of the numbers is the largest?"""

    def joint_feature(self, x: Any, y: Any) -> Any:
        return np.array([x[y]])

    def cost(self, y: Any, y2: Any) -> float:
        return float(y != y2)

    def decode(self, x: Any, w: Any) -> int:
        return int(np.argmax(w[0] * x))

    def decode_with_cost(self, x: Any, y: Any, w: Any) -> int:
        return int(np.argmax(w[0] * x + (np.arange(len(x)) != y)))


def common(A: Any, B: Any) -> Any:
    """How many letters two words share."""
    return np.array([[len(set(a) & set(b)) for b in B] for a in A], float)


def any_step(before: Any, after: Any) -> bool:
    return True


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"feature {i}" for i in range(5)])


def _tagger(**said: Any) -> PegasosSequenceTagger:
    return PegasosSequenceTagger(lam=0.1, **said).fit(TOKENS, TAGS)


STRINGS = np.array(["abc", "abd", "xyz", "xyw", "abz", "xwz"], object)
KINDS = [0, 0, 1, 1, 0, 1]
GRID = {"gamma": [0.01, 0.1]}

# name: (how the model is made, rows, what load_model has to be given)
MODELS: dict[str, tuple[Callable[[], Any], Any, dict[str, Any]]] = {
    "two classes": (lambda: PegasosClassifier(lam=0.1).fit(X, SIGNS), X, {}),
    "true and false": (lambda: PegasosClassifier(lam=0.1).fit(X, SIGNS > 0), X, {}),
    "whole floats": (lambda: PegasosClassifier(lam=0.1).fit(X, SIGNS.astype(float)), X, {}),
    "bytes": (lambda: PegasosClassifier(lam=0.1).fit(X, np.array([b"no", b"yes"])[(SIGNS > 0) * 1]), X, {}),
    "three words": (lambda: PegasosClassifier(lam=0.1, loss="log").fit(X, WORDS), X, {}),
    "sparse rows": (lambda: PegasosClassifier(lam=0.1).fit(sp.csr_matrix(X), SIGNS).sparsify(), X, {}),
    "named columns": (lambda: PegasosClassifier(lam=0.1).fit(_frame(), SIGNS), _frame(), {}),
    "joint": (lambda: PegasosClassifier(lam=0.1, loss="multinomial", solver=SDCA()).fit(X, WORDS), X, {}),
    "costs": (
        lambda: PegasosClassifier(lam=0.1, loss="multiclass_hinge", costs={("ant", "bee"): 3.0}).fit(X, WORDS),
        X,
        {},
    ),
    "class weights": (lambda: PegasosClassifier(lam=0.1, class_weight={1: 2.0, -1: 0.5}).fit(X, SIGNS), X, {}),
    "averaged": (
        lambda: PegasosClassifier(
            lam=0.1,
            solver=Pegasos(T=200, output="average", start=np.ones(5)),
            warm_start=True,
            random_state=np.random.RandomState(3),
        ).fit(X, SIGNS),
        X,
        {},
    ),
    "a stream": (
        lambda: PegasosClassifier(lam=0.1, random_state=0).partial_fit(X, SIGNS, classes=[-1, 1]),
        X,
        {},
    ),
    "own loss": (lambda: PegasosClassifier(lam=0.1, loss=Ramp(), random_state=0).fit(X, SIGNS), X, {"loss": Ramp()}),
    "regression": (lambda: PegasosRegressor(lam=0.01, bias="free").fit(X, NUMBERS), X, {}),
    "sparse regression": (lambda: PegasosRegressor(lam=0.01).fit(X, NUMBERS).sparsify(), X, {}),
    "rbf": (lambda: KernelPegasosClassifier(lam=0.1).fit(X, SIGNS), X, {}),
    "rbf far away": (lambda: KernelPegasosClassifier(lam=0.1).fit(X + 1000, SIGNS), X + 1000, {}),
    "poly, pairs": (lambda: KernelPegasosClassifier(lam=0.1, kernel="poly", multi_class="ovo").fit(X, WORDS), X, {}),
    "sparse chi2": (
        lambda: KernelPegasosClassifier(lam=0.1, kernel="chi2").fit(sp.csr_matrix(abs(X)), WORDS),
        abs(X),
        {},
    ),
    "precomputed": (
        lambda: KernelPegasosClassifier(lam=0.1, kernel="precomputed", kernel_params={"psd": True}).fit(X @ X.T, SIGNS),
        X @ X.T,
        {},
    ),
    "warm kernel": (lambda: KernelPegasosClassifier(lam=0.1, loss="log", warm_start=True).fit(X, SIGNS), X, {}),
    "own kernel": (
        lambda: KernelPegasosClassifier(lam=0.1, kernel=common, kernel_params={"psd": True}).fit(STRINGS, KINDS),
        STRINGS,
        {"kernel": common},
    ),
    "kernel regression": (lambda: KernelPegasosRegressor(lam=0.01, bias="free").fit(X, NUMBERS), X, {}),
    "tagger": (lambda: _tagger(), TOKENS, {}),
    "tagger, all pairs": (lambda: _tagger(pairs="all", loss="log", boundaries="start"), TOKENS, {}),
    "tagger, a stream": (
        lambda: PegasosSequenceTagger(
            lam=0.1, pairs="all", random_state=0, solver=Pegasos(output="average")
        ).partial_fit(TOKENS, TAGS, classes=["DET", "NOUN", "VERB"]),
        TOKENS,
        {},
    ),
    "tagger, hashed": (lambda: _tagger(n_hashed=32), TOKENS, {}),
    "tagger, function": (lambda: _tagger(allowed=any_step), TOKENS, {"allowed": any_step}),
    "tagger, features of transitions": (lambda: _tagger(transition_features=["word"], loss="log"), TOKENS, {}),
    "tagger, mask": (lambda: _tagger(allowed=np.ones((3, 3), bool)), TOKENS, {}),
    "tagger, frame": (lambda: PegasosSequenceTagger(lam=0.1).fit(_frame(), WORDS, lengths=[20, 40]), [X[:6]], {}),
    "search, tagger": (lambda: PegasosSequenceTaggerCV([0.1, 0.01], 2).fit(TOKENS, TAGS), TOKENS, {}),
    "search": (lambda: PegasosClassifierCV([0.1, 0.01], 2).fit(X, SIGNS), X, {}),
    "search, chances": (lambda: PegasosClassifierCV([0.1, 0.01], 2, probability="sigmoid").fit(X, WORDS), X, {}),
    "search, numbers": (lambda: PegasosRegressorCV(2, 3, bias="free").fit(X, NUMBERS), X, {}),
    "search, own folds": (lambda: PegasosRegressorCV([0.1], KFold(2)).fit(X, NUMBERS), X, {"cv": KFold(2)}),
    "search, kernel": (
        lambda: KernelPegasosClassifierCV([0.1], 2, kernel_grid=GRID, probability="isotonic").fit(X, WORDS),
        X,
        {},
    ),
    "search, kernel regression": (lambda: KernelPegasosRegressorCV([0.1], 2).fit(X, NUMBERS), X, {}),
    "structured": (
        lambda: PegasosStructured(Largest(), lam=0.1).fit(list(X), X.argmax(axis=1).tolist()),
        list(X),
        {"model": Largest()},
    ),
}  # fmt: skip

ESTIMATORS = [
    name
    for name in pegasos.__all__
    if isinstance(getattr(pegasos, name), type) and hasattr(getattr(pegasos, name), "fit")
]


def answers(model: Any, rows: Any) -> list[Any]:
    """All that a model says about rows."""
    methods = ("predict", "decision_function", "predict_proba", "predict_marginals")
    with np.errstate(all="ignore"):
        return [np.concatenate(list(map(np.ravel, _of(model, name, rows)))) for name in methods if _has(model, name)]


def _of(model: Any, name: str, rows: Any) -> Any:
    found = getattr(model, name)(rows)
    return found if isinstance(found, list) else [found]


def _has(model: Any, name: str) -> bool:
    if name == "predict_marginals" and getattr(model, "loss", "") != "log":
        return False
    return hasattr(model, name)
