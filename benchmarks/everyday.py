"""A course of ordinary inputs, ours against what a user would take instead: `make bench-everyday`, or --help.

One thread each, one process, interleaved runs, medians. Ours is the default solver, stopped after 60 s. The cases are
in everyday_cases.py, their rows in everyday_data.py, both sides of a case in everyday_fits.py.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from math import ceil
from statistics import median
from typing import Any

import contest
import table
from contest import Finding, compare, interleave, timed
from everyday_cases import Case, cases, quick
from everyday_fits import LIMIT, Models, Task, choose, peer_of
from peers import Choice
from threadpoolctl import threadpool_limits

TARGET = 1.5  # times the peer
TINY, TINY_TARGET = 2e-3, 3.0  # seconds of a fit of ours in which much is overhead, and what it may take there
SHORTEST = 0.02  # seconds of a measurement: shorter fits are repeated
ONCE = 2.0  # seconds of both fits from which one run of each has to do
COLUMNS = f"{'to SDCA':>7}  {'tol':4}  {'problem':7}  "


def run(case: Case) -> Finding:
    """Measure a case. The first run of everybody, which also tells how often to repeat it, is not counted."""
    task = Task(case, *case.make())
    seconds, models = timed(task.ours)
    task.learn(models)
    sdca = partial(task.ours, solver="sdca", max_time=min(5 * seconds + 1, LIMIT))
    its_seconds, its_models = timed(sdca)
    task.learn(its_models)
    peer, same = peer_of(task)
    choice = choose(task, peer, same, seconds)
    calls: dict[str, Callable[[], Any]] = {
        "ours": task.ours,
        "peer": peer.call(task, case.lam, choice.setting),
        "sdca": sdca,
    }
    samples = measure(calls, {"ours": seconds, "peer": choice.seconds, "sdca": its_seconds})
    ours, its = median(samples["ours"]), samples.pop("sdca")
    notes = {
        "problem": str(case),
        "same_problem": same,
        "tol_met": all(bool(model.converged_) for model in models),
        "to_sdca": ours / median(its),
        "sdca_met": all(bool(model.converged_) for model in its_models),
        "sdca_seconds": its,
        "peer_excess": choice.objective if same else None,
        "peer_reached": choice.reached if same else None,
    }
    target = TINY_TARGET if ours < TINY else TARGET
    return compare(case.name, case.group, said_of(peer.name, choice, case), samples, target, **notes)


def measure(calls: dict[str, Callable[[], Any]], first: dict[str, float]) -> dict[str, list[float]]:
    """Seconds of a fit, round by round. Long fits, and a long SDCA beside short ones, have only their first run."""
    both = first["ours"] + first["peer"]
    if both > ONCE:
        return {name: [seconds] for name, seconds in first.items()}
    chosen = [name for name in calls if name != "sdca" or first[name] <= ONCE / 2]
    often = {name: max(1, ceil(SHORTEST / first[name])) for name in chosen}
    repeated = {name: partial(repeat, calls[name], often[name]) for name in chosen}
    samples = interleave(repeated, 3 if both > ONCE / 10 else 5, at_least=0.0)
    found = {name: [seconds / often[name] for seconds in samples[name]] for name in chosen}
    return {"sdca": [first["sdca"]]} | found


def repeat(call: Callable[[], Models], times: int) -> None:
    for _ in range(times):
        call()


def said_of(name: str, choice: Choice, case: Case) -> str:
    setting = f", {choice}" if choice.setting else ""
    if choice.reached:
        return name + setting
    return f"{name}{setting} (NOT REACHED: ends {choice.objective / case.tol:.2g} times tol f(0) above)"


def more_of(found: Finding) -> str:
    """The cells of `COLUMNS`. An SDCA that was stopped before it met tol gives only a bound on the ratio."""
    notes = found.notes
    sdca = f"{'' if notes['sdca_met'] else '<'}{notes['to_sdca']:.2g}"
    met = "met" if notes["tol_met"] else "60 s" if found.ours > 0.95 * LIMIT else "NO"
    return f"{sdca:>7}  {met:4}  {'same' if notes['same_problem'] else 'other':7}  "


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="PART", help="cases whose name has one of these parts")
    parser.add_argument("--group", choices=["generated", "real"], help="default: both")
    parser.add_argument("--quick", action="store_true", help="a small part of the cases, under three minutes")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--budget", type=float, default=float("inf"), help="begin no case after so many seconds")
    parser.add_argument("--save", default="everyday", help="name of the JSON file (everyday)")
    return parser.parse_args()


def selected(args: argparse.Namespace) -> list[Case]:
    """The cases asked for, without those whose data is not there; says so."""
    asked = [case for case in cases() if args.group in (None, case.group) and (not args.quick or quick(case))]
    asked = [case for case in asked if not args.only or any(part in case.name for part in args.only)]
    if args.list:
        return asked
    reasons: dict[str, int] = {}
    for case in asked:
        if reason := case.missing():
            reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        contest.print_skipped(f"{count} case{'s' * (count > 1)}", reason)
    return [case for case in asked if not case.missing()]


def course(chosen: list[Case], budget: float, keep: Callable[[list[Finding]], object]) -> list[Finding]:
    """Run one case after the other. What goes wrong in one of them is printed and ends only that one."""
    found: list[Finding] = []
    began = time.perf_counter()
    for n, case in enumerate(chosen):
        if time.perf_counter() - began > budget:
            left = ", ".join(case.name for case in chosen[n:])
            contest.print_skipped(f"{len(chosen) - n} cases ({left})", f"the budget of {budget:g} s is spent")
            break
        try:
            found.append(run(case))
        except Exception as error:
            contest.print_skipped(case.name, f"{type(error).__name__}: {error}")
            continue
        contest.print_finding(found[-1], more_of(found[-1]))
        keep(found)  # after every line: what was measured survives an interrupt
    return found


def main() -> None:
    args = arguments()
    chosen = selected(args)
    if args.list:
        print(*chosen, sep="\n")
        return
    warnings.simplefilter("ignore")  # fits that end early are said in the table
    facts = contest.machine_facts()
    contest.print_facts(facts)
    contest.print_header(COLUMNS)
    with threadpool_limits(1):
        found = course(chosen, args.budget, partial(contest.save, args.save, facts))
    facts["load_after"] = contest.machine_facts()["load"]
    table.everyday([contest.record(f) for f in found])
    print(f"all measurements: {'/'.join(contest.save(args.save, facts, found).parts[-3:])}")


if __name__ == "__main__":
    main()
