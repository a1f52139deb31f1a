"""The run time does not depend on the number of rows: steps to an accuracy, and the time of T steps, over m."""

from __future__ import annotations

from typing import Any

import numpy as np
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import seconds_of, slope
from systems import LinearPegasos, Training

from pegasos import Pegasos, PegasosClassifier

LAM, EPSILON, SEEDS = 1e-3, 0.01, [0, 1, 2, 3, 4]
CERTIFIES = "certify" in Pegasos().get_params()  # whether a fit can be asked not to


def rows(m: int) -> Training:
    """Normal features, a hidden linear score, a tenth of the labels flipped: the same law for every m."""
    rng = np.random.default_rng(m)
    X = rng.standard_normal((m, 16), dtype=np.float32) / np.float32(4)
    w = np.random.default_rng(0).standard_normal(16).astype(np.float32)
    y = np.where((X @ w > 0) ^ (rng.random(m, dtype=np.float32) < 0.1), 1, -1).astype(np.int8)
    return Training(X, y)


def measure(m: int, setting: Setting) -> dict[str, Any]:
    data, T = rows(m), setting.pick(20_000, 100_000)
    best = PegasosClassifier(lam=LAM, bias="none", tol=1e-6, random_state=0).fit(data.X, data.y).objective_
    steps, loop, whole = [], [], []
    for seed in SEEDS:
        system = LinearPegasos(data, LAM, seed)
        system.advance(float("inf"), 64)
        while data.objective(system.weights(), LAM) - best > EPSILON:
            system.advance(float("inf"), max(64, system.steps // 10))
        steps.append(system.steps)
        timed = LinearPegasos(data, LAM, seed)
        timed.advance(float("inf"), T)
        loop.append(timed.seconds)
        fit = PegasosClassifier(lam=LAM, bias="none", solver=fixed(T), random_state=seed)
        whole.append(seconds_of(lambda fit=fit: fit.fit(data.X, data.y))[0])
    return {"steps": float(np.median(steps)), "loop": float(np.median(loop)), "whole": float(np.median(whole))}


def fixed(T: int) -> Pegasos:
    """T steps; without the certificate where the library can leave it out."""
    return Pegasos(T=T, sampling="iid", **({"certify": False} if CERTIFIES else {}))


def run(setting: Setting) -> Result:
    sizes = setting.pick([1000, 10_000, 100_000], [10_000, 100_000, 1_000_000, 10_000_000])
    found = [setting.part(f"m{m}", lambda m=m: measure(m, setting), 1 / len(sizes)) for m in sizes]
    T = setting.pick(20_000, 100_000)
    series = {what: [line[what] for line in found] for what in ("steps", "loop", "whole")}
    result = Result(seeds=SEEDS)
    m_axis = Axis("m", log=True)
    result.figures = [
        Figure(f"Steps to within {EPSILON:g} of the minimum", m_axis, Axis("steps", log=True),
               [Curve("Pegasos", sizes, series["steps"])]),
        Figure(f"CPU seconds of {T:,} steps", m_axis, Axis("CPU seconds", log=True),
               [Curve("the steps", sizes, series["loop"]), Curve("the whole fit", sizes, series["whole"])],
               "The whole fit looks at every row and label once" + ("." if CERTIFIES else ", and certifies.")),
    ]  # fmt: skip
    rows_of = [
        [f"{m:,}", f"{x['steps']:,.0f}", f"{x['loop']:.3g} s", f"{x['whole']:.3g} s"]
        for m, x in zip(sizes, found, strict=True)
    ]
    columns = ["m", f"steps to {EPSILON:g}", f"{T:,} steps", "whole fit"]
    result.tables.append(Table("Over the number of rows", columns, rows_of, "Medians over five seeds."))
    growth = slope(sizes, series["steps"])
    result.findings = [
        Finding(
            "The number of steps to an accuracy does not grow with the number of rows (section 1).",
            abs(growth) < 0.1,
            f"slope {growth:.3f} over m = {sizes[0]:,} to {sizes[-1]:,}",
        ),
        Finding(
            "The time of a step does not depend on m, once the rows exceed the caches as they do anyway.",
            slope(sizes, series["loop"]) < 0.25,
            f"slope of the steps' time {slope(sizes, series['loop']):.3f}; a row that is in no cache costs more",
        ),
        Finding(
            "A whole fit of T steps does not depend on m.",
            slope(sizes, series["whole"]) < 0.25,
            f"slope {slope(sizes, series['whole']):.3f}: {series['whole'][0]:.3g} s at m = {sizes[0]:,}, "
            f"{series['whole'][-1]:.3g} s at m = {sizes[-1]:,}",
        ),
    ]
    return result


EXPERIMENT = Experiment(
    "over_m", "Independence of the number of rows", "journal paper, abstract and section 1", run, (3, 120)
)

if __name__ == "__main__":
    main(EXPERIMENT)
