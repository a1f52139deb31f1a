"""Structured prediction: sequences of labels, and any structure that a user can decode."""
