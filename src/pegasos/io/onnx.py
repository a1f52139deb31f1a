"""Models as ONNX graphs, for onnxruntime and others; and converters for pipelines, through skl2onnx."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .atomic import Path, write_whole
from .mixin import answers_as
from .onnx_chains import Kind, chain_answers
from .onnx_formulas import Answers, answers, both_ways, kernel_scores, labels_of, linear_scores

try:
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    raise ImportError("ONNX files need the onnx package: pip install 'pegasos[onnx]'") from None

_OPSET, _IR = 17, 8  # of 2022: runtimes that are some years old read them
_INPUTS = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
_ROWS = ("PegasosClassifier", "PegasosRegressor", "KernelPegasosClassifier", "KernelPegasosRegressor")


class OwnGraph:
    """Nodes and constants of a graph that is written by us."""

    def __init__(self, prefix: str = "") -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._prefix, self._count = prefix, 0

    def name(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def constant(self, value: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(value, self.name()))
        return str(self.constants[-1].name)

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind} {names[0]}", **attributes))
        return names[0] if outputs == 1 else tuple(names)

    def inner(self, fill: Callable[..., tuple[str, ...]], inputs: tuple[Kind, ...], outputs: tuple[Kind, ...]) -> Any:
        """A graph inside of a node, of inputs and outputs with these types and shapes."""
        inside = OwnGraph(f"{self.name()}.")
        given = [inside.name() for _ in inputs]
        found = fill(inside, *given)
        begin, end = (
            [helper.make_tensor_value_info(name, *kind) for name, kind in zip(names, kinds, strict=True)]
            for names, kinds in ((given, inputs), (found, outputs))
        )
        return helper.make_graph(inside.nodes, "step", begin, end, initializer=inside.constants)


def to_onnx(model: Any, path: Path | None, dtype: Literal["float32", "float64"]) -> Any:
    """The model as an ONNX graph, written to a file unless path is None."""
    name = answers_as(model)
    if dtype not in _INPUTS:
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}.")
    if name not in (*_ROWS, "PegasosSequenceTagger"):
        raise ValueError(f"ONNX cannot run a {name}: the code that decodes structures is yours.")
    if len(getattr(model, "transition_columns_", ())):
        raise ValueError("a tagger with transition_features has no ONNX graph here; use model.save(path).")
    if not hasattr(model, "n_features_in_"):
        raise ValueError("ONNX takes rows of numbers; this model has rows that are objects.")
    g = OwnGraph()
    found = _outputs(g, model)
    infos = []
    for said, (source, kind, shape) in found.items():
        g.nodes.append(helper.make_node("Identity", [source], [said], name=said))
        infos.append(helper.make_tensor_value_info(said, kind, shape))
    rows = helper.make_tensor_value_info("X", _INPUTS[dtype], [None, model.n_features_in_])
    graph = helper.make_graph(g.nodes, name, [rows], infos, initializer=g.constants)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="pegasos")
    whole.ir_version = _IR
    if path is not None:
        write_whole(path, [whole.SerializeToString()])
    return whole


def _outputs(g: OwnGraph, model: Any) -> dict[str, tuple[str, int, list[Any]]]:
    """Name, type and shape of what comes out."""
    label = None if not hasattr(model, "classes_") else _kind_of(model)
    if hasattr(model, "transitions_"):
        found = chain_answers(g, "X", model)
        K = len(model.classes_)
        sizes: dict[str, Any] = {"label": (label, [None]), "marginals": (TensorProto.DOUBLE, [None, K])}
        return {name: (source, *sizes[name]) for name, source in found.items()}
    scores = kernel_scores(g, "X", model) if hasattr(model, "dual_coef_") else linear_scores(g, "X", model)
    if label is None:
        flat = g.node("Squeeze", scores, g.constant(np.array([1], np.int64)))
        return {"value": (flat, TensorProto.DOUBLE, [None])}
    said = answers(g, scores, model, _n_models(model))
    K = len(model.classes_)
    outputs: dict[str, tuple[str, int, list[Any]]] = {"label": (said.label, label, [None])}
    outputs["scores"] = (said.scores, TensorProto.DOUBLE, [None] if K == 2 else [None, K])
    if said.probabilities:
        outputs["probabilities"] = (said.probabilities, TensorProto.DOUBLE, [None, K])
    return outputs


def _n_models(model: Any) -> int:
    return len(model.dual_coef_) if hasattr(model, "dual_coef_") else int(model.coef_.shape[0])


def _kind_of(model: Any) -> int:
    return int(TensorProto.STRING if labels_of(model).dtype.kind == "O" else TensorProto.INT64)


# Converters for skl2onnx.


class _Container:
    """A graph that skl2onnx puts together."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope, self._container = scope, container

    def constant(self, value: NDArray[Any]) -> str:
        name = self._scope.get_unique_variable_name("constant")
        self._container.initializers.append(numpy_helper.from_array(value, name))
        return str(name)

    def node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        names = [self._scope.get_unique_variable_name(kind.lower()) for _ in range(outputs)]
        label = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, list(inputs), names, op_domain="", name=label, **attributes)
        return names[0] if outputs == 1 else tuple(names)


