// Jobs that are not done: those that wait, run, were stopped or failed, with what can be done about them.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { jobLine } from "./solve_panel.js";

function jobRow(job) {
  const alive = ALIVE.includes(job.state);
  const act = (text, work) => button(text, () => attempt(work), { class: "small", "aria-label": `${text} ${job.name}` });
  return h("div", { class: "job-row" },
    h("div", { class: "row" }, h("b", {}, job.name), job.facts.board ? cards(splitBoard(job.facts.board), true) : null),
    h("div", { class: "soft" }, jobLine(job), job.state === "failed" ? h("div", { class: "bad" }, job.message) : null),
    h("div", { class: "row" }, alive ? act("Stop", () => api.stopJob(job.name)) : act("Go on", () => api.resumeJob(job.name)),
      job.last ? act("Open", () => go("study", { run: job.name })) : null, alive ? null : act("Delete", () => api.removeJob(job.name))));
}

/** A list that follows the server; `ended()` when a job is done. Call `close()` when it is no longer shown. */
export class JobList {
  constructor(ended = () => {}) {
    this.element = h("section", { class: "sheet", hidden: true, "aria-label": "Jobs" });
    let before = null;
    this.close = api.followAll((jobs) => {
      const open = jobs.filter((job) => job.state !== "done");
      this.element.hidden = !open.length;
      fill(this.element, h("header", {}, h("h2", {}, "Jobs")), open.map(jobRow));
      if (before !== null && open.length < before) ended();
      before = open.length;
    });
  }
}
