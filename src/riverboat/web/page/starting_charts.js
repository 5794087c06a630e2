// Charts: strategies of starting hands by decision; two sources side by side; images to save.

import * as api from "./api.js";
import { CELL_NAMES } from "./cards.js";
import { isEmpty, named } from "./chart_names.js";
import { button, field, fill, h, input } from "./dom.js";
import { failure } from "./failure.js";
import { Grid } from "./grid.js";
import { go } from "./place.js";
import { wasLeft } from "./scope.js";

const PUSH = ["push:10,10", "push:10,10,15?payouts=50,30,20"]; // examples of push/fold tables
const FIRST = "default"; // shown if the address names no source

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 && share > 0 ? 1 : 0)} %`;
const status = (text) => h("p", { class: "empty", role: "status" }, text);

class Charts {
  constructor(root) {
    this.lines = h("div", { class: "runs", role: "group", "aria-label": "Decisions" });
    this.grid = new Grid({ label: "Chart", pick: (cell) => this.#cell(cell) });
    this.other = new Grid({ label: "Chart of the other source", pick: (cell) => this.#cell(cell) });
    this.legend = h("div", { class: "legend" });
    this.title = h("h2", {}, "");
    this.facts = h("div", { class: "stack", "aria-live": "polite" });
    this.comparison = h("section", { class: "sheet", hidden: true });
    this.stacks = h("div", { class: "row" });
    this.keep = h("div", { class: "row" });
    this.list = h("datalist", { id: "chart-sources" });
    this.offers = h("div", { class: "row tags", role: "group", "aria-label": "Sources" });
    this.source = input({ list: "chart-sources", "aria-label": "Source", placeholder: "default, a run, push:10,10" });
    this.against = input({ list: "chart-sources", "aria-label": "Compare with", placeholder: "nothing" });
    const show = () => this.#want({ source: this.source.value.trim(), against: this.against.value.trim() });
    for (const box of [this.source, this.against]) box.addEventListener("keydown", (event) => event.key === "Enter" && show());
    this.charting = h("div", { class: "charting" }, this.lines, h("section", { class: "sheet stack" }, h("header", {}, this.title, this.keep), this.grid.element, this.legend, this.facts), this.comparison);
    this.area = h("div", {}, status("Loading…"));
    fill(root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, "Charts"), h("p", { class: "soft" }, "Preflop ranges of blueprints, decisions of solved spots and tournaments, and push/fold tables: stacks in the order of action, such as push:10,10,15?payouts=50,30,20&ante=0.1.")),
      h("section", { class: "sheet stack asks" }, this.list, h("div", { class: "row" }, h("div", { class: "grow" }, field("Source", this.source)), h("div", { class: "grow" }, field("Compare with", this.against)), button("Show", show, { class: "main" })), this.offers, this.stacks), this.area));
  }

  /** Load the list of sources. */
  async load() {
    const agents = await api.opponents();
    const known = agents.filter((one) => ["blueprint", "spot", "tournament"].includes(one.kind)).map((one) => one.name);
    this.spots = new Set(agents.filter((one) => one.kind === "spot").map((one) => one.name));
    this.first = known.includes(FIRST) ? FIRST : "";
    fill(this.list, [...known, ...PUSH].map((value) => h("option", { value })));
    fill(this.offers, [...known, ...PUSH].slice(0, 12).map((source) => button(source, () => this.#want({ source }), { class: "small" })));
  }

  /** Show sources that the user has chosen. */
  #want(params) {
    Object.values(params).forEach(api.want);
    go("charts", params);
  }

  /** Show an address. The form always stays; below it are the charts or an error. */
  async update(address) {
    const params = { ...address, source: address.source ?? this.first };
    this.source.value = params.source;
    this.against.value = params.against ?? "";
    const root = this.spots.has(params.source) ? (params.line ?? "") : ""; // a solved spot has too many decisions for one list
    const other = this.book?.source !== params.source || this.book.root !== root;
    if (!params.source) return fill(this.area, status("Choose a source."));
    if (other || !this.charting.isConnected) fill(this.area, status(`Loading the charts of ${params.source}…`));
    try {
      if (other) this.book = { ...(await api.chartBook(params.source, root)), root };
      await this.#show(params);
    } catch (error) {
      if (wasLeft(error)) throw error;
      fill(this.area, failure(error, `${params.source} cannot be shown`, [["#charts", "Back to Charts"]]));
    }
    return undefined;
  }

  /** Draw one chart of the book: the title, the list and the grid. */
  async #show(params) {
    const groups = named(this.book.charts);
    const all = groups.flatMap((group) => group.charts);
    const chosen = params.line === undefined ? all[0] : all.find((one) => one.chart.line === params.line);
    if (!chosen) throw new Error(`${params.source} has no chart for the line ${JSON.stringify(params.line ?? "")}.`);
    const { line } = chosen.chart;
    const chart = await api.chart(params.source, line);
    this.chart = { ...chart, words: Object.fromEntries(chart.moves.map((move, k) => [move, chosen.words[k]])) };
    this.#states(params);
    fill(this.lines, groups.map((group) => [group.title && groups.length > 1 ? h("h3", {}, group.title) : null, group.charts.map((one) =>
      h("button", { type: "button", class: "run", "aria-pressed": one === chosen, title: one.chart.line, on: { click: () => go("charts", { ...params, line: one.chart.line }) } },
        h("div", { class: "spread" }, h("b", {}, one.name), h("span", { class: "badge" }, one.seat)), this.#bar(one)))]));
    fill(this.title, chosen.title ?? chart.title);
    fill(this.keep, ["png", "svg"].map((kind) => h("a", { class: "button small", href: api.pictureLink(params.source, [line], kind), target: "_blank", rel: "noopener" }, kind.toUpperCase())),
      h("a", { class: "button small", href: api.pictureLink(params.source, all.slice(0, 12).map((one) => one.chart.line), "png"), target: "_blank", rel: "noopener" }, "All in one"), button("Print", () => print(), { class: "small" }));
    this.#draw(this.grid, this.chart);
    fill(this.legend, chart.moves.map((move) => h("span", {}, h("span", { class: "key", style: { "--move": chart.colours[move] } }), `${this.chart.words[move]} ${percent(chart.totals[move])}`)));
    fill(this.facts, h("small", { class: "soft" }, isEmpty(chart) ? "This decision is never reached, so there is no strategy for it." : "Click a hand to see its frequencies."));
    this.comparison.hidden = true;
    if (!this.charting.isConnected) fill(this.area, this.charting);
    await this.#compare(params, line);
  }

  /** The selector of stacks for tournaments. */
  #states(params) {
    const { state, states } = this.book;
    if (!states.length) return fill(this.stacks);
    const base = params.source.split("?")[0];
    const to = (value) => go("charts", { ...params, source: `${base}?state=${value}`, line: value.split(",").length === state.split(",").length ? params.line : "" });
    const at = states.indexOf(state);
    const select = h("select", { "aria-label": "Stacks", on: { change: (event) => to(event.target.value) } }, states.map((one) => h("option", { value: one, selected: one === state }, one)));
    return fill(this.stacks, field("Stacks in units, in the order of action", select),
      button("◂", () => to(states[at - 1]), { class: "small", disabled: at <= 0, "aria-label": "Previous state" }), button("▸", () => to(states[at + 1]), { class: "small", disabled: at >= states.length - 1, "aria-label": "Next state" }));
  }

  #bar({ chart, words }) {
    return h("div", { class: "bar thin", role: "img", "aria-label": chart.moves.map((move, k) => `${words[k]} ${percent(chart.totals[move])}`).join(", ") },
      [...chart.moves].reverse().map((move) => h("div", { style: { flex: `${chart.totals[move]} 1 0`, background: chart.colours[move] } })));
  }

  #draw(grid, chart) {
    const moves = [...chart.moves].reverse();
    grid.draw(CELL_NAMES.map((_, cell) => ({ weight: chart.weight[cell], shares: moves.map((move) => chart.strategy[move][cell]),
      words: moves.filter((move) => chart.strategy[move][cell] > 0.0005).map((move) => `${chart.words?.[move] ?? move} ${percent(chart.strategy[move][cell])}`).join(", ") })), moves.map((move) => chart.colours[move]));
  }

  async #compare(params, line) {
    this.comparison.hidden = !params.against;
    this.change = null;
    if (!params.against) return;
    fill(this.comparison, status(`Comparing with ${params.against}…`));
    try {
      const [chart, change] = [await api.chart(params.against, line), await api.chartDifference(params.source, params.against, line)];
      this.change = change;
      this.#draw(this.other, chart);
      const widest = [...change.apart.keys()].sort((a, b) => change.apart[b] - change.apart[a]).slice(0, 8).filter((cell) => change.apart[cell] > 0.005);
      fill(this.comparison, h("header", {}, h("h2", {}, params.against), h("span", { class: "soft" }, `${percent(change.mean)} of hands are played differently`)), this.other.element,
        h("div", { class: "legend" }, widest.map((cell) => h("span", {}, `${CELL_NAMES[cell]} ${percent(change.apart[cell])}`))));
    } catch (error) {
      if (wasLeft(error)) throw error;
      fill(this.comparison, failure(error, `${params.against} cannot be shown`, []));
    }
  }

  #cell(cell) {
    this.grid.select(cell);
    this.other.select(cell);
    const { chart, change } = this;
    if (!chart) return;
    fill(this.facts, h("h3", {}, CELL_NAMES[cell]), h("table", { class: "figures" }, h("tbody", {}, chart.moves.map((move) =>
      h("tr", {}, h("td", {}, chart.words[move]), h("td", {}, percent(chart.strategy[move][cell])), change ? h("td", {}, `${change.change[move]?.[cell] > 0 ? "+" : ""}${((change.change[move]?.[cell] ?? 0) * 100).toFixed(0)}`) : null)))));
  }
}

export const keeps = () => true;

export async function open(root, params) {
  const page = new Charts(root);
  await page.load();
  await page.update(params);
  return page;
}
