"""Models of every format through the pipes of the command `pegasos`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import folder, run, shell

__all__ = ["folder"]  # a fixture


@pytest.fixture
def models(folder: Path) -> Path:
    run("train", "three.svm", "-m", "m", "-q")
    run("convert", "m", "m.liblinear", "-q")
    return folder


def done(command: str) -> str:
    found = shell(command)
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize("model", ["m", "m.liblinear"])
@pytest.mark.parametrize("how", ["cat {} |", "<{}"])
def test_models_come_through_a_pipe(model: str, how: str, models: Path) -> None:
    begin = how.format(model)
    if begin.startswith("<"):
        told = done(f"pegasos info - {begin}")
        assert done(f"pegasos predict - three.svm {begin}") == run("predict", model, "three.svm").stdout
        done(f"pegasos convert - again.liblinear -q {begin}")
    else:
        told = done(f"{begin} pegasos info -")
        assert done(f"{begin} pegasos predict - three.svm") == run("predict", model, "three.svm").stdout
        done(f"{begin} pegasos convert - again.liblinear -q")
    assert told.replace("standard input", model).split() == run("info", model).stdout.split()
    assert Path("again.liblinear").read_bytes() == Path("m.liblinear").read_bytes()


def test_models_of_liblinear_go_to_a_pipe(models: Path) -> None:
    wanted = Path("m.liblinear").read_text()
    assert done("pegasos convert m - --format liblinear") == wanted
    assert done("pegasos train three.svm -m - --format liblinear -q") == wanted
    assert done("cat m | pegasos convert - - --format liblinear | pegasos predict - three.svm").count("\n") == 150


def test_onnx_graphs_go_to_a_pipe(models: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed: pip install pegasos[onnx]")
    run("convert", "m", "m.onnx", "-q")
    for command in ("cat m | pegasos convert - m2.onnx -q", "pegasos convert m - --format onnx > m2.onnx",
                    "pegasos train three.svm -m - --format onnx -q > m2.onnx"):  # fmt: skip
        done(command)
        assert Path("m2.onnx").read_bytes() == Path("m.onnx").read_bytes()
        Path("m2.onnx").unlink()


def test_rows_still_come_through_a_pipe(models: Path) -> None:
    assert "150" in done("cat three.svm | pegasos info -")
    assert done("cat three.svm | pegasos convert - -") == run("convert", "three.svm", "-").stdout
    done("cat three.svm | pegasos convert - three.pegasos -q; pegasos convert three.svm other.pegasos -q")
    assert Path("three.pegasos").read_bytes() == Path("other.pegasos").read_bytes()
    assert "labels" in done("cat chunks.conll | pegasos info - --rows conll")
    cut = shell("head -c 500 m | pegasos info -")
    assert cut.returncode == 3
    assert "standard input is no model file, or is damaged" in cut.stderr
