"""A fit that was killed goes on from its checkpoint, and ends with exactly the bytes of one that was not."""

from __future__ import annotations

import errno
import os
import warnings
from pathlib import Path
from typing import Any

import kill_cycles
import numpy as np
import pytest
import scipy.sparse as sp
from kept_fits import check_every_checkpoint, interrupted, outcome, same_again
from sklearn.exceptions import ConvergenceWarning

import pegasos
from pegasos import SDCA, Auto, Pegasos, PegasosClassifier, PegasosRegressor, checkpointing, datasets
from pegasos.io import atomic

TEXT, SIGNS = datasets.make_text(400, 300, n_nonzeros=20, random_state=0)
DENSE = np.random.default_rng(0).normal(size=(300, 8)) * np.geomspace(0.01, 100, 8)
THREE = (DENSE[:, :3] / [0.01, 0.04, 0.14]).argmax(axis=1)
NUMBERS = DENSE @ np.arange(8.0)
TALL = np.random.default_rng(1).normal(size=(1500, 4))
SIDES = (TALL[:, 0] + TALL[:, 1] ** 2 > 0.5).astype(int)

CRAWL: Any = {"lam": 1e-3, "tol": 1e-6, "solver": "sdca", "max_epochs": 50}
STEPS: Any = {"lam": 1e-3, "random_state": 3}
FITS: dict[str, tuple[Any, Any, Any]] = {
    "auto": (PegasosClassifier(lam=1e-5, tol=1e-7), TEXT, SIGNS),
    "auto, two threads": (PegasosClassifier(lam=1e-5, tol=1e-7, n_jobs=2), TEXT, SIGNS),
    "auto, hard": (PegasosClassifier(lam=1e-6, tol=1e-8, solver=Auto(polish=False)), DENSE, THREE > 0),
    "auto, last digits": (PegasosClassifier(lam=1e-6, tol=1e-8), DENSE, THREE > 0),
    "auto, free bias": (PegasosClassifier(lam=1e-5, tol=1e-7, bias="free"), TEXT, SIGNS),
    "auto, squared hinge": (PegasosClassifier(lam=1e-6, tol=1e-8, loss="squared_hinge"), TEXT, SIGNS),
    "auto, log": (PegasosClassifier(lam=1e-6, tol=1e-8, loss="log", bias="free"), TEXT, SIGNS),
    "auto, descent": (PegasosClassifier(lam=1e-5, tol=1e-7, loss="log", bias="free"), TALL, SIDES),
    "auto, multinomial": (PegasosClassifier(lam=1e-5, tol=1e-7, loss="multinomial"), DENSE / 100, THREE),
    "auto, three classes": (PegasosClassifier(lam=1e-5, tol=1e-7), DENSE, THREE),
    "auto, regression": (PegasosRegressor(lam=1e-5, tol=1e-7), DENSE, NUMBERS),
    "auto, few epochs": (PegasosClassifier(lam=1e-7, tol=1e-9, max_epochs=12), TEXT, SIGNS),
    "sdca": (PegasosClassifier(lam=1e-5, tol=1e-5, solver=SDCA(sampling="permutation")), TEXT, SIGNS),
    "sdca, many replicas": (PegasosClassifier(lam=1e-5, tol=1e-5, solver=SDCA(replicas=5)), TEXT, SIGNS),
    "sdca, no shrinking": (PegasosClassifier(lam=1e-4, tol=1e-5, solver=SDCA(shrinking=False)), TEXT, SIGNS),
    "log, free bias": (PegasosClassifier(lam=1e-5, tol=1e-6, loss="log", bias="free", solver="sdca"), TEXT, SIGNS),
    "three classes": (PegasosClassifier(**CRAWL), DENSE, THREE),
    "three classes, threads": (PegasosClassifier(**CRAWL, n_jobs=3), DENSE, THREE),
    "multinomial": (PegasosClassifier(**CRAWL, loss="multinomial"), DENSE, THREE),
    "joint hinge, free bias": (PegasosClassifier(lam=1e-2, loss="multiclass_hinge", bias="free"), DENSE, THREE),
    "regression": (PegasosRegressor(**CRAWL), DENSE, NUMBERS),
    "squared regression": (PegasosRegressor(**CRAWL, loss="squared_epsilon_insensitive"), DENSE, NUMBERS),
    "pegasos": (PegasosClassifier(**STEPS, tol=0.03, solver=Pegasos()), TEXT, SIGNS),
    "pegasos, average": (PegasosClassifier(**STEPS, solver=Pegasos(T=5000, output="average")), TEXT, SIGNS),
    "pegasos, tail": (PegasosClassifier(**STEPS, solver=Pegasos(T=5000, output="tail")), TEXT, SIGNS),
    "pegasos, best": (PegasosClassifier(**STEPS, solver=Pegasos(T=5000, output="best")), TEXT, SIGNS),
    "pegasos, projection": (
        PegasosClassifier(**STEPS, solver=Pegasos(T=2000, k=3, projection=True, sampling="iid")), TEXT, SIGNS,
    ),
    "pegasos, free bias": (
        PegasosClassifier(**STEPS, bias="free", solver=Pegasos(T=3000, sampling="subsets", k=2)), TEXT, SIGNS,
    ),
    "pegasos, norma": (PegasosClassifier(**STEPS, solver=Pegasos(T=3000, step="norma")), TEXT, SIGNS),
    "pegasos, multinomial": (
        PegasosClassifier(**STEPS, loss="multinomial", solver=Pegasos(T=3000, advance="on_loss")), DENSE / 100, THREE,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.mark.parametrize("name", FITS)
def test_from_every_checkpoint_a_fit_ends_with_the_same_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_every_checkpoint(FITS[name], tmp_path, monkeypatch)


@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_a_warm_start_goes_on_as_well(bias: Any, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"

    def begun(lam: float = 1e-4) -> Any:
        model = PegasosClassifier(lam=lam, tol=1e-2, bias=bias, warm_start=True, solver="sdca").fit(TEXT, SIGNS)
        return model.set_params(lam=1e-5, tol=1e-6)

    alone = outcome(begun().fit(TEXT, SIGNS))
    interrupted(path, begun(), TEXT, SIGNS, copied=False)
    model, other = begun(), begun(1e-3)
    with checkpointing(path, every=1e9):
        assert outcome(model.fit(TEXT, SIGNS)) == alone
    interrupted(path, begun(), TEXT, SIGNS, copied=False)
    with pytest.raises(ValueError, match="the model to go on from differs"), checkpointing(path):
        other.fit(TEXT, SIGNS)


def test_twenty_kills_at_every_call_of_the_system_change_nothing(tmp_path: Path) -> None:
    """Each process goes on from what the one before has left, and is killed a little later in its writing."""
    wanted = kill_cycles.alone()
    path, result = tmp_path / "run.ckpt", tmp_path / "result"
    for cycle in range(20):
        child = kill_cycles.start(path, result, kill_cycles.dies_in_write(1 + cycle % 3, cycle % 7))
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status)
    assert path.exists() or (tmp_path / "run.ckpt.old").exists()
    _, status = os.waitpid(kill_cycles.start(path, result), 0)
    assert status == 0
    assert result.read_bytes() == wanted


MODEL = PegasosClassifier(lam=1e-5, tol=1e-5, solver=SDCA())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m, X, y: (m.set_params(lam=1e-4), X, y), "lam was 1e-05 and is 0.0001"),
        (lambda m, X, y: (m.set_params(solver=SDCA(shrinking=False)), X, y), "solver was"),
        (lambda m, X, y: (m, X[:-1], y[:-1]), r"rows was \[400, 300\] and is \[399, 300\]"),
        (lambda m, X, y: (m, X * 2, y), "the data differ"),
        (lambda m, X, y: (m, X, -y), "the data differ"),
        (lambda m, X, y: (m, sp.csr_matrix(X[:, ::-1]), y), "the data differ"),
        (lambda m, X, y: (PegasosRegressor(lam=1e-5), X, y * 1.0), "estimator was 'PegasosClassifier'"),
    ],
)
def test_another_fit_is_refused_and_told_what_differs(change: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, TEXT, SIGNS)
    model, X, y = change(same_again(MODEL), TEXT, SIGNS)
    with pytest.raises(ValueError, match=f"is the checkpoint of another fit: .*{words}"), checkpointing(path):
        model.fit(X, y)
    assert path.exists()


