"""Runs tests on one mutant after the other, in children of one process that has collected the tests.

Starting Python and collecting the tests takes longer than most mutants live: they are forked from a process that has
done both. A child runs the tests that have killed most, those of the same file first, and ends at the first failure.
Limits are in processor time: how busy the machine is does not count.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mutant_results import Mutant, Results, fingerprint

UNHURT = -1  # the number of no mutant


class Runs:
    """A plugin of pytest that takes over once the tests are collected."""

    def __init__(self, mutants: Sequence[Mutant], folder: Path, most: float, jobs: int, results: Results) -> None:
        self.mutants, self.folder, self.most, self.jobs, self.results = mutants, folder, most, jobs, results
        self.tests = ""  # a name for them
        self._kills = results.deadliest()
        self._seconds: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests without a mutant, then until one fails with each."""
        self._seconds = self._unhurt(session)
        items = sorted(session.items, key=lambda item: self._seconds[item.nodeid])
        total = itertools.accumulate(self._seconds[item.nodeid] for item in items)
        items = rounds([item for item, so_far in zip(items, total, strict=True) if so_far <= self.most])
        print(f"\n{len(items)} tests; {len(session.items) - len(items)} slow ones are left out", flush=True)
        waiting, running = iter(self.mutants), dict[int, Mutant]()
        for mutant in waiting:
            running[self._begin(session, mutant.number, self._ordered(items, mutant))] = mutant
            if len(running) == self.jobs:
                self._end_one(running)
        while running:
            self._end_one(running)
        return True

    def _unhurt(self, session: pytest.Session) -> dict[str, float]:
        """Seconds of each test without a mutant; known, where the same tests have met the same module before."""
        tests = {Path(item.path) for item in session.items}
        known = self.folder / f"{fingerprint([*sorted(tests), *self.folder.glob('pegasos/_core*')])}.seconds"
        if not known.exists():
            told = self._told(self._begin(session, UNHURT, session.items))
            if told["failed"]:
                raise pytest.UsageError(f"fails without a mutant: {told['failed']} ({told.get('why', 'it ended')})")
            known.write_text(json.dumps(told["seconds"]))
        return dict(json.loads(known.read_text()))

    def _ordered(self, items: list[pytest.Item], mutant: Mutant) -> list[pytest.Item]:
        of_file, of_all = self._kills[mutant.file], self._kills[""]
        first = sorted(
            (item for item in items if of_all[item.nodeid]),
            key=lambda item: (-of_file[item.nodeid], -of_all[item.nodeid], self._seconds[item.nodeid]),
        )
        known = {item.nodeid for item in first}
        return first + [item for item in items if item.nodeid not in known]

    def _begin(self, session: pytest.Session, number: int, items: list[pytest.Item]) -> int:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._live(session, number, items)
        return child

    def _file(self, child: int) -> Path:
        return self.folder / f"{child}.json"

    def _live(self, session: pytest.Session, number: int, items: list[pytest.Item]) -> None:
        """In the child: what was found goes to a file, test by test, and the process ends."""
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            choose(number)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            told: dict[str, Any] = {"failed": "", "seconds": {}}
            why = Why()
            session.config.pluginmanager.register(why)
            for item, after in zip(items, [*items[1:], None], strict=True):
                told["failed"] = item.nodeid
                self._file(os.getpid()).write_text(json.dumps({"failed": item.nodeid}))  # should it crash, or not end
                limit = 600.0 if number == UNHURT else 20 + 10 * self._seconds[item.nodeid]
                signal.setitimer(signal.ITIMER_PROF, limit)
                began = time.process_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                told["seconds"][item.nodeid] = time.process_time() - began
                if session.testsfailed:
                    told["why"] = why.text
                    break
                told["failed"] = ""
            self._file(os.getpid()).write_text(json.dumps(told))
        finally:
            os._exit(0)

    def _told(self, child: int) -> dict[str, Any]:
        os.waitpid(child, 0)
        told = json.loads(self._file(child).read_text())
        self._file(child).unlink()
        return told

    def _end_one(self, running: dict[int, Mutant]) -> None:
        child = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT).si_pid
        told, mutant = self._told(child), running.pop(child)
        self.results.write(mutant, told["failed"], self.tests)
        if told["failed"]:
            self._kills[mutant.file][told["failed"]] += 1
            self._kills[""][told["failed"]] += 1
            print(f"killed    {mutant}  by {told['failed'].removeprefix('tests/')}", flush=True)
        else:
            print(f"SURVIVED  {mutant}", flush=True)


class Why:
    """Keeps what the last failure said."""

    text = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest."""
        if report.failed:
            self.text = report.longreprtext[-2000:]


def rounds(items: list[pytest.Item]) -> list[pytest.Item]:
    """One case of every test, then a second one of each that has it, and so on: cases of one test notice the same."""
    seen: Counter[str] = Counter()
    turns = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        turns.append(seen[test])
        seen[test] += 1
    return [item for _, item in sorted(zip(turns, items, strict=True), key=lambda pair: pair[0])]


def choose(number: int) -> None:
    """Switch a mutant on, here and in whatever is started from here."""
    from pegasos import _core

    ctypes.c_int.in_dll(ctypes.CDLL(_core.__file__), "mutant_number").value = number
    os.environ["PEGASOS_MUTANT"] = str(number)


def name_of(tests: Sequence[Path], most: float) -> str:
    """What these tests are known by: who has survived some of them may not survive them all."""
    return f"{fingerprint(tests)}, {most:g} s"


def run(mutants: Sequence[Any], tests: Sequence[Path], package: Path, most: float, jobs: int, results: Results) -> None:
    """Write down for each mutant which of the tests kills it."""
    os.environ["PYTHONPATH"] = str(package)
    if str(package) not in sys.path:
        sys.path.insert(0, str(package))
    runs = Runs(mutants, package, most, jobs, results)
    runs.tests = name_of(tests, most)
    code = pytest.main(
        ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler", *map(str, tests)], plugins=[runs]
    )
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit("the tests do not run without a mutant")