def register() -> None:
    """Teach skl2onnx our estimators: ``skl2onnx.to_onnx`` then takes them, alone or at the end of a pipeline."""
    import pegasos

    try:
        from skl2onnx import update_registered_converter
    except ImportError:
        raise ImportError("converters need the skl2onnx package: pip install 'pegasos[onnx]'") from None
    choices = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    for name in (*_ROWS, *(f"{name}CV" for name in _ROWS)):
        classifies = "Classifier" in name
        update_registered_converter(
            getattr(pegasos, name),
            f"Pegasos{name}",
            _classifier_shapes if classifies else _regressor_shapes,
            _convert_classifier if classifies else _convert_regressor,
            options={**choices, "raw_scores": [True, False]} if classifies else None,
        )


def _classifier_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType, StringTensorType

    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    words = _kind_of(model) == TensorProto.STRING
    operator.outputs[0].type = StringTensorType([rows]) if words else Int64TensorType([rows])
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    operator.outputs[1].type = (DoubleTensorType if double else FloatTensorType)([rows, len(model.classes_)])


def _regressor_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    kind = DoubleTensorType if double else FloatTensorType
    operator.outputs[0].type = kind([operator.inputs[0].get_first_dimension(), 1])


def _scores_in(scope: Any, operator: Any, container: Any) -> tuple[_Container, str]:
    g, model = _Container(scope, container), operator.raw_operator
    X = operator.inputs[0].full_name
    return g, kernel_scores(g, X, model) if hasattr(model, "dual_coef_") else linear_scores(g, X, model)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Labels, and probabilities; scores where there are none, or raw_scores asks for them."""
    model = operator.raw_operator
    g, scores = _scores_in(scope, operator, container)
    said: Answers = answers(g, scores, model, _n_models(model))
    options = container.get_options(model, {"raw_scores": False})
    second = said.probabilities
    if options["raw_scores"] or not second:
        second = both_ways(g, said.scores) if len(model.classes_) == 2 else said.scores
    _end(g, container, said.label, operator.outputs[0])
    _end(g, container, second, operator.outputs[1])


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    g, scores = _scores_in(scope, operator, container)
    _end(g, container, scores, operator.outputs[0])


def _end(g: _Container, container: Any, source: str, output: Any) -> None:
    """Under the name, and in the type, that is expected."""
    kind = type(output.type).__name__
    to = {"FloatTensorType": TensorProto.FLOAT, "DoubleTensorType": TensorProto.DOUBLE}.get(kind)
    last = source if to is None else g.node("Cast", source, to=int(to))
    container.add_node("Identity", [last], [output.full_name], op_domain="", name=f"Identity {output.full_name}")
