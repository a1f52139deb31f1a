"""Peers that are measured once: liblinear-official, and Vowpal Wabbit through its Python package.

Both read data in a form of their own. Making it (LIBLINEAR's linked nodes, Vowpal Wabbit's cache file) is not timed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from contest import Finding, compare, interleave, print_skipped
from dual import ACCURACY, EXACT
from inputs import LAMBDAS, Data
from peers import OURS, TOLS, Choice, Contestant, Setting

HOW = ("", "--sgd", "--sgd -l 1", "--sgd -l 2", "--sgd -l 5", "--sgd -l 30")  # ways to step; -l 10 is --sgd's default
PASSES = (1, 5)


def once(data: Data, rounds: int) -> Iterator[Finding]:
    """Ours with one thread, as they have; three rounds at most."""
    if data.dense:
        return
    rounds = min(3, rounds)
    yield from official(data, rounds)
    yield from vowpal(data, rounds)


def official(data: Data, rounds: int) -> Iterator[Finding]:
    """To a certified 1e-4, against LIBLINEAR's own Python package to 1e-4 of the same minimum."""
    peer = Contestant("liblinear-official", _official, (tuple({"e": tol} for tol in TOLS),), "liblinear")
    if why := peer.missing():
        print_skipped(peer.name, why)
        return
    from liblinear.liblinear import problem

    nodes = problem(data.y.astype(np.float64), data.X)
    for lam in LAMBDAS:
        goal = data.bracket(lam)[1] + ACCURACY
        found = _quickest(peer, data, lam, goal, nodes)
        calls = {
            "ours": OURS.call(data, lam, EXACT),
            "liblinear": peer.call(data, lam, found.setting | {"nodes": nodes}),
        }
        said = f"liblinear-official, {found}; ours: 1 thread"
        samples = interleave(calls, rounds)
        yield compare(f"fit to 1e-4, lam {lam:g}", data.name, said, samples, None, "faster", lam=lam)


def _quickest(peer: Contestant, data: Data, lam: float, goal: float, nodes: Any) -> Choice:
    families = tuple(tuple(setting | {"nodes": nodes} for setting in family) for family in peer.families)
    found = Contestant(peer.name, peer.fit, families, peer.package).quickest(data, lam, goal)
    setting = {key: value for key, value in found.setting.items() if key != "nodes"}
    return Choice(setting, found.seconds, found.objective, found.reached)


def _official(data: Data, lam: float, threads: int, seed: int, e: float, nodes: Any) -> Any:
    from liblinear.liblinearutil import train

    model = train(nodes, f"-s 3 -c {1 / (lam * len(data.y))!r} -e {e} -B -1 -q")
    w = np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()
    return w * model.label[0]  # positive scores mean the label seen first


def vowpal(data: Data, rounds: int) -> Iterator[Finding]:
    """To the objective that Vowpal Wabbit has after 1 and 5 passes with the best of some ways to step."""
    with tempfile.TemporaryDirectory() as folder:
        peer = Contestant("Vowpal Wabbit", _Vowpal(Path(folder)), package="vowpalwabbit")
        if why := peer.missing():
            print_skipped(peer.name, why)
            return
        peer.fit.write(data)
        for lam in LAMBDAS:
            for passes in PASSES:
                tried = [(peer.measure(data, lam, s)[1], s["how"], s) for s in _ways(passes)]
                goal, how, setting = min(tried, key=lambda one: one[0])
                ours = OURS.quickest(data, lam, goal)
                calls = {"ours": OURS.call(data, lam, ours.setting), "vw": peer.call(data, lam, setting)}
                samples = interleave(calls, rounds)
                notes = {"lam": lam, "passes": passes, "goal": goal, "over_best": goal - data.bracket(lam)[1]}
                said = f"Vowpal Wabbit, {passes} passes {how}; ours: 1 thread, {ours}"
                name = f"fit to VW's pass {passes}, lam {lam:g}"
                yield compare(name, data.name, said, samples, None, "faster", **notes)


def _ways(passes: int) -> Iterator[Setting]:
    return ({"passes": passes, "how": how} for how in HOW)


class _Vowpal:
    """A fit function that owns its data file; the first run makes the cache that later ones read."""

    def __init__(self, folder: Path) -> None:
        self.text, self.cache, self.model = (str(folder / f"rows.{kind}") for kind in ("vw", "cache", "model"))

    def write(self, data: Data) -> None:
        X = data.X
        with open(self.text, "w", encoding="ascii") as file:
            for y, begin, end in zip(data.y.tolist(), X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True):
                pairs = zip(X.indices[begin:end].tolist(), X.data[begin:end].tolist(), strict=True)
                file.write(f"{y} | {' '.join(f'{j}:{x:.7g}' for j, x in pairs)}\n")
        self(data, LAMBDAS[0], 1, 0, 1, "")

    def __call__(self, data: Data, lam: float, threads: int, seed: int, passes: int, how: str) -> Any:
        from vowpalwabbit import Workspace

        files = f"-d {self.text} --cache_file {self.cache} --readable_model {self.model}"
        # Without predict_only_model the weights would lack the factor by which l2 has shrunk them.
        flags = "--loss_function hinge --noconstant --holdout_off --predict_only_model --quiet"
        Workspace(f"{files} --passes {passes} --l2 {lam} -b {self._bits(data)} {flags} {how}").finish()
        w = np.zeros(data.X.shape[1])
        with open(self.model, encoding="ascii") as file:
            for line in file:
                place, _, value = line.partition(":")
                if place.isdigit():
                    w[int(place)] = float(value)
        return w

    @staticmethod
    def _bits(data: Data) -> int:
        """Enough that no two words share a weight."""
        return max(18, int(data.X.shape[1]).bit_length())
