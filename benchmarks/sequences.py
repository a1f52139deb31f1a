"""Sequences: CoNLL-2000 chunking against python-crfsuite, and the structured hinge to a certified tol.

    python benchmarks/sequences.py [--quick] [--threads 2] [--part contest decoding hinge lam]

Same features, same pairs of feature and label, same transitions, no weights of first and last label. crfsuite's c2 is
lam m / 2. Ours is timed to the objective that crfsuite stops at, from its own history, conversion included; theirs
includes handing over the sequences. Ratios of one run count, seconds do not. Without the data, generated text is used.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from pegasos import PegasosSequenceTagger, datasets
from pegasos.metrics import chunk_f1

Sequences = list[list[list[str]]]
Labels = list[list[str]]
C2 = 1.0
LAMBDAS = (0.5, 1.0, 2.0, 4.0)  # times 1 / number of sequences
warnings.simplefilter("ignore")


def generated(n: int, seed: int) -> tuple[Sequences, Labels]:
    """Sentences of a hidden chain of five labels, whose words depend on them."""
    rng = np.random.default_rng(seed)
    steps = rng.dirichlet(np.full(5, 0.3), size=5)
    X, y = [], []
    for _ in range(n):
        labels = [int(rng.integers(5))]
        for _ in range(int(rng.integers(5, 30))):
            labels.append(int(rng.choice(5, p=steps[labels[-1]])))
        words = [f"{k if rng.uniform() < 0.7 else rng.integers(5)}-{int(rng.zipf(1.5)) % 2000}" for k in labels]
        sentence = [(word, word[0], "") for word in words]
        X.append(datasets.window_features(sentence))
        y.append([f"B-{k}" for k in labels])
    return X, y


def load(quick: bool) -> tuple[str, Sequences, Labels, Sequences, Labels]:
    if quick or datasets.missing("conll2000"):
        return ("generated", *generated(300 if quick else 5000, 0), *generated(100 if quick else 1000, 1))
    train, test = datasets.load_conll2000()
    parts: list[Any] = ["CoNLL-2000"]
    for part in (train, test):
        parts += [[datasets.window_features(s) for s in part], [[token[2] for token in s] for s in part]]
    return tuple(parts)  # type: ignore[return-value]  # five parts, as above


def crfsuite(X: Sequences, y: Labels, algorithm: str, pairs: str, folder: Path) -> tuple[float, float, Path]:
    """Seconds, the objective per sequence it ends with, the model."""
    import pycrfsuite

    class Quiet(pycrfsuite.Trainer):  # type: ignore[misc]  # no type hints
        said = ""

        def message(self, message: str) -> None:
            self.said += message

    path = folder / f"{algorithm}-{pairs}.crfsuite"
    began = time.perf_counter()
    trainer = Quiet(verbose=True)
    trainer.select(algorithm)
    trainer.set_params({"c2": C2, "feature.possible_states": pairs == "all", "feature.possible_transitions": True})
    for sequence, labels in zip(X, y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sequence), labels)
    trainer.train(str(path))
    seconds = time.perf_counter() - began
    losses = [float(loss) for loss in re.findall(r"Loss: ([\d.]+)", trainer.said)]
    return seconds, (losses[-1] if losses else np.nan) / len(X), path


def ours(X: Sequences, y: Labels, **params: Any) -> tuple[float, PegasosSequenceTagger]:
    began = time.perf_counter()
    model = PegasosSequenceTagger(lam=2 * C2 / len(X), boundaries="none", **params).fit(X, y)
    return time.perf_counter() - began, model


def time_to(model: PegasosSequenceTagger, objective: float) -> float:
    """Seconds until the history has it; what came before the first line is in its clock."""
    reached = np.flatnonzero(model.history_["objective"] <= objective)
    return float(model.history_["seconds"][reached[0]]) if reached.size else np.inf


def contest(X: Sequences, y: Labels, X_test: Sequences, y_test: Labels, threads: int, folder: Path) -> None:
    for pairs in ("seen", "all"):
        for algorithm in ("lbfgs", "l2sgd"):
            seconds, objective, path = crfsuite(X, y, algorithm, pairs, folder)
            f1 = chunk_f1(y_test, decode(path, X_test)[1])
            print(
                f"{pairs:>4} pairs  crfsuite {algorithm}: {seconds:.1f} s, objective {objective:.5f}, F1 {100 * f1:.2f}"
            )
            for n in sorted({1, threads}):
                _, model = ours(X, y, loss="log", pairs=pairs, tol=1e-5, n_jobs=n, max_time=seconds)
                took = time_to(model, objective)
                good = 100 * chunk_f1(y_test, model.predict(X_test))
                faster = f"{seconds / took:.1f} times faster"
                print(f"      ours, {n} threads: {took:.1f} s to that objective, {faster}; F1 {good:.2f}")


def decode(path: Path, X: Sequences) -> tuple[float, Labels]:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    began = time.perf_counter()
    found = [tagger.tag(sequence) for sequence in X]
    return time.perf_counter() - began, found


def decoding(X: Sequences, y: Labels, X_test: Sequences, folder: Path) -> None:
    _, _, path = crfsuite(X[:1000], y[:1000], "l2sgd", "seen", folder)
    _, model = ours(X[:1000], y[:1000], loss="log")
    theirs, mine = [], []
    for _ in range(5):
        theirs.append(decode(path, X_test)[0])
        began = time.perf_counter()
        model.predict(X_test)
        mine.append(time.perf_counter() - began)
    print(
        f"decoding from lists of strings: {np.median(theirs) / np.median(mine):.1f} times faster than crfsuite's tagger"
    )


def hinge(X: Sequences, y: Labels, X_test: Sequences, y_test: Labels, threads: int) -> None:
    for tol in (1e-2, 1e-3):
        seconds, model = ours(X, y, loss="hinge", tol=tol, n_jobs=threads)
        f1 = 100 * chunk_f1(y_test, model.predict(X_test))
        print(f"structured hinge to a certified {tol:g}: {seconds:.1f} s, {model.n_iter_:.0f} epochs; F1 {f1:.2f}")


def choose_lam(X: Sequences, y: Labels, X_test: Sequences, y_test: Labels, threads: int) -> None:
    """The best lam by the last tenth of the training set; the test set is looked at once."""
    cut = len(X) * 9 // 10
    scores = {}
    for loss in ("log", "hinge"):
        for times in LAMBDAS:
            model = PegasosSequenceTagger(lam=times / cut, loss=loss, n_jobs=threads).fit(X[:cut], y[:cut])
            scores[loss, times] = chunk_f1(y[cut:], model.predict(X[cut:]))
            print(f"  {loss}, lam = {times:g}/m: F1 {100 * scores[loss, times]:.2f} on the held-out part")
    loss, times = max(scores, key=lambda key: scores[key])
    final = PegasosSequenceTagger(lam=times / len(X), loss=loss, n_jobs=threads).fit(X, y)
    print(f"chosen: {loss}, lam = {times:g}/m; test F1 {100 * chunk_f1(y_test, final.predict(X_test)):.2f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a small generated problem")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--part", nargs="*", default=["contest", "decoding", "hinge", "lam"])
    given = options.parse_args()
    name, X, y, X_test, y_test = load(given.quick)
    print(f"{name}: {len(X)} sequences, {sum(map(len, X))} tokens")
    with tempfile.TemporaryDirectory() as folder:
        try:
            import pycrfsuite  # noqa: F401  # only to see whether it is there
        except ImportError:
            print("python-crfsuite is not installed: its contests are skipped.")
        else:
            if "contest" in given.part:
                contest(X, y, X_test, y_test, given.threads, Path(folder))
            if "decoding" in given.part:
                decoding(X, y, X_test, Path(folder))
    if "hinge" in given.part:
        hinge(X, y, X_test, y_test, given.threads)
    if "lam" in given.part:
        choose_lam(X, y, X_test, y_test, given.threads)


if __name__ == "__main__":
    main()
