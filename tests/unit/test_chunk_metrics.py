"""Chunks are counted as conlleval counts them."""

from __future__ import annotations

import numpy as np
import pytest

from pegasos.metrics import chunk_f1, chunk_report, chunks


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (["B-A", "I-A", "O"], [("A", 0, 2)]),
        (["B-A", "B-A"], [("A", 0, 1), ("A", 1, 2)]),
        (["O", "I-A", "I-A"], [("A", 1, 3)]),  # conlleval: I that follows no chunk begins one
        (["B-A", "I-B"], [("A", 0, 1), ("B", 1, 2)]),
        (["I-A", "B-A", "I-A"], [("A", 0, 1), ("A", 1, 3)]),  # IOB1
        (["S-A", "S-A", "B-B", "I-B", "E-B", "B-B"], [("A", 0, 1), ("A", 1, 2), ("B", 2, 5), ("B", 5, 6)]),
        (["B-A", "E-A", "E-A"], [("A", 0, 2), ("A", 2, 3)]),
        (["E-A", "I-A"], [("A", 0, 1), ("A", 1, 2)]),
        (["B-X-Y", "I-X-Y"], [("X-Y", 0, 2)]),
        (["B", "I", "O"], [("", 0, 2)]),
        ([], []),
    ],
)
def test_where_chunks_begin_and_end(labels: list[str], found: list[tuple[str, int, int]]) -> None:
    assert chunks(labels) == found


def test_the_numbers_of_a_small_evaluation() -> None:
    """Counted by hand: 3 of 4 found are right, of 5 that are there."""
    true = [["B-NP", "I-NP", "B-VP", "O", "B-PP"], ["B-NP", "O", "B-NP"]]
    found = [["B-NP", "I-NP", "B-VP", "I-VP", "O"], ["B-NP", "O", "B-NP"]]
    report = chunk_report(true, found)
    assert report["all"][:3] == pytest.approx((3 / 4, 3 / 5, 2 * 3 / 9))
    assert report["NP"].f1 == 1.0
    assert report["VP"][3:] == (0, 1, 1)
    assert report["PP"] == (0.0, 0.0, 0.0, 0, 0, 1)
    assert chunk_f1(true, found) == report["all"].f1
    assert chunk_f1([["O"]], [["O"]]) == 0.0


def test_bad_labels_are_named() -> None:
    with pytest.raises(ValueError, match="2 true and 1 predicted label sequences"):
        chunk_f1([["O"], ["O"]], [["O"]])
    with pytest.raises(ValueError, match="sequence 0 has 1 true and 2 predicted"):
        chunk_f1([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="begins with none of"):
        chunk_f1([["NP"]], [["O"]])
    with pytest.raises(ValueError, match="token 0 has 3"):
        chunk_f1([[3]], [["O"]])


def test_labels_one_after_another_take_lengths() -> None:
    true, found = ["B-A", "I-A", "I-A", "O"], ["B-A", "I-A", "B-A", "O"]
    assert chunk_f1(true, found, lengths=[2, 2]) == chunk_f1([true[:2], true[2:]], [found[:2], found[2:]]) == 1.0
    assert chunk_f1(np.array(true), np.array(found), lengths=np.array([4])) == 0.0
    assert chunk_report(true, found, [2, 2])["A"].n_true == 2
    with pytest.raises(ValueError, match="y_true is labels one after another; lengths=, the number of tokens"):
        chunk_f1(true, found)
    with pytest.raises(ValueError, match="y_true is a list of sequences already"):
        chunk_f1([true], [found], lengths=[4])
    with pytest.raises(ValueError, match="add up to the 4 labels of y_true, not to 3"):
        chunk_f1(true, found, lengths=[3])


def test_a_type_that_is_named_as_the_total_is_not_overwritten() -> None:
    true, found = [["B-all", "B-x"]], [["B-all", "O"]]
    assert chunk_f1(true, found) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="a type of chunk is named 'all'"):
        chunk_report(true, found)
