"""Bad input is refused with an error that says where or what, and the process lives on.

The cases are in bad_sparse.py, bad_values.py, bad_params.py and good_layouts.py; bad_cases.py runs them in processes
of their own.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bad_cases import all_cases
from helpers import run_python

CASES = all_cases()
FAULTS = list(dict.fromkeys(case.fault for case in CASES if case.says is not None))
LAYOUTS = list(dict.fromkeys(case.fault for case in CASES if case.says is None))


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], dict[str, Any]]:
    done = run_python("-m", "bad_cases")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(CASES)
    return {(case.fault, case.variant): json.loads(line) for case, line in zip(CASES, lines, strict=True)}


def complaint(says: tuple[str, ...] | None, outcome: dict[str, Any]) -> str | None:
    if not outcome["lives"]:
        return f"no normal fit afterwards: {outcome['kind']}"
    if outcome["kind"] != ("accepted" if says is None else "ValueError"):
        return f"{outcome['kind']}: {outcome['said'][:300]}"
    missing = [words for words in says or () if not re.search(words, outcome["said"])]
    return f"says {outcome['said'][:300]!r}, without {missing!r}" if missing else None


def complaints(fault: str, outcomes: Any) -> dict[str, str]:
    cases = [case for case in CASES if case.fault == fault]
    heard = {case.variant: complaint(case.says, outcomes[fault, case.variant]) for case in cases}
    return {variant: said for variant, said in heard.items() if said}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_input_is_refused_by_name_and_the_process_lives(fault: str, outcomes: Any) -> None:
    assert complaints(fault, outcomes) == {}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_memory_layout_gives_the_same_model(layout: str, outcomes: Any) -> None:
    assert complaints(layout, outcomes) == {}


def test_every_case_has_a_name_of_its_own() -> None:
    names = [(case.fault, case.variant) for case in CASES]
    assert len(set(names)) == len(names)
