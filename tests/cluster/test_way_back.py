"""What keeps the way back short when a worker dies: copies, and newcomers that nobody has to wait for."""

import subprocess
import sys

from here_models import HereClassifier, data, quietly

from pegasos.dask.cluster import Cluster
from pegasos.dask.here import Here
from pegasos.solvers.base import Run

TASKS = """
import sys
import numpy as np, scipy.sparse as sp
from pegasos.dask import parts, work

X = sp.random(50, 8, 0.5, format="csr", random_state=0)
for rows in (X, X.toarray(), X.astype(np.float32)):
    part = parts.read_part(0, rows, np.arange(50) % 2, None)
    assert part.X is rows
    part = parts.coded(part, parts.classes_of(part)[0], None)
    parts.facts_of(part, 2)
    parts.directed(part, parts.sum_of_rows(part, 1.0), 1.0)
assert callable(work.take_round)
print(*sorted({name.split(".")[0] for name in sys.modules} & {"sklearn", "pandas"}), "dask.array" in sys.modules)
"""


def test_tasks_need_no_library_that_is_long_to_import():
    """A worker that has just started may be given one, and everybody waits for it."""
    told = subprocess.run([sys.executable, "-c", TASKS], capture_output=True, text=True, check=True, timeout=120)
    assert told.stdout.split() == ["False"]


def test_values_are_made_where_the_rows_are(client):
    """What needs nothing goes to whoever is idle; what needs the rows begins beside them (and may be stolen)."""

    def needed(key, dask_scheduler):
        return [each.key for each in dask_scheduler.tasks[key].dependencies]

    cluster = Cluster(client, Run(1e-3, 1))
    workers = list(client.has_what())
    assert len(workers) > 1
    for home in workers:
        rows = client.submit(bytes, 10**6, workers=[home], pure=False)
        cluster.wait([rows])
        for number in range(4):  # a round has one, and waits for it
            kept = cluster.keep(number, "orders", beside=rows)
            assert cluster.values([kept]) == [number]
            assert client.run_on_scheduler(needed, kept.key) == [rows.key]


def test_copies_are_made_often_in_the_first_rounds(monkeypatch):
    kept, real = [], Here.keep

    def keep(here, value, what, beside):
        kept.append(what)
        return real(here, value, what, beside)

    monkeypatch.setattr(Here, "keep", keep)
    X, y = data("text", "two")
    quietly(HereClassifier(lam=1e-6, tol=1e-14, max_rounds=17), X, y)
    n_parts = X.numblocks[0]
    after = [kept[:i].count("orders") for i, what in enumerate(kept) if what == "copy"]
    assert after == [rounds for rounds in (2, 4, 8, 16) for _ in range(n_parts)]
