"""skops and MLflow hold our models; the types that they have to trust are those that docs/files.md names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_models import MODELS, SIGNS, X, answers
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
NAMED = set(re.findall(r"`((?:pegasos|scipy)\.[\w.]+)`", PAGE.read_text(encoding="utf-8")))
MINE = {
    "own loss",
    "own kernel",
    "tagger, function",
    "structured",
    "search, own folds",
}  # types of the user's come with them
REASON = "is not installed, but is in the dependency group `test`"


@pytest.mark.parametrize("name", sorted(set(MODELS) - MINE - {"costs"}))
def test_skops_loads_what_it_saved_and_trusts_the_types_that_are_named(name: str) -> None:
    sio = pytest.importorskip("skops.io", reason=f"skops {REASON}")
    make, rows, _ = MODELS[name]
    model = make()
    data = sio.dumps(model)
    asked = set(sio.get_untrusted_types(data=data))
    assert asked <= NAMED
    again = sio.loads(data, trusted=sorted(asked))
    for one, other in zip(answers(again, rows), answers(model, rows), strict=True):
        np.testing.assert_array_equal(one, other)


def test_skops_holds_pipelines(tmp_path: Path) -> None:
    sio = pytest.importorskip("skops.io", reason=f"skops {REASON}")
    pipeline = make_pipeline(StandardScaler(), PegasosClassifier(lam=0.1)).fit(X, SIGNS)
    sio.dump(pipeline, tmp_path / "p.skops")
    again = sio.load(tmp_path / "p.skops", trusted=["pegasos.estimators.linear.PegasosClassifier"])
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))


@pytest.mark.parametrize("format", ["cloudpickle", "skops"])
@pytest.mark.parametrize("name", ["two classes", "rbf", "regression"])
def test_mlflow_loads_what_it_saved(name: str, format: str, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow.sklearn", reason=f"MLflow {REASON}")
    make, rows, _ = MODELS[name]
    model = make()
    options: dict[str, Any] = {"skops_trusted_types": sorted(NAMED)} if format == "skops" else {}
    mlflow.save_model(model, tmp_path / "m", serialization_format=format, pip_requirements=[], **options)
    again = mlflow.load_model(str(tmp_path / "m"))
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
