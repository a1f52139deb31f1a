"""Being here puts tests/ on the path, so that `helpers` can be imported from every folder of tests."""

import os

# Before NumPy is imported: on a shared machine, BLAS threads that wait for each other made a test of 10 ms take 5 s.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
