"""Files that are odd, damaged or not what they seem, given to the command `pegasos`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import CHUNKS, SIGNS, X, folder, run

from pegasos import load_model

__all__ = ["folder"]  # a fixture


def test_an_empty_first_column_of_a_matrix_stays(folder: Path) -> None:
    """Only text has files that count from 1."""
    rows = sp.csr_matrix(np.column_stack([np.zeros(len(X)), X]))
    np.savez(
        "rows.npz", format=b"csr", shape=rows.shape, data=rows.data, indices=rows.indices, indptr=rows.indptr, y=SIGNS
    )
    run("train", "rows.npz", "-m", "m", "-q")
    assert load_model("m").n_features_in_ == 7


def test_sentences_come_compressed_and_damaged(folder: Path) -> None:
    packed = gzip.compress(CHUNKS.encode())
    Path("chunks.conll.gz").write_bytes(packed)
    assert json.loads(run("info", "chunks.conll.gz", "--json").stdout)["tokens"] == 7
    Path("cut.iob.gz").write_bytes(packed[:-9])
    assert "cut.iob.gz: the gzip compression is damaged" in run("info", "cut.iob.gz", code=3).stderr


def test_a_blank_inside_a_word_is_part_of_it(folder: Path) -> None:
    Path("city.conll").write_text("New\u00a0York NNP B-NP\nsleeps VB B-VP\n")
    run("train", "city.conll", "-m", "m", "-q")
    assert run("tag", "m", "city.conll").stdout.startswith("New\u00a0York NNP B-NP B-NP\n")


def test_labels_that_look_like_markup_are_printed(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    lines = "".join(f"{x[0]},{x[1]},{'[/a]' if s > 0 else chr(92) + '[b]'}\n" for x, s in zip(X, SIGNS, strict=True))
    Path("odd.csv").write_text(lines)
    run("train", "odd.csv", "--target", "2", "-m", "m", "-q")
    assert "[/a]" in run("info", "m").stdout
    assert "[/a]" in run("evaluate", "m", "odd.csv").stdout


def test_a_regressor_is_not_compared_with_words(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    Path("words.csv").write_text("a,b,c\n1,2,x\n2,3,y\n")
    Path("numbers.csv").write_text("a,b,c\n1,2,5\n2,3,6\n")
    run("train", "numbers.csv", "--target", "c", "-m", "m", "--epsilon", "0.1", "--bias", "free", "-q")
    assert (
        "predicts numbers, and the rows have labels that are none"
        in run("evaluate", "m", "words.csv", "--target", "c", code=3).stderr
    )


def test_an_option_is_named_as_it_was_given(folder: Path) -> None:
    said = run("train", "numbers.svm", "-m", "m", "--balanced", "--epsilon", "0.1", code=2).stderr
    assert "--balanced is not for PegasosRegressor" in said


def test_resume_refuses_options_that_it_would_ignore(folder: Path) -> None:
    said = run("train", "--resume", "run.ckpt", "--lam", "0.1", code=2).stderr
    assert "only -j, --max-time" in " ".join(said.replace("│", " ").split())
    assert "no such checkpoint" in run("train", "--resume", "run.ckpt", "-j", "2", "--max-time", "9", code=3).stderr


def test_the_standard_input_is_read_once(folder: Path) -> None:
    assert "cannot both come from the standard" in " ".join(
        run("train", "-", "-m", "m", "--test", "-", code=2).stderr.replace("│", " ").split()
    )
