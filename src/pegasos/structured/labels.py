"""Labels of any hashable kind to codes, which may follow which, and what mistakes cost."""

from __future__ import annotations

from collections.abc import Callable, Set
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..losses.costs import hint_of_folds, of_frame
from ..problem.entries import refuse_masked
from .tokens import Stacked

Codes = NDArray[np.uint16]
Bytes = NDArray[np.uint8]
Allowed = tuple[Bytes, Bytes, Bytes]  # steps (from x to), first, last

MOST_LABELS = 30_000
SCHEMES = ("BIO", "IOB2", "IOBES")


def flat(y: Any, stacked: Stacked) -> list[Any]:
    """One label a token, in the order of the tokens."""
    if y is None:
        raise ValueError("y is missing: a tagger learns from labelled sequences.")
    refuse_masked("y", y)
    if not stacked.is_list:
        labels = _labels_of(y) if isinstance(y, np.ndarray) else list(y)
        if len(labels) != stacked.n_tokens:
            raise ValueError(f"y has {len(labels)} labels for {stacked.n_tokens} tokens.")
        return labels
    y = listed(y, "y must be a list of label sequences")
    if len(y) != len(stacked.lengths):
        raise ValueError(f"y has {len(y)} label sequences for {len(stacked.lengths)} sequences.")
    parts = []
    for i, (part, n) in enumerate(zip(y, stacked.lengths.tolist(), strict=True)):
        refuse_masked(f"y[{i}]", part)
        part = listed(part, f"y[{i}] must be a list of labels")
        if len(part) != n:
            raise ValueError(f"y[{i}] has {len(part)} labels for the {n} tokens of X[{i}].")
        parts.append(part)
    return list(chain.from_iterable(parts))


def listed(given: Any, must: str) -> Any:
    """What is in order and can be counted; text is no list of letters, and a set has no order."""
    if isinstance(given, (str, bytes, dict, Set)) or not np.iterable(given):
        raise ValueError(f"{must}, got {type(given).__name__}.")
    if isinstance(given, np.ndarray):
        return _labels_of(given)
    return given if hasattr(given, "__len__") else list(given)


def _labels_of(array: NDArray[Any]) -> list[Any]:
    """As a list. A date that is missing would be None, which is a label."""
    labels: list[Any] = array.tolist()
    if array.dtype.kind not in "mM" or array.ndim != 1:
        return labels
    return [np.nan if missing else label for label, missing in zip(labels, np.isnat(array).tolist(), strict=True)]


def place_of(stacked: Stacked, token: int) -> str:
    """Where a token stands, as a user would write it."""
    i = int(np.searchsorted(stacked.begins, token, side="right")) - 1
    return f"sequence {stacked.number(i)}, token {token - int(stacked.begins[i])}"


def encode(labels: list[Any], stacked: Stacked, known: NDArray[Any] | None = None) -> tuple[NDArray[Any], Codes]:
    """The labels that occur, in order where they have one, and each token's place among them."""
    number: dict[Any, int] = {} if known is None else {label: i for i, label in enumerate(known.tolist())}
    grow = known is None
    codes = np.empty(len(labels), np.uint16)
    try:
        for label in dict.fromkeys(labels):
            if _missing(label):
                token = next(t for t, other in enumerate(labels) if other is label)
                raise ValueError(f"y contains NaN ({place_of(stacked, token)}).")
            if label not in number:
                if not grow:
                    at = place_of(stacked, labels.index(label))
                    raise ValueError(
                        f"y has the label {label!r} ({at}), which is not among the known ones: {list(number)!r}."
                    )
                number[label] = len(number)
    except TypeError:
        token = next(t for t, label in enumerate(labels) if not _hashable(label))
        hint = (
            " Tuples in a NumPy array are rows of it: give lists of tuples." if isinstance(labels[token], list) else ""
        )
        raise ValueError(f"the label {labels[token]!r} ({place_of(stacked, token)}) is not hashable.{hint}") from None
    if len(number) > MOST_LABELS:
        raise ValueError(f"there are {len(number)} labels; at most {MOST_LABELS:,} are possible.")
    if grow:
        number = {label: i for i, label in enumerate(_in_order(list(number)))}
    codes[:] = [number[label] for label in labels]
    return (_as_array(list(number)) if known is None else known), codes


def known_labels(classes: Any) -> NDArray[Any]:
    """Labels that are named, in order where they have one."""
    named = list(listed(classes, "classes must be a list of labels"))
    for label in named:
        if not _hashable(label) or _missing(label):
            raise ValueError(f"classes has {label!r}, which is no label: labels are hashable, and not NaN.")
    return _as_array(_in_order(list(dict.fromkeys(named))))


def _hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _missing(label: Any) -> bool:
    try:
        return bool(label != label)
    except TypeError:  # pandas' NA, of which nothing is true or false
        return True


