"""Files to work on, and the command `pegasos` run on them, for its tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

typer_testing = pytest.importorskip("typer.testing", reason="typer is not installed: pip install pegasos[cli]")
from pegasos.cli.app import app  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 6))
SIGNS = np.where(X[:, 0] + 0.3 * RNG.normal(size=150) > 0, 1, -1)
THREE = X[:, :3].argmax(axis=1)
NUMBERS = X @ np.arange(6.0)
CHUNKS = "the DT B-NP\nold JJ I-NP\ncat NN I-NP\nruns VB B-VP\n\na DT B-NP\ndog NN I-NP\nsleeps VB B-VP\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, y in (("two", SIGNS), ("three", THREE), ("numbers", NUMBERS)):
        dump_svmlight_file(X, y, f"{name}.svm", zero_based=False)
    Path("chunks.conll").write_text(CHUNKS)
    return tmp_path


def run(*said: str, code: int = 0) -> Any:
    found = typer_testing.CliRunner().invoke(app, list(said))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == code, found.output
    return found


def shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    """In a shell, as a user would: `pegasos` is this Python."""
    this = f"{sys.executable} -c 'from pegasos.cli import main; main()'"
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    script = f'set -o pipefail; pegasos() {{ {this} "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env={**os.environ, **paths, **env}, check=False
    )
