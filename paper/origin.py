"""What a result was made of: code, data, processor. Results of different origins are never put together."""

from __future__ import annotations

import ast
import hashlib
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
REAL = ("arxiv_astroph", "arxiv", "covertype", "reuters", "adult", "usps", "mnist")
FETCHED = ("RCV1", "covertype")  # folders of scikit-learn's own copies


@lru_cache
def script(name: str) -> str:
    """A hash of a script and of what it imports from here, comments and lay-out left out."""
    found: dict[str, bytes] = {}
    waiting = [name]
    while waiting:
        if (one := waiting.pop()) in found or not (path := HERE / f"{one}.py").is_file():
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[one] = ast.dump(tree).encode()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                waiting.append(node.module)
    systems = sorted((HERE / "native").iterdir()) if "systems" in found else []
    return _hash([found[one] for one in sorted(found)] + [path.read_bytes() for path in systems])


@lru_cache
def library() -> str:
    """A hash of the package as it is installed, native code included."""
    import pegasos  # `make figures` has no need of it

    folder = Path(pegasos.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".so", ".pyd"))
    return _hash([path.read_bytes() for path in files])


def data() -> list[str]:
    """The real data sets that there are: for the others, stand-ins."""
    from sklearn.datasets import get_data_home

    from pegasos import datasets

    home = Path(get_data_home())
    return [name for name in REAL if datasets.missing(name) is None] + [
        name for name in FETCHED if (home / name).is_dir() and os.listdir(home / name)
    ]


def origin(name: str, cpu: str) -> dict[str, Any]:
    """Of the results of a script on this processor."""
    return {"script": script(name), "library": library(), "data": data(), "cpu": cpu}


def _hash(pieces: list[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(len(piece).to_bytes(8, "little") + piece)
    return digest.hexdigest()[:16]
