"""The native code equals the plain twin for every option of Pegasos, every bias, and their combinations."""

import warnings
from itertools import count

import numpy as np
import pytest
from problems import DATA, make_problem, some_weights
from reference import FREE
from sklearn.exceptions import ConvergenceWarning
from twin import Twin
from variants import LAM, OPTIONS, D, all_pairs, draw, model_of, pairs_of

from pegasos import PegasosClassifier

M = 40
BIASES, OUTPUTS = OPTIONS["bias"], OPTIONS["output"]
every_bias, every_output = pytest.mark.parametrize("bias", BIASES), pytest.mark.parametrize("output", OUTPUTS)
not_search = pytest.mark.parametrize("bias", [bias for bias in BIASES if bias != "search"])  # it starts from zero
without_T = pytest.mark.parametrize("output", [output for output in OUTPUTS if output not in ("random", "best")])


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def data(c, seed=0):
    """The rows as given, the same numbers in float64, labels and weights."""
    X, y = make_problem(M, D, seed, density=0.8)
    given = DATA[c["kind"]](X)
    return given, X.astype(given.dtype).astype(np.float64), y, some_weights(c["weights"], M)


def search_ends_at_once(c, model):
    """bias="search" tries b = 0 first. A tol that this meets ends the search there, with b held at zero."""
    return model.set_params(tol=1e9) if c["bias"] == "search" else model


def twin_of(model):
    return FixedBias(model, D) if model.bias == "search" else Twin(model, D)


class FixedBias(Twin):
    """One trial of the search: b stays zero. Where w = 0 is better, that is returned and gone on with."""

    def step(self, *rows):
        super().step(*rows)
        self.b = 0.0

    def fit(self, X, y, s=None):
        super().fit(X, y, s)
        self.is_zero = super().certificate(X, y, s, self.output(X, y, s))[0] > 1
        if self.is_zero:
            self.W, self.hits = [np.zeros(D)] * len(self.W), self.t
        return self

    def certificate(self, X, y, s, w):
        f, dual, b = super().certificate(X, y, s, w)
        return (1.0, dual, 0.0) if self.is_zero else (f, dual, b)


def assert_is(model, twin, X, y, s=None):
    w = twin.output(X, y, s)
    f, dual, b = twin.certificate(X, y, s, w)
    if model.bias == "regularized":
        w, b = w[:-1], w[-1]
    close(model.coef_[0], w)
    close(model.intercept_[0], b)
    close(model.objective_, f)
    close(model.dual_objective_, dual)
    assert model.gap_ == model.objective_ - model.dual_objective_
    assert model.n_steps_ == twin.t


def combos(bias, output, n):
    rng = np.random.default_rng([BIASES.index(bias), OUTPUTS.index(output)])
    return [draw(rng, bias=bias, output=output) for _ in range(n)]


@every_bias
@every_output
def test_native_equals_the_twin(bias, output):
    for seed, c in enumerate(combos(bias, output, 80)):
        given, X, y, s = data(c, seed)
        model = search_ends_at_once(c, model_of(c, 50 + seed, seed)).fit(given, y, sample_weight=s)
        assert_is(model, twin_of(model).fit(X, y, s), X, y, s)


def test_every_pair_of_values_was_tried():
    seen = set().union(*(pairs_of(c) for bias in BIASES for output in OUTPUTS for c in combos(bias, output, 80)))
    assert not all_pairs() - seen


@not_search
@every_output
def test_a_warm_start_goes_on_with_all_of_it(bias, output):
    """Iterate, running bias, count of losses, averages and what each row contributed; with another lam as well."""
    for seed, c in enumerate(combos(bias, output, 12)):
        given, X, y, s = data(c, seed)
        model = model_of(c, 41, seed, warm_start=True).fit(given, y, sample_weight=s)
        twin = Twin(model, D).fit(X, y, s)
        assert_is(model, twin, X, y, s)
        for T in (30, 1, 17):
            model.set_params(solver__T=T).fit(given, y, sample_weight=s)
            twin.fit(X, y, s)
            assert_is(model, twin, X, y, s)
        if c["step"] not in OPTIONS["step"][3:]:  # a constant step may be too long for a larger lam
            model.set_params(lam=3 * LAM).fit(given, y, sample_weight=s)
            assert_is(model, twin.fit(X, y, s), X, y, s)


