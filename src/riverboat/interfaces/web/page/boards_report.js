// One spot on many boards: a table that sorts, with the means over all of them.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { button, download, field, fill, h, input } from "./dom.js";
import { go } from "./place.js";
import { figureTable } from "./tables.js";

const csv = (table) => [table.columns.map((column) => column.name), ...table.rows].map((row) => row.map((value) => (value === null ? "" : String(value))).join(",")).join("\n");

export async function openBoards(root, params) {
  const table = await api.aggregate(params.run, params.line);
  const line = input({ value: params.line ?? "", placeholder: "as it was solved", "aria-label": "Line of the report", on: { keydown: (event) => event.key === "Enter" && show() } });
  const show = () => go("study", { run: params.run, line: line.value.trim() });
  const name = params.run.replaceAll("/", "-");
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, params.run), h("p", { class: "soft" }, table.title ?? "Every board, and the means over all of them")),
      h("div", { class: "row" }, button("CSV", () => download(`${name}.csv`, csv(table), "text/csv")), button("JSON", () => download(`${name}.json`, JSON.stringify(table, null, 1), "application/json")), button("Back", () => go("study", {}), { class: "quiet" }))),
    h("section", { class: "sheet" }, h("div", { class: "row" }, h("div", { class: "grow" }, field("Line, where solutions were kept; * for any card", line)), button("Report it", show, { class: "small" }))),
    h("section", { class: "sheet" }, figureTable({ ...table, label: "Boards", first: (board) => (board === "all" ? board : cards(splitBoard(board), true)) }))));
}
