"""Small chains, and all their labellings one by one: what the dynamic programmes must agree with."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from pegasos import PegasosSequenceTagger, _core

Array = NDArray[np.float64]


def watch() -> _core.Watch:
    return _core.Watch(started=0.0, give_up=np.inf, polls_signals=False, stop=np.zeros(1, np.uint8), report=None)


@dataclass
class Chain:
    """A few sequences, written out, and a model of them."""

    X: Array  # tokens x features
    lengths: list[int]
    y: NDArray[np.uint16]
    K: int
    seed: int
    start: bool = True
    end: bool = True
    seen: bool = False
    steps: NDArray[np.uint8] | None = None
    costs: Array | None = None
    scale: float = 1.0
    lam: float = 0.1
    chosen: tuple[int, ...] = ()  # features with weights for (feature, from, to)
    sample_weight: Array | None = None  # of sequences
    weights: Array = field(init=False)

    def __post_init__(self) -> None:
        rows, columns = np.nonzero(self.X)
        self.begins = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        indptr = np.searchsorted(rows, np.arange(len(self.X) + 1)).astype(np.int64)
        values = np.ascontiguousarray(self.X[rows, columns], dtype=np.float64)
        self.chains = _core.Chains(indptr, columns.astype(np.int32), values, self.begins, self.X.shape[1])
        pairs = None
        if self.seen:
            had = np.zeros((self.X.shape[1], self.K), bool)
            np.logical_or.at(had, columns, np.eye(self.K, dtype=bool)[self.y[rows]])
            pairs = (
                np.concatenate([[0], np.cumsum(had.sum(1))]).astype(np.int64),
                np.nonzero(had)[1].astype(np.uint16),
            )
        mask = None if self.steps is None else self.steps.ravel()
        self.layout = _core.TagLayout(
            self.X.shape[1], self.K, seen=pairs, start=self.start, end=self.end, steps=mask, first=None, last=None,
            transition_features=np.array(self.chosen, np.int32) if self.chosen else None,
        )  # fmt: skip
        costs = self.costs if self.costs is not None else 1.0 - np.eye(self.K)
        self.costs = costs
        self.plain = _core.Tagging(self.chains, self.layout, labels=self.y, lam=self.lam)
        self.augmented = _core.Tagging(self.chains, self.layout, labels=self.y, costs=costs, lam=self.lam)
        self.rows, self.label, self.live = self.layout.places()
        rng = np.random.default_rng(self.seed)
        self.weights = self.scale * rng.normal(size=self.layout.size) * self.live

    @property
    def m(self) -> int:
        return len(self.lengths)

    def parts(self, w: Array) -> tuple[Array, Array, Array, Array]:
        """Emission (features x labels), transition, start and end weights."""
        d, K, width, layout = self.X.shape[1], self.K, self.layout.width, self.layout
        emission = np.zeros((d, width))
        feature = np.repeat(np.arange(d), np.diff(self.rows))
        emission[feature, self.label] = w[: layout.transitions]
        steps = w[layout.transitions : layout.start].reshape(K, width)[:, :K].copy()
        if self.steps is not None:
            steps[self.steps == 0] = -np.inf
        return emission[:, :K], steps, w[layout.start :][:K], w[layout.end :][:K]

    def phi(self, i: int, y: tuple[int, ...] | NDArray[np.uint16]) -> Array:
        """The joint features, one a weight."""
        out = np.zeros(self.layout.size)
        begin, layout = self.begins[i], self.layout
        for t, k in enumerate(y):
            for f in np.flatnonzero(self.X[begin + t]):
                places = np.arange(self.rows[f], self.rows[f + 1])
                out[places[self.label[places] == k]] += self.X[begin + t, f]
            if t:
                step = y[t - 1] * layout.width + k
                out[layout.transitions + step] += 1
                for j, f in enumerate(self.chosen):
                    out[layout.blocks + j * self.K * layout.width + step] += self.X[begin + t, f]
        if len(y):
            out[layout.start + y[0]] += 1
            out[layout.end + y[-1]] += 1
        return out * self.live

    def share(self, i: int) -> float:
        """The weight of a sequence, over the mean of all."""
        return 1.0 if self.sample_weight is None else float(self.sample_weight[i] / self.sample_weight.mean())

    def truth(self, i: int) -> NDArray[np.uint16]:
        return self.y[self.begins[i] : self.begins[i + 1]]

    def labellings(self, i: int) -> list[tuple[int, ...]]:
        every = product(range(self.K), repeat=self.lengths[i])
        if self.steps is None:
            return list(every)
        return [y for y in every if all(self.steps[a, b] for a, b in pairwise(y))]

    def cost(self, i: int, y: tuple[int, ...]) -> float:
        assert self.costs is not None
        return float(sum(self.costs[a, b] for a, b in zip(self.truth(i), y, strict=True)))


@st.composite
def small_chains(
    draw: st.DrawFn, scales: tuple[float, ...] = (0.1, 1.0, 30.0), most_labels: int = 5, longest: int = 4
) -> Chain:
    """A few chains of a few tokens and labels, with masks that leave every sequence a labelling."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    K, d = draw(st.integers(1, most_labels)), draw(st.integers(1, 6))
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=5))
    tokens = sum(lengths)
    X = rng.normal(size=(tokens, d)) * (rng.uniform(size=(tokens, d)) < 0.6)
    if draw(st.booleans()):
        X = (X != 0).astype(float)
    steps = None
    if draw(st.booleans()):
        steps = (rng.uniform(size=(K, K)) < 0.6).astype(np.uint8)
        np.fill_diagonal(steps, 1)
    y = np.concatenate([np.full(n, rng.integers(K)) for n in lengths]).astype(np.uint16)  # staying is always allowed
    if steps is None:
        y = rng.integers(K, size=tokens).astype(np.uint16)
    costs = None
    if draw(st.booleans()):
        costs = rng.uniform(0, 3, size=(K, K))
        np.fill_diagonal(costs, 0)
    return Chain(
        X, lengths, y, K, seed, draw(st.booleans()), draw(st.booleans()), draw(st.booleans()), steps, costs,
        draw(st.sampled_from(scales)),
        chosen=tuple(sorted(draw(st.sets(st.integers(0, d - 1), max_size=2)))),
        sample_weight=rng.uniform(0.1, 5, size=len(lengths)) if draw(st.booleans()) else None,
    )  # fmt: skip


WORDS = [["the", "cat", "sat"], ["a", "dog"], ["the", "dog", "sat"], ["sat"], ["a", "cat"]]
TAGS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V"], ["V"], ["D", "N"]]
DICTS = [[{"w": word, "bias": 1} for word in sentence] for sentence in WORDS]
LENGTHS = [len(s) for s in WORDS]
FLAT = np.array([tag for tags in TAGS for tag in tags])


def tagger(**params: Any) -> PegasosSequenceTagger:
    return PegasosSequenceTagger(**({"lam": 0.05} | params))
