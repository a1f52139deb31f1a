"""The run time does not depend on the number of rows: steps to an accuracy, and the time of T steps, over m."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import seconds_of, slope, spread
from systems import LinearPegasos, Training

from pegasos import Pegasos, PegasosClassifier

LAM, EPSILON, SEEDS = 1e-3, 0.01, [0, 1, 2, 3, 4]
SERIES = {
    "loop": "the steps",
    "whole": "a whole fit with certify=False",
    "labels": "its labels encoded",
    "certified": "a whole fit that certifies all rows",
}


def rows(m: int) -> Training:
    """Normal features, a hidden linear score, a tenth of the labels flipped: the same law for every m."""
    rng = np.random.default_rng(m)
    X = rng.standard_normal((m, 16), dtype=np.float32) / np.float32(4)
    w = np.random.default_rng(0).standard_normal(16).astype(np.float32)
    y = np.where((X @ w > 0) ^ (rng.random(m, dtype=np.float32) < 0.1), 1, -1).astype(np.int8)
    return Training(X, y)


def describe(sizes: list[int]) -> dict[str, Any]:
    """What the report says of the rows."""
    here = "generated: 16 normal features, labels by a hidden plane, a tenth of them flipped"
    return {"paper": "none of the paper's", "here": here, "train": sizes[-1], "test": 0, "features": 16, "density": 1.0,
            "lam": LAM, "gamma": 0.0, "paper sizes": (None, None, None)}  # fmt: skip


def measure(m: int, setting: Setting) -> dict[str, Any]:
    data, T = rows(m), setting.pick(20_000, 100_000)
    best = PegasosClassifier(lam=LAM, bias="none", tol=1e-6, random_state=0).fit(data.X, data.y).objective_
    found: dict[str, list[float]] = {"steps": [], **{what: [] for what in SERIES}}
    for seed in SEEDS:
        system = LinearPegasos(data, LAM, seed)
        system.advance(float("inf"), 64)
        while data.objective(system.weights(), LAM) - best > EPSILON:
            system.advance(float("inf"), max(64, system.steps // 10))
        found["steps"].append(system.steps)
        timed = LinearPegasos(data, LAM, seed)
        timed.advance(float("inf"), T)
        found["loop"].append(timed.seconds)
        for certify in (False, True):
            solver = Pegasos(T=T, sampling="iid", certify=certify)
            fit = PegasosClassifier(lam=LAM, bias="none", solver=solver, random_state=seed)
            seconds = seconds_of(lambda fit=fit: fit.fit(data.X, data.y))[0]
            found["certified" if certify else "whole"].append(seconds)
            if not certify:
                found["labels"].append(fit.label_seconds_)
    return {what: [float(f(values)) for f in (np.median, np.min, np.max)] for what, values in found.items()}


def run(setting: Setting) -> Result:
    sizes = setting.pick([1000, 10_000, 100_000], [10_000, 100_000, 1_000_000, 10_000_000])
    found = [setting.part(f"m{m}", lambda m=m: measure(m, setting), 1 / len(sizes)) for m in sizes]
    T = setting.pick(20_000, 100_000)
    series, low, high = ({what: [line[what][n] for line in found] for what in ("steps", *SERIES)} for n in range(3))
    result = Result(seeds=SEEDS, data=[describe(sizes)])
    m_axis = Axis("m", log=True)
    result.figures = [
        Figure(f"Steps to within {EPSILON:g} of the minimum", m_axis, Axis("steps", log=True),
               [Curve("Pegasos", sizes, series["steps"], low["steps"], high["steps"])]),
        Figure(f"CPU seconds of {T:,} steps", m_axis, Axis("CPU seconds", log=True),
               [Curve(name, sizes, series[what], low[what], high[what]) for what, name in SERIES.items()],
               "With certify=False a fit looks at the rows that it draws, and at every label once."),
    ]  # fmt: skip
    rows_of = [
        [f"{m:,}", "{:,.0f} [{:,.0f}, {:,.0f}]".format(*x["steps"]), *(spread(*x[what]) for what in SERIES)]
        for m, x in zip(sizes, found, strict=True)
    ]
    columns = ["m", f"steps to {EPSILON:g}", *(f"{T:,} steps: {name}" for name in SERIES.values())]
    result.tables.append(
        Table("Over the number of rows", columns, rows_of, "Medians over five seeds, the least and the most.")
    )
    growth = {what: slope(sizes, values) for what, values in series.items()}
    result.findings = [
        Finding(
            "The number of steps to an accuracy does not grow with the number of rows (section 1).",
            abs(growth["steps"]) < 0.1,
            f"slope {growth['steps']:.3f} over m = {sizes[0]:,} to {sizes[-1]:,}",
            ("Steps to",),
        ),
        Finding(
            "The time of a step does not depend on m.",
            growth["loop"] < 0.1,
            f"slope of the steps' time {growth['loop']:.3f}, {_from_to(series['loop'])}: a row that is in no cache "
            "costs more",
            ("CPU seconds",),
        ),
        Finding(
            "A whole fit of T steps does not depend on m.",
            growth["whole"] < 0.1,
            f"slope {growth['whole']:.3f} with certify=False ({_from_to(series['whole'])}, of which the labels, all of "
            f"which are read, take {_from_to(series['labels'])}), {growth['certified']:.3f} where all rows are "
            f"certified ({_from_to(series['certified'])})",
            ("CPU seconds",),
        ),
    ]
    return result


def _from_to(seconds: list[float]) -> str:
    return f"{seconds[0]:.3g} s to {seconds[-1]:.3g} s"


EXPERIMENT = Experiment(
    "over_m", "Independence of the number of rows", "journal paper, abstract and section 1", run, (3, 60)
)

if __name__ == "__main__":
    main(EXPERIMENT)
