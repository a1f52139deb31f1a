"""Build and run the core's tests with every compiler that is installed, and print a table.

A compiler passes when it builds the tests without a warning, at the optimisation of a release, and every test passes
with the assertions of the standard library on. `make compilers` tries all that are there, `make arm64` the
cross-compiler.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*ROOT.glob("cpp/tests/*_test.cpp"), ROOT / "cpp/tests/main.cpp", *ROOT.glob("cpp/pegasos/**/*.cpp")])
KNOWN = [f"g++-{n}" for n in range(11, 30)] + [f"clang++-{n}" for n in range(14, 40)]
FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-D_GLIBCXX_ASSERTIONS", "-pthread"]
FLAGS += ["-Wall", "-Wextra", "-Wconversion"]


def objects(compiler: str, folder: Path, flags: list[str], jobs: int) -> tuple[list[Path], str]:
    """The tests, compiled, and what the compiler had to say about them; no files if one of them does not compile."""
    launcher = [ccache] if (ccache := shutil.which("ccache")) else []

    def compiled(source: Path) -> tuple[Path, subprocess.CompletedProcess[str]]:
        made = folder / f"{source.stem}.o"
        command = [*launcher, compiler, *FLAGS, *flags, "-Icpp", "-c", str(source.relative_to(ROOT)), "-o", str(made)]
        return made, subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(compiled, SOURCES))
    said = "".join(result.stderr for _, result in results)
    return ([] if any(result.returncode for _, result in results) else [made for made, _ in results]), said


def trial(compiler: str, flags: list[str], runner: list[str], jobs: int) -> tuple[bool, int, str]:
    """Whether a compiler passes, how many warnings it has, and the last line of the tests."""
    folder = ROOT / "build" / "compilers" / compiler
    folder.mkdir(parents=True, exist_ok=True)
    files, said = objects(compiler, folder, flags, jobs)
    (folder / "messages.txt").write_text(said)
    warnings = len(re.findall(r"\bwarning: ", said))
    if not files:
        return False, warnings, "does not compile: " + next(iter(re.findall(r".*\berror: .*", said)), said[-200:])
    linked = subprocess.run(
        [compiler, *FLAGS, *flags, *map(str, files), "-o", str(folder / "tests")], capture_output=True, text=True
    )
    if linked.returncode:
        return False, warnings, "does not link: " + linked.stderr[-200:]
    ran = subprocess.run([*runner, str(folder / "tests")], capture_output=True, text=True)
    # Some tests let a child run into a guarded page, which an emulator reports: that is no result of ours.
    (folder / "errors.txt").write_text(ran.stderr)
    lines = ran.stdout.strip().splitlines() or ["no output"]
    for line in lines[:-1]:
        print("  ", line)
    ended = "" if ran.returncode == 0 else f" (ended with {ran.returncode}; see {folder.relative_to(ROOT)}/errors.txt)"
    return ran.returncode == 0 and warnings == 0, warnings, lines[-1] + ended


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compilers", nargs="*", help="commands; all known ones that are installed when left out")
    parser.add_argument("--flags", default="", help="more flags for the compiler and the linker, in one string")
    parser.add_argument("--runner", default="", help="the command that runs the tests, such as an emulator")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    chosen = options.compilers or [name for name in KNOWN if shutil.which(name)]
    needed = [*chosen, *options.runner.split()[:1]]
    if missing := [name for name in needed if not shutil.which(name)]:
        print(f"not installed: {' '.join(missing)}", file=sys.stderr)
        return 2
    if not chosen:
        print(f"none of {KNOWN[0]} ... {KNOWN[-1]} is installed", file=sys.stderr)
        return 2
    good = True
    print(f"{'compiler':28} {'version':10} {'warnings':>8}  tests")
    for name in chosen:
        version = subprocess.run([name, "-dumpfullversion", "-dumpversion"], capture_output=True, text=True).stdout
        passed, warnings, tests = trial(name, options.flags.split(), options.runner.split(), options.jobs)
        good = good and passed
        print(f"{name:28} {version.strip():10} {warnings:8}  {tests}", flush=True)
    print("build/compilers/*/messages.txt has what the compilers said")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
