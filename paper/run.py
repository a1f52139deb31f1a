"""All experiments, then the report: `make paper`, or `python paper/run.py [--quick] [--resume]`."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from experiment import RESULTS, Experiment, arguments, print_result, run, setting_of

ORDER = [
    "table1_fig4",
    "tables23_fig5",
    "fig6",
    "fig7",
    "fig8",
    "fig9",
    "study004",
    "rcv1_2007",
    "over_m",
    "eq19",
    "choices",
]


class Progress:
    """How far the whole run is and how long it will take: the shares of time are those of an earlier run, and the
    pace is this one's."""

    def __init__(self, expected: list[float]) -> None:
        self.expected, self.whole = expected, sum(expected)
        self.began, self.index, self.skipped = time.perf_counter(), 0, 0.0

    def skip(self, share: float) -> None:
        """This much of the experiment was there already, and took no time."""
        self.skipped += share * self.expected[self.index]

    def tell(self, share: float, what: str) -> None:
        done = sum(self.expected[: self.index]) + min(share, 1.0) * self.expected[self.index]
        passed, left = time.perf_counter() - self.began, self.whole - done
        worked = done - self.skipped
        pace = passed / worked if worked > 0.02 * self.whole else 1.0
        minutes = f"{left * pace / 60:.0f} min left" if left * pace >= 90 else f"{left * pace:.0f} s left"
        print(f"[{done / self.whole:4.0%}, about {minutes}] {what}", flush=True)


def load(names: list[str]) -> list[Experiment]:
    return [importlib.import_module(name).EXPERIMENT for name in names]


def main() -> None:
    asked = arguments("Reproduce the papers: all tables and figures, and one report.")
    experiments = load(ORDER)
    folder = RESULTS / ("quick" if asked.quick else "full")
    progress = Progress([one.seconds[0 if asked.quick else 1] for one in experiments])
    results: list[dict[str, Any]] = []
    for index, one in enumerate(experiments):
        progress.index = index

        def tell(share: float, part: str, one: Experiment = one) -> None:
            progress.tell(share, f"{one.title}: {part}")

        setting = setting_of(one.name, asked.quick, asked.resume, tell)
        setting.skip = progress.skip
        results.append(found := run(one, setting))
        print_result(found)
    from write_report import write

    print(f"\n{sum(one['cpu_seconds'] for one in results) / 60:.1f} minutes of the processor in all")
    sys.stdout.write(f"\n{write(folder, ORDER)}\n")


if __name__ == "__main__":
    main()
