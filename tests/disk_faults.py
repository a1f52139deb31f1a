"""A disk that refuses one call of the system, the first, the second, and so on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from pegasos.io import atomic


def count_refusals(
    call: str, error: int, act: Callable[[], None], left: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> int:
    """Until `act` gets through: its nth call of os.`call` fails with this error, which it must raise; `left` looks at
    what it has left behind. How many calls were refused.
    """
    real, failures = getattr(os, call), 0
    for nth in range(1000):
        calls = 0

        def refuse(*given: Any, nth: int = nth, **named: Any) -> Any:
            nonlocal calls, failures
            calls += 1
            if calls == nth + 1:
                failures += 1
                raise OSError(error, os.strerror(error))
            return real(*given, **named)

        monkeypatch.setattr(atomic.os, call, refuse)
        raised = None
        try:
            act()
        except OSError as found:
            raised = found
        monkeypatch.setattr(atomic.os, call, real)
        if raised is None:
            return failures
        assert raised.errno == error
        left()
    raise AssertionError("it never got through")
