"""One self-contained HTML file from the results, for which no network is needed: `python paper/write_report.py`."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import matplotlib as mpl
from experiment import RESULTS, arguments
from publish import missing

mpl.use("Agg")
import matplotlib.pyplot as plt  # only after the choice of backend

PAGE = Path(__file__).parent / "page"
# What a result depends on and its command does not say; `make paper` sets the threads.
ENVIRONMENT = "PEGASOS_DATA=folder OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
LIBRARIES = ("pegasos", "numpy", "scipy", "scikit-learn")
VERDICT = {True: ("held", "held"), False: ("did not hold", "not"), None: ("cannot be told", "")}
plt.rcParams.update(
    {"svg.fonttype": "none", "font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "lines.linewidth": 1.4}
)


def plotly_js() -> str:
    """The library that draws, as the package of the same name carries it."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def write(folder: Path, order: list[str]) -> Path:
    """folder/report.html and folder/svg/, from folder/*.json; `order` names the results that come first."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    results = [found[name] for name in order if name in found] + [x for name, x in found.items() if name not in order]
    if not results:
        raise SystemExit(f"no results in {folder}: run `make paper` or `make paper-quick` first.")
    (folder / "svg").mkdir(exist_ok=True)
    page = Template((PAGE / "template.html").read_text(encoding="utf-8")).substitute(
        css=(PAGE / "report.css").read_text(encoding="utf-8"),
        js=(PAGE / "report.js").read_text(encoding="utf-8"),
        plotly=plotly_js(),
        lead=lead(results),
        summary=summary(results),
        sections="\n".join(section(n, result, folder / "svg") for n, result in enumerate(results)),
        machine=machine(results),
        results=json.dumps([{"figures": result["figures"]} for result in results]).replace("</", "<\\/"),
    )
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def lead(results: list[dict[str, Any]]) -> str:
    minutes = sum(result["cpu_seconds"] for result in results) / 60
    left = re.sub("`(.*?)`", r"<code>\1</code>", missing({result["name"]: result for result in results}))
    quick = (
        '<span class="reduced">reduced sizes: <code>make paper</code> gives the verdicts</span> '
        if results[0]["quick"]
        else ""
    )
    what = "This report is not whole. It has a part of the tables and figures" if left else "Every table and figure"
    return (
        f"{quick}{what} of section 7 of the journal paper (Shalev-Shwartz, Singer, Srebro, Cotter 2011), the headline "
        "of the 2007 paper, and an independent study, with the papers' numbers beside ours. Times are seconds of one "
        "thread on the processor, loading and looking on excluded. All of it took "
        f"{minutes:.0f} minutes of the processor.{left}"
    )


def summary(results: list[dict[str, Any]]) -> str:
    lines = [
        [
            f'<a href="#{result["name"]}">{html.escape(finding["claim"])}</a>',
            '<span class="verdict {1}">{0}</span>'.format(*VERDICT[finding["held"]]),
            html.escape(finding["shown"]),
        ]
        for result in results
        for finding in result["findings"]
    ]
    held = sum(finding["held"] is True for result in results for finding in result["findings"])
    sizes = " at these reduced sizes, which decide nothing" if results[0]["quick"] else ""
    return f"<p>{held} of {len(lines)} claims held here{sizes}.</p>" + grid(["claim", "here", "what shows it"], lines)


def grid(columns: list[str], rows: list[list[str]]) -> str:
    """Cells are HTML already."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def section(n: int, result: dict[str, Any], svg: Path) -> str:
    parts = [f'<section id="{result["name"]}"><h2>{html.escape(result["title"])}</h2>']
    parts.append(f'<p class="note">{html.escape(result["source"])}</p>')
    parts += [f"<p>{said(finding)}</p>" for finding in result["findings"]]
    for table in result["tables"]:
        rows = [[html.escape(str(cell)) for cell in row] for row in table["rows"]]
        parts.append(f"<h3>{html.escape(table['title'])}</h3>{grid(table['columns'], rows)}")
        parts.append(f'<p class="note">{html.escape(table["note"])}</p>' if table["note"] else "")
    parts.append('<div class="figures">')
    parts += [figure_html(n, j, result, figure, svg) for j, figure in enumerate(result["figures"])]
    parts.append("</div>")
    parts.append(data_html(result["data"]))
    parts.append(
        f'<p class="how">{seeds(result).capitalize()}; {result["cpu_seconds"]:.0f} s of the processor, '
        f"{html.escape(result['when'])}. {'' if result['figures'] else ran(result)}</p></section>"
    )
    return "\n".join(parts)


def said(finding: dict[str, Any]) -> str:
    """A claim, whether it held, and what shows it."""
    word, kind = VERDICT[finding["held"]]
    return (
        f'{html.escape(finding["claim"])} <span class="verdict {kind}">{word}</span>: {html.escape(finding["shown"])}.'
    )


def seeds(result: dict[str, Any]) -> str:
    return f"seeds {', '.join(map(str, result['seeds'])) or 'none'}"


def ran(result: dict[str, Any]) -> str:
    """On what and with what it ran, and how to run it again."""
    facts = result["machine"]
    versions = [f"{name} {facts['versions'][name]}" for name in LIBRARIES if name in facts["versions"]]
    where = [
        f"{facts['cpu']}, {facts['cores']} core{'s' * (facts['cores'] != 1)}",
        ", ".join(versions),
        f"commit {facts['commit'] or 'unknown'}",
    ]
    return f"{html.escape('; '.join(where))}. <code>{ENVIRONMENT} {html.escape(result['command'])}</code>"


