"""Files of svmlight's format against scikit-learn's reader: `python benchmarks/readers.py --help`.

Text like that of a corpus: 55 numbers a row in 47,000 columns. Memory is the highest resident set of a process that
reads the file four times over, beyond what it had before, relative to the arrays it ends with; about 22 MB are a
block of text and what the allocator moves, whatever the size of the file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import contest
import numpy as np
from contest import Finding, compare, interleave
from memory import peak, reset_peak
from sklearn.datasets import load_svmlight_file

from pegasos import read_svmlight

NONZEROS, FEATURES = 55, 47_000
FORMATS = {"6 digits": "%d:%.6g", "17 digits": "%d:%.17g"}


def write(path: Path, rows: int, digits: str) -> None:
    """Rows with columns from 1, each in its own slice of the columns."""
    rng = np.random.default_rng(0)
    slices = FEATURES // NONZEROS
    line = "%d " + " ".join([FORMATS[digits]] * NONZEROS) + "\n"
    with path.open("w", encoding="ascii") as file:
        for _ in range(rows):
            pairs = np.empty((NONZEROS, 2))
            pairs[:, 0] = rng.integers(1, slices + 1, NONZEROS) + slices * np.arange(NONZEROS)
            pairs[:, 1] = rng.uniform(size=NONZEROS)
            file.write(line % (rng.choice((-1, 1)), *pairs.ravel()))


def speed(path: Path, digits: str, rounds: int) -> Iterator[Finding]:
    size = path.stat().st_size
    for threads in (2, 1):
        samples = interleave(
            {"ours": lambda n=threads: read_svmlight(path, n_jobs=n), "theirs": lambda: load_svmlight_file(path)},
            rounds,
        )
        target = 10.0 if threads == 2 else None
        notes = {"bytes": size, "bytes_per_second": size / np.median(samples["ours"])}
        against = f"load_svmlight_file; ours: {threads} thread{'s' * (threads > 1)}"
        yield compare("read svmlight", digits, against, samples, target, "faster", **notes)
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    samples = interleave({"ours": lambda: read_svmlight(packed), "theirs": lambda: load_svmlight_file(packed)}, rounds)
    yield compare("read svmlight, gzip", digits, "load_svmlight_file; ours: 1 thread", samples, None, "faster")


def memory(path: Path, digits: str) -> Finding:
    large = path.with_suffix(".large")
    large.write_bytes(path.read_bytes() * 4)
    done = subprocess.run([sys.executable, __file__, "--measure", large], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    data, against = f"{digits}, {large.stat().st_size / 1e6:.0f} MB", "the arrays of the matrix"
    return Finding("memory to read svmlight", data, against, found["peak"], found["arrays"], 1.25, unit="bytes")


def measure(path: str) -> None:
    """In a process of its own."""
    read_svmlight(path, n_features=FEATURES + 1, offset=1, length=1)  # everything is imported and warm
    before = reset_peak()
    X, y = read_svmlight(path, n_jobs=2)
    grown = peak() - before
    arrays = sum(each.nbytes for each in (X.data, X.indices, X.indptr, y))
    print(json.dumps({"peak": grown, "arrays": arrays}))


def findings(path: Path, rows: int, rounds: int) -> Iterator[Finding]:
    for digits in FORMATS:
        write(path, rows, digits)
        yield from speed(path, digits, rounds)
        yield memory(path, digits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a small file: does it run? Not a result")
    parser.add_argument("--save", default="readers", help="name of the JSON file (readers)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        contest.hold(args.save, findings(Path(folder) / "text.svm", 500 if args.quick else 40_000, args.rounds))


if __name__ == "__main__":
    main()
