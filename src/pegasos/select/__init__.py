"""Choosing lam: paths of models over falling lam, cross-validation over shared rows, and chances from its scores."""