def _in_order(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # of different kinds: as they came
        return labels


def _as_array(labels: list[Any]) -> NDArray[Any]:
    kinds = {type(label) for label in labels}
    if len(kinds) == 1 and kinds <= {str, int, bool, float, np.str_}:
        plain = np.array(labels)
        if plain.tolist() == labels:  # NumPy cuts zeros at the end of a string, and whole numbers beyond 64 bits
            return plain
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def allowed_of(given: Any, classes: NDArray[Any]) -> Allowed | None:
    """Masks of the steps that are allowed; given: None, the name of a scheme, a matrix, or a function of two labels."""
    if given is None:
        return None
    names = classes.tolist()
    K = len(names)
    if isinstance(given, str):
        if given not in SCHEMES:
            raise ValueError(f"allowed must be one of {', '.join(SCHEMES)}, a matrix or a function, got {given!r}.")
        _check_scheme(given, names)
        given = _rule_of(given)
    if callable(given):
        steps = np.array([[_answer(given, a, b) for b in names] for a in names], np.uint8)
        first = np.array([_answer(given, None, b) for b in names], np.uint8)
        last = np.array([_answer(given, a, None) for a in names], np.uint8)
        return steps, first, last
    if hasattr(given, "columns") and hasattr(given, "index"):
        given = of_frame(given, classes, "allowed")
    steps = np.asarray(given)
    if steps.shape != (K, K) or steps.dtype.kind not in "biu":
        raise ValueError(
            f"allowed must be {K} x {K} of True and False, from label to label in the order of classes_ "
            f"({names!r}); got shape {steps.shape}, dtype {steps.dtype}.{hint_of_folds(steps, K)}"
        )
    ones = np.ones(K, np.uint8)
    return np.ascontiguousarray(steps != 0, np.uint8), ones, ones.copy()


def _answer(given: Callable[[Any, Any], Any], before: Any, after: Any) -> bool:
    answer = given(before, after)
    if answer is None:  # a way through the function without a return
        raise ValueError(f"allowed({before!r}, {after!r}) returned None; a function of two labels says True or False.")
    return bool(answer)


def _check_scheme(scheme: str, names: list[Any]) -> None:
    """Refuse labels that a scheme says nothing about: any step to and from them would be allowed."""
    heads = "BI" if scheme != "IOBES" else "BIES"
    for name in names:
        head, dash, kind = str(name).partition("-")
        if name != "O" and (not isinstance(name, str) or len(head) != 1 or head not in heads or (dash and not kind)):
            raise ValueError(
                f"allowed={scheme!r} is for labels O, {', '.join(f'{h}-...' for h in heads)}; the training set has "
                f"{name!r}. Mend the label, or give a matrix or a function of two labels."
            )


def _rule_of(scheme: str) -> Callable[[Any, Any], bool]:
    """Which label may follow which. None stands for the outside."""
    inside = "I" if scheme != "IOBES" else "IE"

    def split(label: Any) -> tuple[str, str]:
        if label is None or label == "O":
            return "O", ""
        head, _, kind = str(label).partition("-")
        return head, kind

    def rule(before: Any, after: Any) -> bool:
        head, kind = split(before)
        next_head, next_kind = split(after)
        if scheme == "IOBES":
            open_before = head in ("B", "I")
            goes_on = next_head in inside
            return open_before == goes_on and (not goes_on or kind == next_kind)
        return next_head != "I" or (head in ("B", "I") and kind == next_kind)

    return rule


def check_allowed(allowed: Allowed | None, classes: NDArray[Any], codes: Codes, stacked: Stacked) -> None:
    """Refuse a mask that forbids what the training set does."""
    if allowed is None or not len(codes):
        return
    steps, first, last = allowed
    names = classes.tolist()
    inner = np.ones(len(codes), bool)
    full = stacked.lengths > 0
    heads, tails = stacked.begins[:-1][full], stacked.begins[1:][full] - 1
    inner[heads] = False
    bad = np.flatnonzero(inner & (steps[np.roll(codes, 1), codes] == 0))
    if bad.size:
        t = int(bad[0])
        raise ValueError(
            f"allowed forbids {names[codes[t]]!r} after {names[codes[t - 1]]!r}, which the training set has "
            f"({place_of(stacked, t)}). Mend the labels or the mask."
        )
    for which, mask, at in (("begin", first, heads), ("end", last, tails)):
        bad = np.flatnonzero(mask[codes[at]] == 0)
        if bad.size:
            t = int(at[bad[0]])
            raise ValueError(
                f"allowed forbids a sequence to {which} with {names[codes[t]]!r}, as the training set does "
                f"({place_of(stacked, t)}). Mend the labels or the mask."
            )
