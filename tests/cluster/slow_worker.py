"""For ``dask worker --preload``: rounds take long on this worker, and it counts them in a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pegasos.dask import work

COUNTS = Path("slow-rounds.txt")  # in the folder that the worker was started in
_take_round = work.take_round


def slowly(*args: Any) -> work.Outcome:
    time.sleep(0.1)
    with COUNTS.open("a") as file:
        file.write("x")
    return _take_round(*args)


def dask_setup(_: Any) -> None:
    """Tasks find a function by its name."""
    work.take_round = slowly
