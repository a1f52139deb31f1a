"""A model file that is not what was written is refused with a sentence: no crash, no wrong model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fuzz_models
import numpy as np
import pytest
from saved_models import MODELS

from pegasos import load_model
from pegasos.io.container import packed, unpacked
from pegasos.io.models import VERSION, loaded


def bytes_of(name: str, tmp_path: Path) -> bytes:
    MODELS[name][0]().save(tmp_path / "whole")
    return (tmp_path / "whole").read_bytes()


def load(data: bytes) -> Any:
    return loaded(np.frombuffer(data, np.uint8), "here", {})[0]


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    data = bytes_of("two classes", tmp_path)
    load(data)
    for size in range(len(data)):
        with pytest.raises(ValueError, match="here is no model file, or is damaged"):
            load(data[:size])
    with pytest.raises(ValueError, match="damaged"):
        load(data + b"\0")


def test_any_flipped_bit_is_noticed(tmp_path: Path) -> None:
    data = bytearray(bytes_of("two classes", tmp_path))
    for place in range(len(data)):
        for bit in range(8):
            data[place] ^= 1 << bit
            with pytest.raises(ValueError, match="here is no model file, or is damaged"):
                load(bytes(data))
            data[place] ^= 1 << bit
    load(bytes(data))


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 7, b"\0" * 200, b"\xff" * 200, b"PK\x03\x04" + b"x" * 100, b"{}" * 60]
)
def test_other_files_are_no_models(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match=r"m is no model file, or is damaged: .*\.$"):
        load_model(tmp_path / "m")


def test_files_of_other_packages_are_no_models() -> None:
    with pytest.raises(ValueError, match="holds no model of this package"):
        load(b"".join(bytes(piece) for piece in packed({"w": np.zeros(2)}, {"format": "pt"})))


# Files with a right checksum, which somebody has made: what they say must be refused, not believed.

Change = Callable[[dict[str, Any], dict[str, Any]], Any]


def forged(data: bytes, change: Change, **metadata: str) -> bytes:
    tensors, found = unpacked(np.frombuffer(data, np.uint8).copy())
    said = json.loads(found["model"])
    change(said, tensors)
    fields = {key: value for key, value in found.items() if key != "checksum"}
    fields |= {"model": json.dumps(said)} | metadata
    return b"".join(bytes(piece) for piece in packed(tensors, fields))


def fitted(key: str, value: Any) -> Change:
    return lambda said, tensors: said["fitted"].update({key: value})


def tensor(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda said, tensors: tensors.update({name: change(tensors[name])})


def in_stream(key: str, value: Any) -> Change:
    def change(said: dict[str, Any], tensors: dict[str, Any]) -> None:
        pairs = [pair for pair in said["fitted"]["stream"]["dict"] if pair[0] != key]
        said["fitted"]["stream"] = {"dict": [*pairs, [key, value]]}

    return change


def spoilt(array: Any, value: float) -> Any:
    array = array.copy()
    array.flat[1] = value
    return array


def _with_q(said: dict[str, Any], tensors: dict[str, Any]) -> None:
    _pair(said["parameters"]["solver"], 1)["dict"].append(["q", 1])


def _twice(array: Any) -> Any:
    return np.frombuffer(array.tobytes().replace(b"cat", b"dog"), np.uint8)


def _pair(said: dict[str, Any], i: int, value: Any = None) -> Any:
    """The value of an entry of a dict, which may be set."""
    pairs = (said if "dict" in said else said["solver"])["dict"]
    if value is not None:
        pairs[i][1] = value
    return pairs[i][1]


ONE = {"array": ["object", ["a"]]}
HUGE = {"nonzeros": [[1 << 30, 1 << 30], "coef_", "coef_"]}
FORGERIES: list[tuple[str, str, Change]] = [
    ("two classes", r"coef_ has nan at \(0, 1\)", tensor("coef_", lambda a: spoilt(a, np.nan))),
    ("two classes", r"coef_ has -inf at", tensor("coef_", lambda a: spoilt(a, -np.inf))),
    ("two classes", r"coef_ has shape \(5,\) where the model needs \(any, 5\)", tensor("coef_", np.ravel)),
    ("two classes", r"coef_ has shape \(1, 4\)", tensor("coef_", lambda a: a[:, 1:])),
    ("two classes", "coef_ has 3 vectors of weights for 2 classes", tensor("coef_", lambda a: np.repeat(a, 3, 0))),
    ("two classes", "coef_ has the type int64", tensor("coef_", lambda a: a.astype(int))),
    ("two classes", r"intercept_ has shape \(2,\)", tensor("intercept_", lambda a: np.zeros(2))),
    ("two classes", "intercept_ is missing", lambda said, tensors: said["fitted"].pop("intercept_")),
    ("two classes", "more than this machine's memory", fitted("coef_", HUGE)),
    ("two classes", "places and values do not match", fitted("coef_", {"nonzeros": [[1, 5], "coef_", "coef_"]})),
    ("two classes", "a value in it makes no sense", fitted("coef_", {"tensor": "nowhere"})),
    ("two classes", "a value in it makes no sense", fitted("coef_", {"pickle": "gASVBAAAAAAAAABLKi4="})),
    ("two classes", "a value in it makes no sense", fitted("coef_", {"tensor": "coef_", "float": "nan"})),
    ("two classes", "coef_ is a list instead of ndarray", fitted("coef_", [1.0, 2.0])),
    ("two classes", "n_features_in_ is -1", fitted("n_features_in_", -1)),
    ("two classes", "n_features_in_ is a bool instead of int", fitted("n_features_in_", True)),
    ("two classes", "classes_ does not have 2 or more different", tensor("classes_", lambda a: a[:1])),
    ("two classes", "classes_ does not have 2 or more different", tensor("classes_", lambda a: a * 0)),
    ("two classes", "attributes that this version does not know: predict", fitted("predict", 1)),
    ("two classes", "history_ is no dict of columns", tensor("history_.gap", lambda a: a[1:])),
    ("two classes", "objective_ is a str", fitted("objective_", "0.3")),
    ("two classes", "unexpected keyword argument 'evil'", lambda said, _: said["parameters"].update(evil=1)),
    ("two classes", "does not say what model", lambda said, _: said.update(estimator="os.system")),
    ("two classes", "does not say what model", lambda said, _: said.update(fitted=[])),
    ("two classes", "does not say what model", lambda said, _: said.pop("parameters")),
    ("named columns", "feature_names_in_ does not have 5 names", fitted("feature_names_in_", ONE)),
    ("three words", "a value in it makes no sense", fitted("classes_", {"array": ["<U1", ["ant", "bee", "cow"]]})),
    ("three words", "a value in it makes no sense", fitted("classes_", {"array": ["<f8", ["ant"]]})),
    ("three words", r"gap_ has shape \(2,\)", tensor("gap_", lambda a: a[1:])),
    ("sparse rows", "a column that is not there", tensor("coef_.indices", lambda a: a + 1)),
    ("sparse rows", "a column that is not there", tensor("coef_.indices", lambda a: a - 1)),
    ("sparse rows", "row pointers that do not fit", tensor("coef_.indptr", lambda a: a + 1)),
    ("sparse rows", "row pointers that do not fit", tensor("coef_.indptr", lambda a: np.array([0, 9, 5], a.dtype))),
    ("sparse rows", "not finite", tensor("coef_.data", lambda a: spoilt(a, np.nan))),
    ("averaged", "nothing to go on from", tensor("resumes.0.dual", lambda a: spoilt(a, np.nan))),
    ("averaged", "unexpected keyword argument 'q'", _with_q),
    ("regression", r"coef_ has shape \(6,\)", tensor("coef_", lambda a: np.append(a, 1.0))),
    ("regression", "intercept_ is nan", fitted("intercept_", {"float": "nan"})),
    ("regression", "a value in it makes no sense", fitted("intercept_", {"float": "1e5"})),
    ("rbf", "support_vectors_ has nan", tensor("support_vectors_", lambda a: spoilt(a, np.nan))),
    ("rbf", "support_vectors_ has shape", tensor("support_vectors_", lambda a: a[:, 1:])),
    ("rbf", "dual_coef_ has shape", tensor("dual_coef_", lambda a: a[:, 1:])),
    ("rbf", "there is no kernel 'os'", lambda said, _: _pair(said["fitted"]["kernel"], 0, "os")),
    ("rbf", "no finite number", lambda said, _: _pair(said["fitted"]["kernel"], 1, {"float": "inf"})),
    ("rbf far away", "the kernel has learned something of shape", tensor("kernel.learned._centre", lambda a: a[1:])),
    ("poly, pairs", "_support_codes does not name", tensor("support_codes", lambda a: a[1:])),
    ("tagger", "emission has nan", tensor("emission", lambda a: spoilt(a, np.nan))),
    ("tagger", "emission has shape", tensor("emission", lambda a: a[1:])),
    ("tagger", "transitions has shape", tensor("transitions", lambda a: a[1:])),
    ("tagger", "ascending labels", tensor("seen.1", lambda a: a + 7)),
    ("tagger, features of transitions", "ascending columns", tensor("transition_columns_", lambda a: a + 99)),
    ("tagger, features of transitions", "_transitions has shape", tensor("feature_transitions", lambda a: a[1:])),
    ("tagger", "ascending labels", tensor("seen.0", lambda a: a[::-1].copy())),
    ("tagger", "seen does not have", tensor("seen.0", lambda a: a[1:])),
    ("tagger", "feature_names_ does not have", fitted("feature_names_", None)),
    ("tagger", "occurs twice", tensor("feature_names_", _twice)),
    ("tagger, all pairs", "emission has shape", fitted("n_features_in_", 2**31 - 1)),
    ("tagger, mask", "allowed does not have 3 labels", tensor("allowed.0", lambda a: a[1:])),
    ("tagger, a stream", "emission has shape", tensor("stream.v.emission", lambda a: a[1:])),
    ("tagger, a stream", "transitions has nan", tensor("stream.B.transitions", lambda a: a * np.nan)),
    ("tagger, a stream", "its stream has numbers that none has", in_stream("lam", 0.0)),
    ("tagger, a stream", "its stream has numbers that none has", in_stream("late", {"float": "inf"})),
    ("tagger, a stream", "c is a str", in_stream("c", "1")),
    ("tagger, a stream", "its stream has no iterate", in_stream("v", None)),
    ("tagger, a stream", "attributes that this version does not know: more", in_stream("more", 1)),
    ("tagger, a stream", "stream is a list", fitted("stream", [])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "words", "change"), FORGERIES, ids=lambda given: given if isinstance(given, str) else ""
)
def test_a_file_with_a_right_checksum_is_not_believed_either(
    name: str, words: str, change: Change, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=words):
        load(forged(bytes_of(name, tmp_path), change))


def test_a_newer_file_says_what_to_do(tmp_path: Path) -> None:
    data = bytes_of("two classes", tmp_path)
    newer = str(VERSION + 1)
    with pytest.raises(ValueError, match=rf"written by pegasos 9\.0.*version {newer} of the format.*Upgrade pegasos"):
        load(forged(data, lambda said, tensors: None, version=newer, package="9.0"))
    load(forged(data, lambda said, tensors: None, package="9.0"))


def header(text: bytes, rest: bytes = b"") -> bytes:
    """A file with this header and a right checksum."""
    from hashlib import blake2b

    first = b'{"__metadata__":{"checksum":"'
    text = first + b"0" * 32 + text
    whole = len(text).to_bytes(8, "little") + text + rest
    return whole.replace(b"0" * 32, blake2b(whole, digest_size=16).hexdigest().encode(), 1)


@pytest.mark.parametrize(
    ("text", "rest", "words"),
    [
        (b'"', b"", "its header is not"),
        (b'"}}', b"", "holds no model of this package"),
        (b'"}}', b"12345678", "its arrays have 0 bytes, but the file has 8"),
        (b'","a":3}}', b"", "something else than strings"),
        (b'"},"w":{"dtype":"F64","shape":[1],"data_offsets":[8,16]}}', b"1" * 16, "does not begin where"),
        (b'"},"w":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}}', b"1" * 8, "does not have 8 bytes"),
        (b'"},"w":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,8]}}', b"1" * 8, "does not have 8"),
        (b'"},"w":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}}', b"1" * 8, "has the shape"),
        (b'"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,99]}}', b"1" * 8, "does not have 99 bytes"),
        (b'"},"w":{"dtype":"F65","shape":[1],"data_offsets":[0,8]}}', b"1" * 8, "its header is not"),
        (b'"},"w":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}', b"2", "neither true nor false"),
        (b'"},"w":' + b"[" * 100_000, b"", "its header is not"),
        (b'"},"w":{"dtype":"F64","shape":[1],"data_offsets":["0",8]}}', b"1" * 8, "does not begin where"),
    ],
)  # fmt: skip
def test_a_header_that_lies_is_refused(text: bytes, rest: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        load(header(text, rest))


def test_random_forgeries_are_refused_by_a_sentence_or_answer() -> None:
    refused, loaded_well = fuzz_models.campaign(400)
    assert refused > 200
    assert loaded_well > 0
