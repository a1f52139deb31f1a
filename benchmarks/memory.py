"""Extra memory of a fit, measured in a process of its own.

`python benchmarks/memory.py CASE ROWS` prints one JSON object; `contests` runs it for every case.
"""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from contest import Finding

from pegasos import Pegasos, PegasosClassifier

FEATURES, NONZEROS = 1000, 4
BYTES_PER_ROW, BYTES_PER_FEATURE, VECTORS, FREE = 24, 8, 3, 50e6  # w, coef_, average; 50 MB for everything else

PERMUTATION = Pegasos(sampling="permutation")
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "sample_weight": {},
    "permutation": {"solver": PERMUTATION},
    "permutation, both weights, some 0": {"solver": PERMUTATION, "class_weight": "balanced"},
}


def contests(n_rows: int) -> Iterator[Finding]:
    """One finding per case: the bytes a fit needed beyond its arguments, against the bytes it may need."""
    allowed = BYTES_PER_ROW * n_rows + BYTES_PER_FEATURE * VECTORS * FEATURES + FREE
    for case in CASES:
        command = [sys.executable, __file__, case, str(n_rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        data = f"{n_rows / 1e6:g}M rows of {NONZEROS}"
        yield Finding("memory of a fit", data, case, found["bytes"], allowed, 1.0, unit="bytes", notes=found)


def short_rows(n_rows: int) -> tuple[Any, Any]:
    """CSR rows of four non-zeros each, made without a sort: one in every quarter of the columns."""
    rng = np.random.default_rng(0)
    quarter = FEATURES // NONZEROS
    indices = rng.integers(0, quarter, (n_rows, NONZEROS), dtype=np.int32)
    indices += quarter * np.arange(NONZEROS, dtype=np.int32)
    indptr = np.arange(0, NONZEROS * n_rows + 1, NONZEROS, dtype=np.int32)
    data = np.full(NONZEROS * n_rows, 0.5, np.float32)
    X = sp.csr_matrix((data, indices.ravel(), indptr), shape=(n_rows, FEATURES))
    hidden = rng.standard_normal(FEATURES).astype(np.float32)
    y = np.where(X @ hidden + rng.standard_normal(n_rows, dtype=np.float32) / 2 > 0, 1, -1).astype(np.int8)
    return X, y


def measure(case: str, n_rows: int) -> dict[str, Any]:
    X, y = short_rows(n_rows)
    s = np.random.default_rng(1).uniform(0.5, 1.5, n_rows) if "weight" in case else None
    if s is not None and "some 0" in case:
        s[::3] = 0
    model = PegasosClassifier(max_epochs=3, random_state=0, **CASES[case])
    gc.collect()
    warnings.simplefilter("ignore")
    before = reset_peak()
    model.fit(X, y, sample_weight=s)
    grown = peak() - before
    return {"bytes": grown, "bytes_per_row": grown / n_rows, "epochs": model.n_iter_}


def reset_peak() -> int:
    """Forget the peak so far, where the system can; returns the bytes in use now (or the peak so far)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return peak()
    return _status("VmRSS")


def peak() -> int:
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _status(key: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(key)), 0)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
