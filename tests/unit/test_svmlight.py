"""read_svmlight: messages, numbers, compressed and cut files, threads."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_text import CASES, Bad

from pegasos import _core, read_svmlight

TEXT = b"+1 1:0.5 3:2  # a comment\r\n\r\n# only a comment\n-1 qid:3 2:1e-3\n0 # no entry: none\n"


def read(text: bytes, **options: Any) -> tuple[Any, ...]:
    return read_svmlight(io.BytesIO(text), **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.text[:24]))
def test_a_malformed_line_is_named_with_what_was_expected(case: Bad, tmp_path: Path) -> None:
    path = tmp_path / "bad.svm"
    path.write_bytes(case.text)
    with pytest.raises(ValueError, match=r"bad\.svm") as error:
        read_svmlight(path, **case.options)
    assert str(error.value) == f"{path}:{case.said}"
    with pytest.raises(ValueError, match="<stream>") as error:  # and the same, far into a file, by several threads
        read(b"1 qid:1 1:2\n" * 50_000 + case.text, **{"n_jobs": 3, **case.options})
    line, _, rest = case.said.partition(":")
    assert str(error.value).startswith(f"<stream>:{50_000 + int(line)}:{rest}"[:60])


def test_blanks_comments_and_both_ends_of_lines() -> None:
    X, y = read(TEXT)
    assert X.toarray().tolist() == [[0.5, 0, 2], [0, 1e-3, 0], [0, 0, 0]]
    assert y.tolist() == [1, -1, 0]


def test_the_last_line_needs_no_end_and_a_byte_order_mark_is_no_label() -> None:
    X, y = read(b"\xef\xbb\xbf1 1:2\n2 1:3")
    assert X.toarray().tolist() == [[2], [3]]
    assert y.tolist() == [1, 2]


@pytest.mark.parametrize("text", [b"", b"\n\n", b"# nothing\n"])
def test_a_file_without_rows_has_none(text: bytes) -> None:
    X, y = read(text)
    assert X.shape == (0, 1)
    assert y.shape == (0,)


NUMBERS = [
    *("0", "-0", "+.5", "5.", "inf", "-Infinity", "NaN", "0.1", "8.5e-5", "6.02214076e23", "0.30000000000000004"),
    *("1e22", "1e23", "9007199254740993", "1844674407370955161.5", "18446744073709551616", "0.000123456789012345678"),
    *("1.7976931348623157e308", "1e309", "-1e999", "1e99999999999999999999", "1e0000000000000000000001"),
    *("5e-324", "2.4703282292062327e-324", "2.2250738585072011e-308", "1e-400", "0." + "0" * 400 + "1"),
    *("1" * 400 + "e-400", "9" * 25 + "." + "9" * 25, "123456789012345678901234567890"),
]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_have_the_bits_of_pythons_float(number: str) -> None:
    X, y = read(f"{number} 1:{number}\n".encode())
    expected = np.float64(float(number)).tobytes()
    assert y.tobytes() == expected
    assert X.data.tobytes() == expected
    narrow = read(f"1 1:{number}\n".encode(), dtype=np.float32)[0]
    with np.errstate(over="ignore"):
        assert narrow.data.tobytes() == np.float32(float(number)).tobytes()


def test_random_digits_have_the_bits_of_pythons_float() -> None:
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    written = [repr(float(v)) for v in bits[np.isfinite(bits)]]
    written += [f"{rng.integers(10 ** int(rng.integers(1, 19)))}e{rng.integers(-40, 40)}" for _ in range(20_000)]
    X, _ = read("".join(f"1 1:{v}\n" for v in written).encode())
    assert X.data.tobytes() == np.array([float(v) for v in written]).tobytes()


def test_the_locale_does_not_matter() -> None:
    import locale

    before = locale.setlocale(locale.LC_NUMERIC)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
                break
            except locale.Error:
                continue
        assert read(b"1 1:1.5 2:1e-400\n")[0].toarray().tolist() == [[1.5, 0.0]]
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("kind", PACK)
@pytest.mark.parametrize("name", ["data.svm", "data.svm.gz"])  # the name does not count
def test_compressed_text_is_recognised(kind: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(PACK[kind](TEXT) + PACK[kind](b"7 1:1\n"))  # two members
    X, y = read_svmlight(path)
    assert X.shape == (4, 3)
    assert y.tolist() == [1, -1, 0, 7]
    assert read(path.read_bytes())[1].tolist() == y.tolist()


@pytest.mark.parametrize("kind", PACK)
def test_damaged_compression_is_an_error_that_names_the_file(kind: str, tmp_path: Path) -> None:
    packed = PACK[kind](b"1 1:2\n" * 10_000)
    path = tmp_path / "cut.svm"
    for bytes_ in (packed[: len(packed) // 2], packed[:-1], packed[:20] + b"\xff\xff\xff" + packed[23:]):
        path.write_bytes(bytes_)
        with pytest.raises(ValueError, match=r"cut\.svm: the (gzip|bz2|xz) compression is damaged or cut short"):
            read_svmlight(path)


def test_zstd(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    pack = zstandard.ZstdCompressor().compress
    assert read(pack(TEXT) + pack(b"7 1:1\n"))[1].tolist() == [1, -1, 0, 7]  # two frames
    path = tmp_path / "long.svm.zst"
    path.write_bytes(pack(b"".join(b"%d 1:%d\n" % (i, i) for i in range(300_000))))
    assert read_svmlight(path)[1].tolist() == list(range(300_000))
    path.write_bytes(path.read_bytes()[:-4])
    for damaged in (path, io.BytesIO(pack(TEXT)[:-1]), io.BytesIO(pack(TEXT)[:12] + b"\xff" * 10)):
        with pytest.raises(ValueError, match="zstd compression is damaged or cut short"):
            read_svmlight(damaged)


def test_bad_lines_may_be_left_out_and_are_named() -> None:
    text = b"1 1:1\nx\n2 2:2 1:1\n3 3:3\n"
    with pytest.warns(UserWarning, match=r"2 malformed lines were left out:\n<stream>:2:1: .*\n<stream>:3:7: column 1"):
        X, y = read(text, skip_bad=2)
    assert y.tolist() == [1, 3]
    assert X.toarray().tolist() == [[1, 0, 0], [0, 0, 3]]
    with pytest.raises(ValueError, match=r"<stream>:3:7: .* 1 bad line was left out before it, .* the first is line 2"):
        read(text, skip_bad=1)


def test_a_bad_row_leaves_no_trace_in_the_columns_found() -> None:
    with pytest.warns(UserWarning, match="left out"):
        X, _ = read(b"1 2:1\n1 0:1 9:1 9:1\n", skip_bad=1)
    assert X.shape == (1, 2)  # neither column 9, nor column 0, which would make the others count from 0


@pytest.mark.parametrize("options", [{}, {"multilabel": True}, {"query_id": True}])
def test_any_number_of_threads_and_any_way_in_gives_the_same_bytes(options: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = []
    for i in range(12_000):
        columns = np.cumsum(rng.integers(1, 50, rng.integers(0, 12)))
        label = ",".join(map(str, rng.integers(0, 5, rng.integers(1, 4)))) if "multilabel" in options else str(i)
        query = f" qid:{i // 7}" if "query_id" in options else ""
        lines.append(label + query + "".join(f" {c}:{rng.normal():.6g}" for c in columns) + " # a:b" * (i % 5 == 0))
    path = tmp_path / "many.svm"
    path.write_text("\n".join(lines))
    first, *others = (
        read_svmlight(path, n_jobs=1, **options),
        read_svmlight(path, n_jobs=2, **options),
        read_svmlight(path, n_jobs=7, **options),
        read(path.read_bytes(), n_jobs=3, **options),
        read(gzip.compress(path.read_bytes(), 1), **options),
    )
    assert first[0].shape[0] == 12_000
    for other in others:
        for a, b in zip(_arrays(first), _arrays(other), strict=True):
            assert a.tobytes() == b.tobytes()


def _arrays(found: tuple[Any, ...]) -> list[Any]:
    X, y, *queries = found
    flat = np.concatenate([np.ravel(each) for each in y]) if isinstance(y, list) else y
    return [X.data, X.indices, X.indptr, flat, *queries]


def test_blocks_may_end_anywhere() -> None:
    for cut in range(len(TEXT)):
        reader = _core.SvmlightReader64("x", False, False, 0, 0, 1)
        reader.feed(TEXT[:cut])
        reader.feed(TEXT[cut:])
        values, columns, ends, labels, _, _ = reader.finish()
        assert values.tolist() == [0.5, 2, 1e-3]
        assert columns.tolist() == [1, 3, 2]
        assert ends.tolist() == [2, 3, 3]
        assert labels.tolist() == [1, -1, 0]


def test_a_pipe_and_the_number_of_an_open_file() -> None:
    ends = os.pipe()

    def write() -> None:
        with open(ends[1], "wb") as pipe:
            pipe.write(TEXT * 20_000)

    writer = threading.Thread(target=write)
    writer.start()
    X, _ = read_svmlight(ends[0])
    writer.join()
    os.close(ends[0])  # still open
    assert X.shape == (60_000, 3)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="binary mode"):
        read_svmlight(io.StringIO("1 1:2\n"))
    with pytest.raises(TypeError, match="expected a path or a file"):
        read_svmlight(3.5)
    with pytest.raises(ValueError, match="zero_based"):
        read(b"", zero_based="yes")
    with pytest.raises(ValueError, match="n_features must be at least 1"):
        read(b"", n_features=0)
    with pytest.raises(ValueError, match="n_features is 2, but row 1 has a number in column 4"):
        read(b"1 1:1\n1 5:1\n", n_features=2)
    with pytest.raises(ValueError, match="need n_features"):
        read(b"", offset=3)
    with pytest.raises(ValueError, match="skip_bad"):
        read(b"", skip_bad=-1)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.svm"):
        read_svmlight("nowhere.svm")
    with pytest.raises(IsADirectoryError):
        read_svmlight(Path(__file__).parent)


def test_every_cut_of_a_file_into_parts_has_every_row_once(tmp_path: Path) -> None:
    path = tmp_path / "parts.svm"
    path.write_bytes(b"".join(b"%d 1:%d\n" % (i, i) + b"# comment\n" * (i % 3 == 0) for i in range(40)))
    size = path.stat().st_size
    for step in (1, 7, 8, 50, size):
        for source in (path, None):
            parts = [
                read_svmlight(source or io.BytesIO(path.read_bytes()), offset=at, length=step, n_features=2)[1]
                for at in range(0, size, step)
            ]
            assert np.concatenate(parts).tolist() == list(range(40)), step
