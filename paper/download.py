"""Fetches the real RCV1 and covertype with scikit-learn, into its cache (700 MB), where the other scripts look."""

from __future__ import annotations

from sklearn.datasets import fetch_covtype, fetch_rcv1

if __name__ == "__main__":
    for name, fetch in (("RCV1", fetch_rcv1), ("covertype", fetch_covtype)):
        print(f"{name}: {fetch().data.shape[0]:,} rows")
