"""Runs cases of bad input in processes that must survive them.

``python -m bad_cases`` imports everything once and forks for each group of cases. Cases are announced before they run,
so that a crash or a hang belongs to one case; those after it get a new process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from helpers import binary, model

PATIENCE = 20  # seconds a case may take


@dataclass(frozen=True)
class Case:
    """One thing that must not work. With says=None it must work instead."""

    group: str  # who share a process
    fault: str  # what is wrong
    variant: str  # where and in which dtypes
    run: Callable[[], Any]
    says: tuple[str, ...] | None  # regular expressions, all of which the message of the ValueError must match


X, Y = binary()


def outcome_of(case: Case) -> dict[str, Any]:
    """What came of it, and whether a normal fit and predict still work afterwards."""
    kind, said = "accepted", ""
    try:
        case.run()
    except Exception as error:
        kind = "ValueError" if isinstance(error, ValueError) else type(error).__name__
        said = str(error)
    return {"kind": kind, "said": said, "lives": bool(model().fit(X, Y).score(X, Y) > 0.8)}


def child(cases: list[Case], mouth: int) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    with os.fdopen(mouth, "w") as out:
        for case in cases:
            signal.alarm(PATIENCE)
            out.write("begun\n")
            out.flush()
            out.write(json.dumps(outcome_of(case)) + "\n")
            out.flush()


def outcomes(cases: list[Case]) -> Iterator[dict[str, Any]]:
    """The outcome of each case, in order."""
    while cases:
        ear, mouth = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(ear)
            child(cases, mouth)
            os._exit(0)
        os.close(mouth)
        with os.fdopen(ear) as heard:
            lines = heard.read().splitlines()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        done = [json.loads(line) for line in lines[1::2]]
        if status != 0:
            why = signal.Signals(-status).name if status < 0 else f"exit code {status}"
            done.append({"kind": f"process died of {why}", "said": "", "lives": False})
        yield from done
        cases = cases[len(done) :]


def all_cases() -> list[Case]:
    import bad_params
    import bad_sparse
    import bad_values
    import good_layouts

    return [*bad_sparse.CASES, *bad_values.CASES, *bad_params.CASES, *good_layouts.CASES]


def main() -> None:
    for _, group in groupby(all_cases(), key=lambda case: case.group):
        for outcome in outcomes(list(group)):
            print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # warnings are not the point here
    main()
