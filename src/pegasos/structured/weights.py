"""The weights of a chain: which there are, and where they stand in the vector that solvers see."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _core
from .labels import Allowed
from .run import Floats
from .transition_features import Columns

Seen = tuple[NDArray[np.int64], NDArray[np.uint16]]


@dataclass
class Shape:
    """Features x labels, or the pairs that were seen, transitions, and weights of the first and the last label; chosen
    features have transitions of their own.
    """

    n_features: int
    n_labels: int
    seen: Seen | None
    start: bool
    end: bool
    allowed: Allowed | None
    chosen: Columns | None = None

    @cached_property
    def layout(self) -> _core.TagLayout:
        steps, first, last = (None, None, None) if self.allowed is None else self.allowed
        return _core.TagLayout(
            self.n_features,
            self.n_labels,
            seen=self.seen,
            start=self.start,
            end=self.end,
            steps=None if steps is None else steps.ravel(),
            first=first,
            last=last,
            transition_features=self.chosen,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "layout"}

    def emission(self, w: Floats) -> Any:
        """(n_labels, n_features), sparse where only seen pairs have weights."""
        layout, K = self.layout, self.n_labels
        if self.seen is None:
            return w[: layout.transitions].reshape(self.n_features, layout.width)[:, :K].T.copy()
        rows, label, live = layout.places()
        kept = np.flatnonzero(live[: layout.transitions])
        feature = np.repeat(np.arange(self.n_features, dtype=np.int32), np.diff(rows))
        return sp.csr_matrix((w[kept], (label[kept].astype(np.int32), feature[kept])), shape=(K, self.n_features))

    def transitions(self, w: Floats) -> Floats:
        """From label x to label; forbidden steps are minus infinity."""
        steps: Floats = self._steps(w[self.layout.transitions : self.layout.start])[0]
        if self.allowed is not None:
            steps[self.allowed[0] == 0] = -np.inf
        return steps

    def feature_transitions(self, w: Floats) -> Floats:
        """Chosen features x from x to; forbidden steps are minus infinity."""
        steps = self._steps(w[self.layout.blocks :])
        if self.allowed is not None:
            steps[:, self.allowed[0] == 0] = -np.inf
        return steps

    def _steps(self, part: Floats) -> Floats:
        """One from x to after another, without the gaps."""
        K = self.n_labels
        steps: Floats = part.reshape(-1, K, self.layout.width)[:, :, :K].copy()
        return steps

    def first(self, w: Floats) -> Floats:
        """Of the first label of a sequence."""
        return self._ends(w, self.layout.start, None if self.allowed is None else self.allowed[1])

    def last(self, w: Floats) -> Floats:
        """Of the last label of a sequence."""
        return self._ends(w, self.layout.end, None if self.allowed is None else self.allowed[2])

    def _ends(self, w: Floats, place: int, mask: NDArray[np.uint8] | None) -> Floats:
        ends = w[place : place + self.n_labels].copy()
        if mask is not None:
            ends[mask == 0] = -np.inf
        return ends

    def weights(self, w: Floats) -> dict[str, Floats]:
        """All weights by their meaning, without the gaps of the vector; those of seen pairs one after another."""
        layout, K = self.layout, self.n_labels
        emission = w[: layout.transitions]
        if self.seen is None:
            emission = emission.reshape(self.n_features, layout.width)[:, :K]
        else:
            emission = emission[layout.places()[2][: layout.transitions] != 0]
        found = {
            "emission": emission.copy(),
            "transitions": self._steps(w[layout.transitions : layout.start])[0],
            "first": w[layout.start : layout.start + K].copy(),
            "last": w[layout.end : layout.end + K].copy(),
        }
        return found if self.chosen is None else found | {"feature_transitions": self._steps(w[layout.blocks :])}

    def vector(
        self,
        emission: Floats,
        transitions: Floats,
        first: Floats,
        last: Floats,
        feature_transitions: Floats | None = None,
    ) -> Floats:
        """The vector of these weights, the inverse of `weights`."""
        layout, K = self.layout, self.n_labels
        w = np.zeros(layout.size)
        if self.seen is None:
            w[: layout.transitions].reshape(self.n_features, layout.width)[:, :K] = emission
        else:
            w[np.flatnonzero(layout.places()[2][: layout.transitions])] = emission
        w[layout.transitions : layout.start].reshape(K, layout.width)[:, :K] = transitions
        w[layout.start : layout.start + K] = first
        w[layout.end : layout.end + K] = last
        if feature_transitions is not None:
            w[layout.blocks :].reshape(-1, K, layout.width)[:, :, :K] = feature_transitions
        return w

    def same(self, other: Shape) -> bool:
        """Whether every weight has the same meaning at the same place."""
        if self.layout.size != other.layout.size or (self.chosen is None) != (other.chosen is None):
            return False
        ours, theirs = self.layout.places(), other.layout.places()
        if self.chosen is not None:
            ours, theirs = (*ours, self.chosen), (*theirs, other.chosen)
        return all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))

    def allows_the_same(self, other: Shape) -> bool:
        """Whether the same labellings are possible."""
        if self.allowed is None or other.allowed is None:
            return self.allowed is other.allowed
        return all(np.array_equal(a, b) for a, b in zip(self.allowed, other.allowed, strict=True))

    def moved(self, w: Floats, to: Shape) -> Floats:
        """The same weights in another shape over the same features and labels; what that lacks is dropped."""
        K = self.n_labels
        out = np.zeros(to.layout.size)
        emission = self.emission(w)
        dense = emission.toarray().T if sp.issparse(emission) else emission.T
        rows, label, live = to.layout.places()
        feature = np.repeat(np.arange(to.n_features), np.diff(rows))
        kept = np.flatnonzero(live[: to.layout.transitions])
        out[kept] = dense[feature[kept], label[kept]]
        for ours, theirs, n in (
            (self.layout.transitions, to.layout.transitions, K * self.layout.width),
            (self.layout.start, to.layout.start, K),
            (self.layout.end, to.layout.end, K),
        ):
            out[theirs : theirs + n] = w[ours : ours + n]
        if self.chosen is not None and to.chosen is not None:
            _, mine, yours = np.intersect1d(self.chosen, to.chosen, return_indices=True)
            n = K * self.layout.width
            out[to.layout.blocks :].reshape(-1, n)[yours] = w[self.layout.blocks :].reshape(-1, n)[mine]
        out[live == 0] = 0.0
        return out
