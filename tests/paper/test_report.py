"""The report is one file that needs no network; in a browser every figure is drawn and every control works."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import experiment
import pytest
import run
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
        "findings": [{"claim": "a claim of a paper", "held": held, "shown": "3 < 4", "figures": None},
                     {"claim": "one of a table", "held": held, "shown": "5", "figures": []}],
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
                 "stand-in", "python paper/second.py --quick", "a cpu", "numpy 2", "2 of 6 claims held",
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
    assert all('a claim of a paper <span class="verdict' in said and "Seeds 0, 1." in said for said in captions)
    assert all("3 &lt; 4." in said and "one of a table" not in said for said in captions)
    said = {"note": "cov1: a part of it. Epsilon is 3."}, [{"paper": "cov1", "here": "a part of it"}]
    assert write_report.caption(*said) == said[0]["note"]  # not twice


def test_a_claim_stands_under_the_figures_that_show_it():
    def one(claim: str, *figures: str) -> dict:
        return {"claim": claim, "figures": list(figures)}

    findings = [one("a", "left"), one("b", "right", "CCAT"), {"claim": "c", "figures": None}]
    shown = {title: "".join(x["claim"] for x in write_report.shown_by({"title": title}, findings))
             for title in ("Fig. 7, left", "Fig. 7, right", "CCAT", "Fig. 8")}  # fmt: skip
    assert shown == {"Fig. 7, left": "ac", "Fig. 7, right": "bc", "CCAT": "bc", "Fig. 8": "c"}


def test_the_machine_of_every_experiment_is_named(page):
    """One table where all ran on the same, whatever the load was; else one for each machine, with who ran there."""
    same = [result("first", 0, True), result("second", 0, True)]
    same[1]["machine"]["load"] = None
    assert write_report.machine(same).count("<table>") == 1
    same[0]["machine"]["cpu"] = "another cpu"
    tables = write_report.machine(same).split("<table>")[1:]
    assert [("first" in table, "another cpu" in table) for table in tables] == [(True, True), (False, False)]


def test_a_report_that_is_not_whole_says_so(page):
    results = [result(name, 0, True) for name in run.ORDER]
    assert "Every table and figure of section 7" in write_report.lead(results)
    assert "not whole" not in write_report.lead(results)
    assert "not whole" in write_report.lead(results[1:])
    assert "Not run: <code>table1_fig4.py</code>." in write_report.lead(results[1:])
    results[1]["command"] += " --only usps"
    assert "In part: <code>python paper/tables23_fig5.py --quick --only usps</code>." in write_report.lead(results)
    assert "not whole" in page.read_text()


# What a user would do, and what then must be; runs in the page. Errors are kept from the first line on.
WATCH = """<script>window.errors = []; window.addEventListener("error", (e) => errors.push(e.message));
window.addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
for (const kind of ["error", "warn"]) console[kind] = (...said) => errors.push(said.join(" "));</script>"""
DRIVE = """<script>
const wait = () => new Promise((next) => setTimeout(next, 200));
(async () => {
  while (document.documentElement.dataset.ready !== "yes") await wait();
  const out = { figures: plots.length, paths: plots.map((place) => place.querySelectorAll(".js-line").length) };
  out.curves = results.flatMap((x) => x.figures.map((figure) => figure.curves.length));
  const first = plots[0], box = first.closest("figure").querySelector('input[data-axis="xaxis"]');
  out.before = first.layout.xaxis.type; box.click(); await wait(); out.after = first.layout.xaxis.type;
  out.text = first.layout.font.color; document.getElementById("theme").click(); await wait();
  out.dark = document.documentElement.dataset.theme; out.text_dark = first.layout.font.color;
  const chip = [...document.querySelectorAll(".chip")].find((x) => x.textContent === "CHIP");
  const shown = () => plots.map((place) => place.data.filter((t) => t.meta === "CHIP" && t.visible === true).length);
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


def driven(page, width: int, chip: str, tmp_path) -> dict:
    """What a browser of this width makes of the page; chip: the system that is hidden and shown again."""
    text, drive = page.read_text(), DRIVE.replace("CHIP", chip)
    (tmp_path / "driven.html").write_text(
        text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", drive + "</body>")
    )
    framed = tmp_path / "framed.html"
    framed.write_text(FRAME.format((tmp_path / "driven.html").as_uri(), width))
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,900",
               f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=120000", "--dump-dom",
               framed.as_uri()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=170, check=True)
    found = re.search(r'<pre id="outcome">(.*?)</pre>', done.stdout, re.S)
    assert found, done.stderr[-2000:]
    out = json.loads(found[1])
    assert out["width"] == width
    assert out["errors"] == []
    assert (out["before"], out["after"]) == ("log", "linear")
    assert out["dark"] == "dark"
    assert out["text"] != out["text_dark"]
    assert sum(out["shown"]) > 0
    assert out["shown"] == out["again"]
    assert not any(out["hidden"])
    assert out["overflow"] <= 0
    assert out["wider"] <= 1
    return out


needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: install chromium to try the report in a browser"
)


@needs_chromium
@pytest.mark.parametrize("width", [390, 1280])
def test_in_a_browser_every_figure_is_drawn_and_every_control_works(page, width, tmp_path):
    out = driven(page, width, "SDCA", tmp_path)
    assert out["figures"] == 3
    assert min(out["paths"]) >= 2
    assert out["shown"] == [3, 3, 3]  # a line, and the two edges of its spread


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The page of some of the experiments as they are, at reduced sizes: spreads, numbers that are none, two panels."""
    folder = tmp_path_factory.mktemp("real") / "quick"
    names = ["over_m", "eq19", "fig9"]
    for one in run.load(names):
        experiment.run(one, experiment.Setting(True, False, folder / one.name))
    return write_report.write(folder, names)


def test_every_figure_of_an_experiment_has_a_claim_and_its_seeds(real):
    captions = re.findall("<figcaption>(.*?)</figcaption>", real.read_text())
    assert len(captions) == 5
    for said in captions:
        assert re.search(r'<span class="verdict (held|not|)">', said)
        assert "Seeds 0" in said
        assert "--quick</code>" in said


@needs_chromium
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_in_a_browser_the_figures_of_experiments_are_drawn(real, width, tmp_path):
    out = driven(real, width, "Pegasos", tmp_path)
    assert out["figures"] == 5
    assert all(paths >= curves > 0 for paths, curves in zip(out["paths"], out["curves"], strict=True))
