"""Work cut into pieces for a few threads. Each piece writes to a place of its own: the number of threads changes
nothing but the time.
"""

from __future__ import annotations

from collections.abc import Callable

from ..helpers import Look as Look
from ..helpers import Shared


def each_piece(n: int, width: int, threads: int, work: Callable[[slice, Look], None], poll: Look) -> None:
    """Call work(piece, look) for 0..n - 1 in slices of `width`. poll is called in between, here; what it raises ends
    it. Work that takes long calls `look` now and then, which is poll here and tells helpers when to end.
    """
    pieces = [slice(i, min(i + width, n)) for i in range(0, n, width)]

    def one(i: int, look: Look) -> None:
        work(pieces[i], look)

    Shared(len(pieces), one).run(min(threads, len(pieces)) - 1, poll, lambda: None)