def shown_by(figure: dict[str, Any], findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The claims that a figure is about: a claim that names no figures is about all of them."""
    return [
        finding
        for finding in findings
        if (parts := finding.get("figures")) is None or any(part in figure["title"] for part in parts)
    ]


def figure_html(n: int, j: int, result: dict[str, Any], figure: dict[str, Any], svg: Path) -> str:
    name = f"{result['name']}_{j}.svg"
    drawn = draw_svg(figure)
    (svg / name).write_text(drawn, encoding="utf-8")
    copy = base64.b64encode(drawn.encode()).decode()
    claims = " ".join(said(finding) for finding in shown_by(figure, result["findings"]))
    boxes = "".join(
        f'<label><input type="checkbox" data-axis="{axis}axis"{" checked" if figure[axis]["log"] else ""}> '
        f"log {axis}</label>"
        for axis in "xy"
    )
    return (
        f'<figure><h3>{html.escape(figure["title"])}</h3><div class="plot" data-result="{n}" data-figure="{j}" '
        f'role="img" aria-label="{html.escape(figure["title"])}"></div><div class="controls">{boxes}'
        f'<a download="{name}" href="data:image/svg+xml;base64,{copy}">SVG</a></div>'
        f"<figcaption>{html.escape(caption(figure, result['data']))} {claims} {seeds(result).capitalize()}. "
        f'<span class="run">{ran(result)}</span></figcaption></figure>'
    )


def caption(figure: dict[str, Any], data: list[dict[str, Any]]) -> str:
    """Its note, and the rows that it shows; where there are several data sets, notes and curves say which."""
    alone = len(data) == 1 and data[0]["here"] not in figure["note"]
    named = f"{data[0]['paper']}: {data[0]['here']}" if alone else ""
    return " ".join(f"{said.removesuffix('.')}." for said in (figure["note"], named) if said)


def draw_svg(figure: dict[str, Any]) -> str:
    """A still copy, for print and for where no script runs."""
    drawing, axes = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
    for curve in figure["curves"]:
        style = ":" if curve["dashed"] else "-"
        (line,) = axes.plot(
            curve["x"], _numbers(curve["y"]), style, label=curve["name"], marker="o" if curve["points"] else None, ms=3
        )
        if curve["low"]:
            axes.fill_between(
                curve["x"], _numbers(curve["low"]), _numbers(curve["high"]), color=line.get_color(), alpha=0.15, lw=0
            )
    axes.set(xlabel=figure["x"]["label"], ylabel=figure["y"]["label"], title=figure["title"])
    axes.set_xscale("log" if figure["x"]["log"] else "linear")
    axes.set_yscale("log" if figure["y"]["log"] else "linear")
    axes.legend(fontsize=6.5)
    text = io.StringIO()
    drawing.savefig(text, format="svg", metadata={"Date": None})
    plt.close(drawing)
    return text.getvalue()


def _numbers(values: list[Any]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def data_html(data: list[dict[str, Any]]) -> str:
    if not data:
        return ""
    rows = [
        [
            html.escape(line["paper"]),
            html.escape(line["here"]),
            f"{line['train']:,} / {line['test']:,} x {line['features']:,}",
            " / ".join("" if n is None else f"{n:,}" for n in line["paper sizes"][:2])
            + ("" if line["paper sizes"][2] is None else f" x {line['paper sizes'][2]:,}"),
            f"{line['density']:.2%}",
            (line["lam"] if isinstance(line["lam"], str) else f"{line['lam']:g}")
            + (f", gamma {line['gamma']:g}" if line["gamma"] else ""),
        ]
        for line in data
    ]
    columns = ["data of the paper", "what it is here", "train / test x features", "the paper's", "non-zero", "lambda"]
    return grid(columns, rows)


def machine(results: list[dict[str, Any]]) -> str:
    """What they ran on: one table for all that ran on the same, with the same versions."""
    alike: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        facts = {key: fact for key, fact in result["machine"].items() if key not in ("load", "commit")}
        alike.setdefault(json.dumps(facts, sort_keys=True), []).append(result)
    names = [[result["name"] for result in same] if len(alike) > 1 else [] for same in alike.values()]
    return "\n".join(machine_table(same[-1]["machine"], of) for same, of in zip(alike.values(), names, strict=True))


def machine_table(facts: dict[str, Any], names: list[str]) -> str:
    """names: of the experiments that ran there, where not all of them did."""
    load = "unknown" if facts["load"] is None else ", ".join(f"{x:.1f}" for x in facts["load"])
    lines = [
        *([["experiments", ", ".join(names)]] if names else []),
        ["processor", f"{facts['cpu']}, {facts['cores']} core{'s' * (facts['cores'] != 1)}; caches {facts['caches']}"],
        ["memory", f"{facts['memory_gb']} GB"],
        ["system", facts["system"]],
        ["load at the end", load],
        ["versions", ", ".join(f"{name} {number}" for name, number in facts["versions"].items())],
        ["drawn with", f"plotly.js of plotly {_plotly_version()}"],
        ["the papers' machine", "Intel Core i7 920, one core, 12 GB (journal paper)"],
    ]
    return grid(["", ""], [[html.escape(str(cell)) for cell in line] for line in lines])


def _plotly_version() -> str:
    from importlib.metadata import version

    return version("plotly")


if __name__ == "__main__":
    asked = arguments("Write the report from the results that are there.")
    from run import ORDER

    print(write(RESULTS / ("quick" if asked.quick else "full"), ORDER))