@every_bias
@without_T
def test_partial_fit_goes_on_with_all_of_it(bias, output):
    for seed, c in enumerate(combos(bias, output, 20)):
        given, X, y, s = data(c, seed)
        model = model_of(c, None, seed)
        twin = Twin(model, D)
        for part in (slice(0, 25), slice(25, 40), slice(0, 40)):
            weights = None if s is None else s[part]
            model.partial_fit(given[part], y[part], classes=[-1, 1], sample_weight=weights)
            twin.partial_fit(X[part], y[part], weights)
            w = twin.output(X[part], y[part], weights)
            w, b = (w[:-1], w[-1]) if bias == "regularized" else (w, twin.b)
            close(model.coef_[0], w)
            close(model.intercept_[0], b)  # the running b: rows of earlier calls are gone
            assert model.n_steps_ == twin.t
            assert np.isnan(model.gap_)


@every_bias
@without_T
def test_partial_fit_goes_on_after_fit(bias, output):
    """Also after a fit without warm_start: with the iterate and its average, not from what was returned."""
    for seed, c in enumerate(combos(bias, output, 8)):
        given, X, y, s = data(c, seed)
        model = search_ends_at_once(c, model_of(c, 41, seed, warm_start=seed % 2 == 0)).fit(given, y, sample_weight=s)
        twin = twin_of(model).fit(X, y, s)
        twin.__class__ = Twin  # a pass is no search: b takes the steps of bias="free"
        if bias == "search" and twin.is_zero:
            twin.q[:] = 0  # zero has no average to go on with
        if bias in FREE and output == "last" and c["advance"] == "always" and not model.warm_start:
            twin.b = model.intercept_[0]  # then nothing is kept but the attributes, and b is the exact one
        model.partial_fit(given, y, sample_weight=s)
        twin.partial_fit(X, y, s)
        close(model.coef_[0], twin.output(X, y, s)[:D])
        assert model.n_steps_ == twin.t


@not_search
@without_T
def test_every_certificate_is_the_twin_at_that_step(bias, output):
    """Without T. A tail then reaches back to the certificate before at most."""
    for seed, c in enumerate(combos(bias, output, 5)):
        given, X, y, s = data(c, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = model_of(c, None, seed, max_epochs=15).set_params(tol=1e-3).fit(given, y, sample_weight=s)
        twin, best = Twin(model, D), 0.0
        assert len(model.history_["steps"]) > 2
        for step, f, dual in zip(*(model.history_[key] for key in ("steps", "objective", "dual")), strict=True):
            twin.fit(X, y, s, steps=step - twin.t)
            w = twin.output(X, y, s)
            mine = twin.certificate(X, y, s, w)
            best = max(best, mine[1])
            close(f, mine[0])
            close(dual, min(best, f))
        close(model.coef_[0], w[:D])


def test_every_class_against_the_rest_is_the_twin():
    for seed, bias, output in zip(count(), BIASES, OUTPUTS, strict=False):
        c = {**combos(bias, output, 1)[0], "kind": "dense", "weights": "equal"}
        X, _ = make_problem(M, D, density=0.8)
        classes = np.arange(M) % 3
        model = search_ends_at_once(c, model_of(c, 70, seed)).fit(X, classes)
        for i in range(3):
            y = np.where(classes == i, 1.0, -1.0)
            twin = twin_of(model).fit(X, y)
            w = twin.output(X, y)
            close(model.coef_[i], w[:D])
            close(model.objective_[i], twin.certificate(X, y, None, w)[0])


def test_a_search_for_the_bias_without_epochs_is_the_start_with_its_certificate():
    X, y = make_problem()
    with pytest.warns(ConvergenceWarning):
        model = PegasosClassifier(bias="search", solver="pegasos", max_epochs=0).fit(X, y)
    assert not model.coef_.any()
    assert model.objective_ >= model.dual_objective_ > -1e-12  # rounding is taken off
