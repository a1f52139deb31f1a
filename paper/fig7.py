"""Figure 7: the mini-batch size, on astro-ph."""

from __future__ import annotations

from typing import Any

import numpy as np
from data import load
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import linear_optimum
from systems import LinearPegasos

from pegasos import Pegasos

SEEDS = [0, 1, 2, 3, 4]


def steps(setting: Setting, k: int, counts: list[int], seeds: list[int]) -> list[list[float]]:
    """Suboptimality after these numbers of steps, a line for each seed."""
    data = load("astro-ph", setting.pick(4000, None))
    best = linear_optimum(data)
    found = []
    for seed in seeds:
        system = LinearPegasos(data.train, data.lam, seed, Pegasos(k=k, sampling="subsets"))
        line = []
        for count in counts:
            system.advance(float("inf"), count - system.steps)
            line.append(data.train.objective(system.weights(), data.lam) - best.objective)
        found.append(line)
    return found


def run(setting: Setting) -> Result:
    seeds = SEEDS[: setting.pick(2, 5)]
    sizes = setting.pick([1, 4, 16, 64, 256, 1024], [1, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384])
    products = setting.pick([16_384, 65_536], [65_536, 262_144, 1_048_576])
    result = Result(seeds=seeds, data=[load("astro-ph", setting.pick(4000, None)).describe()])

    def first() -> Any:
        return {k: steps(setting, k, [n // k for n in products], seeds) for k in sizes}

    over_k = {int(k): np.array(lines) for k, lines in setting.part("over_k", first, 0.6).items()}
    for j, n in enumerate(products):
        middle, low, high = _over_seeds([over_k[k][:, j] for k in sizes])
        if j == 0:
            result.figures.append(
                Figure("Fig. 7, left: k T fixed", Axis("k", log=True), Axis("f(w) - f(w*)", log=True), [])
            )
        result.figures[0].curves.append(Curve(f"k T = {n:,}", sizes, middle, low, high))

    large = setting.pick([64, 512], [256, 2048, 16_384])
    points = np.unique(np.geomspace(8, products[-1] / large[0], 18).astype(int))

    def second() -> Any:
        return {k: steps(setting, k, sorted({max(1, int(n * large[0] / k)) for n in points}), seeds) for k in large}

    over_n = {int(k): np.array(lines) for k, lines in setting.part("over_kT", second, 0.4).items()}
    curves = []
    for k in large:
        counts = sorted({max(1, int(n * large[0] / k)) for n in points})
        middle, low, high = _over_seeds(over_n[k].T)
        curves.append(Curve(f"k = {k:,}", [k * n for n in counts], middle, low, high))
    result.figures.append(
        Figure("Fig. 7, right: k fixed", Axis("k T", log=True), Axis("f(w) - f(w*)", log=True), curves)
    )

    last = {k: float(np.median(over_k[k][:, -1])) for k in sizes}
    flat = [k for k in sizes if last[k] <= 2 * last[1]]
    result.tables.append(
        Table(
            "Suboptimality at k T = " + f"{products[-1]:,}",
            ["k", "here"],
            [[f"{k:,}", f"{x:.3g}"] for k, x in last.items()],
        )
    )
    result.findings.append(
        Finding(
            "For k up to a few hundred the suboptimality depends on the product k T only (7.4): the k rows of a step "
            "can be had in parallel for nothing.",
            max(flat) >= setting.pick(64, 256),
            f"at k T = {products[-1]:,} every k up to {max(flat):,} is within twice of k = 1 ({last[1]:.2g})",
            ("left",),
        )
    )
    ends = [curve.y[-1] for curve in curves]
    starts = [float(np.interp(np.log(curves[-1].x[1]), np.log(c.x), np.log(c.y))) for c in curves]
    spread = float(np.exp(max(starts) - min(starts))), max(ends) / min(ends)
    result.findings.append(
        Finding(
            "Large batches lose at first, and the loss is alleviated as iterations go on (7.4).",
            spread[1] < spread[0],
            f"worst over best k: {spread[0]:.2g} times at k T = {curves[-1].x[1]:,}, {spread[1]:.2g} times at the end",
            ("right",),
        )
    )
    return result


def _over_seeds(lines: Any) -> tuple[list[float], list[float], list[float]]:
    return tuple([float(f(line)) for line in lines] for f in (np.median, np.min, np.max))  # type: ignore[return-value]


EXPERIMENT = Experiment("fig7", "The mini-batch", "journal paper, section 7.4, figure 7", run, (3, 40))

if __name__ == "__main__":
    main(EXPERIMENT)
