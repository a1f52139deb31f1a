"""What can go wrong on a cluster: the same bytes, or a clear error, and never a hang."""

import threading

import dask
import pytest
from distributed import Client, LocalCluster
from here_models import HereClassifier, bytes_of, data, quietly
from kills import campaign, model, problem
from servers import Servers

from pegasos.dask import DaskPegasosClassifier
from pegasos.dask.cluster import Cluster

LIMIT = 120  # seconds until it counts as a hang


class Fit(threading.Thread):
    """A fit beside the test, and how it ended."""

    def __init__(self, estimator, *rows):
        super().__init__(daemon=True)
        self.estimator, self.rows, self.error = estimator, rows, None
        self.rounds = threading.Semaphore(0)  # released with every round that begins
        real = Cluster.keep

        def keep(cluster, value, what):
            if what == "orders":
                self.rounds.release()
            return real(cluster, value, what)

        self._real, Cluster.keep = real, keep
        self.start()

    def run(self):
        try:
            quietly(self.estimator, *self.rows)
        except BaseException as error:
            self.error = error

    def in_round(self, n):
        for _ in range(n):
            assert self.rounds.acquire(timeout=LIMIT)

    def ended(self):
        self.join(LIMIT)
        Cluster.keep = self._real
        assert not self.is_alive(), "it hangs"
        return self.error


def endless(client):
    """A fit that ends by nothing but what a test does to it."""
    return DaskPegasosClassifier(lam=1e-7, tol=1e-15, max_rounds=10**6, max_epochs=10**9, client=client)


def test_five_kills_leave_the_bytes_as_they_are():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        ends = campaign(client, 5, 2, seed=1)
    assert {end for _, end in ends} == {"same bytes"}
    assert len(ends) == 5  # in as many phases


@pytest.fixture
def servers(tmp_path):
    with Servers(2, tmp_path) as servers:
        yield servers


def test_workers_started_by_commands_may_leave_and_join(servers):
    rows = problem()
    expected = bytes_of(quietly(model(kind=HereClassifier), *rows))
    with servers.client(2) as client:
        fit = Fit(model(client), *rows)
        fit.in_round(2)
        servers.workers.append(servers.add_worker())
        servers.kill(0)
        assert fit.ended() is None
        assert bytes_of(fit.estimator) == expected


def test_all_workers_gone_is_an_error_that_says_so(servers):
    with servers.client(2) as client, dask.config.set({"pegasos.dask.no-workers-timeout": "3 s"}):
        fit = Fit(endless(client), *data("text", "two"))
        fit.in_round(2)
        servers.kill(0), servers.kill(1)
        with pytest.raises(RuntimeError, match=r"no workers for 3 s.*no-workers-timeout"):
            raise fit.ended()


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_scheduler_that_is_gone_is_a_clear_error(servers, comes_back):
    client = servers.client(2)
    with dask.config.set({"pegasos.dask.no-scheduler-timeout": "3 s"}):
        fit = Fit(endless(client), *data("text", "two"))
        fit.in_round(2)
        servers.kill_scheduler()
        if comes_back:
            servers.start_scheduler()
        with pytest.raises(ConnectionError, match=r"connection to the Dask scheduler at .* is lost"):
            raise fit.ended()
    client.close(timeout=1)
