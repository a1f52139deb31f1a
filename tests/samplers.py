"""The slow and plain twin of the random streams and samplers, in Python integers: which rows a step looks at."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# ---------------------------------------------------------------------------------------------------------------------
# Random streams: SplitMix64 (Steele, Lea & Flood 2014) read by counter.

MASK = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix64(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Stream:
    """Number n of the stream is at(n), whatever was read before."""

    def __init__(self, seed: int) -> None:
        self.key = mix64((seed + GAMMA) & MASK)

    def at(self, n: int) -> int:
        return mix64((self.key + (n + 1) * GAMMA) & MASK)

    def below(self, n: int, bound: int) -> int:
        return self.at(n) * bound >> 64

    def uniform(self, n: int) -> float:
        return (self.at(n) >> 11) / 2**53

    def split(self, n: int) -> Stream:
        return Stream(self.at(n))


# ---------------------------------------------------------------------------------------------------------------------
# Samplers: which rows are number first, first + 1, ... of the stream of picks.


def shuffled(items: list[int], draws: Stream) -> list[int]:
    """Fisher-Yates from the end."""
    items = list(items)
    for i in range(len(items), 1, -1):
        j = draws.below(i, i)
        items[i - 1], items[j] = items[j], items[i - 1]
    return items


def epoch_order(seed: int, epoch: int, m: int, bucket: int, window: int) -> list[int]:
    """Buckets of consecutive places in random order, and in random order the places of so many buckets at a time as
    make up a window. The last bucket may be short."""
    buckets = [list(range(start, min(start + bucket, m))) for start in range(0, m, bucket)]
    inside = Stream(seed).split(2 * epoch + 1)
    order = shuffled(list(range(len(buckets))), Stream(seed).split(2 * epoch))
    windows = [order[first : first + window // bucket] for first in range(0, len(order), window // bucket)]
    return [place for w in windows for place in shuffled([i for b in w for i in buckets[b]], inside.split(w[0]))]


def alias_table(weights: Array) -> tuple[list[int], list[int]]:
    """Walker's table as Vose (1991) builds it: place i stands for itself with chance[i] / 2^40, else for other[i]."""
    total = 0.0
    for weight in weights:
        total += float(weight)
    mean = total / len(weights)
    one = 2**40
    chance, other = [math.floor(float(weight) / mean * one + 0.5) for weight in weights], list(range(len(weights)))
    small = [i for i, c in enumerate(chance) if c < one]
    large = [i for i, c in enumerate(chance) if c >= one]
    while small and large:
        poor, rich = small.pop(), large[-1]
        other[poor] = rich
        chance[rich] -= one - chance[poor]
        if chance[rich] < one:
            small.append(large.pop())
    for i in small:
        other[i] = int(np.argmax(weights))
    return chance, other


def subset(seed: int, batch: int, m: int, k: int) -> list[int]:
    """k distinct places, all sets of them alike: Floyd's algorithm (Bentley & Floyd 1987), then a shuffle."""
    draws, chosen = Stream(seed).split(batch), []
    for j in range(m - k, m):
        place = draws.below(j, j + 1)
        chosen.append(j if place in chosen else place)
    for i in range(k, 1, -1):
        j = draws.below(m + i, i)
        chosen[i - 1], chosen[j] = chosen[j], chosen[i - 1]
    return chosen


def bucket_size(sampling: str, m: int) -> int:
    few, most = {"blocks": (1024, 32), "runs": (256, 1024)}.get(sampling, (1, 1))
    return min(max(m // few, 1), most)


def window_size(sampling: str, bucket: int) -> int:
    """Rows of whole buckets that are shuffled together; buckets of a row each are in random order already."""
    rows = {"blocks": 128, "runs": 4096}.get(sampling, 1)
    return 1 if bucket == 1 else max(rows // bucket, 1) * bucket


def picks_reference(
    sampling: str, seed: int, m: int, first: int, count: int, s: Array | None = None, k: int = 1
) -> NDArray[np.int64]:
    """`count` row numbers from number `first` on. With weights s, rows of weight zero do not exist; k is of subsets."""
    rows = np.arange(m) if s is None else np.flatnonzero(s)
    m = len(rows)
    numbers = range(first, first + count)
    if sampling == "subsets":
        batches = {batch: subset(seed, batch, m, k) for batch in range(first // k, (first + count - 1) // k + 1)}
        return rows[[batches[n // k][n % k] for n in numbers]]
    if sampling == "fixed":
        order = epoch_order(seed, 0, m, 1, 1)
        return rows[[order[n % m] for n in numbers]]
    if sampling != "iid":
        bucket = bucket_size(sampling, m)
        epochs = range(first // m, (first + count - 1) // m + 1)
        orders = {epoch: epoch_order(seed, epoch, m, bucket, window_size(sampling, bucket)) for epoch in epochs}
        return rows[[orders[n // m][n % m] for n in numbers]]
    draws = Stream(seed)
    if s is None:
        return rows[[draws.below(n, m) for n in numbers]]
    chance, other = alias_table(s[rows])
    places = [draws.below(2 * n, m) for n in numbers]
    return rows[
        [i if draws.at(2 * n + 1) >> 24 < chance[i] else other[i] for i, n in zip(places, numbers, strict=True)]
    ]
