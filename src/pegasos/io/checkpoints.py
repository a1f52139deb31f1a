"""Checkpoints: the state of a fit in a file, from which another process goes on as if nothing had happened."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp

import pegasos

from ..solvers.base import Fit
from ..solvers.store import active
from .atomic import Path, sync_folder, write_synced
from .container import Damaged, Tensors, packed, unpacked
from .families import PARTS
from .models import load_bytes, parameter
from .values import Reader, Writer

FORMAT, VERSION = "pegasos checkpoint", 2
_MAY_DIFFER = ("n_jobs", "verbose", "max_time")  # none of them changes what is minimised
_FIT = ("w", "steps", "epochs", "history", "converged", "rounding", "operations", "replicas", "resume")


@contextmanager
def checkpointing(path: Path, every: float = 30.0) -> Iterator[None]:
    """Keep the state of the fit inside in a file, and go on from there if the file has it already.

    Parameters
    ----------
    path : str or path-like
        The file. The one before it stays beside it, with ".old" behind its name; both are removed when the fit is done
        and the block is left.
    every : float, default=30
        Seconds between two checkpoints, at least. Coordinate ascent has them between epochs, Pegasos at any step;
        second-order phases are repeated from the last one before them, but for those of sequences with the log loss.

    Notes
    -----
    A fit that was killed ends, when it is run again, with exactly the model of one that was not. One fit of a
    linear, kernel or sequence model to a block. The file has the parameters and a fingerprint of the data:
    other ones are refused.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> X, y = pegasos.datasets.make_binary(100, 5, random_state=0)
    >>> with pegasos.checkpointing(os.path.join(tempfile.mkdtemp(), "run.ckpt"), every=30):
    ...     model = pegasos.PegasosClassifier(lam=0.1).fit(X, y)
    """
    if not isinstance(every, (int, float)) or not every >= 0:
        raise ValueError(f"every must be a number of seconds >= 0, got {every!r}.")
    with keeping(Checkpoints(path, float(every))):
        yield


@contextmanager
def keeping(store: Checkpoints) -> Iterator[None]:
    """The fit inside is kept in this store; its files are removed when it is done and the block is left."""
    before = active.set(store)
    try:
        yield
    finally:
        active.reset(before)
    store.remove_if_done()


class Checkpoints:
    """The store of one fit."""

    def __init__(self, path: Path, every: float, notes: Mapping[str, Any] | None = None) -> None:
        """notes: what the file says besides, for whoever goes on."""
        self.path, self.every = os.fspath(path), every
        self.notes = dict(notes or {})
        self._lock, self._written = Lock(), time.monotonic()
        self._identity: dict[str, Any] | None = None
        self._snapshots: dict[int, bytes | dict[str, Any]] = {}
        self._matrix: Any = None  # of a kernel, whose values all problems of a fit have in common
        self._finished: dict[int, dict[str, Any]] = {}
        self._seed, self._count = 0, 0

    def begin(self, estimator: Any, problem: Any, starts: list[Any], seed: int) -> int:
        if self._identity is not None:
            raise ValueError(
                "a block of checkpointing keeps one fit; use another one, with another file, for the next."
            )
        self._identity, self._seed, self._count = _identity(estimator, problem, starts), seed, len(starts)
        self._matrix = getattr(problem, "matrix", None)
        said = read_checkpoint(self.path)
        if said is not None:
            self._take(*said[:2])
        return self._seed

    def job(self, i: int) -> _Job:
        return _Job(self, i)

    def remove_if_done(self) -> None:
        """Nobody needs the files any more, once all problems are solved."""
        if self._identity is not None and len(self._finished) == self._count:
            for path in (self.path, f"{self.path}.old", f"{self.path}.new"):
                with suppress(FileNotFoundError):
                    os.unlink(path)

    def _take(self, said: dict[str, Any], reader: Reader) -> None:
        assert self._identity is not None
        _compare(said["identity"], json.loads(json.dumps(self._identity)), self.path)
        self._seed = int(said["seed"])
        self._finished = {int(i): reader.read(fit) for i, fit in said["finished"].items()}
        found = {int(i): reader.read(kept) for i, kept in said["snapshots"].items()}
        self._snapshots = {i: kept if isinstance(kept, dict) else kept.tobytes() for i, kept in found.items()}
        if self._matrix is not None:
            self._matrix.restore(reader.read(said["matrix"]))

    def keep(self, i: int, snapshot: bytes | dict[str, Any]) -> None:
        with self._lock:
            self._snapshots[i] = snapshot
            self._write()

    def finish(self, i: int, fit: Fit) -> None:
        with self._lock:
            self._snapshots.pop(i, None)
            self._finished[i] = {name: getattr(fit, name) for name in _FIT}
            if time.monotonic() - self._written >= self.every:
                self._write()

    def _write(self) -> None:
        writer = Writer(PARTS)
        finished = {str(i): writer.write(fit, f"{i}") for i, fit in self._finished.items()}
        kept = {
            str(i): writer.write(state if isinstance(state, dict) else np.frombuffer(state, np.uint8), f"{i}.snapshot")
            for i, state in self._snapshots.items()
        }
        said = {"identity": self._identity, "seed": self._seed, "finished": finished, "snapshots": kept}
        if self._matrix is not None:
            said["matrix"] = writer.write(self._matrix.state(), "matrix")
        metadata = {"format": FORMAT, "version": str(VERSION), "package": pegasos.__version__}
        metadata |= {"state": json.dumps(said), "notes": json.dumps(self.notes)}
        new = f"{self.path}.new"  # always this name: what a killed process leaves there is written over
        try:
            write_synced(new, packed(writer.tensors, metadata))
            if os.path.exists(self.path):
                os.replace(self.path, f"{self.path}.old")
            os.replace(new, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(new)
            raise
        sync_folder(os.path.dirname(os.path.realpath(self.path)))
        self._written = time.monotonic()


class _Job:
    """The part of a store that belongs to one problem."""

    def __init__(self, store: Checkpoints, i: int) -> None:
        self._store, self._i, self.every = store, i, store.every

    def finished(self) -> Fit | None:
        fields = self._store._finished.get(self._i)
        return None if fields is None else Fit(**fields)

    @property
    def start(self) -> bytes:
        found = self._store._snapshots.get(self._i, b"")
        return found if isinstance(found, bytes) else b""

    @property
    def state(self) -> dict[str, Any] | None:
        found = self._store._snapshots.get(self._i)
        return found if isinstance(found, dict) else None

    def keep_state(self, state: dict[str, Any]) -> None:
        self._store.keep(self._i, state)

    def keep(self, snapshot: bytes) -> None:
        self._store.keep(self._i, snapshot)

    def finish(self, fit: Fit) -> None:
        self._store.finish(self._i, fit)


def read_checkpoint(path: Path) -> tuple[dict[str, Any], Reader, Mapping[str, Any]] | None:
    """What the newest whole file says; None where there is none."""
    failure: ValueError | None = None
    for name in (os.fspath(path), f"{os.fspath(path)}.old"):
        if not os.path.exists(name):
            continue
        try:
            tensors, metadata = _opened(name)
            said = json.loads(metadata["state"])
            said["notes"] = json.loads(metadata["notes"])
            return said, Reader(tensors, PARTS), tensors
        except (ValueError, KeyError, TypeError) as error:
            failure = failure or ValueError(f"{name} is no checkpoint, or is damaged: {error}.")
    if failure is not None:
        raise failure
    return None


def _opened(name: str) -> tuple[Tensors, dict[str, str]]:
    tensors, metadata = unpacked(load_bytes(name))
    if metadata.get("format") != FORMAT:
        raise Damaged(f"it holds a {metadata.get('format', 'model of another package')}")
    if metadata.get("version") != str(VERSION):
        raise Damaged(f"it was written by pegasos {metadata.get('package')}, in another version of the format")
    return tensors, metadata


def _identity(estimator: Any, problem: Any, starts: list[Any]) -> dict[str, Any]:
    """What has to be the same: the estimator, its parameters, the data, and where the fit begins."""
    writer = Writer(PARTS)
    parameters = {
        name: parameter(writer, name, value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _MAY_DIFFER
    }
    arrays = [writer.tensors[name] for name in sorted(writer.tensors)]
    begins = [array for start in starts for array in (start.w, start.dual) if array is not None]
    return {
        "package": pegasos.__version__,
        "estimator": type(estimator).__name__,
        "parameters": parameters | {"arrays": _digest(arrays)},
        "rows": list(problem.data.shape),
        "data": _digest_of_rows(problem),
        "start": [_digest(begins), [int(start.steps) for start in starts]],
    }


def _digest(arrays: list[Any]) -> str:
    found = blake2b(digest_size=16)
    for array in arrays:
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _digest_of_rows(problem: Any) -> str:
    found = blake2b(digest_size=16)
    known = getattr(problem.data, "fingerprint", None)
    for _, block in problem.data.blocks() if known is None else ():
        found.update(_digest(_arrays_of(block)).encode())
    if hasattr(problem, "matrix"):  # a kernel matrix that was given is no part of the data
        found.update(_digest(_arrays_of(problem.matrix.given)).encode())
    found.update((known or "").encode())
    found.update(_digest([np.asarray(problem.labels)]).encode())
    if problem.weights.s is not None:
        found.update(_digest([np.asarray(problem.weights.s)]).encode())
    return found.hexdigest()


def _arrays_of(rows: Any) -> list[Any]:
    if sp.issparse(rows):
        return [rows.data, rows.indices, rows.indptr - rows.indptr[0]]
    if not isinstance(rows, np.ndarray):
        raise ValueError("rows that are objects, of which only their kernel knows what they are, have no checkpoints.")
    return [rows]


def _compare(before: dict[str, Any], now: dict[str, Any], path: str) -> None:
    """Refuse a fit that is not the one in the file, and say what differs."""
    if before == now:
        return
    said = [f"{name} was {before.get(name)!r} and is {now[name]!r}" for name in ("package", "estimator", "rows")
            if before.get(name) != now[name]]  # fmt: skip
    old = before.get("parameters", {})
    said += [f"{k} was {old.get(k)!r} and is {v!r}" for k, v in now["parameters"].items() if old.get(k) != v]
    said = said or ["the data differ" if before.get("data") != now["data"] else "the model to go on from differs"]
    raise ValueError(f"{path} is the checkpoint of another fit: {'; '.join(said)}. Fit as before, or remove the file.")
