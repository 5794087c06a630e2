// Charts: what is done with each starting hand, decision by decision; two sources side by side; one picture to keep.

import * as api from "./api.js";
import { CELL_NAMES } from "./cards.js";
import { attempt, button, field, fill, h, input } from "./dom.js";
import { Grid } from "./grid.js";
import { readOrOffer } from "./offer.js";
import { go } from "./place.js";

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;

class Charts {
  constructor(root, agents) {
    this.root = root;
    this.lines = h("div", { class: "runs", role: "group", "aria-label": "Decisions" });
    this.grid = new Grid({ label: "Chart", pick: (cell) => this.#cell(cell) });
    this.other = new Grid({ label: "Chart of the other source", pick: (cell) => this.#cell(cell) });
    this.legend = h("div", { class: "legend" });
    this.title = h("h2", {}, "");
    this.facts = h("div", { class: "stack", "aria-live": "polite" });
    this.beside = h("section", { class: "sheet", hidden: true });
    this.spots = new Set(agents.filter((one) => one.kind === "spot").map((one) => one.name));
    const known = agents.filter((one) => ["blueprint", "spot", "tournament"].includes(one.kind)).map((one) => one.name);
    this.stacks = h("div", { class: "row" });
    const list = h("datalist", { id: "chart-sources" }, [...known, "push:10,10", "push:10,10,15?payouts=50,30,20"].map((value) => h("option", { value })));
    this.source = input({ list: "chart-sources", "aria-label": "Source", placeholder: "demo, a run, push:10,10" });
    this.against = input({ list: "chart-sources", "aria-label": "Compare with", placeholder: "nothing" });
    const show = () => go("charts", { source: this.source.value.trim(), against: this.against.value.trim() });
    this.keep = h("div", { class: "row" });
    for (const box of [this.source, this.against]) box.addEventListener("keydown", (event) => event.key === "Enter" && show());
    fill(root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, "Charts"), h("p", { class: "soft" }, "Preflop ranges of blueprints, decisions of solved spots, tournaments, and push or fold tables: stacks in the order of action, such as push:10,10,15?payouts=50,30,20&ante=0.1.")),
      h("section", { class: "sheet stack asks" }, list, h("div", { class: "row" }, h("div", { class: "grow" }, field("Source", this.source)), h("div", { class: "grow" }, field("Compare with", this.against)), button("Show", show, { class: "main" })), this.#offers(known), this.stacks),
      h("div", { class: "charting" }, this.lines, h("section", { class: "sheet stack" }, h("header", {}, this.title, this.keep), this.grid.element, this.legend, this.facts), this.beside)));
  }

  async update(params) {
    this.params = params;
    this.source.value = params.source ?? this.source.value;
    this.against.value = params.against ?? "";
    if (!params.source) return;
    const root = this.spots.has(params.source) ? (params.line ?? "") : ""; // a solved spot has more decisions than one list
    if (this.book?.source !== params.source || this.book.root !== root) {
      fill(this.title, `${params.source} is being read…`);
      const book = await attempt(() => this.#offered(params.source, () => api.chartBook(params.source, root), () => this.update(params)));
      fill(this.title, book ? "" : `No charts of ${params.source} yet`);
      if (!book) return;
      this.book = { ...book, root };
    }
    this.#states(params);
    const chosen = this.book.charts.find((one) => one.line === (params.line ?? "")) ?? this.book.charts[0];
    fill(this.lines, this.book.charts.map((one) => h("button", { type: "button", class: "run", "aria-pressed": one === chosen, on: { click: () => go("charts", { ...params, line: one.line }) } },
      h("div", { class: "spread" }, h("b", {}, one.line || "first decision"), h("span", { class: "badge" }, one.who)), this.#bar(one))));
    await this.#show(chosen, params);
  }

  /** Read charts; a push or fold table that is not solved yet is solved after a click. */
  #offered(source, read, again) {
    return readOrOffer(this.facts, read, {
      text: `${source} is not solved yet. That takes minutes the first time on a machine, seconds later.`, action: `Solve ${source}`,
      compute: () => api.solveCharts(source, ""), again });
  }

  /** What there is to begin with, where nothing is shown yet. */
  #offers(known) {
    const offers = [...known, "push:10,10", "push:10,10,15?payouts=50,30,20"];
    return h("div", { class: "row tags", role: "group", "aria-label": "Sources" }, offers.slice(0, 12).map((source) => button(source, () => go("charts", { source }), { class: "small" })));
  }

  /** Of a tournament: the stacks that the charts are for. */
  #states(params) {
    const { state, states } = this.book;
    if (!states.length) return fill(this.stacks);
    const base = params.source.split("?")[0];
    const to = (value) => go("charts", { ...params, source: `${base}?state=${value}`, line: value.split(",").length === state.split(",").length ? params.line : "" });
    const at = states.indexOf(state);
    const select = h("select", { "aria-label": "Stacks", on: { change: (event) => to(event.target.value) } }, states.map((one) => h("option", { value: one, selected: one === state }, one)));
    return fill(this.stacks, field("Stacks in units, in the order of action", select),
      button("◂", () => to(states[at - 1]), { class: "small", disabled: at <= 0, "aria-label": "The state before" }), button("▸", () => to(states[at + 1]), { class: "small", disabled: at >= states.length - 1, "aria-label": "The next state" }));
  }

  #bar(chart) {
    return h("div", { class: "bar thin", role: "img", "aria-label": chart.moves.map((move) => `${move} ${percent(chart.totals[move])}`).join(", ") },
      [...chart.moves].reverse().map((move) => h("div", { style: { flex: `${chart.totals[move]} 1 0`, background: chart.colours[move] } })));
  }

  async #show(about, params) {
    if (!about) return;
    const chart = await attempt(() => api.chart(params.source, about.line));
    if (!chart) return;
    this.chart = chart;
    fill(this.title, chart.title);
    fill(this.keep, ["png", "svg"].map((kind) => h("a", { class: "button small", href: api.pictureLink(params.source, [about.line], kind), target: "_blank", rel: "noopener" }, kind.toUpperCase())),
      h("a", { class: "button small", href: api.pictureLink(params.source, this.book.charts.slice(0, 12).map((one) => one.line), "png"), target: "_blank", rel: "noopener" }, "All in one"), button("Print", () => print(), { class: "small" }));
    this.#draw(this.grid, chart);
    fill(this.legend, chart.moves.map((move) => h("span", {}, h("span", { class: "key", style: { "--move": chart.colours[move] } }), `${move} ${percent(chart.totals[move])}`)));
    fill(this.facts, h("small", { class: "soft" }, "Choose a hand for its figures."));
    await this.#compare(params, about.line);
  }

  #draw(grid, chart) {
    const moves = [...chart.moves].reverse();
    grid.draw(CELL_NAMES.map((_, cell) => ({ weight: chart.weight[cell], shares: moves.map((move) => chart.strategy[move][cell]),
      words: moves.filter((move) => chart.strategy[move][cell] > 0.0005).map((move) => `${move} ${percent(chart.strategy[move][cell])}`).join(", ") })), moves.map((move) => chart.colours[move]));
  }

