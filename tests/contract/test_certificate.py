"""The one contract: gap >= f(w) - f(w*), for everything that exists.

Losses, biases, samplings and solvers are read from where they are registered, so what is added there is tested here.
What a newcomer may need: a solver of its exact optimum in reference.EXACT, its bias in reference.with_bias, a method
other than its default in SOLVERS.
"""

import functools
import itertools
import warnings

import numpy as np
import pytest
from problems import DATA, some_weights
from reference import FREE, balanced, best_bias, dual_value, exact_optimum, level_bias, mean, with_bias

from pegasos import Pegasos, PegasosClassifier, losses, solvers
from pegasos.problem.data import InMemory
from pegasos.problem.labels import encode
from pegasos.problem.problem import Problem, Weights

LAM, M = 0.03, 45
LOSSES = list(losses.CLASSIFICATION.values())
BIASES = PegasosClassifier._rules["bias"].words
HINGE_ONLY = ("batch", "search")
WEIGHTS = ("equal", "uneven", "with zeros")
SAMPLINGS = Pegasos._rules["sampling"].words
SOLVERS = {
    **{f"{name} by default": solver for name, solver in solvers.NAMED.items()},
    **{f"pegasos {order}": functools.partial(Pegasos, sampling=order) for order in SAMPLINGS},
    **{f"pegasos {order} k = 6": functools.partial(Pegasos, sampling=order, k=6) for order in SAMPLINGS},
    "pegasos k = 7": functools.partial(Pegasos, k=7),
    "pegasos iid k = 20": functools.partial(Pegasos, k=20, sampling="iid"),
    "pegasos 1 step": functools.partial(Pegasos, T=1),
    "pegasos 1000 steps": functools.partial(Pegasos, T=1000, k=2),
    "pegasos projected": functools.partial(Pegasos, projection=True),
    "pegasos projected norma": functools.partial(Pegasos, projection=True, step="norma", k=3),
    "pegasos norma": functools.partial(Pegasos, step="norma"),
    "pegasos constant": functools.partial(Pegasos, step=0.5, start="random"),
    "pegasos short constant": functools.partial(Pegasos, step=0.01, start="random"),
    "pegasos average": functools.partial(Pegasos, output="average", k=2),
    "pegasos tail": functools.partial(Pegasos, output="tail", projection=True),
    "pegasos random steps": functools.partial(Pegasos, output="random", T=300, k=2),
    "pegasos best of 3 steps": functools.partial(Pegasos, output="best", T=300, k=2),
    "pegasos on loss": functools.partial(Pegasos, advance="on_loss", k=2),
}
CLASSES = (2, 3)


def refused(loss, bias, solver):
    """tests/unit/test_refusals.py: a batch of one has no best b, and the ball of a projection holds the bias, too."""
    method = SOLVERS[solver]()
    if loss.name != "hinge" and bias in HINGE_ONLY:
        return True
    if not loss.bounded_slope and solver == "pegasos constant":
        return True  # a step that would explode
    return (bias == "batch" and getattr(method, "k", 1) == 1) or (getattr(method, "projection", False) and bias in FREE)


def every_solver(names):
    """Losses, biases and solvers that go together."""
    triples = [t for t in itertools.product(LOSSES, BIASES, names) if not refused(*t)]
    ids = [f"{loss.name}-{bias}-{solver}" for loss, bias, solver in triples]
    return pytest.mark.parametrize(("loss", "bias", "solver"), triples, ids=ids)


every_problem = pytest.mark.parametrize(
    ("loss", "bias"),
    [(loss, bias) for loss in LOSSES for bias in BIASES if loss.name == "hinge" or bias not in HINGE_ONLY],
    ids=lambda value: getattr(value, "name", value),
)
every_weights = pytest.mark.parametrize("weights", WEIGHTS)


@functools.cache
def problem(n_classes):
    rng = np.random.default_rng(8)
    X = (rng.standard_normal((M, 7)) * (rng.random((M, 7)) < 0.5)).astype(np.float32)  # the same in every dtype
    codes = np.argmax(X @ rng.standard_normal((7, n_classes)) + 0.3 * rng.standard_normal((M, n_classes)), axis=1)
    return X.astype(np.float64), codes


@functools.cache
def optimum(loss, bias, weights, n_classes, positive):
    X, codes = problem(n_classes)
    y = np.where(codes == positive, 1.0, -1.0)
    return exact_optimum(with_bias(X, bias), y, LAM, loss, some_weights(weights, M), free=bias in FREE).value


def value(X, y, w, loss, bias, s):
    """f of weights with the bias last."""
    penalised = w if bias == "regularized" else w[:-1]
    return LAM / 2 * float(penalised @ penalised) + mean(loss.value(X @ w[:-1] + w[-1], y), s)


def per_class(values, n_classes):
    return list(zip([1] if n_classes == 2 else range(n_classes), np.atleast_1d(values), strict=True))


