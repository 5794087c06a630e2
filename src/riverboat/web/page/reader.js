// A solved spot, node by node: breadcrumb, both grids, and tabs for hands, groups, graph, runouts, locks and comparison.

import * as api from "./api.js";
import { Breadcrumb, joinLine } from "./breadcrumb.js";
import { cards } from "./card_parts.js";
import { CELL_NAMES } from "./cards.js";
import { attempt, button, choice, copy, fill, h, input, say } from "./dom.js";
import { chips, moveWords, percent } from "./figures.js";
import { Grid } from "./grid.js";
import { isDeal, keeper, readNode } from "./node_model.js";
import { go, link } from "./place.js";
import { drawProposal } from "./proposal_panel.js";
import { TABS } from "./reader_tabs.js";
import { Abandoned } from "./scope.js";
import { problem } from "./study_problem.js";
import { meansLine, moveBar } from "./summary_parts.js";

const VIEWS = [["strategy", "Strategy"], ["ev", "EV"], ["equity", "Equity"], ["weight", "Range"]];
const KEPT = 60; // cached nodes, so that a step back is drawn immediately

export class Reader {
  /** `whole`: a blueprint of a full game, with lines in ACPC notation. */
  constructor(root, params, whole = false) {
    this.params = params;
    this.whole = whole;
    this.node = null;
    this.cell = -1;
    this.who = 0; // player of the chosen cell
    this.view = "strategy";
    this.filters = { made: new Set(), draws: new Set(), equity: new Set() };
    this.seen = new Map();
    this.crumbs = new Breadcrumb((line) => this.#go(line), (names) => this.#deal(names));
    this.grids = [0, 1].map((who) => new Grid({ label: "Hands", pick: (cell) => this.pick(who, cell) }));
    this.heads = [0, 1].map(() => h("header"));
    this.bars = [0, 1].map(() => h("div", { class: "below" }));
    this.title = h("div", { class: "spread title" }, h("div", {}, h("h1", {}, params.run), h("p", { class: "soft", role: "status" }, "Reading…")));
    this.side = h("div", { class: "stack side" });
    this.tabs = choice("Panel", this.#shown().map((tab) => [tab.name, tab.title]), this.#tab().name, (name) => this.#open(name));
    const views = choice("Colours of the grids", VIEWS.filter(([name]) => !whole || name === "strategy" || name === "weight"), this.view, (view) => { this.view = view; this.drawGrids(); });
    this.sheets = [0, 1].map((who) => h("section", { class: "sheet hands" }, this.heads[who], this.grids[who].element, this.bars[who]));
    this.proposal = h("div");
    this.body = h("div", {}, this.crumbs.element, this.proposal,
      h("div", { class: "spread views" }, views, this.tabs), h("div", { class: "trio" }, this.sheets, h("section", { class: "sheet", "aria-label": "Details" }, this.side)));
    this.element = h("div", { class: "reader" }, this.title, this.body);
    fill(root, this.element);
    this.keys = (event) => this.#key(event);
    document.addEventListener("keydown", this.keys); // wherever the focus is
  }

  #shown() {
    return TABS.filter((tab) => !this.whole || tab.whole);
  }

  #tab() {
    return this.#shown().find((tab) => tab.name === this.params.tab) ?? TABS[0];
  }

