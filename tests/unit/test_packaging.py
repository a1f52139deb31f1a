"""What a package index is told: one version, and a README whose links work there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import pegasos

ROOT = Path(__file__).parents[2]


@pytest.fixture
def readme(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "packaging")
    monkeypatch.delitem(sys.modules, "readme", raising=False)
    import readme

    return readme


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    assert version("pegasos") == pegasos.__version__


def test_the_readme_of_a_package_has_absolute_links_to_files_that_exist(readme: Any) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    there = readme.absolute(text, readme.source())
    targets = [match[3] for match in readme.LINK.finditer(there)]
    assert targets
    assert not [target for target in targets if readme.is_relative(target)]
    for target in targets:
        path = re.sub(r"^/(blob|raw)/main/", "", target.removeprefix(readme.source()))
        assert (ROOT / path).exists(), target
    assert f"{readme.source()}/raw/main/docs/images/" in there


def test_links_that_are_absolute_or_on_the_page_stay(readme: Any) -> None:
    text = "[a](#there) [b](https://example.org/x) ![c](d.png)"
    assert readme.absolute(text, "https://base") == text.replace("d.png", "https://base/raw/main/d.png")


def outside_the_stable_abi(names: set[str]) -> list[str]:
    """The functions of Python's C interface that are none of those which 3.12 and all that follow keep.

    Headers of an older Python declare fewer of them: that errs on the safe side.
    """
    if not (compiler := shutil.which(os.environ.get("CXX", "c++").split()[-1])):
        pytest.skip("no C++ compiler is installed")
    declared = "".join(f"#ifndef {name}\nvoid* const use_{name} = (void*)&{name};\n#endif\n" for name in sorted(names))
    command = [compiler, "-std=c++20", "-x", "c++", "-fsyntax-only", "-I", sysconfig.get_path("include"), "-"]
    source = "#define Py_LIMITED_API 0x030C0000\n#include <Python.h>\n" + declared
    told = subprocess.run(command, input=source, capture_output=True, text=True).stderr
    return re.findall(r"\bPy\w+(?=\W+was not declared|\W+undeclared)|(?<=identifier ')Py\w+", told) or told.splitlines()


def test_the_bindings_call_what_the_stable_abi_has() -> None:
    # A module for Python 3.11 builds with other calls as well; those for 3.12 and newer would not.
    files = [path for path in (ROOT / "cpp/bind").iterdir() if path.suffix in (".cpp", ".hpp")]
    used = {name for path in files for name in re.findall(r"\bPy[A-Z]\w*_\w+(?=\()", path.read_text(encoding="utf-8"))}
    assert len(used) > 20
    assert outside_the_stable_abi(used) == []
    assert outside_the_stable_abi({*used, "PyObject_CallOneArg"}) == ["PyObject_CallOneArg"]