def test_threads_may_differ(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, TEXT, SIGNS)
    with checkpointing(path):
        found = same_again(MODEL).set_params(n_jobs=2, verbose=0, max_time=1000.0).fit(TEXT, SIGNS)
    assert outcome(found) == outcome(same_again(MODEL).fit(TEXT, SIGNS))


def test_a_seed_that_nobody_gave_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    model = PegasosClassifier(lam=1e-3, solver=Pegasos(T=3000))
    interrupted(path, model, TEXT, SIGNS)
    content = path.read_bytes()
    found = []
    for _ in range(2):
        path.write_bytes(content)
        with checkpointing(path):
            found.append(outcome(same_again(model).fit(TEXT, SIGNS)))
    assert found[0] == found[1]


def test_a_damaged_checkpoint_falls_back_on_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, TEXT, SIGNS)
    alone = outcome(same_again(MODEL).fit(TEXT, SIGNS))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with checkpointing(path):
        assert outcome(same_again(MODEL).fit(TEXT, SIGNS)) == alone
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no checkpoint, or is damaged: its checksum is wrong"), checkpointing(path):
        same_again(MODEL).fit(TEXT, SIGNS)


def test_a_model_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    same_again(MODEL).fit(TEXT, SIGNS).save(path)
    with pytest.raises(ValueError, match="it holds a pegasos model"), checkpointing(path):
        same_again(MODEL).fit(TEXT, SIGNS)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize(
    ("call", "nth"), [("open", 0), ("write", 0), ("write", 3), ("fsync", 0), ("replace", 0), ("replace", 1)]
)
def test_a_disk_that_fails_is_an_error_and_an_old_checkpoint_stays(
    call: str, nth: int, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, old = tmp_path / "run.ckpt", tmp_path / "run.ckpt.old"
    interrupted(path, MODEL, TEXT, SIGNS, writes=2)
    before, real, calls = path.read_bytes(), getattr(os, call), 0

    def refuse(*given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += str(given[0]).startswith(str(tmp_path)) or call in ("write", "fsync")
        if calls == nth + 1:
            raise OSError(error, os.strerror(error))
        return real(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(atomic, "_PIECE", 1000)
        patch.setattr(atomic.os, call, refuse)
        with pytest.raises(OSError, match=os.strerror(error)) as raised, checkpointing(path, every=0.0):
            same_again(MODEL).fit(TEXT, SIGNS)
        assert raised.value.errno == error
    # Between the two renames the newest is the old one.
    assert (old if (call, nth) == ("replace", 1) else path).read_bytes() == before
    assert not (tmp_path / "run.ckpt.new").exists()
    with checkpointing(path):
        found = same_again(MODEL).fit(TEXT, SIGNS)
    assert outcome(found) == outcome(same_again(MODEL).fit(TEXT, SIGNS))
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_was_writing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "run.ckpt"
    interrupted(path, MODEL, TEXT, SIGNS, writes=2)
    (tmp_path / "run.ckpt.new").write_bytes(b"half a checkpoint")
    with checkpointing(path):
        same_again(MODEL).fit(TEXT, SIGNS)
    assert os.listdir(tmp_path) == []


def test_where_there_are_none_it_is_said(tmp_path: Path) -> None:
    for fit in (
        lambda: pegasos.KernelPegasosClassifierCV().fit(DENSE, THREE),
        lambda: PegasosClassifier().partial_fit(DENSE, THREE, classes=[0, 1, 2]),
        lambda: pegasos.PegasosClassifierCV().fit(DENSE, THREE),
        lambda: pegasos.PegasosRegressorCV().fit(DENSE, NUMBERS),
        lambda: pegasos.lam_path(DENSE, THREE),
    ):
        with pytest.raises(ValueError, match="has no checkpoints"), checkpointing(tmp_path / "c"):
            fit()
    with checkpointing(tmp_path / "c"):
        same_again(MODEL).fit(TEXT, SIGNS)
        with pytest.raises(ValueError, match="keeps one fit"):
            same_again(MODEL).fit(TEXT, SIGNS)
    with pytest.raises(ValueError, match="every must be"), checkpointing(tmp_path / "c", every=-1):
        pass
