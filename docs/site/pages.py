"""The pages that nobody writes: one for every example, and the reference of every public name."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pegasos
import pegasos.dask
from pegasos import kernels, losses, solvers

# What an estimator has from scikit-learn and a reader looks for; the rest of it is in scikit-learn's own reference.
INHERITED = ("score", "get_params", "set_params")

# What a solver of one's own derives from, gets and hands back, and those of their methods that are for its author.
SOLVER = {
    "IterativeSolver": ("check", "iterates", "solve"),
    "Solver": ("check", "solve"),
    "Problem": ("objective", "gradient", "scores", "combine", "targets", "numbers", "shares", "largest_norm2"),
    "Run": ("seconds", "seconds_left", "is_over"),
    "Fit": (),
    "Resume": (),
    "History": ("add", "tell"),
    "certified": (),
}


def gallery(root: Path) -> dict[str, str]:
    """A page for every example, with its picture where it draws one, and one that shows them all."""
    pages, cards, others = {}, [], []
    for script in sorted(root.glob("examples/[a-z]*.py")):
        code = script.read_text(encoding="utf-8")
        first, _, rest = (ast.get_docstring(ast.parse(code)) or "").partition("\n")
        body = code.split('"""', 2)[2].strip()
        name = script.stem
        title = name.removeprefix("plot_").replace("_", " ").capitalize()
        picture = root / "docs" / "images" / f"{name.removeprefix('plot_')}.png"
        shown = f"![{first}](../images/{picture.name})\n\n" if picture.exists() else ""
        run = f"`python examples/{script.name}`" + (" draws the picture anew." if shown else " runs it.")
        pages[f"examples/{name}.md"] = f"# {title}\n\n{first}\n{rest}\n\n{shown}{run}\n\n```python\n{body}\n```\n"
        if shown:
            cards.append(f"<div>\n\n[![{first}](images/{picture.name})](examples/{name}.md)\n\n{first}\n\n</div>\n")
        else:
            others.append(f"- [{title}](examples/{name}.md): {first}")
    names = "\n".join(sorted(page.removesuffix(".md") for page in pages))
    pages["gallery.md"] = (
        "# Examples\n\nEach picture leads to the script that draws it.\n\n"
        f'<div class="gallery">\n\n{"".join(cards)}\n</div>\n\n## Without a picture\n\n{chr(10).join(others)}\n\n'
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return pages


def methods(kind: type) -> list[str]:
    """The public methods of a class that are ours and say what they do."""
    found = []
    for name in dir(kind):
        home = next(c for c in kind.__mro__ if name in vars(c))
        ours = home.__module__.startswith("pegasos.") and not re.fullmatch("set_.*_request", name)
        if ours and not name.startswith("_") and inspect.getdoc(vars(home)[name]):
            found.append(name)
    return [name for name in found if inspect.isroutine(getattr(kind, name, None)) or is_property(kind, name)]


def is_property(kind: type, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name), property)


def entry(name: str, thing: Any) -> str:
    title = f"{name}\n{'=' * len(name)}\n\n"
    if not inspect.isclass(thing):
        return f"{title}.. autofunction:: pegasos.{name}\n"
    members = ", ".join(SOLVER.get(name.removeprefix("solvers."), methods(thing)))
    text = f"{title}.. autoclass:: pegasos.{name}\n" + (f"   :members: {members}\n" if members else "")
    inherited = [f"``{method}``" for method in INHERITED if hasattr(thing, method)]
    return text + (f"\n{', '.join(inherited)} are those of scikit-learn.\n" if inherited else "")


def summary(thing: Any) -> str:
    """The first sentence of a docstring, on one line."""
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return paragraph.replace("|", "\\|")


def table(rows: list[tuple[str, Any]]) -> str:
    lines = [f"| [`{name}`](api/{name}.rst) | {summary(thing)} |" for name, thing in rows]
    return "\n".join(["| name | what it is |", "|---|---|", *lines])


def members(module: str) -> list[tuple[str, Any]]:
    """The public names of a module, with its own before them."""
    home = getattr(pegasos, module)
    return [(f"{module}.{name}", getattr(home, name)) for name in sorted(home.__all__)]


def reference() -> dict[str, str]:
    """The reference: a page for every class and function, and one that lists them."""
    names = sorted(set(pegasos.__all__) - {"datasets", "metrics"})
    classes = [(name, getattr(pegasos, name)) for name in names if inspect.isclass(getattr(pegasos, name))]
    files = [(name, getattr(pegasos, name)) for name in names if not inspect.isclass(getattr(pegasos, name))]
    ours = [pair for pair in classes if hasattr(pair[1], "solve")]
    models = [pair for pair in classes if hasattr(pair[1], "fit")]
    own = [pair for pair in classes if pair[0] == "Loss"]
    paths = [("lam_path", pegasos.lam_path)]
    files = [pair for pair in files if pair not in paths]
    others = paths + [pair for pair in classes if pair not in ours and pair not in models and pair not in own]
    door = [(f"solvers.{name}", getattr(solvers, name)) for name in SOLVER] + [("losses.LossSpec", losses.LossSpec)]
    metrics, data, cluster = (members(name) for name in ("metrics", "datasets", "dask"))
    named = ", ".join(f'`"{name}"`' for name in (*losses.CLASSIFICATION, *losses.JOINT))
    numbers = ", ".join(f'`"{name}"`' for name in losses.REGRESSION)
    kernel_names = ", ".join(f'`"{name}"`' for name in kernels.names())
    everything = classes + door + paths + files + metrics + data + cluster
    pages = {f"api/{name}.rst": entry(name, thing) for name, thing in everything}
    tree = "\n".join(page.removesuffix(".rst") for page in pages)
    pages["reference.md"] = f"""# Reference

## Models

{table(models)}

On a Dask cluster, after `pip install pegasos[dask]`:

{table(cluster)}

## Solvers

The method, apart from the problem: `solver="auto"` is short for `solver=Auto()`.

{table(ours)}

## A solver of your own

[A page of the guide](own-solver.md) shows how to write one.

{table(door)}

## Losses

Classifiers take {named}; regressors take {numbers}. [Losses](losses.md) has their formulas, and shows how to write one.

{table(own)}

## Paths and pictures

{table(others)}

## Kernels

Kernel models take {kernel_names}, or a function of two blocks of rows. [Kernels](kernels.md) has their formulas.

## Files

[Files](files.md) has the formats.

{table(files)}

## Metrics

{table(metrics)}

## Data sets

{table(data)}

```{{toctree}}
:hidden:

{tree}
```
"""
    return pages
