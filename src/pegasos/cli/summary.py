"""What became of a training."""

from __future__ import annotations

from typing import Any

import numpy as np


def summary(model: Any, X: Any, y: Any, path: str) -> dict[str, Any]:
    """What is to be said of a model that was fitted to these rows, X with its own y if that is None."""
    sequences = hasattr(model, "transitions_")
    facts: dict[str, Any] = {
        "model": None if path == "-" else path,
        "estimator": type(model).__name__,
        "loss": model.loss,
        "lam": model.lam,
        "sequences" if sequences else "rows": X.shape[0] if y is None else len(y),
        "features": model.n_features_in_,
    }
    if not sequences and hasattr(X, "nnz"):
        facts["non-zeros"] = int(X.nnz)
    if hasattr(model, "classes_"):
        facts["classes"] = len(model.classes_)
    if hasattr(model, "support_"):
        facts["support vectors"] = len(model.support_)
    gap = np.asarray(model.gap_, float)
    facts |= {
        "epochs": float(np.max(model.n_iter_)),
        "objective": _one(model.objective_),
        "gap": _one(model.gap_),
        **({"largest gap": float(gap.max())} if gap.ndim else {}),
        "converged": bool(model.converged_),
    }
    return facts


def _one(value: Any) -> Any:
    return [float(one) for one in value] if np.ndim(value) else float(value)
