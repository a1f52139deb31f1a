"""Draw who comes how close to the minimum, how fast: docs/images/gap_over_time.png.

`make picture`, or `python benchmarks/picture.py --help`. What was measured stays in results/picture.json, and --redraw
draws it again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import contest
import inputs
import matplotlib as mpl
import numpy as np
from inputs import LAMBDAS, Data
from peers import LINEAR_SVC, SGD, SNAP, Contestant, Setting
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pegasos import PegasosClassifier

mpl.use("Agg")
import matplotlib.pyplot as plt  # only after the choice of backend
from matplotlib.ticker import FixedLocator, NullFormatter

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "gap_over_time.png"
POINTS = contest.RESULTS / "picture.json"
BOUND = 1e-7  # how well the minimum is known; nothing below ten times that is drawn
TOLS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
MARK = 1e-4  # where the distances between the lines are written
PEERS: dict[str, tuple[Contestant, int, list[Setting]]] = {
    "LinearSVC": (
        LINEAR_SVC,
        1,
        [{"max_iter": n} for n in (1, 2, 3, 4, 6)]
        + [{"tol": tol, "max_iter": 100_000} for tol in (0.5, 0.1, 0.03, 0.01, 3e-3)],
    ),
    "SGDClassifier": (SGD, 1, [{"max_iter": n} for n in (1, 2, 4, 8, 16, 32)]),
    "Snap ML, 2 threads": (SNAP, 2, [{"max_iter": n, "tol": 1e-9} for n in (1, 2, 3, 4, 6, 9, 14, 20, 40, 80, 160)]),
}
OURS = "ours, 2 threads", "ours, 1 thread"
STYLES: dict[str, dict[str, Any]] = {
    OURS[0]: {"color": "#0b62a8", "linewidth": 3.2, "marker": "o", "markersize": 6, "zorder": 5},
    OURS[1]: {"color": "#7fb2dc", "linewidth": 2.2, "marker": "o", "markersize": 4.5, "zorder": 4},
    "Snap ML, 2 threads": {"color": "#a03a7c", "linewidth": 1.5, "marker": "^", "markersize": 4.5},
    "LinearSVC": {"color": "#4f7a28", "linewidth": 1.5, "marker": "D", "markersize": 4},
    "SGDClassifier": {"color": "#d9730d", "linewidth": 1.5, "marker": "s", "markersize": 4},
}
Line = list[tuple[float, float]]  # seconds and gap


def measure(data: Data, lam: float, rounds: int) -> dict[str, Line]:
    """The line of everybody; ours is the certified gap, the peers' is their objective above the best bound known."""
    bound = data.bracket(lam, BOUND)[0]
    lines: dict[str, Line] = {}
    for name, threads in zip(OURS, (2, 1), strict=True):
        lines[name] = list(_ours(data, lam, threads, rounds))
    for name, (peer, threads, settings) in PEERS.items():
        if why := peer.missing():
            contest.print_skipped(name, why)
            continue
        lines[name] = []
        for setting in settings:
            seconds, w = _median(partial(peer.fit, data, lam, threads, 0, **setting), rounds)
            lines[name].append((seconds, data.objective(w, lam) - bound))
    return lines


def _ours(data: Data, lam: float, threads: int, rounds: int) -> Iterator[tuple[float, float]]:
    for tol in TOLS:
        model = PegasosClassifier(lam=lam, bias="none", tol=tol, n_jobs=threads, random_state=0)
        seconds, fitted = _median(partial(model.fit, data.X, data.y), rounds)
        yield seconds, fitted.gap_


def _median(call: Any, rounds: int) -> tuple[float, Any]:
    runs = [contest.timed(call) for _ in range(rounds)]
    return median(run[0] for run in runs), runs[0][1]


def envelope(line: Line) -> tuple[Any, Any]:
    """Seconds and gap, without points that another one beats in both."""
    kept: Line = []
    for seconds, gap in sorted(line):
        if gap > 10 * BOUND and (not kept or gap < 0.97 * kept[-1][1]):
            kept.append((seconds, gap))
    return tuple(np.array(column) for column in zip(*kept, strict=True))


