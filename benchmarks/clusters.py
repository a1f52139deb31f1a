"""Fits on partitions: rounds, row visits, and overhead.

    python benchmarks/clusters.py visits      8 partitions of the abstracts, against a local fit, in counted visits
    python benchmarks/clusters.py overhead    two workers, round by round, with a picture

The first needs no cluster: tasks run in this process (pegasos.dask.here), and what is counted depends on rows and
partitions alone. The second measures time, on a machine that does nothing else. Results: results/distributed.json,
which is kept with the code; a test compares the counted ones with docs/distributed.md.
Thousands of partitions: cluster_scale.py. A worker that is killed: cluster_kills.py.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask
import numpy as np
from inputs import load, missing

from pegasos import PegasosClassifier
from pegasos.dask import DaskPegasosClassifier
from pegasos.dask.here import RunsHere

RESULTS = Path(__file__).parent / "results" / "distributed.json"
TOL, LAM = 1e-3, 1e-5


class HereClassifier(RunsHere, DaskPegasosClassifier):
    """The same rounds without a cluster."""


def cut(X: Any, y: Any, n: int) -> tuple[list[Any], list[Any]]:
    """Rows in n partitions, as delayed objects that hold them."""
    ends = np.linspace(0, len(y), n + 1).astype(int)
    pairs = list(pairwise(ends))
    return [dask.delayed(X[a:b]) for a, b in pairs], [dask.delayed(y[a:b]) for a, b in pairs]


def abstracts() -> tuple[Any, Any]:
    why = missing("arxiv")
    if why:
        raise SystemExit(why)
    data = load("arxiv", quick=False)
    return data.X, data.y


def described(model: Any, m: int) -> dict[str, Any]:
    """Visits are coordinate steps; a certificate is a pass more, one a round, reported apart."""
    return {
        "gap": float(model.gap_),
        "converged": bool(model.converged_),
        "rounds": int(model.n_rounds_),
        "visits": int(model.n_steps_),
        "epochs": round(float(model.n_iter_), 2),
        "certificate passes": int(model.n_rounds_),
        "rows": m,
    }


def visits() -> dict[str, Any]:
    """The issue of a round: how many, and how many visits of rows, against a local fit to the same certificate."""
    X, y = abstracts()
    local = PegasosClassifier(lam=LAM, tol=TOL, n_jobs=1, random_state=0).fit(X, y)
    found = described(HereClassifier(lam=LAM, tol=TOL, random_state=0).fit(*cut(X, y, 8)), len(y))
    found["local visits"], found["local gap"] = int(local.n_steps_), float(local.gap_)
    found["visits of local ones"] = round(found["visits"] / local.n_steps_, 2)
    return {"8 partitions of the abstracts, lam 1e-5": found}


def store(found: dict[str, Any]) -> None:
    """Adds to what is known already; of other numbers of partitions, too."""
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    added = {name: known.get(name, {}) | each for name, each in found.items()}
    RESULTS.write_text(json.dumps(known | added, indent=2) + "\n")
    print(json.dumps(found, indent=2))


# On a cluster


@contextmanager
def two_workers(X: Any, y: Any) -> Iterator[tuple[Any, list[Any]]]:
    """A client of two fresh workers of a thread each, and the rows on them in 8 partitions."""
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        parts = [client.persist(column) for column in cut(X, y, 8)]
        wait(parts)
        DaskPegasosClassifier(lam=LAM, max_rounds=1, tol=0.9).fit(*parts)  # workers import what they need
        yield client, parts


def overhead(picture: Path) -> dict[str, Any]:
    """Two workers of a thread each against a local fit with two threads."""
    from distributed import get_task_stream

    X, y = abstracts()
    seconds = -time.perf_counter()
    PegasosClassifier(lam=LAM, tol=TOL, n_jobs=2, random_state=0).fit(X, y)
    found: dict[str, Any] = {"local, two threads": round(seconds + time.perf_counter(), 2)}
    with two_workers(X, y) as (client, parts):
        timed(parts)
        with get_task_stream(client) as stream:
            found["undisturbed"] = timed(parts)[1]
        found["rounds"] = rounds_of(stream.data)
        draw(stream.data, found, picture)
    return {"overhead, 8 partitions of the abstracts on 2 workers, seconds": found}


def timed(parts: list[Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    model = DaskPegasosClassifier(lam=LAM, tol=TOL, random_state=0).fit(*parts)
    return model, round(time.perf_counter() - began, 2)


def kind_of(task: dict[str, Any]) -> str:
    """The name of a task says what it does: pegasos-round-..."""
    what = str(task["key"]).split("-")[1] if str(task["key"]).startswith("pegasos-") else "rows"
    return {"round": "compute", "sum": "merge", "message": "merge", "orders": "orders"}.get(what, "before the rounds")


def spans(data: list[dict[str, Any]]) -> list[tuple[str, str, float, float]]:
    """(worker, kind, begin, end) of everything that was computed or fetched, in seconds since the first."""
    found = [
        (task["worker"], "transfer" if part["action"] == "transfer" else kind_of(task), part["start"], part["stop"])
        for task in data
        for part in task["startstops"]
        if part["action"] in ("compute", "transfer")
    ]
    first = min(begin for _, _, begin, _ in found)
    return [(worker, kind, begin - first, end - first) for worker, kind, begin, end in found]


def rounds_of(data: list[dict[str, Any]]) -> list[dict[str, float]]:
    """Of each round: seconds, of which workers computed, merged and waited, both together."""
    all_spans = spans(data)
    starts = sorted(begin for _, kind, begin, _ in all_spans if kind == "orders")
    ends = [*starts[1:], max(end for _, _, _, end in all_spans)]
    found = []
    for start, end in zip(starts, ends, strict=True):
        busy = {
            kind: sum(e - b for _, k, b, e in all_spans if k == kind and start <= b < end)
            for kind in ("compute", "merge", "transfer")
        }
        wait = 2 * (end - start) - sum(busy.values())
        each = {"seconds": end - start, **busy, "wait": wait}
        found.append({name: round(value, 3) for name, value in each.items()})
    return found


COLOURS = {
    "compute": "#2a78b8",
    "merge": "#d95f02",
    "transfer": "#7a7a7a",
    "before the rounds": "#a6cee3",
    "orders": "#e6ab02",
}


def draw(data: list[dict[str, Any]], found: dict[str, Any], path: Path) -> None:
    """The timeline of both workers: what is white is waiting."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 2.6), layout="constrained")
    workers = sorted({worker for worker, *_ in spans(data)})
    for worker, kind, begin, end in spans(data):
        axes.barh(workers.index(worker), end - begin, left=begin, height=0.7, color=COLOURS[kind])
    axes.axvline(found["local, two threads"], color="black", linestyle=":", linewidth=1)
    axes.text(found["local, two threads"], 1.55, " a local fit, two threads", fontsize=8, va="top")
    axes.set(yticks=range(len(workers)), yticklabels=[f"worker {i + 1}" for i in range(len(workers))])
    axes.set(xlabel="seconds; white is waiting", ylim=(-0.6, 1.6))
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS.values()]
    figure.legend(handles, COLOURS, loc="outside upper center", ncols=len(COLOURS), frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("visits", "overhead"))
    picture = Path(__file__).parents[1] / "docs" / "images" / "distributed.png"
    parser.add_argument("--picture", type=Path, default=picture)
    asked = parser.parse_args()
    store(visits() if asked.what == "visits" else overhead(asked.picture))


if __name__ == "__main__":
    main()
