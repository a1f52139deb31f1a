"""In a browser every figure of the report is drawn, on a phone too, every control works, and nothing is fetched."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("plotly", reason="plotly, which the report is drawn with, is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: install chromium to try the report in a browser"
)
# Of the buttons of a figure; none of them needs a network.
BUTTONS = {"Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Autoscale", "Reset axes"}
LEAST = 200  # pixels of height for the curves, whatever the legend takes

# Errors are kept from the first line on.
WATCH = """<script>window.errors = []; window.addEventListener("error", (e) => errors.push(e.message));
window.addEventListener("unhandledrejection", (e) => errors.push(String(e.reason)));
for (const kind of ["error", "warn"]) console[kind] = (...said) => errors.push(said.join(" "));</script>"""
DRIVE = (Path(__file__).parent / "drive_report.js").read_text(encoding="utf-8")
# In a frame: a window of a browser has a least width, which is more than that of a phone.
FRAME = """<!doctype html><body style="margin:0"><iframe src="{}" style="border:0;width:{}px;height:900px"></iframe>
<script>addEventListener("message", (said) => {{
  const place = document.createElement("pre"); place.id = "outcome"; place.textContent = said.data;
  document.body.append(place);
}});</script>"""


def driven(page, width: int, tmp_path) -> dict:
    """What a browser of this width makes of the page."""
    (tmp_path / "driven.html").write_text(
        page.read_text().replace("<head>", "<head>" + WATCH, 1).replace("</body>", f"<script>{DRIVE}</script></body>")
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
    return out


def check(out: dict, chips: set[str]) -> None:
    """What holds of every report; chips: the systems that can be hidden everywhere."""
    assert out["errors"] == []
    assert out["fetched"] == []
    assert out["overflow"] <= 0
    for figure in out["figures"]:
        assert figure["lines"] >= figure["curves"] > 0
        assert set(figure["buttons"]) == BUTTONS
        for log, types in zip(figure["log"], (figure["x"], figure["y"]), strict=True):
            there, back = ("log", "linear") if log else ("linear", "log")
            assert types == [there, back, there]
        assert re.search(r"\d.* at .*\d", figure["hover"])
        before, after, again = figure["legend"]
        assert set(before) == {True}
        assert set(after) == {"legendonly"}
        assert again == before
    light, dark, last = out["themes"]
    assert (light["theme"], dark["theme"]) == ("light", "dark")
    assert light == last
    assert light["ground"] != dark["ground"]
    for theme in (light, dark):
        assert theme["contrast"] >= 3
        assert {look["active"] for look in theme["looks"]} == {theme["ink"]}
        assert len({look["text"] for look in theme["looks"]}) == 1
    for looks in (light["looks"], dark["looks"], out["narrow"]):
        for look, figure in zip(looks, out["figures"], strict=True):
            assert look["height"] >= LEAST
            assert look["wider"] <= 1
            assert look["buttons_above"]
            assert look["legend"] == figure["curves"]
            assert look["legend_inside"]
            assert look["legend_below"]
    assert out["wide_again"] == dark["looks"]
    assert light["looks"][0]["text"] != dark["looks"][0]["text"]
    assert set(out["chips"]) == chips
    for before, after, again in out["chips"].values():
        assert sum(before) > 0
        assert not any(after)
        assert again == before


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_every_figure_is_drawn_and_every_control_works(page, width, tmp_path):
    out = driven(page, width, tmp_path)
    check(out, {"Pegasos", "SDCA"})
    assert [figure["curves"] for figure in out["figures"]] == [2, 2, 12]
    assert out["chips"]["Pegasos"][0] == [1, 1, 1]
    assert out["chips"]["SDCA"][0] == [3, 3, 3]  # a line, and the two edges of its spread


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_figures_of_experiments_are_drawn_and_their_controls_work(real, width, tmp_path):
    out = driven(real, width, tmp_path)
    check(out, {"Pegasos"})
    assert len(out["figures"]) == 5
