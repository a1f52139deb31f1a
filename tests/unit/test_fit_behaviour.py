"""What a fit leaves behind, when it stops, what it says, and that it repeats itself to the byte."""

from __future__ import annotations

import math
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import binary, endless, model, run_python, same_model, steps, three_classes
from sklearn.exceptions import ConvergenceWarning

from pegasos import Pegasos, PegasosClassifier

X, Y = binary()
X3, Y3 = three_classes()
PROBLEMS = {"two classes": (X, Y), "three classes": (X3, Y3)}


def objective(fitted: PegasosClassifier, A: Any, y: Any, s: Any, c: int) -> float:
    """f(w) of class c against the rest, from the definition."""
    w, b = fitted.coef_[c], fitted.intercept_[c]
    signs = np.where(y == (fitted.classes_[c] if len(fitted.classes_) > 2 else fitted.classes_[1]), 1.0, -1.0)
    return fitted.lam / 2 * (w @ w + b * b) + np.average(np.maximum(0, 1 - signs * (A @ w + b)), weights=s)


def test_attributes_for_two_classes() -> None:
    fitted = model().fit(X, Y)
    assert fitted.coef_.shape == (1, 6)
    assert fitted.intercept_.shape == (1,)
    assert fitted.coef_.dtype == fitted.intercept_.dtype == np.float64
    assert fitted.classes_.tolist() == [-1, 1]
    assert fitted.n_features_in_ == 6
    assert not hasattr(fitted, "feature_names_in_")
    for name in ("objective_", "dual_objective_", "gap_", "n_iter_", "n_steps_"):
        assert np.ndim(getattr(fitted, name)) == 0, name
    assert isinstance(fitted.converged_, bool)
    assert isinstance(fitted.n_steps_, int)
    assert list(fitted.history_) == ["seconds", "steps", "objective", "dual", "gap"]


def test_attributes_for_three_classes() -> None:
    fitted = model().fit(X3, Y3)
    assert fitted.coef_.shape == (3, 6)
    assert fitted.intercept_.shape == (3,)
    assert fitted.classes_.tolist() == [0, 1, 2]
    for name in ("objective_", "dual_objective_", "gap_", "n_iter_", "n_steps_"):
        assert getattr(fitted, name).shape == (3,), name
    assert isinstance(fitted.converged_, bool)
    assert list(fitted.history_) == ["seconds", "steps", "objective", "dual", "gap", "class"]
    assert set(fitted.history_["class"].tolist()) == {0, 1, 2}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_history_ends_with_what_the_attributes_say(problem: str) -> None:
    fitted = model(tol=1e-3).fit(*PROBLEMS[problem])
    history = fitted.history_
    assert len({len(column) for column in history.values()}) == 1
    names = history.get("class", np.zeros(len(history["gap"])))
    for i, name in enumerate(np.unique(names)):
        mine = {key: column[names == name] for key, column in history.items()}
        assert mine["steps"][-1] == np.atleast_1d(fitted.n_steps_)[i]
        assert mine["gap"][-1] == np.atleast_1d(fitted.gap_)[i]
        assert mine["objective"][-1] == np.atleast_1d(fitted.objective_)[i]
        assert mine["dual"][-1] == np.atleast_1d(fitted.dual_objective_)[i]
        assert np.all(np.diff(mine["steps"]) > 0)
        assert np.all(np.diff(mine["seconds"]) >= 0)
        assert np.all(mine["gap"] >= 0)
        np.testing.assert_array_equal(mine["gap"], mine["objective"] - mine["dual"])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_objective_is_that_of_the_returned_coefficients(problem: str, weighted: bool) -> None:
    A, y = PROBLEMS[problem]
    s = np.linspace(0, 2, len(y)) if weighted else None
    fitted = model().fit(A, y, s)
    for c, reached in enumerate(np.atleast_1d(fitted.objective_)):
        assert reached == pytest.approx(objective(fitted, A, y, s, c), rel=1e-12)
    assert fitted.converged_
    assert np.all(fitted.gap_ <= fitted.tol)


def test_bias_none_keeps_the_intercept_at_zero() -> None:
    fitted = model(bias="none").fit(X + 1, Y)
    assert fitted.intercept_.tolist() == [0.0]
    assert fitted.objective_ == pytest.approx(objective(fitted, X + 1, Y, None, 0), rel=1e-12)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("sampling", ["blocks", "permutation", "iid"])
