"""One thread for BLAS while work is shared by threads of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits

_lock = Lock()
_users = 0
_limit: threadpool_limits | None = None


@contextmanager
def single_blas() -> Iterator[None]:
    """BLAS has one setting for the whole process: the first of those who overlap sets it, the last one sets it back."""
    global _users, _limit
    with _lock:
        if _users == 0:
            _limit = threadpool_limits(1, user_api="blas")
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0 and _limit is not None:
                _limit.restore_original_limits()
                _limit = None
