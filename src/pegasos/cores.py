"""How many threads are of use here: what `n_jobs` stands for."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf
from pathlib import Path, PurePosixPath

MOST_THREADS = 64  # more than there are cores, only if somebody asks for it


def thread_count(n_jobs: int | None) -> int:
    if n_jobs is None or 0 < n_jobs <= MOST_THREADS:
        return n_jobs or 1
    cores = core_count()
    return min(n_jobs, max(MOST_THREADS, cores)) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def core_count() -> int:
    """Cores that this process may use: those of its affinity, as many of them as its control groups allow."""
    from joblib import cpu_count  # takes longer than a small fit

    cores, limit = int(cpu_count()), core_limit()
    return cores if limit >= cores else max(1, ceil(limit))


def core_limit(root: Path = Path("/")) -> float:
    """The least number of cores, perhaps a fraction, that a control group of this process may keep busy; infinite if
    there is no limit. A limit of a group holds for all groups inside: joblib asks the outermost alone.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return inf
    return min((limit for line in lines for limit in _limits(root / "sys/fs/cgroup", line)), default=inf)


def _limits(mounted: Path, line: str) -> Iterator[float]:
    """Of a line of /proc/self/cgroup, number:controllers:group. The second version names no controllers."""
    _, controllers, group = line.split(":", 2)
    own = PurePosixPath("/") / group
    for path in (own, *own.parents):
        inside = str(path).lstrip("/")
        if not controllers:
            yield _limit(mounted / inside / "cpu.max")
        elif "cpu" in controllers.split(","):
            for name in dict.fromkeys((controllers, "cpu")):
                folder = mounted / name / inside
                yield _limit(folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")


def _limit(*files: Path) -> float:
    """Microseconds of work in a period, divided by the period."""
    try:
        quota, period = " ".join(file.read_text() for file in files).split()
        cores = float(quota) / float(period)  # "max" is no number: no limit
    except (OSError, ValueError, ZeroDivisionError):
        return inf
    return cores if cores > 0 else inf
