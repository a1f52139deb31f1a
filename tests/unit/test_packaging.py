"""What a package index is told: one version, and a README whose links work there."""

from __future__ import annotations

import re
import sys
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
