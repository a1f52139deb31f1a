"""Files that are odd, damaged or not what they seem, given to the command `pegasos`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import CHUNKS, SIGNS, X, folder, run, shell

from pegasos import load_model
from pegasos.cli import screen
from pegasos.io import checkpoints

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


def test_columns_of_one_name_are_refused(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    Path("twice.csv").write_text("x,x,y\n1,2,a\n2,3,b\n")
    assert "more than one column is called 'x'" in run("train", "twice.csv", "--target", "y", "-m", "m", code=3).stderr
    Path("empty.csv").write_text("x,y\n1,\n2,a\n3,b\n")
    assert "the target 'y' is missing in row 0" in run("train", "empty.csv", "--target", "y", "-m", "m", code=3).stderr
    said = run("train", "twice.csv", "--target", "y", "-m", "m", "--skip-bad", "1", code=3).stderr
    assert "skip_bad is for lines of svmlight" in said


def test_a_model_of_a_table_takes_svmlight_rows(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    lines = "".join(f"{','.join(map(repr, x))},{s}\n" for x, s in zip(X.tolist(), SIGNS, strict=True))
    Path("table.csv").write_text("a,b,c,d,e,f,y\n" + lines)
    run("train", "table.csv", "--target", "y", "-m", "m", "-q")
    facts = [json.loads(run("evaluate", "m", name, "--json").stdout) for name in ("table.csv", "two.svm")]
    assert facts[0]["accuracy"] == facts[1]["accuracy"]


def test_names_are_printed_as_they_are(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    Path("smile.csv").write_text("a:smile:,y\n1,:x:\n2,u\n3,:x:\n")
    run("train", "smile.csv", "--target", "y", "-m", "m", "-q")
    said = run("info", "m").stdout
    assert "a:smile:" in said
    assert ":x:" in said


@pytest.mark.parametrize("label", ["1000000000000001", "9007199254740992", "-3", "0.1234567890123"])
def test_labels_are_written_with_all_their_digits(label: str, folder: Path) -> None:
    Path("digits.svm").write_text(f"{label} 1:1\n7 1:-1\n{label} 1:2\n7 1:-2\n")
    if "." in label:
        assert screen.label(float(label)) == label
        return
    run("train", "digits.svm", "-m", "m", "-q")
    assert run("predict", "m", "digits.svm").stdout.split() == [label, "7", label, "7"]


def test_what_is_read_is_not_written_over(folder: Path) -> None:
    before = Path("two.svm").read_bytes()
    assert "write to another file" in run("train", "two.svm", "-m", "./two.svm", code=2).stderr
    assert "write to another file" in run("convert", "two.svm", "two.svm", code=2).stderr
    assert Path("two.svm").read_bytes() == before


def test_a_folder_that_is_missing_is_named_by_the_file(folder: Path) -> None:
    assert "nowhere/m: No such file" in run("train", "two.svm", "-m", "nowhere/m", code=3).stderr


@pytest.mark.parametrize("option", [["--seed", "-1"], ["-j", "0"], ["-j", "-5"]])
def test_values_that_no_option_has_are_bad_usage(option: list[str], folder: Path) -> None:
    run("train", "two.svm", "-m", "m", *option, code=2)


def test_liblinears_models_have_no_objective(folder: Path) -> None:
    run("train", "two.svm", "-m", "m.liblinear", "--format", "liblinear", "-q")
    facts = json.loads(run("evaluate", "m.liblinear", "two.svm", "--json").stdout)
    assert "mean loss" in facts
    assert "objective" not in facts


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        (["two.svm", "-m", "m", "--checkpoint", "m"], 2, "both m: name two files"),
        (["two.svm", "-m", "c.old", "--checkpoint", "c"], 2, "both c.old: name two files"),
        (["two.svm", "-m", "m", "--checkpoint", "two.svm"], 2, "two.svm is read"),
        (["two.svm", "-m", "m", "--checkpoint", "c", "--every=-1"], 2, "--every"),
        (["two.svm", "-m", "m", "--checkpoint", "c", "--every", "nan"], 2, "--every"),
        (["two.svm", "-m", "m", "--skip-bad=-1"], 2, "--skip-bad"),
        (["chunks.conll", "-m", "m", "--memory", "1GB"], 2, "--memory is for linear models"),
        (["empty.svm", "-m", "m"], 3, "empty.svm has no rows"),
        (["two.svm", "-m", "m", "--test", "missing.svm"], 3, "missing.svm: No such file"),
        (["wide.svm", "-m", "m"], 3, "columns up to number 2,147,483,647"),
        (["wide.svm", "-m", "m", "--memory", "4GB"], 3, "columns up to number 2,147,483,647"),
    ],
)
def test_what_would_end_badly_is_refused_before_it_begins(
    folder: Path, monkeypatch: pytest.MonkeyPatch, said: list[str], code: int, message: str
) -> None:
    monkeypatch.setattr("pegasos.cli.training.memory_of_machine", lambda: 16 * 10**9)
    Path("empty.svm").touch()
    Path("wide.svm").write_text("1 2147483647:1\n-1 3:1\n")
    said_to_user = run("train", *said, code=code).stderr
    assert message in " ".join(said_to_user.replace("│", " ").split())
    assert not Path("m").exists()


def test_a_sequence_model_goes_on_from_its_checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("train", "chunks.conll", "-m", "alone", "--tol", "1e-6", "-q")
    real = checkpoints.Checkpoints._write

    def once(self: Any) -> None:
        real(self)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoints, "_write", once)
        run("train", "chunks.conll", "-m", "m", "--tol", "1e-6", "--checkpoint", "c", "--every", "0", "-q", code=3)
    assert Path("c").exists()
    run("train", "--resume", "c", "-q")
    assert not Path("c").exists()
    found, alone = load_model("m"), load_model("alone")
    assert found._w.tobytes() == alone._w.tobytes()
    assert found.gap_ == alone.gap_


def test_a_kernel_model_goes_on_from_its_checkpoint(folder: Path) -> None:
    run("train", "three.svm", "-m", "m", "--kernel", "rbf", "--checkpoint", "c", "--every", "0", "-q")
    assert load_model("m").converged_
    assert not Path("c").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "command", ["train two.svm -m m --json", "train two.svm -m m", "info two.svm", "predict m two.svm"]
)
def test_an_output_that_is_full_or_closed_is_an_error_and_no_traceback(folder: Path, command: str) -> None:
    if command.startswith("predict"):
        run("train", "two.svm", "-m", "m", "-q")
    full, closed = shell(f"pegasos {command} > /dev/full"), shell(f"pegasos {command} >&-")
    assert full.returncode == closed.returncode == 3
    assert "error: No space left on device" in full.stderr
    assert "error: Bad file descriptor" in closed.stderr
    assert "Traceback" not in full.stderr + closed.stderr


def test_info_of_columns_far_apart_takes_little_memory(folder: Path) -> None:
    Path("wide.svm").write_text("1 3:1 2147483647:1\n-1 3:1\n")
    found = json.loads(run("info", "wide.svm", "--json").stdout)
    assert found["rows of a column"] == "0 to 2, median 0"
    assert found["empty columns"] == 2147483647 - 2
