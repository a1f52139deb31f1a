"""`pegasos predict` and `tag`: what a model says about rows."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..io.atomic import write_whole
from ..io.data import format_of
from . import screen
from .checks import expect_place
from .models import read_model
from .rows import Aligned, Rows, Source, as_fitted, loaded, note_base, parts_of, read_rows
from .sequences import n_columns, read_sentences, split


def rows_for(model: Any, notes: dict[str, Any], source: Source, quiet: bool, labelled: bool = True) -> Rows:
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
    text = (format or format_of(source.path)) == "svmlight" and sp.issparse(rows.X)
    if text and first == 0 and not quiet and not (rows.X.indices == 0).any():
        note_base(rows.X.shape[1], model.n_features_in_, source.path)
    return aligned(model, notes, rows, quiet)


def aligned(model: Any, notes: dict[str, Any], rows: Rows, quiet: bool) -> Rows:
    """The rows with the columns of the model."""
    known = vars(model).pop("feature_names_in_", None)  # its rows are in order now, and an array has no names
    if hasattr(rows.X, "blocks"):
        first = rows.first if known is not None else notes.get("first", rows.first)
        stay = Aligned(rows.X, model, first, quiet, known)
        X = stay if hasattr(model, "coef_") else loaded(stay)
    else:
        X = as_fitted(rows.X, rows.names, known, model.n_features_in_, quiet)
    return replace(rows, X=X)


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
        expect_place(output)
        model, notes = read_model(model_path)
        if hasattr(model, "transitions_"):
            raise ValueError("this model labels sequences: use `pegasos tag`.")
        if what == "probabilities" and not hasattr(model, "predict_proba"):
            model.predict_proba  # noqa: B018  # says why there are none
        with screen.busy(f"reading {source.path}", quiet):
            X = rows_for(model, notes, source, quiet, labelled=False).X
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
        expect_place(output)
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
