"""Checkpoints of chains: what a store of fits is told about them, and gives back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from . import run
from .solve import Going, Task, solve
from .training_set import TrainingSet
from .weights import Shape


@dataclass(frozen=True)
class _Stated:
    """The problem, as a store asks for it."""

    shape: tuple[int, int, int]  # sequences, tokens, features
    fingerprint: str
    labels: NDArray[Any]
    s: run.Floats | None

    @property
    def data(self) -> _Stated:
        return self

    @property
    def weights(self) -> _Stated:
        return self


@dataclass(frozen=True)
class _Begun:
    """Where the fit begins: w, and a digest of what its solver had left."""

    w: run.Floats
    dual: NDArray[np.uint8]
    steps: int


def begin(stop: run.Run, model: Any, data: TrainingSet, shape: Shape, going: Going, seed: int) -> tuple[run.Run, int]:
    """The run with its place in the store, if there is one, and the seed that goes with it."""
    if stop.store is None:
        return stop, seed
    stacked = data.stacked
    places = len(stacked.lengths), len(data.codes), stacked.n_features
    stated = _Stated(places, _fingerprint(data, shape), data.codes, data.s)
    rest = np.frombuffer(_digest(_left(going)), np.uint8)
    seed = stop.store.begin(model, stated, [_Begun(going.w, rest, going.steps)], seed)
    return replace(stop, job_store=stop.store.job(0)), seed


def solve_once(task: Task, solver: Any, stop: run.Run, going: Going, seed: int) -> tuple[run.Fit, Going]:
    """Minimise f from there, unless another process has."""
    job = stop.job_store
    done = None if job is None else job.finished()
    if done is not None and done.resume is not None:
        return done, _going(done.resume)
    fit, left = solve(task, solver, stop, going, seed)
    if job is not None and not fit.interrupted:
        kept = _left(left) if stop.remember else {}
        job.finish(replace(fit, resume=run.Resume(left.w, left.steps, lam=left.lam, own=kept)))
    return fit, left


def _left(going: Going) -> dict[str, Any]:
    """What a solver has left besides w, as numbers and arrays."""
    left = {f"running {name}": value for name, value in (going.running or {}).items()}
    if going.dual is not None:
        left |= dict(zip(("dual count", "dual alpha", "dual labels"), going.dual.__getstate__(), strict=True))
    return left


def _going(left: run.Resume) -> Going:
    own: dict[str, Any] = dict(left.own)
    running = {name.removeprefix("running "): value for name, value in own.items() if name.startswith("running ")}
    dual = None
    if "dual count" in own:
        dual = _core.TagDual.__new__(_core.TagDual)
        dual.__setstate__((own["dual count"], own["dual alpha"], own["dual labels"]))
    return Going(left.w, left.steps, left.lam, dual, running or None)


def _digest(values: dict[str, Any]) -> bytes:
    found = blake2b(digest_size=16)
    for name in sorted(values):
        array = np.ascontiguousarray(values[name])
        found.update(f"{name}{array.dtype.str}{array.shape}".encode())
        found.update(array.data)
    return found.digest()


def _fingerprint(data: TrainingSet, shape: Shape) -> str:
    """Of the tokens, the names of features and labels, which labels may follow each other, and which features count."""
    found = blake2b(data.fingerprint, digest_size=16)
    names = data.features.names if data.features.columns is None else data.features.columns
    found.update(repr((data.classes.tolist(), names)).encode("utf-8", "surrogatepass"))
    steps, first, last = (None, None, None) if shape.allowed is None else shape.allowed
    arrays = {"steps": steps, "first": first, "last": last, "chosen": shape.chosen}
    found.update(_digest({name: array for name, array in arrays.items() if array is not None}))
    return found.hexdigest()
