"""A fit beside a test that disturbs it."""

from __future__ import annotations

import threading
from typing import Any

from distributed import Client
from here_models import quietly

from pegasos.dask import DaskPegasosClassifier
from pegasos.dask.cluster import Cluster

LIMIT = 120  # seconds until it counts as a hang


class Fit(threading.Thread):
    """How it ended is known in the end."""

    def __init__(self, estimator: Any, *rows: Any) -> None:
        super().__init__(daemon=True)
        self.estimator, self.rows = estimator, rows
        self.error: BaseException | None = None
        self.rounds = threading.Semaphore(0)  # released with every round that begins
        self._real = real = Cluster.keep

        def keep(cluster: Cluster, value: Any, what: str, beside: Any) -> Any:
            if what == "orders":
                self.rounds.release()
            return real(cluster, value, what, beside)

        Cluster.keep = keep  # type: ignore[method-assign]
        self.start()

    def run(self) -> None:
        try:
            quietly(self.estimator, *self.rows)
        except BaseException as error:
            self.error = error

    def in_round(self, n: int) -> None:
        """Waits until n more rounds have begun."""
        for _ in range(n):
            assert self.rounds.acquire(timeout=LIMIT)

    def ended(self) -> BaseException | None:
        self.join(LIMIT)
        Cluster.keep = self._real  # type: ignore[method-assign]
        assert not self.is_alive(), "it hangs"
        return self.error


def endless(client: Client) -> Any:
    """A fit that ends by nothing but what a test does to it."""
    return DaskPegasosClassifier(lam=1e-7, tol=1e-15, max_rounds=10**6, max_epochs=10**9, client=client)
