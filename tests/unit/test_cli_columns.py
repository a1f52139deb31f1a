"""Which column a number means: files that count from 0 and from 1, and tables whose columns have names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import SIGNS, X, folder, run

__all__ = ["folder"]  # a fixture


@pytest.fixture
def zero(folder: Path) -> Path:
    dump_svmlight_file(X, SIGNS, "zero.svm", zero_based=True)
    return folder


@pytest.mark.parametrize("command", ["evaluate", "predict"])
@pytest.mark.parametrize("rows", ["zero.svm", "zero.pegasos"])
def test_a_column_0_is_refused_by_a_model_that_counts_from_1(command: str, rows: str, zero: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    text = Path("zero.svm").read_text().splitlines(keepends=True)
    Path("zero.svm").write_text("1 2:1\n" + "".join(text))
    if rows.endswith(".pegasos"):
        run("convert", "zero.svm", "zero.pegasos", "--keep-order", "-q")
    said = run(command, "m", rows, code=3).stderr
    assert f"{rows}: row 1 (from 0) has a column 0, but the columns of the model are counted from 1" in said
    assert "Number the columns of both files alike" in said


def test_a_row_far_down_is_named(zero: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    Path("late.svm").write_text("1 1:1\n" * 20_000 + "-1 0:1\n")
    run("convert", "late.svm", "late.pegasos", "--keep-order", "-q")
    for rows in ("late.svm", "late.pegasos"):
        assert "row 20000 (from 0)" in run("evaluate", "m", rows, code=3).stderr


def test_a_test_with_another_base_is_refused(zero: Path) -> None:
    assert "has a column 0" in run("train", "two.svm", "-m", "m", "--test", "zero.svm", code=3).stderr


def test_liblinears_models_count_from_1(zero: Path) -> None:
    run("train", "zero.svm", "-m", "z.lib", "--format", "liblinear", "-q")
    assert "zero.svm: row 0 (from 0) has a column 0" in run("evaluate", "z.lib", "zero.svm", code=3).stderr
    assert json.loads(run("evaluate", "z.lib", "two.svm", "--json").stdout)["accuracy"] > 0.9


@pytest.mark.parametrize("rows", ["two.svm", "two.pegasos"])
def test_rows_that_seem_to_count_from_1_are_said_to_a_model_that_counts_from_0(rows: str, zero: Path) -> None:
    run("train", "zero.svm", "-m", "m", "-q")
    run("convert", "two.svm", "two.pegasos", "-q")
    said = run("evaluate", "m", rows).stderr
    assert f"{rows} has no column 0, and a column 6, which the model does not know" in said
    assert "has no column 0" not in run("evaluate", "m", rows, "-q").stderr
    lacking = X.copy()
    lacking[:, 0] = 0
    dump_svmlight_file(lacking, SIGNS, "lacking.svm", zero_based=True)
    assert "has no column 0" not in run("evaluate", "m", "lacking.svm").stderr


def test_columns_of_stored_tables_are_known_by_their_names(folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    for name, order in (("ab", (0, 1)), ("ba", (1, 0))):
        lines = (f"{row[order[0]]},{row[order[1]]},{label}\n" for row, label in zip(X.tolist(), SIGNS, strict=True))
        Path(f"{name}.csv").write_text(f"{','.join(name)},y\n" + "".join(lines))
        run("convert", f"{name}.csv", f"{name}.pegasos", "--target", "y", "--keep-order", "-q")
    run("train", "ab.csv", "--target", "y", "-m", "m", "-q")
    wanted = run("predict", "m", "ab.csv", "--scores").stdout
    for rows in ("ba.csv", "ab.pegasos", "ba.pegasos"):
        assert run("predict", "m", rows, "--scores").stdout == wanted, rows


def test_a_model_of_a_table_takes_stored_svmlight_rows(folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    lines = "".join(f"{','.join(map(repr, x))},{s}\n" for x, s in zip(X.tolist(), SIGNS, strict=True))
    Path("table.csv").write_text("a,b,c,d,e,f,y\n" + lines)
    run("train", "table.csv", "--target", "y", "-m", "m", "-q")
    run("convert", "two.svm", "two.pegasos", "--keep-order", "-q")
    found = [run("predict", "m", rows, "--scores", "-q").stdout.split() for rows in ("two.svm", "two.pegasos")]
    np.testing.assert_allclose(*(np.array(each, float) for each in found))


@pytest.mark.parametrize(("bad", "said"), [("nan", "nan"), ("inf", "inf")])
def test_a_number_that_is_none_is_named_as_in_its_file(bad: str, said: str, folder: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    Path("bad.svm").write_text("1 1:2\n" * 9000 + f"-1 1:1 4:{bad}\n")
    for command in (["predict", "m", "bad.svm"], ["train", "bad.svm", "-m", "n"]):
        assert f"bad.svm has {said} at row 9000 (from 0), column 4." in run(*command, code=3).stderr
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    Path("bad.csv").write_text(f"size,price,y\n1,2,1\n3,{bad},2\n")
    for more in ([], ["--memory", "4GB"]):
        found = run("train", "bad.csv", "-m", "n", "--target", "y", *more, code=3).stderr
        assert f"bad.csv has {said} at row 1 (from 0), column 1 ('price')." in found


def test_a_target_that_is_not_finite_is_named_with_its_file(folder: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pegasos[tables]")
    Path("far.csv").write_text("a,b,y\n1,2,1.5\n3,4,inf\n")
    said = run("train", "far.csv", "-m", "n", "--target", "y", "--epsilon", "0.1", code=3).stderr
    assert "far.csv has the label inf in row 1" in said
