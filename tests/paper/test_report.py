"""The report is one file that needs no network; in a browser every figure is drawn and every control works."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
import write_report

plotly = pytest.importorskip("plotly", reason="plotly, which the report is drawn with, is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def result(name: str, n_figures: int, held: bool | None) -> dict:
    def curve(who: str, spread: bool) -> dict:
        y = [0.1, 0.01, 0.002]
        return {"name": who, "x": [1, 10, 100], "y": y, "low": [x / 2 for x in y] if spread else None,
                "high": [2 * x for x in y] if spread else None, "dashed": spread, "points": False}  # fmt: skip

    figure = {
        "title": "a <figure> & more", "note": "a note",
        "x": {"label": "seconds", "log": True}, "y": {"label": "f", "log": False},
        "curves": [curve("Pegasos", False), curve("SDCA", True)],
    }  # fmt: skip
    return {
        "name": name, "title": f"title of {name}", "source": "section 7", "quick": True, "cpu_seconds": 61.0,
        "command": f"python paper/{name}.py --quick", "when": "2030-01-01T00:00:00Z", "seeds": [0, 1],
        "machine": {"cpu": "a cpu", "cores": 2, "caches": "L2", "memory_gb": 8, "system": "Linux",
                    "load": [0.1, 0.2, 0.3], "versions": {"numpy": "2"}, "commit": "abc"},
        "figures": [figure] * n_figures,
        "tables": [{"title": "Table", "columns": ["a", "b"], "rows": [["1", "</script>"]], "note": ""}],
        "findings": [{"claim": "a claim of a paper", "held": held, "shown": "3 < 4"}],
        "data": [{"paper": "CCAT", "here": "stand-in", "train": 9, "test": 3, "features": 5, "density": 0.2,
                  "lam": 1e-4, "gamma": 0.0, "paper sizes": [781265, 23149, 47236]}],
    }  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    for name, figures, held in (("second", 2, False), ("first", 1, True), ("third", 0, None)):
        (folder / f"{name}.json").write_text(json.dumps(result(name, figures, held)))
    return write_report.write(folder, ["first", "second"])


def test_the_report_says_everything_and_loads_nothing(page):
    text = page.read_text()
    own = text.replace(write_report.plotly_js(), "")
    for said in ("title of first", "a claim of a paper", "did not hold", "cannot be told", "3 &lt; 4", "seeds 0, 1",
                 "stand-in", "python paper/second.py --quick", "a cpu", "numpy 2", "1 of 3 claims held",
                 "reduced sizes", "781,265", "3 minutes of the processor", "61 s of the processor"):  # fmt: skip
        assert said in own, said
    assert own.index("title of first") < own.index("title of second")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", own)
    assert text.count("plotly.js v") >= 1
    svgs = sorted(path.name for path in (page.parent / "svg").iterdir())
    assert svgs == ["first_0.svg", "second_0.svg", "second_1.svg"]
    assert all("<svg" in (page.parent / "svg" / name).read_text() for name in svgs)


def test_without_results_the_report_says_what_to_run(tmp_path):
    with pytest.raises(SystemExit, match="make paper"):
        write_report.write(tmp_path, [])


def test_every_figure_says_what_rows_it_shows(page):
    captions = re.findall("<figcaption>(.*?)</figcaption>", page.read_text())
    assert len(captions) == 3
    assert all("a note CCAT: stand-in." in said for said in captions)
    said = {"note": "cov1: a part of it. Epsilon is 3."}, [{"paper": "cov1", "here": "a part of it"}]
    assert write_report.caption(*said) == said[0]["note"]  # not twice


# What a user would do, and what then must be; runs in the page. Errors are kept from the first line on.
WATCH = """<script>window.errors = []; window.addEventListener("error", (e) => errors.push(e.message));
window.addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
for (const kind of ["error", "warn"]) console[kind] = (...said) => errors.push(said.join(" "));</script>"""
DRIVE = """<script>
const wait = () => new Promise((next) => setTimeout(next, 200));
(async () => {
  while (document.documentElement.dataset.ready !== "yes") await wait();
  const out = { figures: plots.length, paths: plots.map((place) => place.querySelectorAll(".js-line").length) };
  const first = plots[0], box = first.closest("figure").querySelector('input[data-axis="xaxis"]');
  out.before = first.layout.xaxis.type; box.click(); await wait(); out.after = first.layout.xaxis.type;
  out.text = first.layout.font.color; document.getElementById("theme").click(); await wait();
  out.dark = document.documentElement.dataset.theme; out.text_dark = first.layout.font.color;
  const chip = [...document.querySelectorAll(".chip")].find((x) => x.textContent === "SDCA");
  const shown = () => plots.map((place) => place.data.filter((t) => t.meta === "SDCA" && t.visible === true).length);
  out.shown = shown(); chip.click(); await wait();
  out.hidden = shown(); chip.click(); await wait(); out.again = shown();
  const width = (place) => place.querySelector(".main-svg").getBoundingClientRect().width;
  out.wider = Math.max(...plots.map((place) => width(place) - place.clientWidth));
  out.overflow = document.documentElement.scrollWidth - window.innerWidth;
  out.errors = errors;
  out.width = window.innerWidth;
  parent.postMessage(JSON.stringify(out), "*");
})();
</script>"""
# In a frame: a window of a browser has a least width, which is more than that of a phone.
FRAME = """<!doctype html><body style="margin:0"><iframe src="{}" style="border:0;width:{}px;height:900px"></iframe>
<script>addEventListener("message", (said) => {{
  const place = document.createElement("pre"); place.id = "outcome"; place.textContent = said.data;
  document.body.append(place);
}});</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: install chromium to try the report in a browser")
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_every_figure_is_drawn_and_every_control_works(page, width, tmp_path):
    driven = tmp_path / "driven.html"
    driven.write_text(page.read_text().replace("<head>", "<head>" + WATCH, 1).replace("</body>", DRIVE + "</body>"))
    framed = tmp_path / "framed.html"
    framed.write_text(FRAME.format(driven.as_uri(), width))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
               f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=120000", "--dump-dom",
               framed.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=True)
    found = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    out = json.loads(found[1])
    assert out["width"] == width
    assert out["errors"] == []
    assert out["figures"] == 3
    assert min(out["paths"]) >= 2
    assert (out["before"], out["after"]) == ("log", "linear")
    assert out["dark"] == "dark"
    assert out["text"] != out["text_dark"]
    assert out["shown"] == out["again"] == [3, 3, 3]  # a line, and the two edges of its spread
    assert out["hidden"] == [0, 0, 0]
    assert out["overflow"] <= 0
    assert out["wider"] <= 1
