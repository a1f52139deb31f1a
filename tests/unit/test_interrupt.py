"""Ctrl-C stops a fit at once and keeps what was learned; other signals, threads and forks do no harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from helpers import TESTS, binary, endless, model, run_python, same_model, steps, three_classes

from pegasos import Pegasos, PegasosClassifier

X, Y = binary()
X3, Y3 = three_classes()
PROBLEMS = {"two classes": (X, Y), "three classes": (X3, Y3)}
# Ctrl-C takes effect within 100 ms on an idle machine; tests may share theirs with others.
SOON = 2.0
NEVER = 6.0  # max_time of fits that must not need it


@contextmanager
def signal_during(number: int = signal.SIGINT, after: float = 0.2) -> Iterator[list[float]]:
    """Send this process a signal from another thread; the list holds the moment it was sent."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), number)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        yield sent
    finally:
        timer.cancel()
        timer.join()


@contextmanager
def handler(number: int, action: Any) -> Iterator[None]:
    before = signal.signal(number, action)
    try:
        yield
    finally:
        signal.signal(number, before)


def interrupt(estimator: PegasosClassifier, A: Any, y: Any) -> None:
    """Fit until Ctrl-C, which must come out soon."""
    with signal_during() as sent:
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(A, y)
        late = time.perf_counter() - sent[0]
    print(f"stopped {1000 * late:.1f} ms after the signal")
    assert late < SOON


def check_kept(estimator: PegasosClassifier, A: Any, y: Any) -> None:
    """The attributes are those of a fit that was stopped early."""
    assert np.isfinite(estimator.coef_).all()
    assert np.isfinite(estimator.intercept_).all()
    assert np.any(estimator.coef_ != 0)
    assert np.any(estimator.n_steps_ > 0)
    assert estimator.converged_ is False
    assert estimator.classes_.tolist() == np.unique(y).tolist()
    assert estimator.predict(A).shape == y.shape
    several = len(estimator.classes_) > 2
    for i, gap in enumerate(np.atleast_1d(estimator.gap_)):
        mine = estimator.history_["class"] == estimator.classes_[i] if several else slice(None)
        heard = estimator.history_["gap"][mine]
        assert np.array_equal(gap, heard[-1] if len(heard) else np.nan, equal_nan=True)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("warm_start", [False, True], ids=["cold", "warm"])
def test_ctrl_c_stops_a_fit_and_keeps_the_weights(problem: str, n_jobs: int, warm_start: bool) -> None:
    estimator = endless(n_jobs=n_jobs, warm_start=warm_start, max_time=NEVER)
    interrupt(estimator, *PROBLEMS[problem])
    check_kept(estimator, *PROBLEMS[problem])
    assert np.isfinite(np.atleast_1d(estimator.gap_)[0])  # epochs of 120 rows: many certificates were taken


@pytest.mark.parametrize("output", ["last", "average"])
@pytest.mark.parametrize("bias", ["regularized", "free"])
def test_the_weights_kept_are_those_of_the_last_step(output: str, bias: str) -> None:
    """Not those of the last certificate, which may be half of all steps ago."""
    estimator = endless(bias=bias, solver=Pegasos(output=output), max_time=NEVER)
    interrupt(estimator, X, Y)
    assert len(estimator.history_["steps"]) > 1
    assert estimator.n_steps_ > estimator.history_["steps"][-1]
    there = steps(T=estimator.n_steps_, output=output, bias=bias).fit(X, Y)
    np.testing.assert_allclose(estimator.coef_, there.coef_, rtol=1e-12)


@pytest.mark.parametrize("sampling", ["blocks", "iid"])
def test_ctrl_c_before_the_first_certificate_leaves_no_gap(sampling: str) -> None:
    estimator = steps(T=10**15, sampling=sampling, max_time=NEVER)
    interrupt(estimator, X, Y)
    check_kept(estimator, X, Y)
    assert np.isnan(estimator.gap_)
    assert 0 < estimator.n_steps_ < 10**15


def test_ctrl_c_in_the_second_call_of_a_warm_start_goes_on_from_the_first() -> None:
    estimator = steps(T=5000, warm_start=True, max_time=NEVER).fit(X, Y)
    estimator.set_params(solver__T=10**15)
    interrupt(estimator, X, Y)
    after = estimator.n_steps_
    assert after > 5000
    estimator.set_params(solver__T=100).fit(X, Y)
    assert estimator.n_steps_ == after + 100


