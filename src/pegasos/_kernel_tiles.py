"""Work cut into pieces for a few threads. Each piece writes to a place of its own: the number of threads changes
nothing but the time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def each_piece(n: int, width: int, threads: int, work: Callable[[slice], None], poll: Callable[[], None]) -> None:
    """Call work for 0..n - 1 in slices of `width`. poll is called in between, here; what it raises ends it."""
    pieces = iter([slice(i, min(i + width, n)) for i in range(0, n, width)])
    failures: list[BaseException] = []

    def serve(look: Callable[[], None]) -> None:
        for piece in pieces:  # a list's iterator may be shared
            look()
            work(piece)

    def help_out() -> None:
        try:
            serve(lambda: None)
        except BaseException as error:
            failures.append(error)

    helpers = [Thread(target=help_out) for _ in range(min(threads, -(-n // width)) - 1)]
    for helper in helpers:
        helper.start()
    try:
        serve(poll)
    finally:
        for _ in pieces:  # after a failure nothing is left to do
            pass
        for helper in helpers:
            helper.join()
    if failures:
        raise failures[0]
