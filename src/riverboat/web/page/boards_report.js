// One spot on many boards: a sortable table with the means.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { button, download, field, fill, h, input } from "./dom.js";
import { go } from "./place.js";
import { figureTable } from "./tables.js";

const csv = (table) => [table.columns.map((column) => column.name), ...table.rows].map((row) => row.map((value) => (value === null ? "" : String(value))).join(",")).join("\n");

export async function openBoards(root, first) {
  let params = first;
  let table = null; // the last table that was loaded
  const name = params.run.replaceAll("/", "-");
  const line = input({ placeholder: "as solved", "aria-label": "Line of the report", on: { keydown: (event) => event.key === "Enter" && show() } });
  const show = () => go("study", { run: params.run, line: line.value.trim() });
  const title = h("p", { class: "soft" });
  const wrong = h("p", { class: "bad", role: "alert", hidden: true });
  const box = h("section", { class: "sheet" }, h("p", { class: "soft", role: "status" }, "Reading…"));
  const save = (kind, text, type) => button(kind, () => table && download(`${name}.${kind.toLowerCase()}`, text(table), type));
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, params.run), title),
      h("div", { class: "row" }, save("CSV", csv, "text/csv"), save("JSON", (all) => JSON.stringify(all, null, 1), "application/json"), button("Back", () => go("study", {}), { class: "quiet" }))),
    h("section", { class: "sheet stack" }, h("div", { class: "row" }, h("div", { class: "grow" }, field("Line (needs saved solutions); * for any card", line)), button("Show report", show, { class: "small" })), wrong),
    box));

  /** Show the table of a line; on an error the previous table stays, and the reason is shown next to the line. */
  async function update(next) {
    params = next;
    line.value = params.line ?? "";
    try {
      const read = await api.aggregate(params.run, params.line);
      if (params !== next) return;
      table = read;
      wrong.hidden = true;
      fill(title, table.title ?? "All boards and their means");
      fill(box, figureTable({ ...table, label: "Boards", first: (board) => (board === "all" ? board : cards(splitBoard(board), true)) }));
    } catch (error) {
      if (params !== next) return;
      wrong.hidden = false;
      fill(wrong, error.message);
      if (!table) fill(box, h("p", { class: "empty" }, "There is nothing to report yet."));
    }
  }

  await update(params);
  return { update };
}
