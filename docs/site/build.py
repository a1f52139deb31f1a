"""Build the site: the pages of docs/, the reference of every public name, the gallery and the changelog.

    python docs/site/build.py build/docs      # build/docs/html/index.html

All pages are copied beside one another first, with links that follow them; the originals stay readable where they are.
Then Sphinx builds, where any warning is an error, and every link of the result is followed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from pages import gallery, reference

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
LINK = re.compile(r"(\]\()([^)#\s]+)((?:#[^)]*)?\))")


def homes() -> dict[Path, str]:
    """Which file of the repository is which page of the site."""
    pages = {page: page.name for page in ROOT.glob("docs/*.md")}
    pages |= {ROOT / "CHANGELOG.md": "CHANGELOG.md", ROOT / "CONTRIBUTING.md": "CONTRIBUTING.md"}
    pages |= {ROOT / "benchmarks/README.md": "benchmarks.md", ROOT / "benchmarks/EXPERIMENTS.md": "experiments.md"}
    pages[ROOT / "paper/README.md"] = "reproduction.md"
    pages |= {picture: f"images/{picture.name}" for picture in ROOT.glob("docs/images/*")}
    pages |= {script: f"examples/{script.stem}.md" for script in ROOT.glob("examples/[a-z]*.py")}
    return pages


def moved(text: str, page: Path, pages: dict[Path, str]) -> str:
    """The text of a page with its links to other files turned into links to their pages."""

    def follow(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        there = (page.parent / match[2]).resolve()
        if there not in pages:
            raise SystemExit(f"{page.relative_to(ROOT)}: {match[2]} is no page of the site")
        return match[1] + pages[there] + match[3]

    return LINK.sub(follow, text)


def assemble(source: Path) -> None:
    pages = homes()
    shutil.rmtree(source, ignore_errors=True)
    for file, name in pages.items():
        there = source / name
        there.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            there.write_text(moved(file.read_text(encoding="utf-8"), file, pages), encoding="utf-8")
        elif file.suffix != ".py":
            shutil.copy(file, there)
    shutil.copytree(HERE / "_static", source / "_static")
    for name, text in {**gallery(ROOT), **reference()}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")


def dead_links(html: Path) -> list[str]:
    """Links inside the site to a page that is not there, or to a place that the page does not have."""
    written = [page for page in html.rglob("*.html") if "_static" not in page.parts]  # the theme keeps templates there
    texts = {page: page.read_text(encoding="utf-8") for page in written}
    places = {page: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for page, text in texts.items()}
    wrong = []
    for page, text in texts.items():
        for target in re.findall(r'\b(?:href|src)="([^"]+)"', text):
            if re.match(r"[a-z]+:|//", target):
                continue
            path, _, place = target.partition("#")
            there = (page.parent / path.partition("?")[0]).resolve() if path else page
            there = there / "index.html" if there.is_dir() else there
            if not there.exists() or (place and place not in places.get(there, {place})):
                wrong.append(f"{page.relative_to(html)}: {target}")
    return sorted(set(wrong))


def main(folder: str) -> int:
    source, html = Path(folder) / "source", Path(folder) / "html"
    assemble(source)
    shutil.rmtree(html, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
    if subprocess.run([*command, "-d", f"{folder}/doctrees", str(source), str(html)]).returncode:
        return 1
    if wrong := dead_links(html.resolve()):
        print("links that lead nowhere:", *wrong, sep="\n  ")
        return 1
    print(f"{html / 'index.html'}: {len(list(html.rglob('*.html')))} pages, no warning, no dead link")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
