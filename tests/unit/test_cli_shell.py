"""The command `pegasos` in a shell: pipes, help, completion, what is imported, and the time that is left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pegasos

pytest.importorskip("typer", reason="typer is not installed: pip install pegasos[cli]")
from commands import folder, run, shell

from pegasos.cli import screen

__all__ = ["folder"]  # a fixture


def test_quiet_says_nothing(folder: Path) -> None:
    found = run("train", "two.svm", "-m", "m", "--quiet")
    assert found.output == ""


def test_pipes_in_and_out(folder: Path) -> None:
    done = shell("cat two.svm | pegasos train - -m - 2>/dev/null | pegasos predict - two.svm -q > out.txt")
    assert done.returncode == 0, done.stderr
    assert len(Path("out.txt").read_text().split()) == 150
    run("train", "two.svm", "-m", "m", "-q")
    run("predict", "m", "two.svm", "-o", "file.txt")
    assert Path("file.txt").read_text() == Path("out.txt").read_text()


def test_a_broken_pipe_is_no_traceback(folder: Path) -> None:
    run("train", "two.svm", "-m", "m", "-q")
    Path("long.svm").write_text(Path("two.svm").read_text() * 200)
    done = shell("set +o pipefail; pegasos predict m long.svm --scores | head -n 1; echo ${PIPESTATUS[0]}")
    assert done.stderr == ""
    assert done.stdout.split()[1] == "141"


def test_help_is_quick_because_nothing_heavy_is_imported(folder: Path) -> None:
    code = """
import sys
from pegasos.cli import main
try:
    main()
except SystemExit:
    print(sorted({"numpy", "scipy", "sklearn", "pandas"} & set(sys.modules)))
"""
    for said in (["--help"], ["train", "--help"]):
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code, *said], capture_output=True, text=True, env=env, check=False)
        assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
        assert "pegasos" in done.stdout


def test_without_the_extra_the_command_says_what_to_install() -> None:
    code = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "typer":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from pegasos.cli import main
main()
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 2
    assert done.stderr == "The command needs typer, which is not installed: pip install 'pegasos[cli]'\n"


def test_shells_can_complete_it(folder: Path) -> None:
    done = shell("pegasos", _PEGASOS_COMPLETE="complete_bash", COMP_WORDS="pegasos tr", COMP_CWORD="1")
    assert done.stdout.split() == ["train"], done.stderr


def test_the_version_is_said() -> None:
    assert run("--version").stdout.strip() == f"pegasos {pegasos.__version__}"


def test_the_time_left_follows_the_gap() -> None:
    """A gap that halves every second, and has a factor of 8 to go: three seconds."""
    seen = [(float(t), np.log(2.0**-t)) for t in range(6)]
    assert screen.time_left(seen, np.log(2.0**-8)) == pytest.approx(3.0)
    assert screen.done(seen, np.log(2.0**-10)) == pytest.approx(0.5)
    assert screen.time_left(seen, np.log(2.0**-4)) == 0.0
    assert screen.time_left([(0.0, 0.0), (4.0, 0.0)], -1.0) is None


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "command", ["predict m rows.svm --scores", "convert m - --format pegasos", "convert rows.svm -"]
)
def test_output_that_does_not_fit_is_an_error(command: str, unbuffered: str, folder: Path) -> None:
    """Unbuffered, Python forgets what a write has left over: half of the output came with exit code 0."""
    run("train", "two.svm", "-m", "m", "-q")
    Path("rows.svm").write_text(Path("two.svm").read_text() * 20)
    whole = shell(f"pegasos {command} > whole", PYTHONUNBUFFERED=unbuffered)
    assert whole.returncode == 0, whole.stderr
    assert Path("whole").stat().st_size > 1024
    cut = shell(f"ulimit -f 1; pegasos {command} > cut", PYTHONUNBUFFERED=unbuffered)
    assert cut.returncode == 3, cut.stderr
    assert "too large" in cut.stderr
