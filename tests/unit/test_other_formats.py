"""Models for LIBLINEAR and scikit-learn: the same answers as ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from own_losses import Huber
from saved_models import MODELS, NUMBERS, SIGNS, WORDS, X
from sklearn.exceptions import NotFittedError

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    PegasosRegressorCV,
    from_liblinear,
)

THREE = np.unique(WORDS, return_inverse=True)[1]
LINEAR = {
    "hinge": PegasosClassifier(lam=0.1).fit(X, SIGNS),
    "squared hinge, free bias": PegasosClassifier(lam=0.1, loss="squared_hinge", bias="free").fit(X, SIGNS * 7),
    "log": PegasosClassifier(lam=0.1, loss="log", bias="none").fit(X, SIGNS > 0),
    "three, log": PegasosClassifier(lam=0.1, loss="log").fit(X, THREE),
    "three, hinge, sparse": PegasosClassifier(lam=0.1).fit(X, THREE.astype(float)).sparsify(),
    "two, joint": PegasosClassifier(lam=0.1, loss="multiclass_hinge").fit(X, SIGNS),
    "three, joint": PegasosClassifier(lam=0.1, loss="multinomial").fit(X, THREE),
    "regression": PegasosRegressor(lam=0.01).fit(X, NUMBERS),
    "regression, own loss": PegasosRegressor(lam=0.01, loss=Huber()).fit(X, NUMBERS),
    "a search": PegasosClassifierCV([0.1, 0.01], 2).fit(X, SIGNS),
    "a search, log": PegasosClassifierCV([0.1, 0.01], 2, loss="log").fit(X, THREE),
    "a search, regression": PegasosRegressorCV([0.1, 0.01], 2, bias="free").fit(X, NUMBERS),
    "squared regression": PegasosRegressor(lam=0.01, loss="squared_epsilon_insensitive", bias="none").fit(X, NUMBERS),
}


def scores_of_text(path: Path, rows: Any) -> Any:
    """What LIBLINEAR's documentation says of the format, read without our reader: labels, and scores of every w."""
    lines = path.read_text().splitlines()
    header = dict(line.split(" ", 1) for line in lines[: lines.index("w")])
    w = np.array([[float(number) for number in line.split()] for line in lines[lines.index("w") + 1 :]])
    n, bias = int(header["nr_feature"]), float(header["bias"])
    assert w.shape[0] == n + (bias >= 0)
    scores = rows @ w[:n] + (w[n] * bias if bias >= 0 else 0.0)
    if "label" not in header:
        return scores[:, 0]
    labels = np.array([int(label) for label in header["label"].split()])
    return labels[np.where(scores[:, 0] > 0, 0, 1)] if scores.shape[1] == 1 else labels[scores.argmax(axis=1)]


