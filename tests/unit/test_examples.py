"""Examples without a picture do what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_validation_score_ends_a_fit_early(capsys: Any) -> None:
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    found = example("early_stopping").compare(1000)
    assert found["stopped"].n_steps_ < found["whole"].n_steps_ / 2
    assert found["best"].n_steps_ <= found["stopped"].n_steps_
    assert len(capsys.readouterr().out.splitlines()) == 3
