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


KINDS = ("eq", "fig", "table", "lemma", "theorem", "corollary", "example", "section")
ONE = re.compile(r"\b(eq|figs?|tables?|lemmas?|theorems?|corollary|examples?|sections?)\b\.? "
                 r"(\d+(?!\.?\d)(?:(?:, | and |-)\d+(?!\.?\d))*)", re.IGNORECASE)  # fmt: skip
PARTS = {
    "journal": {"eq": range(1, 26), "fig": range(1, 10), "table": range(1, 4), "lemma": range(1, 4), "theorem": [1],
                "corollary": [1, 2], "example": range(1, 6),
                "section": [1, *(f"2.{n}" for n in range(1, 5)), 3, 4, 5, 6, 7, *(f"7.{n}" for n in range(1, 7))]},
    "2007": {"theorem": [2, 3]},
    "study 004": {"fig": [2, 3, 4], "section": ["4.2", "4.3", "4.4", "4.5"]},
}  # fmt: skip


def parts_of(row: str) -> set[tuple[str, str, str]]:
    """(text, kind, number) for all that the first column of a row names."""
    first = row.split("|")[1].strip()
    source = next((text for text in PARTS if first.startswith(text)), "journal")
    found = {(source, "section", number) for number in re.findall(r"(?:^|, )(\d\.\d)(?=[,:]| |$)", first)}
    for kind, numbers in ONE.findall(first):
        for first_one, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
            for n in range(int(first_one), int(last or first_one) + 1):
                found.add((source, next(k for k in KINDS if kind.lower().startswith(k)), str(n)))
    return found


def missing(text: str) -> set[tuple[str, str, str]]:
    """What no row of the two tables is about; to be mentioned elsewhere, among the slips for one, is not enough."""
    tables = text[: text.index("## The systems")]
    named = set().union(*(parts_of(row) for row in tables.splitlines() if row.startswith("| ")))
    asked = {(source, kind, str(n)) for source, kinds in PARTS.items() for kind, ns in kinds.items() for n in ns}
    return asked - named


def test_every_script_is_on_the_map():
    assert all(f"paper/{name}.py" in TEXT for name in run.ORDER)


def test_every_part_of_the_papers_has_a_row():
    assert missing(TEXT) == set()
    assert TEXT.count("| lecture notes: ") == 1


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("| 2.2, eq. 6", ("eq", "6")),
        ("| 2.4: ", ("section", "2.4")),
        ("| section 3, lemma 1", ("lemma", "1")),
        ("| theorem 1, corollary 1", ("corollary", "1")),
        ("| eq. 12, 13", ("eq", "13")),
        ("| lemmas 2, 3", ("lemma", "3")),
        ("| section 5, examples 1", ("example", "2")),
        ("| 7.1, table 1", ("table", "1")),
        ("| 7.6, fig. 9", ("fig", "9")),
        ("| study 004, 4.2", ("section", "4.2")),
        ("| study 004, figs. 2-4, 4.3", ("section", "4.3")),
        ("| study 004, 4.4", ("section", "4.4")),
        ("| study 004, 4.5", ("section", "4.5")),
    ],
)
def test_a_row_that_goes_is_missed(row, part):
    rest = [line for line in TEXT.splitlines() if not line.startswith(row)]
    assert len(rest) == len(TEXT.splitlines()) - 1
    assert ("study 004" if "study" in row else "journal", *part) in missing("\n".join(rest))
