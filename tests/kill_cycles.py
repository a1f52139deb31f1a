"""Kill a fit with -9 again and again, and let the next process go on: does it end with the bytes of one left alone?

    python tests/kill_cycles.py 200
    python tests/kill_cycles.py 50 kernel
    python tests/kill_cycles.py 50 sequences

Every process is a fork that is killed at a random moment, or, where `stage` says so, at a certain line of the writing.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosSequenceTagger, checkpointing, datasets
from pegasos.io import checkpoints

KERNEL, SEQUENCES = (sys.argv[2:] == [name] for name in ("kernel", "sequences"))


def _sequences() -> tuple[Any, Any]:
    """Columns of very different size: Frank-Wolfe crawls, and softening has its turns."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 6)) * np.geomspace(0.1, 10, 6) for n in rng.integers(1, 12, 150)]
    return X, [np.argmax(x[:, 3:] + x[:, :3] + rng.normal(size=(len(x), 3)), axis=1).tolist() for x in X]


if SEQUENCES:
    X, Y = _sequences()
elif KERNEL:
    X, Y = datasets.make_binary(1200, 5, random_state=0)
else:
    X, Y = datasets.make_text(3000, 2000, random_state=0)


def model() -> Any:
    """Many epochs, with a checkpoint after each."""
    if SEQUENCES:
        return PegasosSequenceTagger(lam=1e-4, tol=1e-6, random_state=0, max_epochs=400)
    if KERNEL:
        return KernelPegasosClassifier(lam=1e-5, tol=1e-9, solver=pegasos.SDCA(), cache_mb=4, max_epochs=40)
    return PegasosClassifier(lam=1e-6, tol=1e-7, solver=pegasos.SDCA(), random_state=0, max_epochs=60)


def bytes_of(fitted: Any) -> bytes:
    numbers = np.array([fitted.objective_, fitted.gap_]).tobytes()
    if SEQUENCES:
        return bytes(fitted._w.tobytes()) + numbers
    weights = fitted.dual_coef_ if KERNEL else fitted.coef_
    return weights.tobytes() + fitted.intercept_.tobytes() + numbers


def _fit_in_child(path: Path, result: Path, dies: Callable[[], None] | None) -> None:
    """Runs in a fork, and never returns."""
    try:
        if dies is not None:
            dies()
        import warnings

        warnings.simplefilter("ignore")
        with checkpointing(path, every=0.0):
            fitted = model().fit(X, Y)
            result.write_bytes(bytes_of(fitted))
    except BaseException as error:
        print(error, file=sys.stderr)
        os._exit(1)
    os._exit(0)


def start(path: Path, result: Path, dies: Callable[[], None] | None = None) -> int:
    child = os.fork()
    if child == 0:
        _fit_in_child(path, result, dies)
    return child


def dies_in_write(number: int, call: int) -> Callable[[], None]:
    """Kill the process in its write number `number`, before a certain call: of write, fsync or rename."""

    def arm() -> None:
        count = 0
        real = checkpoints.Checkpoints._write
        system = {name: getattr(os, name) for name in ("write", "fsync", "replace")}

        def counted(self: Any) -> None:
            nonlocal count
            count += 1
            if count == number:
                _kill_at(call, system)
            real(self)

        checkpoints.Checkpoints._write = counted  # type: ignore[method-assign]

    return arm


def _kill_at(call: int, system: dict[str, Any]) -> None:
    left = call

    def killing(name: str) -> Any:
        def run(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return system[name](*given, **named)

        return run

    for name in system:
        setattr(os, name, killing(name))


def alone() -> bytes:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return bytes_of(model().fit(X, Y))


def main(cycles: int, folder: Path) -> None:
    wanted, rng = alone(), np.random.default_rng(int(time.time()))
    begun = time.perf_counter()
    alone()
    seconds = time.perf_counter() - begun
    path, result = folder / "run.ckpt", folder / "result"
    killed = finished = resumed = 0
    while killed < cycles:
        resumed += path.exists()
        child = start(path, result)
        time.sleep(float(rng.uniform(0, 1.5 * seconds)))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL, f"it died of signal {os.WTERMSIG(status)}"
            killed += 1
        else:
            assert status == 0, "a fit has failed"
        if result.exists() and not path.exists():
            assert result.read_bytes() == wanted, "the bytes differ"
            finished += 1
            result.unlink()
    assert os.waitpid(start(path, result), 0)[1] == 0, "a fit has failed"
    assert result.read_bytes() == wanted, "the bytes differ"
    print(f"{killed} kills, {resumed} starts from a checkpoint, {finished + 1} fits ended, all with the same bytes")


if __name__ == "__main__":
    import tempfile

    main(int(sys.argv[1]), Path(tempfile.mkdtemp()))
