// Drill: decisions one after the other, graded by EV lost, and the record of all answers.

import * as api from "./api.js";
import { card } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, choice, field, fill, h, input, say } from "./dom.js";
import { go } from "./place.js";
import { chips, optionTable, tone } from "./play_review.js";

const ONLY = [["all", "All decisions"], ["close", "Close ones"], ["mixed", "Mixed ones"]];
const SCOPES = [["one", "One decision"], ["street", "To the end of the street"], ["end", "To the end of the hand"]];
const SEATS = [["", "Both"], ["oop", "oop"], ["ip", "ip"]];

async function openStart(root, params) {
  const agents = (await api.opponents()).filter((agent) => ["spot", "blueprint", "tournament"].includes(agent.kind));
  const wanted = { only: "all", scope: "one", seat: "", focus: true };
  const line = input({ value: params.line ?? "", placeholder: "every line", "aria-label": "Line" });
  const push = input({ value: "10,10", "aria-label": "Stacks in big blinds" });
  const prizes = input({ placeholder: "chips are money", "aria-label": "Prizes" });
  const begin = (source) => attempt(async () => {
    const asked = { source, only: wanted.only, scope: wanted.scope, focus: wanted.focus };
    if (wanted.seat) asked.seat = wanted.seat;
    if (line.value.trim()) asked.line = line.value.trim();
    const told = await api.beginDrill(asked);
    go("drill", { drill: told.name });
  });
  const pushSource = () => `push:${push.value.replace(/\s/g, "")}${prizes.value.trim() ? `?payouts=${prizes.value.replace(/\s/g, "")}` : ""}`;
  const focus = h("input", { type: "checkbox", checked: true, on: { change: () => { wanted.focus = focus.checked; } } });
  fill(root, h("div", { class: "stack" },
    h("div", { class: "title" }, h("h1", {}, "Drill"), h("p", { class: "soft" }, "One decision after another, graded by the EV it loses. Expensive mistakes come back more often.")),
    h("section", { class: "sheet stack" }, h("div", { class: "row" }, choice("Decisions", ONLY, "all", (value) => { wanted.only = value; }), choice("How far", SCOPES, "one", (value) => { wanted.scope = value; }), choice("Seat", SEATS, "", (value) => { wanted.seat = value; })),
      h("div", { class: "fields" }, field("Line, to drill one decision", line)), h("label", { class: "row" }, focus, "Repeat expensive decisions more often")),
    h("h2", {}, "Choose a source"), h("div", { class: "runs", role: "group", "aria-label": "Sources" }, agents.map((agent) => h("button", { type: "button", class: "run", on: { click: () => begin(agent.name) } }, h("b", {}, agent.name), h("small", {}, agent.about)))),
    h("section", { class: "sheet stack" }, h("h2", {}, "Push or fold"), h("div", { class: "fields" }, field("Stacks in big blinds, in the order of action", push), field("Prizes", prizes)), button("Drill this table", () => begin(pushSource()), { class: "main" })),
    new Record("").element));
}

/** Where EV was lost so far. */
class Record {
  constructor(source) {
    this.source = source;
    this.element = h("section", { class: "sheet stack", "aria-label": "Record", hidden: true });
    this.load();
  }