  async #compare(params, line) {
    this.beside.hidden = !params.against;
    this.change = null;
    if (!params.against) return;
    fill(this.beside, h("p", { class: "soft" }, `${params.against} is being worked out…`));
    const found = await attempt(() => this.#offered(params.against, () => Promise.all([api.chart(params.against, line), api.chartDifference(params.source, params.against, line)]), () => this.#compare(params, line)));
    this.beside.hidden = !found;
    if (!found) return;
    const [chart, change] = found;
    this.change = change;
    this.#draw(this.other, chart);
    const widest = [...change.apart.keys()].sort((a, b) => change.apart[b] - change.apart[a]).slice(0, 8).filter((cell) => change.apart[cell] > 0.005);
    fill(this.beside, h("header", {}, h("h2", {}, params.against), h("span", { class: "soft" }, `${percent(change.mean)} of hands are played otherwise`)), this.other.element,
      h("div", { class: "legend" }, widest.map((cell) => h("span", {}, `${CELL_NAMES[cell]} ${percent(change.apart[cell])}`))));
  }

  #cell(cell) {
    this.grid.select(cell);
    this.other.select(cell);
    const { chart, change } = this;
    if (!chart) return;
    fill(this.facts, h("h3", {}, CELL_NAMES[cell]), h("table", { class: "figures" }, h("tbody", {}, chart.moves.map((move) =>
      h("tr", {}, h("td", {}, move), h("td", {}, percent(chart.strategy[move][cell])), change ? h("td", {}, `${change.change[move]?.[cell] > 0 ? "+" : ""}${((change.change[move]?.[cell] ?? 0) * 100).toFixed(0)}`) : null)))));
  }
}

export async function open(root, params) {
  const page = new Charts(root, (await attempt(api.opponents)) ?? []);
  await page.update(params);
  return { update: (next) => page.update(next) };
}
