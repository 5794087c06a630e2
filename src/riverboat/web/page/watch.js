// Watch: running solves and training runs, of this server or of a terminal; several in one plot.

import * as api from "./api.js";
import { LINES, lineChart } from "./charts.js";
import { attempt, button, fill, h } from "./dom.js";
import { ago, bytes, count, seconds, short } from "./figures.js";
import { go } from "./place.js";
import { PreflopChart } from "./preflop_chart.js";
import { wasLeft } from "./scope.js";
import { WORDS } from "./solve_panel.js";

const EVERY = 2000; // ms between two polls
const CHARTS = [
  { key: "exploitability", title: "Exploitability", log: true },
  { key: "visits", title: "Visits", log: false },
  { key: "strength", title: "Strength against snapshots", log: false },
  { key: "memory", title: "Memory", log: false, show: bytes },
];

/** Whether the durations of runs differ so much that a logarithmic axis is needed. */
function unlike(lines) {
  const ends = lines.map((line) => line.points.at(-1)[0]).filter((end) => end > 0);
  return ends.length > 1 && Math.max(...ends) > 20 * Math.min(...ends);
}

class Watch {
  constructor(root, signal) {
    this.params = {};
    this.list = h("div", { class: "runs", role: "group", "aria-label": "Runs" }, h("p", { class: "empty", role: "status" }, "Loading…"));
    this.problem = h("p", { class: "bad", role: "alert" });
    this.charts = h("div", { class: "charts" });
    this.facts = h("div", { class: "stack" });
    this.preflop = new PreflopChart();
    fill(root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, "Watch"), h("p", { class: "soft" }, "Runs of this server, and of terminals that write to its data folder. Choose one, or several to compare.")),
      h("div", { class: "watching" }, this.list, h("div", { class: "stack" }, this.problem, this.facts, this.charts, this.preflop.element))));
    const timer = setInterval(() => this.#poll(), EVERY);
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  get chosen() {
    return (this.params.runs ?? "").split(",").filter(Boolean);
  }

  async update(params) {
    this.params = params;
    await this.look("Listing the runs");
  }

  /** Update everything that may have changed; show errors next to the last known state. */
  async #poll() {
    if (document.hidden || this.polling) return;
    this.polling = true;
    try {
      await this.look();
    } catch (error) {
      if (!wasLeft(error)) fill(this.problem, error.message);
    } finally {
      this.polling = false;
    }
  }

  async look(label = "") {
    const token = (this.token = {});
    const runs = await api.runs(label);
    if (!this.chosen.length) {
      const first = runs.find((run) => run.running) ?? runs.find((run) => run.kind !== "other");
      if (first) this.params = { ...this.params, runs: first.name };
    }
    const [known, unknown] = [true, false].map((there) => this.chosen.filter((name) => runs.some((run) => run.name === name) === there));
    const series = await Promise.all(known.map(async (name) => ({ name, ...(await api.series(name)) })));
    if (this.token !== token) return; // a newer request is pending
    this.runs = runs;
    const problem = unknown.length ? `There is no run ${unknown.join(", ")} in the data folder. Choose one from the list.` : "";
    if (this.problem.textContent !== problem) fill(this.problem, problem);
    this.#draw(series);
  }

  #toggle(name) {
    const there = this.chosen.filter((one) => this.runs.some((run) => run.name === one));
    const chosen = there.includes(name) ? there.filter((one) => one !== name) : [...there, name];
    go("watch", { runs: chosen.join(",") }, { replace: true });
  }

  #draw(series) {
    fill(this.list, this.runs.length ? this.runs.map((run) => this.#card(run)) : h("p", { class: "empty" }, "There are no runs in the data folder yet."));
    fill(this.facts, series.map((one, k) => this.#runSheet(one, k)));
    const drawn = CHARTS.map((chart) => {
      const lines = series.map((one, k) => ({ name: one.name, colour: LINES[k % LINES.length], points: one.rows.filter((row) => Number.isFinite(row[chart.key])).map((row) => [row.seconds, row[chart.key]]) })).filter((line) => line.points.length > 1);
      if (!lines.length) return null;
      const unit = series.find((one) => one.rows.some((row) => Number.isFinite(row[chart.key])))?.units?.[chart.key] ?? "";
      return h("section", { class: "sheet" }, h("header", {}, h("h2", {}, chart.title), h("small", {}, unit)), lineChart(lines, { label: chart.title, logY: chart.log, logX: unlike(lines), showX: seconds, showY: chart.show ?? short }));
    });
    fill(this.charts, drawn);
    const blueprint = series.find((one) => this.runs.find((run) => run.name === one.name)?.kind === "blueprint");
    this.preflop.show(blueprint?.name ?? null, blueprint?.rows.at(-1)?.iteration);
  }

  #card(run) {
    const chosen = this.chosen.includes(run.name);
    return h("button", { type: "button", class: "run", "aria-pressed": chosen, on: { click: () => this.#toggle(run.name) } },
      h("div", { class: "spread" }, h("b", {}, run.name), run.running ? h("span", { class: "badge live" }, "running") : run.state ? h("span", { class: "badge" }, WORDS[run.state] ?? run.state) : null),
      h("small", {}, [run.kind, run.changed ? ago(run.changed) : ""].filter(Boolean).join(" · ")));
  }

  #runSheet(one, k) {
    const run = this.runs.find((each) => each.name === one.name);
    const last = one.rows.at(-1) ?? {};
    const figure = (name, value) => (value === "–" ? null : h("div", {}, h("b", {}, value), h("small", {}, name)));
    return h("section", { class: "sheet" }, h("header", {}, h("h2", {}, h("span", { class: "key", style: { "--move": LINES[k % LINES.length] } }), one.name),
      h("div", { class: "row" }, run?.job && run.running ? button("Stop", () => attempt(() => api.stopJob(one.name)), { class: "small" }) : null,
        run?.kind === "solution" || run?.kind === "blueprint" ? button("Open", () => go("study", { run: one.name }), { class: "small" }) : null)),
      h("div", { class: "numbers" }, figure("iterations", count(last.iteration)), figure("elapsed", seconds(last.seconds)), figure(one.units?.exploitability ? `exploitability, ${one.units.exploitability}` : "exploitability", short(last.exploitability)),
        figure("visits", short(last.visits)), figure("memory", bytes(one.memory ?? last.memory)), figure("remaining", seconds(one.seconds_left))));
  }
}

export const keeps = () => true;

export async function open(root, params, signal) {
  const page = new Watch(root, signal);
  await page.update(params);
  return page;
}
