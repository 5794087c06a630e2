// One spot on many boards: a table that sorts, with the means over all of them.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { button, download, fill, h } from "./dom.js";
import { go } from "./place.js";
import { figureTable } from "./tables.js";

const csv = (table) => [table.columns.map((column) => column.name), ...table.rows].map((row) => row.map((value) => (value === null ? "" : String(value))).join(",")).join("\n");

export async function openBoards(root, params) {
  const table = await api.aggregate(params.run);
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, params.run), h("p", { class: "soft" }, table.title ?? "Every board, and the means over all of them")),
      h("div", { class: "row" }, button("CSV", () => download(`${params.run.replaceAll("/", "-")}.csv`, csv(table), "text/csv")), button("JSON", () => download(`${params.run.replaceAll("/", "-")}.json`, JSON.stringify(table, null, 1), "application/json")), button("Back", () => go("study", {}), { class: "quiet" }))),
    h("section", { class: "sheet" }, figureTable({ ...table, label: "Boards", first: (name) => (name === "all" ? name : cards(splitBoard(name), true)) }))));
}
