"""Being here puts tests/ on the path, so that `helpers` can be imported from every folder of tests."""

import os
import signal

# Before NumPy is imported: on a shared machine, BLAS threads that wait for each other made a test of 10 ms take 5 s.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that starts the tests in the background has them ignore Ctrl-C, which is what some of them are about.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
