"""CSV and Parquet, by way of pyarrow."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

import numpy as np

from .columns import find_column
from .streams import READ_SIZE, Begun, decompressed, name_of, opened, reading


def read_table(
    source: Any, kind: str, target: str | int | None, dtype: np.dtype[Any], n_jobs: int | None
) -> tuple[Any, Any, list[str] | None]:
    """X, y and the names of the columns of X. n_jobs: more than one leaves the number of threads to pyarrow."""
    pa = _pyarrow()
    name, threads = name_of(source), n_jobs not in (None, 1)
    with opened(source) as (file, compressed):
        try:
            if kind == "csv":
                table, named = _read_csv(file, compressed, name, threads)
            else:
                import pyarrow.parquet as pq

                if not file.seekable():
                    raise ValueError("it cannot come through a pipe")
                table, named = pq.read_table(file, use_threads=threads), True
        except (pa.ArrowException, ValueError) as error:
            said = str(error) if str(error).startswith(name) else f"{name}: {error}"
            raise ValueError(said) from error
    X, y, names = _split(table, target, dtype, name)
    return X, y, names if named else None


def table_pieces(
    source: Any, kind: str, target: str | int | None, dtype: np.dtype[Any], n_jobs: int | None, room: int
) -> Iterator[tuple[Any, Any, list[str] | None]]:
    """The same a piece at a time, of about so many bytes."""
    pa = _pyarrow()
    name, threads = name_of(source), n_jobs not in (None, 1)
    with opened(source) as (file, compressed):
        try:
            batches, named = _batches(file, compressed, kind, name, threads, room)
            for batch in batches:
                X, y, names = _split(pa.Table.from_batches([batch]), target, dtype, name)
                if kind == "csv" and y is not None and y.dtype.kind == "f" and (y == np.floor(y)).all():
                    y = y.astype(np.int64)  # as it would be if there were nothing further down
                yield X, y, names if named else None
        except pa.ArrowException as error:
            raise ValueError(f"{name}: {error}") from error


def _batches(
    file: BinaryIO, compressed: str | None, kind: str, name: str, threads: bool, room: int
) -> tuple[Iterator[Any], bool]:
    if kind == "parquet":
        import pyarrow.parquet as pq

        if not file.seekable():
            raise ValueError(f"{name}: it cannot come through a pipe")
        table = pq.ParquetFile(file)
        rows = max(1, room // max(1, 8 * table.metadata.num_columns))
        return table.iter_batches(batch_size=rows, use_threads=threads), True
    import pyarrow as pa
    import pyarrow.csv as arrow

    plain, header, options = _begun_csv(file, compressed, name, threads)
    options.block_size = max(1 << 16, room)
    # What the first block has decides about the types: a column of whole numbers may have others further down.
    whole_lines = plain.first[: plain.first.rfind(b"\n") + 1] or plain.first
    first = arrow.open_csv(pa.BufferReader(whole_lines), read_options=options)
    wide = {each.name: pa.float64() for each in first.schema if pa.types.is_integer(each.type)}
    convert = arrow.ConvertOptions(column_types=wide)
    return iter(arrow.open_csv(_Whole(plain, name, compressed), read_options=options, convert_options=convert)), header


def _split(table: Any, target: str | int | None, dtype: np.dtype[Any], name: str) -> tuple[Any, Any, list[str]]:
    names = [str(each) for each in table.column_names]
    twice = next((each for i, each in enumerate(names) if each in names[:i]), None)
    if twice is not None:
        raise ValueError(f"{name}: more than one column is called {twice!r}. Give each a name of its own.")
    wanted = None if target is None else find_column(target, names, len(names), name)
    kept = [i for i in range(len(names)) if i != wanted]
    X = np.empty((table.num_rows, len(kept)), dtype)
    for at, i in enumerate(kept):
        X[:, at] = _numbers(table.column(i), names[i], name)
    y = None if wanted is None else _labels(table.column(wanted), names[wanted], name)
    return X, y, [names[i] for i in kept]


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise ImportError("CSV and Parquet files need pyarrow: pip install pegasos[tables].") from None
    return pyarrow


def _read_csv(file: BinaryIO, compressed: str | None, name: str, threads: bool) -> tuple[Any, bool]:
    """The table, and whether its columns have names."""
    import pyarrow.csv as arrow

    plain, header, options = _begun_csv(file, compressed, name, threads)
    return arrow.read_csv(_Whole(plain, name, compressed), read_options=options), header


def _begun_csv(file: BinaryIO, compressed: str | None, name: str, threads: bool) -> tuple[Begun, bool, Any]:
    """The text, whether its first line has names, and how to read it."""
    import pyarrow.csv as arrow

    plain = decompressed(file, compressed)
    first = reading(lambda: plain.read(READ_SIZE), name, compressed)
    if not first:
        raise ValueError(f"{name}: the file is empty")
    header = _has_header(first)
    options = arrow.ReadOptions(use_threads=threads, autogenerate_column_names=not header)
    return Begun(first, plain), header, options


class _Whole:
    """What pyarrow asks of a file: to be read, and closed by nobody."""

    closed = False

    def __init__(self, file: Begun, name: str, compressed: str | None) -> None:
        self._file, self._name, self._compressed = file, name, compressed

    def read(self, size: int | None = -1) -> bytes:
        wanted = -1 if size is None else size
        return reading(lambda: self._file.read(wanted), self._name, self._compressed)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        pass


def _has_header(first: bytes) -> bool:
    """Whether the first line names the columns: it has words and no numbers. Words among numbers are labels, unless the
    numbers may be names, too, as pandas gives them to columns without one.
    """
    line = first.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    cells = [cell for cell in next(csv.reader([line]), []) if cell.strip()]
    numbers = [cell for cell in cells if _is_number(cell)]
    if len(numbers) == len(cells) or not numbers:
        return len(numbers) < len(cells)
    if any(numbers == [str(i) for i in range(first, first + len(numbers))] for first in (0, 1)):
        raise ValueError(
            f"are the columns called {line[:60]!r}, or are these values? Give every column a name that is no number, "
            "or put a line of such names before the first"
        )
    return False


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(column: Any, called: str, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_boolean(kind):
        column = column.cast(pa.uint8())
    elif pa.types.is_null(kind):
        return np.nan
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        found = pc.index(pc.is_valid(column), True).as_py()
        raise ValueError(
            f"{name}: column {called!r} holds no numbers but {kind}, {column[found].as_py()!r} in row {found} "
            "(from 0). Encode it as numbers, drop it, or name it as the target."
        )
    return column.to_numpy()  # NaN where there is nothing


def _labels(column: Any, called: str, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.index(pc.is_null(column), True).as_py()
    if missing < 0 and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        missing = pc.index(pc.equal(column, ""), True).as_py()
    if missing >= 0:
        raise ValueError(f"{name}: the target {called!r} is missing in row {missing} (from 0).")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return cast(Any, column.to_numpy())
