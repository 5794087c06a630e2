// What may stand beside the grids. A tab has `draw(reader)`; `picks` where a chosen cell changes it; `cells(reader, side,
// who)` where it colours the grids in its own way.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { rangeText } from "./cards.js";
import { equityGraph } from "./charts.js";
import { attempt, button, copy, fill, h } from "./dom.js";
import { chips, combos, percent } from "./figures.js";
import { compareTab } from "./compare_tab.js";
import { lockTab } from "./lock_tab.js";
import { isDeal } from "./node_model.js";
import { bothSides, handTiles, moveBar, moveTable } from "./summary_parts.js";
import { figureTable } from "./tables.js";

function drawHands(reader) {
  const { node } = reader;
  if (reader.cell >= 0) return handTiles(reader.other && reader.who !== Math.max(node.acting, 0) ? reader.other.sides[Math.max(node.acting, 0)] : node.sides[reader.who], node, reader.cell);
  return [bothSides(node), node.acting >= 0 ? moveTable(node, (label) => reader.walk(label)) : h("p", { class: "soft" }, isDeal(node) ? "Choose the card above." : "Nobody acts here any more."),
    h("p", { class: "soft" }, "Choose a cell to see its hands. Backspace goes a move back."), ranges(reader)];
}

function ranges(reader) {
  const text = (side) => {
    const weights = new Float64Array(1326);
    side.hands.forEach((hand, k) => { weights[hand] = side.weight[k]; });
    return rangeText(weights);
  };
  const shorter = async (side) => (await api.parseRange(text(side))).text ?? text(side);
  return h("div", { class: "row" }, reader.node.sides.map((side) => button(`Copy ${side.name}'s range`,
    () => attempt(async () => copy(await shorter(side), "Range")), { class: "small" })));
}

function drawGroups(reader) {
  const { node } = reader;
  const side = node.sides[reader.who];
  const kinds = [["made", "Made hands"], ["draws", "Draws"], ["equity", "Equity"]];
  const rows = side.groups(node);
  const total = rows.filter((row) => row.kind === "equity").flatMap((row) => row.places).length ? side.combos : 1;
  const table = ([kind, title]) => {
    const mine = rows.filter((row) => row.kind === kind);
    if (!mine.length) return null;
    return h("div", { class: "stack tight" }, h("h3", {}, title), mine.map((row) => {
      const found = side.figures(row.places);
      const on = reader.filters[kind].has(row.name);
      return h("button", { type: "button", class: "group", "aria-pressed": on, on: { click: () => reader.toggle(kind, row.name) } },
        h("span", { class: "name" }, row.name), h("span", { class: "soft" }, `${combos(found.combos)} · ${percent(found.combos / total, 0)}`),
        side.actions.length ? moveBar(side.actions, found.shares, { thin: true }) : h("span"), h("span", {}, chips(found.ev)));
    }));
  };
  const active = Object.values(reader.filters).some((set) => set.size);
  const other = node.sides[1 - reader.who];
  return [h("div", { class: "spread" }, h("h2", { class: side.name }, side.name.toUpperCase()), h("div", { class: "row" },
    button(`Show ${other.name}`, () => { reader.who = 1 - reader.who; reader.drawSide(); }, { class: "quiet small" }),
    button("Clear filters", () => reader.clearFilters(), { class: "small", disabled: !active }))), kinds.map(table),
    h("small", {}, "Combos, share of the range, moves and EV. Choose rows to see only these hands in the grids.")];
}

function drawGraph(reader) {
  const side = (key) => reader.node.sides.map((one) => ({
    name: one.name, colour: `var(--${one.name})`, hands: one.hands.map((_, k) => ({ value: one[key][k] ?? NaN, weight: one.deals[k] })),
  }));
  return [h("h2", {}, "Equity"), equityGraph(side("handEquity")), h("h2", {}, "EV"),
    equityGraph(side("handEv"), { show: (value) => chips(value, 0), label: "EV graph" })];
}

/** What every card does. `rows` are the library's; a click deals the card. */
function drawCards(reader) {
  const box = h("div", { class: "stack" }, h("p", { class: "soft" }, "Reading all cards…"));
  const due = isDeal(reader.node);
  const line = reader.node.path.findLast((step) => step.kind === "deal")?.line;
  if (line === undefined) return h("p", { class: "empty" }, "No card has been dealt since the root. Walk to the end of the street, or to a later one.");
  attempt(async () => {
    const table = await api.runouts(reader.params.run, reader.node.line);
    fill(box, h("h2", {}, "Every card"), h("small", {}, "Its chance, how often the line is played with it, moves, EVs and equities. A click deals it."),
      figureTable({ ...table, label: "Runouts", first: (name) => (name === "all" ? name : cards(name.split(" "), true)), pick: (row) => {
        const card = String(row[0]);
        const rest = reader.node.line.slice(line.length + 3);
        reader.jump(`${line}/${card}${due ? "" : rest}`);
      } }));
  });
  return box;
}

export const TABS = [
  { name: "hands", title: "Hands", draw: drawHands, picks: true },
  { name: "groups", title: "Groups", draw: drawGroups },
  { name: "graph", title: "Graph", draw: drawGraph },
  { name: "cards", title: "Cards", draw: drawCards },
  lockTab,
  compareTab,
];
