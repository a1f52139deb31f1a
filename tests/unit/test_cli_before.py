"""What the command `pegasos` refuses before the work, not after it, and what it says when something fails."""

from __future__ import annotations

import json
import os
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import SIGNS, X, folder, run, shell

from pegasos import PegasosClassifier, load_model
from pegasos.cli import checks, training
from pegasos.io import checkpoints

__all__ = ["folder"]  # a fixture


@pytest.fixture
def no_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def fit(*_: Any) -> None:
        raise AssertionError("the fit has begun")

    monkeypatch.setattr(training, "_fit", fit)
    (folder / "there").mkdir()
    return folder


def plain(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize(
    ("said", "code", "message"),
    [
        (["two.svm", "-m", "nowhere/m"], 3, "nowhere/m: No such file"),
        (["two.svm", "-m", "two.svm/m"], 3, "two.svm/m: Not a directory"),
        (["two.svm", "-m", "there"], 3, "there: Is a directory"),
        (["two.svm", "-m", "there/"], 2, "there/ names a folder"),
        (["two.svm", "-m", "new/"], 2, "new/ names a folder"),
        (["two.svm", "-m", "m", "--checkpoint", "nowhere/c"], 3, "nowhere/c: No such file"),
        (["two.svm", "-m", "m", "--checkpoint", "there"], 3, "there: Is a directory"),
        (["two.svm", "-m", "m", "--kernel", "rbf", "--format", "liblinear"], 2, "LIBLINEAR has linear models of rows"),
        (["chunks.conll", "-m", "m", "--format", "liblinear"], 2, "LIBLINEAR has linear models of rows"),
        (["two.svm", "-m", "m", "--sparse", "--format", "liblinear"], 2, "--sparse is for models of our own format"),
        (["two.svm", "-m", "m", "--sparse", "--format", "onnx"], 2, "--sparse is for models of our own format"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_fit(
    said: list[str], code: int, message: str, no_fit: Path
) -> None:
    assert message in plain(run("train", *said, code=code).stderr)
    assert not Path("m").exists()
    assert not Path("new").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_a_folder_that_may_not_be_written_to_is_refused_before_the_fit(no_fit: Path) -> None:
    Path("there").chmod(0o500)
    assert "there/m: Permission denied" in run("train", "two.svm", "-m", "there/m", code=3).stderr


def test_a_place_is_judged_as_the_system_would(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("there").mkdir()
    for fine in ("-", None, "m", "there/m", "two.svm", "/dev/null"):
        checks.expect_place(fine)
    monkeypatch.setattr("os.access", lambda *_: False)
    for denied in ("there/m", "two.svm", "/dev/null"):
        with pytest.raises(PermissionError, match=denied):
            checks.expect_place(denied)


def test_labels_that_no_file_of_models_has_are_refused_before_the_fit(no_fit: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": X[:, 0], "y": [Decimal(int(s)) for s in SIGNS]}), "d.parquet")
    said = run("train", "d.parquet", "-m", "m", "--target", "y", code=3).stderr
    assert "d.parquet has labels that are neither numbers nor words, such as Decimal(" in said
    Path("words.csv").write_text("x,y\n1,yes\n2,no\n")
    for more in ([], ["--memory", "4GB"]):
        options = ["--target", "y", "--format", "liblinear", *more]
        assert "labels are whole numbers" in run("train", "words.csv", "-m", "m", *options, code=3).stderr


def test_a_format_whose_package_is_missing_is_refused_before_the_fit(
    no_fit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pegasos.io.onnx", raising=False)
    monkeypatch.setitem(sys.modules, "onnx", None)
    said = plain(run("train", "two.svm", "-m", "m", "--format", "onnx", code=2).stderr)
    assert "pip install 'pegasos[onnx]'" in said


@pytest.mark.parametrize("command", ["predict m two.svm -o", "tag m chunks.conll -o", "convert two.svm"])
def test_other_outputs_are_looked_at_first(command: str, folder: Path) -> None:
    for place, code, message in (
        ("nowhere/o.svm", 3, "nowhere/o.svm: No such file"),
        (".", 3, ".: Is a directory"),
        ("o/", 2, "o/ names a folder"),
    ):
        assert message in plain(run(*command.split(), place, code=code).stderr)  # there is no model m to be read


def test_a_training_goes_on_to_another_model_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("train", "two.svm", "-m", "alone", "--lam", "1e-7", "--tol", "1e-9", "--solver", "sdca", "-q", code=4)
    real = checkpoints.Checkpoints._write

    def once(self: Any) -> None:
        real(self)
        raise OSError(28, "No space left on device")

    options = ["--lam", "1e-7", "--tol", "1e-9", "--solver", "sdca", "--checkpoint", "c", "--every", "0", "-q"]
    Path("gone").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints.Checkpoints, "_write", once)
        run("train", "two.svm", "-m", "gone/m", *options, code=3)
    Path("gone").rmdir()
    assert "gone/m: No such file" in run("train", "--resume", "c", "-q", code=3).stderr
    for place, message in (("two.svm", "two.svm is read"), ("c.old", "both c.old: name two files")):
        assert message in plain(run("train", "--resume", "c", "-m", place, "-q", code=2).stderr)
    run("train", "--resume", "c", "-m", "other", "-q", code=4)
    assert load_model("other").coef_.tobytes() == load_model("alone").coef_.tobytes()
    assert not Path("c").exists()


@pytest.mark.parametrize("more", [["--json"], []])
def test_a_summary_is_printed_though_the_test_fails(more: list[str], folder: Path) -> None:
    Path("bad.svm").write_text("1 1:x\n")
    found = run("train", "two.svm", "-m", "m", "--test", "bad.svm", *more, code=3)
    assert "bad.svm:1:5" in found.stderr
    assert "PegasosClassifier" in found.stdout
    if more:
        assert json.loads(found.stdout)["converged"] is True
    assert isinstance(load_model("m"), PegasosClassifier)


def test_lines_left_out_are_counted_for_scripts(folder: Path) -> None:
    Path("bad.svm").write_text("x\n" + Path("two.svm").read_text() + "y\n")
    said = json.loads(run("train", "bad.svm", "-m", "m", "--skip-bad", "2", "--test", "bad.svm", "--json", "-q").stdout)
    assert said["lines left out"] == said["test lines left out"] == 2
    for command in (["evaluate", "m", "bad.svm"], ["info", "bad.svm"]):
        assert json.loads(run(*command, "--skip-bad", "2", "--json", "-q").stdout)["lines left out"] == 2
    assert "lines left out" not in json.loads(run("evaluate", "m", "two.svm", "--json").stdout)


@pytest.mark.parametrize("command", ["predict", "evaluate", "tag"])
def test_two_inputs_from_one_pipe_are_bad_usage(command: str, folder: Path) -> None:
    assert "cannot both come from the standard input" in plain(run(command, "-", "-", code=2).stderr)


def test_a_loss_that_is_not_known_is_said_in_our_words(folder: Path) -> None:
    said = plain(run("train", "two.svm", "-m", "m", "--loss", "smooth_hinge", code=2).stderr)
    assert "Invalid value for '--loss': 'smooth_hinge' is not one of" in said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["--version", "--help", "train --help"])
def test_help_that_cannot_be_written_is_an_error(command: str, unbuffered: str, folder: Path) -> None:
    done = shell(f"pegasos {command} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (3, "error: No space left on device\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["--version", "--help", "train --help", "info two.svm"])
def test_help_that_nobody_reads_ends_as_every_broken_pipe(command: str, unbuffered: str, folder: Path) -> None:
    script = f"set +o pipefail; {{ sleep 1; pegasos {command}; echo $? >&2; }} | true"
    done = shell(script, PYTHONUNBUFFERED=unbuffered)
    assert done.stderr == "141\n"
