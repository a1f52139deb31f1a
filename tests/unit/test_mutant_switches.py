"""Where `make mutants` finds formulas, and what it makes of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from mutant_switches import header, mutate

FORMULAS = """
double f(double a, double b, const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];  // a + b
  const double y = a < b ? -a : 1;
  return std::max(a - b * y, sum);
}
"""
MAIN = """
#include <cstdio>
int main() {
  const double x[] = {1, 5};
  std::printf("%g %g %g %g\\n", f(2, 3, x, 2), f(3, 3, x, 2), f(-5, 2, x, 2), f(9, 1, x, 2));
}
"""
RIGHT = "8 6 6 8"
# By hand; the sum is 6.
CHANGES = {
    ("0", "1"): "8 5 5 8",
    ("+=", "-="): "8 0 -6 8",
    ("+=", "nothing"): "8 0 0 8",
    ("minus", "plus"): "6 6 6 8",
    ("<", ">"): "6 6 6 18",
    ("<", "<="): "8 12 6 8",
    ("-", "+"): "6 6 6 10",
    ("-", "nothing"): "6 6 6 9",
    ("max", "min"): "6 0 -15 6",
}


def test_every_change_of_a_formula_is_found_and_named() -> None:
    _, mutants = mutate("a.hpp", FORMULAS, 5, set())
    assert sorted((mutant.old, mutant.new) for mutant in mutants) == sorted(CHANGES)
    assert [mutant.number for mutant in mutants] == list(range(5, 5 + len(CHANGES)))
    assert mutants[4].place == "a.hpp | < 1 to > | const double y = a < b ? -a : 1;"
    assert {mutant.line for mutant in mutants} == {4, 5, 6}


def test_lines_to_skip_comments_words_and_labels_have_none() -> None:
    text = 'f("a + b");  // a + b\nreturn y * s;\n#define A a + b\na + b;\n'
    changed, mutants = mutate("a.hpp", text, 0, {("a.hpp", 4)})
    assert not mutants
    assert changed == text


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a compiler")
def test_a_switch_changes_what_its_name_says_and_nothing_else(tmp_path: Path) -> None:
    text, mutants = mutate("a.hpp", FORMULAS, 0, set())
    (tmp_path / "a.cpp").write_text(header() + text + MAIN)
    subprocess.run(["g++", "-std=c++20", "-w", "a.cpp", "-o", "a"], cwd=tmp_path, check=True)

    def said(number: int) -> str:
        return subprocess.check_output([tmp_path / "a"], env={"PEGASOS_MUTANT": str(number)}, text=True).strip()

    assert said(-1) == RIGHT
    assert {(mutant.old, mutant.new): said(mutant.number) for mutant in mutants} == CHANGES
