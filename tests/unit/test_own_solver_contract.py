"""What a solver of the user's own hands over is looked at: what can be used is, all else is refused with a sentence."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from own_losses import OwnHinge
from sklearn.exceptions import ConvergenceWarning
from test_examples import example

from pegasos import Auto, KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, PegasosRegressor, lam_path
from pegasos.solvers import IterativeSolver, contract
from pegasos.solvers.base import Fit, Resume

X, Y = binary()
X3, Y3 = three_classes()
N = X.shape[1] + 1
GradientDescent = example("own_solver").GradientDescent


class Mine(IterativeSolver):
    """Yields what it is told to in pass `at`, and zeros before."""

    def __init__(self, given: Any = None, at: int = 1) -> None:
        self.given, self.at = given, at

    def iterates(self, problem: Any, w: Any, seed: int) -> Iterator[Any]:
        for _ in range(1, self.at):
            yield np.zeros(problem.n_weights)
        yield self.given


class Returns(IterativeSolver):
    def __init__(self, given: Any = None) -> None:
        self.given = given

    def iterates(self, problem: Any, w: Any, seed: int) -> Any:
        return self.given


class Own:
    """Returns what a function makes of a fit by Auto."""

    def __init__(self, change: Callable[[Fit], Any]) -> None:
        self.change = change

    def check(self, problem: Any, run: Any) -> None:
        pass

    def solve(self, problem: Any, run: Any, start: Any, seed: int) -> Any:
        return self.change(Auto().solve(problem, run, start, seed))


def model(solver: Any, **how: Any) -> PegasosClassifier:
    return PegasosClassifier(**{"lam": 0.1, "loss": "log", **how}, solver=solver)


def refuse(solver: Any, said: str, X: Any = X, y: Any = Y, **how: Any) -> None:
    """It is refused, without a warning, and the model of the fit before stays."""
    before = model("auto", **how).fit(X, y)
    kept = before.coef_.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=re.escape(said)):
            before.set_params(solver=solver).fit(X, y)
    np.testing.assert_array_equal(before.coef_, kept)
    assert before.predict(X).shape == y.shape


YIELDED = {
    "nothing": (None, "None. To end, let it return."),
    "a weight too few": (np.zeros(N - 1), f"an array of shape ({N - 1},)."),
    "two dimensions": (np.zeros((1, N)), f"an array of shape (1, {N})."),
    "one number": (0.0, "an array of shape ()."),
    "complex numbers": (np.zeros(N, complex), "an array of type complex128."),
    "words": (["0"] * N, "an array of type <U1."),
    "lists of different lengths": ([[0.0], [0.0, 1.0]], "an object of type list, which is no array of numbers."),
    "something else": ({"w": 0.0}, "an object of type dict, which is no array of numbers."),
    "a masked array": (np.ma.masked_less(np.arange(N), 2), "a masked array."),
    "no number": ([0.0, np.nan] + [0.0] * (N - 2), "nan in w[1]. Steps that are too long overflow: shorten them"),
    "infinity": (np.full(N, -np.inf), "-inf in w[0]. Steps that are too long overflow: shorten them"),
    "too large a number": (np.full(N, np.longdouble("1e400")), "inf in w[0]"),
}


@pytest.mark.parametrize("name", YIELDED)
@pytest.mark.parametrize("at", [1, 3])
def test_what_is_no_vector_of_weights_is_refused_in_its_pass(name: str, at: int) -> None:
    given, said = YIELDED[name]
    form = "" if given is None else f", {N} finite real numbers with the bias last"
    refuse(Mine(given, at), f"Mine.iterates must yield w after each pass{form}, but in pass {at} it yielded {said}")


def test_an_error_says_how_w_has_to_be_where_classes_share_it() -> None:
    said = f"{3 * N} finite real numbers, 3 a feature, one for each class, and those of the bias last, but in pass 1"
    refuse(Mine(np.zeros((N, 3))), said, X3, Y3, loss="multinomial")


def test_a_bias_where_there_is_none_is_refused() -> None:
    refuse(Mine(np.arange(N)), "yielded a bias of 6, which is zero with bias='none'.", bias="none")
    refuse(Own(lambda fit: replace(fit, w=np.ones(N))), "returned a bias of 1, which is zero", bias="none")


@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.int8, np.longdouble, "strided", "fractions"])
def test_numbers_of_any_kind_are_converted(kind: Any) -> None:
    w = np.arange(N)
    other = {"strided": np.repeat(w, 2)[::2], "fractions": [Fraction(int(i)) for i in w]}
    given = other[kind] if isinstance(kind, str) else kind(w)
    found = []
    for each in (given, w.astype(np.float64)):
        with pytest.warns(ConvergenceWarning, match="Mine ended by itself after 1 pass, before max_epochs=1000"):
            found.append(model(Mine(each)).fit(X, Y))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    assert found[0].coef_.dtype == np.float64
    assert found[0].gap_ == found[1].gap_


@pytest.mark.parametrize(("given", "kind"), [(None, "NoneType"), (3, "int")])
def test_iterates_that_cannot_be_followed_are_refused(given: Any, kind: str) -> None:
    refuse(Returns(given), f"Returns.iterates must yield w after each pass, but it returned {kind}: write `yield w`")


def test_any_list_of_weights_can_be_followed() -> None:
    with pytest.warns(ConvergenceWarning, match="Returns ended by itself after 2 passes"):
        assert model(Returns([np.zeros(N), np.zeros(N)])).fit(X, Y).n_iter_ == 2


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_it_is_refused_in_every_thread_and_search(n_jobs: int) -> None:
    refuse(Mine(np.zeros(N + 1)), "Mine.iterates must yield w", X3, Y3, n_jobs=n_jobs)
    for search in (
        lambda: PegasosClassifierCV([0.1, 0.01], loss="log", solver=Mine(np.zeros(3)), n_jobs=n_jobs).fit(X, Y),
        lambda: PegasosClassifierCV([0.1, 0.01], loss="log", solver=Own(lambda fit: None)).fit(X, Y),
        lambda: lam_path(X, Y, [0.1, 0.01], loss="log", solver=Own(lambda fit: fit.w), n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match=r"(Mine\.iterates|Own\.solve) must"):
            search()


RETURNED: dict[str, tuple[Callable[[Fit], Any], str]] = {
    "nothing": (lambda fit: None, "Own.solve must return a pegasos.solvers.Fit, got None. Return Fit(w=..., "),
    "weights alone": (lambda fit: fit.w, "got an object of type ndarray. Return Fit("),
    "too few weights": (lambda fit: replace(fit, w=fit.w[1:]), f"but it returned an array of shape ({N - 1},)."),
    "no weights": (lambda fit: replace(fit, w=None), "Own.solve must return a Fit with w, 7 finite real numbers"),
    "weights that are none": (lambda fit: replace(fit, w=fit.w * np.nan), "but it returned nan in w[0]. Steps"),
    "three columns": (lambda fit: replace(fit, history=fit.history[:, 1:]), "four columns, seconds, steps, objective"),
    "one line": (lambda fit: replace(fit, history=fit.history[-1]), "but it returned an array of shape (4,)."),
    "no history": (lambda fit: replace(fit, history=None), "and dual, but it returned None. History.array is one."),
    "steps unknown": (lambda fit: replace(fit, history=[[0.0, np.nan, 0.1, 0.1]]), "seconds or steps that are no num"),
    "half a step": (lambda fit: replace(fit, steps=0.5), "Own.solve returned a Fit with steps=0.5: it must be a whole"),
    "no epochs": (lambda fit: replace(fit, epochs=None), "returned a Fit with epochs=None: it must be a number >= 0."),
    "replicas": (lambda fit: replace(fit, replicas=None), "returned a Fit with replicas=None: it must be a whole"),
    "a word as error": (lambda fit: replace(fit, error="oh"), "error='oh': it must be an exception or None."),
    "no Resume": (lambda fit: replace(fit, resume={}), "resume={}: it must be a pegasos.solvers.Resume or None."),
    "other rows": (
        lambda fit: replace(fit, resume=Resume(fit.w, dual=np.zeros(3))),
        f"Own.solve returned a Fit whose resume.dual is not an array of {len(Y)} finite numbers",
    ),
}


@pytest.mark.parametrize("name", RETURNED)
def test_what_is_no_fit_is_refused(name: str) -> None:
    change, said = RETURNED[name]
    refuse(Own(change), said)


@pytest.mark.parametrize("change", [lambda fit: fit, lambda fit: replace(fit, w=fit.w.tolist(), converged=1)])
def test_a_good_fit_is_taken_as_it_is(change: Any) -> None:
    ours, theirs = (model(solver, warm_start=True).fit(X3, Y3) for solver in (Own(change), "auto"))
    assert ours.converged_ is True
    for name in ("coef_", "gap_", "objective_", "n_steps_", "n_iter_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_what_went_wrong_first_is_raised_where_nothing_can_be_kept() -> None:
    broken = Own(lambda fit: replace(fit, w=None, interrupted=True, error=KeyboardInterrupt("now")))
    with pytest.raises(KeyboardInterrupt, match="now"):
        model(broken).fit(X, Y)


def test_an_error_that_it_hands_over_keeps_the_fit_and_one_that_it_lets_through_does_not() -> None:
    def raises(fit: Fit) -> Fit:
        raise ZeroDivisionError("oops")

    found = model("auto", lam=1e-3).fit(X, Y)
    before = found.coef_.copy()
    for change in (raises, lambda fit: replace(fit, error=ZeroDivisionError("oops"))):
        np.testing.assert_array_equal(found.coef_, before)
        with pytest.raises(ZeroDivisionError, match="oops"):
            found.set_params(solver=Own(change), lam=0.1).fit(X, Y)
    np.testing.assert_array_equal(found.coef_, model("auto").fit(X, Y).coef_)
    assert found.converged_ is False


@pytest.mark.parametrize("lines", [[], np.empty((0, 4))])
def test_without_a_history_nothing_has_converged(lines: Any) -> None:
    silent = Own(lambda fit: replace(fit, history=lines))
    with pytest.warns(ConvergenceWarning, match=r"Own\.solve returned no history, and without a certificate nothing"):
        found = model(silent).fit(X3, Y3)
    assert found.converged_ is False
    assert np.isnan(found.gap_).all()
    silent.fixed_steps = True  # it promises nothing
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model(silent).fit(X, Y).converged_ is False


def test_who_says_that_it_has_converged_has_to_prove_it() -> None:
    lines = np.array([[0.0, 1, 0.5, 0.49]])
    with pytest.warns(ConvergenceWarning, match=r"at most 0\.01 above .* Own ended by itself after 3 passes, before"):
        found = model(Own(lambda fit: replace(fit, history=lines, epochs=3, converged=True))).fit(X, Y)
    assert found.converged_ is False
    loose = model(Own(lambda fit: replace(fit, history=lines, converged=True)), tol=0.02).fit(X, Y)
    assert loose.converged_ is True


class Ends(GradientDescent):
    """After so many passes, class by class."""

    def __init__(self, *passes: int) -> None:
        super().__init__()
        self.passes = list(passes)

    def iterates(self, problem: Any, w: Any, seed: int) -> Iterator[Any]:
        for _, each in zip(range(self.passes.pop(0)), super().iterates(problem, w, seed), strict=False):
            yield each


@pytest.mark.parametrize(
    ("passes", "said"),
    [([0], "0 passes"), ([1], "1 pass"), ([5], "5 passes"), ([3, 0, 5], "0 to 5 passes"), ([5, 5, 5], "5 passes")],
)
def test_a_warning_says_who_ended_the_fit(passes: list[int], said: str) -> None:
    data = (X, Y) if len(passes) == 1 else (X3, Y3)
    words = f"Ends ended by itself after {said}, before max_epochs=50: let it go on, raise tol, or scale the features"
    with pytest.warns(ConvergenceWarning, match=re.escape(words)):
        found = model(Ends(*passes), lam=1e-4, max_epochs=50).fit(*data)
    assert np.atleast_1d(found.n_iter_).tolist() == passes
    assert np.isfinite(found.gap_).all()


def test_a_limit_that_was_reached_is_named() -> None:
    with pytest.warns(ConvergenceWarning, match="Raise max_epochs=5, raise tol"):
        model(Ends(5), lam=1e-4, max_epochs=5).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match=r"Raise max_epochs=1e\+18 or max_time=0\.05, raise tol"):
        model(GradientDescent(), lam=1e-9, tol=0, max_epochs=1e18, max_time=0.05).fit(X, Y)
    y = X @ np.arange(6.0) + 1
    with pytest.warns(ConvergenceWarning, match="Ends ended by itself after 2 passes.*scale the features and y"):
        PegasosRegressor(lam=1e-4, loss="squared_epsilon_insensitive", solver=Ends(2)).fit(X, y)


def test_solvers_of_the_package_are_taken_at_their_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(contract, "_checked", never)
    for solver in ("auto", "sdca", "pegasos"):
        model(solver, tol=0.1).fit(X3, Y3)
    PegasosClassifier(loss=OwnHinge(), max_epochs=1).fit(X, Y)
    KernelPegasosClassifier(lam=0.1).fit(X3, Y3)
