"""Print the scores of a results file side by side: `python benchmarks/table.py [results/linear.json]`.

For results/everyday.json, what the course of ordinary inputs ends with.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from contest import RESULTS

SDCA_TARGET = 3.0  # times our own SDCA: what the default may take in the course of ordinary inputs
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


def everyday(findings: list[dict[str, Any]]) -> None:
    """The worst ten and the medians of the course of ordinary inputs."""
    if not findings:
        print("\nno case was run")
        return
    print("\nthe worst ten, ours / peer:")
    for f in sorted(findings, key=lambda f: -f["score"])[:10]:
        other = "" if f["notes"]["same_problem"] else " (other problem)"
        print(f"  {f['score']:7.3g}  {f['contest']:42}  {f['against']}{other}")
    for what, some in (
        ("generated", [f for f in findings if f["data"] == "generated"]),
        ("all", findings),
        ("all of the same problem", [f for f in findings if f["notes"]["same_problem"]]),
    ):
        if some:
            ratio = median(f["score"] for f in some)
            print(f"median of {len(some)}, {what}: ours / peer {ratio:.3g}, ours is {1 / ratio:.3g}x faster")
    slow = [f["contest"] for f in findings if not f["ok"]]
    crawling = [f["contest"] for f in findings if (f["notes"]["to_sdca"] or 0.0) > SDCA_TARGET]
    unmet = [f["contest"] for f in findings if not f["notes"]["tol_met"]]
    behind = [f["contest"] for f in findings if f["notes"]["peer_reached"] is False]
    for names, said in (
        (slow, "slower than the peer by more than the target"),
        (crawling, f"more than {SDCA_TARGET:g} times our own SDCA"),
        (unmet, "in which ours did not meet tol"),
        (behind, "in which no setting of the peer did, so that it is measured with less"),
    ):
        print(f"{len(names)} of {len(findings)} {said}" + (f": {', '.join(names)}" if names else ""))


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / "linear.json"
    findings = json.loads(path.read_text())["findings"]
    if path.stem == "everyday":
        everyday(findings)
        return
    for lines in (FASTER, RATIOS):
        for name, (begins, says) in lines.items():
            print(f"| {name} | {' | '.join(cell(findings, data, begins, says) for data in DATA)} |")
        print()
    memory = [f["notes"]["bytes_per_row"] for f in findings if f["contest"].startswith("memory")]
    if memory:
        print(f"Extra memory of a fit: {min(memory):.0f} to {max(memory):.0f} bytes a row.")


if __name__ == "__main__":
    main()
