"""Pegasos(T=..., certify=False): T steps and nothing else. No row is looked at that is not drawn."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from own_losses import CertifiedHinge
from problems import DATA, csr, make_problem, seed_of, some_weights
from samplers import picks_reference

from pegasos import KernelPegasosClassifier, Pegasos, PegasosClassifier, PegasosRegressor

M, D, LAM, T = 200, 5, 0.05, 40
X, Y = make_problem(M, D)
DRAWN = np.unique(picks_reference("iid", seed_of(1), M, 0, T))
OTHERS = np.setdiff1d(np.arange(M), DRAWN)


def model(bias="none", loss="hinge", **solver):
    how = {"T": T, "sampling": "iid", "certify": False, **solver}
    return PegasosClassifier(lam=LAM, bias=bias, loss=loss, solver=Pegasos(**how), random_state=1)


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("bias", ["none", "regularized"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"sampling": "blocks", "k": 3},
        {"sampling": "subsets", "k": 7, "projection": True},
        {"output": "average", "step": "norma"},
        {"output": "tail"},
        {"output": "random"},
        {"advance": "on_loss", "sampling": "permutation"},
    ],
    ids=str,
)
def test_the_weights_are_those_of_a_fit_with_a_certificate(how, bias, kind):
    given = DATA[kind](X)
    found, usual = model(bias, **how).fit(given, Y), model(bias, **how, certify=True).fit(given, Y)
    assert found.coef_.tobytes() == usual.coef_.tobytes()
    assert found.intercept_.tobytes() == usual.intercept_.tobytes()
    assert found.n_steps_ == usual.n_steps_


@pytest.mark.parametrize(
    "loss", ["log", "multiclass_hinge", "multinomial", CertifiedHinge()], ids=lambda loss: getattr(loss, "name", loss)
)
def test_other_losses_too(loss):
    labels = np.where(Y > 0, 1, np.arange(M) % 3 == 0) if isinstance(loss, str) and loss != "log" else Y
    found, usual = (model(loss=loss, certify=c).fit(X, labels) for c in (False, True))
    assert found.coef_.tobytes() == usual.coef_.tobytes()


def test_classes_against_the_rest_and_regression_too():
    classes = np.arange(M) % 3
    found, usual = (model(certify=c).fit(X, classes) for c in (False, True))
    assert found.coef_.tobytes() == usual.coef_.tobytes()
    assert np.isnan(found.gap_).all()
    for projection in (False, True):
        found, usual = (
            PegasosRegressor(solver=Pegasos(T=T, certify=c, projection=projection), random_state=1).fit(X, X @ range(D))
            for c in (False, True)
        )
        np.testing.assert_allclose(found.coef_, usual.coef_, rtol=1e-12)


def test_what_is_not_known_is_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model().set_params(verbose=1).fit(X, Y)
    assert np.isnan([found.objective_, found.dual_objective_, found.gap_]).all()
    assert found.converged_ is False
    assert all(len(column) == 0 for column in found.history_.values())
    assert found.n_steps_ == T
    assert found.n_iter_ == T / M
    assert 0 <= found.label_seconds_ < 1


def test_a_free_bias_is_the_running_one():
    found, stream = model("free").fit(X, Y), model("free", certify=True)
    stream.fit(X, Y)
    assert found.coef_.tobytes() == stream.coef_.tobytes()
    assert found.intercept_[0] != stream.intercept_[0]  # that one suits all rows best


@pytest.mark.parametrize("make", [lambda X: X, csr, lambda X: csr(X, np.int64, np.float32)])
def test_no_row_is_looked_at_that_is_not_drawn(make):
    """All others are full of NaN."""
    bad = X.copy()
    bad[OTHERS] = np.nan
    assert len(OTHERS) > M / 2
    found, clean = model("regularized").fit(make(bad), Y), model("regularized").fit(make(X), Y)
    assert found.coef_.tobytes() == clean.coef_.tobytes()
    with pytest.raises(ValueError, match="NaN"):
        model(certify=True).fit(make(bad), Y)


@pytest.mark.parametrize("row", DRAWN[[0, -1]])
@pytest.mark.parametrize("make", [lambda X: X, csr])
def test_a_bad_entry_of_a_drawn_row_is_named(make, row):
    for value, said in ((np.nan, "NaN"), (np.inf, "infinity"), (1e200, "squared norm")):
        bad = X.copy()
        bad[row, 2] = value
        with pytest.raises(ValueError, match=f"{said}.*row {row}|squared norm of row {row}"):
            model().fit(make(bad), Y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame.loc[row, "c"] = np.nan
    with pytest.raises(ValueError, match=rf"row {row}, column 2 \('c'\)"):
        model().fit(frame, Y)


def broken(what, row):
    """A CSR matrix with one thing wrong in or before this row."""
    found = csr(X + 1.0)
    first = found.indptr[row]
    if what == "outside":
        found.indices[first] = D
    elif what == "negative":
        found.indices[first] = -1
    elif what == "repeats":
        found.indices[first + 1] = found.indices[first]
    elif what == "pointer":
        found.indptr[row] = found.indptr[row + 1] + 3
    elif what == "past the end":
        found.indptr[row + 1] = 10**6
    elif what == "below zero":
        found.indptr[row] = -(10**6)
    return found


@pytest.mark.parametrize("what", ["outside", "negative", "repeats", "pointer", "past the end", "below zero"])
def test_a_broken_csr_row_is_named_when_it_is_drawn(what):
    row = int(DRAWN[3])
    with pytest.raises(ValueError, match=f"row {row}"):
        model().fit(broken(what, row), Y)
    quiet = next(int(i) for i in OTHERS if i - 1 in OTHERS and i + 1 in OTHERS)
    model().fit(broken(what, quiet), Y)


def test_rows_need_no_order():
    back = sp.csr_matrix((X[:, ::-1].ravel(), np.tile(np.arange(D)[::-1], M), np.arange(M + 1) * D), shape=X.shape)
    np.testing.assert_allclose(model().fit(back, Y).coef_, model().fit(X, Y).coef_, rtol=1e-12, atol=1e-15)


def test_a_csr_matrix_without_entries_is_no_trap():
    empty = sp.csr_matrix((M, D))
    empty.indptr = empty.indptr.copy()
    assert not model().fit(empty, Y).coef_.any()
    empty.indptr[int(DRAWN[0]) + 1] = 7
    with pytest.raises(ValueError, match="0 are stored"):
        model().fit(empty, Y)


def test_a_warm_start_goes_on():
    twice = model().set_params(warm_start=True).fit(X, Y).fit(X, Y)
    once = model(T=2 * T).fit(X, Y)
    np.testing.assert_allclose(twice.coef_, once.coef_, rtol=1e-12)
    assert twice.n_steps_ == 2 * T
    proven = twice.set_params(solver=Pegasos(T=T)).fit(X, Y)
    assert proven.gap_ >= proven.objective_ - PegasosClassifier(lam=LAM, bias="none", tol=1e-9).fit(X, Y).objective_


def test_weights_are_obeyed():
    s = some_weights("with zeros", M)
    found, usual = (model(certify=c).fit(X, Y, sample_weight=s) for c in (False, True))
    assert found.coef_.tobytes() == usual.coef_.tobytes()


@pytest.mark.parametrize(
    ("fitted", "said"),
    [
        (model(T=None), "set T"),
        (model(output="best"), "output='best' compares objectives"),
        (model("search"), "bias='search' compares objectives"),
        (model(loss="squared_hinge"), "slope is not bounded"),
    ],
)
def test_what_cannot_be_had_is_refused(fitted, said):
    with pytest.raises(ValueError, match=said):
        fitted.fit(X, Y)


def test_partial_fit_is_what_it_was():
    found, usual = (model(certify=c).partial_fit(X, Y, classes=[-1, 1]) for c in (False, True))
    assert found.coef_.tobytes() == usual.coef_.tobytes()


def test_a_kernel_model_without_a_certificate():
    found, usual = (
        KernelPegasosClassifier(lam=LAM, solver=Pegasos(T=T, sampling="iid", certify=c), random_state=1).fit(X, Y)
        for c in (False, True)
    )
    np.testing.assert_array_equal(found.dual_coef_, usual.dual_coef_)
    assert np.isnan(found.gap_)
    assert found.converged_ is False
    assert found.n_kernel_evaluations_ < usual.n_kernel_evaluations_
