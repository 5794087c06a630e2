// Jobs that are not done: queued and running ones, and in a second list those that were stopped, missed their target or failed.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { jobLine, readable } from "./solve_panel.js";

function jobRow(job) {
  const alive = ALIVE.includes(job.state);
  const act = (text, work) => button(text, () => attempt(work), { class: "small", "aria-label": `${text} ${job.name}` });
  return h("div", { class: "job-row" },
    h("div", { class: "row" }, h("b", {}, job.name), job.facts.board ? cards(splitBoard(job.facts.board), true) : null),
    h("div", { class: "soft" }, jobLine(job), job.state === "failed" ? h("div", { class: "bad" }, job.message) : null),
    h("div", { class: "row" }, alive ? act("Stop", () => api.stopJob(job.name)) : act("Resume", () => api.resumeJob(job.name)),
      readable(job) ? act("Open", () => go("study", { run: job.name })) : null, alive ? null : act("Delete", () => api.removeJob(job.name))));
}

/** Lists that follow the server; `changed()` is called when a job starts or ends. Call `close()` when they are not shown any more. */
export class JobList {
  constructor(changed = () => {}) {
    const sheet = (name) => h("section", { class: "sheet", hidden: true, "aria-label": name });
    const running = sheet("Running jobs");
    const ended = sheet("Jobs that ended early");
    this.element = h("div", { class: "stack" }, running, ended);
    let before = null;
    const show = (box, title, jobs) => {
      box.hidden = !jobs.length;
      fill(box, h("header", {}, h("h2", {}, title)), jobs.map(jobRow));
    };
    this.close = api.followAll((jobs) => {
      show(running, "Running", jobs.filter((job) => ALIVE.includes(job.state)));
      show(ended, "Stopped, missed or failed", jobs.filter((job) => !ALIVE.includes(job.state) && job.state !== "done"));
      const now = jobs.map((job) => `${job.name} ${job.state}`).join();
      if (before !== null && now !== before) changed();
      before = now;
    });
  }
}
