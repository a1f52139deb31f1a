"""Write the figures of README.md and benchmarks/README.md from benchmarks/results/published.json.

    python benchmarks/report.py                       # `make figures`: write every marked region of the two pages anew
    python benchmarks/report.py take linear kernels   # first take what is in results/linear.json and kernels.json

A region stands between `<!-- figures: name -->` and `<!-- end of figures -->`. Each line of published.json is a finding
with the date and the commit of its measurement, and names where it was taken from. A finding that is taken replaces the
older one of the same contest, data, lam, peer and number of threads; the others stay, with their dates.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from words import NONE, Finding, figure, listed, missed, place, table

HERE = Path(__file__).parent
PUBLISHED = HERE / "results" / "published.json"
PAGES = (HERE.parent / "README.md", HERE / "README.md")
REGION = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
KEY = ("contest", "lam", "data", "peer", "threads")
LAMBDAS = (1e-4, 1e-5, 1e-6)
DATA = {"arxiv": "697,957 abstracts", "generated": "781,265 generated texts", "covertype": "93,000 dense rows"}


def taken(f: Finding, results: dict[str, Any], source: str) -> Finding:
    """A finding of a results file as published.json has it."""
    threads = re.search(r"ours: (\d+) thread", f["against"])
    lam = re.search(r", lam (\S+)$", f["contest"])
    found = {
        "contest": re.sub(r", lam \S+$", "", f["contest"]),
        "lam": float(lam[1]) if lam else None,
        "data": f["data"].split()[0] if f["unit"] != "bytes" else f["data"],
        "peer": re.split(r"[,;(]", f["against"])[0].strip() if f["unit"] != "bytes" else f["against"],
        "threads": int(threads[1]) if threads else None,
        "score": f["score"],
        "target": f["target"],
        "sense": f["sense"],
    }
    notes = {k: f["notes"][k] for k in ("tol_met", "same_problem", "bytes_per_row", "replicas") if k in f["notes"]}
    values = {"ours": f["ours"], "yardstick": f["yardstick"]} if f["unit"] == "%" else {}
    when, commit = results["when"][:10], results["machine"]["commit"]
    return found | notes | values | {"source": source, "when": when, "commit": commit}


def take(names: Iterable[str]) -> None:
    lines = {tuple(f[k] for k in KEY): f for f in load()}
    for name in names:
        results = json.loads((HERE / "results" / f"{name}.json").read_text(encoding="utf-8"))
        for f in (taken(f, results, f"{name}.json") for f in results["findings"]):
            lines[tuple(f[k] for k in KEY)] = f
    text = ",\n".join(json.dumps(f) for f in lines.values())
    PUBLISHED.write_text(f"[\n{text}\n]\n", encoding="utf-8")


def load() -> list[Finding]:
    return list(json.loads(PUBLISHED.read_text(encoding="utf-8"))) if PUBLISHED.exists() else []


class Report:
    """Regions of the pages, and which findings each of them has used."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self.used: list[Finding] = []

    def pick(self, **what: Any) -> list[Finding]:
        chosen = [f for f in self.findings if all(f.get(k) == v for k, v in what.items())]
        self.used += chosen
        return chosen

    def scores(self, lambdas: Iterable[float] = LAMBDAS, **what: Any) -> str:
        """The scores for these lam, in their order; a dash where there is none, and nothing after the last."""
        return listed([self.pick(lam=lam, **what) for lam in lambdas])

    def dates(self) -> str:
        """When and from which code the figures come."""
        told = []
        for day in sorted({f["when"] for f in self.used}):
            commits = sorted({f["commit"] for f in self.used if f["when"] == day})
            told.append(f"{day}, commit{'s' * (len(commits) > 1)} {', '.join(commits)}")
        return f"Measured {'; '.join(told)}." if told else ""

    def footer(self) -> str:
        """The dates, and which of the figures miss their target."""
        short = [f for f in self.used if f["target"] is not None and missed(f)]
        below = "; ".join(dict.fromkeys(f"{place(f)}: {figure(f)}, target {f['target']:g}" for f in short))
        return f"{self.dates()} " + (f"Short of the target: {below}." if below else "All targets are met.")


def everyday_faster(report: Report, group: str) -> tuple[int, float]:
    """How many ordinary inputs of a group there are, and how many times faster than scikit-learn in the median."""
    cases = report.pick(source="everyday.json", data=group)
    return len(cases), 1 / median(f["score"] for f in cases)


