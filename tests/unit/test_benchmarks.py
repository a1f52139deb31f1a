"""The benchmarks run. What they measure is for `make bench`: no timing is ever a test."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from pegasos import losses

ROOT = Path(__file__).parents[2]


def test_the_contests_of_pegasos_run(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "benchmarks" / "linear.py", "--quick", "--data", "generated", "--rounds", "1"]
    script += ["--contest", "epoch", "memory", "--save", str(tmp_path / "found")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert {line["contest"].split(",")[0] for line in found["findings"]} == {"epoch", "validation", "memory of a fit"}


FILES = {
    "readers": {"read svmlight", "read svmlight, gzip", "memory to read svmlight"},
    "larger_than_memory": {"fit from a file", "fit from the disk", "memory of a fit from a file"},
}


@pytest.mark.parametrize("name", FILES)
def test_the_contests_of_files_run(tmp_path: Path, name: str) -> None:
    asked = ["--quick", "--rounds", "1", "--save", tmp_path / "found"]
    script = [sys.executable, ROOT / "benchmarks" / f"{name}.py", *asked]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert {line["contest"] for line in found} == FILES[name]


def test_the_contests_of_sequences_run(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "benchmarks" / "sequences.py", "--quick", "--part", "converting", "hinge"]
    script += ["--threads", "1", "--save", str(tmp_path / "found")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())["findings"]
    contests = {line["contest"] for line in found}
    assert contests == {"converting tokens", "structured hinge to 0.01", "structured hinge to 0.001"}


def everyday(*asked: str) -> str:
    script = [sys.executable, ROOT / "benchmarks" / "everyday.py", *asked]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_course_of_ordinary_inputs_lists_every_loss_and_bias() -> None:
    lines = [line.split() for line in everyday("--list").splitlines()]
    names, groups, kinds, named_losses, biases = list(zip(*lines, strict=True))[:5]
    assert len(set(names)) == len(names)
    assert groups.count("generated") >= 114
    assert set(kinds) == {"linear", "kernel"}
    assert set(named_losses) == {*losses.NAMED, *losses.JOINT}
    assert set(biases) == {"regularized", "free", "search", "none"}  # all that the default solver takes


def test_a_case_of_the_course_runs(tmp_path: Path) -> None:
    told = everyday("--only", "kernel_loop200_0.01", "loop200_hinge", "--save", str(tmp_path / "found"))
    found = json.loads((tmp_path / "found.json").read_text())["findings"]
    assert {line["contest"] for line in found} == {"loop200_hinge", "kernel_loop200_0.01"}
    assert all(line["notes"]["peer_reached"] for line in found)
    assert "median of 2, generated" in told


def test_the_course_says_what_its_budget_left_out(tmp_path: Path) -> None:
    told = everyday("--only", "loop200_hinge", "loop200_log", "--budget", "0", "--save", str(tmp_path / "found"))
    assert "2 cases (loop200_hinge, loop200_log): skipped" in told


@pytest.mark.parametrize("kernel", [False, True])
@pytest.mark.parametrize("name", ["loop200_hinge", "loop200_log", "loop200_tube", "digits_ovr"])
def test_the_judge_of_the_course_values_our_fits_as_they_value_themselves(
    name: str, kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from everyday_cases import cases
    from everyday_fits import Task, values

    (case,) = (case for case in cases() if case.name == name)
    task = Task(replace(case, kernel=kernel), *case.make())
    (model,) = task.ours()
    assert_allclose(values(task, model, task.y), np.atleast_1d(model.objective_), rtol=1e-7)


def test_the_choice_of_lam_is_measured(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "benchmarks" / "choosing.py", "--quick", "--data", "generated", "--tol", "1e-3"]
    done = subprocess.run([*script, "--save", str(tmp_path / "choosing")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert re.search(r"lam \S+, by GridSearchCV \S+: \S+ lost, standard error", done.stdout)
    found = json.loads((tmp_path / "choosing.json").read_text())["findings"]
    assert {"one fit", "GridSearchCV"} <= {each["against"].partition(";")[0] for each in found}
    assert all(each["score"] > 0 for each in found)


def test_what_more_cores_bring_is_counted_and_measured(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "benchmarks" / "cores.py", "--quick", "--data", "generated", "--lam", "1e-4"]
    more = ["--threads", "1", "2", "--rounds", "1", "--save", str(tmp_path / "cores")]
    done = subprocess.run([*script, *more], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {f["contest"]: f for f in json.loads((tmp_path / "cores.json").read_text())["findings"]}
    many = found["critical path, 16 replicas, lam 0.0001"]["notes"]["many"]
    assert many["replicas"] == 16
    assert many["converged"]
    assert 0 < many["longest"] < found["critical path, 16 replicas, lam 0.0001"]["notes"]["one"]["longest"] / 4
    assert found["2 threads, replicas, lam 0.0001"]["ours"] > 0
    few = [n for n in (2, 4, 8, 16) if found[f"visits, {n} replicas, lam 0.0001"]["score"] <= 2]
    paths = [found[f"critical path, {n} replicas, lam 0.0001"]["ours"] for n in few]
    assert found["critical path, replicas that suit, lam 0.0001"]["ours"] == min(paths)
    assert {name for name, f in found.items() if f["target"]} == {
        "critical path, replicas that suit, lam 0.0001",
        "visits, replicas that suit, lam 0.0001",
    }


def test_a_critical_path_counts_what_many_replicas_do_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from cores import Course
    from inputs import Data

    data = Data("some", sp.csr_matrix(np.ones((10, 100))), np.ones(10))
    one = Course(1, True, visits=0, longest=8000, merged=0.0, meetings=0, certificates=0)
    assert one.path(data, 1) == one.path(data, 16) == replace(one, replicas=2).path(data, 16) == 12_000
    assert replace(one, replicas=3).path(data, 16) == 20_000  # the row is read once more
    assert replace(one, merged=1600.0).path(data, 16) == 12_100
    assert replace(one, meetings=2).path(data, 16) == 32_000
    assert replace(one, certificates=1).path(data, 1) == 12_000 + 2 * 1000 + 200  # two passes, and four looks at w
    assert replace(one, certificates=1).path(data, 16) == 12_000 + 125 + 200 + 20_000
    assert replace(one, visits=1600).path(data, 16) == 12_000 + 400 + 800  # half by all threads, the rest by one
