"""The report is one file that says everything; test_report_in_browser.py tries it."""

from __future__ import annotations

import re

import pytest
import run
import write_report
from made_up_report import result

pytest.importorskip("plotly", reason="plotly, which the report is drawn with, is not installed")


def test_the_report_says_everything_and_loads_nothing(page):
    text = page.read_text()
    own = text.replace(write_report.plotly_js(), "")
    for said in ("title of first", "a claim of a paper", "did not hold", "cannot be told", "3 &lt; 4", "Seeds 0, 1",
                 "stand-in", "python paper/second.py --quick", "a cpu", "numpy 2", "2 of 6 claims held",
                 "reduced sizes", "781,265", "3 minutes of the processor", "61 s of the processor"):  # fmt: skip
        assert said in own, said
    assert own.index("title of first") < own.index("title of second")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", own)
    assert text.count("plotly.js v") >= 1
    svgs = sorted(path.name for path in (page.parent / "svg").iterdir())
    assert svgs == ["first_0.svg", "second_0.svg", "second_1.svg"]
    assert all("<svg" in (page.parent / "svg" / name).read_text() for name in svgs)


def test_without_results_the_report_says_what_to_run(tmp_path):
    with pytest.raises(SystemExit, match="make paper"):
        write_report.write(tmp_path, [])


def test_every_figure_says_what_rows_it_shows(page):
    captions = re.findall("<figcaption>(.*?)</figcaption>", page.read_text())
    assert len(captions) == 3
    assert all("a note. CCAT: stand-in. a claim" in said for said in captions)
    assert all('a claim of a paper <span class="verdict' in said and "Seeds 0, 1." in said for said in captions)
    assert all("3 &lt; 4." in said and "one of a table" not in said for said in captions)
    said = {"note": "cov1: a part of it. Epsilon is 3."}, [{"paper": "cov1", "here": "a part of it"}]
    assert write_report.caption(*said) == said[0]["note"]  # not twice


def test_every_figure_says_on_what_it_ran_and_how_to_run_it_again(page):
    command = "PEGASOS_DATA=folder OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python paper/{}.py --quick"
    for name, said in zip(
        ("first", "second", "second"), re.findall("<figcaption>(.*?)</figcaption>", page.read_text()), strict=True
    ):
        assert f"<code>{command.format(name)}</code>" in said
        assert "a cpu, 2 cores; pegasos 1, numpy 2; commit abc." in said
    outside = result("first", 1, True)
    outside["machine"]["commit"] = None
    assert "commit unknown" in write_report.ran(outside)  # of a copy that is no repository
    assert write_report.ran(result("third", 0, None)) in page.read_text()  # once, where no figure says it


def test_a_claim_stands_under_the_figures_that_show_it():
    def one(claim: str, *figures: str) -> dict:
        return {"claim": claim, "figures": list(figures)}

    findings = [one("a", "left"), one("b", "right", "CCAT"), {"claim": "c", "figures": None}]
    shown = {title: "".join(x["claim"] for x in write_report.shown_by({"title": title}, findings))
             for title in ("Fig. 7, left", "Fig. 7, right", "CCAT", "Fig. 8")}  # fmt: skip
    assert shown == {"Fig. 7, left": "ac", "Fig. 7, right": "bc", "CCAT": "bc", "Fig. 8": "c"}


def test_the_machine_of_every_experiment_is_named(page):
    """One table where all ran on the same, whatever the load was; else one for each machine, with who ran there."""
    same = [result("first", 0, True), result("second", 0, True)]
    same[1]["machine"]["load"] = None
    assert write_report.machine(same).count("<table>") == 1
    same[0]["machine"]["cpu"] = "another cpu"
    tables = write_report.machine(same).split("<table>")[1:]
    assert [("first" in table, "another cpu" in table) for table in tables] == [(True, True), (False, False)]


def test_a_report_that_is_not_whole_says_so(page):
    results = [result(name, 0, True) for name in run.ORDER]
    assert "Every table and figure of section 7" in write_report.lead(results)
    assert "not whole" not in write_report.lead(results)
    assert "not whole" in write_report.lead(results[1:])
    assert "Not run: <code>table1_fig4.py</code>." in write_report.lead(results[1:])
    results[1]["command"] += " --only usps"
    assert "In part: <code>python paper/tables23_fig5.py --quick --only usps</code>." in write_report.lead(results)
    assert "not whole" in page.read_text()


def test_every_figure_of_an_experiment_has_a_claim_and_its_seeds(real):
    captions = re.findall("<figcaption>(.*?)</figcaption>", real.read_text())
    assert len(captions) == 5
    for said in captions:
        assert re.search(r'<span class="verdict (held|not|)">', said)
        assert "Seeds 0" in said
        assert "--quick</code>" in said
