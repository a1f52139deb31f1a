"""What must not crash, hang, or fill the memory. Children run what could."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import (
    KernelPegasosClassifier,
    Pegasos,
    PegasosClassifier,
    datasets,
)
from pegasos.losses.joint import MULTICLASS_HINGE, good_joint_constant


def child(code, **kwargs):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        **kwargs,
    )


RACE = """
import threading, numpy as np
from pegasos import KernelPegasosClassifier, Pegasos, PegasosClassifier, datasets
X, y = datasets.make_binary(4000, 60, sparse=True, density=0.3, random_state=0)
y[:10], good, ends = 2, X.indices.copy(), X.indptr.copy()
wild = np.random.default_rng(0).integers(-2**31, 2**31 - 1, size=len(good)).astype(good.dtype)
fitted = PegasosClassifier().fit(X, y)
kernel = KernelPegasosClassifier(max_time=0.2, kernel="linear").fit(X[:300], y[:300])
over = False
def write():
    while not over:
        np.copyto(X.indices, wild)
        np.copyto(X.indptr, wild[: len(ends)])
        np.copyto(X.indptr, ends)
        np.copyto(X.indices, good)
thread = threading.Thread(target=write)
thread.start()
calls = [
    lambda: PegasosClassifier(tol=0, max_epochs=20, solver="sdca").fit(X, y),
    lambda: PegasosClassifier(tol=0, max_epochs=20, solver=Pegasos(output="average")).fit(X, y),
    lambda: PegasosClassifier(tol=1e-9, max_epochs=20, loss="squared_hinge", lam=1e-6).fit(X, y),
    lambda: PegasosClassifier(tol=1e-9, max_epochs=20, loss="multinomial").fit(X, y),
    lambda: KernelPegasosClassifier(max_time=0.2, cache_mb=10).fit(X, y),
    lambda: KernelPegasosClassifier(max_time=0.2, kernel="laplacian").fit(X, y),
    lambda: fitted.predict(X),
    lambda: kernel.predict(X),
]
whole = 0
for call in calls:
    for _ in range(20):
        try:
            call()
            whole += 1
        except ValueError:
            pass
