"""Files to train from: what `convert_data` writes, and `open_data` reads, is what the source had, in a random order."""

import errno
import gzip
import os
import pickle
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from disk_faults import count_refusals
from sklearn.datasets import dump_svmlight_file

import pegasos
from pegasos import PegasosClassifier, convert_data, load_model, open_data, read_svmlight
from pegasos.io import convert as converting
from pegasos.io import mapped, shuffle
from pegasos.io.shuffle import keys_of

rng = np.random.default_rng(0)
X = sp.random(400, 30, 0.2, format="csr", random_state=1)
X.data = rng.integers(1, 99, len(X.data)) / 8  # every digit fits into text
Y = np.where(rng.random(400) < 0.3, -1.0, 1.0)


def all_rows(data):
    parts = [block for _, block in data.blocks(64)]
    return sp.vstack(parts).toarray() if sp.issparse(parts[0]) else np.concatenate(parts)


def order_of(seed: int, m: int = 400) -> np.ndarray:
    return np.argsort(keys_of(seed, 0, m))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a.svm"
    dump_svmlight_file(X, Y, str(path), zero_based=False)
    return path


def test_rows_and_labels_are_those_of_the_text_in_the_order_of_the_seed(tmp_path, text) -> None:
    path = tmp_path / "a.pegasos"
    convert_data(text, path, seed=3)
    data = open_data(path, verify=True)
    order = order_of(3)
    np.testing.assert_array_equal(all_rows(data), X.toarray()[order])
    np.testing.assert_array_equal(data.y, Y[order])
    assert (data.shape, data.first, data.is_shuffled, data.names) == ((400, 30), 1, True, None)
    assert not np.array_equal(order, order_of(4))
    assert sorted(order) == list(range(400))


def test_keep_order(tmp_path, text) -> None:
    path = tmp_path / "a.pegasos"
    convert_data(text, path, keep_order=True)
    data = open_data(path)
    np.testing.assert_array_equal(all_rows(data), X.toarray())
    np.testing.assert_array_equal(data.y, Y)
    assert not data.is_shuffled


@pytest.mark.parametrize("keep_order", [False, True])
@pytest.mark.parametrize("room", [2_000, 20_000])
def test_bytes_do_not_depend_on_the_memory(tmp_path, text, monkeypatch, keep_order: bool, room: int) -> None:
    """Piles on the disk, and with the least room piles of piles."""
    whole, piled = tmp_path / "a.pegasos", tmp_path / "b.pegasos"
    convert_data(text, whole, keep_order=keep_order)
    monkeypatch.setattr(converting, "_room", lambda memory: 4 * room)
    monkeypatch.setattr("pegasos.io.pieces.READ_SIZE", 1 << 10)
    monkeypatch.setattr("pegasos.io.shuffle._BITS", 2)
    convert_data(text, piled, keep_order=keep_order)
    assert whole.read_bytes() == piled.read_bytes()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.pegasos", "a.svm", "b.pegasos"]


def test_the_order_is_uniform() -> None:
    """Of five rows, over 12,000 seeds: every row at every place equally often, within five standard deviations."""
    found = np.array([order_of(seed, 5) for seed in range(12_000)])
    for place in range(5):
        assert abs(np.bincount(found[:, place], minlength=5) - 2400).max() < 5 * np.sqrt(12_000 * 0.2 * 0.8)


def test_every_kind_of_source(tmp_path, text) -> None:
    dense = X.toarray()
    table = np.column_stack([dense, Y])
    (tmp_path / "a.svm.gz").write_bytes(gzip.compress(text.read_bytes()))
    np.save(tmp_path / "a.npy", table)
    np.save(tmp_path / "columns.npy", np.asfortranarray(table))
    sp.save_npz(tmp_path / "a.npz", sp.csr_matrix(table))
    np.savez(tmp_path / "b.npz", format=b"csr", shape=X.shape, data=X.data, indices=X.indices, indptr=X.indptr, y=Y)
    lines = [",".join([*(f"f{i}" for i in range(30)), "label"])]
    lines += [",".join(map(repr, [*map(float, row[:-1]), int(row[-1])])) for row in table]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    sources = {"a.svm.gz": None, "a.npy": 30, "columns.npy": -1, "a.npz": 30, "b.npz": None, "a.csv": "label"}
    for name, target in sources.items():
        path = tmp_path / f"{name}.pegasos"
        convert_data(tmp_path / name, path, target=target, dtype=np.float32)
        data = open_data(path)
        np.testing.assert_array_equal(all_rows(data), dense[order_of(0)], err_msg=name)
        np.testing.assert_array_equal(data.y, Y[order_of(0)], err_msg=name)
        assert data.dtype == np.float32
    assert open_data(tmp_path / "a.csv.pegasos").names == [f"f{i}" for i in range(30)]


