// The estimated cost of solving a spot: betting menus from the richest to the simplest, one of them proposed.

import * as api from "./api.js";
import { attempt, button, fill, h } from "./dom.js";
import { bytes, count, seconds } from "./figures.js";
import { openSpot } from "./opened_spot.js";
import { go } from "./place.js";
import { watchJob } from "./solve_panel.js";

/** What a menu leaves out in addition to the previous one. */
const menuWords = ({ left_out: left }) => (left.length ? `${left.length > 1 ? "also " : ""}without ${left.at(-1)}` : "all bet sizes");

const leftWords = ({ left_out: left }) => (left.length ? `Left out: ${left.join("; ")}.` : "Nothing is left out.");

const costWords = ({ bytes: size, seconds: time }) => (size === null ? "too large to estimate" : `${bytes(size)}, about ${seconds(time)}`);

/** Draw the proposal for a source into a box; only a click starts a solve. */
export async function drawProposal(box, source) {
  fill(box, h("section", { class: "sheet", "aria-label": "Proposal" }, h("p", { class: "soft", role: "status" }, "Estimating memory and time…")));
  let reply;
  try {
    reply = await api.proposal(source);
  } catch (error) {
    fill(box, h("section", { class: "sheet stack", "aria-label": "Proposal" }, h("p", { class: "bad", role: "alert" }, error.message),
      source.line === undefined ? null : h("small", {}, "The examples on the Study page are lines that the strategy plays.")));
    return;
  }
  let chosen = reply.chosen;
  const work = h("div");
  const left = h("p", { class: "soft", role: "status" }, chosen === null ? "" : leftWords(reply.candidates[chosen]));
  const solve = button("Solve", () => attempt(async () => {
    const { spot, dtype } = reply.candidates[chosen];
    const job = await api.startJob({ spot, dtype });
    solve.disabled = true;
    watchJob(work, job, { done: (ended) => go("study", { run: ended.name }) });
  }), { class: "main", disabled: chosen === null });
  const option = (candidate, k) => {
    const radio = h("input", { type: "radio", name: "menu", checked: k === chosen, disabled: !candidate.fits, on: { change: () => { chosen = k; fill(left, leftWords(candidate)); } } });
    const slow = candidate.fits && candidate.seconds > reply.seconds;
    return h("label", { class: candidate.fits ? "menu" : "menu soft" }, radio,
      h("span", {}, menuWords(candidate), h("small", {}, ` ${costWords(candidate)}${candidate.fits ? (slow ? ": slow" : "") : ": too much memory"}`)));
  };
  const none = `Every menu needs more than the ${bytes(reply.memory)} that jobs may use. Start on a later street, or start the server with more memory: riverboat serve --memory.`;
  fill(box, h("section", { class: "sheet stack", "aria-label": "Proposal" },
    h("header", {}, h("h2", {}, `Solve ${reply.name}`), h("small", {}, `pot ${count(reply.pot)} · behind ${count(reply.stack)} · ${count(reply.hands.oop)} and ${count(reply.hands.ip)} hands · memory limit ${bytes(reply.memory)}`)),
    h("div", { class: "stack tight", role: "radiogroup", "aria-label": "Bet sizes" }, reply.candidates.map(option)),
    left, reply.notes.map((note) => h("small", {}, note)),
    chosen === null ? h("p", { class: "bad", role: "alert" }, none) : null,
    h("div", { class: "row" }, solve, button("Edit the spot", () => openSpot(reply.candidates[chosen ?? reply.candidates.length - 1])),
      button("Close", () => fill(box), { class: "quiet" })), work));
  box.scrollIntoView({ block: "nearest" });
}