def summary(report: Report) -> str:
    fit: dict[str, Any] = {"contest": "fit to 1e-4", "data": "arxiv", "threads": 2}
    count, faster = everyday_faster(report, "generated")
    log = report.scores(LAMBDAS[:2], contest="log", data="arxiv", threads=2)
    kernel = report.scores([None], contest="fit to 0.001", data="mnist", peer="SVC")  # type: ignore[list-item]
    rows = [
        ("hinge, 697,957 abstracts", "`LinearSVC`", report.scores(peer="LinearSVC", **fit)),
        ("the same", "Snap ML, two threads as well", report.scores(peer="Snap 2", **fit)),
        ("log loss, the same rows", "`LogisticRegression`", log),
        ("RBF kernel, 60,000 digits of MNIST", "`SVC`", kernel),
        (f"{count} ordinary inputs, one thread, median", "scikit-learn", f"{faster:.1f}"),
    ]
    return table(("problem", "against", "times faster"), rows, labels=2) + "\n\n" + report.dates()


def certified(report: Report) -> str:
    peers = {'`LinearSVC(loss="hinge")`': ("LinearSVC", "LinearSVC"), "Snap ML": ("Snap 2", "Snap 1")}
    rows = []
    for data, words in DATA.items():
        for name, pair in peers.items():
            cells = [
                report.scores(contest="fit to 1e-4", data=data, peer=peer, threads=n)
                for n, peer in zip((2, 1), pair, strict=True)
            ]
            rows.append((words, name, *cells))
    return table(("rows", "against", "two threads", "one thread"), rows, labels=2) + "\n\n" + report.footer()


def threads(report: Report) -> str:
    what = {
        "gain of two threads in a fit, relative to their gain in a pass": "gain of two threads",
        "one thread that works in two replicas, relative to one replica": "two replicas",
    }
    rows = [(words, report.scores(contest=contest, data="arxiv")) for words, contest in what.items()]
    return table(("ours, on the abstracts", "score"), rows) + "\n\n" + report.footer()


def cores(report: Report) -> str:
    def line(data: str, which: str, label: str) -> tuple[str, ...]:
        found = (report.scores(contest=f"{what}, {which}", data=data) for what in ("critical path", "visits"))
        return DATA[data], label, *found

    rows = []
    for data in DATA:
        rows += [line(data, f"{n} replicas", str(n)) for n in (2, 4, 8, 16)]
        suit = "replicas that suit"
        best = (report.pick(contest=f"critical path, {suit}", data=data, lam=lam) for lam in LAMBDAS)
        rows.append(line(data, suit, "best: " + ", ".join(str(f["replicas"]) for each in best for f in each)))
    header = ("rows", "replicas", "critical path shorter by", "visits, times those of one replica")
    return table(header, rows, labels=2) + "\n\n" + report.footer()


def losses(report: Report) -> str:
    peers = {
        "log": "`LogisticRegression`",
        "epsilon_insensitive": "`LinearSVR`",
        "multiclass_hinge": '`LinearSVC(multi_class="crammer_singer")`',
        "multinomial": "`LogisticRegression`",
    }
    rows = [
        (
            f"`{loss}`",
            peer,
            DATA[data],
            *(report.scores(LAMBDAS[:2], contest=loss, data=data, threads=n) for n in (2, 1)),
        )
        for loss, peer in peers.items()
        for data in ("arxiv", "covertype")
    ]
    return table(("loss", "against", "rows", "two threads", "one thread"), rows, labels=3) + "\n\n" + report.footer()


def stochastic(report: Report) -> str:
    what = {
        "an epoch, relative to a pass that only evaluates the objective": "epoch",
        "validation of the input, relative to an epoch": "validation",
        "fit to the objective of one epoch of `SGDClassifier`, relative to its time": "Pegasos to SGD's objective",
    }
    rows = [
        (words, *(report.scores(contest=contest, data=data) for data in ("generated", "arxiv")))
        for words, contest in what.items()
    ]
    memory = sorted(f["bytes_per_row"] for f in report.pick(contest="memory of a fit"))
    told = f"Extra memory of a fit on 5 million rows of 4 numbers: {memory[0]:.0f} to {memory[-1]:.0f} bytes a row."
    header = ("ours", DATA["generated"], DATA["arxiv"])
    return f"{table(header, rows)}\n\n{told} {report.footer()}"


def kernels(report: Report) -> str:
    def both(peer: str, data: str) -> str:
        return listed([report.pick(contest=f"fit to {tol:g}", data=data, peer=peer) for tol in (1e-3, 1e-5)])

    def errors(data: str) -> str:
        return "; ".join(
            f"{f['ours']:.2f} %, {f['yardstick']:.2f} %" for f in report.pick(contest="test error", data=data)
        )

    def predicted(data: str) -> str:
        return listed([report.pick(contest="predict", data=data)])

    sets = ("adult", "mnist")
    rows = [
        ("fit to 1e-3 and to 1e-5, times faster than `SVC`", *(both("SVC", data) for data in sets)),
        ("the same, than `SVC` of scikit-learn-intelex", *(both("SVC of scikit-learn-intelex", data) for data in sets)),
        ("prediction of the test rows, times faster than `SVC`", *map(predicted, sets)),
        ("test error, ours and that of `SVC`", *map(errors, sets)),
    ]
    header = ("", "32,561 rows of Adult", "60,000 rows of MNIST, 8 against the rest")
    return table(header, rows) + "\n\n" + report.footer()


