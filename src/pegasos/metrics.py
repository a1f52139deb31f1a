"""Scores of sequence labelling: precision, recall and F1 of whole chunks, as the CoNLL shared tasks count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

__all__ = ["ChunkScore", "chunk_f1", "chunk_report", "chunks"]

Chunk = tuple[str, int, int]  # type, first token, one past the last


class ChunkScore(NamedTuple):
    """How many chunks are right, were found, and are there to be found."""

    precision: float
    recall: float
    f1: float
    n_right: int
    n_found: int
    n_true: int


def chunk_f1(y_true: Sequence[Sequence[Any]], y_pred: Sequence[Sequence[Any]]) -> float:
    """F1 over all chunks, from 0 to 1: the share that `conlleval` prints in percent as FB1.

    Parameters
    ----------
    y_true, y_pred : lists of label sequences
        Labels are "O", or a letter and a type: "B-NP". The letters tell the scheme: B and I (BIO, IOB2, IOB1), or B, I,
        E and S (IOBES). As in `conlleval`, I-X that follows no X begins a chunk.

    Returns
    -------
    float
        0 where no chunk is right.

    Examples
    --------
    >>> from pegasos.metrics import chunk_f1
    >>> chunk_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "O"]])
    0.6666666666666666
    """
    return chunk_report(y_true, y_pred)["all"].f1


def chunk_report(y_true: Sequence[Sequence[Any]], y_pred: Sequence[Sequence[Any]]) -> dict[str, ChunkScore]:
    """Scores of every type of chunk, and of all together under "all"."""
    if len(y_true) != len(y_pred):
        raise ValueError(f"there are {len(y_true)} true and {len(y_pred)} predicted label sequences.")
    right: Counter[str] = Counter()
    found: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for i, (truth, answer) in enumerate(zip(y_true, y_pred, strict=True)):
        if len(truth) != len(answer):
            raise ValueError(f"sequence {i} has {len(truth)} true and {len(answer)} predicted labels.")
        ours, theirs = set(chunks(answer)), set(chunks(truth))
        right.update(kind for kind, _, _ in ours & theirs)
        found.update(kind for kind, _, _ in ours)
        true.update(kind for kind, _, _ in theirs)
    report = {kind: _score(right[kind], found[kind], true[kind]) for kind in sorted(found.keys() | true.keys())}
    report["all"] = _score(right.total(), found.total(), true.total())
    return report


def _score(right: int, found: int, true: int) -> ChunkScore:
    precision, recall = right / found if found else 0.0, right / true if true else 0.0
    f1 = 2 * right / (found + true) if right else 0.0
    return ChunkScore(precision, recall, f1, right, found, true)


def chunks(labels: Iterable[Any]) -> list[Chunk]:
    """The chunks of one sequence, in order."""
    out: list[Chunk] = []
    begin, before, kind_before = 0, "O", ""
    for t, label in enumerate([*labels, "O"]):
        letter, kind = _split(label, t)
        if before != "O" and _ends(before, kind_before, letter, kind):
            out.append((kind_before, begin, t))
        if letter != "O" and (before == "O" or _ends(before, kind_before, letter, kind)):
            begin = t
        before, kind_before = letter, kind
    return out


def _split(label: Any, token: int) -> tuple[str, str]:
    if not isinstance(label, str) or not label:
        raise ValueError(f"labels of chunks are strings such as 'O' and 'B-NP'; token {token} has {label!r}.")
    letter, _, kind = label.partition("-")
    if letter not in ("B", "I", "E", "S", "O"):
        raise ValueError(f"the label {label!r} (token {token}) begins with none of B, I, E, S and O.")
    return letter, kind


def _ends(before: str, kind_before: str, letter: str, kind: str) -> bool:
    """Whether a chunk ends between two labels of which the first is inside one."""
    return letter in "OBS" or before in "ES" or kind != kind_before
