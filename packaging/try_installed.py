"""Try the package that is installed: fit, predict, save and load, linear and kernel. `make wheel` does so."""

from __future__ import annotations

import pickle
import sys
from importlib.metadata import version

import numpy as np

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosRegressor, datasets


def main() -> None:
    assert pegasos.__version__ == version("pegasos")
    X, y = datasets.make_text(3000, random_state=0)
    model = PegasosClassifier(lam=1e-3, random_state=0).fit(X[:2000], y[:2000])
    assert model.converged_
    assert model.score(X[2000:], y[2000:]) > 0.8
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X[2000:]), model.predict(X[2000:]))

    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 2))
    ring = np.where((points**2).sum(axis=1) > 1.4, "out", "in")
    kernel = KernelPegasosClassifier(lam=1e-3, random_state=0).fit(points, ring)
    assert kernel.converged_
    assert kernel.score(points, ring) > 0.95

    line = PegasosRegressor(lam=1e-4, epsilon=0.01, random_state=0).fit(points, points @ [1.0, -2.0] + 0.5)
    assert line.converged_
    assert line.score(points, points @ [1.0, -2.0] + 0.5) > 0.99
    print(f"pegasos {pegasos.__version__} works on Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
