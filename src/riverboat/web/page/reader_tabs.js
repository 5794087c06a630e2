// Tabs next to the grids. A tab has `draw(reader)`; `picks` if a chosen cell changes it; `cells(reader, side,
// who)` if it colors the grids itself; `whole` if it also works for blueprints of full games.

import * as api from "./api.js";
import { Deck, cards } from "./card_parts.js";
import { rangeText } from "./cards.js";
import { equityGraph } from "./charts.js";
import { attempt, button, copy, fill, h } from "./dom.js";
import { chips, combos, percent } from "./figures.js";
import { compareTab } from "./compare_tab.js";
import { lockTab } from "./lock_tab.js";
import { isDeal } from "./node_model.js";
import { load } from "./study_problem.js";
import { bothSides, handTiles, moveBar, moveTable } from "./summary_parts.js";
import { figureTable } from "./tables.js";

function drawHands(reader) {
  const { node } = reader;
  if (reader.cell >= 0) return handTiles(reader.other && reader.who !== Math.max(node.acting, 0) ? reader.other.sides[Math.max(node.acting, 0)] : node.sides[reader.who], node, reader.cell);
  return [bothSides(node), node.acting >= 0 ? moveTable(node, (label) => reader.walk(label)) : h("p", { class: "soft" }, isDeal(node) ? "Choose the card above." : "The hand is over."),
    h("p", { class: "soft" }, "Click a cell to see its hands. Backspace goes back one move."), ranges(reader)];
}

/** Buttons to copy ranges as text; for full games, which use buckets, the page formats them itself. */
function ranges(reader) {
  const { node, params } = reader;
  const text = (side) => {
    if (!reader.whole) return api.rangeOf(params.run, node.line, side.name);
    const weights = new Float64Array(1326);
    side.hands.forEach((hand, k) => { weights[hand] = side.weight[k]; });
    return rangeText(weights);
  };
  return h("div", { class: "row" }, node.sides.map((side) => button(`Copy ${side.name}'s range`,
    () => attempt(async () => copy((await text(side)).trim(), "Range")), { class: "small" })));
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
    h("small", {}, "Combos, share of the range, moves and EV. Click rows to show only these hands in the grids.")];
}

function drawGraph(reader) {
  const side = (key) => reader.node.sides.map((one) => ({
    name: one.name, colour: `var(--${one.name})`, hands: one.hands.map((_, k) => ({ value: one[key][k] ?? NaN, weight: one.deals[k] })),
  }));
  return [h("h2", {}, "Equity"), equityGraph(side("handEquity")), h("h2", {}, "EV"),
    equityGraph(side("handEv"), { show: (value) => chips(value, 0), label: "EV graph" })];
}

/** The runouts as a deck with moves on each card and as a table; a click deals the card. */
function drawCards(reader) {
  const { node, params } = reader;
  const line = node.path.findLast((step) => step.kind === "deal")?.line;
  if (line === undefined) return h("p", { class: "empty" }, "No card has been dealt yet. Go to the end of the street, or to a later street.");
  const rest = isDeal(node) ? "" : node.line.slice(line.length + 3);
  const deal = (name) => reader.jump(`${line}/${name}${rest}`);
  const box = h("div", { class: "stack" }, h("p", { class: "soft", role: "status" }, "Reading all cards…"));
  load(box, async () => {
    const table = await api.runouts(params.run, node.line);
    fill(box, h("h2", {}, "Every card"), cardDeck(table, deal), h("small", {}, "Probability of each card, frequency of the line with it, moves, EVs and equities."),
      figureTable({ ...table, label: "Runouts", first: (name) => (name === "all" ? name : cards(name.split(" "), true)), pick: ([name]) => deal(name) }));
  });
  return box;
}

/** The deck with a bar of moves on each card. */
function cardDeck({ columns, rows }, pick) {
  const moves = columns.map((column, k) => ({ ...column, k })).filter((column) => column.kind === "share" && /^[fxcbra]\d*$/.test(column.name));
  const deck = new Deck({ label: "Possible cards", pick });
  deck.element.classList.add("mean");
  const byName = new Map(rows.map((row) => [row[0], row]));
  deck.draw((name) => (byName.has(name) ? "free" : "gone"));
  for (const [name, row] of byName) {
    if (moves.length) deck.buttons.get(name)?.append(moveBar(moves.map((move) => move.name), moves.map((move) => row[move.k] ?? 0), { thin: true }));
  }
  return deck.element;
}

export const TABS = [
  { name: "hands", title: "Hands", draw: drawHands, picks: true, whole: true },
  { name: "groups", title: "Groups", draw: drawGroups, whole: true },
  { name: "graph", title: "Graph", draw: drawGraph },
  { name: "cards", title: "Cards", draw: drawCards },
  lockTab,
  compareTab,
];
