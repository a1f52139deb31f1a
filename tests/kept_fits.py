"""Whether a fit ends with the same bytes from any of its checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import checkpointing
from pegasos.io import atomic, checkpoints

NUMBERS = ("n_steps_", "n_iter_", "converged_", "n_kernel_evaluations_", "support_")


def outcome(model: Any) -> dict[str, Any]:
    """All that a fit has found, but for the time it took."""
    arrays = ("coef_", "dual_coef_", "intercept_", "objective_", "gap_", "_w")
    values = {name: getattr(model, name) for name in arrays if hasattr(model, name)}
    found = {k: (v.toarray() if sp.issparse(v) else np.asarray(v)).tobytes() for k, v in values.items()}
    found |= {name: np.asarray(getattr(model, name)).tolist() for name in NUMBERS if hasattr(model, name)}
    return found | {"history": {k: repr(v.tolist()) for k, v in model.history_.items() if k != "seconds"}}


def same_again(model: Any) -> Any:
    return type(model)(**model.get_params(deep=False))


def check_every_checkpoint(fit: tuple[Any, Any, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """fit: the model, X and y. How many checkpoints there were."""
    model, X, y = fit
    monkeypatch.setattr(atomic.os, "fsync", lambda fd: None)  # hundreds of files: a disk would take minutes
    alone = outcome(same_again(model).fit(X, y))
    path, kept = folder / "run.ckpt", []
    real = checkpoints.Checkpoints._write

    def write(self: Any) -> None:
        real(self)
        kept.append(path.read_bytes())

    monkeypatch.setattr(checkpoints.Checkpoints, "_write", write)
    with checkpointing(path, every=0.0):
        assert outcome(same_again(model).fit(X, y)) == alone
    assert kept
    assert not list(folder.iterdir())
    monkeypatch.setattr(checkpoints.Checkpoints, "_write", real)
    for content in {kept[i] for i in np.linspace(0, len(kept) - 1, 6).astype(int)}:
        path.write_bytes(content)
        with checkpointing(path, every=1e9):
            assert outcome(same_again(model).fit(X, y)) == alone
        assert not path.exists()
    return len(kept)


def interrupted(path: Path, model: Any, X: Any, y: Any, writes: int = 3, copied: bool = True) -> None:
    """A checkpoint, left by a fit that has failed."""
    real, count = checkpoints.Checkpoints._write, 0

    def write(self: Any) -> None:
        nonlocal count
        real(self)
        count += 1
        if count == writes:
            raise ZeroDivisionError

    checkpoints.Checkpoints._write = write  # type: ignore[method-assign]
    try:
        with pytest.raises(ZeroDivisionError), checkpointing(path, every=0.0):
            (same_again(model) if copied else model).fit(X, y)
    finally:
        checkpoints.Checkpoints._write = real  # type: ignore[method-assign]
    assert path.exists()
