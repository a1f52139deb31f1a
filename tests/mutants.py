"""Does the suite notice when a formula of the core is wrong? `make mutants`; `python tests/mutants.py --help`.

Every formula of FILES is changed in every way that a slip of the pen would: another sign, a term forgotten, a product
for a quotient, a comparison the wrong way round or with its boundary on the other side, the smaller for the larger, a
sum without its first row. All these mutants are compiled into one module, each behind a switch
(tests/mutant_switches.py). A mutant is killed by a test that fails, by a crash, or by a test that does not end.

They run in a random order of which every beginning is a fair sample. build/mutants/results.jsonl has each result as it
comes, and the next run goes on from there; build/mutants/survivors.txt has what came out in all.
tests/mutants_equivalent.txt names mutants that compute the same as the core, and why.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mutant_core
from mutant_results import ROOMS, Results, Share, equivalents, fingerprint, mixed, room
from mutant_runs import name_of, run
from mutant_switches import Mutant, header, mutate

ROOT = Path(__file__).parents[1]
WORK = ROOT / "build" / "mutants"
FILES = (
    *(f"loss/{name}.hpp" for name in ("hinge", "squared_hinge", "log", "multiclass_hinge", "multinomial", "simplex")),
    *(f"loss/{name}.hpp" for name in ("epsilon_insensitive", "squared_epsilon_insensitive")),
    *(f"pegasos/{name}.hpp" for name in ("steps", "average", "solver", "batch_sums")),
    *("data/sampler.hpp", "data/alias_table.hpp", "data/random.hpp", "linalg/scaled_vector.hpp"),
    *(
        f"proof/{name}.hpp"
        for name in ("certificate", "precise_certificate", "free_bias", "best_bias", "kinks", "class_balance")
    ),
    *("proof/rounding.hpp", "dual/proofs.hpp", "proof/history.hpp", "linalg/twofold.hpp"),
    *(f"kernel/{name}.hpp" for name in ("prove", "rounding", "pegasos_block")),
    *(f"structured/{name}.hpp" for name in ("rounding", "viterbi", "forward_backward", "edges")),
)
# The tests that know the formulas best. Whoever survives them meets the others, which take much longer.
FIRST = (
    *("contract/test_losses.py", "contract/test_dual_steps.py", "contract/test_joint_losses.py"),
    *("contract/test_certificate.py", "contract/test_regression.py", "claims/test_exact_certificates.py"),
    *("unit/test_bias.py", "unit/test_free_bias.py", "unit/test_samplers.py", "unit/test_reference.py"),
    *("unit/test_outputs.py", "unit/test_large_batches.py", "unit/test_sparse_weights.py"),
    *("unit/test_joint.py", "unit/test_history.py"),
    *("contract/test_kernel_certificate.py", "unit/test_kernel_pegasos.py", "unit/test_kernel_small.py"),
)
THEN = (
    *("claims/test_optimum.py", "claims/test_losses_optimum.py", "claims/test_linear_campaign.py"),
    *("claims/test_joint_campaign.py", "claims/test_rates.py", "claims/test_eq_6_ball.py"),
    *("unit/test_variants.py", "unit/test_dual_solvers.py", "unit/test_extremes.py", "unit/test_rounding_floor.py"),
    *("claims/test_kernel_campaign.py", "claims/test_kernel_errors.py", "unit/test_kernel_precision.py"),
    *("unit/test_overflow.py", "unit/test_against_liblinear.py", "unit/test_fit_behaviour.py"),
    *("unit/test_streams.py", "unit/test_own_loss.py", "unit/test_checkpoints.py", "unit/test_traps.py"),
    *("unit/test_without_certificate.py", "unit/test_threads.py"),
)
# Only these run what mutants of structured/ are in, and little else.
OF_SEQUENCES = (
    *("unit/test_sequence_chains.py", "contract/test_sequences.py", "unit/test_transition_features.py"),
    *("unit/test_sequence_precision.py", "unit/test_sequence_tagger.py"),
)


def write(skip: set[tuple[str, int]]) -> list[Mutant]:
    """A copy of the core with all mutants."""
    shutil.rmtree(WORK / "source", ignore_errors=True)
    for name in ("cpp", "src", "CMakeLists.txt", "README.md", "pyproject.toml", "LICENSE"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (WORK / "source").mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, WORK / "source" / name)
    (WORK / "mutant.hpp").write_text(header())
    mutants: list[Mutant] = []
    for file in FILES:
        text, new = mutate(file, (ROOT / "cpp" / "pegasos" / file).read_text(), len(mutants), skip)
        (WORK / "source" / "cpp" / "pegasos" / file).write_text(text)
        mutants += new
    return mutants


def compiled() -> list[Mutant]:
    """Lines that do not compile with a switch are left as they are."""
    skip: set[tuple[str, int]] = set()
    probe = WORK / "source" / "probe.cpp"
    while True:
        mutants = write(skip)
        probe.write_text(PROBE)
        flags = ["-std=c++20", "-fsyntax-only", "-fmax-errors=0", "-include", str(WORK / "mutant.hpp")]
        command = [os.environ.get("CXX", "g++"), *flags, "-I", str(WORK / "source" / "cpp"), str(probe)]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode == 0:
            print(
                f"{len(mutants)} mutants; {len(skip)} lines do not compile with theirs and are left alone", flush=True
            )
            return mutants
        wrong = {(file, int(line)) for file, line in re.findall(r"cpp/pegasos/([\w/]+\.hpp):(\d+)", said.stderr)}
        fresh = {place for place in wrong if any((m.file, m.line) == place for m in mutants)} - skip
        if not fresh:
            sys.exit(said.stderr[:3000])
        skip |= fresh


PROBE = """
#include "pegasos/auto.hpp"
#include "pegasos/kernel/pegasos_block.hpp"
#include "pegasos/kernel/prove.hpp"
#include "pegasos/pegasos/solver.hpp"
#include "pegasos/structured/predict.hpp"
#include "pegasos/structured/rounding.hpp"

