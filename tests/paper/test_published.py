"""The verdicts and tables of docs/what-did-not-hold.md are those of paper/results.json."""

from __future__ import annotations

import copy
import json
import re

import publish
import pytest

RESULTS = publish.load()


def test_every_marked_region_is_what_the_script_writes():
    text = publish.PAGE.read_text(encoding="utf-8")
    assert text == publish.written(text, RESULTS), "the page is not up to date: run `make figures`"
    assert sorted(match[2] for match in publish.REGION.finditer(text)) == sorted(publish.REGIONS)


def test_another_result_gives_another_page():
    changed = copy.deepcopy(RESULTS)
    finding = changed["experiments"]["fig7"]["findings"][0]
    finding |= {"held": not finding["held"], "shown": "17.5 times"}
    text = publish.PAGE.read_text(encoding="utf-8")
    assert "17.5 times" in publish.written(text, changed)
    assert publish.written(text, changed).count(publish.WORDS[False]) != text.count(publish.WORDS[False])


def test_what_is_kept_is_small_and_says_where_it_comes_from():
    assert publish.KEPT.stat().st_size < 200_000
    for name, one in RESULTS["experiments"].items():
        assert one["command"].startswith(f"python paper/{name}.py")
        assert "--quick" not in one["command"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]+Z", one["when"])
        assert one["cpu_seconds"] > 0
        assert one["findings"]
        assert "figures" not in one


def test_without_results_there_is_nothing_to_take(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "FOUND", tmp_path)
    with pytest.raises(SystemExit, match="make paper"):
        publish.take()


def test_results_are_taken_without_their_curves(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "FOUND", tmp_path)
    monkeypatch.setattr(publish, "KEPT", tmp_path / "results.json")
    (tmp_path / "full").mkdir()
    one = {**RESULTS["experiments"]["fig7"], "machine": RESULTS["machine"], "figures": [1], "seconds": 3.0}
    (tmp_path / "full" / "fig7.json").write_text(json.dumps(one))
    (tmp_path / "svm_light.json").write_text(json.dumps([{"data": "USPS"}]))
    publish.take()
    taken = publish.load()
    assert taken["experiments"] == {"fig7": RESULTS["experiments"]["fig7"]}
    assert taken["svm_light"] == [{"data": "USPS"}]