def test_ctrl_c_stops_large_batches_of_long_rows() -> None:
    rows = np.zeros((2_000, 20_000), np.float32)  # never written to: no memory behind it
    rows[:, 0] = 1
    estimator = endless(solver=Pegasos(k=2_000), max_time=NEVER)
    interrupt(estimator, rows, np.arange(2_000) % 5 == 0)
    assert estimator.converged_ is False


def test_the_error_of_a_signal_handler_comes_out_instead() -> None:
    def alarm(*_: Any) -> None:
        raise TimeoutError("out of patience")

    for A, y, n_jobs in ((X, Y, 1), (X3, Y3, 1), (X3, Y3, 2)):
        estimator = endless(n_jobs=n_jobs, max_time=NEVER)
        with handler(signal.SIGUSR1, alarm), signal_during(signal.SIGUSR1) as sent:
            with pytest.raises(TimeoutError, match="out of patience"):
                estimator.fit(A, y)
            assert time.perf_counter() - sent[0] < SOON
        check_kept(estimator, A, y)


def test_a_signal_whose_handler_returns_changes_nothing() -> None:
    heard: list[int] = []
    with handler(signal.SIGUSR1, lambda number, _: heard.append(number)), signal_during(signal.SIGUSR1, 0.02):
        deadline = time.perf_counter() + NEVER
        while not heard and time.perf_counter() < deadline:
            fitted = steps(T=500_000).fit(X, Y)
    assert heard == [signal.SIGUSR1]
    assert same_model(fitted, steps(T=500_000).fit(X, Y))


def test_a_new_fit_after_ctrl_c_is_like_any_other() -> None:
    estimator = endless(max_time=NEVER, n_jobs=2)
    interrupt(estimator, X3, Y3)
    estimator.set_params(tol=0.01).fit(X3, Y3)
    assert estimator.converged_
    assert same_model(estimator, model(solver="pegasos").fit(X3, Y3))


def test_no_thread_is_left_after_ctrl_c() -> None:
    before = threading.active_count()
    interrupt(endless(max_time=NEVER, n_jobs=2), X3, Y3)
    assert threading.active_count() == before


def test_ctrl_c_under_a_progress_bar_puts_it_away() -> None:
    callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    estimator = endless(max_time=NEVER).set_callbacks(callback.ProgressBar())
    interrupt(estimator, X, Y)
    check_kept(estimator, X, Y)
    assert "RichProgressMonitor" not in [type(thread).__name__ for thread in threading.enumerate()]


def test_a_fit_outside_the_main_thread_does_not_touch_signals() -> None:
    results: list[Any] = []
    worker = threading.Thread(target=lambda: results.append(steps(T=10**15, max_time=0.4).fit(X, Y)))
    with signal_during(after=0.1):
        worker.start()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(NEVER)
    assert not results
    worker.join(NEVER)
    assert results[0].n_steps_ > 0


FROM_OUTSIDE = """
import signal, sys
{setting}
from helpers import *
X, y = three_classes()
estimator = endless(n_jobs=int(sys.argv[1]), max_time=6)
print("fitting", flush=True)
try:
    estimator.fit(X, y)
except KeyboardInterrupt:
    kept = np.isfinite(estimator.coef_).all() and estimator.coef_.any() and not estimator.converged_
    print("interrupted", bool(kept), flush=True)
print("lives", model().fit(X, y).score(X, y) > 0.8)
"""
# Other libraries change how the system treats signals: polars does, and system calls then go on waiting after one.
SETTINGS = {"plain": "", "system calls restart": "signal.siginterrupt(signal.SIGINT, False)", "polars": "import polars"}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_ctrl_c_from_outside_is_caught_and_the_process_lives(n_jobs: str, setting: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FROM_OUTSIDE.format(setting=SETTINGS[setting]), n_jobs],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "fitting\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        assert process.stdout.readline() == "interrupted True\n"
        late = time.perf_counter() - sent
        rest, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    print(f"stopped {1000 * late:.1f} ms after the signal")
    assert late < SOON
    assert rest == "lives True\n"
    assert process.returncode == 0


FORK = """
import os, signal, sys
from helpers import *
X, y = three_classes()
parent = steps(T=2000, n_jobs=2).fit(X, y)
child = os.fork()
if child == 0:
    signal.alarm(20)  # a hang is a failure
    os._exit(0 if same_model(steps(T=2000, n_jobs=2).fit(X, y), parent) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert same_model(steps(T=2000, n_jobs=2).fit(X, y), parent)
print("both fitted")
"""


def test_a_fork_after_a_fit_can_fit() -> None:
    done = run_python("-W", "ignore", "-c", FORK)
    assert done.stdout == "both fitted\n", done.stderr
    assert done.returncode == 0