def fit(loss, bias, weights, kind, solver, n_classes, **params):
    X, codes = problem(n_classes)
    model = PegasosClassifier(lam=LAM, loss=loss.name, bias=bias, solver=SOLVERS[solver](), random_state=3, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # most are stopped early on purpose
        return model.fit(DATA[kind](X), codes, sample_weight=some_weights(weights, M))


@every_solver(SOLVERS)
@every_weights
@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("n_classes", CLASSES)
def test_gap_bounds_the_distance_from_the_optimum(loss, bias, weights, kind, solver, n_classes):
    model = fit(loss, bias, weights, kind, solver, n_classes, tol=1e-3, max_epochs=25)
    X, codes = problem(n_classes)
    W = np.column_stack([model.coef_, model.intercept_])
    for (positive, gap), f, dual, w in zip(
        per_class(model.gap_, n_classes),
        np.atleast_1d(model.objective_),
        np.atleast_1d(model.dual_objective_),
        W,
        strict=True,
    ):
        best = optimum(loss, bias, weights, n_classes, positive)
        y = np.where(codes == positive, 1.0, -1.0)
        mine = value(X, y, w, loss, bias, some_weights(weights, M))
        assert f == pytest.approx(mine, abs=1e-12)  # of the weights handed out, not of some others
        assert gap == f - dual
        assert gap >= f - best - 1e-9
        assert f >= best - 1e-9
    assert model.converged_ == bool(np.all(model.gap_ <= 1e-3 * loss.value(np.zeros(1), np.ones(1))[0]))


@every_solver([name for name in SOLVERS if "step" not in name])
@every_weights
@pytest.mark.parametrize("n_classes", CLASSES)
def test_every_line_of_history_keeps_the_contract(loss, bias, weights, solver, n_classes):
    model = fit(loss, bias, weights, "dense", solver, n_classes, tol=1e-6, max_epochs=40)
    history = model.history_
    assert len(history["gap"]) > 0
    assert model._rounding < 1e-11
    classes = history.get("class", np.ones(len(history["gap"]), int))
    for positive in np.unique(classes):
        mine = classes == positive
        best = optimum(loss, bias, weights, n_classes, int(positive))
        assert (history["gap"][mine] >= history["objective"][mine] - best - 1e-9).all()
        assert (history["dual"][mine] <= best + 1e-9).all()
        assert (np.diff(history["dual"][mine]) >= -model._rounding).all()  # that of the objective is part of it
        assert (np.diff(history["steps"][mine]) > 0).all()


@every_problem
@every_weights
@pytest.mark.parametrize("kind", DATA)
def test_any_dual_point_bounds_the_minimum(loss, bias, weights, kind):
    """`certify` on arbitrary w and alpha, inside the box and far outside, where it has to clip."""
    X, codes = problem(2)
    y, s = np.where(codes == 1, 1.0, -1.0), some_weights(weights, M)
    data = InMemory(DATA[kind](X))
    native = Problem(data, encode(codes)[1], Weights.of(s, M), LAM, loss, bias).native()
    best = optimum(loss, bias, weights, 2, 1)
    full = with_bias(X, bias)
    rng = np.random.default_rng(1)
    for spread in (0, 0.1, 1, 1, 1, 10, 1e6):
        for _ in range(10):
            dual, w = rng.uniform(-spread, spread, M), np.append(rng.standard_normal(7), 0.0)
            w[-1] = rng.standard_normal() if bias != "none" else 0
            f, bound, *_ = native.prove(w, dual)
            inside = np.clip(dual, *loss.dual_bounds(y))
            if bias in FREE:
                inside = balanced(inside * y, y if s is None else s * y) * y
                scores = X @ w[:-1]
                w[-1] = best_bias(scores, y, s) if loss.name == "hinge" else level_bias(scores, y, loss, s)
            assert bound <= best + 1e-9
            assert bound == pytest.approx(dual_value(full, y, LAM, inside, loss, s), rel=1e-10, abs=1e-12)
            assert f == pytest.approx(value(X, y, w, loss, bias, s), rel=1e-12)
            assert native.objective(w) == pytest.approx(f, rel=1e-14)


@every_problem
@pytest.mark.parametrize("change", ["rows", "labels", "weights", "lam", "after partial_fit"])
def test_a_warm_start_on_another_problem_keeps_the_contract(loss, bias, change):
    """What rows contributed to w before says little about the new problem; the bound is loose then, never wrong."""
    X, codes = problem(2)
    model = PegasosClassifier(lam=LAM, loss=loss.name, bias=bias, random_state=3, warm_start=True, tol=1e-2)
    if bias == "batch":
        model.set_params(solver=Pegasos(k=2))
    if change == "after partial_fit":
        model.partial_fit(X[:9], codes[:9], classes=[0, 1])
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, codes)
    s = some_weights("with zeros", M) if change == "weights" else None
    X, codes = X[::-1] if change == "rows" else X, 1 - codes if change == "labels" else codes
    model.set_params(lam=LAM * 7 if change == "lam" else LAM, solver=Pegasos(T=M // 2, k=2)).fit(
        X, codes, sample_weight=s
    )
    y = np.where(codes == 1, 1.0, -1.0)
    best = exact_optimum(with_bias(X, bias), y, model.lam, loss, s, free=bias in FREE).value
    assert model.gap_ >= model.objective_ - best - 1e-9
    assert model.dual_objective_ <= best + 1e-9


def test_the_contract_is_able_to_fail():
    """A dual value that forgets its norm promises too much: the check would see it."""
    hinge = losses.CLASSIFICATION["hinge"]
    X, codes = problem(2)
    y = np.where(codes == 1, 1.0, -1.0)
    norm = np.sum((y @ X / (LAM * M)) ** 2)
    assert dual_value(X, y, LAM, y, hinge) + LAM / 2 * norm > exact_optimum(X, y, LAM, hinge).value + 0.1