@pytest.mark.parametrize("name", LINEAR)
def test_a_file_for_liblinear_says_the_same(name: str, tmp_path: Path) -> None:
    model = LINEAR[name]
    model.save(tmp_path / "m", format="liblinear")
    np.testing.assert_allclose(scores_of_text(tmp_path / "m", X), model.predict(X).astype(float), rtol=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_liblinear_itself_gives_the_same_answers(name: str, tmp_path: Path) -> None:
    reason = "LIBLINEAR is not installed: pip install liblinear-official"
    liblinear = pytest.importorskip("liblinear.liblinearutil", reason=reason)
    model = LINEAR[name]
    model.save(tmp_path / "m", format="liblinear")
    theirs = liblinear.load_model(str(tmp_path / "m"))
    rows = [dict(enumerate(row, 1)) for row in X.tolist()]
    options = "-b 1 -q" if name in ("log", "three, log", "a search, log") else "-q"
    labels, _, values = liblinear.predict([], rows, theirs, options)
    np.testing.assert_allclose(labels, model.predict(X).astype(float), rtol=1e-12)
    if "-b 1" in options:
        order = np.argsort(theirs.get_labels())
        np.testing.assert_allclose(np.array(values)[:, order], model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("name", LINEAR)
def test_what_was_written_for_liblinear_comes_back(name: str, tmp_path: Path) -> None:
    model = LINEAR[name]
    model.save(tmp_path / "m", format="liblinear")
    again = from_liblinear(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.predict(X).astype(again.predict(X).dtype))
    if hasattr(model, "classes_"):
        np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-12)
    again.save(tmp_path / "again")
    assert np.isnan(pegasos.load_model(tmp_path / "again").gap_)


@pytest.mark.parametrize(
    "options", ["-s 0", "-s 1 -B 1", "-s 3 -B 2.5", "-s 4 -B 1", "-s 5", "-s 7 -B 0", "-s 11 -B 1", "-s 13"]
)
@pytest.mark.parametrize("classes", [[3, -2], [-2, 3], [1, 0, 2]])
def test_models_of_liblinear_are_read(options: str, classes: list[int], tmp_path: Path) -> None:
    """Whichever label comes first in the file."""
    reason = "LIBLINEAR is not installed: pip install liblinear-official"
    liblinear = pytest.importorskip("liblinear.liblinearutil", reason=reason)
    rows = [dict(enumerate(row, 1)) for row in X.tolist()]
    y = [float(classes[0])] + [float(classes[i]) for i in X[1:, : len(classes)].argmax(axis=1)]
    y = NUMBERS.tolist() if options.split()[1] in ("11", "13") else y
    theirs = liblinear.train(y, rows, options + " -q")
    liblinear.save_model(str(tmp_path / "m"), theirs)
    found = from_liblinear(tmp_path / "m").predict(X)
    np.testing.assert_allclose(found, liblinear.predict([], rows, theirs, "-q")[0], rtol=1e-12)


GOOD = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias -1\nw\n1 \n2 \n"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("L2R_LR", "ONECLASS_SVM", "m:1: there is no estimator for models of the type ONECLASS_SVM"),
        ("L2R_LR", "nonsense", "no estimator"),
        ("w\n1 \n2 \n", "", "no line 'w'"),
        ("nr_class 2", "nr_class two", "must be numbers"),
        ("nr_class 2", "nr_class 1", "no model with 1 classes"),
        ("nr_class 2\n", "", "does not say its nr_class"),
        ("label 1 -1", "label 1 1", "1 different labels for 2 classes"),
        ("label 1 -1", "label 1", "1 different labels for 2 classes"),
        ("1 \n2 \n", "1 \n", "has 1 lines of weights where its header says 2"),
        ("1 \n2 \n", "1 \n2 \n3 \n", "has 3 lines of weights"),
        ("2 \n", "two \n", "m:8: 1 numbers were expected, got 'two'"),
        ("2 \n", "2 3 \n", "m:8: 1 numbers were expected"),
        ("nr_class 2\nlabel 1 -1", "nr_class 3\nlabel 1 2 3", "m:7: 3 numbers were expected, got '1'"),
        ("2 \n", "nan \n", "m:8: a weight is not finite"),
        ("bias -1", "bios -1", "m:5: 'bios -1' is not what a model of LIBLINEAR says"),
        ("bias -1", "bias inf", "bias inf"),
        ("label 1 -1\n", "", "a model of the type L2R_LR has a line of labels"),
        ("L2R_LR", "L2R_L2LOSS_SVR", "a model of the type L2R_L2LOSS_SVR has no labels"),
        ("nr_feature 2", "nr_feature 99999999999999", "lines of weights where its header says"),
    ],
)  # fmt: skip
def test_bad_files_of_liblinear_are_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(GOOD)
    from_liblinear(tmp_path / "m")
    (tmp_path / "m").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(ValueError, match=words):
        from_liblinear(tmp_path / "m")


def test_what_liblinear_cannot_hold_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"labels are whole numbers; this model has \['ant'"):
        MODELS["three words"][0]().save(tmp_path / "m", format="liblinear")
    with pytest.raises(ValueError, match="linear models of rows; a KernelPegasosClassifier is none"):
        MODELS["rbf"][0]().save(tmp_path / "m", format="liblinear")
    with pytest.raises(ValueError, match="sparse=True is for our own format"):
        LINEAR["log"].save(tmp_path / "m", format="liblinear", sparse=True)
    with pytest.raises(ValueError, match="format must be"):
        LINEAR["log"].save(tmp_path / "m", format="libsvm")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        PegasosClassifier().save(tmp_path / "m", format="liblinear")
    assert not list(tmp_path.iterdir())


def laplace(A: Any, B: Any, width: float = 1.0) -> Any:
    return np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2) / width)


CSR = sp.csr_matrix(np.where(abs(X) > 1, X, 0.0))
OVO: Any = {"lam": 0.01, "multi_class": "ovo"}
KERNELS: dict[str, tuple[Any, Any]] = {
    "rbf": (KernelPegasosClassifier(lam=0.1, bias="free").fit(X, SIGNS), X),
    "rbf far away": (KernelPegasosClassifier(lam=0.1).fit(X + 50, WORDS), X + 50),
    "pairs": (KernelPegasosClassifier(**OVO, kernel="poly", degree=2, coef0=1.0).fit(X, WORDS), X),
    "linear, pairs, sparse": (KernelPegasosClassifier(**OVO, kernel="linear", bias="free").fit(CSR, WORDS), CSR),
    "sigmoid": (KernelPegasosClassifier(lam=0.1, kernel="sigmoid", gamma=0.1, coef0=0.5).fit(X, SIGNS), X),
    "precomputed": (KernelPegasosClassifier(lam=0.1, kernel="precomputed").fit(X @ X.T, SIGNS), (X @ X.T)[:7]),
    "laplacian": (KernelPegasosClassifier(lam=0.1, kernel="laplacian").fit(X, SIGNS), X),
    "chi2": (KernelPegasosClassifier(**OVO, kernel="chi2").fit(abs(X), WORDS), abs(X)),
    "cosine": (KernelPegasosClassifier(lam=0.1, kernel="cosine").fit(X, WORDS), X),
    "function": (KernelPegasosClassifier(lam=0.1, kernel=laplace, kernel_params={"width": 2.0}).fit(X, SIGNS), X),
    "regression": (KernelPegasosRegressor(lam=0.01, bias="free").fit(X, NUMBERS), X),
    "sparse regression": (KernelPegasosRegressor(lam=0.01, kernel="poly").fit(CSR, NUMBERS), CSR),
    "a search": (KernelPegasosClassifierCV([0.1, 0.01], 2).fit(X, WORDS), X),
}  # fmt: skip


