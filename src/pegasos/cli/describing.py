"""`pegasos info`: what is in a model or in a file of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..io.models import described
from ..io.stored import is_data_file, open_data
from . import screen
from .models import is_liblinear, is_model, model_bytes, model_of
from .rows import Source, read_rows
from .sequences import is_conll, read_sentences


def info(source: Source, top: int, as_json: bool, quiet: bool) -> None:
    """Print it."""
    with screen.guarded(quiet):
        if is_model(source.path):
            facts, weights = _of_model(source.path, top)
        elif source.format == "conll" or (source.format is None and is_conll(source.path)):
            facts, weights = _of_sentences(source.path), {}
        elif is_data_file(source.path):
            facts, weights = _of_data_file(source.path), {}
        else:
            facts, weights = _of_rows(read_rows(source, quiet=quiet)), {}
        _show(facts, weights, as_json)


def _show(facts: dict[str, Any], weights: dict[str, dict[str, float]], as_json: bool) -> None:
    if as_json:
        screen.show(facts | ({"largest weights": weights} if weights else {}), True)
        return
    screen.show(facts, False)
    for name, lines in weights.items():
        screen.show_table(f"largest weights{name and f' of {name}'}", ["feature", "weight"], list(lines.items()))
    if "labels" in facts:
        screen.show_table("labels", ["label", "rows"], list(facts["labels"].items())[:20])


def _of_model(path: str, top: int) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    data = model_bytes(path)
    facts: dict[str, Any] = {"model": "standard input" if path == "-" else path, "bytes": len(data)}
    if not is_liblinear(data):
        said, _, metadata = described(data, str(facts["model"]))
        facts |= {"estimator": said["estimator"], "written by": f"pegasos {metadata.get('package')}"}
        lacking = [name for name, value in said["parameters"].items() if isinstance(value, dict) and "object" in value]
        if lacking:  # code of the user's, without which there is no model
            return facts | {name: said["parameters"][name]["object"] for name in lacking}, {}
    else:
        facts["written by"] = "LIBLINEAR"
    model, notes = model_of(data, path)
    defaults = type(model)().get_params(deep=False)
    for name, value in model.get_params(deep=False).items():
        if name in ("lam", "loss", "kernel") or (not hasattr(value, "__len__") and value != defaults[name]):
            facts[name] = value if isinstance(value, (str, int, float, type(None))) else repr(value)
    if hasattr(model, "classes_"):
        classes = [screen.label(c) for c in model.classes_.tolist()]
        facts["classes"] = ", ".join(classes[:10]) + (f", ... ({len(classes)})" if len(classes) > 10 else "")
    facts["features"] = model.n_features_in_ if hasattr(model, "n_features_in_") else None
    if hasattr(model, "support_"):
        facts["support vectors"] = len(model.support_)
    gap, objective = np.asarray(model.gap_, float), np.asarray(model.objective_, float)
    facts |= {"objective": float(objective.mean()), "gap": float(gap.max()), "converged": bool(model.converged_)}
    facts["epochs"] = float(np.max(model.n_iter_))
    return facts, _largest(model, int(notes.get("first", 0)), top)


def _largest(model: Any, first: int, top: int) -> dict[str, dict[str, float]]:
    """By class: the features with the largest weights, by name or by the number that files give them."""
    coef = getattr(model, "coef_", None)
    if coef is None or top < 1:
        return {}
    names = getattr(model, "feature_names_in_", None)
    names = getattr(model, "feature_names_", None) if names is None else names
    lines: Any = coef if sp.issparse(coef) else np.atleast_2d(coef)
    classes = [screen.label(c) for c in getattr(model, "classes_", np.empty(0)).tolist()]
    of = classes if lines.shape[0] > 1 else classes[1:] or [""]
    found = {}
    for k, name in enumerate(of):
        w = lines[[k]].toarray().ravel() if sp.issparse(lines) else lines[k]
        best = np.argsort(-np.abs(w), kind="stable")[:top]
        found[name] = {str(names[i]) if names is not None else str(i + first): float(w[i]) for i in best if w[i]}
    return found


def _of_rows(rows: Any) -> dict[str, Any]:
    X, m = rows.X, rows.X.shape[0]
    csr = X if sp.issparse(X) else None
    filled = np.diff(csr.indptr) if csr is not None else np.count_nonzero(X, axis=1) if m else np.zeros(0)
    values = csr.data if csr is not None else X
    columns = _rows_of_columns(csr) if csr is not None else np.count_nonzero(X, axis=0)
    unused = X.shape[1] - np.count_nonzero(columns)
    squares = csr.multiply(csr).sum(axis=1) if csr is not None else np.square(np.asarray(X, float)).sum(axis=1)
    facts: dict[str, Any] = {"rows": m, "columns": X.shape[1]}
    if csr is not None:
        facts["first column"] = rows.first
    total = int(filled.sum())
    facts |= {"non-zeros": total, "density": total / max(1, m * X.shape[1])}
    if m:
        facts["non-zeros of a row"] = f"{np.min(filled)} to {np.max(filled)}, median {np.median(filled):g}"
        if X.shape[1]:
            least, most = 0 if unused else np.min(columns), np.max(columns, initial=0)
            middle = 0 if 2 * unused > X.shape[1] else np.median(columns)
            facts["rows of a column"] = f"{least} to {most}, median {middle:g}"
        facts["empty columns"] = int(unused)
        if np.size(values):
            facts["values"] = f"{np.min(values):g} to {np.max(values):g}"
        norms = np.sqrt(np.asarray(squares, float).ravel())
        facts["length of a row"] = f"{norms.min():.4g} to {norms.max():.4g}, median {np.median(norms):.4g}"
    facts |= {"lines left out": rows.bad} if rows.bad else {}
    return facts | _of_labels(rows.y)


def _rows_of_columns(X: Any) -> Any:
    """How many rows each column has; where far the most have none, of the others alone."""
    if X.shape[1] <= 8 * X.nnz + 10**6:
        return np.bincount(X.indices, minlength=X.shape[1])
    return np.unique(X.indices, return_counts=True)[1]


def _of_data_file(path: str) -> dict[str, Any]:
    """All of it is read, and compared with its checksums; little of it is in memory at a time."""
    data = open_data(path, verify=True)
    data.native()
    facts: dict[str, Any] = {
        "rows": data.shape[0],
        "columns": data.shape[1],
        "first column": data.first,
        "numbers": data.nnz,
        "type": str(data.dtype),
        "order": "shuffled" if data.is_shuffled else "as it came",
        "bytes": Path(path).stat().st_size,
        "checksums": "right",
    }
    labels: Any = data.labels
    if data.classes is None:
        return facts | {"target": f"{labels.min():g} to {labels.max():g}, mean {labels.mean():g}"}
    counts = np.bincount(labels.codes)
    order = np.argsort(-counts, kind="stable")
    named = {screen.label(data.classes.tolist()[i]): int(counts[i]) for i in order}
    return facts | {"classes": len(data.classes), "labels": named}


def _of_labels(y: Any) -> dict[str, Any]:
    if y is None or not len(y):
        return {}
    labels, counts = np.unique(y, return_counts=True)
    if y.dtype.kind == "f" and (len(labels) > 100 or (labels != np.floor(labels)).any()):
        return {"target": f"{y.min():g} to {y.max():g}, mean {y.mean():g}, {len(labels)} different values"}
    order = np.argsort(-counts, kind="stable")
    return {"classes": len(labels), "labels": {screen.label(labels.tolist()[i]): int(counts[i]) for i in order}}


def _of_sentences(path: str) -> dict[str, Any]:
    from collections import Counter

    sentences = read_sentences(path)
    lengths = [len(sentence) for sentence in sentences]
    labels = Counter(token[-1] for sentence in sentences for token in sentence)
    facts: dict[str, Any] = {"sequences": len(sentences), "tokens": sum(lengths)}
    if sentences:
        facts["columns"] = len(sentences[0][0])
        facts["tokens of a sequence"] = f"{min(lengths)} to {max(lengths)}, median {np.median(lengths):g}"
        facts["different words"] = len({token[0] for sentence in sentences for token in sentence})
    return facts | {"labels": dict(labels.most_common())}
