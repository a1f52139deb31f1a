"""One class against one other: the problems, the models and the answers of SVC."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_problems import classifier, matrix, rows
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, Pegasos, _core, losses
from pegasos.kernel_solvers.pairs import Classes
from pegasos.problem.pairs import class_scores, pairs_of, votes

HINGE = losses.CLASSIFICATION["hinge"]


def four_classes(m=160, seed=3):
    X, _ = rows(m, 3, seed)
    return X, np.array(["d", "a", "c", "b"])[np.digitize(X[:, 0] + 0.3 * X[:, 1] * X[:, 2], [-0.7, 0.0, 0.8])]


X, Y = four_classes()
LAM, GAMMA = 2e-3, 0.4


def ours(**params):
    given = {"lam": LAM, "gamma": GAMMA, "bias": "free", "tol": 1e-9, "multi_class": "ovo", "random_state": 0}
    return KernelPegasosClassifier(**{**given, **params})


def theirs(X, y, lam=LAM, **params):
    return SVC(C=1 / (lam * len(y)), gamma=GAMMA, tol=1e-9, **params)


def their_pairs(svc, y):
    """SVC's coefficients of every pair and row, for the second class of a pair."""
    found, first = np.zeros((len(svc.intercept_), len(y))), np.cumsum([0, *svc.n_support_])
    for number, (i, k) in enumerate(pairs_of(len(svc.classes_))):
        for c, line in ((i, k - 1), (k, i)):
            mine = slice(first[c], first[c + 1])
            found[number, svc.support_[mine]] = -svc.dual_coef_[line, mine]
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_have_the_coefficients_of_svc(weighted):
    s = np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(Y)) if weighted else None
    model = ours().fit(X, Y, sample_weight=s)
    total = len(Y) if s is None else s.sum()
    svc = SVC(C=1 / (LAM * total), gamma=GAMMA, tol=1e-9).fit(X, Y, sample_weight=s)
    c = np.zeros((6, len(Y)))
    c[:, model.support_] = model.dual_coef_
    np.testing.assert_allclose(c, their_pairs(svc, Y), atol=1e-4 / (LAM * total))
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-4)
    assert (model.predict(X) == svc.predict(X)).all()


def test_answers_are_those_of_svc_on_rows_never_seen():
    for seed in range(5):
        A, y = four_classes(120, seed)
        Z = np.random.default_rng(seed).normal(size=(500, 3))
        model, svc = ours().fit(A, y), theirs(A, y).fit(A, y)
        assert (model.predict(Z) == svc.predict(Z)).mean() > 0.995  # a pair's score may be zero to the last digits
        assert model.decision_function(Z).shape == (500, 4)


@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", losses.CLASSIFICATION)
def test_objective_and_gap_are_those_of_every_pair(loss, bias):
    s = np.random.default_rng(1).choice([0.0, 1.0, 3.0], len(Y))
    model = ours(loss=loss, bias=bias, tol=1e-3).fit(X, Y, sample_weight=s)
    K, f = matrix("rbf", X), losses.CLASSIFICATION[loss]
    w = np.zeros((6, len(Y)))
    w[:, model.support_] = model.dual_coef_
    assert model.gap_.shape == (6,)
    for (i, k), c, b, objective, dual in zip(
        pairs_of(4), w, model.intercept_, model.objective_, model.dual_objective_, strict=True
    ):
        mine = np.isin(Y, model.classes_[[i, k]]) & (s > 0)
        assert not c[~mine].any()
        y, p = np.where(model.classes_[k] == Y, 1.0, -1.0), s / (LAM * s.sum())
        lam = LAM * s.sum() / s[mine].sum()
        square = c @ K @ c + (b**2 if bias == "regularized" else 0)
        losses_of = f.value(K @ c + b, y)[mine] @ s[mine] / s[mine].sum()
        assert objective == pytest.approx(lam / 2 * square + losses_of, abs=1e-9)
        a = np.divide(c, p, out=np.zeros_like(c), where=mine)[mine]
        if bias == "free":
            assert abs(c.sum()) < 1e-9 * np.abs(c).sum() + 1e-12
        conjugates = f.conjugate(a, y[mine]) @ s[mine] / s[mine].sum()
        assert dual == pytest.approx(-conjugates - lam / 2 * square, abs=1e-9)


def test_history_names_the_pairs_and_attributes_have_one_entry_each():
    model = ours(max_epochs=500).fit(X, Y)
    names = ["a vs b", "a vs c", "a vs d", "b vs c", "b vs d", "c vs d"]
    assert list(dict.fromkeys(model.history_["class"])) == names
    for name in ("objective_", "dual_objective_", "gap_", "n_iter_", "n_steps_"):
        assert getattr(model, name).shape == (6,)
    assert model.dual_coef_.shape == (6, len(model.support_))


def test_two_classes_are_the_same_either_way():
    y = X[:, 0] > 0
    one, other = ours().fit(X, y), ours(multi_class="ovr").fit(X, y)
    assert one.dual_coef_.tobytes() == other.dual_coef_.tobytes()
    assert one.decision_function(X).shape == (len(y),)


@pytest.mark.parametrize("solver", ["sdca", Pegasos(k=3)])
def test_every_solver_takes_pairs(solver):
    best = ours().fit(X, Y)
    model = ours(solver=solver, tol=0.05).fit(X, Y)
    assert (model.gap_ >= model.objective_ - best.objective_ - 1e-9).all()
    with pytest.raises(ValueError, match="rows of two classes"):
        ours(solver=Pegasos(k=150)).fit(X, Y)


