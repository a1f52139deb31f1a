"""read_data: every format, the target by name or number, and what is said of files that are something else."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos
from pegasos import read_data

X = np.array([[1.5, 0, 2], [0, 3, 0], [4, 0, 0.25]])


def test_svmlight_is_what_a_name_without_a_known_end_means(tmp_path: Path) -> None:
    path = tmp_path / "data.train"
    path.write_bytes(b"1 1:1.5 3:2\nx\n-1 2:3\n")
    data = read_data(path, skip_bad=1)
    assert data.X.toarray().tolist() == X[:2].tolist()
    assert data.y.tolist() == [1, -1]
    assert data.names is None
    assert data.bad == [f"{path}:2:1: expected a label, which is a number, found 'x'."]
    with pytest.raises(ValueError, match="svmlight's format has labels"):
        read_data(path, target="x")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.npz"
    sp.save_npz(path, sp.csr_matrix(X).asformat(kind))
    data = read_data(path, target=1, dtype=np.float32)
    assert data.X.format == "csr"
    assert data.X.dtype == np.float32
    assert data.X.toarray().tolist() == X[:, [0, 2]].tolist()
    assert data.y.tolist() == X[:, 1].tolist()
    assert read_data(path).y is None
    with np.load(path) as arrays:
        np.savez(path, **arrays, y=np.array(["a", "b", "c"]))
    assert read_data(path).y.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="labels of its own"):
        read_data(path, target=1)


def test_npy(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, X)
    data = read_data(path, target=-1)
    assert data.X.tolist() == X[:, :2].tolist()
    assert data.y.tolist() == X[:, 2].tolist()
    with pytest.raises(ValueError, match="has 3 features, expected 2"):
        read_data(path, n_features=2)
    with pytest.raises(ValueError, match="columns have no names"):
        read_data(path, target="age")
    with pytest.raises(ValueError, match="its columns are 0 to 2"):
        read_data(path, target=3)


def _saved(path: Path, array: Any) -> bytes:
    np.save(path, array, allow_pickle=True)
    return path.read_bytes()


def test_files_that_are_something_else(tmp_path: Path) -> None:
    broken = sp.csr_matrix(X)
    broken.indices[1] = 77
    sp.save_npz(tmp_path / "broken.npz", broken)
    whole = _saved(tmp_path / "x.npy", X)
    cases = [
        ("x.npz", b"", "not a sparse matrix written by scipy.sparse.save_npz: it begins in another way"),
        ("x.npz", whole, "it begins in another way"),
        ("x.npz", (tmp_path / "broken.npz").read_bytes(), "column index 77 in row 0 is outside"),
        ("x.npz", (tmp_path / "broken.npz").read_bytes()[:-30], "not a sparse matrix"),
        ("x.npy", whole[:-8], "not an array written by np.save"),
        ("x.npy", _saved(tmp_path / "o.npy", np.array([[{}]], dtype=object)), "allow_pickle=False"),
        ("x.npy", _saved(tmp_path / "o.npy", X[0]), "array of 1 dimensions"),
        ("x.npy", _saved(tmp_path / "o.npy", np.array([["a"]])), "has no numbers but <U1"),
    ]
    for name, content, said in cases:
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ValueError, match=said):
            read_data(path)
    for pack in (gzip.compress, bz2.compress, lzma.compress):  # what was changed inside is found by the checksum
        packed = pack(_saved(tmp_path / "o.npy", np.arange(1000.0).reshape(100, 10)))
        for place in range(40, len(packed) - 8, 97):
            (tmp_path / "y.npy.gz").write_bytes(packed[:place] + bytes([packed[place] ^ 4]) + packed[place + 1 :])
            with pytest.raises(ValueError, match="compression is damaged or cut short"):
                read_data(tmp_path / "y.npy.gz")
    with pytest.raises(ValueError, match="unknown format 'xls'; known: svmlight, npz, npy, csv, parquet"):
        read_data(tmp_path / "x.npy", format="xls")


CSV = b"age,income,label\n30,1.5,yes\n40,,no\n"


def test_csv(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(CSV))
    data = read_data(path, target="label")
    assert data.names == ["age", "income"]
    np.testing.assert_array_equal(data.X, [[30, 1.5], [40, np.nan]])
    assert data.y.tolist() == ["yes", "no"]
    same = read_data(io.BytesIO(CSV), format="csv", target="-1")
    np.testing.assert_array_equal(same.X, data.X)
    bare = read_data(io.BytesIO(b"1,2\n3,4\n"), format="csv", target=0)
    assert bare.names is None  # no line is lost where the first has numbers
    assert bare.X.tolist() == [[2], [4]]
    assert bare.y.tolist() == [1, 3]
    words = read_data(io.BytesIO(b"5.1,3.5,setosa\n7,3.2,versicolor\n"), format="csv", target=2)
    assert words.names is None  # nor where the labels are words
    assert words.X.tolist() == [[5.1, 3.5], [7, 3.2]]
    assert words.y.tolist() == ["setosa", "versicolor"]


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        (CSV, "lable", "has no column 'lable'. Did you mean 'label'"),
        (CSV, "quite else", "has no column 'quite else'. It has 'age', 'income', 'label'"),
        (CSV, None, "column 'label' holds no numbers but string, 'yes' in row 0"),
        (b"age,income\n30,1.5\n40,\n", "income", "the target 'income' is missing in row 1"),
        (b"a,a\n1,2\n", "a", "more than one column is called 'a'"),
        (b"a,b\n1,2\n3\n", None, "Row #3: Expected 2 columns, got 1"),
        (b"", None, "empty"),
        (b"0,1,label\n1,2,yes\n", "-1", "are the columns called '0,1,label', or are these values"),
        (b"a,b\n1,2020-01-02\n", None, "holds no numbers but date32"),
        (gzip.compress(CSV, mtime=0)[:-9], None, "gzip compression is damaged or cut short"),
    ],
)
def test_bad_csv(text: bytes, target: str | None, said: str) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="^<stream>.*" + said):
        read_data(io.BytesIO(text), format="csv", target=target)


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "x.parquet"
    label = pa.array(["u", "v", "u"]).dictionary_encode()
    parquet.write_table(pa.table({"a": [1, 2, 3], "label": label, "b": [True, False, None]}), path)
    data = read_data(path, target="label")
    assert data.names == ["a", "b"]
    np.testing.assert_array_equal(data.X, [[1, 1], [2, 0], [3, np.nan]])
    assert data.y.tolist() == ["u", "v", "u"]
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"x\.parquet: "):
        read_data(path)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install pegasos\[tables\]"):
        read_data(io.BytesIO(CSV), format="csv")


def test_what_was_read_can_be_learned(tmp_path: Path) -> None:
    path = tmp_path / "x.svm"
    path.write_bytes(b"1 1:1.5 3:2\n-1 2:3\n1 1:4\n")
    data = read_data(path)
    model = pegasos.PegasosClassifier(lam=0.1).fit(data.X, data.y)
    assert model.predict(data.X).tolist() == [1, -1, 1]
