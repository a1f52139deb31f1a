"""ONNX: onnxruntime answers as the models do, and pipelines are converted with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from saved_models import MODELS, NUMBERS, SIGNS, WORDS, X
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    KernelPegasosRegressor,
    KernelPegasosRegressorCV,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    PegasosRegressorCV,
    PegasosSequenceTagger,
)

pytest.importorskip("onnx", reason="onnx is not installed: pip install pegasos[onnx]")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install pegasos[onnx]")

CSR = sp.csr_matrix(np.where(abs(X) > 1, X, 0.0))
LAMS = [0.1, 0.01]
PAIRS: Any = {"multi_class": "ovo", "probability": "sigmoid"}
FAR = np.vstack([X, X[:3] * 100])  # rows that no class sees a probability for
OVO: Any = {"lam": 0.01, "multi_class": "ovo"}
FITTED: dict[str, tuple[Any, Any]] = {
    "hinge": (PegasosClassifier(lam=0.1).fit(X, SIGNS), X),
    "log": (PegasosClassifier(lam=0.1, loss="log").fit(X, SIGNS > 0), X),
    "log, sure": (PegasosClassifier(lam=1e-6, loss="log", max_epochs=20).fit(X * 50, WORDS), X * 50),
    "multinomial": (PegasosClassifier(lam=0.1, loss="multinomial").fit(X, WORDS), X),
    "multinomial, two": (PegasosClassifier(lam=0.1, loss="multinomial").fit(X, SIGNS), X),
    "joint hinge, sparse": (PegasosClassifier(lam=0.1, loss="multiclass_hinge").fit(X, WORDS).sparsify(), X),
    "regression": (PegasosRegressor(lam=0.01).fit(X, NUMBERS), X),
    "rbf": (KernelPegasosClassifier(lam=0.1, bias="free").fit(X, WORDS), X),
    "rbf, log": (KernelPegasosClassifier(lam=0.1, loss="log").fit(X, WORDS), X),
    "rbf far away": (KernelPegasosClassifier(lam=0.1).fit(X + 1000, SIGNS), X + 1000),
    "rbf very far away": (KernelPegasosClassifier(lam=0.1).fit(X * 64 + 2**20, SIGNS), X * 64 + 2**20),
    "poly, pairs": (KernelPegasosClassifier(**OVO, kernel="poly", coef0=1.0).fit(X, WORDS), X),
    "sigmoid": (KernelPegasosClassifier(lam=0.1, kernel="sigmoid", gamma=0.1, coef0=0.5).fit(X, SIGNS), X),
    "laplacian": (KernelPegasosClassifier(lam=0.1, kernel="laplacian").fit(X, SIGNS), X),
    "chi2": (KernelPegasosClassifier(**OVO, kernel="chi2").fit(sp.csr_matrix(abs(CSR)), WORDS), abs(CSR).toarray()),
    "cosine": (KernelPegasosClassifier(lam=0.1, kernel="cosine").fit(CSR, WORDS), CSR.toarray()),
    "linear kernel": (KernelPegasosClassifier(lam=0.1, kernel="linear", bias="regularized").fit(X, WORDS), X),
    "precomputed": (KernelPegasosClassifier(lam=0.1, kernel="precomputed").fit(X @ X.T, SIGNS), (X @ X.T)[:7]),
    "kernel regression": (KernelPegasosRegressor(lam=0.01, bias="free").fit(X, NUMBERS), X),
    "search": (PegasosClassifierCV(LAMS, 2).fit(X, SIGNS), X),
    "search, sigmoid": (PegasosClassifierCV(LAMS, 2, probability="sigmoid").fit(X, SIGNS), X),
    "search, isotonic": (PegasosClassifierCV(LAMS, 2, probability="isotonic").fit(X, SIGNS), X * 3),
    "search, log, isotonic": (PegasosClassifierCV(LAMS, 2, loss="log", probability="isotonic").fit(X, WORDS), X * 3),
    "search, kernel, isotonic": (KernelPegasosClassifierCV(LAMS, 2, probability="isotonic").fit(X, WORDS), FAR),
    "search, pairs, sigmoid": (KernelPegasosClassifierCV(LAMS, 2, **PAIRS).fit(X, WORDS), X),
    "search, numbers": (PegasosRegressorCV(LAMS, 2).fit(X, NUMBERS), X),
    "search, kernel, numbers": (KernelPegasosRegressorCV(LAMS, 2).fit(X, NUMBERS), X),
}  # fmt: skip


def run(source: Any, rows: Any, **options: Any) -> dict[str, Any]:
    source = source.SerializeToString() if hasattr(source, "SerializeToString") else str(source)
    session = runtime.InferenceSession(source, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, {name: rows}), strict=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FITTED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_runtime_answers_as_the_model_does(name: str, dtype: Any, tmp_path: Path) -> None:
    model, rows = FITTED[name]
    rows = rows.astype(dtype)
    model.to_onnx(tmp_path / "m.onnx", dtype)
    found = run(tmp_path / "m.onnx", rows)
    if "value" in found:
        np.testing.assert_allclose(found["value"], model.predict(rows), rtol=1e-5, atol=1e-5)
        return
    scores = model.decision_function(rows)
    clear = np.abs(scores if scores.ndim == 1 else np.diff(np.sort(scores, axis=1))[:, -1]) > 1e-5
    assert clear.mean() > 0.9
    labels = model.predict(rows)
    labels = labels if labels.dtype.kind in "UO" else labels.astype(int)
    assert (found["label"] == labels)[clear].all()
    np.testing.assert_allclose(found["scores"], scores, rtol=1e-5, atol=1e-5)
    assert ("probabilities" in found) == hasattr(model, "predict_proba")
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=1e-5, atol=1e-12)


TOKENS = (np.random.default_rng(1).uniform(size=(400, 12)) < 0.3).astype(float)
TAGS = np.array(["a", "b", "c"])[(TOKENS @ np.arange(36).reshape(12, 3) % 7).argmax(axis=1)]


@pytest.mark.parametrize("loss", ["hinge", "log"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_kernels_over_rows_in_float32_answer_as_the_model_does(kernel: Any, loss: Any, tmp_path: Path) -> None:
    """With large coefficients, which make small errors of kernel values large ones of scores."""
    generator = np.random.default_rng(1)
    rows = generator.normal(size=(120, 8)).astype(np.float32)
    y = (rows[:, 0] + generator.normal(size=120) > 0).astype(int)
    model = KernelPegasosClassifier(lam=1e-4, kernel=kernel, loss=loss, random_state=0).fit(rows, y)
    model.to_onnx(tmp_path / "m.onnx")
    found = run(tmp_path / "m.onnx", rows)
    ours = model.decision_function(rows)
    ahead = found["scores"].reshape(120, -1)[:, -1]
    assert (abs(ahead - ours) <= 1e-5 * np.maximum(1, abs(ours))).all()
    np.testing.assert_array_equal(found["label"], model.predict(rows))
    if loss == "log":
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(rows), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "options", [{}, {"loss": "log"}, {"loss": "log", "boundaries": "none", "pairs": "all"}, {"allowed": "mask"}]
)
def test_sequences_are_labelled_as_the_tagger_does(options: dict[str, Any]) -> None:
    if "allowed" in options:
        options = {"allowed": lambda before, after: (before, after) not in seen_never()}
    tagger = PegasosSequenceTagger(lam=0.05, **options).fit(TOKENS, TAGS, lengths=[20] * 20)
    graph = tagger.to_onnx(dtype="float64")
    for first, last in ((0, 20), (20, 21), (21, 23), (23, 90)):
        rows = TOKENS[first:last]
        found = run(graph, rows)
        assert found["label"].tolist() == tagger.predict(rows, lengths=[len(rows)]).tolist()
        assert ("marginals" in found) == (tagger.loss == "log")
        if "marginals" in found:
            ours = tagger.predict_marginals(rows, lengths=[len(rows)])
            np.testing.assert_allclose(found["marginals"], ours, rtol=1e-5, atol=1e-12)


def seen_never() -> set[tuple[str, str]]:
    """Steps that the training sequences do not have, some of which may be forbidden."""
    steps = {(a, b) for i in range(0, 400, 20) for a, b in zip(TAGS[i : i + 19], TAGS[i + 1 : i + 20], strict=True)}
    return {(a, b) for a in "abc" for b in "abc"} - steps


@pytest.mark.parametrize(
    "name",
    [
        "hinge",
        "log",
        "multinomial",
        "rbf",
        "poly, pairs",
        "regression",
        "kernel regression",
        "search, isotonic",
        "search, numbers",
        "search, kernel, isotonic",
    ],
)
def test_pipelines_are_converted_by_skl2onnx(name: str) -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: pip install pegasos[onnx]")
    from pegasos.io.onnx import register

    register()
    model, rows = FITTED[name]
    numbers, two = "regression" in name or "numbers" in name, name in ("hinge", "log", "search, isotonic")
    y = NUMBERS if numbers else SIGNS if two else WORDS
    rows = rows[: len(y)]
    pipeline = make_pipeline(StandardScaler(), type(model)(**model.get_params())).fit(rows, y)
    rows = rows.astype(np.float32)
    options = None if numbers else {id(pipeline): {"zipmap": False}}
    found = run(skl2onnx.to_onnx(pipeline, rows[:1], options=options), rows)
    if numbers:
        np.testing.assert_allclose(next(iter(found.values())).ravel(), pipeline.predict(rows), rtol=1e-4, atol=1e-4)
        return
    assert (found["label"] == pipeline.predict(rows)).mean() > 0.98  # the scaler rounds to float32
    if hasattr(pipeline, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(rows), rtol=1e-4, atol=1e-5)
    else:
        scores = pipeline.decision_function(rows)
        scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        np.testing.assert_allclose(found["probabilities"], scores, rtol=1e-3, atol=1e-4)
    listed = run(skl2onnx.to_onnx(pipeline, rows[:1]), rows)
    assert set(listed["output_probability"][0]) == set(pipeline.classes_.tolist())


def test_raw_scores_are_asked_for() -> None:
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed: pip install pegasos[onnx]")
    from pegasos.io.onnx import register

    register()
    model, rows = FITTED["multinomial"]
    options = {id(model): {"zipmap": False, "raw_scores": True}}
    found = run(skl2onnx.to_onnx(model, rows[:1].astype(np.float64), options=options), rows)
    np.testing.assert_allclose(found["probabilities"], model.decision_function(rows), rtol=1e-9)


def test_what_onnx_cannot_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the code that decodes structures is yours"):
        MODELS["structured"][0]().to_onnx(tmp_path / "m")
    with pytest.raises(ValueError, match="rows that are objects"):
        MODELS["own kernel"][0]().to_onnx(tmp_path / "m")
    with pytest.raises(ValueError, match="a function of yours"):
        KernelPegasosClassifier(kernel=lambda A, B: A @ B.T, lam=0.1).fit(X, SIGNS).to_onnx()
    with pytest.raises(ValueError, match="whole numbers or strings"):
        MODELS["bytes"][0]().to_onnx()
    with pytest.raises(ValueError, match="dtype must be"):
        FITTED["hinge"][0].to_onnx(dtype="float16")
    with pytest.raises(NotFittedError):
        PegasosClassifier().to_onnx(tmp_path / "m")
    assert not list(tmp_path.iterdir())
