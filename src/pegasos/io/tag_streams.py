"""What a stream of sequences goes on with, in the file of its model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..structured.solve import Going
from ..structured.weights import Shape
from .container import Damaged
from .state import State

_NUMBERS = ("c", "C", "averaged", "late", "lam")


def stream_of(model: Any) -> dict[str, Any]:
    """The running iterate and the sum of what is averaged, by the meaning of their weights; nothing of other fits."""
    going = getattr(model, "_going_on", None)
    running = None if going is None else going[0].running
    if running is None or len(running["counts"]):  # sums over the labellings of a fit, whose sequences no file has
        return {}
    vectors = {name: model._shape.weights(running[name]) if len(running[name]) else None for name in ("v", "B")}
    return {"stream": {name: float(running[name]) for name in _NUMBERS} | vectors}


def restore_stream(model: Any, state: State) -> None:
    """After the weights. Files before version 2, and those of fits, have none."""
    model._going_on = None
    if "stream" not in state:
        return
    said = State(state.take("stream", dict))
    running: dict[str, Any] = {name: said.take(name, float) for name in _NUMBERS}
    sound = running["c"] > 0 and running["lam"] > 0 and min(running["late"], running["averaged"]) >= 0
    if not sound or not np.isfinite(list(running.values())).all():
        raise Damaged("its stream has numbers that none has")
    v, B = (_vector(model._shape, said, name) for name in ("v", "B"))
    said.end()
    if v is None:
        raise Damaged("its stream has no iterate")
    running |= {"v": v, "B": np.zeros(0) if B is None else B, "out": model._w.copy()}
    running |= {"counts": np.zeros(0), "cost": 0.0, "known": False}
    going = Going(model._w.copy(), model.n_steps_, running["lam"], running=running)
    model._going_on = (going, np.zeros(0, np.int64), b"")


def _vector(shape: Shape, said: State, name: str) -> Any:
    if said.peek(name) is None:
        return said.take(name)
    weights = State(said.take(name, dict))
    n, K, chosen = shape.n_features, shape.n_labels, shape.chosen
    sizes = {"emission": (n, K), "transitions": (K, K), "first": (K,), "last": (K,)}
    if shape.seen is not None:
        sizes["emission"] = (len(shape.seen[1]),)
    if chosen is not None:
        sizes["feature_transitions"] = (len(chosen), K, K)
    found = {part: weights.array(part, "f", size) for part, size in sizes.items()}
    weights.end()
    return shape.vector(**found)
