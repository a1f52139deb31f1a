"""How kernel models behave: input of every kind, memory, interrupts, warm starts, what they refuse."""

import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_problems import FORMULAS, classifier, matrix, rows, value
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, Pegasos, losses
from pegasos.kernel_solvers.journal import Journal
from pegasos.kernels import dense
from pegasos.solvers.base import Run

X, Y = rows(90, positive=True)
HINGE = losses.CLASSIFICATION["hinge"]


@pytest.mark.parametrize(
    "estimator",
    [KernelPegasosClassifier(), KernelPegasosRegressor(bias="free", n_jobs=1)],
    ids=["classifier", "regressor"],
)
def test_check_estimator_passes_without_exception(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert len(results) > 50
    assert {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"} == {}
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_precomputed_and_functions_equal_what_is_computed(name, kind):
    data = sp.csr_matrix(X) if kind == "sparse" else X
    K, psd = matrix(name, X), {"psd": name != "sigmoid"}
    named = classifier(name, bias="regularized").fit(data, Y)
    given = KernelPegasosClassifier(
        lam=0.01, kernel="precomputed", kernel_params=psd, bias="regularized", random_state=0
    )
    given.fit(K, Y)
    called = clone(given).set_params(kernel=lambda A, B: matrix(name, dense(A), dense(B))).fit(data, Y)
    for other, test in ((given, K), (called, data)):
        np.testing.assert_allclose(other.decision_function(test), named.decision_function(data), rtol=1e-6, atol=1e-7)
        assert other.objective_ == pytest.approx(named.objective_, rel=1e-9)
    assert given.support_vectors_.shape == (len(given.support_), 0)


def test_a_function_gets_its_parameters():
    model = KernelPegasosClassifier(
        lam=0.01, kernel=lambda A, B, width: np.exp(-width * np.abs(A[:, :1] - B[:, 0])), kernel_params={"width": 2.0}
    ).fit(X, Y)
    assert np.isnan(model.gap_)
    assert model.converged_


def test_without_a_positive_semi_definite_kernel_there_is_no_bound():
    given = classifier("rbf", kernel="precomputed")
    for model, data in ((classifier("sigmoid"), X), (given, matrix("rbf", X))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(data, Y)
        assert np.isnan(model.gap_)
        assert np.isnan(model.dual_objective_)
        assert np.isfinite(model.objective_)
        assert model.converged_


def test_negative_curvature_is_an_error_that_names_the_rows():
    K = matrix("rbf", X)
    K[3, 7] = K[7, 3] = 1.5
    with pytest.raises(ValueError, match=r"negative curvature: rows 3 and 7 .* but 1\.5 with each other"):
        KernelPegasosClassifier(kernel="precomputed").fit(K, Y)
    K[3, 7] = K[7, 3] = 0
    K[5, 5] = -1
    for solver in ("auto", "sdca", "pegasos"):
        with pytest.raises(ValueError, match="negative curvature: the kernel of row 5 with itself is -1"):
            KernelPegasosClassifier(kernel="precomputed", solver=solver, max_epochs=2).fit(K, Y)


REFUSED = [
    ({"kernel": "gauss"}, "kernel must be 'chi2' or .*, got 'gauss'"),
    ({"kernel": 3}, "kernel must be"),
    ({"gamma": -1}, "gamma must be 'scale', 'auto' or a number >= 0, got -1"),
    ({"gamma": "big"}, "gamma must be 'scale', 'auto' or a number >= 0, got 'big'"),
    ({"degree": "3"}, "degree must be a number >= 0, got '3'"),
    ({"coef0": np.nan}, "coef0 must be a number"),
    ({"kernel_params": [1]}, "kernel_params must be None or a dict"),
    ({"kernel_params": {"psd": True}}, "kernel_params has the entry 'psd', which this kernel does not take"),
    ({"cache_mb": 0}, "cache_mb must be a number >= 1, got 0"),
    ({"bias": "batch"}, "bias must be 'none' or 'regularized' or 'free', got 'batch'"),
    ({"loss": "hinge2"}, "loss must be"),
    ({"lam": 0}, "lam must be"),
    ({"tol": -1}, "tol must be"),
    ({"n_jobs": 0}, "n_jobs must not be 0"),
    ({"kernel": "precomputed"}, r"takes the square kernel matrix of the training rows, got \(90, 4\)"),
    ({"kernel": lambda A, B: np.ones(3)}, r"returned an array of shape \(3,\) for blocks of .* it must be"),
    ({"kernel": lambda A, B: "text"}, "must return an array of numbers"),
    ({"kernel": "poly", "gamma": 1e200}, "finite"),
    ({"solver": "smo"}, "solver must be"),
    ({"solver": Pegasos(k=91)}, "k = 91 rows per step, but there are only 90 rows"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_work_is_refused(params, message):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
        KernelPegasosClassifier(**params).fit(X, Y)


def test_a_matrix_that_is_not_symmetric_is_refused():
    K = matrix("rbf", X)
    K[2, 4] += 0.1
    with pytest.raises(ValueError, match=r"not symmetric: entry \(2, 4\)"):
        KernelPegasosClassifier(kernel="precomputed").fit(K, Y)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_values_are_refused_in_fit_and_predict(bad):
    broken = X.copy()
    broken[5, 2] = bad
    with pytest.raises(ValueError, match="row 5"):
        KernelPegasosClassifier().fit(broken, Y)
    model = KernelPegasosClassifier().fit(X, Y)
    with pytest.raises(ValueError, match="row 5"):
        model.predict(broken)
    with pytest.raises(NotFittedError):
        KernelPegasosClassifier().predict(X)


def test_models_survive_pickle_and_keep_copies():
    data = X.copy()
    model = classifier("rbf").fit(data, Y)
    before = model.decision_function(X)
    data[:] = 0
    again = pickle.loads(pickle.dumps(model))
    assert (again.decision_function(X) == before).all()
    assert not np.shares_memory(model.support_vectors_, data)


def test_several_classes_and_probabilities():
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0.4, 1.0])]
    model = classifier("rbf", loss="log", lam=1e-3).fit(X, labels)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.gap_.shape == (3,)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, labels) > 0.9
    assert not hasattr(classifier("rbf"), "predict_proba")
    assert cross_val_score(classifier("rbf", lam=1e-3), X, labels).mean() > 0.8


def test_the_same_bytes_for_any_number_of_threads():
    A, y = rows(3000, 8, seed=2)
    one, two = (classifier("rbf", lam=1e-3, n_jobs=n).fit(A, y) for n in (1, 3))
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()
    assert one.decision_function(A).tobytes() == two.decision_function(A).tobytes()


def test_float32_rows_predict_in_float32_nearly_the_same():
    model = classifier("rbf").fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X.astype("f4")), model.decision_function(X), atol=1e-5)


