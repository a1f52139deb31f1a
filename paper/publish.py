"""Write the tables and verdicts of docs/what-did-not-hold.md from paper/results.json.

    python paper/publish.py         # part of `make figures`: write every marked region of the page anew
    python paper/publish.py take    # first take what the last `make paper` has found, all but the curves

Regions are marked as in benchmarks/report.py.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))
from origin import script  # noqa: E402, only after the path is set
from report import REGION, table  # noqa: E402

FOUND = ROOT / "build" / "paper"
KEPT = Path(__file__).parent / "results.json"
PAGE = ROOT / "docs" / "what-did-not-hold.md"
WORDS = {True: "held", False: "**did not hold**", None: "cannot be told"}
SAID = ("name", "title", "source", "command", "when", "cpu_seconds", "seeds", "data", "tables", "findings", "origin")

Results = dict[str, Any]


def take() -> None:
    """Keep the last results: of the experiments, and of the comparison with SVM-Light where that was made."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((FOUND / "full").glob("*.json"))]
    if not found:
        raise SystemExit(f"no results in {FOUND / 'full'}: run `make paper` first.")
    if len({(one["origin"]["library"], one["origin"]["cpu"]) for one in found}) > 1:
        raise SystemExit("these results are of different versions of the package, or of processors: run `make paper`.")
    theirs, kept = FOUND / "svm_light.json", load()
    kept = {
        "machine": found[-1]["machine"],
        "experiments": {one["name"]: {key: one[key] for key in SAID} for one in found},
        "svm_light": json.loads(theirs.read_text(encoding="utf-8")) if theirs.exists() else kept.get("svm_light", []),
    }
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def load() -> Results:
    return dict(json.loads(KEPT.read_text(encoding="utf-8"))) if KEPT.exists() else {}


def claims(results: Results) -> str:
    """Every claim, in the order of the papers."""
    rows = [
        (finding["claim"], WORDS[finding["held"]], finding["shown"])
        for one in sorted(results["experiments"].values(), key=lambda one: order(one["name"]))
        for finding in one["findings"]
    ]
    held = sum(word == WORDS[True] for _, word, _ in rows)
    minutes = sum(one["cpu_seconds"] for one in results["experiments"].values()) / 60
    days = sorted({one["when"][:10] for one in results["experiments"].values()})
    facts = results["machine"]
    said = (
        f"{held} of {len(rows)} claims held. Measured {', '.join(days)} at commit {facts['commit']} on "
        f"{facts['cores']} core{'s' * (facts['cores'] != 1)} of {facts['cpu']}, "
        f"{minutes:.0f} minutes of the processor in all."
        + missing(results["experiments"])
        + older(results["experiments"])
    )
    return table(("claim", "here", "what shows it"), rows) + "\n\n" + said


def emitted(script: Path) -> list[str]:
    """A regular expression for every claim that a script makes; what an f-string fills in may be anything."""
    calls = [node for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    claims = [call.args[0] for call in calls if getattr(call.func, "id", "") == "Finding"]
    return [
        "".join(
            re.escape(part.value) if isinstance(part, ast.Constant) else ".+"
            for part in getattr(claim, "values", [claim])
        )
        for claim in claims
    ]


def other_claims(name: str, one: dict[str, Any]) -> bool:
    """Whether the script makes other claims now, more of them or fewer."""
    told, makes = [finding["claim"] for finding in one["findings"]], emitted(Path(__file__).parent / f"{name}.py")
    return not (
        all(any(re.fullmatch(claim, text) for claim in makes) for text in told)
        and all(any(re.fullmatch(claim, text) for text in told) for claim in makes)
    )


def older(experiments: dict[str, Any]) -> str:
    """What was measured before its script, or what that imports from here, became what it is."""
    changed = [f"`{name}.py`" for name, one in experiments.items() if one["origin"]["script"] != script(name)]
    return f" Changed since then: {', '.join(changed)}." if changed else ""


def missing(experiments: dict[str, Any]) -> str:
    """What this run has left out."""
    scripts = [
        path for path in Path(__file__).parent.glob("*.py") if re.search(r"^EXPERIMENT =", path.read_text(), re.M)
    ]
    left = [f"`{path.name}`" for path in sorted(scripts) if path.stem not in experiments]
    part = [f"`{one['command']}`" for one in experiments.values() if "--only" in one["command"]]
    return (f" Not run: {', '.join(left)}." if left else "") + (f" In part: {', '.join(part)}." if part else "")


def order(name: str) -> tuple[int, str]:
    papers = ("table", "fig", "choices", "eq", "over", "rcv1", "study")
    return next(n for n, start in enumerate(papers) if name.startswith(start)), name


def one_table(name: str, index: int = 0) -> Callable[[Results], str]:
    """A table of an experiment as it stands in the report, and its note."""

    def written(results: Results) -> str:
        found = results["experiments"][name]["tables"][index]
        return table(found["columns"], found["rows"]) + ("\n\n" + found["note"] if found["note"] else "")

    return written


def svm_light(results: Results) -> str:
    """SVM-Light itself beside ours."""
    columns = ("data set", "", "steps", "kernel evaluations", "CPU seconds", "objective")
    rows = [
        (line["data"] if who == "theirs" else "", words, f"{x['steps']:,}", f"{x['evaluations']:,}",
         f"{x['seconds']:.3g}", f"{x['objective']:.6f}")
        for line in results["svm_light"]
        for who, words in (("theirs", "SVM-Light 6.02"), ("ours", "`paper/native/svm_light.hpp`"))
        for x in [line[who]]
    ]  # fmt: skip
    days = ", ".join(sorted({line["when"] for line in results["svm_light"]}))
    return (
        table(columns, rows)
        + f"\n\nEach was run once, {days}, with the code of that day; `make paper` does not run it."
    )


REGIONS: dict[str, Callable[[Results], str]] = {
    "claims": claims,
    "table_1": one_table("table1_fig4"),
    "table_2": one_table("tables23_fig5", 0),
    "table_3": one_table("tables23_fig5", 1),
    "slopes": one_table("fig6"),
    "over_m": one_table("over_m"),
    "study": one_table("study004"),
    "svm_light": svm_light,
}


def written(text: str, results: Results) -> str:
    return REGION.sub(lambda match: f"{match[1]}{REGIONS[match[2]](results)}\n{match[3]}", text)


if __name__ == "__main__":
    if sys.argv[1:] == ["take"]:
        take()
    elif sys.argv[1:]:
        raise SystemExit(__doc__)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), load()), encoding="utf-8")
