"""Draw who comes how close to the minimum, how fast: docs/images/gap_over_time.png.

`make picture`, or `python benchmarks/picture.py --help`. What was measured stays in results/picture.json, and --redraw
draws it again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
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
        + [{"tol": tol, "max_iter": 100_000} for tol in (0.5, 0.1, 0.03, 0.01)],
    ),
    "SGDClassifier": (SGD, 1, [{"max_iter": n} for n in (1, 2, 4, 8, 16)]),
    "Snap ML, 2 threads": (SNAP, 2, [{"max_iter": n, "tol": 1e-9} for n in (1, 2, 3, 4, 6, 9, 14, 20, 40, 80)]),
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
    """The line of everybody: every fit once in each round, the best time of a fit counts.

    Our gap is the certified one, the peers' is their objective above the best bound known.
    """
    bound = data.bracket(lam, BOUND)[0]
    calls: list[tuple[str, Callable[[], tuple[float, float]]]] = []
    for name, threads in zip(OURS, (2, 1), strict=True):
        calls += [(name, partial(_ours, data, lam, threads, tol)) for tol in TOLS]
    for name, (peer, threads, settings) in PEERS.items():
        if why := peer.missing():
            contest.print_skipped(name, why)
        else:
            calls += [(name, partial(_theirs, data, lam, peer.call(data, lam, s, threads), bound)) for s in settings]
    runs = [[call() for _, call in calls] for _ in range(rounds)]
    lines: dict[str, Line] = {name: [] for name, _ in calls}
    for (name, _), same in zip(calls, zip(*runs, strict=True), strict=True):
        lines[name].append(min(same))
    return lines


def _ours(data: Data, lam: float, threads: int, tol: float) -> tuple[float, float]:
    model = PegasosClassifier(lam=lam, bias="none", tol=tol, n_jobs=threads, random_state=0)
    seconds, _ = contest.timed(lambda: model.fit(data.X, data.y))
    return seconds, model.gap_


def _theirs(data: Data, lam: float, call: Callable[[], Any], bound: float) -> tuple[float, float]:
    seconds, w = contest.timed(call)
    return seconds, data.objective(w, lam) - bound


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
    figure, panels = plt.subplots(1, len(LAMBDAS), figsize=(13, 6), sharey=True)
    figure.subplots_adjust(left=0.06, right=0.985, top=0.79, bottom=0.17, wspace=0.08)
    for axes, lam in zip(panels, LAMBDAS, strict=True):
        draw_panel(axes, lam, found["lines"][f"{lam:g}"])
    panels[0].set_ylabel("objective above the minimum")
    panels[1].set_xlabel("seconds of training, whole fit")
    handles, names = panels[0].get_legend_handles_labels()
    style = {"loc": "lower center", "ncols": len(names), "frameon": False, "bbox_to_anchor": (0.52, 0.005)}
    figure.legend(handles, names, **style)
    left = {"x": 0.012, "ha": "left", "va": "top"}
    figure.text(y=0.975, s=f"How close to the minimum, how soon? {found['title']}", fontsize=15, weight="bold", **left)
    said = (
        "Blue: what each of our fits proves about itself (gap_). The others prove nothing; "
        "their distance was worked out afterwards.\n"
        f"Numbers: time to within {MARK:.4f} of the minimum, as a multiple of ours with 2 threads."
    )
    figure.text(y=0.925, s=said, color="0.3", linespacing=1.4, **left)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=110, pil_kwargs={"optimize": True})


def draw_panel(axes: Any, lam: float, lines: dict[str, Line]) -> None:
    for name, style in STYLES.items():
        if name in lines:
            axes.plot(*envelope(lines[name]), label=name, **style)
    axes.set(xscale="log", yscale="log", ylim=(10 * BOUND, 0.2))
    axes.margins(x=0.07)
    axes.set_title(f"$\\lambda = 10^{{{round(np.log10(lam))}}}$", loc="left")
    axes.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(which="minor", length=0)
    axes.grid(True, which="major", alpha=0.25)
    axes.axhline(MARK, color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    start = seconds_to(lines[OURS[0]], MARK)
    ends = {name: seconds_to(line, MARK) for name, line in lines.items() if name not in OURS}
    for name, end in ends.items():
        if np.isfinite(end):
            crowded = any(1 < other / end < 1.7 for other in ends.values())
            label(axes, end, f"{end / start:.1f}x", STYLES[name]["color"], crowded)


def label(axes: Any, seconds: float, said: str, colour: str, to_the_left: bool) -> None:
    """A number beside the place where a line crosses the mark."""
    axes.plot([seconds], [MARK], "o", color=colour, markersize=8, markerfacecolor="white", markeredgewidth=2, zorder=6)
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    text = {"fontsize": 11.5, "fontweight": "bold", "color": colour, "textcoords": "offset points"}
    place = {"xytext": (-7, -5), "ha": "right", "va": "top"} if to_the_left else {"xytext": (7, 5)}
    axes.annotate(said, (seconds, MARK), bbox=box, zorder=7, **place, **text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=inputs.NAMES, help="default: arxiv where it is there, else generated")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each fit, of which the best counts (3)")
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
