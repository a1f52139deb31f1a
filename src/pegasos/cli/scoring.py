"""`pegasos predict`, `evaluate` and `tag`: what a model says about rows, and how right it is."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ..io.atomic import write_whole
from ..io.data import format_of
from . import screen
from .models import read_model
from .rows import Aligned, Source, as_fitted, loaded, parts_of, read_rows
from .sequences import n_columns, read_sentences, split


def rows_for(model: Any, notes: dict[str, Any], source: Source, quiet: bool, labelled: bool = True) -> tuple[Any, Any]:
    """Rows as the model knows them, and their labels where there are any; labelled: whether they are needed."""
    format = source.format or notes.get("format")
    known = source.target or (None if (format or format_of(source.path)) == "svmlight" else notes.get("target"))
    source = replace(source, format=format, target=known)
    first = None if hasattr(model, "feature_names_in_") else notes.get("first")  # columns with names have no numbers
    try:
        rows = read_rows(source, first, quiet)
    except ValueError:
        if labelled or known is None or source.path == "-":
            raise
        rows = read_rows(replace(source, target=None), first, quiet)  # the labels are not there yet
    if hasattr(rows.X, "blocks"):
        aligned = Aligned(rows.X, model, notes.get("first", rows.first), quiet)
        X = aligned if hasattr(model, "coef_") else loaded(aligned)
    else:
        X = as_fitted(rows.X, rows.names, model, quiet)
    if X is not rows.X or not hasattr(X, "blocks"):
        vars(model).pop("feature_names_in_", None)  # the columns are in order now, and an array has no names
    return X, rows.y


@contextmanager
def text_out(path: str) -> Iterator[Any]:
    """A text file that is there whole or not at all, or the standard output ("-")."""
    if path == "-":
        with screen.bytes_out() as out:
            yield codecs.getwriter("utf-8")(out)
        return
    from io import StringIO

    text = StringIO()
    yield text
    write_whole(path, [text.getvalue().encode()])


def predict(model_path: str, source: Source, output: str, what: str, as_json: bool, quiet: bool) -> None:
    """A line for each row. what: "labels", "scores" or "probabilities"."""
    with screen.guarded(quiet):
        if model_path == source.path == "-":
            raise ValueError("the model and the rows cannot both come from the standard input.")
        model, notes = read_model(model_path)
        if hasattr(model, "transitions_"):
            raise ValueError("this model labels sequences: use `pegasos tag`.")
        if what == "probabilities" and not hasattr(model, "predict_proba"):
            model.predict_proba  # noqa: B018  # says why there are none
        with screen.busy(f"reading {source.path}", quiet):
            X, _ = rows_for(model, notes, source, quiet, labelled=False)
        model.n_jobs = source.threads
        with text_out(output) as out:
            for part in parts_of(X):
                out.writelines(_lines(model, part, what, as_json))
            out.flush()


def _lines(model: Any, X: Any, what: str, as_json: bool) -> Iterator[str]:
    classes = [screen.label(c) for c in model.classes_.tolist()] if hasattr(model, "classes_") else []
    if not classes:  # regression
        for value in model.predict(X).tolist():
            yield f"{json.dumps({'value': value}) if as_json else repr(value)}\n"
        return
    numbers = None
    if what != "labels":
        numbers = model.predict_proba(X) if what == "probabilities" else model.decision_function(X)
    place = dict(zip(model.classes_.tolist(), classes, strict=True))
    for i, found in enumerate(model.predict(X).tolist()):
        line = None if numbers is None else np.atleast_1d(numbers[i]).tolist()
        if as_json:
            fact: dict[str, Any] = {"label": _json_label(found)}
            if line is not None:
                fact[what] = dict(zip(classes if len(line) > 1 else classes[1:], line, strict=True))
            yield json.dumps(fact) + "\n"
        else:
            yield (place[found] if line is None else " ".join(map(repr, line))) + "\n"


def _json_label(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return int(value) if isinstance(value, float) and value == int(value) else value


def tag(model_path: str, path: str, output: str, quiet: bool) -> None:
    """The lines of a CoNLL file, each with the label that the model gives as a further column."""
    with screen.guarded(quiet):
        if model_path == path == "-":
            raise ValueError("the model and the sentences cannot both come from the standard input.")
        model, _ = read_model(model_path)
        if not hasattr(model, "transitions_"):
            raise ValueError(f"this model is a {type(model).__name__}, which labels rows: use `pegasos predict`.")
        sentences = read_sentences(path)
        X, _ = split(sentences, n_columns(model))
        labels = model.predict(X)
        with text_out(output) as out:
            for sentence, found in zip(sentences, labels, strict=True):
                out.writelines(f"{' '.join(token)} {label}\n" for token, label in zip(sentence, found, strict=True))
                out.write("\n")
            out.flush()


def evaluate(model_path: str, source: Source, as_json: bool, quiet: bool) -> None:
    """Print how right a model is."""
    with screen.guarded(quiet):
        if model_path == source.path == "-":
            raise ValueError("the model and the rows cannot both come from the standard input.")
        model, notes = read_model(model_path)
        with screen.busy(f"reading {source.path}", quiet):
            facts = scores_of(model, notes, source, quiet)
        screen.show(facts, as_json)
        if not as_json and "confusion" in facts and len(facts["confusion"]) <= 20:
            names = list(facts["confusion"])
            lines = [[name, *facts["confusion"][name].values()] for name in names]
            screen.show_table("confusion: true classes in lines, predictions in columns", ["", *names], lines)


def scores_of(model: Any, notes: dict[str, Any], source: Source, quiet: bool) -> dict[str, Any]:
    """Accuracy, confusion, F1, AUC and objective; of a regressor errors and R2; of a tagger tokens and chunks."""
    if hasattr(model, "transitions_"):
        return _of_tagger(model, source.path)
    X, y = rows_for(model, notes, source, quiet)
    if y is None:
        raise ValueError(f"{source.path} has no labels to compare with. Name the column that holds them: --target.")
    model.n_jobs = source.threads
    return _of_classifier(model, X, y) if hasattr(model, "classes_") else _of_regressor(model, X, y)


def _of_classifier(model: Any, X: Any, y: Any) -> dict[str, Any]:
    from sklearn.metrics import confusion_matrix, f1_score, roc_auc_score

    scores, found = model.decision_function(X), model.predict(X)
    names = {c: screen.label(c) for c in sorted({*model.classes_.tolist(), *y.tolist()}, key=str)}
    right, answers = [names[c] for c in y.tolist()], [names[c] for c in found.tolist()]
    labels = [screen.label(c) for c in model.classes_.tolist()]
    labels += [name for name in names.values() if name not in labels]
    table = confusion_matrix(right, answers, labels=labels)
    facts: dict[str, Any] = {
        "rows": len(y),
        "accuracy": float(np.mean([a == b for a, b in zip(right, answers, strict=True)])),
    }
    if len(labels) == 2:
        facts["F1"] = float(f1_score(right, answers, pos_label=labels[1], average="binary", zero_division=0.0))
        if len(set(right)) == 2:
            facts["AUC"] = float(roc_auc_score([a == labels[1] for a in right], scores))
    else:
        facts["macro F1"] = float(f1_score(right, answers, average="macro", zero_division=0.0))
    facts |= _objective(model, y, scores if scores.ndim == 2 else scores[:, None])
    facts["confusion"] = {
        a: {b: int(n) for b, n in zip(labels, line, strict=True)} for a, line in zip(labels, table, strict=True)
    }
    return facts


def _of_regressor(model: Any, X: Any, y: Any) -> dict[str, Any]:
    if y.dtype.kind not in "biuf":
        raise ValueError(f"this model predicts numbers, and the rows have labels that are none, such as {y[0]!r}.")
    found = model.predict(X)
    errors, spread = found - y, float(np.square(y - np.mean(y)).sum())
    facts = {
        "rows": len(y),
        "MAE": float(np.abs(errors).mean()),
        "RMSE": float(np.sqrt(np.square(errors).mean())),
        "R2": 1.0 - float(np.square(errors).sum()) / spread if spread > 0 else float("nan"),
    }
    return facts | _objective(model, y, found[:, None])


def _objective(model: Any, y: Any, scores: Any) -> dict[str, Any]:
    """The mean loss on these rows, and f where w is there to be measured. One against the rest: means over classes."""
    from ..losses import bound_loss
    from ..losses.costs import loss_of_classes

    if hasattr(model, "classes_"):
        place = {c: i for i, c in enumerate(model.classes_.tolist())}
        if any(c not in place for c in y.tolist()) or getattr(model, "_in_pairs", False):
            return {}
        codes = np.array([place[c] for c in y.tolist()], np.int32)
        loss = loss_of_classes(model, model.classes_)
        if loss.joint:
            if scores.shape[1] == 1:  # how far the second is ahead
                scores = np.column_stack([np.zeros(len(y)), scores[:, 0]])
            values = loss.value(scores, codes)
        else:
            signs = np.where(np.arange(len(place))[None, :] == codes[:, None], 1.0, -1.0)
            values = loss.value(scores, signs[:, -scores.shape[1] :])
    else:
        loss = bound_loss(model.loss, epsilon=float(model.epsilon))
        values = loss.value(scores, np.asarray(y, float)[:, None])
    facts = {"mean loss": float(np.mean(values))}
    if hasattr(model, "coef_") and not np.isnan(model.objective_).any():  # LIBLINEAR's files do not know lam
        w = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.atleast_2d(model.coef_)
        squares = float(np.square(w).sum()) + (
            float(np.square(model.intercept_).sum()) if model.bias == "regularized" else 0.0
        )
        lam = model.lam_ if hasattr(model, "lam_") else model.lam  # a search has chosen it
        facts["objective"] = facts["mean loss"] + 0.5 * lam * squares / (1 if loss.joint else len(w))
    return facts


def _of_tagger(model: Any, path: str) -> dict[str, Any]:
    from ..metrics import chunk_f1

    X, labels = split(read_sentences(path), n_columns(model))
    if labels is None:
        raise ValueError(f"{path} has no column of labels to compare with.")
    found = model.predict(X)
    pairs = [(a, b) for one, other in zip(labels, found, strict=True) for a, b in zip(one, other, strict=True)]
    facts: dict[str, Any] = {"sequences": len(labels), "tokens": len(pairs)}
    facts["accuracy"] = float(np.mean([a == b for a, b in pairs]))
    facts["whole sequences"] = float(np.mean([a == b for a, b in zip(labels, found, strict=True)]))
    if all(label == "O" or label[:2] in ("B-", "I-", "E-", "S-") for label, _ in pairs):
        facts["chunk F1"] = float(chunk_f1(labels, found))
    return facts
