// SVG charts: lines with linear or logarithmic axes, and the equity graph.

import { h, s } from "./dom.js";
import { percent, short } from "./figures.js";

const WIDTH = 520;
const HEIGHT = 240;
const LEFT = 52;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 26;
export const LINES = ["var(--accent)", "var(--oop)", "var(--ip)", "var(--fold)", "#d1495b", "#6b8f3a", "#8a6d5a", "#4b5fa5"];

function nice(low, high) {
  const raw = (high - low) / 5.01 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((size) => size >= raw);
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + 1e-9 * step; at += step) ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

function powers(low, high) {
  const ticks = [];
  for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k++) ticks.push(10 ** k);
  const shown = ticks.filter((at) => at >= low / 1.001 && at <= high * 1.001);
  return shown.length > 1 ? shown : [low, high];
}

function scale(values, log, from, to) {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
  const map = log ? Math.log10 : (x) => x;
  const place = (value) => from + ((map(value) - map(low)) / (map(high) - map(low))) * (to - from);
  return { place, ticks: log ? powers(low, high) : nice(low, high) };
}

/** Draw lines: `[{ name, colour, points: [[x, y], …] }]`, with a legend below if there are several. */
export function lineChart(series, { label, x = "", y = "", logY = false, logX = false, showY = short, showX = short, height = HEIGHT }) {
  const fits = ([a, b]) => Number.isFinite(a) && Number.isFinite(b) && (!logX || a > 0) && (!logY || b > 0);
  const lines = series.map((one, k) => ({ colour: LINES[k % LINES.length], ...one, points: one.points.filter(fits) })).filter((one) => one.points.length);
  if (!lines.length) return h("p", { class: "empty" }, "Nothing to draw yet.");
  const across = scale(lines.flatMap((one) => one.points.map((p) => p[0])), logX, LEFT, WIDTH - RIGHT);
  const up = scale(lines.flatMap((one) => one.points.map((p) => p[1])), logY, height - BOTTOM, TOP);
  const parts = up.ticks.map((at) => [
    s("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: up.place(at), y2: up.place(at) }),
    s("text", { x: LEFT - 6, y: up.place(at) + 4, "text-anchor": "end" }, showY(at)),
  ]);
  parts.push(across.ticks.map((at) => s("text", { x: across.place(at), y: height - BOTTOM + 16, "text-anchor": "middle" }, showX(at))));
  parts.push(s("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: height - BOTTOM, y2: height - BOTTOM }));
  for (const one of lines) {
    const way = one.points.map((p, k) => `${k ? "L" : "M"}${across.place(p[0]).toFixed(1)} ${up.place(p[1]).toFixed(1)}`).join("");
    parts.push(s("path", { d: way, style: { stroke: one.colour } }, s("title", {}, one.name)));
    const [lastX, lastY] = one.points.at(-1);
    parts.push(s("circle", { cx: across.place(lastX), cy: up.place(lastY), r: 3, style: { fill: one.colour } }));
  }
  const description = lines.map((one) => `${one.name} ends at ${showY(one.points.at(-1)[1])}`).join("; ");
  const drawing = s("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": `${label}: ${description}` }, parts.flat(2));
  const legend = h("div", { class: "legend" }, lines.map((one) => h("span", {}, h("span", { class: "key", style: { "--move": one.colour } }), one.name)));
  const axes = [y, x].filter(Boolean).join(" over ");
  return h("div", { class: "stack" }, axes ? h("small", {}, axes) : null, drawing, lines.length > 1 ? legend : null);
}

/** Draw the equities of both ranges from the weakest to the strongest hand. Each side: `[{ value, weight }]`. */
export function equityGraph(sides, { show = (value) => percent(value, 0), label = "Equity graph", log = false } = {}) {
  const series = sides.map(({ name, colour, hands }) => {
    const sorted = hands.filter((one) => one.weight > 0 && Number.isFinite(one.value)).sort((a, b) => a.value - b.value);
    const total = sorted.reduce((sum, one) => sum + one.weight, 0);
    let seen = 0;
    const points = sorted.map((one) => {
      seen += one.weight;
      return [(seen - one.weight / 2) / total, one.value];
    });
    const thin = Math.max(1, Math.floor(points.length / 400));
    return { name, colour, points: points.filter((_, k) => k % thin === 0 || k === points.length - 1) };
  });
  return lineChart(series, { label, x: "share of the range, weakest first", showY: show, showX: (at) => percent(at, 0), logY: log });
}
