// Study: the start page, the form for a spot, or a solved run, depending on the address.

import * as api from "./api.js";
import { openedSpot } from "./opened_spot.js";
import { again } from "./place.js";

/** The view for an address: `start`, `form`, or the view for the kind of run. */
async function pageOf(params) {
  if (params.new) return "form";
  if (!params.run) return "start";
  if (params.run.includes("?")) return "agent"; // its options may need computation, which only a click starts
  if (["demo", "default"].includes(params.run)) return "blueprint"; // outside the data folder
  const run = (await api.runs()).find((one) => one.name === params.run);
  if (run && !run.ready) return "waiting";
  if (run?.kind === "boards") return "boards";
  return run?.kind === "blueprint" ? "blueprint" : "solution";
}

async function formOf(root, params, signal) {
  const { SpotForm } = await import("./spot_form.js");
  signal.throwIfAborted();
  const form = new SpotForm(root);
  if (params.from === "opened") {
    const spot = openedSpot();
    if (spot) form.write(spot);
  } else if (params.from) form.write((await api.readSpot({ run: params.from })).spot);
}

async function readerOf(root, params, signal, whole = false) {
  const { Reader } = await import("./reader.js");
  signal.throwIfAborted();
  const reader = new Reader(root, params, whole);
  signal.addEventListener("abort", () => reader.close());
  await reader.update(params);
  return reader;
}

const OPEN = {
  start: async (root) => (await import("./study_start.js")).openStart(root),
  form: formOf,
  solution: (root, params, signal) => readerOf(root, params, signal),
  blueprint: (root, params, signal) => readerOf(root, params, signal, true),
  agent: async (root, params, signal) => (await import("./study_waiting.js")).openAgent(root, params, () => {
    api.want(params.run); // by a click
    return readerOf(root, params, signal, true);
  }),
  waiting: async (root, params) => (await import("./study_waiting.js")).openWaiting(root, params, again),
  boards: async (root, params) => (await import("./boards_report.js")).openBoards(root, params),
};

/** Whether an open page can show other parameters itself: another node of the same run. */
export const keeps = (old, params) => old.run === params.run && Boolean(old.new) === Boolean(params.new) && !params.new;

export async function open(root, params, signal) {
  return OPEN[await pageOf(params)](root, params, signal);
}
