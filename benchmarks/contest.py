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
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn", "snapml", "liblinear-official", "vowpalwabbit")


@dataclass(frozen=True)
class Finding:
    """One line of the table: `ours` may be at most `target` times the `yardstick`.

    ours, yardstick: medians, in `unit`. samples: every measurement, by contestant. notes: what else a reader of the
    JSON file may want to know.
    """

    contest: str
    data: str
    against: str
    ours: float
    yardstick: float
    target: float
    unit: str = "s"
    samples: dict[str, list[float]] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        return self.ours / self.yardstick

    @property
    def ok(self) -> bool:
        return self.ratio <= self.target

    def spread(self) -> tuple[float, float]:
        """The middle half of the ratios, each taken inside one round: how far to trust the median."""
        if len(self.samples) != 2:
            return self.ratio, self.ratio
        ours, theirs = self.samples.values()
        ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
        quarter = len(ratios) // 4
        return ratios[quarter], ratios[-1 - quarter]


def compare(
    contest: str, data: str, against: str, samples: Mapping[str, list[float]], target: float, **notes: Any
) -> Finding:
    """The finding of two contestants timed by `interleave`, ours first."""
    ours, theirs = (median(seconds) for seconds in samples.values())
    return Finding(contest, data, against, ours, theirs, target, samples=dict(samples), notes=notes)


def interleave(
    contestants: Mapping[str, Callable[[], object]], rounds: int, at_least: float = 1.0
) -> dict[str, list[float]]:
    """Seconds of every contestant in every round, all of them in each round, in rotating order.

    What else the machine does then hits all alike. The first round warms up and is not counted. Short contests go on
    until they have lasted `at_least` seconds, or had ten times the rounds.
    """
    names = list(contestants)
    samples: dict[str, list[float]] = {name: [] for name in names}
    began = time.perf_counter()
    for turn in range(10 * rounds + 1):
        if turn > rounds and time.perf_counter() - began > at_least:
            break
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            gc.collect()
            start = time.perf_counter()
            contestants[name]()
            seconds = time.perf_counter() - start
            if turn:
                samples[name].append(seconds)
    return samples


def machine_facts() -> dict[str, Any]:
    """What a reader needs to judge the figures. On systems without /proc, what Python knows."""
    cpu = [line for line in _read("/proc/cpuinfo").splitlines() if line.startswith("model name")]
    memory = [line.split()[1] for line in _read("/proc/meminfo").splitlines() if line.startswith("MemTotal")]
    return {
        "cpu": cpu[0].split(":", 1)[1].strip() if cpu else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "caches": _caches(),
        "memory_gb": round(int(memory[0]) / 2**20, 1) if memory else None,
        "system": platform.platform(terse=True),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "versions": {"python": platform.python_version()} | _versions(),
        "commit": _commit(),
    }


def print_facts(facts: Mapping[str, Any]) -> None:
    load = "unknown" if facts["load"] is None else " ".join(f"{x:.1f}" for x in facts["load"])
    print(f"{facts['cpu']}, {facts['cores']} cores, {facts['memory_gb']} GB; caches {facts['caches']}; load {load}")
    print(", ".join(f"{name} {number}" for name, number in facts["versions"].items()), flush=True)


HEADER = f"{'contest':34}  {'data':22}  {'ours':>10}  {'yardstick':>10}  {'ratio (middle half)':>20}  {'target':>7}"


def print_header() -> None:
    print(f"\n{HEADER}\n{'-' * (len(HEADER) + 7)}", flush=True)


def print_finding(f: Finding) -> None:
    low, high = f.spread()
    middle = f" ({low:.2f}-{high:.2f})" if low != high else ""
    scale, unit = (1e-6, "MB") if f.unit == "bytes" else (1e3, "ms") if f.unit == "s" else (1, f.unit)
    print(
        f"{f.contest:34}  {f.data:22}  {f.ours * scale:7.1f} {unit}  {f.yardstick * scale:7.1f} {unit}  "
        f"{f'{f.ratio:.3f}{middle}':>20}  {f.target:7.2f}  {'ok' if f.ok else 'SHORT'}   {f.against}",
        flush=True,
    )


def save(name: str, facts: Mapping[str, Any], findings: Iterable[Finding]) -> Path:
    """Write results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    lines = [asdict(f) | {"ratio": f.ratio, "ok": f.ok} for f in findings]
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path.write_text(json.dumps({"when": when, "machine": facts, "findings": lines}, indent=1) + "\n")
    return path


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
