// A running job: its state, a convergence plot, stop and resume.

import * as api from "./api.js";
import { ALIVE } from "./api.js";
import { lineChart } from "./charts.js";
import { attempt, button, fill, h, say } from "./dom.js";
import { chips, count, seconds, short } from "./figures.js";

export const WORDS = { queued: "queued", running: "solving", stopping: "stopping", stopped: "stopped", done: "done", missed: "target not reached", failed: "failed" };

const unitOf = (check) => (check?.unit === "% of pot" || check?.unit === "%" || !check?.unit ? "% of the pot" : check.unit);

/** The state of a job in one line. */
export function jobLine(job) {
  const last = job.last;
  const parts = [WORDS[job.state] ?? job.state];
  if (last) parts.push(`iteration ${count(last.iteration)}`, seconds(last.seconds));
  if (last?.exploitability !== undefined && last.exploitability !== null) parts.push(`exploitability ${short(last.exploitability)} ${unitOf(last)}`);
  return parts.join(" · ");
}

/** Whether a job has results to show: a check, or solved boards. */
export const readable = (job) => Boolean(job.last) || (job.kind === "boards" && ["done", "missed", "stopped"].includes(job.state));

/** Draw a job into a box and follow it; calls `done(job)` when it has finished. Returns a function that stops following. */
export function watchJob(box, first, { done = () => {} } = {}) {
  let job = first;
  const checks = [];
  let leave = () => {};

  function draw() {
    const alive = ALIVE.includes(job.state);
    const ev = job.ev?.some((value) => value !== null) ? h("span", {}, `EV ${job.ev.map((value) => chips(value)).join(" and ")}`) : null;
    const points = checks.filter((check) => check.exploitability > 0).map((check) => [check.seconds, check.exploitability]);
    fill(box, h("section", { class: "sheet job", "aria-label": `Job ${job.name}` },
      h("header", {}, h("h2", {}, job.name), h("div", { class: "row" },
        alive ? button("Stop", () => attempt(async () => update(await api.stopJob(job.name))), { class: "small", disabled: job.state === "stopping" }) : null,
        ["stopped", "missed", "failed"].includes(job.state) ? button("Resume", () => attempt(async () => { update(await api.resumeJob(job.name)); begin(); }), { class: "small" }) : null,
        !alive && readable(job) ? button("Open", () => done(job), { class: "main small" }) : null)),
      h("div", { class: "row soft" }, h("span", { role: "status" }, jobLine(job)), ev),
      ["failed", "missed"].includes(job.state) && job.message ? h("p", { class: "bad" }, job.message) : alive && job.said ? h("small", {}, job.said) : null,
      points.length > 1 ? lineChart([{ name: "exploitability", points }], { label: "Exploitability", x: "seconds", y: `exploitability, ${unitOf(job.last)}`, logY: true, height: 170 }) : null));
  }

  function update(now) {
    job = now;
    if (now.last && now.last.iteration !== checks.at(-1)?.iteration) checks.push(now.last);
    draw();
  }

  function begin() {
    leave();
    leave = api.follow(job.name, (now) => {
      update(now);
      if (ALIVE.includes(now.state)) return;
      say(`${now.name} ${WORDS[now.state]}`);
      if (now.state === "done") done(now);
    });
  }

  update(job);
  begin();
  return () => leave();
}
