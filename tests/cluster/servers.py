"""A scheduler and workers as processes of their own, started by the commands that a user has."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from distributed import Client


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Servers:
    """``dask scheduler`` and some ``dask worker`` on loopback; all of them end with it."""

    def __init__(self, n_workers: int, folder: Path, **settings: str) -> None:
        """settings: of Dask, for all processes, as variables of their environment name them."""
        self.port, self.folder = free_port(), folder
        self._settings = {f"DASK_DISTRIBUTED__{name}": value for name, value in settings.items()}
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.start_scheduler()
        self.workers = [self.add_worker() for _ in range(n_workers)]

    def add_worker(self, *options: str) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", *options)
        return self._start("worker", self.address, *options)

    def client(self, n_workers: int, address: str | None = None) -> Client:
        client = Client(address or self.address, timeout=60, set_as_default=False)
        client.wait_for_workers(n_workers, timeout=120)
        return client

    def stop(self, worker: int) -> None:
        """It hangs from now on."""
        self.workers[worker].send_signal(signal.SIGSTOP)

    def kill(self, worker: int) -> None:
        self.workers[worker].send_signal(signal.SIGKILL)
        self.workers[worker].wait()

    def kill_scheduler(self) -> None:
        self.scheduler.send_signal(signal.SIGKILL)
        self.scheduler.wait()

    def start_scheduler(self) -> None:
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask"]  # of this very environment
        here = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        log = open(self.folder / "servers.log", "ab")  # noqa: SIM115  # the child's
        return subprocess.Popen(
            [*command, what, *options],
            stdout=log,
            stderr=log,
            cwd=self.folder,
            env={**os.environ, **self._settings, "PYTHONPATH": here},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        processes = [*self.workers, self.scheduler]
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.terminate()  # a nanny takes its worker along
        with contextlib.suppress(subprocess.TimeoutExpired):
            for process in processes:
                process.wait(3)
        for process in processes:
            process.kill()
        until = time.monotonic() + 30
        for process in processes:
            process.wait(max(until - time.monotonic(), 1))
