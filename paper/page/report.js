"use strict";
// Draws every figure from the results in the page; nothing is fetched.
const results = JSON.parse(document.getElementById("results").textContent);
const COLOURS = { Pegasos: "#0b62a8", "Pegasos, projected": "#3a92d8", SDCA: "#d9730d", "SVM-Perf": "#3f8f3a", LASVM: "#b5262b", "SVM-Light": "#7a4fa3", LIBLINEAR: "#8c6d31", SGDClassifier: "#7a7a7a", "pegasos (Auto)": "#0f8f8f", NORMA: "#b5262b" };
const OTHERS = ["#0b62a8", "#d9730d", "#3f8f3a", "#b5262b", "#7a4fa3", "#8c6d31", "#0f8f8f", "#c2478f", "#7a7a7a", "#5f8f00", "#4a5fc1"];
// Named one by one: plotly's own list has a button that uploads the figure, and may get others.
const BUTTONS = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "autoScale2d", "resetScale2d"]];
const LEAST = 220; // pixels of height that a legend leaves to the curves
const hidden = new Set();
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function look() {
  const line = { gridcolor: style("--line"), linecolor: style("--line"), zerolinecolor: style("--line") };
  return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", "font.color": style("--text"), "hoverlabel.bgcolor": style("--soft"), "hoverlabel.font.color": style("--text"), "modebar.activecolor": style("--text"),
    ...Object.fromEntries(["xaxis", "yaxis"].flatMap((axis) => Object.entries(line).map(([key, value]) => [`${axis}.${key}`, value]))) };
}

const system = (name) => name.split(", ").filter((part) => !/iterations|objective|test loss|seed/.test(part)).join(", ");

function colour(name, index) {
  return COLOURS[name] || COLOURS[system(name)] && !/iterations/.test(name) && COLOURS[system(name)] || OTHERS[index % OTHERS.length];
}

function traces(figure) {
  return figure.curves.flatMap((curve, index) => {
    const shade = colour(curve.name, index);
    const both = { legendgroup: curve.name, meta: system(curve.name), visible: hidden.has(system(curve.name)) ? "legendonly" : true };
    const line = { ...both, x: curve.x, y: curve.y, name: curve.name, mode: curve.points ? "lines+markers" : "lines", line: { color: shade, width: curve.points ? 1 : 2, dash: curve.dashed ? "dot" : "solid" }, marker: { size: 7 }, hovertemplate: "%{y:.4g} at %{x:.4g}<extra>%{fullData.name}</extra>" };
    if (!curve.low) return [line];
    const edge = { ...both, x: curve.x, mode: "lines", line: { width: 0 }, showlegend: false, hoverinfo: "skip" };
    return [{ ...edge, y: curve.low }, { ...edge, y: curve.high, fill: "tonexty", fillcolor: shade + "26" }, line];
  });
}

function draw(place, figure) {
  const axis = (given) => ({ title: { text: given.label }, type: given.log ? "log" : "linear", exponentformat: "power", automargin: true });
  const layout = { margin: { l: 62, r: 10, t: 32, b: 40 }, xaxis: axis(figure.x), yaxis: axis(figure.y), legend: { orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom", tracegroupgap: 0, font: { size: 11 } }, font: { family: "system-ui, sans-serif", size: 12 }, hovermode: "closest", hoverlabel: {}, modebar: { bgcolor: "rgba(0,0,0,0)", color: "#8a8a8a" } };
  return Plotly.newPlot(place, traces(figure), layout, { displaylogo: false, modeBarButtons: BUTTONS, plotlyServerURL: "", showSendToCloud: false }).then(() => Plotly.relayout(place, look())).then(() => fit(place)).then(() => place.setAttribute("data-drawn", "yes"));
}

// As wide as its place, and as high as its legend asks for: on a phone that has a row for every curve or two.
async function fit(place) {
  place.dataset.width = place.clientWidth;
  place.style.height = ""; // that of the style sheet
  await Plotly.relayout(place, { autosize: true });
  for (let tries = 0; tries < 3; ++tries) { // a higher figure may show more of the legend
    const missing = LEAST - place.querySelector(".nsewdrag").getBoundingClientRect().height;
    if (missing <= 0) return;
    place.style.height = `${place.clientHeight + missing}px`;
    await Plotly.relayout(place, { autosize: true });
  }
}

const plots = [...document.querySelectorAll(".plot")];
const figure_of = (place) => results[place.dataset.result].figures[place.dataset.figure];

// Also when the window changes before it is drawn. A change of height is our own, and made when the observer is done.
const fitting = new ResizeObserver((seen) => {
  for (const { target } of seen) if (target.dataset.drawn && target.clientWidth !== Number(target.dataset.width)) setTimeout(() => fit(target));
});

// One after the other, so that the page can be read while they come.
async function draw_all() {
  for (const place of plots) {
    await draw(place, figure_of(place));
    fitting.observe(place);
    await new Promise((next) => setTimeout(next));
  }
  document.documentElement.setAttribute("data-ready", "yes");
}

for (const box of document.querySelectorAll("input[data-axis]")) {
  box.addEventListener("change", () => {
    const place = box.closest("figure").querySelector(".plot");
    const axis = box.dataset.axis;
    Plotly.relayout(place, { [`${axis}.type`]: box.checked ? "log" : "linear", [`${axis}.autorange`]: true });
  });
}

function set_theme(theme) {
  document.documentElement.dataset.theme = theme;
  document.getElementById("theme").textContent = theme === "dark" ? "light theme" : "dark theme";
  for (const place of plots) if (place.dataset.drawn) Plotly.relayout(place, look());
}
document.getElementById("theme").addEventListener("click", () => set_theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
set_theme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

// A chip for every system that is in more than one figure.
const counts = new Map();
for (const place of plots) for (const name of new Set(figure_of(place).curves.map((curve) => system(curve.name)))) counts.set(name, (counts.get(name) || 0) + 1);
for (const name of [...counts.keys()].filter((key) => counts.get(key) > 1 && COLOURS[key])) {
  const chip = document.createElement("button");
  chip.className = "chip";
  chip.type = "button";
  chip.textContent = name;
  chip.style.borderColor = COLOURS[name];
  chip.setAttribute("aria-pressed", "true");
  chip.addEventListener("click", () => {
    hidden.has(name) ? hidden.delete(name) : hidden.add(name);
    chip.setAttribute("aria-pressed", String(!hidden.has(name)));
    for (const place of plots) {
      const mine = (place.data || []).map((trace, index) => (trace.meta === name ? index : -1)).filter((index) => index >= 0);
      if (mine.length) Plotly.restyle(place, { visible: hidden.has(name) ? "legendonly" : true }, mine);
    }
  });
  document.getElementById("chips").append(chip);
}
draw_all();
