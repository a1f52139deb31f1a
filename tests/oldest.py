"""Print the oldest versions that pyproject.toml declares, for pip: what `make test-oldest` installs."""

from __future__ import annotations

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for need in project["dependencies"]:
    print(need.replace(">=", "=="))
# They come with scikit-learn, whose own minima these are, and we import them.
print("joblib==1.2.0\nthreadpoolctl==3.1.0")