def test_every_kind_of_rows_and_kernel_takes_pairs():
    model, K = ours().fit(X, Y), matrix("rbf", X)
    sparse = ours().fit(sp.csr_matrix(X), Y)
    given = ours(kernel="precomputed", kernel_params={"psd": True}).fit(K, Y)
    called = ours(kernel=lambda A, B: matrix("rbf", A, B), kernel_params={"psd": True}).fit(X, Y)
    for other, test in ((sparse, sp.csr_matrix(X)), (given, K), (called, X)):
        np.testing.assert_allclose(other.objective_, model.objective_, rtol=1e-9)
        assert (other.predict(test) == model.predict(X)).all()


def test_large_pairs_share_values_and_keep_the_contract():
    A, _ = rows(6000, 6, seed=5)
    y = np.digitize(A[:, 0] * A[:, 1], [-0.3, 0.3])
    model = classifier("rbf", multi_class="ovo", lam=1e-4, bias="free").fit(A, y)
    assert model.converged_
    exact = classifier("rbf", multi_class="ovo", lam=1e-4, bias="free", tol=1e-6).fit(A, y)
    assert (exact.dual_objective_ - 1e-6 <= model.objective_).all()
    assert (model.objective_ <= exact.objective_ + model.gap_ + 1e-6).all()
    small = ours().fit(X, Y).n_kernel_evaluations_
    sizes = np.unique(Y, return_counts=True)[1]
    assert small < 0.75 * sum((sizes[i] + sizes[k]) ** 2 for i, k in pairs_of(4))


def test_a_warm_start_goes_on_with_the_pairs():
    model = ours(warm_start=True, tol=1e-6).fit(X, Y)
    steps = model.n_steps_.sum()
    again = clone(model).fit(X, Y)
    assert model.fit(X, Y).n_steps_.sum() - steps < 0.5 * steps
    np.testing.assert_allclose(model.objective_, again.objective_, atol=1e-6)
    with pytest.raises(ValueError, match="multi_class has changed"):
        model.set_params(multi_class="ovr").fit(X, Y)


def test_classes_without_weight_lose_no_other_pair():
    s = np.where(np.isin(Y, ["c", "d"]), 0.0, 1.0)
    model = ours().fit(X, Y, sample_weight=s)
    assert model.converged_
    with pytest.warns(ConvergenceWarning, match="of 6"):  # and the summary has a line for all of them
        ours(max_epochs=0.1, tol=1e-12).fit(X, Y, sample_weight=s)
    kept = np.isin(Y, ["a", "b"])
    two = ours(lam=LAM).fit(X[kept], Y[kept])
    assert model.objective_[0] == pytest.approx(two.objective_, abs=1e-9)


def test_the_same_bytes_for_any_number_of_threads():
    A, _ = rows(2500, 8, seed=2)
    y = np.digitize(A[:, 0], [-0.5, 0.5])
    one, two = (classifier("rbf", multi_class="ovo", lam=1e-3, n_jobs=n).fit(A, y) for n in (1, 3))
    assert one.dual_coef_.tobytes() == two.dual_coef_.tobytes()


def test_probabilities_are_for_one_against_the_rest():
    assert hasattr(ours(loss="log", multi_class="ovr"), "predict_proba")
    assert not hasattr(ours(loss="log"), "predict_proba")
    with pytest.raises(ValueError, match="multi_class must be 'ovr' or 'ovo'"):
        ours(multi_class="all").fit(X, Y)


def test_votes_count_and_scores_break_ties():
    scores = np.array([[1.0, -2.0, -3.0], [0.5, -4.0, 0.5]])  # 0 or 1, 0 or 2, 1 or 2
    assert votes(scores, 3).tolist() == [[1, 2, 0], [1, 1, 1]]
    found = class_scores(scores, 3)
    assert found.argmax(axis=1).tolist() == [1, 0]
    assert (np.abs(found - votes(scores, 3)) < 1 / 3).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("loss", list(losses.CLASSIFICATION))
@pytest.mark.parametrize("tol", [1e-3, 1e-12])
def test_pairs_solved_in_one_call_are_those_solved_one_by_one(loss, bias, weighted, tol, capsys):
    """Who listens hears of every pair, and has them solved one by one."""
    s = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(Y)) if weighted else None
    together, alone = (ours(loss=loss, bias=bias, tol=tol, verbose=verbose).fit(X, Y, s) for verbose in (0, 1))
    assert capsys.readouterr().out.count("class a vs b") > 0
    for name in ("dual_coef_", "intercept_", "gap_", "objective_", "n_iter_", "n_steps_", "_rounding"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name), err_msg=name)
    for name in ("steps", "objective", "dual", "class"):
        np.testing.assert_array_equal(together.history_[name], alone.history_[name], err_msg=name)
    assert together.n_kernel_evaluations_ == alone.n_kernel_evaluations_


def test_ctrl_c_among_many_pairs_keeps_those_that_are_solved(monkeypatch):
    """The others are left at zero."""
    native, calls = _core.Labelled.Pairs.solve, []

    def interrupted(pairs, given, *others):
        calls.append(len(given))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return native(pairs, given, *others)

    monkeypatch.setattr(_core.Labelled.Pairs, "solve", interrupted)
    monkeypatch.setattr(Classes, "at_once", lambda *_: 30)
    model = ours(tol=1e-3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.arange(160) % 20)
    assert calls == [30, 30, 30]
    assert not model.converged_
    assert model.dual_coef_.any(axis=1).tolist() == [True] * 60 + [False] * 130
    assert np.isnan(model.gap_).tolist() == [False] * 61 + [True] * 129