over = True
thread.join()
print("alive", whole > 0)
"""


def test_indices_that_another_thread_writes_to_never_crash():
    ran = child(RACE)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout.split()[0] == "alive"


@pytest.mark.parametrize(
    "kind", ["PegasosClassifier(tol=1e-12, lam=1e-7", "KernelPegasosClassifier(tol=1e-12, lam=1e-7"]
)
@pytest.mark.parametrize("verbose", [0, 1])
def test_the_interpreter_ends_while_daemon_threads_fit(kind, verbose):
    code = f"""
        import sys, threading, time, numpy as np
        from pegasos import PegasosClassifier, KernelPegasosClassifier
        class Nowhere:
            def write(self, text): pass
            def flush(self): pass
        sys.stdout = Nowhere()
        X = np.random.default_rng(0).normal(size=(300, 5))
        def fit():
            while True:
                {kind}, verbose={verbose}).fit(X, X[:, 0] > 0)
        for _ in range(3):
            threading.Thread(target=fit, daemon=True).start()
        time.sleep(0.3)
    """
    for _ in range(2):
        ran = child(code)
        assert ran.returncode == 0, ran.stderr[-2000:]


def test_an_estimator_is_fitted_once_at_a_time():
    X, y = datasets.make_binary(300, 5)
    inside, go_on = threading.Event(), threading.Event()

    class Slow(PegasosClassifier):
        def _solve(self, *args):
            inside.set()
            assert go_on.wait(60)
            return super()._solve(*args)

    model = Slow(lam=0.1, random_state=0)
    thread = threading.Thread(target=model.fit, args=(X, y))
    thread.start()
    assert inside.wait(60)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(RuntimeError, match="being fitted already"):
            call(X, -y)
    for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(PegasosClassifier(lam=0.1)))):
        go_on.set()  # a copy is another estimator
        other.fit(X, y)
    thread.join()
    np.testing.assert_array_equal(model.coef_, PegasosClassifier(lam=0.1, random_state=0).fit(X, y).coef_)
    model.fit(X, y)  # and again, once it is over
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan, y)
    model.fit(X, y)


def hinge(costs):
    return MULTICLASS_HINGE.bound(n_classes=len(costs), costs=costs)


def test_the_constant_of_the_joint_hinge_is_reached_and_cheap():
    rng = np.random.default_rng(0)
    for K in (2, 3, 7):
        shares = rng.dirichlet(np.ones(K))
        costs = 1.0 - np.eye(K)
        assert good_joint_constant(hinge(costs), shares) == pytest.approx(min(1, 2 - 2 * shares.max()))
        costs = rng.uniform(0, 3, size=(K, K)) * (1 - np.eye(K))
        ahead = [np.eye(K)[k] * costs[k].max() for k in range(K)]
        reached = [(costs + b[None, :] - b[:, None]).max(axis=1) @ shares for b in (np.zeros(K), *ahead)]
        assert good_joint_constant(hinge(costs), shares) == pytest.approx(min(reached))
    K = 1000  # K^2 lines of a linear program are 16 GB
    assert good_joint_constant(hinge(1.0 - np.eye(K)), np.full(K, 1 / K)) == pytest.approx(1.0)


KERNELS = ["linear", "poly", "rbf", "laplacian", "cosine", "chi2"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_memory_of_sparse_kernels_follows_the_entries(kernel):
    d = 2**31 - 1
    columns = [0, 5, 7, 10**9, d - 1]
    full = np.array([[1.0, 0, 0, 0, 2], [0, 1, 0, 0, 0], [0, 0, 3, 0, 1], [0, 2, 0, 1, 0]])
    rows, places = np.nonzero(full)
    X = sp.csr_matrix((full[rows, places], (rows, np.array(columns)[places])), shape=(4, d))
    y = [0, 1, 0, 1]
    model = KernelPegasosClassifier(kernel=kernel, gamma=0.5, lam=0.1).fit(X, y)
    plain = KernelPegasosClassifier(kernel=kernel, gamma=0.5, lam=0.1).fit(full, y)
    assert model.support_vectors_.shape[1] == d
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(full), rtol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X[:, :].astype(np.float32)), plain.decision_function(full), rtol=1e-4
    )


def test_a_refused_value_is_named_by_the_column_of_the_user():
    X = sp.csr_matrix(([1.0, -1.0], ([0, 1], [3, 500_000])), shape=(2, 10**6))
    with pytest.raises(ValueError, match="column 500000"):
        KernelPegasosClassifier(kernel="chi2").fit(X, [0, 1])


def test_tiles_of_very_many_columns_are_multiplied_all_the_same():
    rng = np.random.default_rng(0)
    X = sp.random(40, 400_000, density=0.02, format="csr", random_state=0)  # 8,000 entries a row: 300,000 columns
    y = rng.integers(2, size=40)
    model = KernelPegasosClassifier(kernel="linear", lam=0.1).fit(X, y)
    K = (X @ X.T).toarray()
    plain = KernelPegasosClassifier(kernel="precomputed", kernel_params={"psd": True}, lam=0.1).fit(K, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(K), rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize(
    "solver", ["auto", "sdca", "pegasos", Pegasos(T=10**9), Pegasos(T=10**9, output="best")], ids=str
)
@pytest.mark.parametrize("max_time", [1e-9, 1e-3, 4e-3])
def test_out_of_time_there_is_a_certificate(solver, max_time):
    X, y = datasets.make_multiclass(6000, 40, 4)
    for loss, bias in (("hinge", "regularized"), ("squared_hinge", "free"), ("multinomial", "none")):
        model = PegasosClassifier(lam=1e-6, tol=1e-12, loss=loss, bias=bias, solver=solver, max_time=max_time).fit(X, y)
        assert np.isfinite(model.objective_).all()
        assert np.isfinite(model.gap_).all()


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("bias", ["none", "free"])
def test_kernel_pegasos_hands_back_what_it_has_certified_in_time(bias):
    X, y = datasets.make_binary(1500, 5)
    model = KernelPegasosClassifier(lam=1e-5, tol=1e-12, bias=bias, solver="pegasos", max_time=0.1, random_state=0)
    model.fit(X, y)
    scores = model.decision_function(X)
    square = model.dual_coef_[0] @ (scores - model.intercept_)[model.support_]
    assert model.objective_ == pytest.approx(np.maximum(0, 1 - y * scores).mean() + 1e-5 / 2 * square, rel=1e-6)
    model.set_params(warm_start=True).fit(X, y)
    steps = model.n_steps_
    model.set_params(max_time=1e-9).fit(X, y)  # no time: what was there stays, with its own certificate
    assert model.n_steps_ == steps
    assert np.isfinite(model.gap_)


TIGHT = """
import faulthandler, resource, sys
faulthandler.dump_traceback_later(100, exit=True)  # a hang names itself
from pegasos import KernelPegasosClassifier, Pegasos, PegasosClassifier, datasets
X, y = datasets.make_multiclass(int(sys.argv[2]), 10, 12)
kinds = {
    "one against the rest": lambda jobs: PegasosClassifier(lam=1e-5, tol=1e-6, random_state=0, n_jobs=jobs),
    "all together": lambda jobs: PegasosClassifier(loss="multinomial", lam=1e-5, random_state=0, n_jobs=jobs),
    "steps": lambda jobs: PegasosClassifier(solver=Pegasos(T=2000), random_state=0, n_jobs=jobs),
    "kernel": lambda jobs: KernelPegasosClassifier(lam=1e-3, random_state=0, n_jobs=jobs),
    "pairs": lambda jobs: KernelPegasosClassifier(lam=1e-3, multi_class="ovo", random_state=0, n_jobs=jobs),
}
make = kinds[sys.argv[1]]
no_limit, scores = resource.getrlimit(resource.RLIMIT_AS), []
for quarters in map(int, sys.argv[3:]):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + quarters * 2**18, no_limit[1]))
    try:
        scores.append(make(8).fit(X, y).decision_function(X))
    except MemoryError:
        pass
    finally:
        resource.setrlimit(resource.RLIMIT_AS, no_limit)
