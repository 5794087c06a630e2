// Drill: practice decisions graded by EV lost, and the record of all answers.

import * as api from "./api.js";
import { card } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, choice, field, fill, h, input, say } from "./dom.js";
import { go } from "./place.js";
import { chips, optionTable, tone } from "./play_review.js";

const ONLY = [["all", "All decisions"], ["close", "Close decisions"], ["mixed", "Mixed decisions"]];
const SCOPES = [["one", "One decision"], ["street", "To the end of the street"], ["end", "To the end of the hand"]];
const SEATS = [["", "Both"], ["oop", "oop"], ["ip", "ip"]];

async function openStart(root, params) {
  const agents = (await api.opponents()).filter((agent) => ["spot", "blueprint", "tournament"].includes(agent.kind));
  const wanted = { only: "all", scope: "one", seat: "", focus: true };
  const line = input({ value: params.line ?? "", placeholder: "every line", "aria-label": "Line" });
  const push = input({ value: "10,10", "aria-label": "Stacks in big blinds" });
  const prizes = input({ placeholder: "none: chips count", "aria-label": "Prizes" });
  const begin = (source) => attempt(async () => {
    const request = { source, only: wanted.only, scope: wanted.scope, focus: wanted.focus };
    if (wanted.seat) request.seat = wanted.seat;
    if (line.value.trim()) request.line = line.value.trim();
    const reply = await api.beginDrill(request);
    go("drill", { drill: reply.name });
  });
  const pushSource = () => `push:${push.value.replace(/\s/g, "")}${prizes.value.trim() ? `?payouts=${prizes.value.replace(/\s/g, "")}` : ""}`;
  const focus = h("input", { type: "checkbox", checked: true, on: { change: () => { wanted.focus = focus.checked; } } });
  fill(root, h("div", { class: "stack" },
    h("div", { class: "title" }, h("h1", {}, "Drill"), h("p", { class: "soft" }, "Practice decisions, graded by EV lost. Expensive mistakes come back more often.")),
    h("section", { class: "sheet stack" }, h("div", { class: "row" }, choice("Decisions", ONLY, "all", (value) => { wanted.only = value; }), choice("Length", SCOPES, "one", (value) => { wanted.scope = value; }), choice("Seat", SEATS, "", (value) => { wanted.seat = value; })),
      h("div", { class: "fields" }, field("Line (to drill one decision)", line)), h("label", { class: "row" }, focus, "Repeat expensive decisions more often")),
    h("h2", {}, "Choose a source"), h("div", { class: "runs", role: "group", "aria-label": "Sources" }, agents.map((agent) => h("button", { type: "button", class: "run", on: { click: () => begin(agent.name) } }, h("b", {}, agent.name), h("small", {}, agent.about)))),
    h("section", { class: "sheet stack" }, h("h2", {}, "Push/fold"), h("div", { class: "fields" }, field("Stacks in big blinds, in the order of action", push), field("Prizes", prizes)), button("Drill this table", () => begin(pushSource()), { class: "main" })),
    new Record("").element));
}

/** The record of answers: EV lost by group and over time. */
class Record {
  constructor(source) {
    this.source = source;
    this.element = h("section", { class: "sheet stack", "aria-label": "Record", hidden: true });
    this.load();
  }

  async load() {
    const reply = await attempt(() => api.drillRecord(this.source));
    if (!reply?.answers) return;
    this.element.hidden = false;
    const table = (title, groups) => h("div", {}, h("h3", {}, title), h("table", { class: "figures" }, h("tbody", {}, groups.slice(0, 6).map((group) =>
      h("tr", {}, h("td", {}, group.name), h("td", {}, `${group.answers}×`), h("td", { class: tone(group.percent, 100) }, `${group.percent.toFixed(2)} %`))))));
    const most = Math.max(...reply.over_time.map((part) => part.percent), 0.01);
    fill(this.element, h("header", {}, h("h2", {}, "EV lost"), h("span", { class: "soft" }, `${reply.answers} answer${reply.answers === 1 ? "" : "s"}, ${reply.percent.toFixed(2)} % of the pot on average${reply.mixed ? `; number followed in ${reply.followed} of ${reply.mixed} mixed decisions` : ""}`)),
      h("div", { class: "trio" }, table("By line", reply.where.line), table("By board", reply.where.board), table("By hand", reply.where.hand)),
      h("div", { class: "overtime", role: "img", "aria-label": `EV lost over time: ${reply.over_time.map((part) => part.percent.toFixed(1)).join(", ")} % of the pot` },
        reply.over_time.map((part) => h("i", { style: { height: `${Math.max(3, (100 * part.percent) / most)}%` }, title: `${part.name}: ${part.percent.toFixed(2)} %` }))));
  }
}