  #go(line) {
    go("study", { ...this.params, line });
  }

  /** Deal cards in a full game, where the board is separate from the line. */
  #deal(names) {
    go("study", { ...this.params, board: [...this.node.board, ...names].join("") });
  }

  #open(name) {
    go("study", { ...this.params, tab: name === TABS[0].name ? "" : name }, { replace: true });
  }

  /** Backspace goes back one move; the first letter of a move plays it. */
  #key(event) {
    if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Backspace" && this.node?.path.length > 1) {
      event.preventDefault();
      this.#go(this.node.path.at(-2).line);
    } else if (/^[fxcbra]$/.test(event.key) && this.node) {
      const move = this.node.labels.find((label) => label[0] === event.key);
      if (move) this.#go(joinLine(this.node.line, move, this.node.joiner));
    }
  }

  async #ask(run, line, extra) {
    const key = JSON.stringify([run, line, extra]);
    if (!this.seen.has(key)) { // cache responses, not requests, which are aborted with their address
      const [reply, names] = await Promise.all([api.node(run, line, extra), api.hands()]);
      this.seen.set(key, readNode(reply, names));
      if (this.seen.size > KEPT) this.seen.delete(this.seen.keys().next().value);
    }
    return this.seen.get(key);
  }

  /** Show the node of the address. */
  async update(params) {
    const moved = params.run !== this.params.run || params.line !== this.params.line || params.board !== this.params.board;
    this.params = params;
    const begun = performance.now();
    let node;
    try {
      node = await this.#ask(params.run, params.line ?? "", { board: params.board });
    } catch (error) {
      if (error instanceof Abandoned || error.costly) throw error; // handled by the frame
      this.#failed(error);
      return;
    }
    this.node = node;
    if (!this.body.isConnected) fill(this.element, this.title, this.body);
    this.other = params.with ? await attempt(() => this.#ask(params.with, params.line ?? "", {})) : null;
    if (moved) {
      this.painted = null; // an unfinished lock belongs to its node
      fill(this.proposal); // and so does a proposal
    }
    if (node.acting >= 0 && this.cell < 0) this.who = node.acting;
    this.grids.forEach((grid, who) => grid.paintWith(this.#tab().painter?.(this, who) ?? null));
    this.crumbs.draw(node);
    this.#head();
    this.drawGrids();
    this.tabs.set(this.#tab().name);
    this.drawSide();
    this.drawn = performance.now() - begun; // ms, from the address to the drawing
    say(this.#announcement());
  }

  /** Show why the node cannot be loaded, and where to continue. */
  #failed(error) {
    const { params, node } = this;
    const acts = [["Try again", () => this.update(params)]];
    if (params.line || params.board) acts.push(["Go to the root", () => go("study", { run: params.run })]);
    if (node) acts.push([`Back to ${node.line || "the root"}`, () => go("study", { ...params, line: node.line, board: this.whole ? node.board.join("") : "" })]);
    fill(this.title, h("h1", {}, params.run));
    fill(this.element, this.title, problem(error, acts));
  }

  #announcement() {
    const node = this.node;
    if (node.acting < 0) return isDeal(node) ? "Choose the next card" : "The hand is over";
    return `${node.player} to act: ${node.moves.map((move) => `${moveWords(move.name, move.kind)} ${percent(move.frequency, 0)}`).join(", ")}`;
  }

  #head() {
    const { node, params } = this;
    const name = params.run.replaceAll("/", "-");
    const files = [["CSV", "csv"], ["JSON", "json"]].map(([text, format]) =>
      h("a", { class: "button", href: api.exportLink({ run: params.run, line: node.line, format }), download: `${name}.${format}` }, text));
    const acts = this.whole
      ? [this.#boardField(), node.board.length > 2 && node.acting >= 0 ? button("Solve from here", () => attempt(() => drawProposal(this.proposal, { line: node.line, board: node.board.join(""), agent: params.run }))) : null]
      : [files, button("Edit the spot", () => go("study", { new: "1", from: params.run }), { class: "quiet" })];
    fill(this.title,
      h("div", {}, h("h1", {}, params.run), h("div", { class: "row" }, cards(node.board), h("span", { class: "soft" },
        `pot ${chips(node.pot, 0)}`, node.stacks ? ` · behind ${node.stacks.map((stack) => chips(stack, 0)).join(" and ")}` : ""))),
      h("div", { class: "row" }, acts, button("Copy link", () => attempt(() => copy(link(), "Link")), { class: "quiet" })));
  }

  /** The board field of full games. */
  #boardField() {
    const box = input({ value: this.node.board.join(" "), placeholder: "Board", "aria-label": "Board", maxlength: 20, on: { change: () => go("study", { ...this.params, board: box.value.replace(/[\s,]/g, "") }) } });
    return h("span", { style: { width: "150px" } }, box);
  }

  pick(who, cell) {
    const same = this.who === who && this.cell === cell;
    this.who = who;
    this.cell = same ? -1 : cell;
    this.grids.forEach((grid, k) => grid.select(k === who ? this.cell : -1));
    if (this.#tab().picks) this.drawSide();
    else if (this.cell >= 0) this.#open(TABS[0].name);
    if (this.cell >= 0) say(this.grids[who].cells[cell].getAttribute("aria-label"));
  }

  drawGrids() {
    const { node, other } = this;
    node.sides.forEach((mine, who) => {
      const compared = other && who !== Math.max(node.acting, 0);
      const side = compared ? other.sides[Math.max(node.acting, 0)] : mine;
      this.grids[who].element.setAttribute("aria-label", `Hands of ${side.name}`);
      this.sheets[who].classList.toggle("acting", node.acting === who);
      const keeps = keeper(side, node, this.filters);
      this.grids[who].draw(this.#tab().cells?.(this, side, who) ?? side.cells(this.view, keeps), side.colours);
      const figures = keeps ? side.figures(side.everyPlace().filter(keeps)) : { ...side, shares: (compared ? other : node).moves.map((move) => move.frequency) };
      fill(this.heads[who], h("h2", { class: side.name }, compared ? `${side.name.toUpperCase()} in ${this.params.with}` : side.name.toUpperCase(), node.acting === who ? h("small", {}, " to act") : "", side.locked.size ? [" ", h("span", { class: "badge" }, `${side.locked.size} hands locked`)] : ""),
        h("small", {}, meansLine(figures)));
      fill(this.bars[who], side.actions.length
        ? moveBar(side.actions, figures.shares, { words: side.words, pick: compared ? null : (label) => this.#go(joinLine(node.line, label, node.joiner)) })
        : h("small", {}, node.acting >= 0 ? "range of the opponent" : ""));
    });
  }

  drawSide() {
    fill(this.side, this.#tab().draw(this));
  }

  toggle(kind, name) {
    const set = this.filters[kind];
    if (set.has(name)) set.delete(name);
    else set.add(name);
    this.drawGrids();
    this.drawSide();
  }

  clearFilters() {
    Object.values(this.filters).forEach((set) => set.clear());
    this.drawGrids();
    this.drawSide();
  }

  walk(label) {
    this.#go(joinLine(this.node.line, label, this.node.joiner));
  }

  jump(line) {
    this.#go(line);
  }

  get cellName() {
    return this.cell >= 0 ? CELL_NAMES[this.cell] : "";
  }

  close() {
    document.removeEventListener("keydown", this.keys);
    this.seen.clear();
  }
}
