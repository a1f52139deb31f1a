"""Columns by name or number."""

from __future__ import annotations

from difflib import get_close_matches


def find_column(target: str | int, names: list[str] | None, count: int, where: str) -> int:
    """The number of the column that is meant; digits may be a number where no column has that name."""
    if names is not None and target in names:
        if names.count(str(target)) > 1:
            raise ValueError(f"{where}: more than one column is called {target!r}; give its number.")
        return names.index(str(target))
    try:
        number = int(target)
    except ValueError:
        if names is None:
            raise ValueError(f"{where}: target={target!r}, but its columns have no names; give a number.") from None
        near = get_close_matches(str(target), names, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" It has {', '.join(map(repr, names[:8]))}."
        raise ValueError(f"{where} has no column {target!r}.{hint}") from None
    if not -count <= number < count:
        raise ValueError(f"{where}: target={target!r}, but its columns are 0 to {count - 1}.")
    return number % count
