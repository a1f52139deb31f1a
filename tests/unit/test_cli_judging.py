"""How right a model is, block by block: the numbers of scikit-learn, in as little memory as was asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import confusion_matrix, f1_score, mean_absolute_error, r2_score, roc_auc_score

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import NUMBERS, SIGNS, THREE, X, folder, run

from pegasos import load_model
from pegasos.cli import judging
from pegasos.memory import taken

__all__ = ["folder"]  # a fixture


@pytest.fixture(params=["memory", "file", "little memory"])
def judged(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """What is said of rows and a model that was trained on others: of rows in memory, in a file, and of a test."""
    monkeypatch.setattr(judging, "_NUMBERS", 100)  # many blocks of rows in a file
    real = judging.parts_of
    monkeypatch.setattr(judging, "parts_of", lambda X, size: real(X, min(size, 40)))

    def say(name: str, labels, *options: str):
        dump_svmlight_file(X, labels, "test.svm", zero_based=False)
        run("train", f"{name}.svm", "-m", "m", "--lam", "0.3", *options, "-q")
        if request.param == "little memory":
            found = run(
                "train", f"{name}.svm", "-m", "m2", "--lam", "0.3", *options, "--memory", "8GB", "--test", "test.svm",
                "--json",
            ).stdout  # fmt: skip
            facts = json.loads(found)
            return load_model("m2"), {key[5:]: facts[key] for key in facts if key.startswith("test ")}
        if request.param == "file":
            run("convert", "test.svm", "test.pegasos", "-q")
        rows = "test.pegasos" if request.param == "file" else "test.svm"
        return load_model("m"), json.loads(run("evaluate", "m", rows, "--json").stdout)

    return say


def test_two_classes_are_judged_as_by_scikit_learn(judged) -> None:
    labels = np.where(np.random.default_rng(1).random(150) < 0.2, -SIGNS, SIGNS)
    model, facts = judged("two", labels)
    found = model.predict(X)
    assert facts["AUC"] == pytest.approx(roc_auc_score(labels == 1, model.decision_function(X)), abs=1e-14)
    assert facts["F1"] == pytest.approx(f1_score(labels, found))
    assert facts["accuracy"] == pytest.approx(np.mean(found == labels))
    table = [list(line.values()) for line in facts["confusion"].values()]
    assert table == confusion_matrix(labels, found).tolist()


def test_labels_that_the_model_does_not_know_count_as_wrong(judged) -> None:
    labels = np.where(np.arange(150) % 7 == 0, 5, THREE)
    model, facts = judged("three", labels, "--loss", "multinomial")
    found = model.predict(X)
    assert facts["macro F1"] == pytest.approx(f1_score(labels, found, average="macro"))
    assert list(facts["confusion"]) == ["0", "1", "2", "5"]
    assert facts["confusion"]["5"] == dict(
        zip("0125", [*np.bincount(found[labels == 5].astype(int), minlength=3), 0], strict=True)
    )
    assert "mean loss" not in facts
    assert "AUC" not in facts


def test_numbers_are_judged_as_by_scikit_learn(judged) -> None:
    numbers = NUMBERS + 100 + np.random.default_rng(1).normal(size=150)
    model, facts = judged("numbers", numbers, "--epsilon", "0.1")
    found = model.predict(X)
    assert facts["MAE"] == pytest.approx(mean_absolute_error(numbers, found))
    assert facts["R2"] == pytest.approx(r2_score(numbers, found))
    assert facts["mean loss"] == pytest.approx(np.maximum(0, np.abs(numbers - found) - 0.1).mean())


def test_ranks_of_equal_scores_count_half() -> None:
    rng = np.random.default_rng(0)
    scores, second = np.round(rng.normal(size=5000), 1), rng.random(5000) < 0.3
    ranking = judging._Ranking(5000)
    for some in np.array_split(np.arange(5000), 7):
        ranking.add(scores[some], second[some])
    assert ranking.auc() == pytest.approx(roc_auc_score(second, scores), abs=1e-14)
    assert judging._Ranking(0).auc() is None


@pytest.mark.parametrize("name", ["two", "numbers"])
def test_a_file_without_rows_is_no_test(name: str, folder: Path) -> None:
    run("train", f"{name}.svm", "-m", "m", "-q", *(["--epsilon", "0.1"] if name == "numbers" else []))
    Path("empty.svm").write_text("# nothing\n")
    assert "empty.svm has no rows." in run("evaluate", "m", "empty.svm", code=3).stderr


def test_auc_is_left_out_where_its_scores_do_not_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "taken", lambda: taken() + 10**12)
    found = run("train", "two.svm", "-m", "m", "--memory", "8GB", "--test", "two.svm", "--json")
    assert "test AUC" not in json.loads(found.stdout)
    assert "test accuracy" in json.loads(found.stdout)
    assert "AUC is left out" in found.stderr


def test_rows_of_a_test_are_read_before_the_fit_where_they_are_copied(folder: Path) -> None:
    Path("bad.svm").write_text("1 1:x\n")
    assert "bad.svm:1:5" in run("train", "two.svm", "-m", "m", "--memory", "8GB", "--test", "bad.svm", code=3).stderr
    assert not Path("m").exists()
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


LIMITED = """
    import resource, sys
    import numpy as np
    from typer.testing import CliRunner
    from pegasos.cli.app import app
    from pegasos.memory import taken

    allowed, test, said = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    CliRunner().invoke(app, [*said, "--memory", "8GB", "--test", said[1]])  # imports all there is to import
    with open("/proc/self/status") as status:
        data = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (data + allowed, data + allowed))
    done = CliRunner().invoke(app, [*said, "--memory", str(taken() + allowed), "--test", test, "--json"])
    print(done.stdout, done.stderr)
    try:
        np.ones(allowed // 4)
    except MemoryError:
        print("limited")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts private memory on Linux alone")
@pytest.mark.parametrize("ending", [".svm", ".pegasos"])
def test_a_test_larger_than_memory_stays_below_the_limit(ending: str, folder: Path) -> None:
    """A million rows: their labels and predictions as strings would take more than the limit, scores 8 MB."""
    lines = "".join(f"{1 if x[0] > 0 else -1} {1 + i % 6}:{x[0]:.2f}\n" for i, x in enumerate(X.tolist()))
    Path("many.svm").write_text(lines * (1_000_000 // len(X)))
    if ending == ".pegasos":
        run("convert", "many.svm", "many.pegasos", "-q")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    said = [f"many{ending}", "train", "two.svm", "-m", "m"]
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(LIMITED), str(60 * 10**6), *said]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert '"test rows": 999900' in done.stdout, done.stdout + done.stderr
    assert '"test AUC"' in done.stdout
    assert "limited" in done.stdout