namespace pegasos {
template class DualSolver<AnyRows, Hinge>;
template class DualSolver<AnyRows, Log>;
template class DualSolver<AnyRows, Multinomial>;
template class DualSolver<AnyRows, MulticlassHinge>;
template class DualSolver<AnyRows, EpsilonInsensitive>;
template class PegasosSolver<AnyRows, Hinge>;
template CertifiedModel certify(const KernelBlock<float>&, const Hinge&, const BlockState&, const BlockTerms&, double,
                                const BlockErrors&);
template void pegasos_steps(const KernelBlock<float>&, const Hinge&, KernelSteps&, const KernelPicks&);
}
"""


def build() -> None:
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True).strip()
    cmake, ninja = (Path(sys.executable).with_name(name) for name in ("cmake", "ninja"))
    flags = f"-include {WORK / 'mutant.hpp'} -O1 -w"
    options = [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind}", f"-DCMAKE_CXX_FLAGS={flags}"]
    options += ["-DCMAKE_BUILD_TYPE=None", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    for command in (
        ["-S", WORK / "source", "-B", WORK / "build", *options],
        ["--build", WORK / "build", "-t", "_core"],
    ):
        subprocess.run([cmake, *command], check=True, stdout=subprocess.DEVNULL)
    package = WORK / "package" / "pegasos"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "pegasos", package)
    for file in (WORK / "build").glob("_core*.so"):
        shutil.copy(file, package)


def commit() -> str:
    said = subprocess.run(["git", "log", "-1", "--format=%h, %cs"], cwd=ROOT, capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def record(mutants: list[Mutant], results: Results, same: dict[str, str]) -> float:
    """Print and write down the share that was killed, in each room and in all, and who survived."""
    survivors = [mutant for mutant in mutants if not results.is_killed(mutant)]
    shares = {
        name: Share(sum(map(results.is_killed, members)), len(members))
        for name in ("all", *sorted(set(ROOMS.values())))
        for members in [[mutant for mutant in mutants if name in ("all", room(mutant))]]
    }
    lines = [
        *(f"{name}: {share}" for name, share in shares.items()),
        f"Commit {commit()}. Left out, since they compute the same: {len(same)}.",
        *([f"Survivors, with the line as it is in the core ({len(survivors)}):"] if survivors else []),
        *map(str, survivors),
    ]
    print("\n" + "\n".join(lines))
    (WORK / "survivors.txt").write_text("\n".join(lines) + "\n")
    return shares["all"].killed / max(shares["all"].tried, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sample", type=int, help="only so many, drawn at random")
    parser.add_argument("--only", type=int, nargs="*", help="only these, by number")
    parser.add_argument("--files", nargs="*", help="only those of these files, e.g. pegasos/solver.hpp")
    parser.add_argument("--first-tests-only", action="store_true", help="survivors do not meet the slower tests")
    parser.add_argument("--most", type=float, default=120.0, help="seconds of tests; the slowest are left out")
    parser.add_argument("--again", action="store_true", help="take the module that was built last")
    parser.add_argument("--forget", action="store_true", help="begin anew, whatever earlier runs found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    everyone = compiled()
    same = equivalents(everyone)
    mutants = [mutant for mutant in mixed(everyone) if mutant.place not in same]
    mutants = [mutant for mutant in mutants if not asked.files or mutant.file in asked.files][: asked.sample]
    if asked.only:
        mutants = [mutant for mutant in everyone if mutant.number in asked.only]
    if asked.forget:
        (WORK / "results.jsonl").unlink(missing_ok=True)
    results = Results(WORK / "results.jsonl", ROOT / "cpp" / "pegasos")
    print(f"{len(mutants)} mutants, {sum(map(results.is_killed, mutants))} of them killed before", flush=True)
    if not asked.again:
        build()
        mutant_core.build(WORK)
    name = fingerprint(mutant_core.TESTS)
    if left := results.alive(mutants, name):
        mutant_core.run(left, WORK / "core" / "tests", results)
    chains = [mutant for mutant in mutants if room(mutant) == "sequences"]
    others = [mutant for mutant in mutants if room(mutant) != "sequences"]
    stages = [(chains, OF_SEQUENCES), (others, FIRST)] + [(others, THEN)] * (not asked.first_tests_only)
    for members, names in stages:
        tests = [ROOT / "tests" / name for name in names]
        if left := results.alive(members, name_of(tests, asked.most)):
            run(left, tests, WORK / "package", asked.most, asked.jobs, results)
    sys.exit(record(mutants, results, same) < 0.95)


if __name__ == "__main__":
    main()
