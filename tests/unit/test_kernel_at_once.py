"""Targets, and classes against the rest, on few rows, solved in one native call: the bytes are those of one by one."""

import numpy as np
import pytest
from kernel_problems import rows
from sklearn.exceptions import ConvergenceWarning

from pegasos import KernelPegasosClassifier, KernelPegasosRegressor, _core, losses
from pegasos.kernel_solvers import small, working_set
from pegasos.solvers.base import Run

X, Y = rows(150, 3, seed=1)
TARGET = np.sin(2 * X[:, 0]) + 3
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def ours(loss="hinge", **params):
    kind = KernelPegasosClassifier if loss in losses.CLASSIFICATION else KernelPegasosRegressor
    return kind(**{"loss": loss, "lam": 1e-3, "gamma": 0.4, "random_state": 0, **params})


@pytest.fixture
def native(monkeypatch):
    """How many problems each native call had."""
    found, usual = [], _core.Labelled.Pairs.solve_labels

    def counted(pairs, K, labels, *others):
        found.append(len(labels))
        return usual(pairs, K, labels, *others)

    monkeypatch.setattr(_core.Labelled.Pairs, "solve_labels", counted)
    return found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("loss", "y"),
    [(loss, y) for loss in losses.CLASSIFICATION for y in (Y, THREE)] + [(loss, TARGET) for loss in losses.REGRESSION],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "regularized", "free"])
@pytest.mark.parametrize("tol", [1e-3, 1e-12])
def test_problems_solved_in_one_call_are_those_solved_one_by_one(loss, y, weighted, bias, tol, native):
    """What may go on later is solved one by one."""
    s = np.random.default_rng(0).choice([0.0, 0.5, 2.0], len(y)) if weighted else None
    together, alone = (ours(loss=loss, bias=bias, tol=tol, warm_start=warm).fit(X, y, s) for warm in (False, True))
    assert native == [3 if y is THREE else 1]
    for name in ("dual_coef_", "intercept_", "gap_", "objective_", "n_iter_", "n_steps_", "_rounding"):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name), err_msg=name)
    for name in ("steps", "objective", "dual"):
        np.testing.assert_array_equal(together.history_[name], alone.history_[name], err_msg=name)
    assert together.n_kernel_evaluations_ == alone.n_kernel_evaluations_


@pytest.mark.filterwarnings("ignore:no model is as good as a mere constant")
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", list(losses.REGRESSION))
def test_bounds_of_targets_far_from_zero_may_be_far_above_the_best_constant(loss, bias, native):
    """But not above f(0)."""
    together, alone = (ours(loss=loss, bias=bias, warm_start=warm).fit(X, TARGET + 100, None) for warm in (False, True))
    assert native == [1]
    assert together.converged_
    assert together.dual_objective_ <= alone.objective_ + 1e-9 * abs(alone.objective_)
    assert together.objective_ == pytest.approx(alone.objective_, rel=1e-9)


def test_larger_problems_and_those_that_somebody_hears_of_are_solved_one_by_one(native, monkeypatch, capsys):
    ours(verbose=1).fit(X, THREE)
    assert capsys.readouterr().out
    monkeypatch.setattr(small, "RARE_FROM", 150)
    ours().fit(X, THREE)
    assert native == []


def test_max_time_is_kept_there_too(native):
    in_time, endless = ours(max_time=60.0).fit(X, THREE), ours().fit(X, THREE)
    assert in_time.dual_coef_.tobytes() == endless.dual_coef_.tobytes()
    with pytest.warns(ConvergenceWarning, match="max_time"):
        out_of_time = ours(max_time=1e-9, tol=1e-12, lam=1e-6).fit(X, THREE)
    assert native == [3, 3, 3]
    assert not out_of_time.converged_
    assert np.isfinite(out_of_time.gap_).all()
    assert (out_of_time.gap_ > endless.gap_).all()


def test_ctrl_c_before_the_first_step_leaves_a_model_of_zeros(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_core.Labelled.Pairs, "solve_labels", interrupted)
    model = ours(bias="free")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, THREE)
    assert not model.converged_
    assert not model.dual_coef_.any()
    assert set(model.predict(X)) <= set(THREE)


def test_one_class_that_native_work_leaves_unfinished_goes_on_where_it_is(native, monkeypatch):
    """A budget of next to nothing ends every call before it is done."""
    monkeypatch.setattr(working_set, "SLICE", 1.0)
    model = ours(tol=1e-6, bias="free").fit(X, THREE)
    assert native == [3]
    assert model.converged_
    assert (model.gap_ <= 1e-6).all()


def test_labels_for_native_work_are_checked_at_the_border():
    work = _core.Labelled.Pairs(
        "hinge", 0.0, 0.0, 1.0, 1.0, [np.arange(3)], None, np.ones(3), np.zeros((1, 3)), np.zeros((1, 3))
    )
    terms = _core.Labelled.PairTerms(1e-3, 1e-3, 10.0, True, 0.0, 0.0)
    given = (terms, _core.Labelled.Options(False, 0.0, 1.0, 0.0))
    for K, y in ((np.eye(2), np.ones(3)), (np.eye(3), np.ones(2)), (np.eye(3)[:, ::-1], np.ones(3))):
        with pytest.raises(ValueError, match=r"lengths|lines"):
            work.solve_labels(K, [y], 1.0, 3.0, *given, Run(1e-3, 1.0).watch())