@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_the_same_seed_gives_the_same_bytes(problem: str, sampling: str, n_jobs: int) -> None:
    A, y = PROBLEMS[problem]
    a, b = (steps(T=700, k=3, sampling=sampling, n_jobs=n).fit(A, y) for n in (None, n_jobs))
    assert same_model(a, b)
    assert np.array_equal(a.gap_, b.gap_)
    c = steps(T=700, k=3, sampling=sampling, n_jobs=n_jobs, random_state=1).fit(A, y)
    assert not same_model(a, c)


def test_random_state_may_be_an_int_a_random_state_or_none() -> None:
    by_int = steps(random_state=7).fit(X, Y)
    assert same_model(by_int, steps(random_state=np.int64(7)).fit(X, Y))
    assert same_model(by_int, steps(random_state=np.random.RandomState(7)).fit(X, Y))
    shared = steps(random_state=np.random.RandomState(7))
    first = shared.fit(X, Y).coef_
    assert not np.array_equal(first, shared.fit(X, Y).coef_)  # its state has moved on
    assert not same_model(steps(random_state=None).fit(X, Y), steps(random_state=None).fit(X, Y))
    before = np.random.get_state()  # noqa: NPY002  # None means numpy's global state, as in scikit-learn
    a = steps(random_state=None).fit(X, Y)
    np.random.set_state(before)  # noqa: NPY002
    assert same_model(a, steps(random_state=None).fit(X, Y))


def test_fits_in_several_threads_at_once_are_those_of_one_at_a_time() -> None:
    problems = [(X, Y), (X3, Y3), (sp.csr_matrix(X), Y), (sp.csr_matrix(X3), Y3)] * 2
    samplings = ["blocks", "permutation", "iid"]
    jobs = [
        (steps(T=30_000, k=1 + i % 3, sampling=samplings[i % 3], random_state=i, n_jobs=1 + i % 2), A, y)
        for i, (A, y) in enumerate(problems)
    ]
    alone = [job.fit(A, y).coef_ for job, A, y in jobs]
    with ThreadPoolExecutor(len(jobs)) as pool:
        together = [f.result().coef_ for f in [pool.submit(job.fit, A, y) for job, A, y in jobs]]
    assert [a.tobytes() for a in together] == [a.tobytes() for a in alone]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("container", [np.array, sp.csr_matrix])
def test_the_arrays_of_the_user_stay_as_they_are(dtype: Any, container: Any) -> None:
    A, y, s = container(X.astype(dtype)), Y.copy(), np.linspace(0, 2, 120)
    parts = [A.data, A.indices, A.indptr] if sp.issparse(A) else [A]
    before = [a.tobytes() for a in [*parts, y, s]]
    fitted = model(class_weight={-1: 2.0}).fit(A, y, s)
    fitted.partial_fit(A, y, sample_weight=s)
    fitted.predict(A)
    fitted.decision_function(A)
    assert [a.tobytes() for a in [*parts, y, s]] == before


def test_a_model_does_not_hold_on_to_the_data() -> None:
    A, y = X.copy(), Y.copy()
    fitted = model(warm_start=True).fit(A, y)
    dead = weakref.ref(A), weakref.ref(y)
    del A, y
    assert dead[0]() is None
    assert dead[1]() is None
    assert fitted.converged_


NO_COPY = """
import resource, numpy as np, scipy.sparse as sp
from helpers import steps
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
# Memory that was never written to costs nothing to read, a copy of it does.
dense = np.zeros((10_000, 5_000))
columns = np.tile(np.arange(300_000, dtype=np.int32), 100)
rows = sp.csr_matrix((np.zeros(len(columns), np.float32), columns, np.arange(0, len(columns) + 1, 300_000)), copy=False)
steps(T=3).fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4))
before = peak()
fitted = steps(T=3).fit(dense, np.arange(10_000) % 2)
fitted.partial_fit(dense, np.arange(10_000) % 2).predict(dense)
print("dense", peak() - before)
before = peak()
fitted = steps(T=3).fit(rows, np.arange(100) % 2)
fitted.partial_fit(rows, np.arange(100) % 2).predict(rows)
print("sparse", peak() - before)
"""


