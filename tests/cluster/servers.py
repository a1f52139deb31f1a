"""A scheduler and workers as processes of their own, started by the commands that a user has."""

from __future__ import annotations

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

    def __init__(self, n_workers: int, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.start_scheduler()
        self.workers = [self.add_worker() for _ in range(n_workers)]

    def add_worker(self, *options: str) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0", *options)
        return self._start("worker", self.address, *options)

    def client(self, n_workers: int) -> Client:
        client = Client(self.address, timeout=60, set_as_default=False)
        client.wait_for_workers(n_workers, timeout=120)
        return client

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
        log = open(self._folder / "servers.log", "ab")  # noqa: SIM115  # the child's
        return subprocess.Popen(
            [*command, what, *options],
            stdout=log,
            stderr=log,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": here},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        processes = [*self.workers, self.scheduler]
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.kill()
        until = time.monotonic() + 30
        for process in processes:
            process.wait(max(until - time.monotonic(), 1))
