"""What a fitted model can be written to. Nothing is imported before it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .atomic import Path

if TYPE_CHECKING:
    from ..losses import LossSpec


def answers_as(model: Any) -> str:
    """The name of the estimator whose answers a fitted model gives: of a search, that of what it has chosen."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    name = type(model).__name__
    if hasattr(model, "cv_results_"):
        if not hasattr(model, "objective_"):
            raise ValueError(f"this {name} has chosen lam, but no model was fitted to all rows: set refit=True.")
        return name.removesuffix("CV")
    return name


def loss_of_answers(model: Any) -> tuple[Any, LossSpec | None]:
    """The loss of the fit (the parameter may have been set since), and what is known of it, or of one with the same
    answers: those of a loss of the user's own are those of any.
    """
    from ..losses import JOINT, NAMED

    loss = getattr(model, "_loss_of_fit", model.loss)
    own = "hinge" if hasattr(model, "classes_") else "epsilon_insensitive"
    name = loss if isinstance(loss, str) else own
    return loss, NAMED.get(name) or JOINT.get(name)


class Files:
    """Mixin of all estimators."""

    def save(self, path: Path, sparse: bool = False, format: Literal["pegasos", "liblinear"] = "pegasos") -> None:
        """Write the fitted model to a file: safetensors, which holds data and nothing that could run.

        Parameters
        ----------
        path : str or path-like
            The file. What was there before stays whole until the new one is.
        sparse : bool, default=False
            Whether only the weights that are not zero are written, where more than half of them are. The loaded model
            is the same.
        format : {"pegasos", "liblinear"}, default="pegasos"
            "liblinear": text with which LIBLINEAR's own predict gives the same answers, for linear models whose classes
            are whole numbers. It holds the weights, and nothing of how they were found.
        """
        if format == "pegasos":
            from .models import save_model

            save_model(self, path, sparse)
        elif format == "liblinear":
            if sparse:
                raise ValueError("files of LIBLINEAR have every weight: sparse=True is for our own format.")
            from .liblinear import save_liblinear

            save_liblinear(self, path)
        else:
            raise ValueError(f"format must be 'pegasos' or 'liblinear', got {format!r}.")

    def to_sklearn(self) -> Any:
        """The fitted model of scikit-learn with the same answers.

        Returns
        -------
        model : estimator
            LinearSVC, LogisticRegression, LinearSVR, SVC or SVR; for several classes with the log loss, or with a
            kernel and multi_class="ovr", a OneVsRestClassifier of them. Its C is not known: the number of rows is no
            part of a model. Of a search it is the model that was chosen; probabilities that `probability` has added
            stay behind, and where the estimator would have others instead, those of its loss, it is refused. SVC has
            no probabilities of loss="log", and loses those of a kernel model; kernel="chi2" takes dense rows.
        """
        from .to_sklearn import to_sklearn

        return to_sklearn(self)

    def to_onnx(self, path: Path | None = None, dtype: Literal["float32", "float64"] = "float32") -> Any:
        """Write the fitted model as an ONNX graph, for onnxruntime and others. Needs the onnx package.

        Parameters
        ----------
        path : str, path-like or None, default=None
            The file; None only returns the graph.
        dtype : {"float32", "float64"}, default="float32"
            Of the input "X". All arithmetic inside is float64.

        Returns
        -------
        graph : onnx.ModelProto
            Outputs "label", "scores", and "probabilities" where the loss has them; "value" of a regressor. A sequence
            tagger takes one sequence, a row of features for each token, and has "label" and with the log loss
            "marginals".
        """
        from .onnx import to_onnx

        return to_onnx(self, path, dtype)
