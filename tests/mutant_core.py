"""The core's own tests, in C++, on one mutant after the other: the same switches, in a program instead of a module."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from mutant_results import Mutant, Results, fingerprint

ROOT = Path(__file__).parents[1]
OF = (
    *(
        "loss",
        "rounding",
        "certificate",
        "precise",
        "proofs",
        "history",
        "bias",
        "sampler",
        "vector",
        "ascend",
        "algebra",
    ),
    *("kernel", "kernel_solve", "kernel_rounding", "prove", "sequence_rounding", "structured", "chain_sums"),
    *("core", "variants", "own"),
)
TESTS = [ROOT / "cpp" / "tests" / f"{name}.cpp" for name in ("main", *(f"{of}_test" for of in OF))]
# They take most of the time, and know of threads and of stopping, not of formulas.
LEFT_OUT = ("a_wish_to_stop_is_heard_while_the_best_bias_is_found",)


def build(work: Path) -> Path:
    """The program, of the sources with switches below `work`."""
    compiler = [*([ccache] if (ccache := shutil.which("ccache")) else []), os.environ.get("CXX", "g++").split()[-1]]
    flags = ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-pthread", "-include", str(work / "mutant.hpp")]
    flags += ["-I", str(work / "source" / "cpp")]
    folder = work / "core"
    folder.mkdir(exist_ok=True)
    sources = [*TESTS, *(work / "source" / "cpp" / "pegasos").glob("**/*.cpp")]
    objects = [folder / f"{source.stem}.o" for source in sources]
    for source, made in zip(sources, objects, strict=True):
        subprocess.run([*compiler, *flags, "-c", str(source), "-o", str(made)], check=True)
    subprocess.run([compiler[-1], "-pthread", *map(str, objects), "-o", str(folder / "tests")], check=True)
    return folder / "tests"


def killer(program: Path, number: int, limit: int) -> str:
    """The test that fails first, with at most so many seconds of processor time for all; nothing if none does."""
    child = subprocess.Popen(
        [program, *LEFT_OUT],
        env=os.environ | {"PEGASOS_MUTANT": str(number)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    assert child.stdout is not None
    with child.stdout:
        failed = next((line.split()[1].rstrip(":") for line in child.stdout if line.startswith("FAILED")), "")
    if failed:
        child.kill()
    return f"core: {failed or 'it ended'}" if child.wait() else ""


def run(mutants: Sequence[Mutant], program: Path, results: Results) -> None:
    """Write down for each mutant which of the core's tests kills it."""
    began = time.monotonic()
    if failed := killer(program, -1, 600):
        raise SystemExit(f"fails without a mutant: {failed}")
    limit = 20 + int(10 * (time.monotonic() - began))
    for mutant in mutants:
        by = killer(program, mutant.number, limit)
        print(f"{'killed  ' if by else 'SURVIVED'}  {mutant}  {by and 'by ' + by}", flush=True)
        results.write(mutant, by, fingerprint(TESTS))
