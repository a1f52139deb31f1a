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


def test_claims_that_no_script_makes_any_more_are_named():
    """The texts of the stored claims are those of the scripts, or the page says of which commit they are and whose."""
    page, kept = publish.PAGE.read_text(encoding="utf-8"), RESULTS["experiments"]
    assert f"at commit {RESULTS['machine']['commit']}" in page
    for name, one in kept.items():
        assert publish.other_claims(name, one) is (
            f"`{name}.py`" in page.partition(" other claims have come to ")[2][:200]
        )
    fig7 = copy.deepcopy(kept["fig7"])
    assert not publish.older({"fig7": fig7})
    fig7["findings"][0]["claim"] += " No more."
    assert publish.older({"fig7": fig7}) == " Since then other claims have come to `fig7.py`."
    assert publish.other_claims("fig7", {"findings": kept["fig7"]["findings"][:1]})  # one of its claims has no verdict


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