def test_a_fit_and_a_prediction_copy_no_data() -> None:
    done = run_python("-c", NO_COPY)
    assert done.returncode == 0, done.stderr
    grown = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    assert grown["dense"] < 60  # MB; X has 400
    assert grown["sparse"] < 60  # values have 120, indices 120


def test_float32_data_gives_the_model_of_the_same_numbers_in_float64() -> None:
    rounded = X.astype(np.float32)
    for convert in (np.asarray, sp.csr_matrix):
        narrow, wide = (steps(T=2000).fit(convert(rounded.astype(t)), Y) for t in (np.float32, np.float64))
        assert same_model(narrow, wide)
        assert narrow.coef_.dtype == np.float64
        assert np.array_equal(narrow.decision_function(rounded), wide.decision_function(rounded.astype(np.float64)))


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_max_time_stops_a_fit_that_would_never_end(problem: str, n_jobs: int) -> None:
    began = time.perf_counter()
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.2"):
        fitted = endless(max_time=0.2, n_jobs=n_jobs).fit(*PROBLEMS[problem])
    assert 0.1 < time.perf_counter() - began < 2
    assert np.all(fitted.n_steps_ > 0)  # every class had its share
    assert np.all(np.isfinite(fitted.gap_))
    assert not fitted.converged_
    y = PROBLEMS[problem][1]
    assert np.atleast_1d(fitted.objective_)[0] == pytest.approx(objective(fitted, PROBLEMS[problem][0], y, None, 0))


def test_max_time_stops_a_fixed_number_of_steps_too() -> None:
    began = time.perf_counter()
    fitted = steps(T=10**15, max_time=0.1).fit(X, Y)
    assert time.perf_counter() - began < 2
    assert 0 < fitted.n_steps_ < 10**15


def test_the_warning_says_how_far_and_which_parameter_to_raise() -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        fitted = model(tol=1e-7, max_epochs=3).fit(X, Y)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert f"{fitted.gap_:.3g}" in said
    assert "max_epochs=3" in said
    assert "tol=1e-07" in said
    assert fitted.n_steps_ == 360


def test_the_warning_counts_the_classes() -> None:
    with pytest.warns(ConvergenceWarning, match="for 3 of 3 classes") as caught:
        fitted = model(tol=1e-7, max_epochs=3).fit(X3, Y3)
    assert len(caught) == 1
    assert f"{fitted.gap_.max():.3g}" in str(caught[0].message)


@pytest.mark.parametrize("T", [1, 7, 119, 120, 1000])
@pytest.mark.parametrize("sampling", ["blocks", "permutation", "iid"])
def test_T_is_the_exact_number_of_steps_whatever_tol_and_max_epochs(T: int, sampling: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = steps(T=T, sampling=sampling, tol=0.0, max_epochs=0.001).fit(X, Y)
        loose = steps(T=T, sampling=sampling, tol=100.0).fit(X, Y)
    assert strict.n_steps_ == loose.n_steps_ == T
    assert strict.n_iter_ == pytest.approx(T / 120)
    assert np.isfinite(strict.gap_)
    assert same_model(strict, loose)
    assert loose.converged_
    assert not strict.converged_
    assert len(strict.history_["gap"]) == 1


@pytest.mark.parametrize(("max_epochs", "k"), [(0.5, 1), (2.25, 1), (1, 7), (0.1, 7), (1.5, 120), (1e-9, 1)])
def test_max_epochs_may_be_fractional(max_epochs: float, k: int) -> None:
    with pytest.warns(ConvergenceWarning):
        fitted = model(tol=0.0, max_epochs=max_epochs, solver=Pegasos(k=k)).fit(X, Y)
    assert fitted.n_steps_ == math.ceil(max_epochs * 120 / k)
    assert fitted.n_iter_ == pytest.approx(fitted.n_steps_ * k / 120)


@pytest.mark.parametrize("lam", [1e308, 1e300, 1e100, 1.0, 1e-100, 1e-200, 1e-300])
def test_a_legal_lam_gives_a_finite_model_or_a_sentence(lam: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            fitted = model(lam=lam, max_epochs=3).fit(X, Y)
        except ValueError as refused:
            assert "lam" in str(refused)  # noqa: PT017
            return
    assert np.isfinite(fitted.coef_).all()
    assert np.isfinite([fitted.objective_, fitted.dual_objective_, fitted.gap_]).all()
