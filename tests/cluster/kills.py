"""Kill workers with -9 at random moments of every phase of a fit: does the model keep its bytes?

    python tests/cluster/kills.py 100

A nanny starts the killed worker again, as it would on a cluster. The answer is a table of phases, and exit code 1 if
any fit has hung, failed, or come to other bytes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from here_models import HereClassifier, bytes_of, chunked, quietly

from pegasos import datasets
from pegasos.dask import DaskPegasosClassifier
from pegasos.dask.cluster import Cluster

LIMIT = 120.0  # seconds until a fit counts as hung


def problem() -> tuple[Any, Any]:
    X, y = datasets.make_text(1500, 1500, random_state=0)
    lengths = (400, 300, 500, 0, 300)
    return chunked(X, lengths), chunked(np.asarray(y), lengths)


def model(client: Client | None = None, kind: type = DaskPegasosClassifier) -> Any:
    """Of ten rounds, so that there is a copy of the dual variables among them."""
    return kind(lam=1e-4, tol=1e-6, max_rounds=10, client=client)


class Assassin:
    """Kills one worker, a random moment after a fit has begun some phase, for the first time or a later one."""

    def __init__(self, client: Client, phase: str, tasks: int, rng: np.random.Generator) -> None:
        self.phase, self.killed = phase, 0
        self._pids = list(client.run(os.getpid).values())
        self._victim = int(rng.choice(self._pids))
        self._delay = float(rng.exponential(0.03))
        self._left = int(rng.integers(1, tasks + 1))  # tasks of the phase until then
        self._real = Cluster.submit

    def __enter__(self) -> Assassin:
        def submit(cluster: Cluster, function: Any, *args: Any, what: str) -> Any:
            if what == self.phase and not self.killed:
                self._left -= 1
                if not self._left:
                    self._strike()
            return self._real(cluster, function, *args, what=what)

        Cluster.submit = submit  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Cluster.submit = self._real  # type: ignore[method-assign]

    def _strike(self) -> None:
        self.killed = self._victim
        threading.Timer(self._delay, os.kill, (self._victim, signal.SIGKILL)).start()


def phases_of(client: Client, rows: tuple[Any, Any]) -> dict[str, int]:
    """Kinds of tasks, in the order in which a fit sends the first of each, and how many of them."""
    tasks: dict[str, int] = {}
    real = Cluster.submit

    def submit(cluster: Cluster, function: Any, *args: Any, what: str) -> Any:
        tasks[what] = tasks.get(what, 0) + 1
        return real(cluster, function, *args, what=what)

    Cluster.submit = submit  # type: ignore[method-assign]
    try:
        quietly(model(client), *rows)
    finally:
        Cluster.submit = real  # type: ignore[method-assign]
    return tasks


def one(assassin: Assassin, client: Client, rows: tuple[Any, Any], expected: bytes) -> str:
    """What became of a fit: "same bytes", or what went wrong."""
    found: list[Any] = []
    with assassin:

        def fit() -> None:
            try:
                found.append(bytes_of(quietly(model(client), *rows)))
            except BaseException as error:
                found.append(error)

        thread = threading.Thread(target=fit, daemon=True)
        thread.start()
        thread.join(LIMIT)
        time.sleep(0.2)  # the timer may still run
    if not found:
        return f"hung for {LIMIT:g} s"
    if found[0] != expected:
        return f"error: {found[0]!r}" if isinstance(found[0], BaseException) else "other bytes"
    return "same bytes" if assassin.killed else "nobody was killed"


def campaign(client: Client, n: int, n_workers: int, seed: int) -> dict[tuple[str, str], int]:
    """n kills, the phases in turn: how often a phase had which end."""
    rng = np.random.default_rng(seed)
    rows = problem()
    expected = bytes_of(quietly(model(kind=HereClassifier), *rows))
    client.wait_for_workers(n_workers, timeout=120)
    phases = list(phases_of(client, rows).items())
    in_turn = phases[::2] + phases[1::2]  # five already reach from the first to the last
    counts: dict[tuple[str, str], int] = {}
    for i in range(n):
        phase, tasks = in_turn[i % len(phases)]
        client.wait_for_workers(n_workers, timeout=120)
        end = one(Assassin(client, phase, tasks, rng), client, rows, expected)
        counts[phase, end] = counts.get((phase, end), 0) + 1
    return counts


def main() -> int:
    n, n_workers = int(sys.argv[1]) if len(sys.argv) > 1 else 100, 3
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        counts = campaign(client, n, n_workers, seed)
    for (phase, end), count in sorted(counts.items()):
        print(f"{phase:12s} {end:12s} {count}")
    bad = sum(count for (_, end), count in counts.items() if end != "same bytes")
    print(f"{n} fits, {bad} of them bad")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
