"""Searches over lam: what is refused, when, and what is said of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import binary

from pegasos import KernelPegasosClassifierCV, PegasosClassifierCV, PegasosSequenceTaggerCV, lam_path

X2, Y2 = binary()
ROWS = np.arange(len(Y2))


@pytest.mark.parametrize("fit", [lam_path, lambda X, y, lams: PegasosClassifierCV(lams).fit(X, y)])
def test_lams_that_can_be_read_only_once_are_refused(fit: Any) -> None:
    with pytest.raises(ValueError, match=r"lams must be .* an iterator can be read only once, make it a list"):
        fit(X2, Y2, (lam for lam in [0.1, 0.01]))


def test_a_tagger_refuses_lams_that_can_be_read_only_once() -> None:
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        PegasosSequenceTaggerCV(iter([0.1, 0.01]), 2).fit([[{"w": "a"}]] * 4, [["A"]] * 4)


@pytest.mark.parametrize(
    "train",
    [ROWS[:60] + 0.5, ROWS[:60].astype(float), ROWS[:60].astype(object), ROWS[:60].astype(str)],
    ids=["fractions", "floats", "objects", "words"],
)
def test_row_numbers_of_cv_that_are_not_whole_are_refused(train: Any) -> None:
    with pytest.raises(ValueError, match="cv must name rows by whole numbers or a mask"):
        PegasosClassifierCV(2, [(train, ROWS[60:])]).fit(X2, Y2)


@pytest.mark.parametrize("length", [len(Y2) - 1, len(Y2) + 1])
@pytest.mark.parametrize("search", [PegasosClassifierCV, KernelPegasosClassifierCV])
def test_a_mask_of_the_wrong_length_is_refused(search: Any, length: int) -> None:
    right, wrong = (np.arange(n) % 2 == 0 for n in (len(Y2), length))
    said = f"fold 1 of cv has a mask of {length} rows, but X has {len(Y2)}"
    for fold in ((wrong, ~right), (right, ~wrong)):
        with pytest.raises(ValueError, match=said):
            search(2, [(right, ~right), fold]).fit(X2, Y2)


def test_a_list_without_rows_is_told_by_its_fold() -> None:
    with pytest.raises(ValueError, match="fold 0 of cv trains on 3 rows and holds out 0"):
        PegasosClassifierCV(2, [([0, 1, 2], [])]).fit(X2, Y2)


@pytest.mark.parametrize("search", [PegasosClassifierCV, KernelPegasosClassifierCV])
def test_class_weights_of_no_class_are_told_once(search: Any) -> None:
    with pytest.warns(UserWarning, match="class_weight has no effect: it names 7") as told:
        search([1e-1], 5, class_weight={7: 2}).fit(X2, Y2)
    assert len(told) == 1
