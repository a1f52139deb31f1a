"""Workers and wires in trouble, but not dead: slow, hanging, out of memory, silent."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import dask
import pytest
from beside import Fit, endless
from here_models import HereClassifier, bytes_of, data, quietly
from kills import model, problem
from relay import Relay
from servers import Servers
from slow_worker import COUNTS

from pegasos.dask.cluster import Cluster
from pegasos.solvers.base import Run


@pytest.fixture(scope="module")
def rows():
    return problem()


@pytest.fixture(scope="module")
def expected(rows):
    return bytes_of(quietly(model(kind=HereClassifier), *rows))


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """They survive what is done to them here."""
    with Servers(2, tmp_path_factory.mktemp("servers")) as servers:
        yield servers


def test_a_slow_worker_changes_nothing_but_the_time(servers, rows, expected):
    slow = servers.add_worker("--preload", "slow_worker")
    with servers.client(3) as client:
        try:
            assert bytes_of(quietly(model(client), *rows)) == expected
        finally:
            slow.kill(), slow.wait()
    assert (servers.folder / COUNTS).stat().st_size > 0  # it had its part


@pytest.mark.parametrize("how", ["cut", "interrupt", "hush"])
def test_a_client_that_is_cut_off_is_a_clear_error(servers, how):
    with Relay(servers.port) as relay, dask.config.set({"pegasos.dask.no-scheduler-timeout": "3 s"}):
        client = servers.client(2, relay.address)
        fit = Fit(endless(client), *data("text", "two"))
        fit.in_round(2)
        getattr(relay, how)()
        with pytest.raises(ConnectionError, match=r"connection to the Dask scheduler at .* is lost"):
            raise fit.ended()
        relay.cut()
        client.close(timeout=1)


def test_a_worker_that_hangs_is_given_up(tmp_path, rows, expected):
    # Not less: on a busy machine the other worker is silent for seconds, too.
    with Servers(2, tmp_path, SCHEDULER__WORKER_TTL="10s") as servers, servers.client(2) as client:
        fit = Fit(model(client), *rows)
        fit.in_round(3)
        servers.stop(0)
        assert fit.ended() is None
        assert bytes_of(fit.estimator) == expected


# Memory

_ballast = []


def fill(megabytes):
    """More than a worker may have."""
    _ballast.append(bytearray(os.urandom(1 << 20)) * megabytes)


def filled(X):
    fill(700)
    return X


@pytest.fixture
def small_workers(tmp_path):
    """Their nannies end them where memory runs out, and start them again; a task has two tries."""
    with Servers(0, tmp_path, SCHEDULER__ALLOWED_FAILURES="1") as servers:
        servers.workers += [servers.add_worker("--nanny", "--memory-limit", "700MiB") for _ in range(2)]
        yield servers


def test_a_worker_out_of_memory_is_started_again_and_a_task_that_needs_too_much_is_told(small_workers, rows, expected):
    with small_workers.client(2) as client:
        fit = Fit(model(client), *rows)
        fit.in_round(2)
        victim = next(iter(client.run(os.getpid)))
        filler = client.submit(fill, 700, workers=[victim], pure=False)
        assert fit.ended() is None
        filler.cancel()
        assert bytes_of(fit.estimator) == expected
        X, y = data("text", "two")
        fit = Fit(endless(client), X.map_blocks(filled, meta=X._meta), y)
        with pytest.raises(RuntimeError, match=r"a task ended every worker.*memory"):
            raise fit.ended()


def test_workers_that_have_paused_are_none(tmp_path):
    settings = {"WORKER__MEMORY__PAUSE": "0.5", "WORKER__MEMORY__TERMINATE": "False", "WORKER__MEMORY__SPILL": "False"}
    with (
        Servers(0, tmp_path, **settings) as servers,
        dask.config.set({"pegasos.dask.no-workers-timeout": "3 s"}),
    ):
        servers.workers.append(servers.add_worker("--memory-limit", "1000MiB"))
        with servers.client(1) as client:
            fit = Fit(endless(client), *data("text", "two"))
            fit.in_round(2)
            client.run(fill, 700)
            with pytest.raises(RuntimeError, match=r"no workers for 3 s, or none that have memory"):
                raise fit.ended()


# Ctrl-C, as a terminal sends it: to the workers, too

SCRIPT = """
import os
from distributed import Client, LocalCluster
from beside import endless
from here_models import data

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        print("workers", *client.run(os.getpid).values(), flush=True)
        model = endless(client).set_params(verbose=1)
        try:
            model.fit(*data("text", "two"))
        except KeyboardInterrupt:
            print("interrupted with a gap below 1:", model.gap_ < 1, flush=True)
"""


def test_a_ctrl_c_that_python_forgets_is_heard_at_the_next_look():
    cluster = Cluster(None, Run(1e-3, 10))
    with cluster.hears_ctrl_c():
        with contextlib.suppress(KeyboardInterrupt):  # as code that must not fail does
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            cluster._look()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not cluster._interrupted


def test_ctrl_c_in_a_terminal_ends_fit_and_workers(tmp_path):
    script = tmp_path / "fit.py"
    script.write_text(SCRIPT)
    here = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-u", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": here},
    ) as process:
        try:
            workers = [int(pid) for pid in process.stdout.readline().split()[1:]]
            for _ in range(5):
                assert "gap" in process.stdout.readline()
            os.killpg(process.pid, signal.SIGINT)
            told = process.communicate(timeout=60)[0]
        finally:
            if process.poll() is None:  # or the test would wait for a fit that has no end
                os.killpg(process.pid, signal.SIGKILL)
    assert "interrupted with a gap below 1: True" in told
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
