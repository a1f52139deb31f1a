"""Work cut into pieces for a few threads. Each piece writes to a place of its own: the number of threads changes
nothing but the time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

Look = Callable[[], None]


class _Over(Exception):
    """For helpers: the work has ended."""


def each_piece(n: int, width: int, threads: int, work: Callable[[slice, Look], None], poll: Look) -> None:
    """Call work(piece, look) for 0..n - 1 in slices of `width`. poll is called in between, here; what it raises ends
    it. Work that takes long calls `look` now and then, which is poll here and tells helpers when to end.
    """
    pieces = iter([slice(i, min(i + width, n)) for i in range(0, n, width)])
    failures: list[BaseException] = []
    over = Event()

    def serve(look: Look) -> None:
        for piece in pieces:  # a list's iterator may be shared
            look()
            work(piece, look)

    def told() -> None:
        if over.is_set():
            raise _Over

    def help_out() -> None:
        try:
            serve(told)
        except _Over:
            pass
        except BaseException as error:
            failures.append(error)

    helpers = [Thread(target=help_out) for _ in range(min(threads, -(-n // width)) - 1)]
    for helper in helpers:
        helper.start()
    try:
        serve(poll)
        for helper in helpers:
            while helper.is_alive():
                helper.join(0.02)
                poll()
    finally:
        over.set()
        for helper in helpers:
            helper.join()
    if failures:
        raise failures[0]
