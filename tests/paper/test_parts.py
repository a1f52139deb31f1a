"""Parts of a run: done once, gone on with, made again where code, data or processor are others; how far it is."""

from __future__ import annotations

import json
import sys

import experiment
import numpy as np
import origin
import pytest
import run
from origin import library


def test_a_part_is_done_once_with_resume_and_again_without(tmp_path):
    calls = []

    def work():
        calls.append(1)
        return {"x": np.float64(1.5), "none": float("inf")}

    def setting(resume: bool) -> experiment.Setting:
        return experiment.Setting(True, resume, tmp_path / "some")

    first = setting(True).part("a", work, 0.5)
    assert setting(True).part("a", work, 0.5) == first == {"x": 1.5, "none": None}
    assert len(calls) == 1
    path, later = tmp_path / "some" / "a.json", setting(True)
    path.write_text(json.dumps({"cpu_seconds": 7.0, "found": 1, "origin": {}}))
    assert later.part("a", work, 0.5) == 1
    assert later.cpu_seconds == 7.0  # what the earlier run spent on it counts
    setting(False).part("a", work, 0.5)
    assert len(calls) == 2
    other = setting(True)
    other.origin = {"data": ["adult"]}  # what is there was made of other data, and is not put beside this
    assert other.part("a", work, 0.5) == first
    assert len(calls) == 3
    assert json.loads(path.read_text())["origin"] == other.origin
    assert [path.name for path in (tmp_path / "some").iterdir()] == ["a.json"]  # nothing half written


def test_a_run_says_how_far_it_is(capsys):
    progress = run.Progress([10.0, 30.0])
    progress.index = 1
    progress.tell(0.5, "something")
    said = capsys.readouterr().out
    assert "62%" in said
    assert "left" in said
    assert "something" in said


def test_what_was_read_and_not_measured_says_nothing_of_the_pace(capsys, tmp_path, monkeypatch):
    """Eight tenths of the first experiment are there; the tenth after them took ten seconds."""
    monkeypatch.setattr(run.time, "perf_counter", lambda: 10.0)
    progress = run.Progress([100.0, 100.0])
    progress.began = 0.0
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.json").write_text(json.dumps({"cpu_seconds": 7.0, "found": 1, "origin": {}}))
    setting = experiment.Setting(True, True, tmp_path / "one", skip=progress.skip)
    setting.part("a", lambda: pytest.fail("it is there"), 0.8)
    progress.tell(0.9, "b")
    assert "[ 45%, about 2 min left]" in capsys.readouterr().out
    (tmp_path / "one.json").write_text(json.dumps({"command": "python paper/one.py", "origin": {}}))
    experiment.run(experiment.Experiment("one", "", "", lambda setting: pytest.fail("it is there"), (1, 1)), setting)
    assert progress.skipped == 180.0


def test_with_only_the_parts_of_other_data_sets_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(experiment, "RESULTS", tmp_path)
    monkeypatch.setattr(experiment, "origin", lambda name, cpu: {"script": name})
    folder = tmp_path / "full" / "tables"
    folder.mkdir(parents=True)

    def names() -> set[str]:
        return {path.stem for path in folder.glob("*.json")}

    for key in ("mnist", "mnist_again", "usps", "usps_again"):
        kept = {"cpu_seconds": 1, "found": key, "origin": {"script": "tables"}}
        (folder / f"{key}.json").write_text(json.dumps(kept))
    folder.with_suffix(".json").write_text(json.dumps({"command": "python paper/tables.py"}))
    measured = []

    def script(setting: experiment.Setting) -> experiment.Result:
        for key in setting.chosen({"mnist": 1, "usps": 1}):
            setting.part(key, lambda key=key: measured.append(key), 0.5)
        return experiment.Result()

    tables = experiment.Experiment("tables", "", "", script, (1, 1), ("mnist", "usps"))

    def run_with(*given: str) -> str:
        monkeypatch.setattr(sys, "argv", ["tables.py", *given])
        experiment.main(tables)
        return json.loads(folder.with_suffix(".json").read_text())["command"]

    assert run_with("--only", "usps") == "python paper/tables.py --only usps"
    assert names() == {"mnist", "mnist_again", "usps"}
    assert run_with("--resume") == "python paper/tables.py"  # whole again
    assert measured == ["usps"]
    assert run_with() == "python paper/tables.py"
    assert measured == ["usps", "mnist", "usps"]
    assert names() == {"mnist", "usps"}


def test_some_of_the_data_sets_can_be_asked_for(tmp_path):
    setting = experiment.Setting(True, False, tmp_path, only=("usps",))
    assert setting.chosen({"reuters": 1, "usps": 2}) == {"usps": 2}
    assert experiment.Setting(True, False, tmp_path).chosen({"reuters": 1, "usps": 2}) == {"reuters": 1, "usps": 2}
    with pytest.raises(SystemExit, match="no such data: usps; there are reuters"):
        setting.chosen({"reuters": 1})


def test_what_a_result_was_made_of(monkeypatch, tmp_path):
    """Code, but not its comments; what a script imports from here, and nothing else; the data that there are."""
    for name, text in {"one": "import two\n", "two": "x = 1\n", "three": "x = 1\n"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(origin, "HERE", tmp_path)

    def now() -> str:
        origin.script.cache_clear()
        return origin.script("one")

    first = now()
    (tmp_path / "three.py").write_text("x = 2\n")
    (tmp_path / "two.py").write_text("# a comment\nx  =  1\n")
    assert now() == first
    (tmp_path / "two.py").write_text("x = 2\n")
    assert now() != first
    origin.script.cache_clear()
    monkeypatch.setenv("PEGASOS_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    assert origin.data() == []
    (tmp_path / "RCV1").mkdir()
    (tmp_path / "RCV1" / "samples.pkl").touch()
    for name in ("usps_train.svm.xz", "usps_test.svm.xz"):
        (tmp_path / name).touch()
    assert origin.data() == ["usps", "RCV1"]
    assert len(library()) == 16
