"""Fits from a file in processes of their own that the system gives no more memory than that."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import convert_data

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts private memory on Linux alone")

LIMITED = """
    import resource, sys
    import numpy as np
    from pegasos import PegasosClassifier, PegasosRegressor, open_data
    from pegasos.memory import taken

    kind, path, allowed, setting = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    model = {
        "auto": PegasosClassifier(lam=1e-5, tol=1e-3, n_jobs=2),
        "pegasos": PegasosClassifier(lam=1e-4, solver="pegasos", max_epochs=1),
        "regression": PegasosRegressor(lam=1e-3, tol=1e-2),
        "classes": PegasosClassifier(lam=1e-2, solver="pegasos", max_epochs=1),
    }[kind]
    with open("/proc/self/status") as status:
        data = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (data + allowed, data + allowed))
    rows = open_data(path, memory={"beside": taken() + allowed, "same": data + allowed, "none": None}[setting])
    try:
        model.fit(rows)
    except (ValueError, MemoryError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
    try:
        np.ones(allowed // 4)
    except MemoryError:
        print("limited")
"""


def many_rows(path) -> None:
    """A million, of which dual variables and the like alone would take 17 MB."""
    m, generator = 1_000_000, np.random.default_rng(0)
    columns = generator.integers(0, 50, (m, 2), dtype=np.int32) + np.array([0, 50], np.int32)
    X = sp.csr_matrix((np.ones(2 * m), columns.ravel(), np.arange(0, 2 * m + 1, 2)), shape=(m, 100))
    convert_data((X, np.where(columns.sum(axis=1) > 98, 1, -1)), path, dtype=np.float32)


def many_columns(path) -> None:
    """200,000, and 40 classes: their weights alone take 64 MB."""
    generator = np.random.default_rng(0)
    columns = generator.integers(0, 200_000, 4000, dtype=np.int32)
    X = sp.csr_matrix((np.ones(4000), columns, np.arange(4001)), shape=(4000, 200_000))
    convert_data((X, np.arange(4000) % 40), path)


def limited(folder, kind: str, megabytes: int, setting: str) -> subprocess.CompletedProcess[str]:
    write = many_columns if kind == "classes" else many_rows
    path = folder / f"{write.__name__}.pegasos"
    if not path.exists():
        write(path)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    script = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(LIMITED)]
    command = [*script, kind, str(path), str(megabytes * 10**6), setting]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.parametrize("setting", ["beside", "same"])
@pytest.mark.parametrize(("kind", "megabytes"), [("auto", 50), ("pegasos", 40), ("regression", 120), ("classes", 130)])
def test_a_process_of_its_own_stays_below_its_limit(tmp_path_factory, kind: str, megabytes: int, setting: str) -> None:
    """With 6 to 16 MB for what is known of every row, and models of several classes in memory once. The setting is so
    much more than what the process uses, or the same number as its limit, which counts what it only reserves.
    """
    done = limited(tmp_path_factory.getbasetemp(), kind, megabytes, setting)
    assert done.returncode == 0, done.stderr
    assert "limited" in done.stdout


def test_a_limit_of_the_system_that_is_too_tight_is_refused(tmp_path_factory) -> None:
    done = limited(tmp_path_factory.getbasetemp(), "classes", 60, "same")
    assert done.stderr.startswith("ValueError: the limit RLIMIT_DATA="), done.stderr
    assert "is too little: a fit of 4,000 rows and 200,001 weights for each of 40 classes takes " in done.stderr


@pytest.mark.parametrize(("kind", "megabytes"), [("classes", 50), ("regression", 25)])
def test_memory_that_runs_out_is_an_error_with_the_least(tmp_path_factory, kind: str, megabytes: int) -> None:
    """Of an array of Python's, or in native code."""
    done = limited(tmp_path_factory.getbasetemp(), kind, megabytes, "none")
    assert done.stderr.startswith("MemoryError: memory has run out: a fit of "), done.stderr
    assert "at least, of which Python has" in done.stderr
