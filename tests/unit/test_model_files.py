"""Model files: what is loaded is what was saved, for every estimator, and anybody can read it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from saved_models import ESTIMATORS, MODELS, SIGNS, WORDS, Ramp, X, answers
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos
from pegasos import PegasosClassifier, PegasosClassifierCV, load_model


def same(a: Any, b: Any) -> bool:
    """The same to the last bit, whatever it is."""
    if (isinstance(a, np.ndarray) and a.dtype.kind == "O") or isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if sp.issparse(a):
        return type(a) is type(b) and all(
            same(getattr(a, part), getattr(b, part)) for part in ("data", "indices", "indptr")
        )
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if hasattr(a, "__dict__"):
        return type(a) is type(b) and same(vars(a), vars(b))
    return bool(a == b or (a != a and b != b))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_what_is_loaded_is_what_was_saved(name: str, sparse: bool, tmp_path: Path) -> None:
    make, rows, objects = MODELS[name]
    model = make()
    model.save(tmp_path / "model.safetensors", sparse=sparse)
    again = load_model(tmp_path / "model.safetensors", **objects)
    assert type(again) is type(model)
    for one, other in zip(answers(again, rows), answers(model, rows), strict=True):
        assert same(one, other)
    mine = {"loss", "kernel", "model", "allowed", "random_state", "solver"}  # looked at below
    apart = mine | {"_resumes", "_features", "_shape", "_fitted_kernel", "_going_on", "_kept", "_loss_of_fit"}
    for key in set(vars(model)) - apart:
        assert same(vars(again)[key], vars(model)[key]), key
    for key, value in model.get_params().items():
        if key not in objects and key != "random_state":
            assert same(again.get_params()[key], value), key


def test_every_estimator_there_is_can_be_saved() -> None:
    assert {type(make()).__name__ for make, _, _ in MODELS.values()} == set(ESTIMATORS)


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("search")])
def test_a_search_is_saved_with_what_it_has_found(name: str, tmp_path: Path) -> None:
    make, _, objects = MODELS[name]
    model = make()
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m", **objects)
    found = ("lam_", "lams_", "scores_", "train_scores_", "gaps_", "best_params_", "best_index_", "best_score_")
    for attribute in (*found, "n_splits_", "stopped_early_", "exact_", "objectives_", "n_support_"):
        assert same(getattr(again, attribute), getattr(model, attribute)), attribute
    assert again.cv_results_.keys() == model.cv_results_.keys()
    for key, column in model.cv_results_.items():
        assert same(np.asarray(again.cv_results_[key]), np.asarray(column)), key


def test_a_search_without_a_model_has_none_to_save(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="refit=False"):
        PegasosClassifierCV(lams=[0.1, 0.01], cv=2, refit=False).fit(X, SIGNS).save(tmp_path / "m")


@pytest.mark.parametrize("name", ["averaged", "a stream", "warm kernel", "two classes"])
def test_a_loaded_model_goes_on_as_the_saved_one_would_have(name: str, tmp_path: Path) -> None:
    make, rows, _ = MODELS[name]
    model = make()
    model.save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    for one in (model, again):
        one.fit(X, SIGNS) if name != "a stream" else one.partial_fit(X, SIGNS)
    assert same(answers(model, rows), answers(again, rows))
    assert same(model.n_steps_, again.n_steps_)


def test_the_same_model_has_the_same_bytes(tmp_path: Path) -> None:
    model = MODELS["three words"][0]()
    for path in ("a", "b"):
        model.save(tmp_path / path)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    load_model(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()


def test_sparse_keeps_only_the_weights_that_are_not_zero(tmp_path: Path) -> None:
    rows = sp.random(50, 5000, 0.001, random_state=0, format="csr")
    model = PegasosClassifier(lam=0.1).fit(rows, np.arange(50) % 2)
    model.save(tmp_path / "dense")
    model.save(tmp_path / "sparse", sparse=True)
    assert (tmp_path / "sparse").stat().st_size < (tmp_path / "dense").stat().st_size / 4
    assert same(load_model(tmp_path / "sparse").coef_, model.coef_)


def test_other_readers_of_safetensors_read_it(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors", reason="the safetensors package is not installed")
    model = MODELS["named columns"][0]()
    model.save(tmp_path / "m")
    with safetensors.safe_open(tmp_path / "m", "np") as file:
        assert file.metadata()["format"] == "pegasos model"
        assert file.metadata()["package"] == pegasos.__version__
        for name, found in (("coef_", model.coef_), ("intercept_", model.intercept_)):
            np.testing.assert_array_equal(file.get_tensor(name), found)


def test_a_file_asks_for_what_it_cannot_hold(tmp_path: Path) -> None:
    MODELS["own loss"][0]().save(tmp_path / "m")
    with pytest.raises(ValueError, match=r"loss=saved_models.Ramp.*load_model\(path, loss=...\)"):
        load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="has no parameter 'lose'"):
        load_model(tmp_path / "m", loss=Ramp(), lose=Ramp())
    MODELS["own kernel"][0]().save(tmp_path / "k")
    with pytest.raises(ValueError, match=r"load_model\(path, kernel=...\)"):
        load_model(tmp_path / "k")
    with pytest.raises(ValueError, match="the kernel was a function"):
        load_model(tmp_path / "k", kernel="rbf")


def test_what_cannot_be_saved_is_said(tmp_path: Path) -> None:
    class Mine(PegasosClassifier):
        pass

    with pytest.raises(ValueError, match="one of your own"):
        Mine().fit(X, SIGNS).save(tmp_path / "m")
    with pytest.raises(NotFittedError):
        PegasosClassifier().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_pipeline_is_saved_step_by_step(tmp_path: Path) -> None:
    """Only the model is ours: scikit-learn's steps have files of their own."""
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(lam=0.1)).fit(X, WORDS)
    pipeline[-1].save(tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert same(again.predict(pipeline[:-1].transform(X)), pipeline.predict(X))


def test_nothing_is_ever_pickled() -> None:
    """In a process of its own, where pickle cannot be imported by anything that saves or loads."""
    code = """
import sys, os, tempfile
import numpy as np, pegasos
from pegasos import PegasosClassifier, PegasosClassifierCV, load_model
model = PegasosClassifier(lam=0.1).fit(np.eye(6), [0, 1] * 3)
def trap(event, args):
    if event in ("pickle.find_class", "marshal.loads", "exec") and armed:
        raise SystemExit(f"{event} {args}")
armed = False
path = os.path.join(tempfile.mkdtemp(), "m")
model.save(path); load_model(path)  # what they import
sys.addaudithook(trap)
armed = True
model.save(path); load_model(path)
armed = False
print("fine")
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.stdout.strip() == "fine", done.stderr
