"""What section 7 takes for granted: the last w is better than the average, and a bias makes no difference."""

from __future__ import annotations

from typing import Any

import numpy as np
from data import load
from experiment import Axis, Curve, Experiment, Figure, Finding, Result, Setting, Table, main
from measure import linear_optimum

from pegasos import KernelPegasosClassifier, Pegasos, PegasosClassifier

SEEDS = [0, 1, 2]
LINEAR = ("astro-ph", "ccat", "cov1")
KERNEL = ("reuters", "adult", "usps")
OUTPUTS = {"last": "the last", "average": "the average", "tail": "the average of the last half (ours)"}
MOST = {"ccat": 20_000}


def outputs(key: str, setting: Setting) -> dict[str, Any]:
    """Suboptimality of each output after some epochs, medians over seeds."""
    data = load(key, setting.pick(MOST.get(key, 4000), None))
    best = linear_optimum(data, tol=1e-6)
    found: dict[str, list[float]] = {}
    for output in OUTPUTS:
        found[output] = []
        for epochs in _epochs(setting):
            fits = [
                PegasosClassifier(
                    lam=data.lam,
                    bias="none",
                    solver=Pegasos(T=int(epochs * data.train.m), sampling="iid", output=output),
                    random_state=seed,
                ).fit(data.train.X, data.train.y)
                for seed in SEEDS
            ]
            found[output].append(float(np.median([fit.objective_ for fit in fits])) - best.objective)
    return {"data": data.describe(), "excess": found}


def _epochs(setting: Setting) -> list[float]:
    return list(setting.pick([0.5, 2.0], [0.1, 0.3, 1.0, 3.0]))


def errors(key: str, setting: Setting) -> dict[str, Any]:
    """Test error at the optimum, without a bias and with a free one."""
    data = load(key, setting.pick(MOST.get(key, 1500), None))
    how: dict[str, Any] = {"lam": data.lam, "tol": 1e-3, "random_state": 0}
    found = {}
    for bias in ("none", "free"):
        model = (
            KernelPegasosClassifier(kernel="rbf", gamma=data.gamma, bias=bias, **how)
            if data.gamma
            else PegasosClassifier(bias=bias, n_jobs=1, **how)
        )
        model.fit(data.train.X, data.train.y)
        found[bias] = float(np.mean(model.predict(data.X_test) != data.y_test))
    return {"data": data.describe(), "error": found}


def run(setting: Setting) -> Result:
    result = Result(seeds=SEEDS)
    epochs, last = _epochs(setting), {}
    for key in LINEAR:
        found = setting.part(f"outputs_{key}", lambda key=key: outputs(key, setting), 0.15)
        name, excess = found["data"]["paper"], found["excess"]
        result.data.append(found["data"])
        result.figures.append(
            Figure(f"Which w, {name}", Axis("epochs", log=True), Axis("f(w) - f(w*)", log=True),
                   [Curve(said, epochs, excess[output]) for output, said in OUTPUTS.items()],
                   f"{found['data']['here']}.")
        )  # fmt: skip
        last[name] = excess["average"][-1] / excess["last"][-1]
    rows, changes = [], {}
    for key in (*LINEAR, *KERNEL):
        found = setting.part(f"errors_{key}", lambda key=key: errors(key, setting), 0.55 / 6)
        name, error = found["data"]["paper"], found["error"]
        if key in KERNEL:
            result.data.append(found["data"])
        changes[name] = error["free"] - error["none"]
        rows.append([name, f"{error['none']:.2%}", f"{error['free']:.2%}"])
    note = "To a certified 1e-3."
    result.tables.append(Table("Test errors", ["data set", "without a bias", "with a free bias"], rows, note))
    result.findings = [
        Finding(
            "The last w performs better in practice than the average (section 7).",
            all(ratio > 1 for ratio in last.values()),
            f"after {epochs[-1]:g} epochs the average is so many times as far from the minimum: "
            + ", ".join(f"{name} {ratio:.3g}" for name, ratio in last.items()),
            ("Which w",),
        ),
        Finding(
            "An unregularised bias does not change the predictive performance significantly (section 7).",
            all(abs(change) < 0.005 for change in changes.values()),
            "test error with a free bias minus that without: "
            + ", ".join(f"{name} {100 * change:+.2f}" for name, change in changes.items())
            + " points",
            (),
        ),
    ]
    return result


EXPERIMENT = Experiment("choices", "The last w, and no bias", "journal paper, section 7, before 7.1", run, (15, 150))

if __name__ == "__main__":
    main(EXPERIMENT)
