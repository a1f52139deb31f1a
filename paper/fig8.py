"""Figure 8: the order in which rows are drawn, on astro-ph; the paper's three orders, and ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from data import load
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import linear_optimum

from pegasos import Pegasos, PegasosClassifier

SEEDS = list(range(9))
ORDERS = {
    "iid": "i.i.d.",
    "fixed": "one permutation",
    "permutation": "a new permutation each epoch",
    "blocks": "blocks (ours)",
}


def measure(order: str, setting: Setting) -> Any:
    """Suboptimality at the ends of epochs, a line for each seed; every point is a fit of its own, of T steps."""
    data = load("astro-ph", setting.pick(4000, None))
    best = linear_optimum(data)
    found = []
    for seed in SEEDS[: setting.pick(3, 9)]:
        line = []
        for epochs in _epochs(setting):
            solver = Pegasos(T=epochs * data.train.m, sampling=order)
            model = PegasosClassifier(lam=data.lam, bias="none", solver=solver, random_state=seed)
            line.append(model.fit(data.train.X, data.train.y).objective_ - best.objective)
        found.append(line)
    return found


def _epochs(setting: Setting) -> list[int]:
    return setting.pick([1, 2, 4, 8, 16], [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])


def run(setting: Setting) -> Result:
    result = Result(seeds=SEEDS[: setting.pick(3, 9)], data=[load("astro-ph", setting.pick(4000, None)).describe()])
    found = {order: np.array(setting.part(order, lambda o=order: measure(o, setting), 0.25)) for order in ORDERS}
    epochs = _epochs(setting)
    curves = [
        Curve(name, epochs, *(f(found[order], axis=0).tolist() for f in (np.median, np.min, np.max)))
        for order, name in ORDERS.items()
    ]
    result.figures.append(Figure("Fig. 8", Axis("epochs", log=True), Axis("f(w) - f(w*)", log=True), curves))
    last = {order: np.median(lines, axis=0)[-1] for order, lines in found.items()}
    rows = [[ORDERS[order], f"{last[order]:.3g}", f"{last['iid'] / last[order]:.2f}"] for order in ORDERS]
    result.tables.append(
        Table(f"After {epochs[-1]} epochs", ["order", "suboptimality", "times better than i.i.d."], rows)
    )
    result.findings.append(
        Finding(
            "Sampling without replacement outperforms i.i.d. sampling significantly (7.5).",
            bool(found["permutation"][:, -1].max() < found["iid"][:, -1].min()),
            f"after {epochs[-1]} epochs a permutation is {last['iid'] / last['permutation']:.3g} times better; its "
            "worst seed is " + ("" if found["permutation"][:, -1].max() < found["iid"][:, -1].min() else "not ")
            + "better than the best i.i.d. one",
        )
    )  # fmt: skip
    result.findings.append(
        Finding(
            "A new permutation every epoch is slightly better than the same one again (7.5).",
            bool(last["permutation"] < last["fixed"]),
            f"suboptimality {last['permutation']:.3g} against {last['fixed']:.3g}",
        )
    )
    result.findings.append(
        Finding(
            "Ours: blocks of neighbouring rows, shuffled, are as good as a permutation.",
            bool(last["blocks"] < 1.25 * last["permutation"]),
            f"suboptimality {last['blocks']:.3g} against {last['permutation']:.3g}",
        )
    )
    return result


EXPERIMENT = Experiment("fig8", "The order of the rows", "journal paper, section 7.5, figure 8", run, (3, 60))

if __name__ == "__main__":
    main(EXPERIMENT)
