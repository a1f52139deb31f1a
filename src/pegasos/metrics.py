"""Scores of sequence labelling: precision, recall and F1 of whole chunks, as the CoNLL shared tasks count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
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


def chunk_f1(y_true: Sequence[Any], y_pred: Sequence[Any], lengths: Any = None) -> float:
    """F1 over all chunks, from 0 to 1: the share that `conlleval` prints in percent as FB1.

    Parameters
    ----------
    y_true, y_pred : lists of label sequences
        Labels are "O", or a letter and a type: "B-NP". The letters tell the scheme: B and I (BIO, IOB2, IOB1), or B, I,
        E and S (IOBES). As in `conlleval`, I-X that follows no X begins a chunk. With `lengths` one label a token.
    lengths : array of int, default=None
        Tokens of each sequence, where labels stand one after another, as those of a stacked matrix do.

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
    right, found, true = _count(y_true, y_pred, lengths)
    return _score(right.total(), found.total(), true.total()).f1


def chunk_report(y_true: Sequence[Any], y_pred: Sequence[Any], lengths: Any = None) -> dict[str, ChunkScore]:
    """Scores of every type of chunk, and of all together under "all"."""
    right, found, true = _count(y_true, y_pred, lengths)
    report = {kind: _score(right[kind], found[kind], true[kind]) for kind in sorted(found.keys() | true.keys())}
    if "all" in report:
        raise ValueError("a type of chunk is named 'all', which stands for all of them here: give it another name.")
    report["all"] = _score(right.total(), found.total(), true.total())
    return report


def _count(
    y_true: Sequence[Any], y_pred: Sequence[Any], lengths: Any
) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Of every type the chunks that are right, were found, and are there."""
    y_true, y_pred = _sequences(y_true, "y_true", lengths), _sequences(y_pred, "y_pred", lengths)
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
    return right, found, true


def _sequences(labels: Sequence[Any], name: str, lengths: Any) -> Sequence[Sequence[Any]]:
    """Labels cut into sequences, if they are not yet."""
    if len(labels) and isinstance(labels[0], str) != (lengths is not None):
        kind = "labels one after another" if lengths is None else "a list of sequences already"
        raise ValueError(f"{name} is {kind}; lengths=, the number of tokens of each sequence, goes with the former.")
    if lengths is None:
        return labels
    ends = [0, *accumulate(int(n) for n in lengths)]
    if ends[-1] != len(labels) or any(b < a for a, b in pairwise(ends)):
        raise ValueError(f"lengths must be >= 0 and add up to the {len(labels)} labels of {name}, not to {ends[-1]}.")
    return [labels[a:b] for a, b in pairwise(ends)]


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
