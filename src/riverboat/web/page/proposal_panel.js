// What solving a spot would take, before anything is queued: menus from the richest to the leanest, one of them proposed.

import * as api from "./api.js";
import { attempt, button, fill, h } from "./dom.js";
import { bytes, count, seconds } from "./figures.js";
import { openSpot } from "./opened_spot.js";
import { go } from "./place.js";
import { watchJob } from "./solve_panel.js";

/** What a menu leaves out beside what the one before it does. */
const menuWords = ({ left_out: left }) => (left.length ? `${left.length > 1 ? "also " : ""}without ${left.at(-1)}` : "all sizes of the strategy");

const leftWords = ({ left_out: left }) => (left.length ? `Left out: ${left.join("; ")}.` : "Nothing is left out.");

const costWords = ({ bytes: size, seconds: time }) => (size === null ? "too large to be counted" : `${bytes(size)}, about ${seconds(time)}`);

/** Draw the proposal for a source into a box; nothing is solved before a click. */
export async function drawProposal(box, source) {
  fill(box, h("section", { class: "sheet", "aria-label": "Proposal" }, h("p", { class: "soft", role: "status" }, "Estimating memory and time…")));
  let told;
  try {
    told = await api.proposal(source);
  } catch (error) {
    fill(box, h("section", { class: "sheet stack", "aria-label": "Proposal" }, h("p", { class: "bad", role: "alert" }, error.message),
      source.line === undefined ? null : h("small", {}, "The examples of Study are lines that the strategy plays.")));
    return;
  }
  let chosen = told.chosen;
  const work = h("div");
  const left = h("p", { class: "soft", role: "status" }, chosen === null ? "" : leftWords(told.candidates[chosen]));
  const solve = button("Solve", () => attempt(async () => {
    const { spot, dtype } = told.candidates[chosen];
    const job = await api.startJob({ spot, dtype });
    solve.disabled = true;
    watchJob(work, job, { done: (ended) => go("study", { run: ended.name }) });
  }), { class: "main", disabled: chosen === null });
  const option = (candidate, k) => {
    const radio = h("input", { type: "radio", name: "menu", checked: k === chosen, disabled: !candidate.fits, on: { change: () => { chosen = k; fill(left, leftWords(candidate)); } } });
    const slow = candidate.fits && candidate.seconds > told.seconds;
    return h("label", { class: candidate.fits ? "menu" : "menu soft" }, radio,
      h("span", {}, menuWords(candidate), h("small", {}, ` ${costWords(candidate)}${candidate.fits ? (slow ? ": slow" : "") : ": does not fit"}`)));
  };
  const none = `No menu fits into the ${bytes(told.memory)} that jobs may take here. Begin on a later street, or start the server with more: riverboat serve --memory.`;
  fill(box, h("section", { class: "sheet stack", "aria-label": "Proposal" },
    h("header", {}, h("h2", {}, `Solve ${told.name}`), h("small", {}, `pot ${count(told.pot)} · behind ${count(told.stack)} · ${count(told.hands.oop)} and ${count(told.hands.ip)} hands · jobs may take ${bytes(told.memory)}`)),
    h("div", { class: "stack tight", role: "radiogroup", "aria-label": "Sizes" }, told.candidates.map(option)),
    left, told.notes.map((note) => h("small", {}, note)),
    chosen === null ? h("p", { class: "bad", role: "alert" }, none) : null,
    h("div", { class: "row" }, solve, button("Change it first", () => openSpot(told.candidates[chosen ?? told.candidates.length - 1])),
      button("Close", () => fill(box), { class: "quiet" })), work));
  box.scrollIntoView({ block: "nearest" });
}
