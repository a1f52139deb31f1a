"""docs/paper.md leads to files and tests that exist, and leaves out no part of the papers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import run

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:src|cpp|tests|paper)/[\w./]+)(?:::(\w+))?`", TEXT)))


def test_there_is_something_to_check():
    assert len(NAMED) > 60


@pytest.mark.parametrize(("path", "test"), NAMED)
def test_what_the_map_names_is_there(path, test):
    assert (ROOT / path).is_file()
    if test:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_every_script_and_every_equation_is_on_the_map():
    assert all(f"paper/{name}.py" in TEXT for name in run.ORDER)
    mentioned = set()
    for first, last in re.findall(r"eq\. (\d+)(?:[-,]? ?(\d+))?", TEXT):
        mentioned |= set(range(int(first), int(last or first) + 1))
    assert not set(range(1, 26)) - mentioned
