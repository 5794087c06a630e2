// Node locking: choose a strategy, paint the cells that play it, and solve the spot again.

import * as api from "./api.js";
import { CELL_NAMES } from "./cards.js";
import { attempt, button, fill, h, say } from "./dom.js";
import { moveColours, moveWords, percent } from "./figures.js";
import { lockList } from "./lock_list.js";
import { go } from "./place.js";
import { load } from "./study_problem.js";
import { watchJob } from "./solve_panel.js";

/** The lock that is being painted at a node: for each cell the shares of moves, or null. */
function painted(reader) {
  if (!reader.painted) {
    const count = reader.node.labels.length;
    reader.painted = { cells: CELL_NAMES.map(() => null), brush: reader.node.labels.map((_, k) => (k === count - 1 ? 1 : 0)), every: false, changed: () => {} };
  }
  return reader.painted;
}

/** The locks of the cells as entries of a spot file, one per mixed strategy. */
export function lockEntries(line, labels, cells) {
  const mixes = new Map();
  cells.forEach((mix, cell) => {
    if (!mix) return;
    const key = JSON.stringify(mix);
    mixes.set(key, [...(mixes.get(key) ?? []), CELL_NAMES[cell]]);
  });
  return [...mixes].map(([key, names]) => {
    const strategy = Object.fromEntries(JSON.parse(key).map((share, k) => [labels[k], share]).filter(([, share]) => share > 0));
    return names.length === CELL_NAMES.length ? { line, strategy } : { line, hands: names.join(","), strategy };
  });
}

/** If all cells in the range play the same, the lock is for all hands. */
function wholeLock(cells, held) {
  const first = cells.find(Boolean);
  const alike = cells.every((mix, cell) => !held(cell) || JSON.stringify(mix) === JSON.stringify(first));
  return alike ? cells.map(() => first) : cells;
}

/** A name that no run or job has yet. */
async function freeName(base) {
  const taken = new Set([...(await api.runs()), ...(await api.jobs())].map((one) => one.name));
  let name = base;
  for (let k = 2; taken.has(name); k++) name = `${base}-${k}`;
  return name;
}

/** Replace every card of a line by `*`. */
export const anyCard = (line) => line.replace(/\/[2-9TJQKA][cdhs]/g, "/*");

function cells(reader, side, who) {
  if (who !== reader.node.acting) return null;
  const { cells: mixes } = painted(reader);
  return side.cells("strategy").map((cell, k) => (mixes[k] ? { ...cell, shares: mixes[k], corner: "●", words: `locked: ${mixes[k].map((share, a) => `${moveWords(reader.node.labels[a])} ${percent(share, 0)}`).join(", ")}` } : { ...cell, dim: mixes.some(Boolean) }));
}

/** The strategy of the brush, rounded so that equal ones are one lock. */
const mixOf = (lock) => lock.brush.map((share) => Number(share.toFixed(3)));

/** A painter for cells; painting a cell with its current strategy unlocks it. */
function painter(reader, who) {
  if (who !== reader.node.acting) return null;
  const lock = painted(reader);
  let stroke = null;
  return {
    begin: (cell) => { stroke = JSON.stringify(lock.cells[cell]) === JSON.stringify(mixOf(lock)) ? null : mixOf(lock); },
    over: (cell) => {
      if (reader.node.sides[who].inCell[cell].length) lock.cells[cell] = stroke;
      lock.changed();
    },
    end: () => say(`${lock.cells.filter(Boolean).length} cells are locked`),
  };
}

