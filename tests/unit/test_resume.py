"""What a fit leaves for the next: plain arrays and numbers, which go on as if nothing had come in between."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from helpers import binary, three_classes
from sklearn.base import clone

from pegasos import KernelPegasosClassifier, Pegasos, PegasosClassifier
from pegasos.solvers.resume import Resume, fingerprint

X, Y = binary()
X3, Y3 = three_classes()
MODELS = {
    "auto": lambda: PegasosClassifier(lam=0.01, warm_start=True),
    "sdca": lambda: PegasosClassifier(lam=0.01, solver="sdca", warm_start=True),
    "pegasos": lambda: PegasosClassifier(lam=0.01, solver="pegasos", warm_start=True),
    "average": lambda: PegasosClassifier(lam=0.01, solver=Pegasos(output="average", k=3), warm_start=True),
    "multinomial": lambda: PegasosClassifier(lam=0.01, loss="multinomial", warm_start=True),
    "kernel": lambda: KernelPegasosClassifier(lam=0.01, warm_start=True),
    "kernel pegasos": lambda: KernelPegasosClassifier(lam=0.01, solver="pegasos", bias="free", warm_start=True),
}
PARTS = ("w", "steps", "dual", "lam", "solver", "returned")


def through_a_file(resume: Resume) -> Resume:
    """Written and read as arrays, without pickle."""
    file = io.BytesIO()
    np.savez(file, **{name: getattr(resume, name) for name in PARTS}, **{f"own {k}": v for k, v in resume.own.items()})
    file.seek(0)
    read: dict[str, Any] = {}
    with np.load(file, allow_pickle=False) as found:
        for name in found.files:
            read[name] = found[name] if found[name].ndim else found[name].item()
    own = {name.removeprefix("own "): read.pop(name) for name in list(read) if name.startswith("own ")}
    return Resume(**read, own=own)


@pytest.mark.filterwarnings("ignore:not converged")
@pytest.mark.parametrize("name", MODELS)
def test_a_resume_that_was_written_to_a_file_goes_on_with_the_same_bytes(name: str) -> None:
    ours, theirs = (MODELS[name]().set_params(random_state=0, max_epochs=3, tol=1e-6).fit(X3, Y3) for _ in range(2))
    theirs._resumes = [through_a_file(resume) for resume in theirs._resumes]
    for lam in (0.01, 0.005):
        for model in (ours, theirs):
            model.set_params(lam=lam).fit(X3, Y3)
        np.testing.assert_array_equal(ours.decision_function(X3), theirs.decision_function(X3))
        np.testing.assert_array_equal(ours.history_["objective"], theirs.history_["objective"])


def test_weights_that_were_set_are_gone_on_with() -> None:
    """The running iterate of an average belongs to the weights that were returned; with others it is left alone."""
    model = PegasosClassifier(lam=0.01, solver=Pegasos(output="average", T=50), random_state=0, warm_start=True)
    kept, changed = model.fit(X, Y), clone(model).fit(X, Y)
    changed.coef_ = 1.5 * changed.coef_
    assert kept._resumes[0].at(np.append(kept.coef_, kept.intercept_), 50, len(Y)).is_unchanged
    assert not changed._resumes[0].at(np.append(changed.coef_, changed.intercept_), 50, len(Y)).is_unchanged
    assert not np.allclose(kept.fit(X, Y).coef_, changed.fit(X, Y).coef_)


def test_what_another_solver_has_left_is_not_read() -> None:
    resume = Resume(np.zeros(3), own={"hits": 5}, solver="pegasos")
    assert resume.left_by("pegasos") == {"hits": 5}
    assert resume.left_by("mine") == {}


def test_dual_variables_of_other_rows_are_left_out() -> None:
    resume = Resume(np.zeros(3), dual=np.ones(5), lam=0.1)
    assert resume.at(np.zeros(3), 1, 5).dual is resume.dual
    assert resume.at(np.zeros(3), 1, 6).dual is None


def test_a_fingerprint_is_that_of_the_bytes() -> None:
    a = np.arange(10.0)
    assert fingerprint(a) == fingerprint(a.copy()) == fingerprint(np.repeat(a, 2)[::2])
    assert len({fingerprint(a), fingerprint(-a), fingerprint(a[:9]), fingerprint(a, a), fingerprint(a[::-1])}) == 5
    assert 0 <= fingerprint(a) < 2**63
