"""Damaged data files: cut anywhere, bits flipped, sizes and types changed, contents forged with right checksums."""

import json
import os
from contextlib import suppress
from hashlib import blake2b

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import PegasosClassifier, convert_data, open_data
from pegasos.io.container import DIGITS, FIRST
from pegasos.io.mapped import new_file

rng = np.random.default_rng(5)
X = sp.random(40, 12, 0.3, format="csr", random_state=2)
Y = np.where(rng.random(40) < 0.5, -1, 1)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "good.pegasos"
    convert_data((X, Y), path)
    return path


def used(path):
    """All that a fit does with a file; the model, where it is none the worse."""
    return PegasosClassifier(lam=0.1).fit(open_data(path))


def test_a_file_cut_at_any_byte_is_refused(good, tmp_path) -> None:
    whole, path = good.read_bytes(), tmp_path / "cut.pegasos"
    path.write_bytes(whole)
    for size in reversed(range(len(whole))):
        os.truncate(path, size)
        with pytest.raises(ValueError, match=r"cut\.pegasos is no data file, or is damaged: "):
            open_data(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(ValueError, match="is no data file, or is damaged: its arrays have"):
        open_data(path)


def test_every_flipped_bit_is_seen_by_who_verifies(good, tmp_path) -> None:
    """And without that there is an error, or a model of other finite numbers: never a crash."""
    whole, path = good.read_bytes(), tmp_path / "flipped.pegasos"
    path.write_bytes(whole)
    fits = 0
    with open(path, "r+b", buffering=0) as file:
        for at, byte in enumerate(whole):
            os.pwrite(file.fileno(), bytes([byte ^ 1 << rng.integers(8)]), at)
            with pytest.raises(ValueError, match="is no data file, or is damaged: "):
                open_data(path, verify=True)
            if at % 20 == 0:
                with suppress(ValueError):
                    fits += bool(np.isfinite(used(path).coef_).all())
            os.pwrite(file.fileno(), bytes([byte]), at)
    assert fits > 20  # digits of values, which only a checksum can tell


ABOUT = {"n_features": 12, "first": 0, "shuffled": True, "classes": [-1, 1], "label_type": "int64"}
ARRAYS = {
    "names": np.frombuffer(b"null", np.uint8),
    "codes": (Y > 0).astype(np.int32),
    "indptr": X.indptr.astype(np.int64),
    "indices": X.indices.astype(np.int32),
    "data": X.data,
}


def forged(path, arrays=ARRAYS, metadata=(), **about):
    said = {"format": "pegasos data", "version": "1", "package": "0", "data": json.dumps({**ABOUT, **about})}
    kinds = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    with new_file(path, kinds, {**said, **dict(metadata)}) as new:
        for name, array in arrays.items():
            new.append(name, array)


def changed(name, at, value):
    arrays = {each: array.copy() for each, array in ARRAYS.items()}
    arrays[name][at] = value
    return {"arrays": arrays}


def replaced(**arrays):
    return {"arrays": {**ARRAYS, **arrays}}


FORGED = {
    "a column out of range": (changed("indices", 3, 12), "column index 12 .* is outside"),
    "a negative column": (changed("indices", 3, -1), "is outside"),
    "columns that do not increase": (changed("indices", slice(0, 2), [5, 5]), "columns do not increase"),
    "pointers that fall": (changed("indptr", 4, 0), "indptr decreases"),
    "pointers too far": (changed("indptr", -1, 10**12), "indptr"),
    "pointers that begin elsewhere": (changed("indptr", 0, 1), "indptr"),
    "huge pointers": (changed("indptr", 7, 2**62), "indptr"),
    "not finite": (changed("data", 5, np.nan), "contains NaN"),
    "overflows": (changed("data", 5, 1e200), "row"),
    "a class that is not there": (changed("codes", 2, 2), "row 2 has class number 2, and there are 2"),
    "a negative class": (changed("codes", 2, -1), "row 2 has class number -1"),
    "a class without a row": (replaced(codes=np.zeros(40, np.int32)), "no row has the label 1"),
    "too few labels": (replaced(codes=ARRAYS["codes"][1:]), "do not have 39 rows"),
    "no labels": (replaced(codes=ARRAYS["codes"][:0]), "it has 0 rows"),
    "values of another type": (replaced(data=X.data.astype(np.int64)), "of types that do not fit"),
    "pointers of another type": (replaced(indptr=X.indptr.astype(np.int32)), "of types that do not fit"),
    "values in two dimensions": (replaced(data=X.data[:, None]), "of types that do not fit"),
    "fewer values than columns": (replaced(data=X.data[1:]), "do not have 40 rows"),
    "an array more": (replaced(more=np.zeros(3)), "of types that do not fit"),
    "dense and sparse": (replaced(X=np.zeros((40, 12))), "of types that do not fit"),
    "names that are no JSON": (replaced(names=np.frombuffer(b"nul", np.uint8)), "does not say what it has to"),
    "too few names": (replaced(names=np.frombuffer(b'["a"]', np.uint8)), "do not have a name each"),
    "fewer features": ({"n_features": 5}, "is outside"),
    "negative features": ({"n_features": -1}, "rows of -1 features"),
    "features that are no number": ({"n_features": "12"}, "features"),
    "another first column": ({"first": 2}, "from column 2"),
    "classes that are no list": ({"classes": 3}, "neither numbers nor words"),
    "classes out of order": ({"classes": [1, -1]}, "not in order"),
    "classes twice": ({"classes": [1, 1]}, "not in order"),
    "classes of two kinds": ({"classes": [1, "a"]}, "neither numbers nor words"),
    "labels of an unknown type": ({"label_type": "complex128"}, "labels have the unknown type 'complex128'"),
    "classes beyond their type": ({"classes": [0, 300], "label_type": "uint8"}, "does not say what it has to"),
    "classes that are not of their type": ({"classes": [0.5, 1.5], "label_type": "int8"}, "no labels of type int8"),
    "a newer version": ({"metadata": {"version": "2"}}, "another version of the format"),
    "a model": ({"metadata": {"format": "pegasos model"}}, "it holds a pegasos model"),
    "something else": ({"metadata": {"data": "[]"}}, "does not say what it has to"),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_with_right_checksums(tmp_path, case: str) -> None:
    how, said = FORGED[case]
    path = tmp_path / "forged.pegasos"
    forged(path, **how)
    with pytest.raises(ValueError, match=rf"(?s)forged\.pegasos.*{said}"):
        used(path)


def test_what_is_forged_as_it_should_be_is_taken(good, tmp_path) -> None:
    forged(tmp_path / "forged.pegasos")
    assert used(tmp_path / "forged.pegasos").converged_


def header_with(good, path, change) -> None:
    """The file with another header, whose checksum is right."""
    whole = good.read_bytes()
    size = int.from_bytes(whole[:8], "little")
    fields = json.loads(whole[8 : 8 + size])
    change(fields)
    text = json.dumps(fields, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    text = FIRST + b"0" * DIGITS + text[len(FIRST) + DIGITS :]
    length = len(text).to_bytes(8, "little")
    digits = blake2b(length + text, digest_size=DIGITS // 2).hexdigest().encode()
    path.write_bytes(length + text.replace(b"0" * DIGITS, digits, 1) + whole[8 + size :])


HEADERS = {
    "a huge shape": lambda f: f["data"].update(shape=[2**62]),
    "a huge end": lambda f: f["data"].update(data_offsets=[f["data"]["data_offsets"][0], 2**63]),
    "a negative begin": lambda f: f["data"].update(data_offsets=[-8, f["data"]["data_offsets"][1]]),
    "an overlap": lambda f: f["indices"].update(data_offsets=f["codes"]["data_offsets"]),
    "an unknown type": lambda f: f["data"].update(dtype="F16"),
    "an array is missing": lambda f: f.pop("codes"),
    "no metadata": lambda f: f["__metadata__"].pop("data"),
    "numbers in the metadata": lambda f: f["__metadata__"].update(version=1),
    "a list for a field": lambda f: f.update(data=[]),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers_with_a_right_checksum(good, tmp_path, case: str) -> None:
    path = tmp_path / "forged.pegasos"
    header_with(good, path, HEADERS[case])
    with pytest.raises(ValueError, match=r"forged\.pegasos is no data file, or is damaged: "):
        open_data(path)


def test_a_file_that_was_changed_since_is_refused(good, tmp_path) -> None:
    path = tmp_path / "changed.pegasos"
    path.write_bytes(good.read_bytes())
    data = open_data(path)
    used(path)
    with open(path, "r+b") as file:
        file.seek(-1, 2)
        file.write(b"l")
    with pytest.raises(ValueError, match="was changed since it was opened"):
        PegasosClassifier(lam=0.1).fit(data)


def test_other_files_are_no_data_files(tmp_path) -> None:
    PegasosClassifier(lam=0.1).fit(X, Y).save(tmp_path / "model.safetensors")
    (tmp_path / "text.svm").write_text("1 1:2\n" * 100)
    for name in ("model.safetensors", "text.svm"):
        with pytest.raises(ValueError, match=f"{name} is no data file, or is damaged: "):
            open_data(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        open_data(tmp_path / "nothing.pegasos")
    with pytest.raises(IsADirectoryError):
        open_data(tmp_path)
