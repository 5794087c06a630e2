// Sortable tables for the report tables of the server.

import { fill, h } from "./dom.js";
import { chips, combos, moveWords, percent, short } from "./figures.js";

const KINDS = { share: percent, chips, count: combos, figure: short };

export const showCell = (value, kind) =>
  value === null || value === undefined ? "–" : typeof value === "number" ? (KINDS[kind] ?? short)(value) : String(value);

/** Titles of columns; columns of moves show the move in words. */
const titleOf = ({ name, title, kind }) => (kind === "share" && /^[fxcbrak]\d*$/.test(name) ? moveWords(name) : (title ?? name));

/** A table: `columns: [{ name, title, kind }]`, `rows: [[…], …]`. `pick(row)` on a click; a row named `all` stays last. */
export function figureTable({ columns, rows, label, pick = null, first = null, sort = null }) {
  let order = sort ?? { column: -1, down: true };
  const body = h("tbody");
  const heads = columns.map((column, k) => h("th", { scope: "col" }, h("button", { type: "button", on: { click: () => by(k) } }, titleOf(column))));
  const table = h("table", { class: "figures", "aria-label": label }, h("thead", {}, h("tr", {}, heads)), body);

  function by(k) {
    order = { column: k, down: order.column === k ? !order.down : typeof rows[0]?.[k] === "number" };
    draw();
  }

  function sorted() {
    if (order.column < 0) return rows;
    const value = (row) => row[order.column];
    const last = rows.filter((row) => row[0] === "all");
    const others = rows.filter((row) => row[0] !== "all").sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return (typeof x === "number" ? x - y : String(x).localeCompare(String(y))) * (order.down ? -1 : 1);
    });
    return [...others, ...last];
  }

  function draw() {
    heads.forEach((head, k) => {
      if (k === order.column) head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    fill(body, sorted().map((row) => h("tr", { class: row[0] === "all" ? "total" : null }, row.map((value, k) => {
      if (k > 0 || row[0] === "all") return h("td", {}, showCell(value, columns[k].kind));
      const shown = first ? first(value) : showCell(value, columns[k].kind);
      return h("td", {}, pick ? h("button", { type: "button", class: "quiet small", on: { click: () => pick(row) } }, shown) : shown);
    }))));
  }

  draw();
  return h("div", { class: "scroll tall" }, table);
}
