"""Fits from a file whose rows stay there, against fits from memory: `python benchmarks/larger_than_memory.py --help`.

Times are of the processor, which is what a fit takes while the file is in the page cache, and what else the machine
does changes little. One fit from memory draws the same rows in the same order, and must end with the same bytes; the
other is what a user would write. Once more without the page cache: seconds on the clock, beside those of reading the
file once. Memory is the highest anonymous resident set of a process that may have no more (RLIMIT_DATA), beside the
setting; mapped pages of the file are not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import contest
import numpy as np
from contest import Finding, compare
from memory import _status

from pegasos import Auto, PegasosClassifier, convert_data, datasets, open_data
from pegasos.memory import taken

CASES: dict[str, dict[str, Any]] = {
    "hinge, lam 1e-4": {"lam": 1e-4},
    "hinge, lam 1e-5": {"lam": 1e-5},
    "log, lam 1e-4": {"lam": 1e-4, "loss": "log"},
}
ROOM = 70_000_000  # bytes beside what Python has: below what a copy of the rows would take


def processor(call: Any) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def speed(path: Path, rounds: int) -> Iterator[Finding]:
    """In the page cache."""
    data = open_data(path)
    X, y = _loaded(data), data.y
    for case, parameters in CASES.items():
        filed = PegasosClassifier(tol=1e-3, **parameters)
        held = PegasosClassifier(tol=1e-3, solver=Auto(sampling="runs"), **parameters)
        usual = PegasosClassifier(tol=1e-3, **parameters)
        times: dict[str, list[float]] = {"filed": [], "held": [], "usual": []}
        for _ in range(rounds + 1):
            times["filed"].append(processor(lambda m=filed: m.fit(open_data(path))))
            times["held"].append(processor(lambda m=held: m.fit(X, y)))
            times["usual"].append(processor(lambda m=usual: m.fit(X, y)))
        assert filed.coef_.tobytes() == held.coef_.tobytes(), "the bytes differ"
        for name, against in (("held", "the same fit from memory"), ("usual", "the default fit from memory")):
            warm = {"ours": times["filed"][1:], "theirs": times[name][1:]}
            yield compare("fit from a file", case, f"{against}, processor", warm, 1.5, "at most")


def _loaded(data: Any) -> Any:
    import scipy.sparse as sp

    return sp.vstack([block for _, block in data.blocks()], format="csr")


def uncached(path: Path, rounds: int) -> Iterator[Finding]:
    """From the disk."""
    samples: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(rounds):
        for name, call in (("ours", lambda: _fit(path)), ("theirs", lambda: _read(path))):
            if not forget(path):
                contest.print_skipped("fit from the disk", "the system does not forget the file")
                return
            samples[name].append(contest.timed(call)[0])
    against = "reading the file once"
    yield compare("fit from the disk", "hinge, lam 1e-4", against, samples, None, "at most", bytes=path.stat().st_size)


def forget(path: Path) -> bool:
    """Drop the file from the page cache."""
    if not hasattr(os, "posix_fadvise"):
        return False
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def _fit(path: Path) -> None:
    PegasosClassifier(lam=1e-4).fit(open_data(path))


def _read(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        while file.read(1 << 22):
            pass


def memory(path: Path) -> Finding:
    done = subprocess.run([sys.executable, __file__, "--measure", path], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    data = f"{path.stat().st_size / 1e6:.0f} MB of rows"
    return Finding(
        "memory of a fit from a file",
        data,
        "the setting",
        found["peak"],
        found["setting"],
        1.0,
        unit="bytes",
        notes=found,
    )


def measure(path: str) -> None:
    """In a process of its own, which the system gives no more than the setting."""
    PegasosClassifier(lam=1e-2).fit(np.eye(4), [0, 1, 0, 1])  # everything is imported
    setting, data = taken() + ROOM, _status("VmData")
    resource.setrlimit(resource.RLIMIT_DATA, (data + ROOM, data + ROOM))
    highest, over = taken(), threading.Event()

    def look() -> None:
        nonlocal highest
        while not over.wait(0.002):
            highest = max(highest, taken())

    threading.stack_size(1 << 18)
    looking = threading.Thread(target=look)
    looking.start()
    model = PegasosClassifier(lam=1e-5, n_jobs=2).fit(open_data(path, memory=setting))
    over.set()
    looking.join()
    print(json.dumps({"peak": highest, "setting": setting, "gap": float(model.gap_)}))


def findings(path: Path, rounds: int) -> Iterator[Finding]:
    yield from speed(path, rounds)
    yield from uncached(path, min(3, rounds))
    yield memory(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few rows: does it run? Not a result")
    parser.add_argument("--save", default="larger_than_memory", help="name of the JSON file (larger_than_memory)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.pegasos"
        convert_data(datasets.make_text(3000 if args.quick else args.rows, random_state=0), path)
        contest.hold(args.save, findings(path, args.rounds))


if __name__ == "__main__":
    main()
