"""Wrong formulas behind switches: where the text of a header has a formula, and the C++ that goes in its place.

`a + b` becomes `a + mutant<7>() + b`, which is a - b where number 7 is asked for, and a where 8 is: precedence stays
what it was. A line that does not compile with its switches is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

# What each is changed to: another sign, the other way round; a term that is forgotten; a boundary on the other side.
SWAPS = {"+": "-", "-": "+", "*": "/", "/": "*", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
GONE = "nothing"
OPERATOR = re.compile(r"(?<=[\w)\].]) (\+|-|\*|/|<|<=|>|>=) (?=[\w(.!-])|\bstd::(max|min)(?=\()")
UNARY = re.compile(r"(?<=[=,?:] )-(?=[A-Za-z(])|(?<=\()-(?=[A-Za-z(])|(?<=return )-(?=[A-Za-z(])")
COMPOUND = re.compile(r"(?<![\w.\])])([A-Za-z_][\w.]*(?:\[[^;=,]*\])?) (\+=|-=)(?= )")
FIRST = re.compile(r" = 0(?=;|, \w+ = )")

HEADER = """#pragma once
#include <algorithm>
#include <cstdlib>
// Visible from outside: whoever runs the tests sets it, and a process that a test starts finds it in its environment.
__attribute__((visibility("default"))) inline int mutant_number =
    std::getenv("PEGASOS_MUTANT") ? std::atoi(std::getenv("PEGASOS_MUTANT")) : -1;
template <int N> struct mutant {};
template <int N, class A> struct mutant_with { A a; };
template <int N> struct mutant_sign {};
template <int N, class B> constexpr auto operator*(mutant_sign<N>, B b) {
  using R = decltype(-b);
  return mutant_number == N ? R(b) : R(-b);
}
template <int N> inline int mutant_first() { return mutant_number == N ? 1 : 0; }
template <int N, class A> struct mutant_sum {
  A& a;
  template <class B> A& operator+=(const B& b) {
    if (mutant_number == N) a -= b; else if (mutant_number != N + 1) a += b;
    return a;
  }
  template <class B> A& operator-=(const B& b) {
    if (mutant_number == N) a += b; else if (mutant_number != N + 1) a -= b;
    return a;
  }
};
template <int N, class A> mutant_sum<N, A> mutant_into(A& a) { return {a}; }
"""
OPERATORS = """
template <int N, class A> constexpr auto operator{op}(A a, mutant<N>) {{ return mutant_with<N, A>{{a}}; }}
template <int N, class A, class B> constexpr auto operator{op}(mutant_with<N, A> x, B b) {{
  using R = decltype(x.a {op} b);
  return mutant_number == N ? R(x.a {swap}) : {more} R(x.a {op} b);
}}
"""
CHOICE = """template <int N, class T = void, class A, class B> auto mutant_{op}(const A& a, const B& b) {{
  return mutant_number == N ? std::{other}(a, b) : std::{op}(a, b);
}}
"""


def header() -> str:
    """What every file is compiled with."""
    text = HEADER
    for op, swap in SWAPS.items():
        more = {"+": "x.a", "-": "x.a"}.get(op, f"x.a {BOUNDARIES[op]} b" if op in BOUNDARIES else "")
        more = f"mutant_number == N + 1 ? R({more}) :" if more else ""
        text += OPERATORS.format(op=op, swap=f"{swap} b", more=more)
    return text + "".join(CHOICE.format(op=op, other=other) for op, other in (("max", "min"), ("min", "max")))


@dataclass(frozen=True)
class Mutant:
    """One change: from `old` to `new`, in a line of a file."""

    number: int
    file: str
    line: int
    old: str
    new: str
    text: str
    which: int

    @property
    def place(self) -> str:
        """What it is known by when lines have moved: the operator, the how-many-th of its kind in which line."""
        return f"{self.file} | {self.old} {self.which} to {self.new} | {self.text}"

    def __str__(self) -> str:
        return f"{self.number:4d}  {self.file}:{self.line}  {self.old} -> {self.new}  {self.text}"


def head_of_loop(code: str) -> tuple[str, str]:
    """`for (...)`, of which the end stays as it is, since a loop that does not end says nothing of a formula; and what
    is left of the line.
    """
    depth, begin = 0, re.match(r"\s*for \(", code)
    for at in range(begin.end() if begin else 0, len(code) if begin else 0):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth < 0:
            return code[: at + 1], code[at + 1 :]
    return ("", code) if not begin else (code, "")


def is_no_formula(old: str, before: str, after: str) -> bool:
    """A label is 1 or -1: times and over are the same; and words are no formulas."""
    of_label = re.search(r"\by$", before) or re.match(r"y\b", after)
    return bool((old in ("*", "/") and of_label) or before.count('"') % 2)


def mutate(file: str, text: str, first: int, skip: set[tuple[str, int]]) -> tuple[str, list[Mutant]]:
    """The file with a switch at every place, and what they do. skip: lines, by file and number, to leave alone."""
    mutants: list[Mutant] = []
    lines = text.split("\n")
    for at, line in enumerate(lines):
        code = line.split("//")[0]
        plain = re.match(r"\s*(#|template|static_assert|using|static constexpr|inline constexpr)", code)
        if not plain and code.strip() and (file, at + 1) not in skip:
            comment = line[len(code) :]
            lines[at] = _switched(file, at + 1, code, first, mutants) + comment
    return "\n".join(lines), mutants


def _switched(file: str, number: int, code: str, first: int, mutants: list[Mutant]) -> str:
    text = code.strip()

    def add(old: str, *new: str) -> int:
        for each in new:
            which = 1 + sum((m.line, m.old, m.new) == (number, old, each) for m in mutants)
            same = sum((m.text, m.old, m.new) == (text, old, each) and m.line != number for m in mutants)
            mutants.append(Mutant(first + len(mutants), file, number, old, each, text, which + same))
        return first + len(mutants) - len(new)

    def operator(found: re.Match[str]) -> str:
        old = found[1] or found[2]
        if is_no_formula(old, found.string[: found.start()], found.string[found.end() :]):
            return found[0]
        if found[2]:
            return f"mutant_{old}<{add(old, 'min' if old == 'max' else 'max')}>"
        more = GONE if old in "+-" else BOUNDARIES.get(old)
        return f" {old} mutant<{add(old, SWAPS[old], *([more] if more else []))}>() {old} "

    head, code = head_of_loop(code)
    head = FIRST.sub(lambda _: f" = mutant_first<{add('0', '1')}>()", head)
    passes: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
        (COMPOUND, lambda m: f"mutant_into<{add(m[2], '-=' if m[2] == '+=' else '+=', GONE)}>({m[1]}) {m[2]}"),
        (UNARY, lambda m: m[0] if m.string[: m.start()].count('"') % 2 else f"mutant_sign<{add('minus', 'plus')}>()*"),
        (OPERATOR, operator),
    )
    for pattern, change in passes:
        code = pattern.sub(change, code)
    return head + code
