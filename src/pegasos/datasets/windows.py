"""The usual features of chunking: words and parts of speech within two positions."""

from __future__ import annotations

from collections.abc import Sequence

POSITIONS = (-2, -1, 0, 1, 2)  # of the tokens that are looked at


def window_features(sentence: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Features of each token of a sentence, all binary.

    Words and parts of speech within two positions, bigrams of words at the token, bigrams and trigrams of parts of
    speech in the window: those of crfsuite's own chunking example.

    Parameters
    ----------
    sentence : list of tuple
        (word, part of speech, ...) for each token, as `load_conll2000` has them.

    Returns
    -------
    list of list of str
        Names of features, for `PegasosSequenceTagger`.
    """
    words = ["", "", *(token[0] for token in sentence), "", ""]
    tags = ["", "", *(token[1] for token in sentence), "", ""]
    tokens = []
    for i in range(2, len(words) - 2):
        token = [f"w[{j}]={words[i + j]}" for j in POSITIONS]
        token += [f"w[{j}]|w[{j + 1}]={words[i + j]}|{words[i + j + 1]}" for j in (-1, 0)]
        token += [f"p[{j}]={tags[i + j]}" for j in POSITIONS]
        token += [f"p[{j}]|p[{j + 1}]={tags[i + j]}|{tags[i + j + 1]}" for j in POSITIONS[:-1]]
        token += [f"p[{j}]..p[{j + 2}]={tags[i + j]}|{tags[i + j + 1]}|{tags[i + j + 2]}" for j in POSITIONS[:-2]]
        tokens.append(token)
    return tokens
