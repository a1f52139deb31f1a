"""Kill workers with -9 at random moments of every phase of a fit: does the model keep its bytes?

    python tests/cluster/kills.py 100

Another worker is started in its place at once, as a nanny would do. The answer is a table of phases, and exit code 1 if
any fit has hung, failed, or come to other bytes.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from distributed import Client
from here_models import HereClassifier, bytes_of, chunked, quietly
from servers import Servers

from pegasos import datasets
from pegasos.dask import DaskPegasosClassifier
from pegasos.dask.cluster import Cluster

LIMIT = 120.0  # seconds until a fit counts as hung
LATE = "killed after the fit"


def problem() -> tuple[Any, Any]:
    X, y = datasets.make_text(1500, 1500, random_state=0)
    lengths = (400, 300, 500, 0, 300)
    return chunked(X, lengths), chunked(np.asarray(y), lengths)


def model(client: Client | None = None, kind: type = DaskPegasosClassifier) -> Any:
    """Of ten rounds, so that there is a copy of the dual variables among them."""
    return kind(lam=1e-4, tol=1e-6, max_rounds=10, client=client)


class Assassin:
    """Kills one worker, a random moment after a fit has begun some phase, for the first time or a later one."""

    def __init__(self, servers: Servers, phase: str, tasks: int, rng: np.random.Generator) -> None:
        self.phase, self.struck, self.killed = phase, False, False
        self._servers = servers
        self._victim = int(rng.integers(len(servers.workers)))
        self._delay = float(rng.exponential(0.03))
        self._left = int(rng.integers(1, tasks + 1))  # tasks of the phase until then
        self._real = Cluster.submit

    def __enter__(self) -> Assassin:
        def submit(cluster: Cluster, function: Any, *args: Any, what: str) -> Any:
            if what == self.phase and not self.struck:
                self._left -= 1
                if not self._left:
                    self._strike()
            return self._real(cluster, function, *args, what=what)

        Cluster.submit = submit  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        Cluster.submit = self._real  # type: ignore[method-assign]

    def _strike(self) -> None:
        self.struck = True
        threading.Timer(self._delay, self._kill).start()

    def _kill(self) -> None:
        self._servers.kill(self._victim)
        self.killed = True
        self._servers.workers[self._victim] = self._servers.add_worker()


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
    in_time = False
    with assassin:

        def fit() -> None:
            nonlocal in_time
            try:
                fitted = quietly(model(client), *rows)
                in_time = assassin.killed
                found.append(bytes_of(fitted))
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
    if not assassin.struck:
        return "nobody was killed"
    return "same bytes" if in_time else LATE


def campaign(servers: Servers, n: int, seed: int) -> dict[tuple[str, str], int]:
    """n kills, the phases in turn: how often a phase had which end."""
    with servers.client(len(servers.workers)) as client:
        return _campaign(servers, client, n, np.random.default_rng(seed))


def _campaign(servers: Servers, client: Client, n: int, rng: np.random.Generator) -> dict[tuple[str, str], int]:
    rows = problem()
    expected = bytes_of(quietly(model(kind=HereClassifier), *rows))
    phases = list(phases_of(client, rows).items())
    in_turn = phases[::2] + phases[1::2]  # five already reach from the first to the last
    counts: dict[tuple[str, str], int] = {}
    for i in range(n):
        phase, tasks = in_turn[i % len(phases)]
        end = LATE
        while end == LATE:  # a fit that was faster than its assassin shows nothing
            client.wait_for_workers(len(servers.workers), timeout=120)
            end = one(Assassin(servers, phase, tasks, rng), client, rows, expected)
        counts[phase, end] = counts.get((phase, end), 0) + 1
    return counts


def main() -> int:
    n, n_workers = int(sys.argv[1]) if len(sys.argv) > 1 else 100, 3
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.monotonic()
    with TemporaryDirectory() as folder, Servers(n_workers, Path(folder)) as servers:
        counts = campaign(servers, n, seed)
    for (phase, end), count in sorted(counts.items()):
        print(f"{phase:12s} {end:20s} {count}")
    bad = sum(count for (_, end), count in counts.items() if end != "same bytes")
    print(f"{n} fits in {time.monotonic() - began:.0f} s, {bad} of them bad")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
