"""The figures of README.md and benchmarks/README.md are those of the published results, and the README is short."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.delitem(sys.modules, "report", raising=False)
    import report

    return report


def test_every_marked_region_is_what_the_script_writes(report: Any) -> None:
    named = []
    for page in report.PAGES:
        text = page.read_text(encoding="utf-8")
        assert text == report.written(text, report.load()), f"{page.name} is not up to date: run `make figures`"
        named += [match[2] for match in report.REGION.finditer(text)]
    assert sorted(named) == sorted(report.REGIONS)


def test_another_result_gives_another_page(report: Any) -> None:
    text = report.PAGES[0].read_text(encoding="utf-8")
    changed = [f | {"score": 12.3} if f["peer"] == "Snap 2" else f for f in report.load()]
    assert "| 12, 12, 12 |" in report.written(text, changed)


def test_every_published_finding_says_when_and_from_which_code(report: Any) -> None:
    for f in report.load():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", f["when"])
        assert re.fullmatch(r"[0-9a-f]{7,40}", f["commit"])
        assert f["source"] == "README.md" or f["source"].endswith(".json")


def test_published_fits_are_judged_by_the_targets_of_today(report: Any) -> None:
    """A figure that is short of the target must say so, whenever it was measured."""
    import dual

    fits = [f for f in report.load() if f["contest"] == "fit to 1e-4"]
    judged = 0
    for f in fits:
        for ours, theirs, target in dual._pairings(SimpleNamespace(dense=f["data"] == "covertype"), f["lam"]):
            if (ours, theirs) == (f"ours {f['threads']}", f["peer"]):
                assert f["target"] == target, f
                judged += target is not None
    assert judged > 12


def test_the_table_of_cores_has_every_kind_of_rows_and_the_replicas_that_suit(report: Any) -> None:
    one = {
        "peer": "one replica",
        "threads": None,
        "target": None,
        "sense": "faster",
        "when": "",
        "commit": "",
        "score": 3,
    }
    said = [
        one | {"contest": f"critical path, {which}", "data": data, "lam": lam, "replicas": 8 if lam < 1e-5 else 16}
        for which in ("8 replicas", "16 replicas", "replicas that suit")
        for data in report.DATA
        for lam in report.LAMBDAS
    ]
    lines = report.cores(report.Report(said)).splitlines()
    for rows in report.DATA.values():
        assert [line.split(" | ")[1] for line in lines if rows in line] == ["8", "16", "best: 16, 16, 8"]


def git(*asked: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *asked], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def test_every_commit_that_is_named_is_in_the_history(report: Any) -> None:
    if not shutil.which("git") or git("rev-parse", "--show-prefix") != "\n":
        pytest.skip("this is no git checkout")
    if git("rev-parse", "--is-shallow-repository") != "false\n":
        pytest.skip("this checkout has no history")
    history = git("log", "--format=%H").split()
    for commit in {f["commit"] for f in report.load()}:
        assert any(known.startswith(commit) for known in history), commit


def test_a_row_without_a_figure_is_left_out(report: Any) -> None:
    some = [f for f in report.load() if f["source"] == "choosing.json" and f["data"] != "texts"]
    assert "10,000 abstracts" not in report.choosing(report.Report(some))
    assert "Kernel search" not in report.choosing(report.Report(some))
    one = some[0] | {"contest": "kernel search", "data": "adult", "lam": None}
    assert "five folds: " in report.choosing(report.Report([*some, one]))


def test_dates_are_those_of_the_findings_and_their_age_is_nobodys_matter(report: Any) -> None:
    used = report.Report([])
    used.used = [{"when": "2027-01-02", "commit": c, "source": s} for c, s in (("b", "README.md"), ("a", "x.json"))]
    used.used.append({"when": "2026-12-31", "commit": "c", "source": "x.json"})
    assert used.dates() == "Measured 2026-12-31, commit c; 2027-01-02, commits a, b."


def test_a_finding_that_is_taken_replaces_the_older_one(report: Any, monkeypatch: Any, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    old = [f for f in report.load() if f["contest"] == "fit to 1e-4" and f["data"] == "arxiv"]
    published = tmp_path / "results" / "published.json"
    published.write_text(json.dumps(old))
    (others,) = re.findall(r"LinearSVC[^|]*\| [^,|]+, ([^|]+) \|", report.certified(report.Report(old)))
    said = "LinearSVC, tol=0.1; ours: 2 threads"
    found = {
        "contest": "fit to 1e-4, lam 0.0001",
        "data": "arxiv 698k",
        "against": said,
        "unit": "s",
        "sense": "faster",
    }
    found |= {"score": 7.5, "target": 8.0, "ours": 1.0, "yardstick": 7.5, "notes": {}}
    results = {"when": "2027-01-02T03:04:05Z", "machine": {"commit": "abcdef0"}, "findings": [found]}
    (tmp_path / "results" / "linear.json").write_text(json.dumps(results))
    monkeypatch.setattr(report, "HERE", tmp_path)
    monkeypatch.setattr(report, "PUBLISHED", published)
    report.take(["linear"])
    new = report.load()
    assert len(new) == len(old)
    assert [f["score"] for f in new if f["commit"] == "abcdef0"] == [7.5]
    assert f"| 7.5, {others} |" in report.certified(report.Report(new))
    assert "7.5, target 8" in report.certified(report.Report(new))


def test_the_readme_has_at_most_100_lines() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100
