"""The orders that read memory, or a disk, in pieces take no more epochs than a permutation of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from pegasos import SDCA, PegasosClassifier, datasets


@pytest.fixture(scope="module", params=[(3_000, 1e-4), (20_000, 1e-5)], ids=["3000", "20000"])
def texts(request: pytest.FixtureRequest):
    m, lam = request.param
    return *datasets.make_text(m, random_state=1), lam


def epochs(X, y, lam: float, sampling: str) -> float:
    solver = SDCA(sampling=sampling, replicas=1)
    fits = [PegasosClassifier(lam=lam, tol=1e-3, solver=solver, random_state=seed).fit(X, y) for seed in range(3)]
    assert all(fit.converged_ for fit in fits)
    return float(np.mean([fit.n_iter_ for fit in fits]))


@pytest.mark.parametrize("sampling", ["blocks", "runs"])
def test_pieces_cost_no_epochs(texts, sampling: str) -> None:
    """Mixed inside each piece alone, these took 1.1 to 6 times as many."""
    assert epochs(*texts, sampling) <= 1.25 * epochs(*texts, "permutation")


@pytest.mark.parametrize("sampling", ["blocks", "runs"])
def test_pieces_cost_no_epochs_where_rows_are_sorted_by_label(texts, sampling: str) -> None:
    """Blocks only: runs are for rows that were shuffled once, and must end all the same."""
    X, y, lam = texts
    order = np.argsort(y, kind="stable")
    most = 1.5 if sampling == "blocks" else 20
    assert epochs(X[order], y[order], lam, sampling) <= most * epochs(X, y, lam, "permutation")
