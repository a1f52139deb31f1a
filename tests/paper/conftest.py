"""Puts paper/ on the path. What needs the native systems is skipped where `make paper-native` has not been run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "paper"))

import systems


@pytest.fixture
def native():
    if not systems.built():
        pytest.skip(systems.NOT_BUILT)
    return systems.native()


# What a report needs is imported when one is asked for: most tests here do without.
@pytest.fixture(scope="session")
def page(tmp_path_factory):
    import write_report
    from made_up_report import result

    folder = tmp_path_factory.mktemp("report")
    for name, figures, held in (("second", 2, False), ("first", 1, True), ("third", 0, None)):
        (folder / f"{name}.json").write_text(json.dumps(result(name, figures, held)))
    return write_report.write(folder, ["first", "second"])


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """The page of some of the experiments as they are, at reduced sizes: spreads, numbers that are none, two panels."""
    import experiment
    import run
    import write_report

    folder = tmp_path_factory.mktemp("real") / "quick"
    names = ["over_m", "eq19", "fig9"]
    for one in run.load(names):
        experiment.run(one, experiment.Setting(True, False, folder / one.name))
    return write_report.write(folder, names)
