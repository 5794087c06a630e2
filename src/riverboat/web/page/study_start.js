// The start page of Study: a new spot, a file, a match state, a line of a blueprint, or solved runs.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, field, fill, h, input } from "./dom.js";
import { ago, combos, short } from "./figures.js";
import { JobList } from "./job_list.js";
import { openSpot } from "./opened_spot.js";
import { go } from "./place.js";
import { drawProposal } from "./proposal_panel.js";
import { WORDS } from "./solve_panel.js";

const MOST = 256 * 1024; // most bytes of a spot file

/** Open a chosen file in the form. */
async function openFile(file) {
  if (file.size > MOST) throw new Error(`${file.name}: larger than ${MOST / 1024} kB, too large for a spot file`);
  const reply = await api.readSpot({ text: await file.text() });
  openSpot(reply);
}

function fromFile() {
  const chosen = h("input", { type: "file", accept: ".toml,.txt,.json", class: "unseen", "aria-label": "Spot file", on: { change: () => chosen.files[0] && attempt(() => openFile(chosen.files[0])) } });
  const text = h("textarea", { rows: 2, placeholder: "or paste it here: TOML, or another solver's file", "aria-label": "Spot file text" });
  return h("section", { class: "sheet stack" }, h("h2", {}, "Spot file"), h("div", { class: "row" }, button("Choose a file…", () => chosen.click()), chosen),
    text, button("Open the text", () => attempt(async () => openSpot(await api.readSpot({ text: text.value }))), { class: "small" }));
}

function fromTable(blueprints, box) {
  const state = input({ placeholder: "MATCHSTATE:…", "aria-label": "Match state" });
  const agent = agents(blueprints);
  const source = () => ({ state: state.value.trim(), agent: agent.value });
  const open = () => attempt(async () => openSpot(await api.readSpot({ ...source(), floor: 0.02 })));
  followExamples(agent, (examples) => { if (examples.length) state.placeholder = examples.at(-1).state; });
  return h("section", { class: "sheet stack" }, h("h2", {}, "Match state"), field("State in ACPC notation", state), field("Ranges from", agent),
    h("div", { class: "row" }, button("Open", open, { class: "small" }), button("Solve", () => attempt(() => drawProposal(box, { ...source(), floor: 0.02 })), { class: "small" })));
}

/** Load example lines of the chosen agent, also when the choice changes. */
function followExamples(choice, show) {
  const ask = () => attempt(async () => {
    const agentName = choice.value;
    const examples = await api.examples(agentName);
    if (choice.value === agentName) show(examples);
  });
  choice.addEventListener("change", ask);
  ask();
}

function agents(blueprints) {
  return h("select", { "aria-label": "Agent for the ranges" }, blueprints.map((run) => h("option", { value: run.name }, run.name)), ["rule-based", "random"].map((name) => h("option", { value: name }, name)));
}

function fromBlueprint(blueprints, box) {
  if (!blueprints.length) return h("section", { class: "sheet stack" }, h("h2", {}, "Blueprint line"), h("p", { class: "soft" }, "There is no blueprint yet: riverboat demo trains one in three minutes, riverboat train larger ones."));
  const which = h("select", { "aria-label": "Blueprint" }, blueprints.map((run) => h("option", { value: run.name }, run.name)));
  let taken = { line: "", board: "" }; // the example that was filled in
  const line = input({ "aria-label": "Line", on: { input: () => { if (board.value === taken.board) board.value = ""; } } }); // the board belongs to the example line
  const board = input({ "aria-label": "Board of the line" });
  const tags = h("div", { class: "tags", role: "group", "aria-label": "Examples" });
  // Never write into a field that has the focus: a letter typed at that moment would be appended to it.
  const untouched = () => ![line, board].includes(document.activeElement) && line.value === taken.line && board.value === taken.board;
  const take = (example) => {
    taken = { line: example.line, board: splitBoard(example.board).join(" ") };
    line.value = taken.line;
    board.value = taken.board;
  };
  followExamples(which, (examples) => {
    fill(tags, examples.map((example) => button(`${example.street}: ${example.line}`, () => take(example), { title: `${example.line} on ${example.board}: ${combos(example.combos.oop)} and ${combos(example.combos.ip)} combos` })));
    if (untouched()) take(examples[0] ?? { line: "", board: "" });
  });
  return h("section", { class: "sheet stack" }, h("h2", {}, "Blueprint line"), field("Blueprint", which),
    tags, h("div", { class: "fields" }, field("Line", line), field("Board", board)),
    h("div", { class: "row" }, button("Open the line", () => go("study", { run: which.value, line: line.value.trim(), board: board.value.replace(/[\s,]/g, "") }), { class: "small" }),
      button("Solve from here", () => attempt(() => drawProposal(box, { line: line.value.trim(), board: board.value.trim(), agent: which.value })), { class: "small" })));
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
  const elsewhere = h("section", { class: "stack", hidden: true, "aria-label": "Runs in terminals" });
  const openers = h("div", { class: "openers" });
  const box = h("div");
  async function draw() {
    const all = await api.runs();
    const running = all.filter((run) => run.running && !run.job); // jobs have their own list
    const solved = all.filter((run) => run.ready && !run.running && ["done", "missed"].includes(run.state));
    elsewhere.hidden = !running.length;
    fill(elsewhere, h("h2", {}, "Running in terminals"), h("div", { class: "runs" }, running.map(runCard)));
    fill(list, solved.length ? solved.map(runCard) : h("p", { class: "empty" }, "No solved spots yet. Start with a new spot."));
  }
  const jobs = new JobList(draw);
  fill(root, h("div", { class: "stack" },
    h("div", { class: "spread title" }, h("div", {}, h("h1", {}, "Study"), h("p", { class: "soft" }, "Solve a spot without abstraction, and study the solution hand by hand.")), button("New spot", () => go("study", { new: "1" }), { class: "main" })),
    jobs.element, elsewhere, h("section", { class: "stack", "aria-label": "Solved" }, h("h2", {}, "Solved"), list), h("h2", {}, "Open"), openers, box));
  await draw();
  const blueprints = ((await attempt(api.opponents)) ?? []).filter((agent) => agent.kind === "blueprint").sort((a, b) => (a.name === "demo") - (b.name === "demo")); // the demo comes last
  fill(openers, fromFile(), fromTable(blueprints, box), fromBlueprint(blueprints, box));
}
