"""What every benchmark here needs: facts about the machine, interleaved timing, a table and a JSON file.

A contest measures something of ours against a yardstick, in one run, and yields a `Finding` with the target it has to
meet. Seconds of different runs or machines are never compared.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, Literal

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "pegasos",
    "numpy",
    "scipy",
    "scikit-learn",
    "snapml",
    "liblinear-official",
    "vowpalwabbit",
    "scikit-learn-intelex",
)


Sense = Literal["at most", "faster", "at least"]


@dataclass(frozen=True)
class Finding:
    """One line of the table: something of ours, a yardstick, and what the score of the two has to reach.

    sense: the score is ours / yardstick and may be at most `target`; or it is how many times "faster" ours is, or
    ours / yardstick, and must be at least that. target: None where a figure only stands beside another one.
    ours, yardstick: medians, in `unit`. samples: every measurement of the two, ours first, round by round. notes: what
    else a reader of the JSON file may want to know.
    """

    contest: str
    data: str
    against: str
    ours: float
    yardstick: float
    target: float | None
    unit: str = "s"
    sense: Sense = "at most"
    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    def _score(self, ours: float, yardstick: float) -> float:
        return yardstick / ours if self.sense == "faster" else ours / yardstick

    @property
    def score(self) -> float:
        return self._score(self.ours, self.yardstick)

    @property
    def ok(self) -> bool:
        if self.target is None:
            return True
        return self.score <= self.target if self.sense == "at most" else self.score >= self.target

    def spread(self) -> tuple[float, float]:
        """The middle half of the scores, each taken inside one round: how far to trust the median."""
        if len(self.samples) != 2:
            return self.score, self.score
        scores = sorted(self._score(a, b) for a, b in zip(*self.samples.values(), strict=True))
        quarter = len(scores) // 4
        return scores[quarter], scores[-1 - quarter]


def compare(
    contest: str,
    data: str,
    against: str,
    samples: Mapping[str, list[float]],
    target: float | None,
    sense: Sense = "at most",
    unit: str = "s",
    **notes: Any,
) -> Finding:
    """The finding of two contestants timed by `interleave`, ours first."""
    ours, theirs = (median(values) for values in samples.values())
    return Finding(contest, data, against, ours, theirs, target, unit, sense, dict(samples), notes)


def interleave(
    contestants: Mapping[str, Callable[[], object]], rounds: int, at_least: float = 1.0, at_most: float = 120.0
) -> dict[str, list[float]]:
    """Seconds of every contestant in every round, all of them in each round, in rotating order.

    What else the machine does then hits all alike. The first round warms up and is not counted. Short contests go on
    until they have lasted `at_least` seconds, or had ten times the rounds; long ones stop after `at_most` seconds, but
    not before three rounds were counted.
    """
    names = list(contestants)
    samples: dict[str, list[float]] = {name: [] for name in names}
    began = time.perf_counter()
    for turn in range(10 * rounds + 1):
        lasted = time.perf_counter() - began
        if (turn > rounds and lasted > at_least) or (turn > min(3, rounds) and lasted > at_most):
            break
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            gc.collect()
            seconds = timed(contestants[name])[0]
            if turn:
                samples[name].append(seconds)
    return samples


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the call, and what it returned."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def machine_facts() -> dict[str, Any]:
    """What a reader needs to judge the figures. On systems without /proc, what Python knows."""
    cpu = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    memory = [line.split()[1] for line in _read("/proc/meminfo").splitlines() if line.startswith("MemTotal")]
    return {
        "cpu": cpu[0].split(":", 1)[1].strip() if cpu else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": _caches(),
        "memory_gb": round(int(memory[0]) / 2**20, 1) if memory else None,
        "system": platform.system(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "versions": {"python": platform.python_version()} | _versions(),
        "commit": _commit(),
    }


def print_facts(facts: Mapping[str, Any]) -> None:
    load = "unknown" if facts["load"] is None else " ".join(f"{x:.1f}" for x in facts["load"])
    print(f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB; caches {facts['caches']}; load {load}")
    versions = [f"{name} {number}" for name, number in facts["versions"].items()]
    print(", ".join(versions), f"; commit {facts['commit']}" if facts["commit"] else "", sep="", flush=True)


WIDTH = 42  # of a contest's name
HEADER = (
    f"{'contest':{WIDTH}}  {'data':14}  {'ours':>10}  {'yardstick':>10}  {'score (middle half)':>21}  {'target':>7}"
)


def print_header(more: str = "") -> None:
    """more: names of further columns, for what `print_finding` gets as `more`."""
    print(f"\n{HEADER}         {more}".rstrip(), f"{'-' * (len(HEADER) + 7 + len(more))}", sep="\n", flush=True)


def print_finding(f: Finding, more: str = "") -> None:
    low, high = f.spread()
    middle = f" ({low:.3g}-{high:.3g})" if low != high else ""
    times, sign = ("x", ">") if f.sense == "faster" else ("", "<" if f.sense == "at most" else ">")
    target = "" if f.target is None else f"{sign} {f.target:g}{times}"
    verdict = "" if f.target is None else "ok" if f.ok else "SHORT"
    print(
        f"{f.contest:{WIDTH}}  {f.data:14}  {_figure(f.ours, f.unit):>10}  {_figure(f.yardstick, f.unit):>10}  "
        f"{f'{f.score:.3g}{times}{middle}':>21}  {target:>7}  {verdict:5}  {more}{f.against}",
        flush=True,
    )


def print_skipped(what: str, why: str) -> None:
    print(f"{what}: skipped, {why}", flush=True)


def _figure(value: float, unit: str) -> str:
    scale, unit = (1e-6, "MB") if unit == "bytes" else (1e3, "ms") if unit == "s" else (1, unit)
    return f"{value * scale:{'.2f' if scale == 1 else '.1f'}} {unit}".strip()


def record(f: Finding) -> dict[str, Any]:
    """A finding as the results file has it."""
    return asdict(f) | {"score": f.score, "middle_half": f.spread(), "ok": f.ok}


def save(name: str, facts: Mapping[str, Any], findings: Iterable[Finding]) -> Path:
    """Write results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    lines = [record(f) for f in findings]
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path.write_text(json.dumps({"when": when, "machine": facts, "findings": lines}, indent=1) + "\n")
    return path


def hold(name: str, findings: Iterable[Finding]) -> None:
    """Print and save what comes, line by line: what was measured survives an interrupt."""
    facts = machine_facts()
    print_facts(facts)
    print_header()
    found: list[Finding] = []
    for finding in findings:
        print_finding(finding)
        found.append(finding)
        save(name, facts, found)
    asked = [f for f in found if f.target is not None]
    facts["load_after"] = machine_facts()["load"]
    path = save(name, facts, found)
    met = sum(f.ok for f in asked)
    print(f"\n{met} of {len(asked)} targets met; all measurements: {'/'.join(path.parts[-3:])}")


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _caches() -> str:
    found = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (_read(str(index / name)).strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "unknown"


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> str | None:
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
