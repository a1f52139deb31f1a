"""How much memory there is to be had: what users ask for, and what the process has taken already."""

from __future__ import annotations

import os
import re

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_UNKNOWN = 300_000_000  # what Python, NumPy and scikit-learn take where the system does not tell

Memory = int | float | str | None


def n_bytes(said: Memory) -> int | None:
    """A number of bytes, from a number or from a text such as "2GB"."""
    if said is None:
        return None
    if not isinstance(said, str):
        found: float = said
    else:
        parts = re.fullmatch(r"\s*([0-9.]+)\s*([A-Za-z]*)\s*", said)
        unit = _UNITS.get(parts[2].upper()) if parts else None
        try:
            found = float(parts[1]) * unit if parts and unit else -1.0
        except ValueError:
            found = -1.0
    if not 0 < found < 2**63:
        raise ValueError(f"memory={said!r} is no amount of memory; write a number of bytes, or 500MB, 2GB.")
    return int(found)


def shown(count: float) -> str:
    """So many bytes, in a unit that people read; never less than there are."""
    unit, name = next((size, name) for size, name in ((10**9, "GB"), (10**6, "MB"), (1, "bytes")) if count >= size)
    whole = -(-int(count) * 10 // unit)
    return f"{whole // 10}.{whole % 10} {name}" if unit > 1 and whole < 1000 else f"{-(-int(count) // unit):,} {name}"


def taken() -> int:
    """Bytes of memory that the process has for itself alone, and no file has a copy of."""
    return _of_status("RssAnon:") or _UNKNOWN


def tighter(allowed: int) -> tuple[str, int, int]:
    """Of what a user allows and RLIMIT_DATA, if there is one, that which leaves less: its name, the bytes, and how many
    of them the process has. The limit counts memory that is reserved, too, whether or not it has been written to.
    """
    mine = taken()
    said = f"memory={shown(allowed)}", allowed, mine
    try:
        import resource  # where there is such a thing

        limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    except (ImportError, OSError):
        return said
    reserved = 0 if limit == resource.RLIM_INFINITY else _of_status("VmData:")
    if reserved and limit - reserved < allowed - mine:
        return f"the limit RLIMIT_DATA={shown(limit)}", limit, reserved
    return said


def _of_status(name: str) -> int:
    """A number of bytes that the system keeps of the process; 0 where it does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))
    except (OSError, StopIteration, ValueError):
        return 0


def memory_of_machine() -> int:
    """Bytes of memory that the machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not told on this system
        return 1 << 40
