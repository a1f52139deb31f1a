"""n_jobs=-1 stands for the cores that this process may use: affinity, and the limits of its control groups."""

from __future__ import annotations

import os
from math import inf
from pathlib import Path

import pytest
from helpers import run_python

from pegasos import cores
from pegasos.cores import core_count, core_limit, thread_count


def groups(root: Path, said: str, **files: str) -> Path:
    """A file system with these control groups; `__` is a folder in the names of files."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(said)
    for name, text in files.items():
        file = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_of_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.mark.parametrize(
    ("said", "files", "limit"),
    [
        ("0::/\n", {"cpu_of_max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu_of_max": "max 100000\n"}, inf),
        ("0::/\n", {}, inf),
        # A group inside another: the narrower limit holds, whichever has it.
        ("0::/user/mine\n", {"user__mine__cpu_of_max": "max 100000\n", "user__cpu_of_max": "300000 100000\n"}, 3.0),
        ("0::/user/mine\n", {"user__mine__cpu_of_max": "50000 100000\n", "user__cpu_of_max": "300000 100000\n"}, 0.5),
        # The first version: a folder for each controller, no limit is -1.
        (
            "4:memory:/a\n3:cpu,cpuacct:/a\n",
            {"cpu__a__cpu_of_cfs_quota_us": "400000\n", "cpu__a__cpu_of_cfs_period_us": "100000\n"},
            4.0,
        ),
        ("3:cpu:/\n", {"cpu__cpu_of_cfs_quota_us": "-1\n", "cpu__cpu_of_cfs_period_us": "100000\n"}, inf),
        # Nothing that a kernel writes, and no reason to fail.
        ("0::/\n", {"cpu_of_max": "\n"}, inf),
        ("0::/\n", {"cpu_of_max": "100000 0\n"}, inf),
        ("0::/\n", {"cpu_of_max": "two cores\n"}, inf),
    ],
)
def test_the_narrowest_limit_of_the_control_groups_holds(
    tmp_path: Path, said: str, files: dict[str, str], limit: float
) -> None:
    assert core_limit(groups(tmp_path, said, **files)) == limit


def test_without_control_groups_there_is_no_limit(tmp_path: Path) -> None:
    assert core_limit(tmp_path) == inf


@pytest.mark.parametrize(("limit", "count"), [(inf, 8), (20.0, 8), (8.0, 8), (2.5, 3), (0.2, 1)])
def test_a_limit_is_as_many_cores_as_it_keeps_busy(monkeypatch: pytest.MonkeyPatch, limit: float, count: int) -> None:
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.setattr(cores, "core_limit", lambda: limit)
    assert core_count() == count
    assert [thread_count(n) for n in (-1, -2, -100)] == [count, max(1, count - 1), 1]
    assert [thread_count(n) for n in (None, 1, 3, 64)] == [1, 1, 3, 64]  # what was asked for is not questioned


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_all_cores_are_those_of_the_affinity() -> None:
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    done = run_python("-c", code + "from pegasos.cores import thread_count; print(thread_count(-1))")
    assert done.stdout.strip() == "1", done.stderr


def test_a_number_of_threads_needs_no_import() -> None:
    """To count cores takes longer than a small fit."""
    code = "import sys\nfrom pegasos.cores import thread_count\nprint(thread_count(4), 'joblib' in sys.modules)"
    done = run_python("-c", code)
    assert done.stdout.split() == ["4", "False"], done.stderr
