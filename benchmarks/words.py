"""Findings in words: what the tables of the pages are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NONE = "-"

Finding = dict[str, Any]


def figure(f: Finding) -> str:
    """A score: how many times faster with two digits, a ratio near 1 with up to three."""
    return f"{f['score']:#.2g}".rstrip(".") if f["sense"] == "faster" else f"{f['score']:.3g}"


def listed(found: list[list[Finding]]) -> str:
    while len(found) > 1 and not found[-1]:
        found = found[:-1]
    return ", ".join(figure(some[0]) if some else NONE for some in found)


def missed(f: Finding) -> bool:
    return bool(f["score"] > f["target"] if f["sense"] == "at most" else f["score"] < f["target"])


def place(f: Finding) -> str:
    lam = "" if f["lam"] is None else f" at lam = {power(f['lam'])}"
    threads = "" if f["threads"] is None else f", {f['threads']} thread{'s' * (f['threads'] > 1)}"
    return f"{f['contest']} on `{f['data']}`{lam}{threads}"


def power(lam: float) -> str:
    return f"{lam:.0e}".replace("e-0", "e-")


def table(header: Iterable[str], rows: Iterable[Iterable[str]], labels: int = 1) -> str:
    """Rows begin with so many labels; one without a figure after them says nothing, and is left out."""
    lines = [list(header), *(row for row in map(list, rows) if not {*row[labels:]} <= {NONE, ""})]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
