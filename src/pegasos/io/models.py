"""Models as files: `model.save(path)` and `pegasos.load_model(path)`.

A file is data: an estimator's name, its parameters, numbers. Nothing in it is run, and there is no pickle.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import pegasos

from .atomic import Path, write_whole
from .container import Damaged, packed, unpacked
from .families import FAMILIES, PARTS
from .state import State
from .stored import is_data_file
from .values import Reader, Unwritable, Writer

FORMAT, VERSION = "pegasos model", 2
_SINCE = {"stream": 2}  # attributes that version 1 does not know


def save_model(model: Any, path: Path, sparse: bool = False) -> None:
    """Write a fitted model to a file, which is there whole or not at all."""
    write_whole(path, dumped(model, sparse))


def dumped(model: Any, sparse: bool = False, notes: Mapping[str, str] | None = None) -> list[Any]:
    """The pieces of a model's file. notes: further metadata, which `load_model` leaves alone."""
    name = type(model).__name__
    if name not in FAMILIES or type(model) is not getattr(pegasos, name):
        raise ValueError(
            f"{name} is not an estimator of this package but one of your own: load_model would not know what it is. "
            "Save what it is made of."
        )
    check_is_fitted(model)
    writer = Writer(PARTS, sparse)
    fitted = {key: writer.write(value, key.removeprefix("_")) for key, value in FAMILIES[name].state(model).items()}
    parameters = {key: parameter(writer, key, value) for key, value in model.get_params(deep=False).items()}
    said = {"estimator": name, "parameters": parameters, "fitted": fitted}
    version = max(_SINCE.get(key, 1) for key in fitted)  # the first that reads this file
    metadata = {"format": FORMAT, "version": str(version), "package": pegasos.__version__, "model": _json(said)}
    return packed(writer.tensors, metadata | dict(notes or {}))


def _json(said: Any) -> str:
    return json.dumps(said, separators=(",", ":"), allow_nan=False)


def parameter(writer: Writer, name: str, value: Any) -> Any:
    """As JSON; what a file cannot hold is described, and `load_model` asks for it."""
    if hasattr(value, "columns") and hasattr(value, "index"):  # costs as a frame
        value = {(row, column): value.loc[row, column] for row in value.index for column in value.columns}
    try:
        return writer.write(value, f"parameters.{name}")
    except Unwritable:
        kind = value if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")) else type(value)
        return {"object": f"{getattr(kind, '__module__', '?')}.{getattr(kind, '__qualname__', kind)}"}


def load_model(path: Path, **objects: Any) -> Any:
    """Read a model that `save` has written.

    Parameters
    ----------
    path : str or path-like
        The file.
    **objects
        Parameters that a file cannot hold: a kernel or a loss of your own, a function `allowed`, a solver of your own,
        the `model` of `PegasosStructured`. The error says which are missing.

    Returns
    -------
    model : estimator
        It predicts to the last bit as the one that was saved.

    Notes
    -----
    A file that is damaged, cut short, or from a newer version is refused with an error that says so.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> X, y = pegasos.datasets.make_binary(100, 5, random_state=0)
    >>> model = pegasos.PegasosClassifier(lam=0.1).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.safetensors")
    >>> model.save(path)
    >>> bool((pegasos.load_model(path).predict(X) == model.predict(X)).all())
    True
    """
    return loaded(load_bytes(path), os.fspath(path), objects)[0]


def load_bytes(source: Any) -> NDArray[np.uint8]:
    """All bytes of a file, or of a stream."""
    if hasattr(source, "read"):
        return np.frombuffer(source.read(), np.uint8).copy()
    path: Path = source
    if is_data_file(path):  # it may be too large to be read
        raise ValueError(f"{os.fspath(path)} holds rows, not a model: open_data reads it.")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            data = np.empty(size, np.uint8)
        except MemoryError:
            raise ValueError(f"{os.fspath(path)} has {size:,} bytes, for which there is no memory.") from None
        got = file.readinto(data.data)
        rest = file.read()  # of a pipe, whose size nobody knows, or of a file that grows
    return np.concatenate([data[:got], np.frombuffer(rest, np.uint8)]) if rest else data[:got]


def described(data: NDArray[np.uint8], place: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]], dict[str, str]]:
    """What a file says of its model, its arrays, and its metadata."""
    try:
        tensors, metadata = unpacked(data)
    except Damaged as error:
        raise ValueError(f"{place} is no model file, or is damaged: {error}.") from None
    if metadata.get("format") != FORMAT or not metadata.get("version", "").isdecimal():
        raise ValueError(f"{place} is a safetensors file, but it holds no model of this package.")
    if int(metadata["version"]) > VERSION:
        raise ValueError(
            f"{place} was written by pegasos {metadata.get('package')}, in version {metadata['version']} of the "
            f"format; this is pegasos {pegasos.__version__}, which reads version {VERSION}. Upgrade pegasos."
        )
    try:
        said = json.loads(metadata["model"])
        if {type(said[part]) for part in ("parameters", "fitted")} != {dict} or said["estimator"] not in FAMILIES:
            raise ValueError
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{place} does not say what model it holds: it was not written by save.") from None
    return said, tensors, metadata


def loaded(data: NDArray[np.uint8], place: str, objects: Mapping[str, Any]) -> tuple[Any, dict[str, str]]:
    """The model of these bytes, and the metadata; place: where they come from, for messages."""
    said, tensors, metadata = described(data, place)
    try:
        return _built(said, Reader(tensors, PARTS), objects), metadata
    except (
        Damaged,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
        MemoryError,
    ) as error:
        raise ValueError(
            f"{place} holds no {said['estimator']} that makes sense: {error or type(error).__name__}."
        ) from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _built(said: dict[str, Any], reader: Reader, objects: Mapping[str, Any]) -> Any:
    name = said["estimator"]
    parameters = {
        key: objects[key] if key in objects else _read_parameter(reader, name, key, value)
        for key, value in said["parameters"].items()
    }
    unknown = [key for key in objects if key not in parameters]
    if unknown:
        raise ValueError(f"{name} has no parameter {unknown[0]!r}.")
    model = getattr(pegasos, name)(**parameters)
    state = State({key: reader.read(value) for key, value in said["fitted"].items()})
    FAMILIES[name].restore(model, state)
    state.end()
    return model


def _read_parameter(reader: Reader, estimator: str, name: str, value: Any) -> Any:
    if isinstance(value, dict) and list(value) == ["object"]:
        raise ValueError(
            f"the {estimator} has {name}={value['object']}, which a file cannot hold. Hand it over: "
            f"load_model(path, {name}=...)."
        )
    return reader.read(value)
