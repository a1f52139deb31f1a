"""Tag a sentence, and see which weights decided: in colour in the terminal, the transitions as a picture.

With CoNLL-2000 at hand (`PEGASOS_DATA`) the tagger finds chunks of real sentences; without, of sentences from a small
grammar.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from _picture import plt, save

from pegasos import PegasosSequenceTagger, datasets

Token = tuple[str, str, str]
COLOURS = {"NP": 34, "VP": 32, "PP": 35, "ADJP": 33, "ADVP": 36}  # ANSI: blue, green, purple, yellow, cyan
GRAMMAR: dict[str, list[list[Token]]] = {
    "NP": [
        [("the", "DT", "B-NP"), ("old", "JJ", "I-NP"), ("cat", "NN", "I-NP")],
        [("a", "DT", "B-NP"), ("dog", "NN", "I-NP")],
        [("rates", "NNS", "B-NP")],
        [("it", "PRP", "B-NP")],
        [("some", "DT", "B-NP"), ("new", "JJ", "I-NP"), ("car", "NN", "I-NP"), ("sales", "NNS", "I-NP")],
    ],
    "VP": [
        [("fell", "VBD", "B-VP")],
        [("has", "VBZ", "B-VP"), ("seen", "VBN", "I-VP")],
        [("will", "MD", "B-VP"), ("not", "RB", "I-VP"), ("buy", "VB", "I-VP")],
    ],
    "PP": [[("in", "IN", "B-PP")], [("of", "IN", "B-PP")]],
}


def sentences(n: int, seed: int = 0) -> list[list[Token]]:
    """From the grammar: NP VP NP (PP NP)* ."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        parts = ["NP", "VP", "NP"] + ["PP", "NP"] * int(rng.integers(3))
        chosen = [GRAMMAR[part][int(rng.integers(len(GRAMMAR[part])))] for part in parts]
        out.append([token for chunk in chosen for token in chunk] + [(".", ".", "O")])
    return out


def corpus() -> tuple[list[list[Token]], list[Token]]:
    """Sentences to learn from, and one to tag."""
    if datasets.missing("conll2000"):
        *train, shown = sentences(200)
        return train, shown
    train, test = datasets.load_conll2000()
    return train[:1500], next(s for s in test if 8 <= len(s) <= 14)


def reasons(
    tagger: PegasosSequenceTagger, features: Sequence[Sequence[str]], labels: Sequence[str], t: int
) -> list[Any]:
    """What spoke for the label of token t, against the next best one: (weight, name), the largest first."""
    place = {name: j for j, name in enumerate(tagger.feature_names_ or [])}
    codes = {label: k for k, label in enumerate(tagger.classes_)}
    coef, steps = tagger.coef_.tocsc(), tagger.transitions_
    columns = [j for j in (place.get(name) for name in features[t]) if j is not None]
    totals = np.asarray(coef[:, columns].sum(axis=1)).ravel()
    if t:
        totals += steps[codes[labels[t - 1]]]  # a rival must be allowed
    ends = [*([("first", tagger.start_)] if t == 0 else []), *([("last", tagger.end_)] if t == len(labels) - 1 else [])]
    for _, weights in ends:
        totals += weights
    k = codes[labels[t]]
    totals[k] = -np.inf
    rival = int(totals.argmax())
    found = [(float(coef[k, j] - coef[rival, j]), (tagger.feature_names_ or [])[j]) for j in columns]
    if t:
        before = codes[labels[t - 1]]
        found.append((float(steps[before, k] - steps[before, rival]), f"after {labels[t - 1]}"))
    found += [(float(weights[k] - weights[rival]), name) for name, weights in ends]
    return [f"not {tagger.classes_[rival]}", *sorted(found, key=lambda pair: -abs(pair[0]))[:3]]


def coloured(text: str, label: str) -> str:
    colour = COLOURS.get(label.partition("-")[2], 0)
    return text if "NO_COLOR" in os.environ or not colour else f"\x1b[1;{colour}m{text}\x1b[0m"


def show(tagger: PegasosSequenceTagger, sentence: list[Token]) -> list[str]:
    """Print the sentence in colours, and why. Returns the labels."""
    features = datasets.window_features(sentence)
    (labels,) = tagger.predict([features])
    probabilities = tagger.predict_marginals([features])[0].max(axis=1)
    print(" ".join(coloured(token[0], label) for token, label in zip(sentence, labels, strict=True)), end="\n\n")
    for t, (token, label) in enumerate(zip(sentence, labels, strict=True)):
        rival, *why = reasons(tagger, features, labels, t)
        said = ", ".join(f"{weight:+.2f} {name}" for weight, name in why)
        print(f"{coloured(f'{token[0]:>14}', label)}  {label:<7} {probabilities[t]:4.0%}  {rival}: {said}")
    return labels


def picture(tagger: PegasosSequenceTagger) -> Any:
    """The transition weights: from a row's label to a column's."""
    often = [
        k
        for k, label in enumerate(tagger.classes_)
        if label.partition("-")[2] in ("", "NP", "VP", "PP", "ADJP", "ADVP")
    ]
    steps = tagger.transitions_[np.ix_(often, often)]
    names = tagger.classes_[often]
    figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    finite = np.abs(steps[np.isfinite(steps)]).max()
    shades = plt.get_cmap("RdBu").with_extremes(bad="#d0d0d0")
    image = axes.imshow(np.where(np.isfinite(steps), steps, np.nan), cmap=shades, vmin=-finite, vmax=finite)
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("to")
    axes.set_ylabel("from")
    axes.grid(False)
    axes.set_title("Transition weights; grey: forbidden")
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def main() -> PegasosSequenceTagger:
    train, shown = corpus()
    X = [datasets.window_features(sentence) for sentence in train]
    y = [[token[2] for token in sentence] for sentence in train]
    tagger = PegasosSequenceTagger(loss="log", lam=2 / len(X), allowed="BIO", n_jobs=2).fit(X, y)
    print(
        f"{len(X)} sentences, objective {tagger.objective_:.4f}, proven to be within {tagger.gap_:.2g} of the minimum\n"
    )
    show(tagger, shown)
    return tagger


if __name__ == "__main__":
    save(picture(main()), "sequences")
