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


def test_the_claims_are_those_of_the_scripts():
    """All of them, and no others: a claim that comes or goes wants `make paper`."""
    kept = RESULTS["experiments"]
    assert f"at commit {RESULTS['machine']['commit']}" in publish.PAGE.read_text(encoding="utf-8")
    assert not [name for name, one in kept.items() if publish.other_claims(name, one)]
    fig7 = copy.deepcopy(kept["fig7"])
    fig7["findings"][0]["claim"] += " No more."
    assert publish.other_claims("fig7", fig7)
    assert publish.other_claims("fig7", {"findings": kept["fig7"]["findings"][:1]})  # one of its claims has no verdict


def test_what_was_measured_by_other_code_is_named():
    """A script, or what it imports from there, that is no longer what has measured."""
    kept = copy.deepcopy(RESULTS["experiments"])
    now = {name: kept[name] | {"origin": {"script": publish.script(name)}} for name in ("fig7", "fig8")}
    assert publish.older(now) == ""
    now["fig8"] = kept["fig8"] | {"origin": {"script": "another"}}
    assert publish.older(now) == " Changed since then: `fig8.py`."


def test_results_of_different_versions_are_not_put_together(tmp_path, monkeypatch):
    monkeypatch.setattr(publish, "FOUND", tmp_path)
    (tmp_path / "full").mkdir()
    for name, library in (("fig7", "one"), ("fig8", "another")):
        one = {**RESULTS["experiments"][name], "origin": {"script": "", "library": library, "cpu": "x"}}
        (tmp_path / "full" / f"{name}.json").write_text(json.dumps(one))
    with pytest.raises(SystemExit, match="different versions"):
        publish.take()


def test_a_claim_with_numbers_in_it_is_known():
    (norma, *_) = publish.emitted(publish.KEPT.parent / "fig9.py")
    assert re.fullmatch(norma, "Pegasos outperforms NORMA, which has not converged after 5 iterations (7.6).")


@pytest.mark.parametrize(
    ("heading", "name", "claim", "held"),
    [
        ("## Small k does not slow Pegasos down", "study004", "k too small", False),
        ("## Not advancing t without a loss is no remedy", "study004", "Not advancing t", False),
        ("## A whole fit does depend on m", "over_m", "A whole fit of T steps", False),
        ("Steps to an accuracy do not grow with the number of rows", "over_m", "The number of steps", True),
    ],
)
def test_what_the_page_says_beside_the_tables_is_what_came_out(heading, name, claim, held):
    assert heading in publish.PAGE.read_text(encoding="utf-8")
    (found,) = [x for x in RESULTS["experiments"][name]["findings"] if x["claim"].startswith(claim)]
    assert found["held"] is held


def test_no_number_of_seconds_stands_in_the_page_but_what_the_script_writes():
    rest = publish.REGION.sub("", publish.PAGE.read_text(encoding="utf-8"))
    assert not re.findall(r"\d[\d.]* (?:s|seconds|times)\b|0\.\d+", rest)


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
