"""The table of rooms in docs/architecture.md is what the files import."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "pegasos"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
PUBLIC = "the public names"


def table() -> dict[str, set[str]]:
    """What every room may take from."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    found = {room: {a or b for a, b in re.findall(r"`(\w+)/`|`(_core)`", cell)} for room, cell in lines}
    return {room: found[room] | ({PUBLIC} if PUBLIC in cell else set()) for room, cell in lines}


def imported(path: Path, source: str | None = None) -> Iterator[str]:
    """Modules of the package that a file imports, within functions too: "losses.costs"; "" is the package itself."""
    room = ["pegasos", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(source or path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*room[: len(room) - node.level + 1]] if node.level else []
            base += node.module.split(".") if node.module else []
            inside = len(base) == 1 and base[0] == "pegasos"  # from .. import losses, words
            found = [".".join([*base, alias.name]) for alias in node.names] if inside else [".".join(base)]
        else:
            continue
        yield from (name.removeprefix("pegasos").removeprefix(".") for name in found if name.split(".")[0] == "pegasos")


def taken(room: str) -> set[str]:
    """From where the files of a room take something; small modules at the top are for all."""
    found = set()
    for path in (PACKAGE / room).rglob("*.py"):
        for name in imported(path):
            first = name.partition(".")[0]
            if first in ROOMS or first == "_core":
                found.add(first)
            elif not (PACKAGE / f"{first}.py").exists() or not first:
                found.add(PUBLIC)  # `import pegasos`, or a name of it
    return found - {room}


def test_every_room_is_in_the_table() -> None:
    assert sorted(set(table()) & set(ROOMS)) == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_takes_from_those_that_the_table_says(room: str) -> None:
    assert taken(room) == table()[room]


def test_nothing_imports_the_command_or_the_cluster() -> None:
    for room in ROOMS:
        assert not taken(room) & {"cli", "dask"}


def test_how_fits_go_comes_to_sequences_through_one_file() -> None:
    for path in (PACKAGE / "structured").glob("*.py"):
        if path.name != "run.py":
            elsewhere = {name for name in imported(path) if not name.startswith("structured")}
            assert elsewhere <= {"_core", "words", "caller", "losses.costs", "problem.entries", "problem.rows"}, path


def test_imports_are_seen_wherever_they_stand() -> None:
    source = (
        "from ..a.b import c\nfrom . import d\nfrom .. import _core, e\ndef f():\n import pegasos.g\n import pegasos"
    )
    assert [*imported(PACKAGE / "io" / "x.py", source)] == ["a.b", "io", "_core", "e", "g", ""]
