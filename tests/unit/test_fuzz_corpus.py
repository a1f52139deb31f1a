"""Inputs that fuzzing began with or has found: files of models and rows are refused with a sentence, or they answer.

Those of the native readers are replayed with sanitizers: `make replay`.
"""

import random

import pytest
from fuzz_files import CORPUS, TARGETS, forged_rows, try_data

import pegasos

FILES = sorted(CORPUS.glob("*/*"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_files_of_the_corpus(path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


@pytest.mark.filterwarnings("ignore")
def test_forged_data_files() -> None:
    rng = random.Random(0)
    files = [path.read_bytes() for path in FILES if path.parent.name == "data"]
    for _ in range(300):
        try_data(forged_rows(rng.choice(files), rng))


def test_numbers_of_classes_that_no_integer_holds(tmp_path) -> None:
    path = CORPUS / "data" / "class_beyond_64_bits"
    with pytest.raises(ValueError, match="is no data file, or is damaged"):
        pegasos.open_data(path)
