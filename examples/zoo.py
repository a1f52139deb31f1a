"""Where other linear SVMs say "failed to converge": a zoo of bad data, each certified, with the epochs it took.

Run it to see the table, with times; `--tol 1e-3` for another accuracy. `--markdown` prints the table of docs/zoo.md,
`--write` writes it there (`make examples` does so, too).
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pegasos import PegasosClassifier

LAMBDAS = (1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2)
TOL = 1e-10  # of the page
PAGE = Path(__file__).parents[1] / "docs" / "zoo.md"
REGION = re.compile(r"(<!-- figures: zoo -->\n).*?(<!-- end of figures -->)", re.DOTALL)


class Animal(NamedTuple):
    """A problem: rows, labels, weights or None."""

    X: Any
    y: Any
    s: Any = None


def noisy(m: int = 200, d: int = 10, seed: int = 0, flip: float = 0.2) -> Animal:
    """Gaussian rows, a linear rule, some labels turned over: no line separates them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.random(m) < flip] *= -1
    y[:2] = 1, -1
    return Animal(X, y)


def changed(change: Callable[[Any, np.random.Generator], Any], **how: Any) -> Callable[[], Animal]:
    """The noisy problem with its rows changed."""

    def make() -> Animal:
        X, y, _ = noisy(**how)
        return Animal(change(X, np.random.default_rng(1)), y)

    return make


def scaled(X: Any) -> Any:
    """Columns from 1e-3 to 1e6."""
    return X * np.logspace(-3, 6, X.shape[1])


def beside(X: Any, distance: float, rng: np.random.Generator) -> Any:
    """Every column and one nearly the same."""
    return np.hstack([X, X + distance * rng.standard_normal(X.shape)])


def one_hot(X: Any, rng: np.random.Generator) -> Any:
    """Three factors, each with an indicator for all of its levels: columns of each add up to one."""
    return np.hstack([np.eye(n)[rng.integers(0, n, len(X))] for n in (2, 5, 9)])


def outlier(X: Any) -> Any:
    X = X.copy()
    X[7] *= 1e6
    return X


def zero_rows(X: Any) -> Any:
    X = X.copy()
    X[::3] = 0
    return X


def rare() -> Animal:
    """Two rows of 2,000 are of the other class."""
    X, _, _ = noisy(2000, 6)
    y = np.full(2000, -1)
    y[[5, 1234]] = 1
    return Animal(X, y)


def weighted() -> Animal:
    X, y, _ = noisy()
    s = np.random.default_rng(2).exponential(size=len(y)) * 10 ** np.random.default_rng(3).uniform(-3, 3, len(y))
    s[2::3] = 0
    return Animal(X, y, s)


def three_classes() -> Animal:
    X, _, _ = noisy()
    rng = np.random.default_rng(4)
    return Animal(scaled(X), np.argmax(X @ rng.standard_normal((10, 3)) + rng.standard_normal((200, 3)), axis=1))


ZOO: dict[str, Callable[[], Animal]] = {
    "noisy": noisy,
    "30 rows, 10 features": lambda: noisy(30, 10),
    "labels at random": lambda: noisy(flip=0.5),
    "separable": lambda: noisy(flip=0.0),
    "columns from 1e-3 to 1e6": changed(lambda X, rng: scaled(X)),
    "every column twice": changed(lambda X, rng: np.hstack([X, X])),
    "nearly collinear, 1e-6": changed(lambda X, rng: beside(X, 1e-6, rng)),
    "nearly collinear, 1e-9": changed(lambda X, rng: beside(X, 1e-9, rng)),
    "unscaled and nearly collinear": changed(lambda X, rng: scaled(beside(X, 1e-6, rng))),
    "unscaled, twice": changed(lambda X, rng: scaled(np.hstack([X, X]))),
    "columns far from zero": changed(lambda X, rng: X + 1e3),
    "columns very far from zero": changed(lambda X, rng: X + 1e5),
    "log-normal columns": changed(lambda X, rng: np.exp(3 * X)),
    "indicator columns": changed(one_hot),
    "a constant feature": changed(lambda X, rng: np.column_stack([X, np.full(len(X), 7.0)])),
    "one feature": lambda: noisy(200, 1),
    "zero rows": changed(lambda X, rng: zero_rows(X)),
    "all rows zero": changed(lambda X, rng: 0 * X),
    "one row far out": changed(lambda X, rng: outlier(X)),
    "99.9 % one class": rare,
    "identical rows, both labels": lambda: Animal(np.ones((50, 3)), np.where(np.arange(50) % 3 == 0, 1, -1)),
    "two rows": lambda: Animal(np.array([[1.0, 2.0], [-0.5, 1.0]]), np.array([1, -1])),
    "two identical rows": lambda: Animal(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1, -1])),
    "five rows": lambda: noisy(5, 2),
    "more features than rows": lambda: noisy(40, 120),
    "as many features as rows": lambda: noisy(40, 40),
    "more features than rows, unscaled": changed(lambda X, rng: scaled(X), m=60, d=400),
    "weights from 0 to 1e3": weighted,
    "three classes, unscaled": three_classes,
    "sparse": changed(lambda X, rng: sp.csr_array(X * (rng.random(X.shape) < 0.1)), m=500, d=60),
}


class Row(NamedTuple):
    epochs: float
    gap: float
    seconds: float
    converged: bool


def visit(name: str, lam: float, **params: Any) -> Row:
    """Fit one animal and say what it took; of several classes, the worst."""
    X, y, s = ZOO[name]()
    model = PegasosClassifier(lam=lam, random_state=0, **params)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=s)
    seconds = time.perf_counter() - begin
    return Row(float(np.max(model.n_iter_)), float(np.max(model.gap_)), seconds, model.converged_)


def visit_all(tol: float) -> dict[str, list[Row]]:
    """What every animal took, one entry a lam."""
    return {name: [visit(name, lam, tol=tol) for lam in LAMBDAS] for name in ZOO}


def cell(row: Row) -> str:
    return f"{row.epochs:.0f}, {row.gap:.0e}{'' if row.converged else ' not certified'}"


def table(rows: dict[str, list[Row]]) -> str:
    """As Markdown, without times, which depend on the machine."""
    lines = ["| data | " + " | ".join(f"lam = {lam:g}" for lam in LAMBDAS) + " |", "|---" * (len(LAMBDAS) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(map(cell, row))} |" for name, row in rows.items()]
    return "\n".join(lines)


def main() -> None:
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--tol", type=float, default=TOL)
    parse.add_argument("--markdown", action="store_true")
    parse.add_argument("--write", action="store_true")
    options = parse.parse_args()
    if options.write:
        found = table(visit_all(TOL))
        page = REGION.sub(lambda m: f"{m[1]}{found}\n{m[2]}", PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(page, encoding="utf-8")
    elif options.markdown:
        print(table(visit_all(options.tol)))
    else:
        for name in ZOO:
            rows = [visit(name, lam, tol=options.tol) for lam in LAMBDAS]
            timed = (f"{cell(row)}, {1000 * row.seconds:.0f} ms" for row in rows)
            print(f"{name:36}" + "".join(f"{each:22} " for each in timed))


if __name__ == "__main__":
    main()
