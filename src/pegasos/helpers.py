"""Threads that help with numbered pieces of work, as many of them as the machine lets start."""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable
from threading import Event, Lock

from . import _core

Look = Callable[[], None]
# What OpenBLAS takes for a thread that multiplies: 32 MB in numpy's, as much in scipy's. Without it the process ends.
_BLAS_ROOM = 64 << 20


def survives_fork(lock: Lock) -> Lock:
    """The lock, which a child will not find held by a thread that it does not have."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock


class _Over(Exception):
    """For helpers: the work has ended."""


class Shared:
    """Pieces 0..n - 1 of some work, done here and in helpers.

    `threading.Thread` is no use: where memory is short a thread may die before it has said that it runs, and
    `Thread.start` waits for that forever. Here nobody waits for a helper that has begun nothing.
    """

    def __init__(self, n: int, work: Callable[[int, Look], None]) -> None:
        self._work = work
        self._pieces = iter(list(range(n)))  # a list's iterator may be shared, and needs no memory
        self._begun, self._done = [False] * n, [False] * n
        self._failures: list[BaseException] = []
        self._over = False
        self._news = Event()

    def run(self, helpers: int, look: Look, cancel: Look) -> None:
        """Return when all pieces are done. look is called between pieces and while others are at theirs; what it, or a
        piece, raises ends the work: cancel then tells those who are at a piece, as does the `look` they are given.
        """
        for started in range(helpers):
            if not _core.room_for_thread((started + 2) * _BLAS_ROOM):  # of those that have started, one more, and us
                break
            try:
                _thread.start_new_thread(self._help, ())
            except (RuntimeError, MemoryError):  # there are no more to be had
                break
        try:
            self._serve(look)
            while not all(self._done) and not self._failures:
                self._wait()
                look()
        except BaseException:
            self._end(cancel)
            raise
        if self._failures:
            self._end(cancel)
            raise self._failures[0]

    def _serve(self, look: Look) -> None:
        for i in self._pieces:
            self._begun[i] = True
            try:
                look()
                self._work(i, look)
            except _Over:
                raise
            except BaseException as error:
                self._failures.append(error)  # first: who sees that the piece is done must see how it ended
                raise
            finally:
                self._done[i] = True
            if self._failures:
                return

    def _help(self) -> None:
        try:
            self._serve(self._told)
        except _Over:
            pass
        except BaseException as error:
            if error not in self._failures:  # it came between two pieces
                self._failures.append(error)
        self._news.set()

    def _told(self) -> None:
        if self._over:
            raise _Over

    def _wait(self) -> None:
        """For a helper that ends, or a moment: for Ctrl-C, and in case that one could not say so."""
        self._news.wait(0.02)
        self._news.clear()

    def _end(self, cancel: Look) -> None:
        """Nobody begins another piece; those that were begun come to an end."""
        self._over = True
        cancel()
        while self._begun != self._done:
            self._wait()
