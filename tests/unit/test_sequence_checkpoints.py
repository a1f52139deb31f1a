"""Fits of sequences that were killed go on between rounds, stages or steps, and end with the same bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_fits import check_every_checkpoint, interrupted, outcome, same_again

import pegasos
from pegasos import Pegasos, PegasosSequenceTagger, checkpointing
from pegasos.io import checkpoints

rng = np.random.default_rng(0)
LABELS = ["A", "B", "C"]
LENGTHS = rng.integers(0, 7, 60)
WORDS = [[[f"w{rng.integers(30)}", f"v{rng.integers(8)}"] for _ in range(n)] for n in LENGTHS]
TAGS = [[LABELS[(int(t[0][1:]) + (rng.random() < 0.2)) % 3] for t in x] for x in WORDS]
TABLE = [rng.normal(size=(n, 5)) * [0.01, 0.1, 1, 10, 100] for n in LENGTHS]
SIDES = [np.argmax(x[:, :3] / [0.01, 0.1, 1] + rng.normal(size=(len(x), 3)), axis=1).tolist() for x in TABLE]
NOISE = [np.argmax(x[:, :3] + 4 * rng.normal(size=(len(x), 3)), axis=1).tolist() for x in TABLE]

TIGHT: Any = {"lam": 1e-3, "tol": 1e-5, "random_state": 0}
STEPS: Any = {"lam": 1e-2, "random_state": 3}
COSTS = np.array([[0, 1, 2], [1, 0, 1], [3, 1, 0]])
FITS: dict[str, tuple[Any, Any, Any]] = {
    "hinge": (PegasosSequenceTagger(**TIGHT), WORDS, TAGS),
    "hinge, two threads": (PegasosSequenceTagger(**TIGHT, n_jobs=2), WORDS, TAGS),
    "hinge, costs": (PegasosSequenceTagger(**TIGHT, costs=COSTS, boundaries="none"), WORDS, TAGS),
    "hinge, a table": (PegasosSequenceTagger(lam=1e-4, tol=1e-4, random_state=0), TABLE, SIDES),
    "hinge, noise": (PegasosSequenceTagger(lam=1e-4, tol=1e-7, random_state=0), TABLE, NOISE),
    "hinge, few epochs": (PegasosSequenceTagger(lam=1e-5, tol=1e-9, max_epochs=40), TABLE, SIDES),
    "log": (PegasosSequenceTagger(**TIGHT, loss="log"), WORDS, TAGS),
    "log, two threads": (PegasosSequenceTagger(**TIGHT, loss="log", n_jobs=2, pairs="all"), WORDS, TAGS),
    "log, a table": (PegasosSequenceTagger(lam=1e-5, tol=1e-6, loss="log", random_state=0), TABLE, SIDES),
    "log, features of transitions": (
        PegasosSequenceTagger(**TIGHT, loss="log", transition_features=["v1", "v2"]), WORDS, TAGS,
    ),
    "pegasos": (PegasosSequenceTagger(**STEPS, tol=0.03, solver=Pegasos()), WORDS, TAGS),
    "pegasos, log": (PegasosSequenceTagger(**STEPS, tol=0.03, loss="log", solver=Pegasos(k=3)), WORDS, TAGS),
    "pegasos, tail": (
        PegasosSequenceTagger(**STEPS, solver=Pegasos(T=300, output="tail", sampling="subsets", k=2)), WORDS, TAGS,
    ),
    "pegasos, tail, to tol": (PegasosSequenceTagger(**STEPS, tol=0.1, solver=Pegasos(output="tail")), WORDS, TAGS),
    "pegasos, projection": (
        PegasosSequenceTagger(**STEPS, solver=Pegasos(T=300, output="average", projection=True, sampling="iid")),
        WORDS, TAGS,
    ),
    "pegasos, norma": (
        PegasosSequenceTagger(**STEPS, solver=Pegasos(T=300, output="average", step="norma")), WORDS, TAGS,
    ),
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


@pytest.mark.parametrize("name", FITS)
def test_from_every_checkpoint(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_every_checkpoint(FITS[name], tmp_path, monkeypatch) > 1


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("solver", ["auto", Pegasos(T=100)])
def test_a_warm_start_goes_on_as_well(loss: Any, solver: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"

    def begun(lam: float = 1e-2) -> Any:
        model = PegasosSequenceTagger(lam=lam, tol=1e-2, loss=loss, warm_start=True, solver=solver, random_state=0)
        return model.fit(WORDS, TAGS).set_params(lam=1e-3, tol=1e-6)

    alone = begun().fit(WORDS, TAGS)
    further = outcome(alone), outcome(alone.set_params(tol=1e-7).fit(WORDS, TAGS))
    interrupted(path, begun(), WORDS, TAGS, 2, copied=False)
    model = begun()
    with checkpointing(path, every=1e9):
        first = outcome(model.fit(WORDS, TAGS))
    assert (first, outcome(model.set_params(tol=1e-7).fit(WORDS, TAGS))) == further
    interrupted(path, begun(), WORDS, TAGS, 2, copied=False)
    other = begun(1e-1)
    with pytest.raises(ValueError, match="the model to go on from differs"), checkpointing(path):
        other.fit(WORDS, TAGS)


@pytest.mark.parametrize("solver", ["auto", Pegasos(T=100)])
def test_a_fit_that_was_done_is_not_done_again(solver: Any, tmp_path: Path) -> None:
    """The process was killed behind its fit: what a later one goes on with is in the file."""
    path = tmp_path / "run.ckpt"
    model = PegasosSequenceTagger(lam=1e-2, warm_start=True, solver=solver, random_state=0)
    alone, found = same_again(model), same_again(model)
    with suppress(ZeroDivisionError), checkpointing(path, every=0.0):
        alone.fit(WORDS, TAGS)
        raise ZeroDivisionError
    with checkpointing(path, every=1e9):
        found.fit(WORDS, TAGS)
    assert outcome(found) == outcome(alone)
    assert found.history_["seconds"].tolist() == alone.history_["seconds"].tolist()
    for one in (alone, found):
        one.set_params(tol=1e-6).fit(WORDS, TAGS)
    assert outcome(found) == outcome(alone)


MODEL = PegasosSequenceTagger(lam=1e-3, tol=1e-5, random_state=0)
OTHER = [[[{"w1": "other"}.get(w, w) for w in token] for token in x] for x in WORDS]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, X, y: (m.set_params(lam=1e-4), X, y, {}), r"lam was 0.001 and is 0.0001"),
        (lambda m, X, y: (m.set_params(loss="log"), X, y, {}), "loss was 'hinge' and is 'log'"),
        (lambda m, X, y: (m.set_params(solver="pegasos"), X, y, {}), "solver was"),
        (lambda m, X, y: (m.set_params(boundaries="none"), X, y, {}), "boundaries was"),
        (lambda m, X, y: (m, X[1:], y[1:], {}), r"rows was \[60, "),
        (lambda m, X, y: (m, X[::-1], y[::-1], {}), "the data differ"),
        (lambda m, X, y: (m, OTHER, y, {}), "the data differ"),
        (lambda m, X, y: (m, X, [[t.lower() for t in tags] for tags in y], {}), "the data differ"),
        (lambda m, X, y: (m, X, y, {"sample_weight": 1.0 + np.arange(60)}), "the data differ"),
    ],
)
def test_another_fit_is_refused_and_told_what_differs(change: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, WORDS, TAGS, 2)
    model, X, y, more = change(same_again(MODEL), WORDS, TAGS)
    with pytest.raises(ValueError, match=f"is the checkpoint of another fit: .*{words}"), checkpointing(path):
        model.fit(X, y, **more)
    assert path.exists()


def test_another_mask_of_the_same_name_is_refused(tmp_path: Path) -> None:
    path, forbidden = tmp_path / "run.ckpt", "A"
    y = [["AB"[t % 2] for t in range(len(x))] for x in WORDS]

    def allowed(before: Any, after: Any) -> bool:
        return not before == after == forbidden

    model = PegasosSequenceTagger(lam=1e-3, tol=1e-5, random_state=0, allowed=allowed)
    interrupted(path, model, WORDS, y, 1)
    forbidden = "B"
    with pytest.raises(ValueError, match="the data differ"), checkpointing(path):
        same_again(model).fit(WORDS, y)


def test_threads_may_differ(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, WORDS, TAGS, 3)
    with checkpointing(path):
        found = same_again(MODEL).set_params(n_jobs=2, max_time=1000.0).fit(WORDS, TAGS)
    assert outcome(found) == outcome(same_again(MODEL).fit(WORDS, TAGS))


def test_what_has_none_says_so(tmp_path: Path) -> None:
    every = PegasosSequenceTagger(pairs="all")
    for fit in (
        lambda: every.partial_fit(WORDS, TAGS, classes=LABELS),
        lambda: pegasos.PegasosSequenceTaggerCV().fit(WORDS, TAGS),
        lambda: pegasos.PegasosStructured(model=object()).fit(WORDS, TAGS),
    ):
        with pytest.raises(ValueError, match="has no checkpoints"), checkpointing(tmp_path / "c"):
            fit()


def test_a_full_disk_ends_the_fit_and_keeps_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints.Checkpoints, "_write", full)
    for loss in ("hinge", "log"):
        model = PegasosSequenceTagger(lam=1e-3, tol=1e-6, loss=loss)
        with pytest.raises(OSError, match="No space"), checkpointing(tmp_path / "run.ckpt", every=0):
            model.fit(WORDS, TAGS)
        assert len(model.predict(WORDS)) == 60
        assert not model.converged_
    assert os.listdir(tmp_path) == []
