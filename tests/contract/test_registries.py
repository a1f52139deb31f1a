"""What the registries of losses and kernels are asked for, and what may be known of them elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from pegasos import PegasosClassifier, PegasosRegressor, from_liblinear, kernels, losses, words
from pegasos.cli import options
from pegasos.losses import named

X = np.random.default_rng(0).normal(size=(30, 3))


def test_types_have_the_words_of_the_registries() -> None:
    assert get_args(words.ClassLoss) == tuple(losses.CLASSIFICATION)
    assert get_args(words.JointLoss) == tuple(losses.JOINT)
    assert get_args(words.NumberLoss) == tuple(losses.REGRESSION)
    assert sorted(get_args(words.KernelName)) == sorted(kernels.names())


def test_the_command_has_the_words_of_the_registries() -> None:
    assert [word.value for word in options.Loss] == [*losses.CLASSIFICATION, *losses.JOINT, *losses.REGRESSION]
    assert sorted([*(word.value for word in options.Kernel), "precomputed"]) == sorted(kernels.names())


@pytest.mark.parametrize("loss", [*losses.CLASSIFICATION, *losses.JOINT, *losses.REGRESSION])
def test_converters_take_what_a_loss_declares(loss: str, tmp_path: Path) -> None:
    spec = losses.spec_of(loss)
    model = PegasosRegressor(lam=0.1, loss=loss) if loss in losses.REGRESSION else PegasosClassifier(lam=0.1, loss=loss)
    model.fit(X, np.arange(30) % 2)
    if spec.liblinear:
        model.save(tmp_path / "m", format="liblinear")
        assert f"solver_type {spec.liblinear[0]}\n" in (tmp_path / "m").read_text()
        np.testing.assert_allclose(from_liblinear(tmp_path / "m").predict(X), model.predict(X))
    if spec.sklearn is not None:
        found = model.to_sklearn()
        assert spec.sklearn.items() <= found.get_params().items()
        np.testing.assert_allclose(found.predict(X), model.predict(X))


@pytest.mark.parametrize("like", ["hinge", "epsilon_insensitive"])
def test_converters_refuse_a_loss_that_they_do_not_know(
    like: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(named.NAMED, "newest", replace(named.NAMED[like], name="newest", liblinear=(), sklearn=None))
    kind = PegasosClassifier if like == "hinge" else PegasosRegressor
    model = kind(lam=0.1, loss=like).fit(X, np.arange(30) % 2).set_params(loss="newest")
    model._loss_of_fit = "newest"
    with pytest.raises(ValueError, match="LIBLINEAR has no models of loss='newest'"):
        model.save(tmp_path / "m", format="liblinear")
    with pytest.raises(ValueError, match="scikit-learn has no such model of loss='newest'"):
        model.to_sklearn()
    assert not list(tmp_path.iterdir())


def test_a_loss_with_more_parameters_than_native_code_takes_is_refused() -> None:
    """Only the first would arrive there, and nobody would hear of it."""
    with pytest.raises(ValueError, match="takes epsilon, tau, but native code takes one number at most"):
        replace(named.NAMED["epsilon_insensitive"], takes=("epsilon", "tau"))
    with pytest.raises(ValueError, match="no parameter but costs"):
        replace(named.JOINT["multiclass_hinge"], takes=("costs", "tau"))
