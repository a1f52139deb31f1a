"""Fits from a file whose rows stay there: the same model as from memory, in as little memory as was asked for."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import (
    SDCA,
    Auto,
    KernelPegasosClassifier,
    KernelPegasosClassifierCV,
    KernelPegasosRegressor,
    KernelPegasosRegressorCV,
    Pegasos,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosRegressor,
    PegasosSequenceTagger,
    PegasosSequenceTaggerCV,
    PegasosStructured,
    checkpointing,
    convert_data,
    open_data,
)
from pegasos.memory import n_bytes, shown, taken
from pegasos.solvers import memory_budget

rng = np.random.default_rng(1)
SPARSE = sp.random(3000, 200, 0.05, format="csr", random_state=3)
W = rng.normal(size=(200, 3))
SCORES = SPARSE @ W + 0.1 * rng.normal(size=(3000, 3))
SIGNS, THREE, NUMBERS = np.where(SCORES[:, 0] > 0, 1, -1), SCORES.argmax(axis=1), SCORES[:, 0]
DENSE = rng.normal(size=(2000, 15)).astype(np.float32)
DENSE_SIGNS = DENSE[:, 0] + 0.3 * rng.normal(size=2000) > 0


def stored(folder, X, y, **how):
    convert_data((X, y), folder / "rows.pegasos", dtype=X.dtype)
    return open_data(folder / "rows.pegasos", **how)


def in_memory(data):
    blocks = [block for _, block in data.blocks()]
    return sp.vstack(blocks).tocsr() if sp.issparse(blocks[0]) else np.concatenate(blocks)


def same(one, other) -> None:
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert np.asarray(one.intercept_).tobytes() == np.asarray(other.intercept_).tobytes()
    for name in ("steps", "objective", "dual"):
        assert one.history_[name].tobytes() == other.history_[name].tobytes(), name


CASES = {
    "hinge": (PegasosClassifier(lam=1e-4, tol=1e-5), SPARSE, SIGNS),
    "sdca": (PegasosClassifier(lam=1e-4, tol=1e-3, solver="sdca"), SPARSE, SIGNS),
    "pegasos": (PegasosClassifier(lam=1e-3, tol=1e-2, solver="pegasos", random_state=3), SPARSE, SIGNS),
    "log": (PegasosClassifier(lam=1e-4, loss="log", n_jobs=2), SPARSE, SIGNS),
    "one against the rest": (PegasosClassifier(lam=1e-4, n_jobs=2), SPARSE, THREE),
    "joint": (PegasosClassifier(lam=1e-4, loss="multiclass_hinge"), SPARSE, THREE),
    "weights of classes": (PegasosClassifier(lam=1e-4, class_weight="balanced"), SPARSE, THREE),
    "free bias": (PegasosClassifier(lam=1e-4, bias="free"), SPARSE, SIGNS),
    "dense": (PegasosClassifier(lam=1e-4, loss="squared_hinge"), DENSE, DENSE_SIGNS),
    "numbers": (PegasosRegressor(lam=1e-4, epsilon=0.05), SPARSE, NUMBERS),
    "numbers, free bias": (
        PegasosRegressor(lam=1e-4, bias="free", loss="squared_epsilon_insensitive"),
        SPARSE,
        NUMBERS,
    ),
}


def with_runs(model):
    solvers = {"auto": Auto, "sdca": SDCA, "pegasos": Pegasos}
    return type(model)(**{**model.get_params(deep=False), "solver": solvers[model.solver](sampling="runs")})


@pytest.mark.parametrize("case", CASES)
def test_the_same_bytes_as_from_memory(tmp_path, monkeypatch, case: str) -> None:
    """With as much memory as it takes, and with so little that what is known of every row goes to a file."""
    model, X, y = CASES[case]
    data = stored(tmp_path, X, y)
    expected = with_runs(model).fit(in_memory(data), data.y)
    same(model.fit(data), expected)
    np.testing.assert_array_equal(model.predict(data), expected.predict(in_memory(data)))
    assert model.score(data) == expected.score(in_memory(data), data.y)

    monkeypatch.setattr(memory_budget, "_LEAST", 1)
    monkeypatch.setattr(memory_budget, "budget_for", None)  # `linear_base` has its own
    spilled = memory_budget.MemoryBudget(str(tmp_path))
    monkeypatch.setattr("pegasos.estimators.linear_base.budget_for", lambda *_: spilled)
    same(model.fit(data), expected)


def test_partial_fit_and_warm_start(tmp_path) -> None:
    data = stored(tmp_path, SPARSE, THREE)
    X, y = in_memory(data), data.y
    stream = PegasosClassifier(lam=1e-3, random_state=0).partial_fit(data, classes=[0, 1, 2])
    other = PegasosClassifier(lam=1e-3, solver=Pegasos(sampling="runs"), random_state=0).partial_fit(X, y, [0, 1, 2])
    same(stream, other)
    more = PegasosClassifier(lam=1e-3, random_state=0).partial_fit(data, classes=[-1, 0, 1, 2])
    assert more.coef_.shape == (4, 200)
    warm = PegasosClassifier(lam=1e-3, warm_start=True).fit(data)
    steps = warm.n_iter_.sum()
    warm.set_params(lam=9e-4).fit(data)
    assert warm.converged_
    assert warm.n_iter_.sum() < steps


def test_labels_of_the_user_s_own_and_cross_validation(tmp_path) -> None:
    data = stored(tmp_path, SPARSE, THREE)
    model = PegasosClassifier(lam=1e-3).fit(data, data.y == 1)
    assert model.classes_.tolist() == [False, True]
    chosen = PegasosClassifierCV(lams=[1e-2, 1e-3], cv=3).fit(data)
    assert chosen.lam_ in (1e-2, 1e-3)


def test_names_of_columns_are_kept(tmp_path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DENSE[:, :3].astype(float), columns=["a", "b", "c"]).assign(label=DENSE_SIGNS.astype(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    convert_data(tmp_path / "t.csv", tmp_path / "t.pegasos", target="label")
    data = open_data(tmp_path / "t.pegasos")
    model = PegasosClassifier(lam=0.1).fit(data)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.score(data) == model.score(frame[["a", "b", "c"]], frame["label"])
    other = PegasosClassifier(lam=0.1).fit(frame[["a", "b", "c"]].rename(columns={"a": "d"}), frame["label"])
    with pytest.raises(ValueError, match="have other names"):
        other.predict(data)


def test_checkpoints_go_on_from_the_same_file_only(tmp_path) -> None:
    data = stored(tmp_path, SPARSE, SIGNS)
    whole = PegasosClassifier(lam=1e-6, tol=1e-6).fit(data)
    calls = iter(range(3))

    class Stopped(Exception):
        pass

    def stop(line) -> None:
        if next(calls, None) is None:
            raise Stopped

    from pegasos.progress import listening

    path = tmp_path / "run.ckpt"
    with pytest.raises(Stopped), checkpointing(path, every=0), listening(stop):
        PegasosClassifier(lam=1e-6, tol=1e-6).fit(data)
    assert path.exists()
    convert_data((SPARSE, SIGNS), tmp_path / "other.pegasos", seed=1)
    with pytest.raises(ValueError, match="the data differ"), checkpointing(path, every=0):
        PegasosClassifier(lam=1e-6, tol=1e-6).fit(open_data(tmp_path / "other.pegasos"))
    with checkpointing(path, every=0):
        same(PegasosClassifier(lam=1e-6, tol=1e-6).fit(open_data(tmp_path / "rows.pegasos")), whole)


def test_too_little_memory_is_refused_with_the_least(tmp_path) -> None:
    data = stored(tmp_path, SPARSE, SIGNS, memory=taken() + 1_000_000)
    with pytest.raises(
        ValueError, match=r"memory=\d+ MB is too little: a fit of 3,000 rows and 201 weights takes \d+ MB"
    ):
        PegasosClassifier().fit(data)


def test_models_of_several_classes_are_counted(tmp_path) -> None:
    """Those that are finished while others are fitted; and with a start, what they go on from."""
    data = stored(tmp_path, sp.hstack([SPARSE, sp.csr_matrix((3000, 400_000))]).tocsr(), THREE)
    model = PegasosClassifier(lam=1e-3, max_epochs=1, tol=1.0, warm_start=True).fit(data)
    for going_on in (False, True):
        free = taken() + 32_000_000 + 8 * 400_201 * (18 + (9 if going_on else 3))
        tight, enough = (open_data(data.path, memory=free + more) for more in (-4_000_000, 4_000_000))
        with pytest.raises(ValueError, match=r"400,201 weights for each of 3 classes takes \d+ MB at least"):
            (model if going_on else clone(model)).fit(tight)
        (model if going_on else clone(model)).fit(enough)


def test_amounts_of_memory() -> None:
    assert [n_bytes(said) for said in ("2GB", "1.5 gib", 77, "12", None)] == [2 * 10**9, 3 * 2**29, 77, 12, None]
    assert [shown(n) for n in (999, 1_000_001, 52_000_000, 123_400_000, 2**31)] == [
        "999 bytes", "1.1 MB", "52.0 MB", "124 MB", "2.2 GB",
    ]  # fmt: skip
    for said in ("", "2 apples", "-1GB", "0", "1e3", "1..2MB", -5, float("nan")):
        with pytest.raises(ValueError, match="is no amount of memory"):
            n_bytes(said)


@pytest.mark.filterwarnings("ignore:not converged")
def test_settled_rows_leave_the_runs(tmp_path) -> None:
    """Rows far on their side of the margin lie together: with shrinking most of them are not read again."""
    m = 20_000
    X = np.column_stack([np.where(np.arange(m) < 0.9 * m, 3.0, 0.1), np.random.default_rng(0).normal(size=m)])
    y = np.where(np.random.default_rng(1).random(m) < 0.5, -1, 1)
    X[:, 0] *= y
    convert_data((X, y), tmp_path / "rows.pegasos", keep_order=True)
    data = open_data(tmp_path / "rows.pegasos")
    read = {}
    for shrinking in (True, False):
        model = PegasosClassifier(lam=1e-3, tol=1e-9, max_epochs=40, solver=SDCA(sampling="runs", shrinking=shrinking))
        model.fit(data)
        read[shrinking] = model.n_steps_ / len(model.history_["steps"])  # rows between two certificates
    assert read[True] < 0.5 * read[False]


OTHERS = {
    "KernelPegasosClassifier": (KernelPegasosClassifier(), "a kernel compares each"),
    "KernelPegasosRegressor": (KernelPegasosRegressor(), "a kernel compares each"),
    "KernelPegasosClassifierCV": (KernelPegasosClassifierCV(), "a kernel compares each"),
    "KernelPegasosRegressorCV": (KernelPegasosRegressorCV(), "a kernel compares each"),
    "PegasosSequenceTagger": (PegasosSequenceTagger(), "a sequence is learned as a whole"),
    "PegasosSequenceTaggerCV": (PegasosSequenceTaggerCV(), "a sequence is learned as a whole"),
    "PegasosStructured": (PegasosStructured(None), "an example is an object"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_models_that_need_memory_say_why(tmp_path, name: str) -> None:
    data, (model, why) = stored(tmp_path, SPARSE, SIGNS), OTHERS[name]
    for labels in ((), (data.y,)):
        with pytest.raises(
            ValueError, match=rf"{name} needs rows in memory, and these are in the file .*rows\.pegasos: {why}"
        ):
            model.fit(data, *labels)
    with pytest.raises(ValueError, match="needs rows in memory"):
        model.fit(X=data)


def test_labels_that_are_forgotten_are_a_sentence() -> None:
    tokens = [[{"a": 1.0}, {"b": 1.0}]]
    for forgotten in (
        lambda: KernelPegasosClassifier().fit(SPARSE),
        lambda: KernelPegasosRegressor().fit(SPARSE),
        lambda: PegasosSequenceTagger().fit(tokens),
        lambda: PegasosSequenceTagger(pairs="all").partial_fit(tokens, classes=["x", "y"]),
        lambda: PegasosSequenceTaggerCV().fit(tokens),
    ):
        with pytest.raises(ValueError, match=r"requires y to be passed|y is missing"):
            forgotten()


def test_names_of_a_frame_are_kept(tmp_path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(DENSE[:, :2], columns=["a", "b"])
    convert_data((frame, DENSE_SIGNS), tmp_path / "t.pegasos")
    assert PegasosClassifier(lam=0.1).fit(open_data(tmp_path / "t.pegasos")).feature_names_in_.tolist() == ["a", "b"]