def test_a_warm_start_needs_next_to_nothing_and_the_same_rows():
    model = classifier("rbf", warm_start=True, solver="sdca", tol=1e-6).fit(X, Y)
    steps = model.n_steps_
    assert model.fit(X, Y).n_steps_ == steps
    model.set_params(lam=0.05, tol=1e-2).fit(X, Y)
    assert model.n_steps_ > steps
    assert value(model, matrix("rbf", X), Y, HINGE) == pytest.approx(model.objective_)
    with pytest.raises(ValueError, match="rows of the last fit, which had 90 of them, but X has 80"):
        model.fit(X[:80], Y[:80])
    with pytest.raises(ValueError, match="goes on with the classes"):
        model.fit(X, Y + 1)


@pytest.mark.parametrize(("m", "cache_mb"), [(4001, 1000), (300, 1)])
def test_a_sample_without_support_vectors_is_solved_too(m, cache_mb):
    A, _ = rows(m, 3, seed=9)
    model = KernelPegasosRegressor(epsilon=1.0, cache_mb=cache_mb).fit(A, 0.01 * A[:, 0])
    assert model.objective_ == 0
    assert model.gap_ == 0
    assert not len(model.support_)


def test_time_may_run_out_before_the_first_step():
    A, y = rows(3000, 3, seed=9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPegasosClassifier(solver="pegasos", max_time=1e-3).fit(A, y)
    assert model.decision_function(A[:5]).shape == (5,)


def test_time_and_epochs_end_a_fit_with_a_certificate():
    A, y = rows(1500, 6, seed=7)
    for limit in ({"max_time": 0.3}, {"max_epochs": 0.5}):
        for solver in ("sdca", "pegasos"):
            model = classifier("rbf", lam=1e-5, tol=0.0, solver=solver, **limit)
            with pytest.warns(ConvergenceWarning, match="at most"):
                model.fit(A, y)
            assert model.gap_ > 0
            assert not model.converged_


@pytest.mark.parametrize("solver", ["auto", "sdca", "pegasos"])
def test_ctrl_c_keeps_what_was_learned(solver):
    A, y = rows(6000, 20, seed=8)
    model = classifier("rbf", lam=1e-6, tol=0.0, solver=solver, max_time=20.0, verbose=0, gamma=0.05)
    sent = []
    timer = threading.Timer(1.0, lambda: (sent.append(time.perf_counter()), os.kill(os.getpid(), signal.SIGINT)))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(A, y)
    assert time.perf_counter() - sent[0] < 2.0  # 0.1 s on an idle machine
    assert not model.converged_
    assert model.decision_function(A[:5]).shape == (5,)


@pytest.mark.parametrize("solver", ["auto", "sdca"])
def test_an_interrupt_before_the_first_certificate_leaves_zero_weights_and_says_so(solver):
    A, y = rows(5000, 3, seed=9)

    def kernel(x, z):
        if len(x) > 64 or len(x) != len(z):  # no piece of the diagonal
            raise KeyboardInterrupt
        return x @ z.T

    model = KernelPegasosClassifier(kernel=kernel, kernel_params={"psd": True}, solver=solver)
    with pytest.raises(KeyboardInterrupt):
        model.fit(A, y)
    assert not model.converged_
    assert (model.objective_, model.gap_) == pytest.approx((1.0, 1.0))


def test_complex_kernel_values_are_refused():
    with pytest.raises(ValueError, match="complex"):
        KernelPegasosClassifier(kernel=lambda x, z: x @ z.T + 0j).fit(X, Y)


def test_verbose_prints_lines(capsys):
    classifier("rbf", verbose=1).fit(X, Y)
    said = capsys.readouterr().out
    assert "objective" in said
    assert "converged" in said


def test_what_was_reached_when_time_ran_out_is_kept(monkeypatch):
    """No clock, which would run out before the first certificate on a busy machine: it runs out after the second."""
    noted, hold = [], Journal.hold
    monkeypatch.setattr(Journal, "hold", lambda *line: (noted.append(line), hold(*line))[1])
    monkeypatch.setattr(Run, "is_over", lambda run: len(noted) >= 2)
    A, y = rows(3500, 8, seed=9)
    model = classifier("rbf", lam=1e-7, tol=0.0)
    with pytest.warns(ConvergenceWarning, match="at most"):
        model.fit(A, y)
    assert len(model.support_) > 0
    assert 0 <= model.gap_ < 1