@pytest.mark.parametrize("name", [*LINEAR, "words", "own loss", *(f"kernel: {name}" for name in KERNELS)])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_scikit_learns_own_model_has_the_same_answers(name: str) -> None:
    kernel = name.startswith("kernel: ")
    model, rows = KERNELS[name.removeprefix("kernel: ")] if kernel else (LINEAR.get(name), X)
    if model is None:
        model = MODELS["three words" if name == "words" else "own loss"][0]()
    theirs = model.to_sklearn()
    assert type(theirs).__module__.startswith("sklearn.")
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(theirs.predict(rows), model.predict(rows))
    else:
        np.testing.assert_allclose(theirs.predict(rows), model.predict(rows), rtol=1e-9)
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            ours, found = getattr(model, method)(rows), getattr(theirs, method)(rows)
            np.testing.assert_allclose(found, ours, rtol=1e-9, atol=1e-12)


def test_the_kinds_are_those_that_people_know() -> None:
    kinds = {name: type(model.to_sklearn()).__name__ for name, model in LINEAR.items()}
    assert kinds["hinge"] == "LinearSVC"
    assert kinds["log"] == kinds["three, joint"] == "LogisticRegression"
    assert kinds["regression"] == "LinearSVR"
    assert type(KERNELS["pairs"][0].to_sklearn()).__name__ == "SVC"
    assert type(KERNELS["regression"][0].to_sklearn()).__name__ == "SVR"
    names = MODELS["named columns"][0]()
    assert names.to_sklearn().feature_names_in_.tolist() == names.feature_names_in_.tolist()


def test_what_scikit_learn_has_not_is_said() -> None:
    for name in ("tagger", "structured"):
        with pytest.raises(ValueError, match="scikit-learn has no estimator"):
            MODELS[name][0]().to_sklearn()
    with pytest.raises(ValueError, match="rows that are objects"):
        MODELS["own kernel"][0]().to_sklearn()
    with pytest.raises(ValueError, match=r"chi2_kernel takes dense rows only, .* or use model\.to_onnx"):
        KernelPegasosClassifier(kernel="chi2", lam=0.1).fit(sp.csr_matrix(abs(X)), SIGNS).to_sklearn()
    log = KernelPegasosClassifier(loss="log", lam=0.1).fit(X, SIGNS)
    assert hasattr(log, "predict_proba")
    assert not hasattr(log.to_sklearn(), "predict_proba")  # as docs/files.md says
    with pytest.raises(ValueError, match="whole degrees"):
        KernelPegasosClassifier(kernel="poly", degree=2.5, lam=0.1).fit(abs(X), SIGNS).to_sklearn()
    with pytest.raises(NotFittedError):
        PegasosClassifier().to_sklearn()


def test_searches_are_the_model_that_they_have_chosen(tmp_path: Path) -> None:
    calibrated = PegasosClassifierCV([0.1, 0.01], 2, probability="sigmoid").fit(X, SIGNS)
    assert not hasattr(calibrated.to_sklearn(), "predict_proba")  # a LinearSVC has none
    np.testing.assert_allclose(calibrated.to_sklearn().decision_function(X), calibrated.decision_function(X))
    with pytest.raises(ValueError, match="not with those of probability='isotonic'"):
        PegasosClassifierCV([0.1], 2, loss="log", probability="isotonic").fit(X, SIGNS).to_sklearn()
    chosen = PegasosClassifierCV([0.1, 0.01], 2, refit=False).fit(X, SIGNS)
    for write in (chosen.to_sklearn, lambda: chosen.save(tmp_path / "m", format="liblinear")):
        with pytest.raises(ValueError, match="set refit=True"):
            write()
    with pytest.raises(ValueError, match="LIBLINEAR has linear models"):
        KERNELS["a search"][0].save(tmp_path / "m", format="liblinear")
    assert not list(tmp_path.iterdir())
