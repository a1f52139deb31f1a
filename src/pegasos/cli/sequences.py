"""Sequences in the CoNLL column format: a token a line, columns of words, an empty line between sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from ..datasets.windows import POSITIONS
from ..io.data import COMPRESSED
from ..io.streams import blocks, opened
from .pipes import standard_input

Token = list[str]  # its columns
Sentence = list[Token]

_ENDINGS = (".conll", ".iob")


def is_conll(path: str) -> bool:
    """What the end of the name says."""
    stem, end = os.path.splitext(path.lower())
    return (os.path.splitext(stem)[1] if end in COMPRESSED else end) in _ENDINGS


def read_sentences(path: str) -> list[Sentence]:
    """Sentences of a file, or of the standard input ("-"). All tokens have as many columns."""
    sentences: list[Sentence] = []
    current: Sentence = []
    place = "standard input" if path == "-" else path
    for number, line in enumerate(_lines(path, place), 1):
        columns = _words(line, place, number)
        if not columns:
            if current:
                sentences.append(current)
                current = []
            continue
        wanted = len(sentences[0][0] if sentences else current[0] if current else columns)
        if len(columns) != wanted:
            raise ValueError(f"{place}:{number}: {len(columns)} columns where the lines before have {wanted}.")
        current.append(columns)
    return [*sentences, current] if current else sentences


def _lines(path: str, place: str) -> Iterator[bytes]:
    with opened(standard_input() if path == "-" else path) as (file, compressed):
        rest = b""
        for block in blocks(file, place, compressed):
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
        yield rest


def _words(line: bytes, place: str, number: int) -> Token:
    """What stands between ASCII blanks: other ones belong to words."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{place}:{number}:{error.start + 1}: the text is not UTF-8.") from None
    return [word.decode() for word in line.split()]


def features(sentence: Sequence[Sequence[str]]) -> list[list[str]]:
    """Names of the features of each token: what stands in each column within two positions, and pairs of neighbours.

    A name begins with the number of its column, so that a model knows how many columns it was trained on.
    """
    n_columns = len(sentence[0]) if sentence else 0
    tokens: list[list[str]] = [[] for _ in sentence]
    for column in range(n_columns):
        words = ["", "", *(token[column] for token in sentence), "", ""]
        pairs = (-1, 0) if column == 0 else (-2, -1, 0, 1)  # pairs of words are rare, and many
        for i, token in enumerate(tokens, 2):
            token += [f"{column}[{j}]={words[i + j]}" for j in POSITIONS]
            token += [f"{column}[{j}]|[{j + 1}]={words[i + j]}|{words[i + j + 1]}" for j in pairs]
            if column:
                token += [f"{column}[{j}]..[{j + 2}]={'|'.join(words[i + j : i + j + 3])}" for j in (-2, -1, 0)]
    return tokens


def n_columns(model: Any) -> int:
    """Columns of words that a model was trained on."""
    try:
        return 1 + max(int(name.partition("[")[0]) for name in model.feature_names_ or ())
    except ValueError:
        raise ValueError("the model was not trained by this command: its features are not those of columns.") from None


def split(sentences: list[Sentence], n_words: int) -> tuple[list[Any], list[list[str]] | None]:
    """Features of the first columns, and the labels in the one after them where there is one."""
    width = len(sentences[0][0]) if sentences else n_words + 1
    if width < n_words:
        raise ValueError(f"the model needs {n_words} columns of words, but the lines have {width}.")
    labels = [[token[n_words] for token in sentence] for sentence in sentences] if width > n_words else None
    return [features([token[:n_words] for token in sentence]) for sentence in sentences], labels
