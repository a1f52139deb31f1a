"""Equation 19: sub-gradient descent on alpha, plain and preconditioned, which section 4 gives as a contrast."""

from __future__ import annotations

from typing import Any

import numpy as np
from alpha_descent import descend, objective
from data import load
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import gaussian, kernel_optimum, slope

from pegasos import _core

FACTORS = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
HIGHEST = 10.0  # that the figure shows: f(0) is 1, and steps that are too long go up to 1e27


def measure(setting: Setting) -> dict[str, Any]:
    data = load("usps", setting.pick(300, 800))
    lam, T = 1e-3, setting.pick(3000, 20_000)
    best = kernel_optimum(data, lam, tol=1e-8)
    everyone = np.arange(data.train.m)
    K, y = gaussian(data.train, everyone, data.gamma)(data.train.X), data.train.y.astype(np.float64)
    picks = _core.picks("iid", 0, data.train.m, 0, T)
    counts = {int(n) for n in np.geomspace(10, T, 25)}
    found: dict[str, Any] = {}

    def watching(name: str, **how: Any) -> None:
        line: list[list[float]] = []

        def look(t: int, alpha: Any) -> None:
            if t in counts:
                line.append([t, objective(K, y, lam, alpha) - best.objective])

        with np.errstate(over="ignore", invalid="ignore"):  # too long steps explode, and are left out
            descend(K, y, lam, picks, watch=look, **how)
        found[name] = line

    watching("preconditioned, 1/(lambda t): Pegasos", preconditioned=True, eta=lambda t: 1 / (lam * t))
    for factor in FACTORS:
        watching(f"plain, {factor:g}/sqrt(t)", preconditioned=False, eta=lambda t, c=factor: c / np.sqrt(t))
        watching(f"plain, {factor:g}/(lambda t)", preconditioned=False, eta=lambda t, c=factor: c / (lam * t))
    return {"data": data.describe() | {"lam": lam}, "lines": found}


def run(setting: Setting) -> Result:
    found = setting.part("all", lambda: measure(setting), 1.0)
    lines = {name: np.array(line) for name, line in found["lines"].items()}
    usable = {name: line for name, line in lines.items() if np.isfinite(line.astype(float)).all() and line[-1, 1] < 1e3}
    plain = min((name for name in usable if name.startswith("plain")), key=lambda name: usable[name][-1, 1])
    ours = next(name for name in usable if name.startswith("pre"))
    curves = [
        Curve(name, low[:, 0].tolist(), np.maximum(low[:, 1], 1e-9).tolist(), dashed=name not in (plain, ours))
        for name, line in usable.items()
        if len(low := line[line[:, 1] <= HIGHEST]) > 1
    ]
    result = Result(data=[found["data"]], seeds=[0])
    result.figures.append(
        Figure("Eq. 19: steps on alpha", Axis("iterations", log=True), Axis("f - f(w*)", log=True), curves,
               "Plain steps cost m times as much each. What is more than 10 above the minimum is not drawn: f(0) = 1.")
    )  # fmt: skip
    late = {name: slope(line[len(line) // 2 :, 0], line[len(line) // 2 :, 1]) for name, line in usable.items()}
    rows = [[name, f"{line[-1, 1]:.3g}", f"{late[name]:.2f}"] for name, line in usable.items()]
    gone = [name for name in lines if name not in usable]
    note = f"Not in the table, since they explode: {', '.join(gone)}." if gone else ""
    result.tables.append(Table("At the end", ["steps", "above the minimum", "slope of the second half"], rows, note))
    gain = usable[plain][-1, 1] / usable[ours][-1, 1]
    result.findings.append(
        Finding(
            "Gradients with respect to w, which is preconditioning by the kernel matrix, do much better than those "
            "with respect to alpha (section 4).",
            bool(gain > 2),
            f"after {int(usable[ours][-1, 0]):,} iterations the best of {len(lines) - 1} plain schedules is {gain:.3g} "
            f"times as far from the minimum as Pegasos ({plain}: slope {late[plain]:.2f} against {late[ours]:.2f})",
        )
    )
    return result


EXPERIMENT = Experiment("eq19", "Steps on alpha", "journal paper, section 4, eq. 19", run, (5, 25))

if __name__ == "__main__":
    main(EXPERIMENT)
