"""One thread for BLAS while work is shared by threads of our own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from ..helpers import survives_fork

_lock = survives_fork(Lock())
_users = 0
_limit: Any = None
_known: tuple[int, ThreadpoolController] | None = None  # how many modules there were, and what was found then


def _alone() -> None:
    """In a child: the fits of the parent's threads are not there. What they have set, the next one sets back."""
    global _users
    _users = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alone)


def _controller() -> ThreadpoolController:
    """The libraries of this process. To look for them takes longer than a small fit: only after an import, which alone
    brings new ones.
    """
    global _known
    if _known is None or _known[0] != len(sys.modules):
        _known = len(sys.modules), ThreadpoolController()
    return _known[1]


@contextmanager
def single_blas() -> Iterator[None]:
    """BLAS has one setting for the whole process: the first of those who overlap sets it, the last one sets it back."""
    global _users, _limit
    with _lock:
        if _users == 0 and _limit is None:
            _limit = _controller().limit(limits=1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users = max(0, _users - 1)  # the child of a fit has none to begin with
            if _users == 0 and _limit is not None:
                _limit.restore_original_limits()
                _limit = None
