// Comparison of two solutions at the same line: grids of the player to act side by side, and tables of differences.

import * as api from "./api.js";
import { attempt, fill, h } from "./dom.js";
import { go } from "./place.js";
import { load } from "./study_problem.js";
import { figureTable } from "./tables.js";

async function drawDifferences(box, reader) {
  const { moves, sides, cells } = await api.compare(reader.params.run, reader.params.with, reader.node.line);
  const section = (title, table) => [h("h3", {}, title), figureTable({ ...table, label: title })];
  fill(box, section("Moves", moves), section("Players", sides), section("Hands by change of strategy", cells));
}

function draw(reader) {
  const choose = h("select", { "aria-label": "The other solution", on: { change: () => go("study", { ...reader.params, with: choose.value }, { replace: true }) } },
    h("option", { value: "" }, "Choose another solution…"));
  attempt(async () => {
    const others = (await api.runs()).filter((run) => run.kind === "solution" && run.ready && run.name !== reader.params.run);
    choose.append(...others.map((run) => h("option", { value: run.name, selected: run.name === reader.params.with }, `${run.name}  ${run.board ?? ""}`)));
  });
  const box = h("div", { class: "stack" }, h("p", { class: "empty" }, reader.other ? "…" : "Shows the same line in both solutions: the second grid is that of the other solution."));
  if (reader.other) load(box, () => drawDifferences(box, reader));
  return [choose, box];
}

export const compareTab = { name: "compare", title: "Compare", draw };
