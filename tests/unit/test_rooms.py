"""The tables of rooms in docs/architecture.md are what the files import, and those of the core include."""

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
CORE = ROOT / "cpp" / "pegasos"
CORE_ROOMS = sorted(path.name for path in CORE.iterdir() if path.is_dir())


def table() -> dict[str, set[str]]:
    """What every room may take from."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)/` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    found = {room: {a or b for a, b in re.findall(r"`(\w+)/`|`(_core)`", cell)} for room, cell in lines}
    return {room: found[room] | ({PUBLIC} if PUBLIC in cell else set()) for room, cell in lines}


def core_table() -> dict[str, set[str]]:
    """What every room of the core may take from, in the order of the table."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", text, re.MULTILINE)
    return {room: set(re.findall(r"`(\w+)`", cell)) for room, cell in lines if room in CORE_ROOMS}


def included(source: str) -> set[str]:
    """Files that a file of the core includes: "pegasos/data/rows.hpp"; those of libraries in angles: "<vector>"."""
    return {a or b for a, b in re.findall(r'^\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))', source, re.MULTILINE)}


def core_taken(room: str) -> set[str]:
    """From where the files of a room of the core take something."""
    files = [name for path in (CORE / room).rglob("*.[ch]pp") for name in included(path.read_text(encoding="utf-8"))]
    return {name.split("/")[1] for name in files if name.startswith("pegasos/")} - {room}


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


def test_every_room_of_the_core_is_in_its_table() -> None:
    assert sorted(core_table()) == CORE_ROOMS


@pytest.mark.parametrize("room", CORE_ROOMS)
def test_a_room_of_the_core_takes_from_those_that_the_table_says(room: str) -> None:
    assert core_taken(room) == core_table()[room]


def test_rooms_of_the_core_are_layers() -> None:
    above: set[str] = set()
    for room, takes in core_table().items():
        assert takes <= above, room
        above.add(room)


def test_the_core_knows_no_python() -> None:
    for path in CORE.rglob("*.[ch]pp*"):
        for name in included(path.read_text(encoding="utf-8")):
            assert name.startswith(("pegasos/", "<")), path
            assert "ython" not in name, path
            assert "nanobind" not in name, path


def test_includes_are_seen_wherever_they_stand() -> None:
    source = '#include "pegasos/data/rows.hpp"\n  # include <vector>\n// #include "pegasos/io/scratch.hpp"\n'
    assert included(source) == {"pegasos/data/rows.hpp", "<vector>"}
