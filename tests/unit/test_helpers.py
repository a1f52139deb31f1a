"""Pieces of work for a few threads: all of them are done, with or without helpers."""

import threading

import pytest

from pegasos.helpers import Shared


def test_work_is_done_without_helpers_and_errors_come_from_anywhere(monkeypatch):
    def refuse(*args):
        raise RuntimeError("can't start new thread")

    seen = []
    monkeypatch.setattr("_thread.start_new_thread", lambda work, args: None)  # starts, and never runs
    Shared(5, lambda i, look: seen.append(i)).run(3, lambda: None, lambda: None)
    monkeypatch.setattr("_thread.start_new_thread", refuse)
    Shared(5, lambda i, look: seen.append(i)).run(3, lambda: None, lambda: None)
    assert seen == [0, 1, 2, 3, 4] * 2
    monkeypatch.undo()
    here, cancelled = threading.get_ident(), []

    def work(i, look):
        if threading.get_ident() != here:
            raise KeyError("there")
        while True:
            look()
            threading.Event().wait(0.001)
            if cancelled or shared._failures:
                return

    shared = Shared(4, work)
    with pytest.raises(KeyError, match="there"):
        shared.run(1, lambda: None, lambda: cancelled.append(True))
    assert cancelled
