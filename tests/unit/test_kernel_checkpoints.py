"""Kernel fits that were killed go on between working sets, epochs or steps, and end with the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kept_fits import check_every_checkpoint

import pegasos
from pegasos import SDCA, Auto, KernelPegasosClassifier, KernelPegasosRegressor, Pegasos, checkpointing
from pegasos.estimators import kernel_base
from pegasos.io import checkpoints
from pegasos.kernel_solvers import auto, squares, values, working_set

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 4))
SIGNS = np.where(np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=900) > 0, 1, -1)
THREE = np.argmax(X[:, :3] + 0.3 * rng.normal(size=(900, 3)), axis=1)
RARE = np.where(X[:, 0] > 1.9, 1, -1)
NUMBERS = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=900)
K = np.exp(-0.3 * ((X[:400, None] - X[None, :400]) ** 2).sum(axis=2))

TIGHT: Any = {"cache_mb": 1.0, "lam": 1e-3, "tol": 1e-4}
FITS: dict[str, tuple[Any, Any, Any]] = {
    "auto": (KernelPegasosClassifier(**TIGHT), X, SIGNS),
    "auto, free bias": (KernelPegasosClassifier(**TIGHT, bias="free"), X, SIGNS),
    "auto, three classes": (KernelPegasosClassifier(**TIGHT), X, THREE),
    "auto, squared hinge": (KernelPegasosClassifier(**TIGHT, loss="squared_hinge"), X, SIGNS),
    "auto, log": (KernelPegasosClassifier(**TIGHT, loss="log", bias="free"), X, SIGNS),
    "auto, regression": (KernelPegasosRegressor(**TIGHT), X, NUMBERS),
    "auto, poly": (KernelPegasosClassifier(**TIGHT, kernel="poly", degree=2), X, SIGNS),
    "sdca": (KernelPegasosClassifier(**TIGHT, solver=SDCA()), X[:400], SIGNS[:400]),
    "sdca, iid": (KernelPegasosClassifier(lam=1e-2, tol=1e-2, solver=SDCA(sampling="iid")), X[:300], SIGNS[:300]),
    "sdca, three classes": (KernelPegasosClassifier(**TIGHT, solver=SDCA(), max_epochs=9), X[:300], THREE[:300]),
    "pegasos": (KernelPegasosClassifier(lam=1e-2, tol=1e-2, solver=Pegasos(), random_state=1), X, SIGNS),
    "pegasos, tail": (
        KernelPegasosClassifier(lam=1e-2, solver=Pegasos(T=1500, output="tail"), random_state=1), X, SIGNS,
    ),
    "pegasos, projection": (
        KernelPegasosClassifier(lam=0.1, solver=Pegasos(T=900, k=2, projection=True, output="average"), random_state=1),
        X, SIGNS,
    ),
    "pegasos, free bias": (
        KernelPegasosClassifier(lam=1e-2, bias="free", solver=Pegasos(T=900), random_state=1), X, SIGNS,
    ),
    "pegasos, three classes": (KernelPegasosClassifier(lam=1e-2, solver=Pegasos(T=600), random_state=1), X, THREE),
}  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:not converged")


@pytest.fixture
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Working sets that are not the whole problem."""
    for name in ("_WHOLE", "_GREEDY_WHOLE", "_SHARED_WHOLE"):
        monkeypatch.setattr(auto, name, 100)


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("name", FITS)
def test_from_every_checkpoint(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_every_checkpoint(FITS[name], tmp_path, monkeypatch) > 1


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("solver", [Auto(), SDCA(), Pegasos()])
@pytest.mark.parametrize("y", [SIGNS, THREE], ids=["two", "three"])
def test_values_in_float32_and_then_in_float64(
    solver: Any, y: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding counts as too much: the second part of the fit has all digits."""
    monkeypatch.setattr(kernel_base, "_EXACT", 10)
    monkeypatch.setattr(pegasos.solvers.history.History, "bears", lambda self, error: error == 0)
    model = KernelPegasosClassifier(lam=3e-2, tol=2e-2, cache_mb=1.0, solver=solver, random_state=0)
    check_every_checkpoint((model, X[:500], y[:500]), tmp_path, monkeypatch)


WHOLE: dict[str, tuple[Any, Any, Any]] = {
    "hinge": (KernelPegasosClassifier(lam=1e-5, tol=1e-6), X, SIGNS),
    "free bias": (KernelPegasosClassifier(lam=1e-5, tol=1e-6, bias="free", kernel="poly"), X, SIGNS),
    "lines on demand": (KernelPegasosClassifier(lam=1e-5, tol=1e-6), np.vstack([X, X + 0.01]), np.tile(SIGNS, 2)),
    "lines, then all": (KernelPegasosClassifier(lam=1e-5, tol=1e-6), np.vstack([X, X + 0.01]), np.tile(SIGNS, 2)),
    "linear lines, then all": (
        KernelPegasosClassifier(lam=1e-5, tol=1e-6, kernel="linear"), np.vstack([X, X + 0.01]), np.tile(SIGNS, 2)
    ),
    "log": (KernelPegasosClassifier(lam=1e-5, tol=1e-6, loss="log"), X[:500], SIGNS[:500]),
    "three classes": (KernelPegasosClassifier(lam=1e-4, tol=1e-6), X, THREE),
    "a rare class": (KernelPegasosClassifier(lam=1e-5, bias="free"), np.vstack([X, X + 0.01]), np.tile(RARE, 2)),
    "precomputed": (KernelPegasosClassifier(lam=1e-5, tol=1e-6, kernel="precomputed"), K, SIGNS[:400]),
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_problems_that_are_one_block(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_set, "SLICE", 1e6)  # short native calls, between which there are checkpoints
    if name == "lines on demand":  # some are there, others are not
        monkeypatch.setattr(squares, "_OPEN_SHARE", 1.0)
        monkeypatch.setattr(values.Values, "state", _with_some_lines)
    check_every_checkpoint(WHOLE[name], tmp_path, monkeypatch)
    assert name != "lines on demand" or max(_lines) > 0


_state, _lines = values.Values.state, [0]


def _with_some_lines(self: Any) -> dict[str, Any]:
    if self.known is not None and 0 < self.known.sum() < len(self.known):
        _lines.append(int(self.known.sum()))
    return _state(self)


def test_other_kernel_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working_set, "SLICE", 1e6)
    path, real = tmp_path / "run.ckpt", checkpoints.Checkpoints._write

    def once(self: Any) -> None:
        real(self)
        raise KeyError

    model = KernelPegasosClassifier(lam=1e-5, tol=1e-6, kernel="precomputed")
    monkeypatch.setattr(checkpoints.Checkpoints, "_write", once)
    with pytest.raises(KeyError), checkpointing(path, every=0):
        model.fit(K, SIGNS[:400])
    monkeypatch.setattr(checkpoints.Checkpoints, "_write", real)
    other = K.copy()
    other[0, 1] = other[1, 0] = 0.5
    with pytest.raises(ValueError, match="the data differ"), checkpointing(path):
        model.fit(other, SIGNS[:400])


def test_what_has_none_says_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"multi_class='ovo'.* has no checkpoints"), checkpointing(tmp_path / "a"):
        KernelPegasosClassifier(multi_class="ovo").fit(X, THREE)
    words = np.array(["ab", "bc", "cd"], object)
    with pytest.raises(ValueError, match=r"objects.* have no checkpoints"), checkpointing(tmp_path / "a"):
        KernelPegasosClassifier(kernel=lambda A, B: np.ones((len(A), len(B)))).fit(words, [0, 1, 0])


def test_a_full_disk_ends_the_fit_and_keeps_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints.Checkpoints, "_write", full)
    model = KernelPegasosClassifier(**TIGHT, solver=SDCA())
    with pytest.raises(OSError, match="No space"), checkpointing(tmp_path / "run.ckpt", every=0):
        model.fit(X[:200], SIGNS[:200])
    assert model.predict(X).shape == (900,)
    assert not model.converged_
