"""What the scheduler holds of a fit does not grow with its rounds, and a dead worker costs a few of them."""

from collections import Counter

import numpy as np
import pytest
from here_models import HereClassifier, bytes_of, data, quietly

from pegasos.dask import DaskPegasosClassifier, fitting
from pegasos.dask.work import take_round

LONG = {"lam": 1e-7, "tol": 1e-15, "max_epochs": 1e9}
DONE: Counter[tuple[int, int]] = Counter()  # rounds of partitions, by partition and seed of the round


def counted_round(part, last, orders, statement):
    DONE[part.number, orders[0].seed] += 1
    return take_round(part, last, orders, statement)


def after_each_round(monkeypatch, look):
    real = fitting.Course._round

    def a_round(course):
        real(course)
        look(course.rounds + 1)

    monkeypatch.setattr(fitting.Course, "_round", a_round)


@pytest.mark.parametrize("at_a_time", [4_000_000, 1])
def test_tasks_and_orders_do_not_pile_up(threads, monkeypatch, at_a_time):
    monkeypatch.setattr(fitting, "_AT_A_TIME", at_a_time)  # 1: as of many rows, a partition at a time
    held = {}

    def look(rounds):
        tasks = list(threads.cluster.scheduler.tasks)
        held[rounds] = len(tasks), sum(str(key).startswith("pegasos-orders") for key in tasks)

    after_each_round(monkeypatch, look)
    quietly(DaskPegasosClassifier(**LONG, max_rounds=48, client=threads), *data("text", "two"))
    assert max(orders for _, orders in held.values()) <= 10
    assert max(held[r][0] for r in range(33, 49)) <= 1.1 * max(held[r][0] for r in range(9, 17))


@pytest.mark.parametrize("at_a_time", [4_000_000, 1])
def test_a_dead_worker_takes_a_few_rounds_with_it(threads, monkeypatch, at_a_time):
    monkeypatch.setattr(fitting, "_AT_A_TIME", at_a_time)
    monkeypatch.setattr(fitting, "take_round", counted_round)
    DONE.clear()
    cluster = threads.cluster

    def look(rounds):
        if rounds == 30:
            cluster.sync(cluster.workers[0].close, executor_wait=False)

    after_each_round(monkeypatch, look)
    model = quietly(DaskPegasosClassifier(**LONG, max_rounds=40, client=threads), *data("text", "two"))
    again = [seed for (_, seed), times in DONE.items() if times > 1]
    assert again, "it has lost nothing"
    assert min(again) >= 24
    assert np.isfinite(model.gap_)
    assert bytes_of(model) == bytes_of(quietly(HereClassifier(**LONG, max_rounds=40), *data("text", "two")))


def test_more_than_the_scheduler_should_hold_is_not_copied(monkeypatch):
    monkeypatch.setattr(fitting, "_KEPT", 899)
    copies = []
    monkeypatch.setattr(fitting.Course, "_copy", lambda course, numbers: copies.append(numbers))
    quietly(HereClassifier(**LONG, max_rounds=9), *data("text", "two"))
    assert not copies
    monkeypatch.setattr(fitting, "_KEPT", 900)
    monkeypatch.setattr(fitting, "_AT_A_TIME", 500)
    quietly(HereClassifier(**LONG, max_rounds=9), *data("text", "two"))
    assert copies == [[0, 1], [2, 3], [4]]  # after the eighth round alone
