"""The author of a solver finds all that is needed in one place, and the reference has a page for it."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes

from pegasos import Auto, PegasosClassifier, losses, solvers

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"Auto", "Pegasos", "SDCA"}  # names of the package itself
UNSAID = {"Fit": ("operations", "replicas", "scores", "ended_by")}  # what native solvers fill in, and who is to blame
WITHOUT_A_PAGE = {"Floats", "solver_of"}  # a type, and what estimators ask


@pytest.fixture(scope="module")
def pages() -> Any:
    pytest.importorskip("dask")  # the reference has estimators on a cluster as well
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "site" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_is_short_and_takes_from_public_places_alone() -> None:
    code = (ROOT / "examples" / "own_solver.py").read_text(encoding="utf-8")
    assert len(code.splitlines()) < 60
    modules = [node.module or "" for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    assert {name for name in modules if name.startswith("pegasos")} == {"pegasos", "pegasos.solvers"}


def test_every_name_that_an_author_needs_has_a_page_of_the_reference(pages: Any) -> None:
    reference = pages.reference()
    assert set(pages.SOLVER) == set(solvers.__all__) - ELSEWHERE - WITHOUT_A_PAGE
    for name in [*(f"solvers.{each}" for each in pages.SOLVER), "losses.LossSpec"]:
        assert f"[`{name}`](api/{name}.rst)" in reference["reference.md"]
        assert f":: pegasos.{name}\n" in reference[f"api/{name}.rst"]
    assert ":members: objective, gradient, scores" in reference["api/solvers.Problem.rst"]


def test_the_reference_says_what_every_parameter_is(pages: Any) -> None:
    for name, methods in pages.SOLVER.items():
        thing = getattr(solvers, name)
        for each in [getattr(thing, method) for method in methods] or [thing]:
            said = inspect.getdoc(each) or ""
            hidden = {"self", *UNSAID.get(name, ())}
            for parameter in set(inspect.signature(each).parameters) - hidden:
                assert re.search(rf"^{parameter} : ", said, re.MULTILINE), (name, each, parameter)


def test_the_classes_say_what_they_hold() -> None:
    loss = inspect.getdoc(losses.LossSpec) or ""
    assert all(re.search(rf"\b{name}\b", loss) for name in losses.LossSpec.__dataclass_fields__)
    problem = inspect.getdoc(solvers.Problem) or ""
    assert all(re.search(rf"^{name} : ", problem, re.MULTILINE) for name in solvers.Problem.__dataclass_fields__)


class Looks:
    """Solves by Auto, and lets a test look at the problem."""

    def check(self, problem: Any, run: Any) -> None:
        pass

    def solve(self, problem: Any, run: Any, start: Any, seed: int) -> Any:
        self.problem = problem
        return Auto().solve(problem, run, start, seed)


@pytest.mark.parametrize("loss", ["log", "multinomial"])
def test_sums_over_rows_take_numbers_of_any_kind_and_of_all_rows(loss: str) -> None:
    X, y = binary() if loss == "log" else three_classes()
    solver = Looks()
    PegasosClassifier(lam=0.1, loss=loss, solver=solver).fit(X, y)
    problem = solver.problem
    w = np.arange(problem.n_weights)
    for kind in (list, np.float32, np.int32):
        np.testing.assert_array_equal(problem.scores(kind(w)), problem.scores(w.astype(float)))
    scores = problem.scores(w)
    np.testing.assert_array_equal(problem.combine(scores.round().astype(int)), problem.combine(scores.round()))
    np.testing.assert_allclose(
        problem.gradient(w), problem.lam * w + problem.combine((problem.shares() * slopes(problem, scores).T).T)
    )
    for wrong in (scores[1:], np.vstack([scores, scores]), scores[0]):
        with pytest.raises(ValueError, match="cannot reshape"):
            problem.combine(wrong)


def slopes(problem: Any, scores: Any) -> Any:
    return problem.loss.slope(scores, problem.targets())
