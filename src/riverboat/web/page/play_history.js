// Review of a hand history: the player, the reference agent, and the EV lost by each decision.

import * as api from "./api.js";
import { attempt, button, field, fill, h } from "./dom.js";
import { ago } from "./figures.js";
import { go } from "./place.js";
import { chips, HandReview } from "./play_review.js";

const MOST = 1_000_000; // most bytes of an uploaded file
const JUDGES = ["blueprint", "search", "spot", "yardstick"];

async function bring(text, title) {
  const reply = await api.bringHands({ text, title });
  go("play", { history: reply.name });
}

async function openFile(file) {
  if (file.size > MOST) throw new Error(`${file.name}: larger than ${MOST / 1e6} MB; put it into the data folder and enter its name below`);
  await bring(await file.text(), file.name);
}

/** The section for uploading hand histories, with those uploaded before. */
export function fromHistory(files) {
  const chosen = h("input", { type: "file", accept: ".phh,.phhs,.log,.txt", class: "unseen", "aria-label": "Hand history file", on: { change: () => chosen.files[0] && attempt(() => openFile(chosen.files[0])) } });
  const text = h("textarea", { rows: 3, placeholder: "or paste hands here: PHH ([1] variant = 'NT' …) or an ACPC log (STATE:0:…)", "aria-label": "Hand history text" });
  const file = h("input", { type: "text", placeholder: "hands.phhs", "aria-label": "File in the data folder" });
  const old = files.map((one) => h("a", { class: "run", href: `#play?history=${one.name}` }, h("b", {}, one.name), h("small", {}, `${one.kind} · ${ago(one.changed)}`)));
  return h("section", { class: "stack", "aria-label": "Hand histories" }, h("h2", {}, "Hand histories"), old.length ? h("div", { class: "runs" }, old.slice(0, 8)) : null,
    h("div", { class: "sheet stack" }, h("p", { class: "soft" }, "Review heads-up hold'em hands played elsewhere: the EV lost by each decision."),
      h("div", { class: "row" }, button("Choose a file…", () => chosen.click()), chosen), text,
      h("div", { class: "row" }, button("Review the text", () => attempt(() => bring(text.value, "pasted")), { class: "small" }),
        h("span", { class: "soft" }, "or a file in the data folder:"), h("div", { class: "grow" }, file), button("Review the file", () => attempt(async () => go("play", { history: (await api.bringHands({ file: file.value.trim() })).name })), { class: "small" }))));
}

export class HistoryReview {
  constructor(root, params) {
    Object.assign(this, { root, params, closed: false });
    this.list = h("div", { class: "stack", "aria-label": "Review" });
    this.sum = h("div", { class: "numbers" });
  }

  close() {
    this.closed = true; // pending reviews are not drawn any more
    api.cancelHistoryReviews(this.params.history).catch(() => undefined);
  }

  async load() {
    const { history: name } = this.params;
    const [file, agents] = await Promise.all([api.history(name), api.opponents()]);
    const judges = JUDGES.flatMap((kind) => agents.filter((agent) => agent.kind === kind));
    const seen = file.players.filter((one) => one.seen);
    const player = this.params.player ?? seen.find((one) => one.name === "you")?.name ?? seen[0]?.name ?? "";
    const judge = this.params.judge ?? judges[0]?.name ?? "";
    const select = (label, options, chosen, key) => field(label, h("select", { "aria-label": label, on: { change: (event) => go("play", { history: name, player, judge, [key]: event.target.value }) } }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text))));
    const refused = file.refused.map((one) => h("li", { title: one.where.join("\n") }, `${one.hands} left out: ${one.why}`));
    fill(this.root, h("div", { class: "stack" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, name), h("p", { class: "soft" }, `${file.hands} hand${file.hands === 1 ? "" : "s"}${file.scale > 1 ? `, amounts in 1/${file.scale} of the file's unit` : ""}`)),
        h("div", { class: "row" }, button("Delete these hands", () => attempt(async () => { await api.removeHistory(name); go("play", {}); }), { class: "quiet" }), button("Back to Play", () => go("play", {}), { class: "quiet" }))),
      h("section", { class: "sheet stack" }, h("div", { class: "fields" }, select("Player", seen.map((one) => [one.name, `${one.name} (${one.seen})`]), player, "player"), select("Reviewed by", judges.map((one) => [one.name, one.name]), judge, "judge")),
        refused.length ? h("ul", { class: "soft" }, refused) : null, this.sum),
      seen.length ? this.list : h("p", { class: "empty" }, "This file shows no hole cards, which a review needs.")));
    if (seen.length) attempt(() => this.#hands(name, player, judge)); // hand by hand, while the page is open
  }

  async #hands(name, player, judge) {
    const reply = await api.historyHands(name, player);
    const reviews = reply.hands.map((one) => {
      const review = new HandReview(one.hand, () => api.askHistoryReview(name, player, judge, one.hand), () => api.historyReview(name, player, judge, one.hand));
      review.head(one, h("span", { class: "lost soft" }, "waiting for review…"));
      return review;
    });
    fill(this.list, reviews.map((one) => one.element));
    const sum = { hands: 0, known: 0, every: 0, lost: 0 };
    const figure = (title, value) => h("div", {}, h("small", {}, title), h("b", {}, value));
    const show = () => fill(this.sum, figure("Hands", `${sum.hands} of ${reply.hands.length + reply.left_out}`), figure("Decisions reviewed", `${sum.known} of ${sum.every}`), figure("EV lost", `${chips(sum.lost)} chips`));
    for (const one of reviews) {
      if (this.closed) return;
      const review = await one.load();
      if (!review) continue;
      sum.hands += 1;
      sum.every += review.decisions.length;
      sum.known += review.decisions.filter((each) => each.ev_lost !== null).length;
      sum.lost += review.ev_lost;
      show();
    }
    const lost = new Map(reviews.map((one) => [one, Number(one.element.querySelector("summary .lost")?.dataset.lost ?? 0)]));
    fill(this.list, reviews.sort((a, b) => lost.get(b) - lost.get(a)).map((one) => one.element)); // most EV lost first
  }
}
