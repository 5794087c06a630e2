// Names that are not read at once: an agent with options, which may compute for long, and a run that has nothing to read yet.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { problem } from "./study_problem.js";
import { watchJob } from "./solve_panel.js";

/** What an agent with options is. Nothing is computed before the click; `read()` then opens it. */
export async function openAgent(root, params, read) {
  const [base, ...rest] = params.run.split("?");
  const options = rest.join("?").split("&").filter(Boolean);
  let held = null;
  const open = button("Show what it plays", () => attempt(async () => { held = await read(); }), { class: "main" });
  fill(root, h("section", { class: "sheet stack", "aria-label": "Agent" }, h("h1", {}, params.run),
    h("p", {}, `The agent ${base} with the options ${options.join(", ")}.`),
    h("p", { class: "soft" }, "An agent with options may solve parts of the game before it answers, which takes time and memory. Nothing has been computed yet."),
    h("div", { class: "row" }, open, button(`Read ${base} itself`, () => go("study", { ...params, run: base })), button("All of Study", () => go("study", {}), { class: "quiet" }))));
  return { update: (next) => held?.update(next), close: () => held?.close() };
}

/** A run that has nothing to read yet: its job, or who writes it. `again()` draws the page once more. */
export async function openWaiting(root, params, again) {
  const job = (await api.jobs()).find((one) => one.name === params.run);
  if (!job) {
    fill(root, problem(new Error(`${params.run}: nothing can be read from this run yet. If a terminal is writing it, wait for its first checkpoint; else it was broken off before that.`),
      [["Try again", again], ["Watch it", () => go("watch", { runs: params.run })]]));
    return {};
  }
  const box = h("div");
  fill(root, h("div", { class: "stack" }, h("h1", {}, params.run), h("p", { class: "soft" }, ALIVE.includes(job.state) ? "There is nothing to read yet. This page opens the run when it is solved." : "This run ended before there was anything to read. Go on takes it up again."), box,
    h("div", { class: "row" }, button("Try again", again), button("All of Study", () => go("study", {}), { class: "quiet" }))));
  return { close: watchJob(box, job, { done: again }) };
}
