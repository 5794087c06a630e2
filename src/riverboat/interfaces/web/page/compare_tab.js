// Two solutions at the same line: the player who acts, in both, side by side, and what differs.

import * as api from "./api.js";
import { attempt, fill, h } from "./dom.js";
import { chips, moveWords, percent } from "./figures.js";
import { go } from "./place.js";
import { CELL_NAMES } from "./cards.js";
import { figureTable } from "./tables.js";

function signed(value, show) {
  return value === null || Number.isNaN(value) ? "–" : `${value > 0 ? "+" : ""}${show(value)}`;
}

function differences(reader) {
  const { node, other } = reader;
  if (other.acting !== node.acting) return h("p", { class: "empty" }, "In the other solution somebody else acts here.");
  const who = Math.max(node.acting, 0);
  const labels = [...new Set([...node.labels, ...other.labels])];
  const share = (one, label) => one.moves.find((move) => move.name === label)?.frequency ?? 0;
  const rows = labels.map((label) => [moveWords(label), share(node, label), share(other, label), signed(share(other, label) - share(node, label), (x) => percent(x))]);
  const worth = node.sides.map((side, k) => [`EV ${side.name}`, chips(side.ev), chips(other.sides[k].ev), signed(other.sides[k].ev - side.ev, chips)]);
  const cells = CELL_NAMES.map((name, cell) => {
    const [mine, theirs] = [node, other].map((one) => one.sides[who].figures(one.sides[who].inCell[cell]));
    if (!(mine.combos > 0.005 && theirs.combos > 0.005)) return null;
    const moved = labels.reduce((sum, label) => sum + Math.abs((mine.shares[node.labels.indexOf(label)] ?? 0) - (theirs.shares[other.labels.indexOf(label)] ?? 0)), 0) / 2;
    return [name, moved, mine.ev, theirs.ev, theirs.ev === null || mine.ev === null ? null : theirs.ev - mine.ev];
  }).filter(Boolean);
  const kinds = [{ name: "", title: "Move" }, { name: "here", title: "Here", kind: "share" }, { name: "there", title: "There", kind: "share" }, { name: "by", title: "Change" }];
  const columns = [{ name: "Hand" }, { name: "Moved", kind: "share" }, { name: "EV here", kind: "chips" }, { name: "EV there", kind: "chips" }, { name: "Change", kind: "chips" }];
  return [figureTable({ columns: kinds, rows: [...rows, ...worth], label: "Moves in both" }), h("h3", {}, "Where they differ"),
    figureTable({ columns, rows: cells, label: "Hands in both", sort: { column: 1, down: true } })];
}

function draw(reader) {
  const box = h("div", { class: "stack" });
  const choose = h("select", { "aria-label": "The other solution", on: { change: () => go("study", { ...reader.params, with: choose.value }, { replace: true }) } },
    h("option", { value: "" }, "Choose another solution…"));
  attempt(async () => {
    const all = await api.runs();
    const others = all.filter((run) => run.kind === "solution" && run.name !== reader.params.run);
    choose.append(...others.map((run) => h("option", { value: run.name, selected: run.name === reader.params.with }, `${run.name} ${run.board ?? ""}`)));
  });
  fill(box, choose, reader.other ? differences(reader) : h("p", { class: "empty" }, "The same line is read in both; the grid of who does not act makes room for the other solution."));
  return box;
}

export const compareTab = { name: "compare", title: "Compare", draw };