function sliders(reader, lock) {
  const { labels } = reader.node;
  const colours = moveColours(labels);
  const outs = labels.map(() => h("output"));
  const bars = labels.map((label, k) => h("input", { type: "range", min: 0, max: 100, step: 5, "aria-label": `${moveWords(label)}, per cent`, on: { input: () => set(k, bars[k].value / 100) } }));
  /** Set one share; the others share the rest. */
  function set(k, share) {
    const rest = lock.brush.reduce((sum, value, j) => sum + (j === k ? 0 : value), 0);
    lock.brush = lock.brush.map((value, j) => (j === k ? share : rest > 0 ? (value / rest) * (1 - share) : (1 - share) / (labels.length - 1 || 1)));
    show();
  }
  function show() {
    lock.brush.forEach((share, k) => {
      bars[k].value = Math.round(100 * share);
      outs[k].textContent = percent(share, 0);
    });
  }
  const pure = (k) => button("always", () => { lock.brush = labels.map((_, j) => (j === k ? 1 : 0)); show(); }, { class: "quiet small", "aria-label": `always ${moveWords(labels[k])}` });
  show();
  return h("div", { class: "mix" }, labels.map((label, k) => [h("span", {}, h("span", { class: "key", style: { "--move": colours[k] } }), moveWords(label)), bars[k], outs[k], pure(k)]));
}

function draw(reader) {
  const { node } = reader;
  if (node.acting < 0) return h("p", { class: "empty" }, "No player acts here: go to a decision.");
  const lock = painted(reader);
  const side = node.sides[node.acting];
  const brush = () => mixOf(lock);
  const held = (cell) => side.inCell[cell].length > 0;
  const redraw = () => { reader.drawGrids(); fill(count, countText()); };
  const countText = () => `${lock.cells.filter(Boolean).length} of ${CELL_NAMES.filter((_, cell) => held(cell)).length} cells`;
  const count = h("span", { class: "soft" }, countText());
  const all = (make) => { lock.cells = CELL_NAMES.map((_, cell) => make(cell)); redraw(); };
  lock.changed = redraw;
  const solved = (cell) => (held(cell) ? round(side.figures(side.inCell[cell]).shares) : null);
  const any = h("input", { type: "checkbox", checked: lock.every, on: { change: () => { lock.every = any.checked; } } });
  const where = h("div");
  const again = button("Lock and solve again", () => attempt(async () => {
    if (!lock.cells.some(Boolean)) throw new Error("Paint some cells first: they get the strategy of the brush.");
    const line = lock.every ? anyCard(node.line) : node.line;
    await solve({ add_locks: lockEntries(line, node.labels, wholeLock(lock.cells, held)) }); // in addition to existing locks
  }), { class: "main" });
  /** Solve the spot of the run again with other locks. */
  async function solve(locks) {
    const base = reader.params.run.split("/").at(-1).replace(/-(un)?locked(-\d+)?$/, "");
    const free = locks.locks?.length === 0;
    const job = await api.startJob({ run: reader.params.run, ...locks, name: await freeName(`${base}-${free ? "unlocked" : "locked"}`) });
    watchJob(where, job, { done: (ended) => go("study", { run: ended.name, line: node.line, with: reader.params.run, tab: "compare" }) });
    where.scrollIntoView({ block: "nearest" });
  }
  const list = h("div");
  load(list, async () => {
    const locks = (await api.readSpot({ run: reader.params.run })).spot.lock ?? [];
    const without = (number) => attempt(() => solve({ locks: locks.filter((_, k) => k !== number) }));
    fill(list, lockList(locks, { unlock: without, open: (at) => reader.jump(at) }));
  });
  return [h("div", { class: "spread" }, h("h2", {}, "Lock ", h("span", { class: side.name }, side.name.toUpperCase())), count),
    h("p", { class: "soft" }, `Strategy of ${side.name} with the cells that you paint. Paint a cell again to unlock it. Existing locks stay, except for painted cells.`),
    sliders(reader, lock),
    h("div", { class: "row" }, button("Paint all", () => all((cell) => (held(cell) ? brush() : null)), { class: "small" }),
      button("All as solved", () => all(solved), { class: "small" }), button("None", () => all(() => null), { class: "small" })),
    node.line.includes("/") ? h("label", { class: "row" }, any, "for any card dealt") : null, again, where, list];
}

/** Shares to whole per cents that sum to one. */
function round(shares) {
  const found = shares.map((share) => Math.round(100 * share) / 100);
  const most = found.indexOf(Math.max(...found));
  found[most] = Number((found[most] + 1 - found.reduce((a, b) => a + b, 0)).toFixed(2));
  return found;
}

export const lockTab = { name: "lock", title: "Lock", draw, cells, painter };
