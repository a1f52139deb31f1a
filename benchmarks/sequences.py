"""Sequences: CoNLL-2000 chunking against python-crfsuite, and the structured hinge to a certified tol.

    python benchmarks/sequences.py [--quick] [--threads 2] [--part contest decoding converting hinge lam] [--peer lbfgs]
                                   [--pairs seen all] [--loss log hinge] [--sequences 2000] [--save sequences]

Same features, same pairs of feature and label, same transitions, no weights of first and last label; crfsuite's c2 is
lam m / 2. Ours is timed to the objective that crfsuite stops at, and to a test F1 as good as its own, from lists of
strings on: conversion is in it, as theirs includes handing over the sequences. One thread is measured in CPU time,
which other work hardly changes, more by the clock. Without the data, generated text is used.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import contest
import numpy as np
from contest import Finding
from scipy.sparse import csr_matrix
from sklearn.metrics import make_scorer

from pegasos import Pegasos, PegasosSequenceTagger, PegasosSequenceTaggerCV, datasets
from pegasos.metrics import chunk_f1
from pegasos.structured.tokens import read

Sequences = list[list[list[str]]]
Labels = list[list[str]]
C2 = 1.0
LAMBDAS = (8.0, 4.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)  # times 1 / number of sequences
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


def load(quick: bool, most: int | None) -> tuple[str, Sequences, Labels, Sequences, Labels]:
    """most: sequences of the training set, whose number is in the name then."""
    name, X, y, *test = _load(quick)
    return (name if most is None else f"{name}:{most}", X[:most], y[:most], *test)  # type: ignore[return-value]


def _load(quick: bool) -> Any:
    if quick or datasets.missing("conll2000"):
        return ("generated", *generated(300 if quick else 5000, 0), *generated(100 if quick else 1000, 1))
    train, test = datasets.load_conll2000()
    parts: list[Any] = ["conll2000"]
    for part in (train, test):
        parts += [[datasets.window_features(s) for s in part], [[token[2] for token in s] for s in part]]
    return parts


class Clock:
    """Seconds: by the clock, or of this process where only one thread works."""

    def __init__(self, threads: int) -> None:
        self.now: Callable[[], float] = time.process_time if threads == 1 else time.perf_counter
        self.began = self.now()

    def seconds(self) -> float:
        return self.now() - self.began


class Bench:
    """Findings, printed as they come."""

    def __init__(self, data: tuple[str, Sequences, Labels, Sequences, Labels], threads: int) -> None:
        self.name, self.X, self.y, self.X_test, self.y_test = data
        self.threads = sorted({1, threads})
        self.findings: list[Finding] = []

    def add(self, what: str, against: str, ours: float, theirs: float, target: float | None, **more: Any) -> None:
        found = Finding(what, self.name, against, ours, theirs, target, **({"sense": "faster"} | more))
        self.findings.append(found)
        contest.print_finding(found)

    def f1(self, predicted: Labels) -> float:
        return 100 * chunk_f1(self.y_test, predicted)

    def fit(self, threads: int = 1, **params: Any) -> tuple[float, PegasosSequenceTagger]:
        clock = Clock(threads)
        lam = 2 * C2 / len(self.X)
        model = PegasosSequenceTagger(lam=lam, boundaries="none", n_jobs=threads, **params).fit(self.X, self.y)
        return clock.seconds(), model


class Peer:
    """python-crfsuite, trained once: its seconds by both clocks, its objective a sequence, its model."""

    def __init__(self, bench: Bench, algorithm: str, pairs: str, folder: Path) -> None:
        import pycrfsuite

        class Quiet(pycrfsuite.Trainer):  # type: ignore[misc]  # no type hints
            said = ""

            def message(self, message: str) -> None:
                self.said += message

        self.path = folder / f"{algorithm}-{pairs}.crfsuite"
        clocks = {1: Clock(1), 2: Clock(2)}
        trainer = Quiet(verbose=True)
        trainer.select(algorithm)
        trainer.set_params({"c2": C2, "feature.possible_states": pairs == "all", "feature.possible_transitions": True})
        for sequence, labels in zip(bench.X, bench.y, strict=True):
            trainer.append(pycrfsuite.ItemSequence(sequence), labels)
        trainer.train(str(self.path))
        self.seconds = {threads: clock.seconds() for threads, clock in clocks.items()}
        self.epochs = len(re.findall(r"Loss: ([\d.]+)", trainer.said))

    def tagger(self) -> Any:
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(self.path))
        return tagger

    def tag(self, X: Sequences) -> Labels:
        return list(map(self.tagger().tag, X))

    def objective(self, bench: Bench, pairs: str) -> float:
        """f(w) of its weights, by our own forward-backward: what `l2sgd` prints is a sum over moving weights."""
        model = bench.fit(loss="log", pairs=pairs, solver=Pegasos(T=1))[1]
        model._w = weights_of(self.tagger().info(), model)
        logs = model.labelling_log_proba(bench.X, bench.y)
        return float(C2 * (model._w @ model._w) - logs.sum()) / len(bench.X)


def weights_of(dump: Any, model: PegasosSequenceTagger) -> Any:
    """The weights of a crfsuite model in the shape of ours."""
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    column = {name: j for j, name in enumerate(model.feature_names_ or [])}
    emission = np.zeros((len(column), len(place)))
    for (name, label), weight in dump.state_features.items():
        emission[column[name], place[label]] = weight
    shape, zero = model._shape, np.zeros(len(place))
    steps = np.zeros((len(place), len(place)))
    for (before, after), weight in dump.transitions.items():
        steps[place[before], place[after]] = weight
    if shape.seen is not None:
        emission = emission[np.repeat(np.arange(len(column)), np.diff(shape.seen[0])), shape.seen[1]]
    return shape.vector(emission, steps, zero, zero)


def share_until(model: PegasosSequenceTagger, objective: float) -> float:
    """Which part of a fit had passed when its history had this objective; infinity: it never has."""
    lines = model.history_
    reached = np.flatnonzero(lines["objective"] <= objective)
    return float(lines["seconds"][reached[0]] / lines["seconds"][-1]) if reached.size else np.inf


def training(bench: Bench, algorithm: str, pairs: str, folder: Path) -> None:
    peer = Peer(bench, algorithm, pairs, folder)
    good, objective = bench.f1(peer.tag(bench.X_test)), peer.objective(bench, pairs)
    for n in bench.threads:
        theirs, against = peer.seconds[min(n, 2)], f"crfsuite {algorithm}, ours: {n} threads"
        notes = {"objective": objective, "f1": good, "epochs": peer.epochs}
        target = 3.0 if n > 1 else None
        for tol in (1e-5, 1e-6, 1e-7, 1e-8):
            seconds, model = bench.fit(n, loss="log", pairs=pairs, tol=tol)
            if model.objective_ <= objective:
                break
        reached = seconds * share_until(model, objective)
        bench.add(f"sequences to its objective, {pairs} pairs", against, reached, theirs, target, notes=notes)
        for tol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7):
            seconds, model = bench.fit(n, loss="log", pairs=pairs, tol=tol)
            ours = bench.f1(model.predict(bench.X_test))
            if ours >= good:
                break
        notes |= {"ours": ours, "tol": tol}
        reached = seconds if ours >= good else np.inf
        bench.add(f"sequences to its test F1, {pairs} pairs", against, reached, theirs, target, notes=notes)


def decoding(bench: Bench, folder: Path) -> None:
    """From a tenth of the training: how good the weights are does not matter."""
    import pycrfsuite

    some = len(bench.X) // 10 + 1
    part = Bench((bench.name, bench.X[:some], bench.y[:some], bench.X_test, bench.y_test), 1)
    peer, (_, model) = Peer(part, "l2sgd", "seen", folder), part.fit(loss="log")
    tagger = peer.tagger()
    dicts = [[dict.fromkeys(token, 1.0) for token in sequence] for sequence in bench.X_test]
    theirs = list(map(pycrfsuite.ItemSequence, bench.X_test))
    stacked, _ = read(bench.X_test, None, None, model._features, 1, 0)
    matrix = csr_matrix((np.ones(len(stacked.indices)), stacked.indices, stacked.indptr))
    matrix.resize(stacked.n_tokens, model.n_features_in_)
    by_matrix = PegasosSequenceTagger(lam=1.0)
    by_matrix.__dict__.update(vars(model) | {"_features": type(model._features)(n_features=model.n_features_in_)})
    kinds: dict[str, tuple[Callable[[], object], Callable[[], object], float]] = {
        "matrices": (
            lambda: by_matrix.predict(matrix, lengths=stacked.lengths), lambda: list(map(tagger.tag, theirs)), 5.0,
        ),
        "dicts": (lambda: model.predict(dicts), lambda: [tagger.tag(sequence) for sequence in dicts], 2.0),
        "lists": (lambda: model.predict(bench.X_test), lambda: list(map(tagger.tag, bench.X_test)), 2.0),
    }  # fmt: skip
    for kind, (ours, others, target) in kinds.items():
        samples: tuple[list[float], list[float]] = ([], [])
        for _ in range(7):
            for call, seconds in zip((ours, others), samples, strict=True):
                clock = Clock(1)
                call()
                seconds.append(clock.seconds())
        bench.add(f"tagging, from {kind}", "crfsuite, ours: 1 thread", *map(median, samples), target)


def converting(bench: Bench) -> None:
    """Lists of strings to columns, against a fit to the default tol, which includes it."""
    clock = Clock(1)
    read(bench.X, None, None, None, 1, 0)
    seconds, (whole, _) = clock.seconds(), bench.fit(loss="log")
    bench.add("converting tokens", "the training to tol = 1e-3", seconds, whole - seconds, 1.0, sense="at most")


def hinge(bench: Bench) -> None:
    """Nobody else proves it: the log loss to the same tol stands beside it."""
    for n in bench.threads:
        for tol in (1e-2, 1e-3):
            seconds, model = bench.fit(n, loss="hinge", tol=tol)
            notes = {"f1": bench.f1(model.predict(bench.X_test)), "epochs": model.n_iter_, "gap": model.gap_}
            theirs, _ = bench.fit(n, loss="log", tol=tol)
            against = f"the log loss, ours: {n} threads"
            bench.add(f"structured hinge to {tol:g}", against, seconds, theirs, None, sense="at most", notes=notes)


def choose_lam(bench: Bench, losses: list[str]) -> None:
    """The best lam by the last tenth of the training set, down until it is past; the test set is looked at once."""
    m, threads, held_out, searches = len(bench.X), bench.threads[-1], {}, {}
    cut = m * 9 // 10
    for loss in losses:
        search = PegasosSequenceTaggerCV(
            np.array(LAMBDAS) / m, [(np.arange(cut), np.arange(cut, m))], make_scorer(chunk_f1),
            loss=loss, n_jobs=threads, refit=False, verbose=1,
        )  # fmt: skip
        searches[loss] = search.fit(bench.X, bench.y)
        held_out |= {f"{loss} {lam * m:g}": 100 * f1 for lam, f1 in zip(search.lams_, search.scores_[0], strict=True)}
    loss = max(searches, key=lambda name: searches[name].best_score_)
    lam = searches[loss].lam_
    final = PegasosSequenceTagger(lam=lam, loss=loss, n_jobs=threads).fit(bench.X, bench.y)
    f1 = bench.f1(final.predict(bench.X_test))
    notes = {"loss": loss, "lam_m": lam * m, "held_out": held_out}
    bench.add("chunk F1", "100", f1, 100.0, 0.935, unit="%", sense="at least", notes=notes)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a small generated problem")
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--part", nargs="*", default=["contest", "decoding", "converting", "hinge", "lam"])
    options.add_argument("--peer", nargs="*", default=["lbfgs", "l2sgd"])
    options.add_argument("--pairs", nargs="*", default=["seen", "all"])
    options.add_argument("--loss", nargs="*", default=["log", "hinge"], help="to choose from, with lam")
    options.add_argument("--sequences", type=int, help="so many of the training set, and no more")
    options.add_argument("--save", help="where to write the findings, without .json", default="sequences")
    asked = options.parse_args()
    bench = Bench(load(asked.quick, asked.sequences), asked.threads)
    print(f"{bench.name}: {len(bench.X)} sequences, {sum(map(len, bench.X))} tokens")
    facts = contest.machine_facts()
    contest.print_facts(facts)
    contest.print_header()
    with tempfile.TemporaryDirectory() as folder:
        try:
            import pycrfsuite  # noqa: F401  # only to see whether it is there
        except ImportError:
            contest.print_skipped("contests with python-crfsuite", "it is not installed")
        else:
            for pairs in asked.pairs if "contest" in asked.part else ():
                for algorithm in asked.peer:
                    training(bench, algorithm, pairs, Path(folder))
            if "decoding" in asked.part:
                decoding(bench, Path(folder))
    for name, part in (("converting", converting), ("hinge", hinge)):
        if name in asked.part:
            part(bench)
    if "lam" in asked.part:
        choose_lam(bench, asked.loss)
    print(contest.save(asked.save, facts, bench.findings))


if __name__ == "__main__":
    main()
