"""Files of models and of rows, any bytes of them, under libFuzzer: refused by a ValueError, or they answer.

    python tests/fuzz_files.py models -max_total_time=900 build/fuzz/found_models tests/corpus/models

Needs atheris, which brings libFuzzer to Python. Checksums are made right before a file is tried: they would hide all
that is behind them. `tests/unit/test_fuzz_corpus.py` tries the corpus again without it; arrays that native code is
handed are the matter of cpp/fuzz/rows.cpp, with sanitizers.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_models import VALUES, changed, forged, places

import pegasos
from pegasos.io.container import DIGITS, FIRST, MOST_HEADER, header_of, layout, places_of, sealed
from pegasos.io.mapped import _of_header
from pegasos.io.models import loaded

CORPUS = Path(__file__).parent / "corpus"
_MOST = 10**5  # features of rows that are trained from: more are fine, and take memory
_AT = 8 + len(FIRST)


def _header_size(data: bytes) -> int | None:
    """Of a file that has one, and room for a checksum in it."""
    size = int.from_bytes(data[:8], "little")
    fits = len(FIRST) + DIGITS <= size <= min(len(data) - 8, MOST_HEADER)
    return size if fits and data[8:_AT] == FIRST else None


def with_checksum(data: bytes, whole: bool) -> bytes:
    """The same with a right checksum: of all of it, or of the header."""
    size = _header_size(data)
    if size is None:
        return data
    blank = data[:_AT] + b"0" * DIGITS + data[_AT + DIGITS :]
    found = blake2b(blank if whole else blank[: 8 + size], digest_size=DIGITS // 2).hexdigest()
    return data[:_AT] + found.encode() + data[_AT + DIGITS :]


def _expect(name: str, error: ValueError) -> None:
    """A message of ours says which file it is."""
    if name not in str(error):
        raise error


def try_model(data: bytes) -> None:
    """Load a model, and ask it something."""
    for bytes_ in (data, with_checksum(data, whole=True)):
        try:
            model, _ = loaded(np.frombuffer(bytes_, np.uint8).copy(), "here", {})
        except ValueError as error:
            _expect("here", error)
            continue
        if getattr(model, "n_features_in_", _MOST) < _MOST:
            # An error is an answer as well: some parameters matter only then.
            with np.errstate(all="ignore"), suppress(ValueError, TypeError, AttributeError, IndexError):
                model.predict(np.zeros((2, model.n_features_in_)))


def try_data(data: bytes) -> None:
    """Open a data file, and train from it."""
    with tempfile.NamedTemporaryFile(dir=_folder()) as file:
        for bytes_ in (data, with_checksum(data, whole=False)):
            file.seek(0)
            file.truncate()
            file.write(bytes_)
            file.flush()
            try:
                rows = pegasos.open_data(file.name)
                assert rows.y.shape == rows.shape[:1]
                rows.native()
            except ValueError as error:
                _expect(file.name, error)
                continue
            if rows.shape[1] < _MOST:
                regression = rows.classes is None
                kind = pegasos.PegasosRegressor if regression else pegasos.PegasosClassifier
                with np.errstate(all="ignore"), suppress(ValueError):  # one class, or numbers too large to be squared
                    kind(lam=1.0, max_epochs=1).fit(rows).predict(rows)


def _folder() -> str | None:
    return "/dev/shm" if os.path.isdir("/dev/shm") else None


def forged_rows(data: bytes, rng: random.Random) -> bytes:
    """A data file with something else in it, and a header that fits."""
    size = _header_size(data)
    assert size is not None
    where, metadata = layout(data[8 : 8 + size], len(data) - 8 - size)
    whole = np.frombuffer(data, np.uint8)[8 + size :]
    arrays = {
        name: whole[place.first : place.last].copy().view(place.dtype).reshape(place.shape)
        for name, place in where.items()
    }
    about = json.loads(metadata["data"])
    for _ in range(rng.choice([1, 1, 2, 4])):
        if rng.random() < 0.6:
            name = rng.choice(sorted(arrays))
            arrays[name] = changed(arrays[name], rng)
        else:
            container, key = rng.choice(places(about))
            container[key] = json.loads(json.dumps(rng.choice(VALUES)))
    metadata = {key: value for key, value in metadata.items() if key != "checksum"} | {"data": json.dumps(about)}
    new = places_of({name: (array.dtype, array.shape) for name, array in arrays.items()})
    text = header_of(new, metadata)
    length = len(text).to_bytes(8, "little")
    return b"".join([length, sealed(text, _of_header(length, text)), *(arrays[name].tobytes() for name in new)])


TARGETS = {"models": try_model, "data": try_data}


def _mutator(target: str, atheris: Any) -> Any:
    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.6:  # else any change of any byte
            with suppress(Exception):  # no file to begin with
                found = forged([data], rng) if target == "models" else forged_rows(data, rng)
                if len(found) <= most:
                    return found
        return bytes(atheris.Mutate(data, most))

    return mutate


def main(target: str) -> None:
    import atheris

    warnings.simplefilter("ignore")
    for module in [m for name, m in sorted(sys.modules.items()) if name.startswith("pegasos.io.")]:
        _instrument(atheris, module)
    atheris.Setup([sys.argv[0], *sys.argv[2:]], TARGETS[target], custom_mutator=_mutator(target, atheris))
    atheris.Fuzz()


def _instrument(atheris: Any, module: Any) -> None:
    """Its functions and methods, in their places: who has imported one keeps it."""
    for thing in list(vars(module).values()):
        inside = vars(thing).values() if isinstance(thing, type) else (thing,)
        for function in inside:
            if getattr(function, "__module__", None) == module.__name__ and hasattr(function, "__code__"):
                atheris.instrument_func(function)


if __name__ == "__main__":
    main(sys.argv[1])
