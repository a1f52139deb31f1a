"""Train on a Dask cluster: rows in partitions, one certificate over all of them, and the ordinary model at the end.

Run it with `python examples/cluster.py`; it needs `pip install 'pegasos[dask]'`. The cluster is two processes of this
machine. Instead of `LocalCluster`, name the scheduler of yours: `Client("tcp://scheduler:8786")`.
"""

from __future__ import annotations

from typing import Any

import dask
from distributed import Client, LocalCluster

from pegasos import datasets
from pegasos.dask import DaskPegasosClassifier


@dask.delayed(nout=2)  # type: ignore[untyped-decorator]  # Dask has no type hints
def partition(number: int) -> tuple[Any, Any]:
    """Rows as a worker would read them from a file of its own: 5,000 of 40,000 generated texts."""
    X, y = datasets.make_text(40_000, random_state=0)
    rows = slice(5_000 * number, 5_000 * (number + 1))
    return X[rows], y[rows]


def main() -> None:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        X, y = zip(*(partition(i) for i in range(8)), strict=True)
        model = DaskPegasosClassifier(lam=1e-4, verbose=1).fit(list(X[:7]), list(y[:7]))
        print(f"{model.n_rounds_} rounds; objective at most {model.gap_:.1e} above the minimum over all partitions")
        print(f"{model.score([X[7]], [y[7]]):.1%} right on the last partition")
        print(f"on one machine again: {model.to_local()}")


if __name__ == "__main__":
    main()
