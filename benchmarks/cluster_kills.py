"""What a killed worker costs a fit, and how much of that is Dask's own.

    python benchmarks/cluster_kills.py 3      so often: 8 partitions of the abstracts on two workers, one killed with -9

Every fit with a kill has an undisturbed one before it, on the same two workers. What Dask itself needs is measured in
the same way with tasks that do next to nothing: until it knows that the worker is gone, and until it has brought the
rows that were lost to the other one. Results: results/distributed.json.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from statistics import median
from typing import Any

from clusters import abstracts, store, timed, two_workers
from distributed import Client, get_task_stream

MOMENTS = {"a third": 1 / 3, "half": 1 / 2, "two thirds": 2 / 3}


def kill(client: Client, noticed: list[float]) -> None:
    """One of the workers; noticed: seconds until the scheduler knows."""
    address, victim = next(iter(client.run(os.getpid).items()))
    os.kill(victim, signal.SIGKILL)
    began = time.perf_counter()
    while address in client.scheduler_info(n_workers=-1)["workers"]:
        time.sleep(0.002)
    noticed.append(time.perf_counter() - began)


def a_fit(X: Any, y: Any, part: float) -> dict[str, Any]:
    """Undisturbed, and with a worker killed after some part of that time."""
    noticed: list[float] = []
    with two_workers(X, y) as (client, parts):
        undisturbed, seconds = timed(parts)
        timer = threading.Timer(part * seconds, kill, (client, noticed))
        timer.start()
        with get_task_stream(client) as stream:
            model, took = timed(parts)
        timer.join()
    # Eight for each round, and those that were lost and computed again: no other load on the machine changes them.
    rounds = sum(str(task["key"]).startswith("pegasos-round") for task in stream.data)
    return {
        "undisturbed": seconds,
        "killed": took,
        "times": round(took / seconds, 2),
        "noticed": round(noticed[0], 3),
        "of 1.5 undisturbed and that": round(took / (1.5 * seconds + noticed[0]), 2),
        "rounds of a partition": rounds,
        "of them again": rounds - 8 * model.n_rounds_,
        "same bytes": model.coef_.tobytes() == undisturbed.coef_.tobytes(),
    }


def n_rows(rows: Any) -> int:
    return int(rows.shape[0])


def next_to_nothing(X: Any, y: Any) -> dict[str, float]:
    """A dead worker where nothing is to be computed: seconds until Dask knows, and until the rows are back."""
    noticed: list[float] = []
    with two_workers(X, y) as (client, parts):
        kill(client, noticed)
        began = time.perf_counter()
        client.gather([client.submit(n_rows, rows, pure=False) for rows in client.compute(parts[0])])
        return {"noticed": round(noticed[0], 3), "rows are back": round(noticed[0] + time.perf_counter() - began, 3)}


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    X, y = abstracts()
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ("Dask alone", *MOMENTS)}
    for _ in range(times):
        found["Dask alone"].append(next_to_nothing(X, y))
        for name, part in MOMENTS.items():
            found[name].append(a_fit(X, y, part))
            print(name, found[name][-1], flush=True)
    middle = {name: median(each["times"] for each in found[name]) for name in MOMENTS}
    store({"one of two workers killed, seconds": {**found, "times the undisturbed, median": middle}})


if __name__ == "__main__":
    main()
