// Names that cannot be shown immediately: an agent with options, which may need a long computation, and a run without results yet.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { problem } from "./study_problem.js";
import { watchJob } from "./solve_panel.js";

/** Describe an agent with options. Only a click starts the computation; `read()` then opens it. */
export async function openAgent(root, params, read) {
  const [base, ...rest] = params.run.split("?");
  const options = rest.join("?").split("&").filter(Boolean);
  let held = null;
  const open = button("Show its strategy", () => attempt(async () => { held = await read(); }), { class: "main" });
  fill(root, h("section", { class: "sheet stack", "aria-label": "Agent" }, h("h1", {}, params.run),
    h("p", {}, `The agent ${base} with the options ${options.join(", ")}.`),
    h("p", { class: "soft" }, "An agent with options may have to solve subgames first, which takes time and memory. Nothing has been computed yet."),
    h("div", { class: "row" }, open, button(`Open ${base} instead`, () => go("study", { ...params, run: base })), button("All of Study", () => go("study", {}), { class: "quiet" }))));
  return { update: (next) => held?.update(next), close: () => held?.close() };
}

/** A run without results yet: its job, or a hint about its writer. `again()` redraws the page. */
export async function openWaiting(root, params, again) {
  const job = (await api.jobs()).find((one) => one.name === params.run);
  if (!job) {
    fill(root, problem(new Error(`${params.run}: this run has no results yet. If a terminal is writing it, wait for the first checkpoint; otherwise it was interrupted before that.`),
      [["Try again", again], ["Watch the run", () => go("watch", { runs: params.run })]]));
    return {};
  }
  const box = h("div");
  fill(root, h("div", { class: "stack" }, h("h1", {}, params.run), h("p", { class: "soft" }, ALIVE.includes(job.state) ? "No results yet. This page opens the run when it is solved." : "This run ended without results. Resume continues it."), box,
    h("div", { class: "row" }, button("Try again", again), button("All of Study", () => go("study", {}), { class: "quiet" }))));
  return { close: watchJob(box, job, { done: again }) };
}
