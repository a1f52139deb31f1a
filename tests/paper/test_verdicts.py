"""Who did not get there has a bound for its time, and a claim has a verdict only where the bounds allow one."""

from __future__ import annotations

import math
from pathlib import Path

import experiment
import measure
import pytest
import table1_fig4
import tables23_fig5
import verdicts

COARSE = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]
FALLS = [0.3, 0.1, 0.05, 0.02, 0.01, 0.001]


def trace(seconds: list[float], excess: list[float], error: list[float]) -> measure.Trace:
    return {"seconds": seconds, "steps": seconds, "evaluations": seconds, "suboptimality": excess, "error": error}


def adult(**ends_at: float) -> dict:
    """Every system falls as FALLS does; those that are named stay at what is said."""
    error = [0.2, 0.12, 0.105, 0.1, 0.1, 0.1]
    return {
        "data": {"paper": "Adult", "here": "made up"},
        "best": {"objective": 0.3, "gap": 0.0, "error": 0.1, "seconds": 1.0},
        "limit": 16.0, "libsvm": {"seconds": 1.0, "error": 0.1},
        "traces": {who: trace(COARSE, [max(x, ends_at.get(who.replace("-", ""), 0.0)) for x in FALLS], error)
                   for who in tables23_fig5.SYSTEMS},
    }  # fmt: skip


def table_2(first: dict, near: dict) -> experiment.Result:
    class Stored(experiment.Setting):
        def part(self, name, work, share):
            return near if "_again" in name else first

    return tables23_fig5.run(Stored(False, False, Path("unused"), only=("adult",)))


def test_a_system_that_only_the_coarse_trace_shows_at_epsilon_has_its_time():
    """A point between two of the first looks makes epsilon smaller than the finer looks go."""
    near = {who: [trace([1.0, 2.0, 4.0], [0.1, 0.05, 0.02], [0.12, 0.105, 0.1])] for who in tables23_fig5.SYSTEMS}
    near["SDCA"] = [trace([1.0, 2.0, 4.0], [0.1, 0.015, 0.02], [0.12, 0.115, 0.1])]
    (row, _) = table_2(adult(), near).tables[0].rows
    assert row[2] == "0.015"
    assert row[4:8] == ["8 s (10.00%)"] * 4  # below 0.015 for the first time


def test_whoever_has_no_finer_looks_at_a_smaller_epsilon_runs_again():
    first = {who: [trace([1.0, 2.0], [0.1, 0.02], [0.12, 0.1])] for who in tables23_fig5.SYSTEMS}
    first["SDCA"] = [trace([1.0, 2.0, 3.0], [0.1, 0.015, 0.012], [0.12, 0.115, 0.1])]
    later = {who: [trace([4.0, 6.0], [0.02, 0.013], [0.1, 0.1])] for who in ("Pegasos", "SVM-Light", "LASVM")}
    asked = []

    class Stored(experiment.Setting):
        def part(self, name, work, share):
            asked.append((name, work.__defaults__[0]))
            return {"adult_again": first, "adult_again2": later}[name]

    epsilon, near = tables23_fig5.settle("adult", adult(), Stored(False, False, Path("unused")))
    assert epsilon == pytest.approx(0.999 * 0.015)
    assert asked == [
        ("adult_again", dict.fromkeys(tables23_fig5.SYSTEMS, 2.0)),
        ("adult_again2", dict.fromkeys(later, 8.0)),
    ]
    assert near == first | later


def test_finer_looks_count_where_all_of_them_get_there():
    near = {who: [trace([1.0, 1.5], [0.1, x], [0.12, 0.1]) for x in (0.08, 0.06)] for who in tables23_fig5.SYSTEMS}
    assert table_2(adult(), near).tables[0].rows[0][4:8] == ["1.5 s (10.00%)"] * 4


def test_without_anybody_at_epsilon_nobody_is_first():
    none = {who: [] for who in tables23_fig5.SYSTEMS}
    high = {who.replace("-", ""): 0.2 for who in tables23_fig5.SYSTEMS}
    first, _, rough, _ = table_2(adult(**high), none).findings
    assert first.held is None
    assert "cannot be told on Adult" in first.shown
    assert rough.held is None
    assert "cannot be told" in rough.shown
    first, *_ = table_2(adult(Pegasos=0.2, SDCA=0.2), none).findings
    assert first.held  # the two took longer than LASVM did
    first, *_ = table_2(adult(LASVM=0.2), none).findings
    assert first.held is False


@pytest.mark.parametrize(
    ("perf", "held", "says"),
    [(3.0, True, "astro-ph: 3, 3"), (1.0, False, "astro-ph: 1, 1"), (None, True, "more than 8")],
)
def test_table_1_compares_with_what_is_known(perf, held, says):
    times = dict.fromkeys(table1_fig4.SYSTEMS, (1.0, 1.0)) | {"SVM-Perf": verdicts.time_of([perf] if perf else [], 8.0)}
    faster, last, more, _ = table1_fig4._findings({"astro-ph": times})
    assert faster.held is held
    assert says in faster.shown
    assert last.held is (perf == 1.0)
    assert more.held is None  # of CCAT and cov1 nothing is known
    easy = {"astro-ph": dict.fromkeys(table1_fig4.SYSTEMS, verdicts.UNKNOWN)}
    assert [found.held for found in table1_fig4._findings(easy)] == [None] * 4
    slow = {"CCAT": times, "cov1": times | {"Pegasos": (8.0, math.inf)}}
    assert table1_fig4._findings(slow)[2].held
    slow["CCAT"] = slow["cov1"]
    assert table1_fig4._findings(slow)[2].held is None


def test_where_every_accuracy_is_good_enough_no_time_decides():
    """Nobody errs more than at the optimum, so epsilon is infinite, and whoever is looked at first would win."""
    found = adult()
    for line in found["traces"].values():
        line["error"] = [0.1] * 6
    first, *_ = (result := table_2(found, {who: [] for who in tables23_fig5.SYSTEMS})).findings
    assert result.tables[0].rows[0][2] == "inf"
    assert first.held is None
    assert "cannot be told on Adult" in first.shown


def test_one_that_did_not_hold_decides_and_nothing_decides_nothing():
    assert verdicts.all_of([True, None, False]) is False
    assert verdicts.all_of([True, None]) is None
    assert verdicts.all_of([]) is None
    assert verdicts.all_of([True]) is True
    assert verdicts.words(verdicts.over((1.0, 1.0), (2.0, math.inf))) == "less than 0.5"


def test_where_seeds_do_not_agree_nothing_can_be_told():
    mine, theirs = verdicts.time_of([3.0, 1.0, 2.0], 8.0), verdicts.time_of([2.5], 8.0)
    assert mine == (1.0, 3.0)
    assert verdicts.above(verdicts.over(theirs, mine), 1) is None
    assert verdicts.above(verdicts.over(theirs, mine), 0.8) is True
    assert verdicts.words(verdicts.over(theirs, mine)) == "0.833 to 2.5"
