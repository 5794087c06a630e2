// Where studying begins: a new spot, a file, a table state, a line of a blueprint, or what was solved before.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, field, fill, h, input } from "./dom.js";
import { ago, short } from "./figures.js";
import { JobList } from "./job_list.js";
import { openSpot } from "./opened_spot.js";
import { go } from "./place.js";
import { WORDS } from "./solve_panel.js";

const MOST = 256 * 1024; // of a spot file

/** A file that the reader chose becomes a spot in the form. */
async function openFile(file) {
  if (file.size > MOST) throw new Error(`${file.name}: larger than ${MOST / 1024} kB, which no spot file is`);
  const told = await api.readSpot({ text: await file.text() });
  openSpot(told);
}

function fromFile() {
  const chosen = h("input", { type: "file", accept: ".toml,.txt,.json", class: "unseen", "aria-label": "A spot file", on: { change: () => chosen.files[0] && attempt(() => openFile(chosen.files[0])) } });
  const text = h("textarea", { rows: 2, placeholder: "or paste it here: TOML, or another solver's file", "aria-label": "The text of a spot file" });
  return h("section", { class: "sheet stack" }, h("h2", {}, "A file"), h("div", { class: "row" }, button("Choose a file…", () => chosen.click()), chosen),
    text, button("Open the text", () => attempt(async () => openSpot(await api.readSpot({ text: text.value }))), { class: "small" }));
}

function fromTable(blueprints) {
  const state = input({ placeholder: "MATCHSTATE:1:30:cr300c/cc/:|9s8h/8c8d5c/6s", "aria-label": "Table state" });
  const agent = agents(blueprints);
  const open = () => attempt(async () => openSpot(await api.readSpot({ state: state.value.trim(), agent: agent.value, floor: 0.02 })));
  return h("section", { class: "sheet stack" }, h("h2", {}, "A table state"), field("State, as in the ACPC protocol", state), field("Ranges by", agent), button("Open", open, { class: "small" }));
}

function agents(blueprints) {
  return h("select", { "aria-label": "Whose ranges" }, blueprints.map((run) => h("option", { value: run.name }, run.name)), ["rule-based", "random"].map((name) => h("option", { value: name }, name)));
}

function fromBlueprint(blueprints) {
  if (!blueprints.length) return h("section", { class: "sheet stack" }, h("h2", {}, "A blueprint's line"), h("p", { class: "soft" }, "There is no blueprint yet: riverboat demo makes one in three minutes, riverboat train others."));
  const which = h("select", { "aria-label": "Blueprint" }, blueprints.map((run) => h("option", { value: run.name }, run.name)));
  const line = input({ placeholder: "cr300c/", "aria-label": "Line" });
  const board = input({ placeholder: "8c 8d 5c", "aria-label": "Board of the line" });
  return h("section", { class: "sheet stack" }, h("h2", {}, "A blueprint's line"), field("Blueprint", which),
    h("div", { class: "fields" }, field("Line", line), field("Board", board)),
    h("div", { class: "row" }, button("Read", () => go("study", { run: which.value, line: line.value.trim(), board: board.value.replace(/[\s,]/g, "") }), { class: "small" }),
      button("Solve from there", () => attempt(async () => openSpot(await api.readSpot({ line: line.value.trim(), board: board.value.trim(), agent: which.value, floor: 0.01 }))), { class: "small" })));
}

function runCard(run) {
  const state = run.state && run.state !== "done" ? h("span", { class: ALIVE.includes(run.state) ? "badge live" : "badge" }, WORDS[run.state] ?? run.state) : null;
  const figure = run.exploitability !== null && run.exploitability !== undefined ? `${short(run.exploitability)} ${run.unit ?? ""}` : "";
  const place = run.kind === "tournament" ? "charts?source" : "study?run";
  return h("a", { class: "run", href: `#${place}=${encodeURIComponent(run.name).replaceAll("%2F", "/")}` },
    h("div", { class: "spread" }, h("b", {}, run.name), state), run.board ? cards(splitBoard(run.board), true) : h("small", {}, run.game ?? run.kind),
    h("small", {}, [run.kind, figure, run.changed ? ago(run.changed) : ""].filter(Boolean).join(" · ")));
}

export async function openStart(root) {
  const list = h("div", { class: "runs" }, h("p", { class: "empty", role: "status" }, "Loading…"));
  const openers = h("div", { class: "openers" });
  async function draw() {
    const all = await api.runs();
    fill(list, all.length ? all.map(runCard) : h("p", { class: "empty" }, "Nothing yet. A new spot is a minute's work."));
    return all;
  }
  const jobs = new JobList(draw);
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, "Study"), h("p", { class: "soft" }, "Solve a spot without abstraction, and read it hand by hand.")), button("New spot", () => go("study", { new: "1" }), { class: "main" })),
    jobs.element, h("h2", {}, "Solved"), list, h("h2", {}, "Open"), openers));
  await draw();
  const blueprints = ((await attempt(api.opponents)) ?? []).filter((agent) => agent.kind === "blueprint").sort((a, b) => (a.name === "demo") - (b.name === "demo")); // demo too, after those of the data folder
  fill(openers, fromFile(), fromTable(blueprints), fromBlueprint(blueprints));
}
