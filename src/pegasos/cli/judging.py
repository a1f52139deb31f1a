"""`pegasos evaluate` and `train --test`: how right a model is. Rows are judged a block at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..memory import taken
from . import screen
from .models import read_model
from .rows import Rows, Source, parts_of
from .scoring import rows_for
from .sequences import n_columns, read_sentences, split

_NUMBERS = 1 << 20  # in a block, about
_ROOM = 16_000_000  # bytes: for blocks, beside the scores that AUC needs


def evaluate(model_path: str, source: Source, as_json: bool, quiet: bool) -> None:
    """Print how right a model is."""
    with screen.guarded(quiet):
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
    return judged(model, rows_for(model, notes, source, quiet), source)


def judged(model: Any, rows: Rows, source: Source, memory: int | None = None) -> dict[str, Any]:
    """The same of rows with the model's columns. memory: that the process may take; AUC is left out where it would be
    more.
    """
    if rows.y is None:
        raise ValueError(f"{source.path} has no labels to compare with. Name the column that holds them: --target.")
    if not len(rows.y):
        raise ValueError(f"{source.path} has no rows.")
    model.n_jobs = source.threads
    facts = _of_classifier(model, rows, memory) if hasattr(model, "classes_") else _of_regressor(model, rows)
    return facts | ({"lines left out": rows.bad} if rows.bad else {})


def _blocks(rows: Rows) -> Iterator[tuple[Any, Any]]:
    """Rows and their labels."""
    X, y, at = rows.X, rows.y, 0
    numbers = getattr(getattr(X, "data", None), "nnz", None)  # of rows that stay in their file
    size = 8192 if numbers is None else max(1, min(8192, _NUMBERS * len(y) // max(1, numbers)))
    for part in parts_of(X, size):
        some = slice(at, at + part.shape[0])
        at = some.stop
        yield part, y.classes[y.codes[some]] if hasattr(y, "codes") else np.asarray(y[some])


class _Ranking:
    """Scores of two classes: those of the second from the front, those of the first from the back."""

    def __init__(self, count: int) -> None:
        self._scores, self._front, self._back = np.empty(count), 0, count

    def add(self, scores: Any, second: Any) -> None:
        for chosen, above in ((scores[second], True), (scores[~second], False)):
            at = self._front if above else self._back - len(chosen)
            self._scores[at : at + len(chosen)] = chosen
            self._front, self._back = (at + len(chosen), self._back) if above else (self._front, at)

    def auc(self) -> float | None:
        """How often one of the second class has the higher score, an equal one counted half. All in place."""
        second, first = self._scores[: self._front], self._scores[self._front :]
        second.sort()
        first.sort()
        if not len(first) or not len(second) or np.isnan(first[-1]) or np.isnan(second[-1]):
            return None
        wins = 0
        for at in range(0, len(second), 1 << 16):
            some = second[at : at + (1 << 16)]
            wins += sum(int(np.searchsorted(first, some, side).sum()) for side in ("left", "right"))
        return wins / (2 * len(first) * len(second))


def _ranking(model: Any, rows: Rows, memory: int | None) -> _Ranking | None:
    if len(model.classes_) != 2:
        return None
    if memory is not None and taken() + _ROOM + 8 * len(rows.y) > memory:
        screen.note("AUC is left out: it needs the scores of all rows, 8 bytes each, for which --memory has no room.")
        return None
    return _Ranking(len(rows.y))


def _of_classifier(model: Any, rows: Rows, memory: int | None) -> dict[str, Any]:
    labels = [screen.label(c) for c in model.classes_.tolist()]
    ranking, mean = _ranking(model, rows, memory), _MeanLoss(model)
    table: Counter[tuple[str, str]] = Counter()  # of true and found labels
    others: dict[str, Any] = {}  # labels that the model does not know
    for X, y in _blocks(rows):
        scores, found = model.decision_function(X), model.predict(X)
        right, codes = np.unique(y, return_inverse=True)
        answers, places = np.unique(found, return_inverse=True)
        pairs, counts = np.unique(codes.ravel() * len(answers) + places.ravel(), return_counts=True)
        names, said = ([screen.label(c) for c in each.tolist()] for each in (right, answers))
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            table[names[pair // len(answers)], said[pair % len(answers)]] += count
        others |= {name: c for name, c in zip(names, right.tolist(), strict=True) if name not in labels}
        if ranking is not None:
            ranking.add(scores, np.array([name == labels[1] for name in names])[codes.ravel()])
        mean.add(y, scores if scores.ndim == 2 else scores[:, None])
    labels += sorted(others, key=lambda name: str(others[name]))
    matrix = np.array([[table[a, b] for b in labels] for a in labels])
    hits, spread = np.diag(matrix), matrix.sum(axis=0) + matrix.sum(axis=1)
    f1 = 2 * hits / np.maximum(1, spread)
    facts: dict[str, Any] = {"rows": len(rows.y), "accuracy": float(hits.sum() / max(1, matrix.sum()))}
    if len(labels) == 2:
        facts["F1"] = float(f1[1])
        auc = ranking.auc() if ranking is not None else None
        facts |= {} if auc is None else {"AUC": auc}
    else:
        facts["macro F1"] = float(f1[spread > 0].mean())
    facts |= mean.facts()
    facts["confusion"] = {
        a: {b: int(n) for b, n in zip(labels, line, strict=True)} for a, line in zip(labels, matrix, strict=True)
    }
    return facts


def _of_regressor(model: Any, rows: Rows) -> dict[str, Any]:
    m, mean, loss = 0, 0.0, _MeanLoss(model)
    wrong = squares = spread = 0.0
    for X, y in _blocks(rows):
        if y.dtype.kind not in "biuf":
            raise ValueError(f"this model predicts numbers, and the rows have labels that are none, such as {y[0]!r}.")
        found = model.predict(X)
        errors, here = found - y, float(np.mean(y))
        wrong += float(np.abs(errors).sum())
        squares += float(np.square(errors).sum())
        total = m + len(y)  # the spread of two parts is theirs and that of their means
        spread += float(np.square(y - here).sum()) + (here - mean) ** 2 * m * len(y) / total
        mean, m = mean + (here - mean) * len(y) / total, total
        loss.add(y, found[:, None])
    facts = {
        "rows": m,
        "MAE": wrong / m,
        "RMSE": float(np.sqrt(squares / m)),
        "R2": 1.0 - squares / spread if spread > 0 else float("nan"),
    }
    return facts | loss.facts()


class _MeanLoss:
    """The mean loss, and f where w is there to be measured. One against the rest: means over classes."""

    def __init__(self, model: Any) -> None:
        from ..losses import bound_loss
        from ..losses.costs import loss_of_classes

        self._model, self._sum, self._count = model, 0.0, 0
        self._known = not getattr(model, "_in_pairs", False)  # whether all labels so far are of the model
        self._place: dict[Any, int] = {}
        if hasattr(model, "classes_"):
            self._place = {c: i for i, c in enumerate(model.classes_.tolist())}
            self._loss: Any = loss_of_classes(model, model.classes_)
        else:
            self._loss = bound_loss(model.loss, epsilon=float(model.epsilon))

    def add(self, y: Any, scores: Any) -> None:
        if not self._known:
            return
        if not self._place:
            values = self._loss.value(scores, np.asarray(y, float)[:, None])
        else:
            codes = np.array([self._place.get(c, -1) for c in y.tolist()], np.int32)
            self._known = bool((codes >= 0).all())
            if not self._known:
                return
            if self._loss.joint:
                if scores.shape[1] == 1:  # how far the second is ahead
                    scores = np.column_stack([np.zeros(len(y)), scores[:, 0]])
                values = self._loss.value(scores, codes)
            else:
                signs = np.where(np.arange(len(self._place))[None, :] == codes[:, None], 1.0, -1.0)
                values = self._loss.value(scores, signs[:, -scores.shape[1] :])
        self._sum += float(np.sum(values))
        self._count += np.size(values)

    def facts(self) -> dict[str, Any]:
        model = self._model
        if not self._known:
            return {}
        facts = {"mean loss": self._sum / self._count}
        if hasattr(model, "coef_") and not np.isnan(model.objective_).any():  # LIBLINEAR's files do not know lam
            w = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.atleast_2d(model.coef_)
            squares = float(np.square(w).sum()) + (
                float(np.square(model.intercept_).sum()) if model.bias == "regularized" else 0.0
            )
            lam = model.lam_ if hasattr(model, "lam_") else model.lam  # a search has chosen it
            facts["objective"] = facts["mean loss"] + 0.5 * lam * squares / (1 if self._loss.joint else len(w))
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
