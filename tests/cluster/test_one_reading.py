"""Rows, labels and weights of a partition are of one reading: a reader that answers otherwise each time shows it."""

from collections import Counter
from functools import partial

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from here_models import HereClassifier

from pegasos.dask import DaskPegasosClassifier

READ: Counter[str] = Counter()  # times, of workers in this process, too


def read(call, number):
    """Rows that differ each time. Labels of other rows would be right for half of them."""
    READ[call] += 1
    y = np.random.default_rng().integers(0, 2, 50)
    return (20.0 * y - 10)[:, None] + np.random.default_rng().normal(size=(50, 1)), y


def frame(call, number):
    X, y = read(call, number)
    return pd.DataFrame({"a": X[:, 0], "y": y})


def delayed_parts(call, n):
    parts = [dask.delayed(read, nout=2)(call, i) for i in range(n)]
    return [part[0] for part in parts], [part[1] for part in parts]


def arrays(call, n):
    X, y = delayed_parts(call, n)
    return (
        da.concatenate([da.from_delayed(each, (50, 1), float) for each in X]),
        da.concatenate([da.from_delayed(each, (50,), int) for each in y]),
    )


def frames(call, n):
    whole = dd.from_map(partial(frame, call), range(n), meta={"a": float, "y": int})
    return whole[["a"]], whole["y"]


@pytest.mark.parametrize("kind", [delayed_parts, arrays, frames])
def test_each_partition_is_read_once(kind):
    call = f"once {kind.__name__}"
    model = HereClassifier(lam=1e-3).fit(*kind(call, 6))
    assert READ[call] == 6
    assert model.objective_ < 0.1
    assert model.score(*kind(call + ", score", 6)) == 1
    assert READ[call + ", score"] == 6


def test_hundreds_of_partitions_are_read_once_on_a_cluster(threads):
    """Dask forgets what nobody asks for any more: labels that are asked for later may be of another reading."""
    for call in ("fit", "stream"):
        X, y = delayed_parts(call, 300)
        s = [each + 1.0 for each in y]
        model = DaskPegasosClassifier(lam=1e-3, max_rounds=5, client=threads)
        model = model.fit(X, y, s) if call == "fit" else model.partial_fit(X, y, [0, 1], s)
        assert READ[call] == 300
        assert model.coef_[0, 0] > 0
        if call == "fit":
            assert model.objective_ < 0.1