def sequences(report: Report) -> str:
    def scores(contest: str, peer: str, n: int, data: str = "conll2000") -> str:
        return listed([report.pick(contest=contest, data=data, peer=peer, threads=n)])

    rows = []
    parts = sorted({f["data"] for f in report.findings if f["data"].startswith("conll2000")})
    for peer, words, pairs, data in product(
        ("crfsuite lbfgs", "crfsuite l2sgd"), ("objective", "test F1"), ("seen", "all"), parts
    ):
        cells = [scores(f"sequences to its {words}, {pairs} pairs", peer, n, data) for n in (2, 1)]
        _, _, most = data.partition(":")
        some = f", the first {int(most):,} sequences" if most else ""
        rows.append((f"fit to the {words} of `{peer}`, {pairs} pairs{some}", *cells))
    for kind in ("matrices", "dicts", "lists"):
        rows.append((f"tagging, from {kind}", NONE, scores(f"tagging, from {kind}", "crfsuite", 1)))
    f1 = "; ".join(f"{f['ours']:.2f}" for f in report.pick(contest="chunk F1", data="conll2000"))
    converting = listed([report.pick(contest="converting tokens", data="conll2000")])
    told = f"Chunk F1 on the test set, lam chosen on a held-out part of the training set: {f1}. " if f1 else ""
    if converting != NONE:
        told += f"Converting tokens takes {converting} of the time of training to `tol=1e-3`. "
    hinge = [scores(f"structured hinge to {tol:g}", "the log loss", 2) for tol in (1e-2, 1e-3)]
    if NONE not in hinge:
        told += f"The structured hinge to 1e-2 and 1e-3 takes {' and '.join(hinge)} of the time of the log loss. "
    return table(("ours", "two threads", "one thread"), rows) + f"\n\n{told}{report.footer()}"


def choosing(report: Report) -> str:
    sets = {"texts": "10,000 abstracts", "generated": "10,000 generated texts", "arxiv": "697,957 abstracts"}
    rows = []
    for tol in ("0.001", "1e-05"):
        for data, words in sets.items():
            what = {"data": data, "contest": f"search to {tol}"}
            counted = listed([report.pick(**(what | {"contest": f"search to {tol}, counted"}))])
            cells = [listed([report.pick(peer=peer, **what)]) for peer in ("one fit", "GridSearchCV", "LinearSVC")]
            rows.append((words, f"{float(tol):g}", counted, *cells))
    kernels = "; ".join(f"{figure(f)}" for f in report.pick(contest="kernel search", data="adult"))
    told = f"Kernel search on Adult, five lams and five folds: {kernels} times faster than GridSearchCV. "
    header = ("rows", "`tol`", "cold fits, counted", "in time", "times faster than GridSearchCV", "than `LinearSVC`")
    return f"{table(header, rows, labels=2)}\n\n{told if kernels else ''}{report.footer()}"


def everyday(report: Report) -> str:
    groups = [f"{count} {group} inputs: {faster:.1f} times faster in the median" for group in ("generated", "real")
              for count, faster in [everyday_faster(report, group)]]  # fmt: skip
    cases = report.pick(source="everyday.json")
    slow = sorted((f for f in cases if missed(f)), key=lambda f: -f["score"])
    unmet = [f for f in cases if not f["tol_met"]]
    names = ", ".join(f"`{f['contest']}` ({figure(f)})" for f in slow)
    told = f" ({names})" if names else ""
    return (
        f"{'; '.join(groups)}. Slower than the peer by more than the target: {len(slow)}{told}; `tol` not met: "
        f"{len(unmet)}. {report.dates()}"
    )


REGIONS: dict[str, Callable[[Report], str]] = {
    f.__name__: f
    for f in (summary, certified, threads, cores, losses, stochastic, kernels, sequences, choosing, everyday)
}


def written(page: str, findings: list[Finding]) -> str:
    """The text of a page with every region as the findings have it."""
    return REGION.sub(lambda m: f"{m[1]}{REGIONS[m[2]](Report(findings))}\n{m[3]}", page)


def main() -> None:
    if sys.argv[1:2] == ["take"]:
        take(sys.argv[2:])
    elif sys.argv[1:]:
        sys.exit(__doc__)
    findings = load()
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8"), findings), encoding="utf-8")


if __name__ == "__main__":
    main()
