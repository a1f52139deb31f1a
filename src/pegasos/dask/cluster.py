"""Tasks on a Dask cluster: how they are sent, waited for and given up. Nothing is pinned to a worker, and the only data
that is sent is what a round needs to know: weights, as the result of a task that the scheduler can run again.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import Future as Answer
from concurrent.futures import wait as wait_for_any
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from types import FrameType
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import dask
from dask.utils import parse_timedelta
from distributed import Client, Future, default_client
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker

from ..solvers.base import Run
from .work import FAN_IN, value_as_is

_LOOK = 0.1  # seconds between two looks at the clock, at Ctrl-C and at the cluster
_ASK = 2.0  # seconds between two questions to the scheduler
_NO_WORKERS = "pegasos.dask.no-workers-timeout"
_NO_SCHEDULER = "pegasos.dask.no-scheduler-timeout"
_LARGE = "distributed.admin.large-graph-warning-threshold"


class OutOfTime(Exception):
    """The fit is to end, by max_time or by whoever asked for it."""


def client_of(given: Client | None) -> Client:
    """The client of an estimator: its own, or the one that was made last."""
    if given is None:
        try:
            given = default_client()
        except ValueError:
            raise ValueError(
                "there is no Dask client. Make one, e.g. client = distributed.Client(), or pass client=."
            ) from None
    if not isinstance(given, Client):
        raise TypeError(f"client must be a distributed.Client, got {type(given).__name__}.")
    if given.asynchronous:
        raise ValueError("client is asynchronous; fit needs one that waits: Client(...) without asynchronous=True.")
    if given.status in ("closed", "closing"):
        raise ValueError("client is closed. Connect a new one, and pass it as client=.")
    return given


class Cluster:
    """The tasks of one fit."""

    def __init__(self, client: Client, run: Run) -> None:
        self.client, self._run = client, run
        self._token = uuid4().hex[:12]
        self._count = 0
        self._futures: WeakSet[Future] = WeakSet()
        self.hurries = False  # whether max_time ends it: what has begun to be read must be read to its end
        self._idle_since: float | None = None
        self._lost_since: float | None = None
        self._next_question = time.monotonic() + _ASK
        self._question: Answer[Any] | None = None
        self._asked, self._silent = 0.0, False
        self._interrupted = False

    def submit(self, function: Callable[..., Any], *args: Any, what: str) -> Future:
        """A task, with a name of its own: functions are pure, but what they take is too large to be hashed."""
        self._count += 1
        key = f"pegasos-{what}-{self._token}-{self._count}"
        with dask.config.set({_LARGE: "1 TiB"}):  # what is large here are weights, which is no mistake of the user's
            future = self.client.submit(function, *args, key=key, pure=False)
        self._futures.add(future)
        return future

    def keep(self, value: Any, what: str, beside: Future) -> Future:
        """A value as a task, which goes to the workers that ask for it, and survives all of them.

        beside: where Dask runs it. A task that needs nothing it gives to whoever is idle, such as a worker that has
        just started, and everybody would wait until that one has imported what it takes to read the value.
        """
        return self.submit(value_as_is, value, beside, what=what)

    def computed(self, *each: Sequence[Any]) -> list[list[Future]]:
        """Lists of chunks as futures; where there is none, None. They are asked for together: what chunks come from is
        computed once for all of them, and Dask does not forget it between two lists.
        """
        for chunks in each:
            for number, chunk in enumerate(chunks):
                if isinstance(chunk, Future):
                    self._refuse_stranger(number, chunk)
        later = [chunk for chunks in each for chunk in chunks if not (chunk is None or isinstance(chunk, Future))]
        futures = self.client.compute(later) if later else []
        self._futures.update(futures)
        found = iter(futures)
        return [[c if c is None or isinstance(c, Future) else next(found) for c in chunks] for chunks in each]

    def _refuse_stranger(self, number: int, chunk: Future) -> None:
        theirs, ours = (getattr(client.scheduler, "address", None) for client in (chunk.client, self.client))
        if theirs != ours:
            raise ValueError(
                f"partition {number} is a Future of the cluster at {theirs}, but the client's scheduler is at {ours}."
            )
        if chunk.cancelled():
            raise ValueError(f"partition {number} is a Future that was cancelled: compute its rows again.")

    def merge(self, parts: list[Future], function: Callable[[list[Any]], Any]) -> Any:
        """What is in the parts, added up in their order by tasks that take some of them each."""
        while True:
            groups = [parts[i : i + FAN_IN] for i in range(0, len(parts), FAN_IN)]
            parts = [self.submit(function, group, what="sum") for group in groups]
            if len(parts) == 1:
                return self.values(parts)[0]

    def values(self, futures: list[Future]) -> list[Any]:
        """What tasks return."""
        self.wait(futures)
        return self._gathered(futures)

    def _gathered(self, futures: list[Future]) -> list[Any]:
        """Errors of tasks are raised as they are; those of the cluster say what to do."""
        for future in futures:
            error = future.exception() if future.status == "error" else None
            if isinstance(error, KilledWorker):
                raise RuntimeError(
                    f"a task ended every worker that it was given to, the last of which was {error.last_worker}: most "
                    "likely they ran out of memory. Cut the rows into smaller partitions, or give the workers more "
                    "memory."
                ) from error
            if error is not None:
                raise error
        try:
            found: list[Any] = self._patiently(self.client.gather(futures, asynchronous=True))
        except (FutureCancelledError, OSError, TimeoutError) as error:
            raise self._lost(str(error)) from error
        return found

    def _patiently(self, question: Coroutine[Any, Any, Any]) -> Any:
        """The answer to what Dask is asked. A scheduler that falls silent is noticed meanwhile, and so is Ctrl-C."""
        answer = self._in_the_loop(question)
        try:
            while not answer.done():
                self._look()
                wait_for_any([answer], _LOOK)
            return answer.result()
        finally:
            answer.cancel()

    def _in_the_loop(self, question: Coroutine[Any, Any, Any]) -> Answer[Any]:
        return asyncio.run_coroutine_threadsafe(question, self.client.loop.asyncio_loop)

    def wait(self, futures: Iterable[Future]) -> None:
        """Until all are there. If one fails, or the fit ends meanwhile, nobody waits for any other, and the error is
        raised.
        """
        try:
            self._wait(list(futures))
        except BaseException:
            self._cancel()
            raise

    def _wait(self, waiting: list[Future]) -> None:
        while True:
            failed = [future for future in waiting if future.status in ("error", "cancelled", "lost")]
            if failed:
                self._gathered(failed[:1])
            waiting = [future for future in waiting if future.status == "pending"]
            if not waiting:
                return
            self._wait_for(waiting[0], waiting)

    def _wait_for(self, future: Future, others: list[Future]) -> None:
        """Until it is done or one of the others has failed. (distributed.wait asks the default client, not ours.)"""
        done = Event()
        future.add_done_callback(lambda _: done.set())
        while future.status == "pending" and not any(each.status == "error" for each in others):
            self._look()
            if done.wait(_LOOK):
                return

    def _cancel(self) -> None:
        """Tells the scheduler, if it listens: nobody waits for it, or a fit would not end when it is gone."""
        unfinished = [future for future in self._futures if future.status == "pending"]
        if self.client.status == "running" and unfinished:
            wait_for_any([self._in_the_loop(self.client.cancel(unfinished, asynchronous=True, force=True))], _ASK)

    @contextmanager
    def hears_ctrl_c(self) -> Iterator[None]:
        """While it lasts no Ctrl-C is lost. Python forgets one that meets code which must not fail, such as that which
        ends with a future; a terminal sends it to the workers, too, and the fit would wait for them in vain.
        """
        if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def hear(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            signal.default_int_handler(number, frame)

        signal.signal(signal.SIGINT, hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._interrupted = False  # it is known now, and what follows must not hear of it again

    def _look(self) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        if self.hurries and self._run.is_over():
            raise OutOfTime
        if self.client.status != "running" or self._is_silent():
            self._lost_since = self._lost_since or time.monotonic()
            if self.client.status in ("closed", "closing") or _longer(self._lost_since, _NO_SCHEDULER, "60 s"):
                raise self._lost()
            return
        self._lost_since = None
        if self._idle_since is not None and _longer(self._idle_since, _NO_WORKERS, "120 s"):
            raise RuntimeError(
                f"the cluster has had no workers for {dask.config.get(_NO_WORKERS, '120 s')}, or none that have memory "
                "left, and the fit cannot go on. Start some, or give them more memory, and fit again; the "
                f"configuration {_NO_WORKERS} says how long to wait."
            )

    def _is_silent(self) -> bool:
        """Asks the scheduler for its workers, now and then: whether the last question has found no answer."""
        now = time.monotonic()
        if self._question is None:
            if now >= self._next_question:
                self._question, self._asked = self._in_the_loop(self.client.scheduler.identity()), now
        elif self._question.done():
            question, self._question, self._next_question = self._question, None, now + _ASK
            self._silent = question.cancelled() or question.exception() is not None
            if not self._silent:
                self._count_workers(question.result()["workers"].values())
        elif now > self._asked + _ASK:
            self._silent = True
        return self._silent

    def _count_workers(self, workers: Iterable[dict[str, Any]]) -> None:
        """A worker that has paused, its memory being full, is none."""
        if any(worker.get("status", "running") == "running" for worker in workers):
            self._idle_since = None
        else:
            self._idle_since = self._idle_since or self._asked

    def _lost(self, reason: str = "") -> ConnectionError:
        where = getattr(self.client.scheduler, "address", "its address")
        return ConnectionError(
            f"the connection to the Dask scheduler at {where} is lost, or it has started anew, or cannot read a task; "
            f"what the workers have computed is lost with it{f' ({reason})' if reason else ''}. Connect a new Client "
            "and fit again, with rows that its own cluster holds; if that does not help, the scheduler's log says why."
        )


def _longer(since: float, name: str, default: str) -> bool:
    return time.monotonic() - since > float(parse_timedelta(dask.config.get(name, default)))
