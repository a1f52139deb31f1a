"""Ours beside SVM-Light itself: `SVM_LEARN=/path/to/svm_learn python paper/against_svm_light.py [reuters usps ...]`.

The program is Joachims', free for research only, and no part of this project; svmlight.joachims.org has it. Both are
asked for the same: no bias, violations of at most 1e-3, working sets of ten, a cache of a gigabyte.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from data import Data, load
from experiment import RESULTS, plain
from measure import Optimum, Snapshots, value
from sklearn.datasets import dump_svmlight_file
from systems import svm_light


def theirs(data: Data, program: str) -> dict[str, Any]:
    """Its dual variables come in a file of their own, one for each row, times the label."""
    with tempfile.TemporaryDirectory() as folder:
        rows, model, alphas = (str(Path(folder, name)) for name in ("rows", "model", "alphas"))
        dump_svmlight_file(sp.csr_matrix(data.train.X), data.train.y, rows, zero_based=False)
        how = ["-b", "0", "-t", "2", "-g", str(data.gamma), "-c", repr(1 / (data.lam * data.train.m))]
        how += ["-m", "1000", "-e", "0.001", "-q", "10", "-a", alphas]
        said = subprocess.run([program, *how, rows, model], capture_output=True, text=True, check=True).stdout
        coefficients = np.loadtxt(alphas)
    numbers = {
        "steps": r"\((\d+) iterations\)",
        "evaluations": r"kernel evaluations: (\d+)",
        "seconds": r"Runtime in cpu-seconds: ([\d.]+)",
    }
    found: dict[str, Any] = {name: float(re.search(pattern, said)[1]) for name, pattern in numbers.items()}  # type: ignore[index]
    return found | {"steps": int(found["steps"]), "evaluations": int(found["evaluations"]), "weights": coefficients}


def ours(data: Data) -> dict[str, Any]:
    system: Any = svm_light(data.train, data.lam, data.gamma)
    system.advance(float("inf"))
    return {
        "steps": system.steps,
        "evaluations": system.evaluations,
        "seconds": system.seconds,
        "weights": system.weights(),
    }


def compare(key: str, program: str) -> dict[str, Any]:
    data = load(key)
    found = {"theirs": theirs(data, program), "ours": ours(data)}
    shots = {who: Snapshots([0.0], [0], [0], [sp.csc_matrix(x.pop("weights")[:, None])]) for who, x in found.items()}
    zero = Optimum(0.0, 0.0, 0.0, 0.0)  # above zero is the objective itself
    for who, trace in value(shots, data, zero, data.lam).items():
        found[who]["objective"] = trace["suboptimality"][0]
    return {"data": data.task.paper_name, "here": data.what, "when": time.strftime("%Y-%m-%d", time.gmtime()), **found}


if __name__ == "__main__":
    if "SVM_LEARN" not in os.environ:
        raise SystemExit(__doc__)
    found = []
    for key in sys.argv[1:] or ["reuters", "adult", "usps"]:
        found.append(plain(compare(key, os.environ["SVM_LEARN"])))
        print(json.dumps(found[-1], indent=1), flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "svm_light.json").write_text(json.dumps(found, indent=1) + "\n")
