"""A part of CoNLL-2000: real sentences, with the usual features. All of it is for the benchmark."""

from __future__ import annotations

import time

import pytest

from pegasos import PegasosSequenceTagger, datasets
from pegasos.metrics import chunk_f1

MISSING = datasets.missing("conll2000")


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
@pytest.mark.parametrize("loss", ["hinge", "log"])
def test_a_few_hundred_sentences_teach_most_chunks(loss: str) -> None:
    train, test = datasets.load_conll2000()
    (X, y), (X_test, y_test) = (
        ([datasets.window_features(s) for s in part], [[token[2] for token in s] for s in part])
        for part in (train[:400], test[:150])
    )
    model = PegasosSequenceTagger(loss=loss, lam=1 / len(X), tol=1e-2, allowed="BIO").fit(X, y)
    assert model.converged_
    assert chunk_f1(y_test, model.predict(X_test)) > 0.86


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_no_lam_in_the_middle_takes_much_longer_than_its_neighbours() -> None:
    """One certificate that did not fall handed 800 sentences over to a method that took thirty times as long."""
    train, _ = datasets.load_conll2000()
    X, y = [datasets.window_features(s) for s in train[:800]], [[token[2] for token in s] for s in train[:800]]
    seconds, epochs = [], []
    for lam in (1e-3, 3e-4, 1e-4):
        began = time.process_time()
        model = PegasosSequenceTagger(lam=lam, random_state=0).fit(X, y)
        seconds.append(time.process_time() - began)
        epochs.append(model.n_iter_)
        assert model.converged_
    assert seconds[1] < 2.5 * (seconds[0] * seconds[2]) ** 0.5
    assert seconds[2] < 10 * seconds[0]
    assert max(epochs) < 120


def test_windows_name_words_and_tags_within_two_positions() -> None:
    first, _ = datasets.window_features([("a", "X", ""), ("b", "Y", "")])
    assert len(first) == 19
    assert {"w[0]=a", "w[1]=b", "w[-1]=", "p[0]|p[1]=X|Y", "p[0]..p[2]=X|Y|", "w[0]|w[1]=a|b"} <= set(first)