def test_a_table_in_pieces_is_the_table(tmp_path) -> None:
    """Whole numbers that turn out to have a fraction further down, words as labels."""
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    n = 40_000
    a, b = np.arange(n), np.where(np.arange(n) < n - 1, 1.0, 0.5)
    label = np.array(["ham", "spam", "eggs"])[a % 3]
    text = "a,b,label\n" + "".join(f"{i},{v:g},{word}\n" for i, v, word in zip(a, b, label, strict=True))
    (tmp_path / "t.csv").write_text(text)
    pq.write_table(pa.table({"a": a, "b": b, "label": label}), tmp_path / "t.parquet")
    order = order_of(0, n)
    for name in ("t.csv", "t.parquet"):
        path = tmp_path / "t.pegasos"
        convert_data(tmp_path / name, path, target="label", memory=pegasos.memory.taken() + 50_000_000)
        data = open_data(path)
        np.testing.assert_array_equal(all_rows(data), np.column_stack([a, b])[order])
        assert data.classes.tolist() == ["eggs", "ham", "spam"]
        assert data.y.tolist() == label[order].tolist()


TYPES = [kind for kind in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?" if np.dtype(kind).itemsize <= 8]


@pytest.mark.parametrize(
    "y", [*((np.arange(400) % 2).astype(kind) for kind in TYPES), np.arange(400) % 3 - 1], ids=lambda y: y.dtype.char
)
def test_labels_keep_their_type(tmp_path, y) -> None:
    convert_data((X, y), tmp_path / "a.pegasos")
    data = open_data(tmp_path / "a.pegasos")
    assert data.y.dtype == y.dtype
    assert data.y.tolist() == y[order_of(0)].tolist()
    from_file, in_memory = (PegasosClassifier(lam=0.1).fit(*given).classes_ for given in ((data,), (X, y)))
    assert from_file.dtype == in_memory.dtype
    assert from_file.tolist() == in_memory.tolist()


def test_labels_that_are_no_classes_are_double_precision(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(converting, "_MOST_CLASSES", 200)
    y = rng.normal(size=400)
    convert_data((X, y), tmp_path / "a.pegasos")
    data = open_data(tmp_path / "a.pegasos")
    assert data.classes is None
    assert data.y.dtype == np.float64
    assert data.y.tolist() == y[order_of(0)].tolist()


def test_labels_of_other_layouts_and_objects_are_the_numbers_that_they_are(tmp_path) -> None:
    whole = np.arange(400) % 3
    for y, kind in (
        (whole.astype(">i4"), "int32"),
        (whole.astype(object), "int64"),
        (whole + np.longdouble(0), "float64"),
    ):
        convert_data((X, y), tmp_path / "a.pegasos")
        assert open_data(tmp_path / "a.pegasos").y.dtype == kind
        assert open_data(tmp_path / "a.pegasos").y.tolist() == whole[order_of(0)].tolist()


def test_an_open_file_can_be_sent_to_another_process(tmp_path) -> None:
    convert_data((X, Y), tmp_path / "a.pegasos")
    data = pickle.loads(pickle.dumps(open_data(tmp_path / "a.pegasos", memory="2GB")))
    np.testing.assert_array_equal(data.y, Y[order_of(0)])
    assert data.memory == 2_000_000_000


def test_any_safetensors_reader_reads_it(tmp_path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    convert_data((X, Y), tmp_path / "a.pegasos", keep_order=True)
    arrays = numpy.load_file(tmp_path / "a.pegasos")
    np.testing.assert_array_equal(arrays["data"], X.data)


BAD = {
    "1 1:0.5\n-1 2:nan\n": "has nan at row 1 (from 0), column 2",
    "1 1:0.5\ninf 2:1\n": "has the label inf in row 1",
    "1 1:0.5\n-1 2:one\n": ":2:6: expected a number after the colon",
    "": "has no rows",
}


@pytest.mark.parametrize("lines", BAD)
def test_bad_text_is_named_and_leaves_the_old_file(tmp_path, lines: str) -> None:
    source, path = tmp_path / "a.svm", tmp_path / "a.pegasos"
    source.write_text(lines)
    path.write_text("old")
    with pytest.raises(ValueError, match=re.escape(BAD[lines])):
        convert_data(source, path)
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_lines_left_out_are_named(tmp_path) -> None:
    (tmp_path / "a.svm").write_text("1 1:0.5\n-1 2:one\n-1 2:1\n")
    with pytest.warns(UserWarning, match=r"1 malformed lines were left out:\n.*a.svm:2:6: "):
        convert_data(tmp_path / "a.svm", tmp_path / "a.pegasos", skip_bad=1)
    assert open_data(tmp_path / "a.pegasos").shape == (2, 2)


REFUSED = {
    "an array without a target": (lambda d: convert_data(d / "a.npy", d / "b"), "has no labels: name the column"),
    "too little memory": (lambda d: convert_data(d / "a.svm", d / "b", memory="1MB"), "is too little: converting"),
    "no amount": (lambda d: convert_data(d / "a.svm", d / "b", memory="much"), "is no amount of memory"),
    "no type": (lambda d: convert_data(d / "a.svm", d / "b", dtype=int), "dtype must be float32 or float64"),
    "a label too many": (lambda d: convert_data((X, Y[1:]), d / "b"), "with a label for each row"),
    "mixed labels": (lambda d: convert_data((X, np.array([1, "a"] * 200, object)), d / "b"), "not both"),
    "labels of bytes": (
        lambda d: convert_data((X, np.array([b"a", b"b"] * 200)), d / "b"),
        "row 0 is of type bytes, and a data file holds numbers or words. Decode them",
    ),
    "labels of decimals": (
        lambda d: convert_data((X, np.array([1, Decimal(2)] * 200, object)), d / "b"),
        "row 1 is of type Decimal, and a data file holds numbers or words. Convert them",
    ),
    "a label is missing": (
        lambda d: convert_data((X, np.array(["a", None] * 200, object)), d / "b"),
        "row 1 is of type NoneType, and a data file holds numbers or words. Leave the row out",
    ),
    "a label is NaN": (
        lambda d: convert_data((X, np.array([1, np.nan] * 200, object)), d / "b"),
        "has the label nan in row 1 (from 0)",
    ),
    "huge labels as objects": (lambda d: convert_data((X, np.array([1, 2**70] * 200, object)), d / "b"), "beyond 2^53"),
    "huge labels": (lambda d: convert_data((X, np.full(400, 2**60)), d / "b"), "beyond 2^53"),
    "rows as a model": (lambda d: load_model(d / "c.pegasos"), "holds rows, not a model"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_sentence(tmp_path, text, case: str) -> None:
    np.save(tmp_path / "a.npy", np.eye(3))
    convert_data(text, tmp_path / "c.pegasos")
    act, said = REFUSED[case]
    with pytest.raises(ValueError, match=re.escape(said)):
        act(tmp_path)
    assert not (tmp_path / "b").exists()


def test_what_the_reader_reads_is_what_is_converted(tmp_path, text) -> None:
    convert_data(text, tmp_path / "a.pegasos", keep_order=True)
    A, y = read_svmlight(text)
    np.testing.assert_array_equal(all_rows(open_data(tmp_path / "a.pegasos")), A.toarray())
    np.testing.assert_array_equal(open_data(tmp_path / "a.pegasos").y, y)


CALLS = {"open": 1, "ftruncate": 1, "pwrite": 20, "fsync": 1, "replace": 1}  # and how often it is called, at least


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", CALLS)
def test_whatever_the_disk_refuses_the_old_file_stays_whole(
    call: str, error: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, X = tmp_path / "rows.pegasos", sp.random(60, 20, 0.3, format="csr", random_state=0)
    convert_data((X, np.arange(60) % 2), path)
    before = path.read_bytes()
    monkeypatch.setattr(mapped, "_PIECE", 200)

    def left() -> None:
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["rows.pegasos"]

    def act() -> None:
        convert_data((X, np.arange(60) % 3), path)

    assert count_refusals(call, error, act, left, monkeypatch) >= CALLS[call]
    assert open_data(path, verify=True).classes.tolist() == [0, 1, 2]


def test_a_disk_that_takes_a_part_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(mapped.os, "pwrite", lambda number, view, at: real(number, bytes(view)[:7], at))
    convert_data((np.eye(5), [0, 1, 0, 1, 0]), tmp_path / "rows.pegasos")
    monkeypatch.undo()
    open_data(tmp_path / "rows.pegasos", verify=True)


def test_temporary_files_that_do_not_fit_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Piles of rows that wait to be shuffled."""
    X, y = sp.random(300, 20, 0.3, format="csr", random_state=0), np.arange(300) % 2

    def refuse(*given: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shuffle.Pile, "add", refuse)
    monkeypatch.setattr(converting, "_room", lambda memory: 4000)
    with pytest.raises(OSError, match="No space left"):
        convert_data((X, y), tmp_path / "rows.pegasos")
    assert not os.listdir(tmp_path)
