// The form for a spot: board, ranges, pot, stacks, bet sizes, rake. The estimated cost is updated with every change.

import * as api from "./api.js";
import { BoardPicker } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, download, field, fill, h, input, later } from "./dom.js";
import { bytes, count, seconds } from "./figures.js";
import { lockList } from "./lock_list.js";
import { go } from "./place.js";
import { drawProposal } from "./proposal_panel.js";
import { RangePainter } from "./range_painter.js";
import { Abandoned, wasLeft } from "./scope.js";
import { SizesForm, streetsFrom } from "./sizes_form.js";
import { watchJob } from "./solve_panel.js";

const START = {
  board: "QsJh2h", pot: 180, stack: 910,
  ranges: { // 3-bet pot: big blind against button
    oop: "TT+,AQs+,A5s-A2s:0.5,KTs+:0.5,QTs+:0.5,J9s+:0.5,T9s:0.5,AQo+,KQo:0.5",
    ip: "JJ-55,AQs-ATs,A9s-A2s:0.5,KTs+,QTs+,J9s+,T9s,98s,87s,76s,65s,AQo-AJo:0.75,KQo:0.75",
  },
  // what these raises cost and save: docs/spots.md, "Menus that fit"
  bets: Object.fromEntries([["flop", "52%"], ["turn", "55%"], ["river", "70%"]].map(([street, bet]) => [street, { bet, raise: ["75%", "a"] }])),
  tree: { add_all_in: "100%", force_all_in: "33%" },
};
const KNOWN = ["board", "pot", "stack", "ranges", "bets", "rake", "name", "lock"];

