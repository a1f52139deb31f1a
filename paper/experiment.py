"""What every script here shares: parts that can be resumed, progress, figures and tables as data, one JSON file."""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from contest import machine_facts
from origin import origin

RESULTS = Path(__file__).parent.parent / "build" / "paper"


@dataclass
class Curve:
    """x against y; low and high, where given, are the spread over seeds."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    dashed: bool = False
    points: bool = False  # marks without a line


@dataclass
class Axis:
    label: str
    log: bool = False


@dataclass
class Figure:
    title: str
    x: Axis
    y: Axis
    curves: list[Curve]
    note: str = ""


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""


@dataclass
class Finding:
    """A claim of a paper in one sentence, whether it held here (None: cannot be told), and the number that shows it.

    figures: what the titles of the figures that show it have in them. None: every figure of the experiment shows it;
    of an empty tuple none does, but a table.
    """

    claim: str
    held: bool | None
    shown: str
    figures: tuple[str, ...] | None = None


@dataclass
class Result:
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    data: list[dict[str, Any]] = field(default_factory=list)
    seeds: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Experiment:
    """One script. `run(setting)` does it; seconds: what it takes, quick and in full, on a machine of two cores."""

    name: str
    title: str
    source: str  # where in the papers
    run: Callable[[Setting], Result]
    seconds: tuple[float, float]
    data: tuple[str, ...] = ()  # what --only may ask for


@dataclass
class Setting:
    """How to run: sizes, where results go, what may be reused."""

    quick: bool
    resume: bool
    folder: Path
    tell: Callable[[float, str], None] = lambda share, what: None
    skip: Callable[[float], None] = lambda share: None  # hears of the share that was read and not measured
    only: tuple[str, ...] = ()  # of the data sets, where there are several; all of them if empty
    origin: dict[str, Any] = field(default_factory=dict)  # what it is made of; what was made of others is made again
    cpu_seconds: float = 0.0  # of all parts, those of earlier runs included
    _done: float = 0.0

    def pick(self, quick: Any, full: Any) -> Any:
        return quick if self.quick else full

    def chosen(self, tasks: dict[str, Any]) -> dict[str, Any]:
        """Those of the tasks that were asked for."""
        if unknown := set(self.only) - set(tasks):
            raise SystemExit(f"no such data: {', '.join(sorted(unknown))}; there are {', '.join(tasks)}.")
        return {key: task for key, task in tasks.items() if not self.only or key in self.only}

    def part(self, name: str, work: Callable[[], Any], share: float) -> Any:
        """The result of `work`, which is plain JSON; with --resume from the last run, where that got so far with the
        same code, data and processor."""
        path = self.folder / f"{name}.json"
        self.tell(self._done, name)
        kept = json.loads(path.read_text()) if self.resume and path.is_file() else {}
        if kept and kept.get("origin") == self.origin:
            self.skip(share)
        else:
            began = time.process_time()
            found = plain(work())
            kept = {"cpu_seconds": time.process_time() - began, "found": found, "origin": self.origin}
            kept = json.loads(json.dumps(kept))
            path.parent.mkdir(parents=True, exist_ok=True)
            waiting = path.with_suffix(".part")
            waiting.write_text(json.dumps(kept))
            waiting.replace(path)  # a run that is killed leaves whole files only
        self._done += share
        self.cpu_seconds += kept["cpu_seconds"]
        return kept["found"]


def plain(value: Any) -> Any:
    """As JSON has it: no NumPy, no numbers that are none, six digits where more mean nothing."""
    if isinstance(value, dict):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value


def run(experiment: Experiment, setting: Setting) -> dict[str, Any]:
    """Do it and save it; the JSON that the report is made from."""
    path = setting.folder.parent / f"{experiment.name}.json"
    if setting.resume and path.is_file():
        kept = dict(json.loads(path.read_text()))
        if (
            " --only" not in kept["command"] and kept.get("origin") == setting.origin
        ):  # else it is not whole, or of others
            setting.skip(1.0)
            return kept
    began = time.perf_counter()
    result = experiment.run(setting)
    found = plain(
        {
            "name": experiment.name,
            "title": experiment.title,
            "source": experiment.source,
            "quick": setting.quick,
            "command": f"python paper/{experiment.name}.py{' --quick' if setting.quick else ''}"
            + (f" --only {' '.join(setting.only)}" if setting.only else ""),
            "seconds": time.perf_counter() - began,
            "cpu_seconds": setting.cpu_seconds,
            "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "machine": machine_facts(),
            "origin": setting.origin,
            **asdict(result),
        }
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=1) + "\n")
    return found


def setting_of(
    name: str, quick: bool, resume: bool, tell: Callable[[float, str], None], only: tuple[str, ...] = ()
) -> Setting:
    """Without --resume all that an earlier run has left is removed; with --only, the parts of those data sets."""
    folder = RESULTS / ("quick" if quick else "full") / name
    if not resume:
        parts = [path for path in folder.glob("*.json") if not only or path.stem.split("_")[0] in only]
        for old in (*parts, *([] if only else [folder.with_suffix(".json")])):
            old.unlink(missing_ok=True)
    return Setting(quick, resume, folder, tell, only=only, origin=origin(name, machine_facts()["cpu"]))


def arguments(description: str, some: tuple[str, ...] = ()) -> argparse.Namespace:
    """some: the data sets that can be asked for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="reduced sizes: some seconds")
    parser.add_argument("--resume", action="store_true", help="do only what the last run has not done")
    if some:
        parser.add_argument(
            "--only",
            nargs="+",
            default=[],
            choices=some,
            help="these data sets alone; results of others stay, and --resume then puts all together",
        )
    return parser.parse_args()


def main(experiment: Experiment) -> None:
    """What a script does when it is run by itself."""
    asked = arguments(experiment.title, some=experiment.data)
    setting = setting_of(
        experiment.name,
        asked.quick,
        asked.resume,
        lambda share, what: print(f"{share:4.0%} {what}"),
        tuple(asked.only if experiment.data else ()),
    )
    found = run(experiment, setting)
    print_result(found)


def print_result(found: dict[str, Any]) -> None:
    """Tables and findings; the curves are for the report."""
    taken = f"{found['cpu_seconds']:.0f} s of the processor on {platform.system()}"
    print(f"\n{found['title']} ({found['source']}), {taken}")
    for table in found["tables"]:
        widths = [
            max(len(str(row[j])) for row in [table["columns"], *table["rows"]]) for j in range(len(table["columns"]))
        ]
        print(f"\n{table['title']}")
        for row in [table["columns"], *table["rows"]]:
            print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for finding in found["findings"]:
        verdict = {True: "held", False: "DID NOT HOLD", None: "cannot be told"}[finding["held"]]
        print(f"\n{finding['claim']}\n  {verdict}: {finding['shown']}")
