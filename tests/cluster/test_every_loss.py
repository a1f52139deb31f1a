"""Real processes, four of them: every loss with every bias has the optimum of a local fit."""

import os

import numpy as np
import pytest
from distributed import Client, LocalCluster
from here_models import BIASES, CASES, TABLE, HereClassifier, bytes_of, chunked, labels, local_of, quietly

from pegasos.dask import DaskPegasosClassifier, DaskPegasosRegressor

LENGTHS = (20, 0, 35, 7, 28)  # of partitions, more than there are workers
TWICE = [("hinge", "free"), ("multinomial", "regularized"), ("squared_epsilon_insensitive", "none")]
ROWS = sum(LENGTHS)


@pytest.fixture(scope="module")
def four_workers(client):  # the other cluster, which says where workers find these modules
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as four,
    ):
        yield four


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("kind", "loss", "what"), CASES, ids=[loss for _, loss, _ in CASES])
def test_four_workers_find_the_optimum_of_a_local_fit(four_workers, client, kind, loss, what, bias):
    kind = DaskPegasosClassifier if kind is HereClassifier else DaskPegasosRegressor
    X, y = TABLE[:ROWS], labels("table", what)[:ROWS]
    given = {"lam": 1e-2, "loss": loss, "bias": bias, "tol": 1e-2}
    model = kind(**given, client=four_workers).fit(chunked(X, LENGTHS), chunked(y, LENGTHS))
    exact = quietly(local_of(model, tol=1e-7), X, y)
    assert model.converged_
    assert model.objective_ - exact.objective_ <= model.gap_
    assert model.gap_ <= 1e-2 * (np.mean(y**2) if what == "numbers" else np.log(3))
    assert len(four_workers.scheduler_info(n_workers=-1)["workers"]) == 4
    if (loss, bias) in TWICE:
        two = kind(**given, client=client).fit(chunked(X, LENGTHS), chunked(y, LENGTHS))
        assert bytes_of(two) == bytes_of(model)


def test_the_four_are_processes(four_workers):
    assert len({os.getpid(), *four_workers.run(os.getpid).values()}) == 5
