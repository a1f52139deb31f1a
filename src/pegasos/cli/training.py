"""`pegasos train`: rows from a file, a model to a file, and what became of it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from ..io.liblinear import kind_for, whole_labels
from ..io.stored import is_data_file, open_data
from ..losses import REGRESSION
from ..memory import memory_of_machine, n_bytes, shown
from . import INTERRUPTED, NOT_CONVERGED, screen
from .checks import expect_place
from .copies import copied
from .judging import judged, scores_of
from .models import write_model
from .rows import Source, is_whole, labels_of, loaded, read_rows, rows_of
from .scoring import aligned
from .sequences import features, read_sentences
from .summary import summary

_SAID = {"class_weight": "--balanced", "random_state": "--seed", "n_jobs": "--threads"}  # options of other names
_VECTORS = 4  # as long as the features, at least: weights, a sum of them for each thread, what is returned


@dataclass(frozen=True)
class Training:
    """All that `train` was told."""

    source: Source
    model: str
    options: dict[str, Any]  # parameters of the estimator, those that were given
    kernel: str | None = None
    sequences: bool = False
    test: str | None = None
    sparse: bool = False
    format: str = "pegasos"
    limits: tuple[str, ...] = field(default=())  # which of max_epochs and max_time were given
    checkpoint: str | None = None
    every: float = 30.0  # seconds between two checkpoints
    memory: str | None = None  # that the process may take
    again: bool = False  # whether it goes on from its checkpoint


def resumed(path: str, threads: int | None = None, max_time: float | None = None, model: str | None = None) -> Training:
    """What the command was told that wrote a checkpoint, but for what may differ."""
    from ..io.checkpoints import read_checkpoint

    found = read_checkpoint(path)
    if found is None:
        raise ValueError(f"{path}: there is no such checkpoint.")
    said = found[0]["notes"].get("command")
    if said is None:
        raise ValueError(f"{path} was written by Python, not by this command: go on there.")
    source, options, limits = dict(said["source"]), dict(said["options"]), set(said["limits"])
    if threads is not None:
        source["threads"] = options["n_jobs"] = threads
    if max_time is not None:
        options["max_time"] = max_time
        limits.add("max_time")
    if model is not None:
        said["model"] = model
    told = {"source": Source(**source), "options": options, "limits": tuple(limits), "checkpoint": path, "again": True}
    return Training(**{**said, **told})


@contextmanager
def _kept(job: Training) -> Iterator[None]:
    """With checkpoints, where they were asked for: until the model is written."""
    if job.checkpoint is None:
        yield
        return
    from ..io.checkpoints import Checkpoints, keeping

    # Whoever goes on may be in another folder.
    said = asdict(replace(job, source=replace(job.source, path=_absolute(job.source.path)), model=_absolute(job.model)))
    said["test"] = job.test and _absolute(job.test)
    with keeping(Checkpoints(job.checkpoint, job.every, {"command": said})):
        yield


def _absolute(path: str) -> str:
    return path if path == "-" else os.path.abspath(path)


def make_estimator(job: Training) -> Any:
    """The estimator that the options ask for, with its parameters checked."""
    import pegasos

    from ..rules import check

    options = dict(job.options)
    regression = options.get("loss") in REGRESSION or "epsilon" in options
    if job.sequences:
        kind: Any = pegasos.PegasosSequenceTagger
    elif job.kernel:
        options["kernel"] = job.kernel
        kind = pegasos.KernelPegasosRegressor if regression else pegasos.KernelPegasosClassifier
    else:
        kind = pegasos.PegasosRegressor if regression else pegasos.PegasosClassifier
    unknown = sorted(set(options) - set(kind._get_param_names()))
    if unknown:
        name = _SAID.get(unknown[0], f"--{unknown[0].replace('_', '-')}")
        raise ValueError(f"{name} is not for {kind.__name__}.")
    model = kind(**options)
    check(kind._rules, model)
    if job.memory is not None and not is_linear(kind):
        raise ValueError(f"--memory is for linear models, not for {kind.__name__}.")
    n_bytes(job.memory)
    _expect_format(job, model)
    return model


def _expect_format(job: Training, model: Any) -> None:
    """That such a model can be written as it was asked for."""
    if job.format == "liblinear":
        kind_for(type(model).__name__, model)
    elif job.format == "onnx":
        import_module("pegasos.io.onnx")  # it says what is missing


def is_linear(kind: Any) -> bool:
    """Whether a kind of model takes rows where they are."""
    from ..estimators.linear_base import LinearModel

    return issubclass(kind, LinearModel)


def train(job: Training, as_json: bool, quiet: bool) -> int:
    """Train, write, report; the exit code."""
    began = time.perf_counter()
    with screen.guarded(quiet, usage=True):
        model = make_estimator(job)
    with screen.guarded(quiet), ExitStack() as temporary:
        for path in (job.model, job.checkpoint):
            expect_place(path)
        if job.test not in (None, "-"):
            os.stat(str(job.test))  # before the work, not after it
        with screen.busy(f"reading {job.source.path}", quiet):
            X, y, names, notes, bad = _read(job, model, quiet, temporary)
            stay = _test_rows(job, temporary)
        reading = time.perf_counter() - began
        with _kept(job):
            interrupted = _fit(model, X, y, names, quiet)
            if interrupted and not hasattr(model, "history_"):
                return INTERRUPTED  # before there was anything to keep
            write_model(model, job.model, job.sparse, notes, job.format)
        facts = summary(model, X, y, job.model) | {"seconds reading": round(reading, 3)}
        facts["seconds training"] = round(float([0.0, *model.history_["seconds"]][-1]), 3)
        facts |= {"lines left out": bad} if bad else {}
        try:
            facts |= _test(job, model, notes, stay, quiet)
        finally:  # what is known is said, though the rows of the test be bad
            if not quiet or as_json:
                screen.show(facts, as_json, screen.err if job.model == "-" else screen.out)
    if interrupted:
        if not quiet:
            screen.note("stopped by Ctrl-C; the model of that moment was written.")
        return INTERRUPTED
    if model.converged_ or job.limits or np.isnan(model.gap_).any():
        return 0
    if not quiet:
        screen.note(f"not converged: the gap is larger than --tol {model.tol:g} asks for. Raise --max-epochs or --tol.")
    return NOT_CONVERGED


def _read(
    job: Training, model: Any, quiet: bool, temporary: ExitStack
) -> tuple[Any, Any, list[str] | None, dict[str, Any], int]:
    """X, y, names of columns, notes for the model file, bad lines. X with its own y where rows stay in a file."""
    if is_linear(type(model)) and (job.memory is not None or is_data_file(job.source.path)):
        return *_stay(job, model, temporary), 0
    if job.sequences:
        sentences = read_sentences(job.source.path)
        if not sentences or len(sentences[0][0]) < 2:
            raise ValueError(f"{job.source.path}: a training file has a column of words or more, and one of labels.")
        X = [features([token[:-1] for token in sentence]) for sentence in sentences]
        return X, [[token[-1] for token in sentence] for sentence in sentences], None, {"format": "conll"}, 0
    rows = read_rows(job.source, quiet=quiet)
    if hasattr(rows.X, "blocks"):
        rows = replace(rows, X=loaded(rows.X))
    if not rows.X.shape[0]:
        raise ValueError(f"{job.source.path} has no rows.")
    _expect_room(job, rows.X.shape[1])
    if rows.y is None:
        raise ValueError(f"{job.source.path} has no labels. Name the column that holds them: --target.")
    y = labels_of(rows.y)
    _expect_classes(job, model, y)
    notes = {"first": rows.first, "format": job.source.format, "target": job.source.target}
    return rows.X, y, rows.names, notes, rows.bad


def _expect_classes(job: Training, model: Any, y: Any) -> None:
    """Labels that the model can learn, and its file hold."""
    odd = (
        next((c for c in y if not isinstance(c, (str, bytes, int, float, np.generic))), None)
        if y.dtype == "O"
        else None
    )
    if odd is not None:
        raise ValueError(
            f"{job.source.path} has labels that are neither numbers nor words, such as {odd!r}: convert them."
        )
    if not hasattr(model, "epsilon") and y.dtype.kind == "f" and not is_whole(y):
        broken = y[y != np.floor(y)][0]
        raise ValueError(
            f"{job.source.path} has labels that are no whole numbers, such as {broken:g}: for numbers to predict use "
            "--loss epsilon_insensitive."
        )
    if job.format == "liblinear" and not hasattr(model, "epsilon"):
        whole_labels(np.unique(y))


def _expect_room(job: Training, n_features: int) -> None:
    """One number too many in a column would take all memory of the machine, and the process with it."""
    needed = _VECTORS * 8 * n_features
    if job.kernel is None and needed > memory_of_machine():
        raise ValueError(
            f"{job.source.path} has columns up to number {n_features:,}, whose weights take {shown(needed)} while they "
            "are trained, more than this machine has. Number the columns in use from 1 on."
        )


def _stay(job: Training, model: Any, temporary: ExitStack) -> tuple[Any, Any, list[str] | None, dict[str, Any]]:
    """The same of rows that stay in their file, or of a copy that does."""
    if is_data_file(job.source.path):
        data = open_data(job.source.path, memory=job.memory)
    else:
        data = temporary.enter_context(copied(job.source, job.memory, job.model, job.checkpoint, job.again))
    _expect_room(job, data.shape[1])
    _expect_classes(job, model, data.labels if data.classes is None else data.classes)
    notes = {"first": data.first, "format": job.source.format, "target": job.source.target}
    return data, None, None, notes


def _fit(model: Any, X: Any, y: Any, names: list[str] | None, quiet: bool) -> bool:
    """Whether Ctrl-C ended it. names: of the columns, which the model then knows."""
    from ..progress import listening

    try:
        with screen.progress_bar(quiet) as bar, listening(bar) if bar is not None else nullcontext():
            model.fit(X, y)
    except KeyboardInterrupt:
        return True
    finally:
        if names is not None and hasattr(model, "history_"):
            model.feature_names_in_ = np.array(names, object)
    return False


def _test_rows(job: Training, temporary: ExitStack) -> Any:
    """Rows of the test that stay in their file, or in a copy, where there is little memory."""
    if job.test is None or job.memory is None:
        return None
    if is_data_file(job.test):
        return open_data(job.test, memory=job.memory)
    return temporary.enter_context(copied(replace(job.source, path=job.test), job.memory, job.model))


def _test(job: Training, model: Any, notes: dict[str, Any], stay: Any, quiet: bool) -> dict[str, Any]:
    if job.test is None:
        return {}
    source = replace(job.source, path=job.test)
    with screen.busy(f"testing on {job.test}", quiet):
        if stay is None:
            found = scores_of(model, notes, source, quiet)
        else:
            found = judged(model, aligned(model, notes, rows_of(stay), quiet), source, n_bytes(job.memory))
    return {f"test {name}": value for name, value in found.items()}
