"""The benchmarks run. What they measure is for `make bench`: no timing is ever a test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_contests_of_pegasos_run(tmp_path: Path) -> None:
    script = [sys.executable, ROOT / "benchmarks" / "linear.py", "--quick", "--data", "generated", "--rounds", "1"]
    script += ["--contest", "epoch", "memory", "--save", str(tmp_path / "found")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert {line["contest"].split(",")[0] for line in found["findings"]} == {"epoch", "validation", "memory of a fit"}