export class SpotForm {
  constructor(root) {
    this.more = {}; // entries of the spot without a form field, which are kept
    this.leave = () => {};
    const changed = (this.changed = later(() => this.#changed(), 350));
    const number = (value, props = {}) => input({ type: "number", min: 0, step: 1, value, on: { input: changed }, ...props });
    this.board = new BoardPicker({ change: (names) => { this.sizes.show(streetsFrom(names.length)); changed(); } });
    this.pot = number(START.pot, { min: 1 });
    this.stacks = [number(START.stack, { min: 1, "aria-label": "Stack of oop" }), number("", { placeholder: "same", "aria-label": "Stack of ip" })];
    this.rake = number("", { step: "any", placeholder: "0", max: 100 });
    this.cap = number("", { placeholder: "none" });
    this.addAllIn = input({ value: START.tree.add_all_in, placeholder: "0%", on: { input: changed } });
    this.forceAllIn = input({ value: START.tree.force_all_in, placeholder: "0%", on: { input: changed } });
    this.name = input({ placeholder: "automatic", maxlength: 60 });
    this.until = input({ value: "0.5%", maxlength: 12 });
    this.limit = input({ placeholder: "90s, 10m", maxlength: 12 });
    this.many = input({ placeholder: "this board", maxlength: 60, "aria-label": "Boards", on: { input: changed } });
    this.report = input({ placeholder: "the root", maxlength: 200 });
    this.sizes = new SizesForm(changed);
    this.ranges = ["oop", "ip"].map((player) => new RangePainter({ label: `Range of ${player}`, change: changed }));
    this.cost = h("div", { class: "cost", role: "status" });
    this.locks = h("div");
    this.work = h("div");
    this.start = button("Solve", () => attempt(() => this.#solve()), { class: "main" });
    fill(root, this.#frame());
    this.write(START);
  }

  #frame() {
    const sheet = (title, side, ...parts) => h("section", { class: "sheet" }, h("header", {}, h("h2", {}, title), side), h("div", { class: "stack" }, parts));
    return h("div", { class: "build" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, "New spot"), h("p", { class: "soft" }, "Heads-up, starting on the flop, turn or river.")),
        h("div", { class: "row" }, button("Save as file", () => attempt(() => this.#save()), { class: "quiet" }), button("Back", () => go("study", {}), { class: "quiet" }))),
      h("div", { class: "builder" },
        ["oop", "ip"].map((player, who) => sheet(h("span", { class: player }, `${player.toUpperCase()} `, h("small", {}, who ? "acts last" : "acts first")), this.ranges[who].total, this.ranges[who].element)),
        h("div", { class: "stack side-column" },
          sheet("Board", null, this.board.element),
          sheet("Chips", null, h("div", { class: "fields" }, field("Pot", this.pot), field("Stack", this.stacks[0]), field("Stack of IP", this.stacks[1]), field("Rake, %", this.rake), field("Rake cap", this.cap), field("Add all-in up to", this.addAllIn), field("All-in if left below", this.forceAllIn))),
          sheet("Solve", null, this.cost, h("div", { class: "fields" }, field("Target", this.until), field("Time limit", this.limit), field("Name", this.name)),
            h("details", {}, h("summary", {}, "Many boards"), h("div", { class: "fields" }, field("Boards", this.many, "all, sample:25"), field("Line to report", this.report))),
            this.start, this.work)),
        h("div", { class: "wide" }, sheet("Bet sizes", null, this.sizes.element, this.locks))));
  }

  /** The spot as the entries of its file. */
  read() {
    const whole = (box) => (box.value === "" ? null : Number(box.value));
    const [first, second] = this.stacks.map(whole);
    const rake = whole(this.rake) ? { rake: { rate: whole(this.rake) / 100, ...(whole(this.cap) === null ? {} : { cap: whole(this.cap) }) } } : {};
    const shares = { add_all_in: this.addAllIn.value.trim(), force_all_in: this.forceAllIn.value.trim() };
    const tree = Object.fromEntries(Object.entries({ ...this.more.tree, ...shares }).filter(([, value]) => value !== ""));
    const { tree: _, ...more } = this.more;
    return {
      ...more, board: this.board.names.join(""), pot: whole(this.pot), stack: second === null ? first : [first, second], ...rake,
      ranges: { oop: this.ranges[0].text.value, ip: this.ranges[1].text.value },
      ...(this.more.limit ? {} : { bets: this.sizes.read() }),
      ...(Object.keys(tree).length ? { tree } : {}), ...(this.lock?.length ? { lock: this.lock } : {}),
    };
  }

  /** Fill the form with a spot. */
  write(spot) {
    this.more = Object.fromEntries(Object.entries(spot).filter(([key]) => !KNOWN.includes(key)));
    const names = splitBoard(spot.board);
    this.board.set(names);
    this.pot.value = spot.pot;
    const stacks = Array.isArray(spot.stack) ? spot.stack : [spot.stack, ""];
    this.stacks.forEach((box, k) => { box.value = stacks[k]; });
    this.rake.value = spot.rake ? Number((100 * spot.rake.rate).toPrecision(6)) : "";
    this.cap.value = spot.rake?.cap ?? "";
    this.addAllIn.value = spot.tree?.add_all_in ?? "";
    this.forceAllIn.value = spot.tree?.force_all_in ?? "";
    this.sizes.write(spot.bets);
    this.sizes.show(streetsFrom(names.length));
    const ranges = ["oop", "ip"].map((player, k) => spot.ranges?.[player] && this.ranges[k].read(spot.ranges[player], false));
    this.lock = spot.lock ?? [];
    this.#drawLocks();
    Promise.all(ranges).then(this.changed); // the estimate needs the ranges, which the server parses
  }

  #drawLocks() {
    const without = (number) => { this.lock = this.lock.filter((_, k) => k !== number); this.#drawLocks(); this.#changed(); };
    fill(this.locks, lockList(this.lock, { unlock: without }));
  }

  /** What is missing before the spot can be solved. */
  #missing() {
    if (this.board.names.length < 3) return "Choose three to five cards.";
    if (!this.ranges.every((range) => range.text.value.trim())) return "Paint both ranges, or choose presets.";
    return null;
  }

  async #changed() {
    const missing = this.#missing();
    this.start.disabled = true; // until its cost is known
    if (missing) {
      fill(this.cost, h("p", { class: "soft" }, missing));
      return;
    }
    this.request?.abort(new Abandoned()); // the estimate of the previous spot
    const request = (this.request = new AbortController());
    try {
      const [reply, { memory }] = await Promise.all([api.sizeOf({ spot: this.read(), boards: this.many.value.trim() || undefined }, request.signal), api.about()]);
      const kinds = this.lock?.length ? ["compact"] : ["compact", "16-bit"]; // locks need exact regrets
      this.dtype = kinds.find((kind) => reply.bytes[kind] + reply.bytes_tree <= memory);
      this.start.disabled = !this.dtype;
      const large = `This needs more than the ${bytes(memory)} that jobs may use: remove bet sizes or raises, or start on a later street.`;
      fill(this.cost, costs(reply, this.dtype ?? kinds.at(-1)), this.dtype ? null : h("p", { class: "bad", role: "alert" }, large),
        this.dtype ? null : this.#fewer());
    } catch (error) {
      if (wasLeft(error) || this.request !== request) return;
      this.start.disabled = !error.cancelled; // a spot without an estimate may be solved, an invalid one may not
      fill(this.cost, h("p", { class: error.cancelled ? "soft" : "bad", role: "alert" }, error.message), error.cancelled ? null : this.#fewer());
    }
  }

  /** A button that proposes fewer bet sizes for a spot that is too large. */
  #fewer() {
    return button("Suggest fewer bet sizes", () => attempt(() => drawProposal(this.work, { spot: this.read() })), { class: "small" });
  }

  async #save() {
    const reply = await api.readSpot({ spot: this.read() });
    download(`${reply.name || "spot"}.toml`, reply.text);
  }

  async #solve() {
    const name = this.name.value.trim();
    const wanted = { spot: this.read(), until: this.until.value.trim() || undefined, time: this.limit.value.trim() || undefined, name: name || undefined, dtype: this.dtype };
    if (this.many.value.trim()) Object.assign(wanted, { boards: this.many.value.trim(), report: this.report.value.trim() || undefined });
    const job = await api.startJob(wanted);
    this.leave();
    this.leave = watchJob(this.work, job, { done: (ended) => go("study", { run: ended.name }) });
    this.work.scrollIntoView({ block: "nearest" });
  }
}

/** The estimated nodes, memory and seconds. */
function costs(reply, dtype) {
  const nodes = reply.streets.reduce((sum, street) => sum + street.nodes * street.boards, 0);
  const boards = reply.solves > 1 ? `${count(reply.solves)} boards ` : "";
  const one = (value, name) => h("div", {}, h("b", {}, value), h("small", {}, name));
  return h("div", { class: "numbers" }, one(count(nodes), "nodes"), one(count(reply.infosets), "information sets"), one(bytes(reply.bytes[dtype] + reply.bytes_tree), dtype === "16-bit" ? "memory, 16-bit" : "memory"),
    one(seconds(reply.seconds_to_target), `${boards}to ${reply.target_pct} %, about`));
}
