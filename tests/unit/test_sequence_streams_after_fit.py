"""partial_fit of a tagger after fit, or with another lam, keeps what was learned; a saved stream goes on to the bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_sequence_streams import chains

from pegasos import Pegasos, PegasosSequenceTagger, load_model
from pegasos.io.container import packed, unpacked

X, Y = chains(150, 12, 1)
LABELS = list(range(5))
LOSSES = pytest.mark.parametrize("loss", ["hinge", "log"])


def tagger(**params: Any) -> PegasosSequenceTagger:
    return PegasosSequenceTagger(**{"pairs": "all", "random_state": 0, "lam": 1e-4, "max_epochs": 50, **params})


def stream(**params: Any) -> PegasosSequenceTagger:
    return tagger(**params).partial_fit(X[:100], Y[:100], classes=LABELS)


def reloaded(model: Any, tmp_path: Path) -> Any:
    model.save(tmp_path / "model")
    return load_model(tmp_path / "model")


def version_of(path: Path) -> str:
    return unpacked(np.fromfile(path, np.uint8))[1]["version"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@LOSSES
@pytest.mark.parametrize(
    "how", [{}, {"warm_start": True}, {"solver": "pegasos"}, {"solver": Pegasos(output="average")}], ids=str
)
def test_ten_new_sequences_leave_what_fit_has_learned(loss: str, how: dict[str, Any], tmp_path: Path) -> None:
    """Steps of 1/(lam t), t the sequences that were looked at, left accuracies of guesses."""
    for lam in (1e-2, 1e-6):
        live = tagger(loss=loss, lam=lam, **how).fit(X[:100], Y[:100])
        before = live.score(X[:100], Y[:100])
        for model in (live, reloaded(live, tmp_path)):
            model.partial_fit(X[100:110], Y[100:110])
            assert model.score(X[:100], Y[:100]) > before - 0.1


@LOSSES
def test_a_stream_with_another_lam_begins_with_steps_for_that(loss: str) -> None:
    for factor in (1e-3, 0.1, 10.0):
        model = stream(loss=loss)
        before = model.score(X[:100], Y[:100])
        model.set_params(lam=1e-4 * factor).partial_fit(X[100:110], Y[100:110])
        assert model.score(X[:100], Y[:100]) > before - 0.1


@LOSSES
@pytest.mark.parametrize(
    "solver",
    [
        Pegasos(),
        Pegasos(output="average"),
        Pegasos(output="tail"),
        Pegasos(output="average", projection=True, k=3),
        Pegasos(step="norma"),
        Pegasos(step=0.01, output="average"),
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_stream_that_was_saved_goes_on_to_the_bit(loss: str, solver: Any, sparse: bool, tmp_path: Path) -> None:
    live = stream(loss=loss, solver=solver, transition_features=[0, 3])
    live.save(tmp_path / "model", sparse=sparse)
    again = load_model(tmp_path / "model")
    for part in (slice(100, 120), slice(120, 150)):
        for model in (live, again):
            model.partial_fit(X[part], Y[part])
        assert live._w.tobytes() == again._w.tobytes()
        assert live.n_steps_ == again.n_steps_
        again = reloaded(again, tmp_path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_after_a_stream_that_was_saved_is_the_same(tmp_path: Path) -> None:
    live = stream(solver=Pegasos(output="average"), warm_start=True, max_epochs=2)
    again = reloaded(live, tmp_path)
    for model in (live, again):
        model.fit(X, Y)
    assert live._w.tobytes() == again._w.tobytes()
    assert live.gap_ == again.gap_


def test_only_files_of_streams_need_the_newer_version(tmp_path: Path) -> None:
    tagger(tol=0.1).fit(X, Y).save(tmp_path / "fit")
    stream().save(tmp_path / "stream")
    assert (version_of(tmp_path / "fit"), version_of(tmp_path / "stream")) == ("1", "2")


@LOSSES
def test_streams_in_files_of_before_go_on_gently(loss: str, tmp_path: Path) -> None:
    """Version 1 has the weights and the step number alone."""
    live = stream(loss=loss)
    live.save(tmp_path / "model")
    tensors, metadata = unpacked(np.fromfile(tmp_path / "model", np.uint8))
    said = json.loads(metadata["model"])
    del said["fitted"]["stream"]
    tensors = {name: array for name, array in tensors.items() if not name.startswith("stream.")}
    old = {key: value for key, value in metadata.items() if key != "checksum"}
    old |= {"version": "1", "model": json.dumps(said)}
    (tmp_path / "old").write_bytes(b"".join(bytes(piece) for piece in packed(tensors, old)))
    again = load_model(tmp_path / "old")
    assert again.score(X, Y) == live.score(X, Y)
    for model in (live, again):
        model.partial_fit(X[100:], Y[100:])
    assert again.score(X, Y) > live.score(X, Y) - 0.05
