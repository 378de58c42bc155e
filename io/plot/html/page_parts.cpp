// The parts of a page that are the same for all pictures.
#include <perp/io/plot/html/page_parts.hpp>

namespace perp::io {
namespace {

constexpr const char* style = R"html(<style>
body{font:14px "DejaVu Sans",sans-serif;color:#222;background:#fff;max-width:1100px;margin:1em auto;padding:0 1em}
h1{font-size:17px}
svg.panel{display:block;width:100%;user-select:none}
svg.plane{cursor:crosshair;overflow:hidden}
svg.plane path{vector-effect:non-scaling-stroke;stroke-linejoin:round}
.axes line{stroke:#333;stroke-width:.8}.axes line.grid{stroke:#000;stroke-opacity:.13}.axes{pointer-events:none}
.axes text{font-size:12px;fill:#333}
#box{position:fixed;border:1px dashed #333;background:#0072b222;pointer-events:none;display:none}
#legend button{font:inherit;border:1px solid #ccc;background:#fff;border-radius:3px;margin:2px;cursor:pointer}
#legend button[aria-pressed=false]{opacity:.35;text-decoration:line-through}
#legend i{display:inline-block;width:1.6em;height:.6em;margin-right:.5em;border:1px solid #0003}
#at{color:#555;min-height:1.3em;font-size:12px}
</style>
)html";

// Views are boxes (left, top, width, height) of the plane of 1000×1000; the numbers of an axis follow from
// data-x and data-y, which are decimal logarithms where data-log says so.
constexpr const char* script = R"html(<p id="at"></p>
<p style="color:#777;font-size:12px">wheel: zoom (shift: vertically) · drag: move · shift and drag: zoom to a box · double click: all of it · a click in the legend hides and shows</p>
<div id="box"></div>
<script>
"use strict";
const most = 1e5, all = [0, 0, 1000, 1000];
const shared = document.getElementById("panels").classList.contains("shared");
const pair = text => text.split(",").map(Number);
const panels = [...document.querySelectorAll("svg.panel")].map(svg => ({
  svg, plane: svg.querySelector(".plane"), axes: svg.querySelector(".axes"), view: [...all],
  x: pair(svg.dataset.x), y: pair(svg.dataset.y), log: svg.dataset.log, labels: [svg.dataset.xlabel, svg.dataset.ylabel]}));
const limit = v => { for (const k of [0, 1]) { v[k + 2] = Math.min(1000, Math.max(1000 / most, v[k + 2])); v[k] = Math.min(1000 - v[k + 2], Math.max(0, v[k])); } return v; };
const ends = (p, axis) => { const [a, b] = p[axis], v = p.view;
  return axis === "x" ? [a + (b - a) * v[0] / 1000, a + (b - a) * (v[0] + v[2]) / 1000]
                      : [b - (b - a) * (v[1] + v[3]) / 1000, b - (b - a) * v[1] / 1000]; };
const short = (value, step) => Math.abs(value) < step * 1e-6 ? "0" :
  String(Number(value.toPrecision(Math.max(1, Math.min(15, 2 + Math.ceil(Math.log10(Math.abs(value) / step)))))));
function ticks(a, b, log) {  // [place, text] of about six
  let step = 10 ** Math.floor(Math.log10((b - a) / 4));
  step *= (b - a) / step >= 20 ? 5 : (b - a) / step >= 8 ? 2 : 1;
  const list = [];
  if (log && b - a > 1) { step = Math.max(1, Math.round(step)); for (let k = Math.ceil(a); k <= b; k += step) list.push([k, "1e" + k]); return list; }
  if (log) return ticks(10 ** a, 10 ** b, false).map(([value, text]) => [Math.log10(value), text]);
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9; ++k) list.push([k * step, short(k * step, step)]);
  return list;
}
function element(parent, name, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
}
function heads(p, text) {  // of arrows, 9 long on the screen whatever the view
  const sx = 800 / p.view[2], sy = p.plane.height.baseVal.value / p.view[3];
  return text.split(";").map(arrow => {
    const [x0, y0, x1, y1] = arrow.split(" ").map(Number), u = (x1 - x0) * sx, v = (y1 - y0) * sy, size = Math.hypot(u, v);
    if (!(size > 0)) return "";
    const at = (along, across) => `${x1 + (along * u - across * v) / size / sx} ${y1 + (along * v + across * u) / size / sy}`;
    return `M${at(0, 0)}L${at(-9, 3.2)}L${at(-9, -3.2)}Z`;
  }).join("");
}
function draw(p, is_last) {
  const height = p.plane.height.baseVal.value, bottom = 8 + height;
  p.plane.setAttribute("viewBox", p.view.join(" "));
  for (const node of p.plane.querySelectorAll(".heads")) node.setAttribute("d", heads(p, node.dataset.heads));
  p.axes.replaceChildren();
  const [x0, x1] = ends(p, "x"), [y0, y1] = ends(p, "y");
  for (const [value, text] of ticks(x0, x1, p.log.includes("x"))) {
    const x = 80 + 800 * (value - x0) / (x1 - x0);
    element(p.axes, "line", {class: "grid", x1: x, x2: x, y1: 8, y2: bottom});
    if (is_last) element(p.axes, "text", {class: "x", x, y: bottom + 16, "text-anchor": "middle"}, text);
  }
  for (const [value, text] of ticks(y0, y1, p.log.includes("y"))) {
    const y = bottom - height * (value - y0) / (y1 - y0);
    element(p.axes, "line", {class: "grid", x1: 80, x2: 880, y1: y, y2: y});
    element(p.axes, "text", {class: "y", x: 74, y: y + 4, "text-anchor": "end"}, text);
  }
  element(p.axes, "line", {x1: 80, x2: 880, y1: bottom, y2: bottom});
  element(p.axes, "line", {x1: 80, x2: 80, y1: 8, y2: bottom});
  if (is_last) element(p.axes, "text", {x: 480, y: bottom + 36, "text-anchor": "middle"}, p.labels[0]);
  element(p.axes, "text", {transform: `translate(14 ${8 + height / 2}) rotate(-90)`, "text-anchor": "middle"}, p.labels[1]);
}
const refresh = () => panels.forEach((p, k) => draw(p, !shared || k === panels.length - 1));
function show(p, view) {
  p.view = limit(view);
  if (shared) for (const other of panels) { other.view[0] = p.view[0]; other.view[2] = p.view[2]; }
  refresh();
}
function share(p, event) {  // of the plane, from its upper left
  const box = p.svg.getBoundingClientRect(), scale = 900 / box.width;
  return [((event.clientX - box.left) * scale - 80) / 800, ((event.clientY - box.top) * scale - 8) / p.plane.height.baseVal.value];
}
for (const p of panels) {
  let from = null;
  p.plane.insertAdjacentHTML("afterbegin", '<rect x="-1e7" y="-1e7" width="2e7" height="2e7" fill="#fff"/>');
  p.plane.addEventListener("wheel", event => {
    event.preventDefault();
    const factor = (event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, at = share(p, event), v = [...p.view];
    for (const k of [0, 1]) {
      if (k === 0 ? event.shiftKey : shared && !event.shiftKey) continue;
      const size = Math.min(1000, Math.max(1000 / most, v[k + 2] * factor));
      v[k] += at[k] * (v[k + 2] - size);
      v[k + 2] = size;
    }
    show(p, v);
  }, {passive: false});
  p.plane.addEventListener("pointerdown", event => {
    from = {at: share(p, event), view: [...p.view], box: event.shiftKey, x: event.clientX, y: event.clientY};
    try { p.plane.setPointerCapture(event.pointerId); } catch { }
    event.preventDefault();
  });
  p.plane.addEventListener("pointermove", event => {
    const at = share(p, event), [x0, x1] = ends(p, "x"), [y0, y1] = ends(p, "y");
    const number = (value, log) => Number((log ? 10 ** value : value).toPrecision(7));
    document.getElementById("at").textContent = `${p.labels[0]} = ${number(x0 + at[0] * (x1 - x0), p.log.includes("x"))},  ${p.labels[1]}: ${number(y1 - at[1] * (y1 - y0), p.log.includes("y"))}`;
    if (!from) return;
    if (!from.box) return show(p, [0, 1, 2, 3].map(k => k < 2 ? from.view[k] - (at[k] - from.at[k]) * from.view[k + 2] : from.view[k]));
    Object.assign(document.getElementById("box").style, {display: "block", left: Math.min(from.x, event.clientX) + "px", top: Math.min(from.y, event.clientY) + "px",
      width: Math.abs(event.clientX - from.x) + "px", height: Math.abs(event.clientY - from.y) + "px"});
  });
  p.plane.addEventListener("pointerup", event => {
    const start = from, at = share(p, event), v = p.view;
    from = null;
    document.getElementById("box").style.display = "none";
    if (!start || !start.box || Math.abs(at[0] - start.at[0]) < 0.005 || Math.abs(at[1] - start.at[1]) < 0.005) return;
    show(p, [0, 1, 2, 3].map(k => k < 2 ? v[k] + Math.min(at[k], start.at[k]) * v[k + 2] : Math.abs(at[k - 2] - start.at[k - 2]) * v[k]));
  });
  p.plane.addEventListener("dblclick", () => { for (const other of shared ? panels : [p]) other.view = [...all]; refresh(); });
}
for (const button of document.querySelectorAll("#legend button"))
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    for (const node of document.querySelectorAll("." + button.dataset.key)) node.style.display = shown ? "" : "none";
  });
refresh();
</script>
</html>
)html";

}  // namespace

std::string page_head(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>" + title + "</title>\n" + style + "<h1>" +
         title + "</h1>\n";
}

std::string page_tail() { return script; }

}  // namespace perp::io
