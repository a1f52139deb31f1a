"""What `make mutants` keeps: a run goes on where the last one stopped, and a sample speaks for all."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import mutant_results
import mutants
import pytest
from mutant_results import Results, Share, equivalents, mixed, room
from mutant_switches import mutate


@dataclass(frozen=True)
class Mutant:
    number: int
    file: str
    place: str


def named(number: int, file: str = "loss/a.hpp") -> Mutant:
    return Mutant(number, file, f"{file} | + 1 | line {number}")


def test_every_beginning_has_each_rooms_share() -> None:
    everyone = [named(n, "loss/a.hpp") for n in range(60)] + [named(n, "proof/b.hpp") for n in range(60, 90)]
    order = mixed(everyone)
    assert sorted(order, key=lambda mutant: mutant.number) == everyone
    assert order != everyone
    for n in (9, 30, 60):
        found = Counter(map(room, order[:n]))
        assert abs(found["losses"] - 2 * n / 3) <= 1


def test_a_result_holds_until_its_file_or_the_tests_change(tmp_path: Path) -> None:
    core = tmp_path / "core"
    (core / "loss").mkdir(parents=True)
    (core / "loss" / "a.hpp").write_text("a + b")
    first, second = named(1), named(2)
    results = Results(tmp_path / "results.jsonl", core)
    results.write(first, "test_it", "tests")
    results.write(second, "", "tests")
    for known in (results, Results(tmp_path / "results.jsonl", core)):
        assert known.is_killed(first)
        assert not known.is_killed(second)
        assert known.deadliest() == {"": Counter(test_it=1), "loss/a.hpp": Counter(test_it=1)}
        assert known.has_survived(second, "tests")
        assert not known.has_survived(second, "other tests")
        assert known.alive([first, second], "tests") == []
        assert known.alive([first, second], "other tests") == [second]
    (core / "loss" / "a.hpp").write_text("a - b")
    later = Results(tmp_path / "results.jsonl", core)
    assert not later.is_killed(first)
    assert not later.has_survived(second, "tests")


def test_equivalent_mutants_are_known_by_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = tmp_path / "equivalent.txt"
    monkeypatch.setattr(mutant_results, "EQUIVALENT", listed)
    listed.write_text("# why\n\nloss/a.hpp | + 1 | line 3 | a or b is the same\n")
    assert equivalents([named(3)]) == {"loss/a.hpp | + 1 | line 3": "a or b is the same"}
    with pytest.raises(SystemExit, match="no mutant any more"):
        equivalents([named(4)])


def test_every_equivalent_mutant_is_one_of_the_core() -> None:
    core = mutants.ROOT / "cpp" / "pegasos"
    assert equivalents(
        [mutant for file in mutants.FILES for mutant in mutate(file, (core / file).read_text(), 0, set())[1]]
    )


def test_wilsons_interval() -> None:
    """Brown, Cai & DasGupta 2001: by the roots of (p - share)^2 = z^2 p (1 - p) / n."""
    low, high = Share(190, 200).interval()
    for p in (low, high):
        assert (p - 0.95) ** 2 == pytest.approx(1.96**2 * p * (1 - p) / 200)
    assert low < 0.95 < high
    assert Share(10, 10).interval()[1] == pytest.approx(1)
    assert "190 of 200 killed: 95.0%" in str(Share(190, 200))
