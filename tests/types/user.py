"""A user's script, as type checkers see it: `make lint` runs mypy and pyright over it.

Lines that are wrong carry a comment that silences the error; a checker that finds none there complains of the comment.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pegasos
from pegasos import (
    SDCA,
    Auto,
    KernelPegasosClassifier,
    KernelPegasosRegressor,
    Pegasos,
    PegasosClassifier,
    PegasosRegressor,
    datasets,
)

X, y = datasets.make_binary(100, 5, random_state=0)

# What comes out of fit is the model, with all it can do.
model = PegasosClassifier(lam=1e-3, loss="log", bias="free", class_weight="balanced", random_state=0).fit(X, y)
assert_type(model, PegasosClassifier)
assert_type(model.predict(X), NDArray[Any])
assert_type(model.predict_proba(X), NDArray[np.float64])
assert_type(model.predict_log_proba(X), NDArray[np.float64])
assert_type(model.decision_function(X), NDArray[np.float64])
assert_type(model.partial_fit(X, y, sample_weight=np.ones(100)), PegasosClassifier)
assert_type(model.save("model.safetensors", sparse=True), None)
assert_type(model.save("model.txt", format="liblinear"), None)
model.save("model.txt", format="libsvm")  # type: ignore[arg-type]
assert_type(pegasos.load_model("model.safetensors"), Any)
assert_type(model.sparsify().densify(), PegasosClassifier)

assert_type(PegasosRegressor(epsilon=0.1, solver=SDCA(shrinking=False)).fit(X, y).predict(X), NDArray[np.float64])
assert_type(KernelPegasosClassifier(kernel="rbf", gamma=0.1, multi_class="ovo").fit(X, y), KernelPegasosClassifier)
assert_type(KernelPegasosRegressor(kernel=np.inner).fit(X, y).predict(X), NDArray[np.float64])
PegasosClassifier(solver=Pegasos(k=10, T=100, sampling="iid", output="average"), costs=None, class_weight={0: 2.0})
PegasosClassifier(loss="multinomial", solver=Auto(polish=False), n_jobs=2)

# What a checker has to find.
PegasosClassifier(loss="hing")  # type: ignore[arg-type]
PegasosClassifier(bias="fre")  # type: ignore[arg-type]
PegasosClassifier(solver="pegasus")  # type: ignore[arg-type]
PegasosClassifier(lam="small")  # type: ignore[arg-type]
PegasosClassifier(class_weight="balance")  # type: ignore[arg-type]
PegasosClassifier(alpha=1e-4)  # type: ignore[call-arg]
PegasosRegressor(loss="hinge")  # type: ignore[arg-type]
KernelPegasosClassifier(loss="multinomial")  # type: ignore[arg-type]
KernelPegasosClassifier(kernel="gaussian")  # type: ignore[arg-type]
Pegasos(output="mean")  # type: ignore[arg-type]
SDCA(sampling="fixed")  # type: ignore[arg-type]
model.fit(np.ones((2, 3)))  # type: ignore[call-overload]
model.fit(X, y, weights=y)  # type: ignore[call-overload]
model.predict()  # type: ignore[call-arg]
pegasos.nothing  # type: ignore[attr-defined]  # noqa: B018
