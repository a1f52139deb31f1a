"use strict";
// Appended to the report: does what a reader would, and tells the frame around it what then was on the page.
const wait = (ms = 50) => new Promise((next) => setTimeout(next, ms));
const every = (list, test) => [...list].every(test);

// Where the browser would put the pointer: a mouse event at a place of the window.
function mouse(target, kind, x, y) {
  target.dispatchEvent(new MouseEvent(kind, { bubbles: true, cancelable: true, view: window, clientX: x, clientY: y }));
}

async function toggled(place, axis) {
  const box = place.closest("figure").querySelector(`input[data-axis="${axis}"]`);
  const types = [place.layout[axis].type];
  for (let n = 0; n < 2; ++n) { box.click(); await wait(); types.push(place.layout[axis].type); }
  return types;
}

// A point of the first curve that is inside the plot: what stands at it while the pointer is there.
async function hovered(place) {
  const drag = place.querySelector(".nsewdrag"), at = drag.getBoundingClientRect();
  const curve = place.data.find((trace) => trace.hoverinfo !== "skip");
  const { xaxis, yaxis } = place._fullLayout;
  const places = [...curve.x].map((x, n) => [xaxis.d2p(x), yaxis.d2p(curve.y[n])]);
  const [x, y] = places.find(([x, y]) => x > 1 && x < at.width - 1 && y > 1 && y < at.height - 1);
  mouse(drag, "mousemove", at.left + x, at.top + y);
  await wait(200);
  const said = place.querySelector(".hoverlayer").textContent;
  mouse(drag, "mouseout", 0, 0);
  return said;
}

// Visible before, after a click on the first entry of the legend, after another: all traces of its name.
async function legend_clicked(place) {
  const group = place.data.find((trace) => trace.showlegend !== false).legendgroup;
  const mine = () => place.data.filter((trace) => trace.legendgroup === group).map((trace) => trace.visible ?? true);
  const seen = [mine()];
  for (let n = 0; n < 2; ++n) {
    const entry = place.querySelector(".legend .legendtoggle"), at = entry.getBoundingClientRect();
    for (const kind of ["mousedown", "mouseup"]) mouse(entry, kind, at.left + 5, at.top + 5);
    await wait(700); // a second click might have made it a double click
    seen.push(mine());
  }
  return seen;
}

const shown = (name) => plots.map((place) => place.data.filter((t) => t.meta === name && t.visible === true).length);
async function chip_clicked(chip) {
  const seen = [shown(chip.textContent)];
  for (let n = 0; n < 2; ++n) { chip.click(); await wait(); seen.push(shown(chip.textContent)); }
  return seen;
}

// The least contrast of a curve's colour with the page (Web Content Accessibility Guidelines; 3 is asked for).
function contrast() {
  const light = (rgb) => rgb.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, n) => sum + [0.2126, 0.7152, 0.0722][n] * c, 0.05);
  const filter = getComputedStyle(plots[0].querySelector(".scatterlayer")).filter.match(/brightness\((.*)\)/);
  const drawn = (hex) => light([1, 3, 5].map((n) => Math.min(1, (parseInt(hex.slice(n, n + 2), 16) / 255) * (filter ? Number(filter[1]) : 1))));
  const ground = light(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map((c) => c / 255));
  return Math.min(...[...Object.values(COLOURS), ...OTHERS].map(drawn).map((c) => Math.max(c, ground) / Math.min(c, ground)));
}

// What must not change with what was clicked before, in either theme.
function look_of(place) {
  const svg = place.querySelector(".main-svg").getBoundingClientRect(), entries = place.querySelectorAll(".legend .legendtext");
  return {
    text: place.layout.font.color,
    active: getComputedStyle(place.querySelector(".modebar-btn.active path")).fill,
    buttons_above: place.querySelector(".modebar").getBoundingClientRect().bottom <= place.querySelector(".nsewdrag").getBoundingClientRect().top,
    height: place.querySelector(".nsewdrag").getBoundingClientRect().height,
    wider: svg.width - place.clientWidth,
    legend: entries.length,
    legend_inside: every(entries, (entry) => entry.getBoundingClientRect().bottom <= svg.bottom + 1),
    legend_below: every(entries, (entry) => entry.getBoundingClientRect().top >= place.querySelector(".nsewdrag").getBoundingClientRect().bottom),
  };
}

// As in a window that becomes narrower, or wide again. The page's observer is told when a frame is drawn, which does not
// happen while the browser's time is made up: what it would do is called here.
async function looks_at(width) {
  document.body.style.maxWidth = width;
  for (const place of plots) await fit(place);
  return plots.map(look_of);
}

(async () => {
  while (document.documentElement.dataset.ready !== "yes") await wait(200);
  const out = { figures: [], themes: [], chips: {} };
  for (const place of plots) {
    const figure = results[place.dataset.result].figures[place.dataset.figure];
    out.figures.push({
      curves: figure.curves.length, lines: place.querySelectorAll(".js-line").length, log: [figure.x.log, figure.y.log],
      buttons: [...place.querySelectorAll(".modebar-btn")].map((button) => button.dataset.title),
      x: await toggled(place, "xaxis"), y: await toggled(place, "yaxis"), hover: await hovered(place), legend: await legend_clicked(place),
    });
  }
  for (let n = 0; n < 3; ++n) {
    out.themes.push({ theme: document.documentElement.dataset.theme, ground: getComputedStyle(document.body).backgroundColor, ink: getComputedStyle(document.body).color, contrast: contrast(), looks: plots.map(look_of) });
    document.getElementById("theme").click();
    await wait(200);
  }
  out.narrow = await looks_at("360px");
  out.wide_again = await looks_at("");
  for (const chip of document.querySelectorAll(".chip")) out.chips[chip.textContent] = await chip_clicked(chip);
  out.overflow = document.documentElement.scrollWidth - window.innerWidth;
  out.fetched = performance.getEntriesByType("resource").map((entry) => entry.name).filter((name) => !name.startsWith("data:"));
  out.errors = errors;
  out.width = window.innerWidth;
  parent.postMessage(JSON.stringify(out), "*");
})();