alone = make(1).fit(X, y).decision_function(X)
assert all((each == alone).all() for each in scores)
print("alive", len(scores))
"""
# A stack is 8 MB: around its multiples a thread may start that has no room for anything else.
QUARTERS = [*range(1, 16), *range(30, 46), *range(62, 76), *range(94, 108), 130, 160, 200, 300, 400, 600, 900, 1500]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("kind", "rows", "quarters"),
    [
        ("one against the rest", 500, QUARTERS),
        ("all together", 500, QUARTERS),
        ("steps", 500, QUARTERS),
        ("kernel", 500, QUARTERS),
        ("pairs", 3000, [320, 400, 560, 800, 1200]),  # whose products are large: OpenBLAS wants room
    ],
)
def test_threads_that_cannot_start_are_done_without(kind, rows, quarters):
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TIGHT, kind, *map(str, [rows, *quarters])],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout.split()[1]) > len(quarters) // 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_child_does_not_wait_for_threads_that_it_does_not_have():
    ran = child("""
        import os, threading, numpy as np
        from pegasos import KernelPegasosClassifier
        from pegasos.kernel_solvers import blas, cache
        X = np.random.default_rng(0).normal(size=(600, 3))
        over = False
        def hold():
            while not over:
                for lock in (blas._lock, cache._lock):
                    with lock:
                        sum(range(2000))
        thread = threading.Thread(target=hold)
        thread.start()
        for _ in range(20):
            pid = os.fork()
            if pid == 0:
                KernelPegasosClassifier(lam=0.1, n_jobs=2).fit(X, X[:, 0] > 0)
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        over = True
        thread.join()
    """)
    assert ran.returncode == 0, ran.stderr[-2000:]
