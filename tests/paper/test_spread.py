"""Seconds stand with the least and the most of them, or with a word on how often they were measured."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import experiment
import over_m
import pytest
import rcv1_2007
import study004
import table1_fig4
import tables23_fig5
import write_report
from test_verdicts import adult, table_2, trace


class Stored(experiment.Setting):
    """What parts have found is given; nothing is measured."""

    found: dict[str, Any]

    def part(self, name, work, share):
        return self.found[name]


def stored(found: dict[str, Any], quick: bool = True) -> Stored:
    setting = Stored(quick, False, Path("unused"))
    setting.found = found
    return setting


def assert_every_figure_has_a_claim(figures: list[experiment.Figure], findings: list[experiment.Finding]) -> None:
    assert figures
    for figure in figures:
        assert write_report.shown_by({"title": figure.title}, [vars(finding) for finding in findings]), figure.title


def test_over_m_has_the_spread_over_seeds_and_the_labels_apart():
    line = {what: [0.2, 0.1, 0.3] for what in over_m.SERIES} | {"steps": [20.0, 10.0, 30.0]}
    (table,) = (result := over_m.run(stored({f"m{m}": line for m in (1000, 10_000, 100_000)}))).tables
    assert table.rows[0] == ["1,000", "20 [10, 30]", *["0.2 s [0.1, 0.3]"] * 4]
    assert any("its labels encoded" in column for column in table.columns)
    assert "the least and the most" in table.note
    assert all((curve.low, curve.high) != (None, None) for figure in result.figures for curve in figure.curves)


def test_over_m_keeps_the_spread(monkeypatch):
    """Of what it measures: all five seeds, and not their median alone."""
    monkeypatch.setattr(over_m, "EPSILON", 0.5)
    found = over_m.measure(300, stored({}))
    assert set(found) == {"steps", *over_m.SERIES}
    assert all(least <= middle <= most for middle, least, most in found.values())
    assert found["loop"][1] < found["loop"][2]


@pytest.mark.parametrize("slow", [False, True])
def test_rcv1_has_the_paper_beside_and_every_spread(slow):
    seconds = [0.5, 1.0, 2.0]
    traces = [
        trace([n * x for x in seconds], [0.05, 0.009, math.inf if slow else 0.0005], [0.1] * 3) for n in (1, 2, 9)
    ]
    data = {"paper": "RCV1", "here": "made up", "train": 9}
    found = {"data": data, "traces": traces, "ours": {"0.01": [1.0, 3.0, 2.0], "0.001": [4.0, 4.0, 6.0]}}
    result = rcv1_2007.run(stored({"all": found}, quick=False))
    (table,) = result.tables
    rows = {row[0]: row[1:] for row in table.rows}
    assert table.columns[-1] == "the paper"
    assert rows["0.01"] == ["2 s [1, 9]", "< 5 s"]
    assert rows["0.001"][0] == ("more than 20 s [more than 20, more than 20]" if slow else "4 s [2, 18]")
    assert rows["0.001, certified: pegasos (Auto), the whole fit"][0] == "4 s [4, 6]"
    assert "the least and the most" in table.note
    assert result.findings[0].held
    assert "with proof: 4 s" in result.findings[0].shown
    found["traces"] = [trace([6.0], [0.001], [0.1])] * 3
    assert rcv1_2007.run(stored({"all": found}, quick=False)).findings[0].held is False


def test_study_004_has_the_spread_over_starts_and_speaks_of_the_optimum():
    counts = [0, 50, 200, 300]
    starts = {"objective": [[1.0, 0.5, 0.4, 0.35]] * 3, "error": [[0.5, 0.1, 0.1, 0.1]] * 3, "seconds": [2.0, 1.0, 3.0]}
    excess = {
        how: {"excess": {str(k): [0.1] * 3 for k in study004.sizes(stored({}), how)}} for how in ("always", "on_loss")
    }
    found = {
        "convergence": {"data": {}, "best": {"objective": 0.3, "error": 0.1}, "counts": counts, **starts},
        **excess,
    }
    result = study004.run(stored(found))
    (table,) = result.tables
    assert table.rows[-1][-1].endswith(", 2 s [1, 3]")
    assert "the least and the most" in table.note
    (claim,) = [finding.claim for finding in result.findings if "test error" in finding.claim]
    assert "at the optimum's level, where SVM-Light ends" in claim
    assert "SVM-Light is not run here" in result.figures[1].note
    assert_every_figure_has_a_claim(result.figures, result.findings)


def test_what_was_measured_once_is_said_to_be():
    none = {who: [] for who in tables23_fig5.SYSTEMS}
    found = table_2(adult(), none)
    assert "and LIBSVM: measured once" in found.tables[0].note
    assert all("Lines are of seed 0, system after system" in figure.note for figure in found.figures)
    assert_every_figure_has_a_claim(found.figures, found.findings)
    (digits,) = [vars(finding) for finding in found.findings if finding.claim.startswith("On USPS and MNIST")]
    assert not any(write_report.shown_by({"title": figure.title}, [digits]) for figure in found.figures)  # of Adult
    assert write_report.shown_by({"title": "Fig. 5, USPS: test error"}, [digits])
    figures = table1_fig4._figures("CCAT", "made up", {}, {}, 0.1, 0.1)
    times = {"CCAT": dict.fromkeys(table1_fig4.SYSTEMS, (1.0, 1.0))}
    assert_every_figure_has_a_claim(figures, table1_fig4._findings(times))
    for figure in figures:
        assert "Lines are of seed 0; points are whole fits of today's systems, each measured once." in figure.note
