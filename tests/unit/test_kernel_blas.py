"""The threads of BLAS are switched off while a kernel model works, and on again afterwards."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from pegasos import KernelPegasosClassifier
from pegasos.kernel_solvers.blas import single_blas


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_fits_that_overlap_leave_blas_as_it_was():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = single_blas(), single_blas()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        KernelPegasosClassifier(lam=0.1).fit(X, X[:, 0] > 0).predict(X)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
