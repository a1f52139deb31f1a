"""The README of a package index, where relative links and pictures lead nowhere.

    python packaging/readme.py absolute README.md     rewrite it in place: only in a copy that is made for a release
    python packaging/readme.py check dist/*           complain about relative links in the metadata of the packages

Links become absolute on the address that `pyproject.toml` has as `Source`.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)]+)\)")


def source() -> str:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return str(tomllib.load(file)["project"]["urls"]["Source"])


def is_relative(target: str) -> bool:
    return "://" not in target and not target.startswith("#")


def absolute(text: str, base: str) -> str:
    """Markdown whose relative links lead to files of the repository at `base`, pictures to their raw bytes."""

    def replaced(match: re.Match[str]) -> str:
        mark, words, target = match.groups()
        if not is_relative(target):
            return match[0]
        return f"{mark}[{words}]({base}/{'raw' if mark else 'blob'}/main/{target})"

    return LINK.sub(replaced, text)


def metadata(package: Path) -> str:
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            return wheel.read(name).decode()
    with tarfile.open(package) as sdist:
        name = next(name for name in sdist.getnames() if name.count("/") == 1 and name.endswith("/PKG-INFO"))
        file = sdist.extractfile(name)
        assert file is not None
        return file.read().decode()


def main(command: str, *paths: str) -> int:
    if command == "absolute":
        for path in map(Path, paths):
            path.write_text(absolute(path.read_text(encoding="utf-8"), source()), encoding="utf-8")
        return 0
    if command != "check" or not paths:
        print(__doc__)
        return 2
    wrong = [(path, m[3]) for path in paths for m in LINK.finditer(metadata(Path(path))) if is_relative(m[3])]
    for path, target in wrong:
        print(f"{path}: the link to {target} is relative")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*(sys.argv[1:] or ["help"])))
