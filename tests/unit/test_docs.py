"""The documentation does what it says: its code runs, its links lead somewhere, its conversions are exact.

A conversion is right when the other library's optimum, valued by our objective, lies between our certified lower bound
and our objective; and the test is worth something when a C or alpha twice as large falls far outside.
"""

from __future__ import annotations

import doctest
import re
import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

import pegasos
from pegasos import PegasosClassifier, datasets

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
C = 0.01


def code_blocks(page: Path) -> list[str]:
    found = re.findall(r"^( *)```python\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return ["\n".join(line.removeprefix(indent) for line in code.splitlines()) for indent, code in found]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page)], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_from_top_to_bottom_without_a_warning(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Port 8787 is already in use")  # another cluster on the reader's machine
        for block in code_blocks(page):
            exec(compile(block, str(page), "exec"), names)


def test_the_examples_of_docstrings_print_what_they_say_and_every_model_has_one():
    found = {}
    for module in walk_packages(pegasos.__path__, "pegasos."):
        for test in doctest.DocTestFinder(exclude_empty=True).find(import_module(module.name)):
            found[test.name.rpartition(".")[2]] = doctest.DocTestRunner().run(test)
    assert not [name for name, result in found.items() if result.failed]
    models = {name for name in pegasos.__all__ if hasattr(getattr(pegasos, name), "fit")}
    assert models <= {name for name, result in found.items() if result.attempted}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path) if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_example_has_a_small_picture_that_a_page_shows():
    names = sorted(path.stem.removeprefix("plot_") for path in ROOT.glob("examples/plot_*.py"))
    variants = {"averaging", "bias", "minibatch", "projection", "sampling_orders"}
    losses = {"costs", "own_loss", "probabilities", "regression"}
    assert set(names) == variants | losses | {"kernel_boundaries", "kernel_digits", "sequences", "choosing_lambda"}
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in names:
        assert f"(images/{name}.png)" in shown
        assert (ROOT / "docs" / "images" / f"{name}.png").stat().st_size < 150_000


@pytest.fixture(scope="module")
def data():
    X, y = datasets.make_binary(400, 10, noise=0.1, random_state=0)
    s = np.random.default_rng(1).uniform(0.0, 3.0, len(y))
    return X + 0.3, y, s  # off centre, so that the intercept matters


def value(model, X, y, lam, s=None, penalty_of_b=1.0):
    """Our objective of somebody's model."""
    w, b = model.coef_[0], float(np.ravel(model.intercept_)[0])
    losses = np.maximum(0, 1 - y * (X @ w + b))
    return lam / 2 * (w @ w + penalty_of_b * b * b) + np.average(losses, weights=s)


def assert_same_problem(ours, right, wrong):
    assert ours.converged_
    assert ours.dual_objective_ - 1e-9 <= right <= ours.objective_ + 1e-4
    assert wrong > ours.objective_ + ours.gap_


def linear_svc(C, X, y, s=None, **params):
    return LinearSVC(loss="hinge", C=C, tol=1e-8, max_iter=100_000, random_state=0, **params).fit(X, y, sample_weight=s)


@pytest.mark.parametrize(("bias", "fit_intercept"), [("regularized", True), ("none", False)])
def test_lam_is_1_over_C_m_for_linear_svc(data, bias, fit_intercept):
    X, y, _ = data
    lam = 1 / (C * len(y))
    ours = PegasosClassifier(lam=lam, bias=bias, random_state=0).fit(X, y)
    right, wrong = (value(linear_svc(c, X, y, fit_intercept=fit_intercept), X, y, lam) for c in (C, 2 * C))
    assert_same_problem(ours, right, wrong)


def test_intercept_scaling_is_a_constant_column(data):
    X, y, _ = data
    lam, scaling = 1 / (C * len(y)), 3.0
    ours = PegasosClassifier(lam=lam, bias="none", random_state=0)
    ours.fit(np.column_stack([X, np.full(len(y), scaling)]), y)
    right, wrong = (
        value(linear_svc(C, X, y, intercept_scaling=t), X, y, lam, penalty_of_b=1 / scaling**2) for t in (scaling, 1.0)
    )
    assert_same_problem(ours, right, wrong)


def test_lam_is_1_over_C_times_the_sum_of_weights_for_linear_svc(data):
    X, y, s = data
    lam = 1 / (C * s.sum())
    ours = PegasosClassifier(lam=lam, random_state=0).fit(X, y, sample_weight=s)
    right, wrong = (value(linear_svc(c, X, y, s), X, y, lam, s) for c in (C, 1 / (lam * len(y))))
    assert_same_problem(ours, right, wrong)


def test_class_weights_count_in_the_sum_and_balanced_ones_sum_to_the_rows(data):
    X, y, _ = data
    for weight, by_row in (({-1: 1.0, 1: 4.0}, np.where(y > 0, 4.0, 1.0)), ("balanced", balanced(y))):
        lam = 1 / (C * by_row.sum())
        ours = PegasosClassifier(lam=lam, class_weight=weight, random_state=0).fit(X, y)
        right, wrong = (value(linear_svc(c, X, y, class_weight=weight), X, y, lam, by_row) for c in (C, 2 * C))
        assert_same_problem(ours, right, wrong)
    assert balanced(y).sum() == pytest.approx(len(y))


def balanced(y):
    return np.where(y > 0, len(y) / (2 * np.sum(y > 0)), len(y) / (2 * np.sum(y < 0)))


@pytest.mark.parametrize("weighted", [False, True])
def test_lam_is_alpha_for_sgd_and_alpha_m_over_the_sum_of_weights(data, weighted):
    X, y, s = data
    s = s if weighted else np.ones(len(y))
    alpha = 0.25
    lam = alpha * len(y) / s.sum()
    ours = PegasosClassifier(lam=lam, bias="none", random_state=0).fit(X, y, sample_weight=s)

    def sgd(alpha):
        # Averaged over its second half: without that, no number of epochs brings it close enough to tell.
        model = SGDClassifier(
            alpha=alpha, fit_intercept=False, max_iter=400, tol=None, average=200 * len(y), random_state=0
        )
        return model.fit(X, y, sample_weight=s)

    assert_same_problem(ours, value(sgd(alpha), X, y, lam, s), value(sgd(2 * alpha), X, y, lam, s))


@pytest.mark.parametrize("weighted", [False, True])
def test_bias_free_is_the_intercept_of_svc(data, weighted):
    X, y, s = data
    s = s if weighted else None
    lam = 1 / (C * (len(y) if s is None else s.sum()))
    ours = PegasosClassifier(lam=lam, bias="free", random_state=0).fit(X, y, sample_weight=s)
    right, wrong = (
        value(SVC(kernel="linear", C=c, tol=1e-6).fit(X, y, sample_weight=s), X, y, lam, s, penalty_of_b=0)
        for c in (C, 2 * C)
    )
    assert_same_problem(ours, right, wrong)
    other = PegasosClassifier(lam=lam, random_state=0).fit(X, y, sample_weight=s)
    assert value(other, X, y, lam, s, penalty_of_b=0) > right  # the default is another problem


def test_scaling_all_weights_changes_nothing(data):
    X, y, s = data
    one, two = (PegasosClassifier(lam=0.1, random_state=0).fit(X, y, sample_weight=c * s) for c in (1, 2))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-12)


def test_a_fit_that_ends_at_a_limit_says_how_far_from_the_minimum_it_may_be(data):
    X, y, _ = data
    with pytest.warns(ConvergenceWarning, match="at most .* above the minimum"):
        PegasosClassifier(lam=1e-3, max_epochs=0.5, random_state=0).fit(X, y)
