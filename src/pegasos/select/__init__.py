"""Choosing lam: paths of models over falling lam, cross-validation over shared rows, probabilities from its scores."""
