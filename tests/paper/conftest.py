"""Puts paper/ on the path. What needs the native systems is skipped where `make paper-native` has not been run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "paper"))

import systems


@pytest.fixture
def native():
    if not systems.built():
        pytest.skip(systems.NOT_BUILT)
    return systems.native()