def seconds_to(line: Line, gap: float) -> float:
    """When the line crosses the gap, along the straight piece that is drawn there; NaN where it does not."""
    seconds, gaps = envelope(line)
    if gaps[-1] > gap:
        return float("nan")
    return float(np.exp(np.interp(-np.log(gap), -np.log(gaps), np.log(seconds))))


def draw(found: dict[str, Any]) -> None:
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    figure, panels = plt.subplots(1, len(LAMBDAS), figsize=(13, 5.6), sharey=True, layout="constrained")
    for axes, lam in zip(panels, LAMBDAS, strict=True):
        draw_panel(axes, lam, found["lines"][f"{lam:g}"])
    panels[0].set_ylabel("objective above the minimum")
    panels[1].set_xlabel("seconds of training, whole fit")
    handles, names = panels[0].get_legend_handles_labels()
    said = [f"{name}: what it proves (gap_)" if name in OURS else name for name in names]
    figure.legend(handles, said, loc="outside lower center", ncols=len(said), frameon=False)
    figure.suptitle(
        f"One linear SVM, {found['title']}: the lower left is better; arrows: time to the same {MARK:g}",
        x=0.01,
        ha="left",
        fontsize=13,
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110, pil_kwargs={"optimize": True})


def draw_panel(axes: Any, lam: float, lines: dict[str, Line]) -> None:
    for name, style in STYLES.items():
        if name in lines:
            axes.plot(*envelope(lines[name]), label=name, **style)
    axes.set(xscale="log", yscale="log", ylim=(10 * BOUND, 0.2))
    axes.set_title(f"$\\lambda$ = {lam:g}", loc="left")
    axes.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", alpha=0.25)
    axes.axhline(MARK, color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    start = seconds_to(lines[OURS[0]], MARK)
    for place, name in ((0.72, "Snap ML, 2 threads"), (0.45, "LinearSVC")):
        end = seconds_to(lines[name], MARK) if name in lines else float("nan")
        if np.isfinite(end) and end > start:
            arrow(axes, start, end, place * MARK, f"{end / start:.1f}x", STYLES[name]["color"])


def arrow(axes: Any, start: float, end: float, height: float, said: str, colour: str) -> None:
    style = {"arrowstyle": "<->", "color": colour, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (start, height), (end, height), arrowprops=style, zorder=6)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
    text = {"ha": "center", "va": "center", "fontsize": 10, "fontweight": "bold"}
    axes.text(np.sqrt(start * end), height, said, color=colour, bbox=box, zorder=7, **text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=inputs.NAMES, help="default: arxiv where it is there, else generated")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each fit, of which the median counts (3)")
    parser.add_argument("--quick", action="store_true", help="a part of the rows: does it run? Not a result")
    parser.add_argument("--redraw", action="store_true", help="draw what was measured last")
    args = parser.parse_args()
    if args.redraw:
        draw(json.loads(POINTS.read_text()))
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    name = args.data or ("generated" if inputs.missing("arxiv") else "arxiv")
    data = inputs.load(name, args.quick)
    kind = {"generated": "generated texts", "arxiv": "real abstracts", "covertype": "forest cells"}[name]
    found: dict[str, Any] = {"title": f"{len(data.y):,} {kind}", "machine": contest.machine_facts(), "lines": {}}
    with threadpool_limits(1):
        for lam in LAMBDAS:
            found["lines"][f"{lam:g}"] = measure(data, lam, args.rounds)
            print(f"lam {lam:g} measured", flush=True)
    contest.RESULTS.mkdir(exist_ok=True)
    POINTS.write_text(json.dumps(found, indent=1) + "\n")
    draw(found)
    print(f"{PICTURE.relative_to(Path.cwd()) if PICTURE.is_relative_to(Path.cwd()) else PICTURE}")


if __name__ == "__main__":
    main()