  async load() {
    const told = await attempt(() => api.drillRecord(this.source));
    if (!told?.answers) return;
    this.element.hidden = false;
    const table = (title, groups) => h("div", {}, h("h3", {}, title), h("table", { class: "figures" }, h("tbody", {}, groups.slice(0, 6).map((group) =>
      h("tr", {}, h("td", {}, group.name), h("td", {}, `${group.answers}×`), h("td", { class: tone(group.percent, 100) }, `${group.percent.toFixed(2)} %`))))));
    const most = Math.max(...told.over_time.map((part) => part.percent), 0.01);
    fill(this.element, h("header", {}, h("h2", {}, "Where EV is lost"), h("span", { class: "soft" }, `${told.answers} answer${told.answers === 1 ? "" : "s"}, ${told.percent.toFixed(2)} % of the pot on average${told.mixed ? `; the number followed in ${told.followed} of ${told.mixed} mixed ones` : ""}`)),
      h("div", { class: "trio" }, table("By line", told.where.line), table("By board", told.where.board), table("By hand", told.where.hand)),
      h("div", { class: "overtime", role: "img", "aria-label": `EV lost over time: ${told.over_time.map((part) => part.percent.toFixed(1)).join(", ")} % of the pot` },
        told.over_time.map((part) => h("i", { style: { height: `${Math.max(3, (100 * part.percent) / most)}%` }, title: `${part.name}: ${part.percent.toFixed(2)} %` }))));
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

  /** Draw the question on the table, or with `ask` the next one, which the server may have to compute. */
  async load(ask = api.question) {
    const told = await ask(this.name);
    if (told.question === null) { // answered before a reload
      fill(this.root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, "Drill"), h("p", { class: "soft" }, `${told.answers} answers so far.`)), button("Next question", () => this.next(), { class: "main" })));
      return;
    }
    this.graded = false;
    this.grade.hidden = true;
    this.#draw(told);
  }

  #draw(told) {
    const asked = told.question;
    fill(this.root, h("div", { class: "stack" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, `Question ${told.answers + 1}`), h("p", { class: "soft" }, told.source)), button("End the drill", () => go("drill", {}), { class: "quiet" })),
      h("div", { class: "playing" }, h("div", { class: "stack" }, this.place, this.moves, this.grade, h("p", { class: "soft keys" }, "1–9 a move · n next question")),
        h("div", { class: "stack" }, h("section", { class: "sheet" }, this.sum), this.side))));
    fill(this.place,
      h("div", { class: "middle" }, asked.board ? h("span", { class: "cards big", "aria-label": "Board" }, splitBoard(asked.board).map(card)) : null,
        h("div", { class: "pot" }, "Pot ", h("b", {}, chips(asked.pot)), asked.to_call ? ` · ${chips(asked.to_call)} to call` : "", ` · ${chips(asked.behind)} behind`),
        h("div", { class: "soft" }, `${asked.street}, ${asked.line || "first to act"}; you are ${asked.seat}`)),
      h("div", { class: "seat" }, h("span", { class: "cards big" }, splitBoard(asked.hole).map(card))),
      h("div", { class: "number", title: "For mixed decisions: low numbers mean the first move" }, h("small", {}, "number"), h("b", {}, asked.number)));
    fill(this.moves, h("div", { class: "row" }, asked.moves.map((move, k) => button(asked.words[k], () => this.#answer(move), { class: `act ${/^(fold|check|call)/.exec(asked.words[k])?.[0][0] ?? "r"}`, "data-move": move }))));
    this.words = Object.fromEntries(asked.moves.map((move, k) => [move, asked.words[k]]));
    this.#figures(told.answers, told.percent, told.total);
    this.record ??= new Record(told.source);
    if (!this.side.children.length) fill(this.side, this.record.element);
  }

  #figures(answers, percent, total) {
    const figure = (name, value) => h("div", {}, h("small", {}, name), h("b", {}, value));
    fill(this.sum, figure("Answers", answers), figure("EV lost on average", percent === null ? "–" : `${percent.toFixed(2)} %`), figure("EV lost", chips(total)));
  }

  async #answer(move) {
    if (this.graded) return;
    const told = await attempt(() => api.answer(this.name, move));
    if (!told) return;
    this.graded = true;
    this.percents = [...(this.percents ?? []), told.percent];
    const mean = this.percents.reduce((sum, one) => sum + one, 0) / this.percents.length;
    this.#figures(told.answers, mean, told.total);
    const follows = told.followed === null ? null : h("p", { class: "soft" }, `Number ${told.number} stands for ${this.words[told.stands_for]}: ${told.followed ? "followed" : "you chose otherwise"}.`);
    this.grade.hidden = false;
    fill(this.grade, h("header", {}, h("h2", { class: tone(told.percent, 100), "data-lost": told.lost }, told.percent < 0.005 ? "No EV lost" : `EV lost: ${told.percent.toFixed(2)} ${told.units.percent}`), button("Next question", () => this.next(), { class: "main" })),
      optionTable(told.verdict, move, (option) => this.words[option.move]), follows);
    this.record.load();
    this.moves.querySelectorAll("button").forEach((one) => { one.disabled = true; });
    say(`EV lost ${told.percent.toFixed(2)} ${told.units.percent}`);
  }
}

export async function open(root, params, signal) {
  if (!params.drill) return openStart(root, params);
  return new Asking(root, params.drill, signal).load();
}