class Asking {
  constructor(root, name, signal) {
    Object.assign(this, { root, name, graded: false });
    this.place = h("div", { class: "felt drill" });
    this.moves = h("div", { class: "actions", role: "group", "aria-label": "Your answer" });
    this.grade = h("section", { class: "sheet stack", "aria-label": "Grade", hidden: true });
    this.sum = h("div", { class: "numbers" });
    this.side = h("div", { class: "stack" });
    addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  #key(event) {
    if (event.target.matches?.("input, textarea") || event.ctrlKey || event.metaKey) return;
    if (this.graded && (event.key === "n" || event.key === "Enter")) {
      event.preventDefault();
      this.next();
    } else if (/^[1-9]$/.test(event.key)) this.moves.querySelectorAll("button.act")[Number(event.key) - 1]?.click();
  }

  next() {
    return attempt(() => this.load(api.nextQuestion));
  }

  /** Draw the current question, or with `ask` the next one, which the server may have to compute. */
  async load(ask = api.question) {
    const reply = await ask(this.name);
    if (reply.question === null) { // answered before a reload
      fill(this.root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, "Drill"), h("p", { class: "soft" }, `${reply.answers} answers so far.`)), button("Next question", () => this.next(), { class: "main" })));
      return;
    }
    this.graded = false;
    this.grade.hidden = true;
    this.#draw(reply);
  }

  #draw(reply) {
    const question = reply.question;
    fill(this.root, h("div", { class: "stack" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, `Question ${reply.answers + 1}`), h("p", { class: "soft" }, reply.source)), button("End the drill", () => go("drill", {}), { class: "quiet" })),
      h("div", { class: "playing" }, h("div", { class: "stack" }, this.place, this.moves, this.grade, h("p", { class: "soft keys" }, "1–9 a move · n next question")),
        h("div", { class: "stack" }, h("section", { class: "sheet" }, this.sum), this.side))));
    fill(this.place,
      h("div", { class: "middle" }, question.board ? h("span", { class: "cards big", "aria-label": "Board" }, splitBoard(question.board).map(card)) : null,
        h("div", { class: "pot" }, "Pot ", h("b", {}, chips(question.pot)), question.to_call ? ` · ${chips(question.to_call)} to call` : "", ` · ${chips(question.behind)} behind`),
        h("div", { class: "soft" }, `${question.street}, ${question.line || "first to act"}; you are ${question.seat}`)),
      h("div", { class: "seat" }, h("span", { class: "cards big" }, splitBoard(question.hole).map(card))),
      h("div", { class: "number", title: "For mixed decisions: low numbers mean the first move" }, h("small", {}, "number"), h("b", {}, question.number)));
    fill(this.moves, h("div", { class: "row" }, question.moves.map((move, k) => button(question.words[k], () => this.#answer(move), { class: `act ${/^(fold|check|call)/.exec(question.words[k])?.[0][0] ?? "r"}`, "data-move": move }))));
    this.words = Object.fromEntries(question.moves.map((move, k) => [move, question.words[k]]));
    this.#figures(reply.answers, reply.percent, reply.total);
    this.record ??= new Record(reply.source);
    if (!this.side.children.length) fill(this.side, this.record.element);
  }

  #figures(answers, percent, total) {
    const figure = (name, value) => h("div", {}, h("small", {}, name), h("b", {}, value));
    fill(this.sum, figure("Answers", answers), figure("EV lost on average", percent === null ? "–" : `${percent.toFixed(2)} %`), figure("EV lost", chips(total)));
  }

  async #answer(move) {
    if (this.graded) return;
    const reply = await attempt(() => api.answer(this.name, move));
    if (!reply) return;
    this.graded = true;
    this.percents = [...(this.percents ?? []), reply.percent];
    const mean = this.percents.reduce((sum, one) => sum + one, 0) / this.percents.length;
    this.#figures(reply.answers, mean, reply.total);
    const follows = reply.followed === null ? null : h("p", { class: "soft" }, `Number ${reply.number} means ${this.words[reply.stands_for]}: ${reply.followed ? "followed" : "you chose another move"}.`);
    this.grade.hidden = false;
    fill(this.grade, h("header", {}, h("h2", { class: tone(reply.percent, 100), "data-lost": reply.lost }, reply.percent < 0.005 ? "No EV lost" : `EV lost: ${reply.percent.toFixed(2)} ${reply.units.percent}`), button("Next question", () => this.next(), { class: "main" })),
      optionTable(reply.verdict, move, (option) => this.words[option.move]), follows);
    this.record.load();
    this.moves.querySelectorAll("button").forEach((one) => { one.disabled = true; });
    say(`EV lost ${reply.percent.toFixed(2)} ${reply.units.percent}`);
  }
}

export async function open(root, params, signal) {
  if (!params.drill) return openStart(root, params);
  return new Asking(root, params.drill, signal).load();
}
