// Study: begin, build a spot, or read what was solved, by what the address says.

import * as api from "./api.js";
import { attempt, fill, h } from "./dom.js";
import { openedSpot } from "./opened_spot.js";
import { problem } from "./study_problem.js";

/** What the address asks for: `start`, `form`, or the kind of reading that fits a run. */
async function pageOf(params) {
  if (params.new) return "form";
  if (!params.run) return "start";
  if (params.run.includes("?")) return "agent"; // its options may make it compute: only a click does that
  if (["demo", "default"].includes(params.run)) return "blueprint"; // of the machine
  const run = (await api.runs()).find((one) => one.name === params.run);
  if (run && !run.ready) return "waiting";
  if (run?.kind === "boards") return "boards";
  return run?.kind === "blueprint" ? "blueprint" : "solution";
}

async function formOf(root, params) {
  const { SpotForm } = await import("./spot_form.js");
  const form = new SpotForm(root);
  if (params.from === "opened") {
    const spot = openedSpot();
    if (spot) form.write(spot);
  } else if (params.from) await attempt(async () => form.write((await api.readSpot({ run: params.from })).spot));
  return { close: () => form.close() };
}

async function readerOf(root, params, whole = false) {
  const { Reader } = await import("./reader.js");
  const reader = new Reader(root, params, whole);
  await reader.update(params);
  return reader;
}

const OPEN = {
  start: async (root) => (await import("./study_start.js")).openStart(root),
  form: formOf,
  solution: (root, params) => readerOf(root, params),
  blueprint: (root, params) => readerOf(root, params, true),
  agent: async (root, params) => (await import("./study_waiting.js")).openAgent(root, params, () => readerOf(root, params, true)),
  waiting: async (root, params, again) => (await import("./study_waiting.js")).openWaiting(root, params, again),
  boards: async (root, params) => (await import("./boards_report.js")).openBoards(root, params),
};

/** Whether an open page can show other parameters itself: another node of the same run. */
const same = (old, params) => old.run === params.run && Boolean(old.new) === Boolean(params.new) && !params.new;

export async function open(root, first) {
  let params = first;
  let held = null;
  async function draw() {
    held?.close?.();
    held = null;
    fill(root, h("p", { class: "empty" }, "…"));
    const asked = params;
    try {
      const opened = await OPEN[await pageOf(asked)](root, asked, draw);
      if (asked === params) held = opened;
      else opened?.close?.();
    } catch (error) {
      if (asked === params) fill(root, problem(error, [["Try again", draw]]));
    }
  }
  await draw();
  return {
    async update(next) {
      const old = params;
      params = next;
      if (same(old, next) && held?.update) await held.update(next);
      else await draw();
    },
    close: () => held?.close?.(),
  };
}
