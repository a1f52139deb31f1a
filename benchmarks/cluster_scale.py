"""Fits on 8 to 4,096 partitions, whose tasks run in this process one after the other, and what follows for 10^9 rows.

    python benchmarks/cluster_scale.py same-rows     the same generated text in ever more partitions
    python benchmarks/cluster_scale.py same-parts    ever more partitions of 400 rows each
    python benchmarks/cluster_scale.py crawl         the hinge on more columns than have a second-order finish
    python benchmarks/cluster_scale.py speeds        seconds of rounds, messages and tasks, on this machine
    python benchmarks/cluster_scale.py estimate      10^9 rows, on paper, from the stored figures

Rounds and visits depend on rows and partitions alone. The estimate is arithmetic: nothing of that size was run.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from typing import Any

import numpy as np
from clusters import RESULTS, TOL, HereClassifier, cut, described, store
from sklearn.exceptions import ConvergenceWarning

from pegasos import datasets
from pegasos.dask.work import FAN_IN, VISITS

WORDS = 20_000  # features of the generated text
COUNTS = (8, 64, 512, 4096)
PART = 400  # rows of a partition that stays as large as it is


def rounds(X: Any, y: Any, n: int, lam: float, most: int, tol: float = TOL) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is in what is described
        model = HereClassifier(lam=lam, tol=tol, random_state=0, max_rounds=most).fit(*cut(X, y, n))
    found = described(model, len(y))
    gaps = model.history_["gap"]
    found["rounds to 1e-2"] = int(np.argmax(gaps <= 1e-2)) + 1 if gaps[-1] <= 1e-2 else None
    print(n, found, flush=True)
    return found


def same_rows(counts: list[int], most: int) -> dict[str, Any]:
    rows, lam = 200_000, 1e-4
    X, y = datasets.make_text(rows, WORDS, random_state=0)
    return {
        f"{rows:,} rows x {WORDS:,}, lam {lam:g}, in n partitions": {str(n): rounds(X, y, n, lam, most) for n in counts}
    }


def same_parts(counts: list[int], most: int) -> dict[str, Any]:
    """lam times the rows of a partition stays the same."""
    lam = 1 / PART
    found = {}
    for n in counts:
        X, y = datasets.make_text(n * PART, WORDS, random_state=0)
        found[str(n)] = rounds(X, y, n, lam, most)
    return {f"n partitions of {PART} rows x {WORDS:,}, lam {lam:g}": found}


def crawl(most: int) -> dict[str, Any]:
    """More columns than have Newton steps, and little lam for the rows of a partition."""
    rows, words, lam, n = 4_000, 5_000, 1e-4, 8
    X, y = datasets.make_text(rows, words, random_state=0)
    found = {f"{tol:g}": rounds(X, y, n, lam, most, tol) for tol in (1e-2, 1e-3, 1e-6)}
    return {f"the hinge on {rows:,} rows x {words:,} in {n} partitions, lam {lam:g}, by tol": found}


# Speeds


def speeds() -> dict[str, Any]:
    from distributed import Client, LocalCluster

    found = {"seconds a non-zero": round_speeds()}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        found["bytes a second from worker to worker"] = bandwidth(client)
        found["seconds a task"] = task_seconds(client)
    return {"speeds": found}


class Timed(HereClassifier):
    """Notes processor seconds and visits of every round of every partition."""

    def _cluster(self, run: Any) -> Any:
        here = super()._cluster(run)
        submit, self.noted = here.submit, []

        def timed(function: Any, *args: Any, what: str) -> Any:
            began = time.process_time()
            outcome = submit(function, *args, what=what)
            if what == "round":
                visits = sum(float(message.counts[VISITS]) for message in outcome.messages.values())
                self.noted.append((time.process_time() - began, visits))
            return outcome

        here.submit = timed
        return here


def round_speeds() -> dict[str, float]:
    """Of partitions larger than caches: of a certificate, which is all that a warm start begins with, and of visits."""
    X, y = datasets.make_text(200_000, random_state=0)
    model = Timed(lam=1e-5, tol=1e-9, max_rounds=4, random_state=0, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        rows = cut(X, y, 2)
        seconds, visits = np.sum(model.fit(*rows).noted, axis=0)
        proof = np.sum(model.set_params(max_rounds=1).fit(*rows).noted, axis=0)[0]
    return {"visit": float((seconds - 4 * proof) / (visits * X.nnz / X.shape[0])), "certificate": float(proof / X.nnz)}


def bandwidth(client: Any) -> float:
    """Arrays of 8 MB made on one worker and looked at on the other."""
    here, there = client.scheduler_info()["workers"]
    arrays = [client.submit(np.ones, 1_000_000, workers=[here], pure=False) for _ in range(40)]
    client.gather(client.map(np.size, arrays, workers=[here], pure=False))
    began = time.perf_counter()
    client.gather(client.map(np.size, arrays, workers=[there], pure=False))
    return len(arrays) * 8e6 / (time.perf_counter() - began)


def task_seconds(client: Any, n: int = 2000) -> float:
    began = time.perf_counter()
    client.gather(client.map(int, range(n), pure=False))
    return (time.perf_counter() - began) / n


# On paper


def estimate() -> dict[str, Any]:
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    by_parts: dict[str, Any] = next((value for name, value in known.items() if name.startswith("n partitions of")), {})
    for command, there in (("same-parts --partitions 512", "512" in by_parts), ("speeds", "speeds" in known)):
        if not there:
            raise SystemExit(f"no figures to go on: run python benchmarks/cluster_scale.py {command} first.")
    measured, speed = by_parts["512"], known["speeds"]
    rows, parts, nonzeros, features = 1e9, 512, 76, 47_236
    each = rows / parts
    n_rounds, visits = measured["rounds"], measured["epochs"]
    vector = 8 * (features + 1)
    wire = min(speed["bytes a second from worker to worker"], 1.25e9)  # ten gigabits
    cost = speed["seconds a non-zero"]
    seconds = {
        "coordinate steps": visits * each * nonzeros * cost["visit"],
        "certificates": n_rounds * each * nonzeros * cost["certificate"],
        "orders to workers": n_rounds * math.ceil(math.log2(parts)) * 3 * vector / wire,
        "sums": n_rounds * math.ceil(math.log(parts, FAN_IN)) * FAN_IN * 2 * vector / wire,
        "scheduling": n_rounds * (2 * parts + parts / (FAN_IN - 1)) * speed["seconds a task"],
    }
    return {
        "10^9 rows on paper": {
            "rows": rows,
            "non-zeros a row": nonzeros,
            "features": features,
            "partitions, each on a core": parts,
            "gigabytes": rows * nonzeros * 8 / 1e9,
            "lam": 1 / each,
            "rounds": n_rounds,
            "seconds": {name: round(value, 1) for name, value in seconds.items()},
            "all seconds": round(sum(seconds.values())),
        }
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("same-rows", "same-parts", "crawl", "speeds", "estimate"))
    parser.add_argument("--partitions", type=int, nargs="*", default=COUNTS)
    parser.add_argument("--most-rounds", type=int, default=400)
    asked = parser.parse_args()
    if asked.what == "same-rows":
        store(same_rows(asked.partitions, asked.most_rounds))
    elif asked.what == "same-parts":
        store(same_parts(asked.partitions, asked.most_rounds))
    elif asked.what == "crawl":
        store(crawl(asked.most_rounds))
    else:
        store(speeds() if asked.what == "speeds" else estimate())


if __name__ == "__main__":
    main()
