// What stands beside the grids: the figures of both players, the moves, and the hands of a cell.

import { CELL_NAMES } from "./cards.js";
import { combo } from "./card_parts.js";
import { h } from "./dom.js";
import { chips, combos, moveColours, moveWords, percent } from "./figures.js";

/** A bar with a piece for each move. */
export function moveBar(labels, shares, { thin = false, pick = null } = {}) {
  const colours = moveColours(labels);
  const pieces = labels.map((label, k) => {
    const style = { flex: `${Math.max(shares[k], 0)} 1 0`, background: colours[k] };
    const text = thin || shares[k] < 0.14 ? "" : `${moveWords(label)} ${percent(shares[k], 0)}`;
    if (!(shares[k] > 0.0005)) return null;
    return pick ? h("button", { type: "button", style, title: `${moveWords(label)} ${percent(shares[k])}`, on: { click: () => pick(label) } }, text) : h("div", { style }, text);
  });
  const told = labels.map((label, k) => `${moveWords(label)} ${percent(shares[k])}`).join(", ");
  return h("div", { class: thin ? "bar thin" : "bar", role: pick ? "group" : "img", "aria-label": told }, pieces);
}

/** Combos, EV, equity and EQR of both. */
export function bothSides(node) {
  const [first, second] = node.sides;
  const line = (name, show, key) => [h("span", {}, name), h("span", {}, show(first[key])), h("span", {}, show(second[key]))];
  return h("div", { class: "facts" },
    h("span", {}, ""), h("span", { class: `head ${first.name}` }, first.name.toUpperCase()), h("span", { class: `head ${second.name}` }, second.name.toUpperCase()),
    line("Combos", combos, "combos"), line("EV", chips, "ev"), line("Equity", percent, "equity"), line("EQR", (value) => percent(value, 0), "eqr"));
}

/** The moves at a node: how often, how many combos, what they are worth. */
export function moveTable(node, go) {
  const colours = moveColours(node.labels);
  const rows = node.moves.map((move, k) => h("tr", {},
    h("td", {}, h("button", { type: "button", class: "quiet small", on: { click: () => go(move.name) } },
      h("span", { class: "key", style: { "--move": colours[k] } }), moveWords(move.name))),
    h("td", {}, percent(move.frequency)), h("td", {}, combos(move.combos)), h("td", {}, chips(move.ev)), h("td", {}, percent(move.equity, 0))));
  return h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ["Move", "Often", "Combos", "EV", "Equity"].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows));
}

/** One tile for each hand of a cell. */
export function handTiles(side, node, cell) {
  const places = side.inCell[cell];
  if (!places.length) return h("p", { class: "empty" }, `${side.name} does not hold ${CELL_NAMES[cell]} here.`);
  const tile = (k) => {
    const shares = side.actions.map((_, a) => side.strategy[a][k] ?? 0);
    const moves = side.actions.map((label, a) => [h("dt", {}, `${moveWords(label)} ${percent(shares[a], 0)}`), h("dd", {}, chips(side.actionEv?.[a]?.[k] ?? null))]);
    const made = node.made?.[side.made?.[k]] ?? "";
    const draws = (node.draws ?? []).filter((_, which) => ((side.draws?.[k] ?? 0) >> which) & 1);
    return h("div", { class: "tile" },
      h("div", { class: "spread" }, combo(side.hands[k]), h("span", { class: "soft" }, percent(side.weight[k], 0))),
      side.actions.length ? moveBar(side.actions, shares, { thin: true }) : null,
      h("dl", {}, moves, h("dt", {}, "EV"), h("dd", {}, chips(side.handEv[k])), h("dt", {}, "Equity"), h("dd", {}, percent(side.handEquity[k])),
        side.handEqr ? [h("dt", {}, "EQR"), h("dd", {}, percent(side.handEqr[k], 0))] : null),
      made ? h("small", {}, [made, ...draws].join(", ")) : null);
  };
  const found = side.figures(places);
  return h("div", { class: "stack" },
    h("div", { class: "spread" }, h("h2", {}, h("span", { class: side.name }, side.name.toUpperCase()), ` ${CELL_NAMES[cell]}`),
      h("span", { class: "soft" }, `${combos(found.combos)} combos · EV ${chips(found.ev)} · equity ${percent(found.equity, 0)}`)),
    side.actions.length ? moveBar(side.actions, found.shares) : null,
    h("div", { class: "tiles" }, [...places].reverse().map(tile)));
}
