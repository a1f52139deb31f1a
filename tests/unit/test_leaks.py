"""The end of the interpreter: a thread that is stopped in a fit holds what it holds, all else is told as a leak."""

from __future__ import annotations

import pytest
from helpers import run_python

STOPPED = """
import threading, time
import numpy as np
from pegasos import {kind}
rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 30)), rng.integers(0, 2, 3000)
model = {kind}(lam=1e-9, tol=0.0, max_epochs=1e9{more})
threading.Thread(target=model.fit, args=(X, y), daemon=True).start()
time.sleep(0.4)
"""
FITS = [("PegasosClassifier", ', solver="sdca"'), ("KernelPegasosClassifier", "")]


@pytest.mark.parametrize(("kind", "more"), FITS)
def test_a_daemon_thread_in_a_fit_ends_without_a_word(kind: str, more: str) -> None:
    ran = run_python("-W", "ignore", "-c", STOPPED.format(kind=kind, more=more))
    assert ran.returncode == 0
    assert ran.stderr == ""


LEAK = """
import ctypes
from pegasos import KernelPegasosClassifier, PegasosClassifier, _core
for kind in (KernelPegasosClassifier, PegasosClassifier):
    kind().fit([[0.0], [1.0]], [0, 1])
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_core.DualOptions()))
"""


def test_other_leaks_are_still_told() -> None:
    ran = run_python("-c", LEAK)
    assert ran.returncode == 0
    assert "nanobind: leaked 1 instances" in ran.stderr
    assert '"pegasos._core.DualOptions"' in ran.stderr  # the fits left nothing
