// Summaries next to the grids: values of both players, the moves, and the hands of a cell.

import { CELL_NAMES } from "./cards.js";
import { combo } from "./card_parts.js";
import { h } from "./dom.js";
import { chips, combos, moveColours, moveTitle, moveWords, percent } from "./figures.js";

/** A bar with one segment per move. */
export function moveBar(labels, shares, { thin = false, pick = null, words = labels.map((label) => moveWords(label)) } = {}) {
  const colours = moveColours(labels);
  const pieces = labels.map((label, k) => {
    const style = { flex: `${Math.max(shares[k], 0)} 1 0`, background: colours[k] };
    const text = thin || shares[k] < 0.2 ? "" : `${words[k]} ${percent(shares[k], 0)}`;
    if (!(shares[k] > 0.0005)) return null;
    return pick ? h("button", { type: "button", style, "aria-label": `${words[k]} ${percent(shares[k])}`, title: `${words[k]} ${percent(shares[k])}`, on: { click: () => pick(label) } }, text) : h("div", { style }, text);
  });
  const description = words.map((word, k) => `${word} ${percent(shares[k])}`).join(", ");
  return h("div", { class: thin ? "bar thin" : "bar", role: pick ? "group" : "img", "aria-label": description }, pieces);
}

/** Combos, EV, equity and EQR of both players. */
export function bothSides(node) {
  const [first, second] = node.sides;
  const line = (name, show, key) => (first[key] === null && second[key] === null) ? null : [h("span", {}, name), h("span", {}, show(first[key])), h("span", {}, show(second[key]))];
  return h("div", { class: "facts" },
    h("span", {}, ""), h("span", { class: `head ${first.name}` }, first.name.toUpperCase()), h("span", { class: `head ${second.name}` }, second.name.toUpperCase()),
    line("Combos", combos, "combos"), line("EV", chips, "ev"), line("Equity", percent, "equity"), line("EQR", (value) => percent(value, 0), "eqr"));
}

/** The moves at a node: frequency, combos, and EV and equity if known. */
export function moveTable(node, go) {
  const colours = moveColours(node.labels);
  const known = (key) => node.moves.some((move) => move[key] !== null);
  const columns = [["Frequency", "frequency", percent], ["Combos", "combos", combos], ["EV", "ev", chips], ["Equity", "equity", (value) => percent(value, 0)]].filter(([, key]) => known(key));
  const rows = node.moves.map((move, k) => h("tr", {},
    h("td", {}, h("button", { type: "button", class: "quiet small", title: moveTitle(move.name, move), on: { click: () => go(move.name) } },
      h("span", { class: "key", style: { "--move": colours[k] } }), moveWords(move.name, move.kind))),
    columns.map(([, key, show]) => h("td", {}, show(move[key])))));
  return h("div", { class: "scroll" }, h("table", { class: "figures" }, h("thead", {}, h("tr", {}, ["Move", ...columns.map(([title]) => title)].map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, rows)));
}

/** Combos, EV and equity in one line, as far as they are known. */
export function meansLine({ combos: many, ev, equity }) {
  const known = (value) => value !== null && value !== undefined;
  return [`${combos(many)} combos`, known(ev) ? `EV ${chips(ev)}` : "", known(equity) ? percent(equity) : ""].filter(Boolean).join(" · ");
}

/** One tile for each hand of a cell. */
export function handTiles(side, node, cell) {
  const places = side.inCell[cell];
  if (!places.length) return h("p", { class: "empty" }, `${CELL_NAMES[cell]} is not in the range of ${side.name}.`);
  const tile = (k) => {
    const shares = side.actions.map((_, a) => side.strategy[a][k] ?? 0);
    const moves = side.words.map((words, a) => [h("dt", {}, `${words} ${percent(shares[a], 0)}`), h("dd", {}, side.actionEv.length ? chips(side.actionEv[a][k]) : "")]);
    const made = node.made?.[side.made?.[k]] ?? "";
    const draws = (node.draws ?? []).filter((_, which) => ((side.draws?.[k] ?? 0) >> which) & 1);
    return h("div", { class: "tile" },
      h("div", { class: "spread" }, combo(side.hands[k]), h("span", { class: "soft" }, percent(side.weight[k], 0))),
      side.actions.length ? moveBar(side.actions, shares, { thin: true }) : null,
      h("dl", {}, moves, [["EV", side.handEv, chips], ["Equity", side.handEquity, percent], ["EQR", side.handEqr, (value) => percent(value, 0)]]
        .filter(([, values]) => Number.isFinite(values[k])).map(([name, values, show]) => [h("dt", {}, name), h("dd", {}, show(values[k]))])),
      made ? h("small", {}, [made, ...draws].join(", ")) : null);
  };
  const found = side.figures(places);
  return h("div", { class: "stack" },
    h("div", { class: "spread" }, h("h2", {}, h("span", { class: side.name }, side.name.toUpperCase()), ` ${CELL_NAMES[cell]}`),
      h("span", { class: "soft" }, meansLine(found))),
    side.actions.length ? moveBar(side.actions, found.shares, { words: side.words }) : null,
    h("div", { class: "tiles" }, [...places].reverse().map(tile)));
}
