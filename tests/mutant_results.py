"""What is known of the mutants: which were killed, which cannot be, and what follows for all of them.

Results are written down one by one, so that a run goes on where the last one stopped. A mutant is known by its line and
its place there, not by its number: what was found holds until its file of the core changes.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

HERE = Path(__file__).parent
EQUIVALENT = HERE / "mutants_equivalent.txt"
ROOMS = {
    **{"loss": "losses", "pegasos": "steps", "linalg": "steps", "proof": "certificates", "data": "samplers"},
    **{"dual": "certificates", "kernel": "kernels", "structured": "sequences"},
}


class Mutant(Protocol):
    """What is known of a mutant here."""

    @property
    def number(self) -> int: ...
    @property
    def file(self) -> str: ...
    @property
    def place(self) -> str: ...


M = TypeVar("M", bound=Mutant)


def room(mutant: Mutant) -> str:
    """Losses, steps, certificates, samplers, kernels or sequences."""
    return ROOMS[mutant.file.partition("/")[0]]


def mixed(mutants: Sequence[M]) -> list[M]:
    """In an order of which every beginning is a random sample with each room's share in it."""
    rooms: dict[str, list[M]] = defaultdict(list)
    for mutant in mutants:
        rooms[room(mutant)].append(mutant)
    turns: list[tuple[float, M]] = []
    for members in rooms.values():
        random.Random(0).shuffle(members)
        turns += (((at + 0.5) / len(members), mutant) for at, mutant in enumerate(members))
    return [mutant for _, mutant in sorted(turns, key=lambda turn: turn[0])]


def fingerprint(files: Iterable[Path]) -> str:
    """Changes when one of the files does."""
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:12]


def equivalents(mutants: Sequence[Mutant]) -> dict[str, str]:
    """Mutants that compute the same, by their place, and why. `file | operator | line | why`, a line each."""
    found, places = {}, {mutant.place for mutant in mutants}
    for line in EQUIVALENT.read_text().splitlines():
        if line and not line.startswith("#"):
            place, _, why = line.rpartition(" | ")
            found[place] = why
            if place not in places:
                raise SystemExit(f"{EQUIVALENT.name} names what is no mutant any more: {place}")
    return found


class Results:
    """Who was killed by what, and who survived which tests; in a file that grows by a line a mutant."""

    def __init__(self, path: Path, core: Path) -> None:
        self.path, self.core = path, core
        self.killed: dict[str, str] = {}
        self._survived: set[tuple[str, str]] = set()
        self._bytes: dict[str, str] = {}  # of files of the core, as they were when the run began
        for line in path.read_text().splitlines() if path.exists() else ():
            key, by, tests = json.loads(line)
            if by:
                self.killed[key] = by
            else:
                self._survived.add((key, tests))

    def _key(self, mutant: Mutant) -> str:
        if mutant.file not in self._bytes:
            self._bytes[mutant.file] = fingerprint([self.core / mutant.file])
        return f"{self._bytes[mutant.file]} {mutant.place}"

    def write(self, mutant: Mutant, by: str, tests: str) -> None:
        """`by`: the test that killed it, nothing if none of these tests does."""
        key = self._key(mutant)
        if by:
            self.killed[key] = by
        else:
            self._survived.add((key, tests))
        with self.path.open("a") as file:
            file.write(json.dumps([key, by, tests]) + "\n")

    def deadliest(self) -> dict[str, Counter[str]]:
        """How many mutants each test has killed, by file of the core; "": of all."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for key, by in self.killed.items():
            for file in ("", key.split()[1]):
                found[file][by] += 1
        return found

    def is_killed(self, mutant: Mutant) -> bool:
        """By any test, in this run or before."""
        return self._key(mutant) in self.killed

    def has_survived(self, mutant: Mutant, tests: str) -> bool:
        """Whether these very tests, with these bytes, are known not to notice."""
        return (self._key(mutant), tests) in self._survived

    def alive(self, mutants: Sequence[M], tests: str) -> list[M]:
        """Those that nothing has killed yet and that these tests have not met."""
        return [mutant for mutant in mutants if not (self.is_killed(mutant) or self.has_survived(mutant, tests))]


@dataclass(frozen=True)
class Share:
    """So many of so many were killed."""

    killed: int
    tried: int

    def __str__(self) -> str:
        low, high = self.interval()
        return f"{self.killed} of {self.tried} killed: {self.killed / max(self.tried, 1):.1%} ({low:.1%} to {high:.1%})"

    def interval(self) -> tuple[float, float]:
        """Of the share among all mutants, of which these are a sample: 95 %, by Wilson's formula."""
        n, z = max(self.tried, 1), 1.96
        p = self.killed / n
        centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
