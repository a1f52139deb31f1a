"""What can go wrong on a cluster: the same bytes, or a clear error, and never a hang."""

import dask
import pytest
from beside import Fit, endless
from here_models import HereClassifier, bytes_of, data, quietly
from kills import campaign, model, problem
from servers import Servers


@pytest.fixture
def servers(tmp_path):
    with Servers(2, tmp_path) as servers:
        yield servers


def test_five_kills_leave_the_bytes_as_they_are(servers):
    ends = campaign(servers, 5, seed=1)
    assert {end for _, end in ends} == {"same bytes"}
    assert len(ends) == 5  # in as many phases


def test_newcomers_may_finish_what_others_began(servers):
    rows = problem()
    expected = bytes_of(quietly(model(kind=HereClassifier), *rows))
    with servers.client(2) as client:
        fit = Fit(model(client), *rows)
        fit.in_round(2)
        servers.kill(0)
        servers.workers.append(servers.add_worker())
        client.wait_for_workers(2, timeout=60)
        servers.kill(1)
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
