"""A wire on loopback that can be cut: bytes are passed on between those who connect to it and one address."""

from __future__ import annotations

import contextlib
import socket
import threading
from types import TracebackType
from typing import Self


class Relay:
    """Listens at `address`. `cut` closes what is connected, and lets nobody in again; `hush` keeps connections open
    and passes nothing on, as a network does that has lost its way.
    """

    def __init__(self, port: int) -> None:
        self._to = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._sockets: list[socket.socket] = []
        self._silent = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._close(self._listener)
        self.interrupt()

    def interrupt(self) -> None:
        """What is connected is closed; who comes again is let in."""
        for each in self._sockets:
            self._close(each)
        self._sockets = []

    def hush(self) -> None:
        self._silent = True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection(self._to)
                self._sockets += [here, there]
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self._pass_on, args=pair, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if not self._silent:
                    target.sendall(data)
        self._close(target)

    def _close(self, each: socket.socket) -> None:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cut()
