"""The command `pegasos`: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import pegasos
from pegasos import load_model

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import CHUNKS, NUMBERS, SIGNS, THREE, X, folder, run, shell

from pegasos.cli import copies
from pegasos.cli.rows import Source

__all__ = ["folder"]  # a fixture


def test_train_writes_the_model_that_python_would(folder: Path) -> None:
    said = json.loads(run("train", "two.svm", "-m", "m", "--lam", "1e-2", "--test", "two.svm", "--json").stdout)
    model = pegasos.PegasosClassifier(lam=1e-2, n_jobs=1).fit(X, SIGNS)
    np.testing.assert_allclose(load_model("m").coef_, model.coef_, rtol=1e-9)
    assert said["converged"] is True
    assert said["rows"] == 150
    assert said["features"] == 6
    assert said["gap"] == pytest.approx(load_model("m").gap_)
    assert said["test accuracy"] == pytest.approx(model.score(X, SIGNS))


@pytest.mark.parametrize(
    ("name", "options", "estimator"),
    [
        ("two", ["--loss", "squared_hinge", "--bias", "free", "--balanced", "--solver", "sdca"], "PegasosClassifier"),
        ("three", ["--loss", "multinomial", "--sparse", "-j", "2"], "PegasosClassifier"),
        ("numbers", ["--epsilon", "0.1"], "PegasosRegressor"),
        ("numbers", ["--loss", "squared_epsilon_insensitive"], "PegasosRegressor"),
        ("three", ["--kernel", "rbf", "--gamma", "0.5", "--bias", "free"], "KernelPegasosClassifier"),
        (
            "numbers",
            ["--kernel", "poly", "--degree", "2", "--coef0", "1", "--epsilon", "0.1"],
            "KernelPegasosRegressor",
        ),
    ],
)
def test_every_kind_of_model_is_trained_used_and_described(
    name: str, options: list[str], estimator: str, folder: Path
) -> None:
    said = run("train", f"{name}.svm", "-m", "m", "--lam", "1e-2", *options).stdout
    assert estimator in said
    model = load_model("m")
    found = run("predict", "m", f"{name}.svm").stdout.splitlines()
    assert [float(line) for line in found] == pytest.approx(list(map(float, model.predict(X))))
    facts = json.loads(run("evaluate", "m", f"{name}.svm", "--json").stdout)
    y = {"two": SIGNS, "three": THREE, "numbers": NUMBERS}[name]
    assert facts.get("accuracy", facts.get("R2")) == pytest.approx(model.score(X, y), abs=1e-9)
    if hasattr(model, "coef_") and np.ndim(model.objective_) == 0:
        weighted = "--balanced" in options
        assert weighted or facts["objective"] == pytest.approx(model.objective_)
    assert estimator in run("info", "m").stdout


def test_a_model_and_its_rows_mean_the_same_by_a_column(folder: Path) -> None:
    """A test set that lacks column 0 is no reason to count from 1."""
    dump_svmlight_file(X, SIGNS, "zero.svm", zero_based=True)
    test = X.copy()
    test[:, 0] = 0.0
    dump_svmlight_file(test, SIGNS, "lacking.svm", zero_based=True)
    run("train", "zero.svm", "-m", "m", "-q")
    found = run("predict", "m", "lacking.svm", "--scores").stdout.split()
    np.testing.assert_allclose([float(one) for one in found], load_model("m").decision_function(test), rtol=1e-9)
    weights = json.loads(run("info", "m", "--json", "--top", "1").stdout)["largest weights"]
    assert list(weights["1"]) == ["0"]
    run("train", "two.svm", "-m", "m", "-q")
    assert list(json.loads(run("info", "m", "--json", "--top", "1").stdout)["largest weights"]["1"]) == ["1"]


def test_columns_that_the_model_does_not_know_are_left_out_and_said(folder: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    Path("more.svm").write_text("1 1:0.5 9:3\n-1 2:1\n")
    found = run("predict", "m", "more.svm")
    assert "columns beyond the 6" in found.stderr
    assert len(found.stdout.split()) == 2


def test_scores_and_probabilities(folder: Path) -> None:
    run("train", "three.svm", "-m", "m", "--loss", "log", "-q")
    model = load_model("m")
    for option, method in (("--scores", "decision_function"), ("--proba", "predict_proba")):
        lines = run("predict", "m", "three.svm", option).stdout.splitlines()
        np.testing.assert_allclose([list(map(float, line.split())) for line in lines], getattr(model, method)(X))
    lines = [json.loads(line) for line in run("predict", "m", "three.svm", "--proba", "--json").stdout.splitlines()]
    assert [line["label"] for line in lines] == model.predict(X).tolist()
    assert sum(lines[0]["probabilities"].values()) == pytest.approx(1.0)
    run("train", "two.svm", "-m", "h", "-q")
    assert "has scores, not probabilities" in run("predict", "h", "two.svm", "--proba", code=2).stderr
    run("predict", "h", "two.svm", "--proba", "--scores", code=2)


def test_the_confusion_is_printed(folder: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    facts = json.loads(run("evaluate", "m", "two.svm", "--json").stdout)
    table = facts["confusion"]
    assert sum(sum(line.values()) for line in table.values()) == 150
    assert table["1"]["1"] + table["-1"]["-1"] == round(150 * facts["accuracy"])
    assert 0.5 < facts["AUC"] <= 1
    assert "confusion" in run("evaluate", "m", "two.svm").stdout


def test_searches_are_evaluated(folder: Path) -> None:
    X, y = pegasos.read_svmlight("two.svm")
    model = pegasos.PegasosClassifierCV([0.1, 0.01], 2, probability="sigmoid").fit(X, y)
    model.save("search")
    facts = json.loads(run("evaluate", "search", "two.svm", "--json").stdout)
    assert facts["objective"] == pytest.approx(float(model.objective_))
    assert facts["accuracy"] == model.score(X, y)
    assert run("predict", "search", "two.svm", "--proba").stdout.count("\n") == len(y)


def test_info_counts_rows_columns_and_labels(folder: Path) -> None:
    Path("rows.svm").write_text("1 1:0.5 3:2\n-1 3:1\n1 2:-4\n")
    facts = json.loads(run("info", "rows.svm", "--json").stdout)
    assert (facts["rows"], facts["columns"], facts["non-zeros"], facts["first column"]) == (3, 3, 4, 1)
    assert facts["labels"] == {"1": 2, "-1": 1}
    assert facts["values"] == "-4 to 2"


def test_sequences_are_tagged(folder: Path) -> None:
    run("train", "chunks.conll", "-m", "m", "--lam", "0.01", "--allowed", "BIO", "-q")
    tagged = run("tag", "m", "chunks.conll").stdout
    assert tagged.splitlines() == [line and f"{line} {line.split()[-1]}" for line in (CHUNKS + "\n").splitlines()]
    Path("words.conll").write_text("\n".join(" ".join(line.split()[:2]) for line in CHUNKS.splitlines()))
    assert run("tag", "m", "words.conll").stdout.rstrip() == CHUNKS.rstrip()
    facts = json.loads(run("evaluate", "m", "chunks.conll", "--json").stdout)
    assert facts["accuracy"] == facts["chunk F1"] == 1.0
    assert json.loads(run("info", "chunks.conll", "--json").stdout)["tokens"] == 7
    assert "use `pegasos tag`" in run("predict", "m", "chunks.conll", code=3).stderr
    Path("few.conll").write_text("the\n")
    assert "needs 2 columns of words" in run("tag", "m", "few.conll", code=3).stderr
    Path("ragged.conll").write_text("the DT B-NP\ncat NN\n")
    assert "ragged.conll:2: 2 columns where the lines before have 3" in run("tag", "m", "ragged.conll", code=3).stderr
    Path("latin.conll").write_bytes(b"the DT B-NP\ncaf\xe9 NN I-NP\n")
    assert "latin.conll:2:4: the text is not UTF-8" in run("tag", "m", "latin.conll", code=3).stderr


def test_models_of_liblinear_are_written_and_read(folder: Path) -> None:
    run("train", "three.svm", "-m", "m", "-q")
    run("convert", "m", "m.liblinear")
    run("train", "three.svm", "-m", "again", "--format", "liblinear", "-q")
    assert Path("m.liblinear").read_text() == Path("again").read_text()
    assert run("predict", "m.liblinear", "three.svm").stdout == run("predict", "m", "three.svm").stdout
    assert "LIBLINEAR" in run("info", "m.liblinear").stdout
    dump_svmlight_file(X, THREE, "zero.svm", zero_based=True)
    assert "LIBLINEAR from 1" in run("train", "zero.svm", "-m", "m", "--format", "liblinear").stderr
    assert "does not say which format" in run("convert", "m", "out", code=3).stderr


def test_models_are_converted_to_onnx(folder: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed: pip install pegasos[onnx]")
    run("train", "three.svm", "-m", "m", "-q")
    assert "wrote m.onnx" in run("convert", "m", "m.onnx").stdout
    run("train", "three.svm", "-m", "again.onnx", "--format", "onnx", "-q")
    assert Path("m.onnx").read_bytes() == Path("again.onnx").read_bytes()


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (["train", "two.svm"], 2, "both DATA and -m MODEL"),
        (["train", "two.svm", "-m", "m", "--lam", "-1"], 2, "lam must be a number >= 1e-300"),
        (["train", "two.svm", "-m", "m", "--loss", "hing"], 2, "hing"),
        (["train", "two.svm", "-m", "m", "--degree", "3"], 2, "--degree is not for PegasosClassifier"),
        (["train", "two.svm", "-m", "m", "--kernel", "rbf", "--gamma", "wide"], 2, "scale or auto"),
        (["train", "two.svm", "-m", "m", "--epsilon", "0.1", "--loss", "hinge"], 2, "loss must be"),
        (["frobnicate"], 2, "frobnicate"),
        (["train", "nowhere.svm", "-m", "m"], 3, "nowhere.svm"),
        (["train", "numbers.svm", "-m", "m"], 3, "no whole numbers"),
        (["train", "two.svm", "-m", "nowhere/m"], 3, "No such file"),
        (["predict", "two.svm", "two.svm"], 3, "two.svm is no model file"),
        (["predict", "-", "-"], 2, "cannot both come from the standard"),
        (["train", "two.svm", "-m", "m", "--tol", "1e-9", "--solver", "pegasos", "--seed", "0"], 4, "not converged"),
    ],
)
def test_what_is_wrong_is_said_and_has_its_code(said: list[str], code: int, words: str, folder: Path) -> None:
    assert words in run(*said, code=code).stderr
    assert (folder / "m").exists() == (code == 4)  # a model that has not converged is still one


def test_a_limit_that_was_asked_for_is_no_failure(folder: Path) -> None:
    said = json.loads(run("train", "two.svm", "-m", "m", "--tol", "1e-9", "--max-epochs", "0.5", "--json").stdout)
    assert said["converged"] is False


def test_tables_are_known_by_the_names_of_their_columns(folder: Path) -> None:
    pytest.importorskip("pegasos.io.tables", reason="nothing reads tables here")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    lines = [f"{a},{b},{'yes' if a > b else 'no'}" for a, b in X[:, :2].round(3).tolist()]
    Path("rows.csv").write_text("\n".join(["size,price,kind", *lines]))
    run("train", "rows.csv", "-m", "m", "--target", "kind", "-q")
    assert load_model("m").feature_names_in_.tolist() == ["size", "price"]
    assert "size" in run("info", "m").stdout
    assert json.loads(run("evaluate", "m", "rows.csv", "--json").stdout)["accuracy"] > 0.9
    Path("new.csv").write_text("\n".join(["price,size", *(f"{b},{a}" for a, b in X[:, :2].round(3).tolist())]))
    assert run("predict", "m", "new.csv").stdout == run("predict", "m", "rows.csv").stdout
    Path("few.csv").write_text("price\n1.0\n")
    assert "no column 'size'" in run("predict", "m", "few.csv", code=3).stderr


KILLED = """
import os, signal
from pegasos.io import checkpoints
real, count = checkpoints.Checkpoints._write, 0
def write(self):
    global count
    real(self)
    count += 1
    if count == 5:
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.Checkpoints._write = write
from pegasos.cli import main
main()
"""


def test_a_killed_training_is_resumed(folder: Path) -> None:
    options = "--solver sdca --lam 1e-7 --tol 1e-9 --max-epochs 400 -q"
    shell(f"pegasos train two.svm -m alone {options}")
    Path("killed.py").write_text(KILLED)
    done = shell(f"{sys.executable} killed.py train two.svm -m m --checkpoint run.ckpt --every 0 {options}")
    assert done.returncode in (-9, 137), done.stderr  # bash may become the last command that it was given
    assert not Path("m").exists()
    run("train", "--resume", "run.ckpt", "-q")
    assert load_model("m").coef_.tobytes() == load_model("alone").coef_.tobytes()
    assert not list(folder.glob("run.ckpt*"))
    assert "there is no such checkpoint" in run("train", "--resume", "run.ckpt", code=3).stderr
    run("train", "two.svm", "--resume", "run.ckpt", code=2)
    run("train", "-", "-m", "m", "--checkpoint", "c", code=2)


def test_a_training_with_little_memory_leaves_no_copy_of_the_rows_however_often_it_is_killed(folder: Path) -> None:
    options = "--solver sdca --lam 1e-7 --tol 1e-9 --max-epochs 400 --memory 2GB -q"
    Path("killed.py").write_text(KILLED)
    before = {*folder.iterdir()}
    shell(f"pegasos train two.svm -m alone {options}")
    assert {*folder.iterdir()} == {*before, folder / "alone"}
    # Killed while the rows are copied, and begun once more.
    writing = "from pegasos.io import mapped; mapped.NewArrays.checksums = lambda self: os.kill(os.getpid(), 9)"
    Path("early.py").write_text(f"import os; {writing}\nfrom pegasos.cli import main; main()")
    assert shell(f"{sys.executable} early.py train two.svm -m m --checkpoint run.ckpt {options}").returncode
    assert [path.suffix for path in folder.glob(".run.ckpt*")] == [".tmp"]
    assert shell(
        f"{sys.executable} killed.py train two.svm -m m --checkpoint run.ckpt --every 0 {options}"
    ).returncode in (-9, 137)
    assert not list(folder.glob(".run.ckpt*"))
    copy = (folder / "run.ckpt.rows").stat()
    # Killed again, five checkpoints later, with the same copy; then to the end.
    assert shell(f"{sys.executable} killed.py train --resume run.ckpt -q").returncode in (-9, 137)
    assert (folder / "run.ckpt.rows").stat().st_ino == copy.st_ino
    run("train", "--resume", "run.ckpt", "-q")
    assert load_model("m").coef_.tobytes() == load_model("alone").coef_.tobytes()
    assert {*folder.iterdir()} == {*before, *(folder / name for name in ("alone", "m", "early.py"))}


def test_rows_for_a_model_that_goes_to_a_pipe_are_copied_where_temporary_files_go(folder, monkeypatch) -> None:
    (folder / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    real, there = copies.to_data_file, []
    monkeypatch.setattr(copies, "to_data_file", lambda *given: (there.append(Path(given[1]).parent), real(*given)))
    with copies.copied(Source("two.svm"), None, "-", None, False) as data:
        assert data.shape == X.shape
        assert not list((folder / "temporary").iterdir())
    assert there == [folder / "temporary"]


def test_the_copy_of_the_rows_of_a_checkpoint_is_no_file_that_is_read(folder: Path) -> None:
    (folder / "two.svm").rename("c.rows")
    assert "c.rows is read" in run("train", "c.rows", "-m", "m", "--checkpoint", "c", "--memory", "1GB", code=2).stderr
