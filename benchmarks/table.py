"""Print the figures of README.md from a results file: `python benchmarks/table.py [results/linear.json]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from contest import RESULTS

DATA = ("arxiv", "generated", "covertype")
TWO, ONE = "ours: 2 threads", "ours: 1 thread"
FASTER = {  # a line of the table: its name, how the contest begins, what `against` says
    '`LinearSVC(loss="hinge")`, to 1e-4': ("fit to 1e-4", ("LinearSVC", TWO)),
    "the same, ours with 1 thread": ("fit to 1e-4", ("LinearSVC", ONE)),
    "Snap ML, both with 2 threads, to 1e-4": ("fit to 1e-4", ("Snap 2", TWO)),
    "Snap ML, both with 1 thread, to 1e-4": ("fit to 1e-4", ("Snap 1", ONE)),
    "`SGDClassifier`, to its objective after 1 epoch": ("fit to SGD's epoch 1", (TWO,)),
    "`SGDClassifier`, to its objective after 5 epochs": ("fit to SGD's epoch 5", (TWO,)),
    "liblinear-official, to 1e-4, 1 thread": ("fit to 1e-4", ("liblinear-official", ONE)),
    "Vowpal Wabbit, to its objective after 1 pass, 1 thread": ("fit to VW's pass 1", ()),
    "Vowpal Wabbit, to its objective after 5 passes, 1 thread": ("fit to VW's pass 5", ()),
    "warm starts along seven lam, against cold starts": ("warm starts", ()),
}
RATIOS = {
    "an epoch of Pegasos, relative to a pass that evaluates the objective": ("epoch", ()),
    "validation, relative to an epoch": ("validation", ()),
    "`Pegasos` to the objective of one epoch of `SGDClassifier`, relative to its time": ("Pegasos to SGD", ()),
    "gain of two threads, relative to that of a pass": ("gain of two threads", ()),
    "one thread working in two replicas, relative to one": ("two replicas", ()),
}


def cell(findings: list[dict[str, Any]], data: str, begins: str, says: tuple[str, ...]) -> str:
    """The scores of a line, one for each lam."""
    chosen = [f for f in findings if f["data"].startswith(data) and f["contest"].startswith(begins)]
    return ", ".join(f"{f['score']:.2g}" for f in chosen if all(word in f["against"] for word in says))


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / "linear.json"
    findings = json.loads(path.read_text())["findings"]
    for lines in (FASTER, RATIOS):
        for name, (begins, says) in lines.items():
            print(f"| {name} | {' | '.join(cell(findings, data, begins, says) for data in DATA)} |")
        print()
    memory = [f["notes"]["bytes_per_row"] for f in findings if f["contest"].startswith("memory")]
    if memory:
        print(f"Extra memory of a fit: {min(memory):.0f} to {max(memory):.0f} bytes a row.")


if __name__ == "__main__":
    main()
