// One hand of an evening: walk through its actions, and review the decisions of a heads-up pot.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";

const FIRST_LOOK = 200; // ms until the first poll
const LAST_LOOK = 1500;

/** Request the review of a hand and wait for it; undefined if `view` is closed meanwhile. */
export async function reviewed(view, name, hand, player) {
  let reply = await api.askEveningReview(name, hand, player);
  for (let wait = FIRST_LOOK; reply.state !== "done"; wait = Math.min(1.5 * wait, LAST_LOOK)) {
    if (reply.state === "failed") throw new Error(reply.error);
    await new Promise((resolve) => { setTimeout(resolve, wait); });
    if (view.closed) return undefined;
    reply = await api.eveningReview(name, hand, player);
    if (reply.state === "none") reply = await api.askEveningReview(name, hand, player);
  }
  return reply.review;
}

const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;

export class EveningHand {
  constructor(view, name, hand, player) {
    Object.assign(this, { view, name, hand, player, at: 0 });
    this.stage = h("div", { class: "stack" });
    this.list = h("ol", { class: "walk", "aria-label": "Actions" });
    this.review = h("div", { class: "stack", "aria-live": "polite" });
  }

  async load() {
    const walk = await api.eveningHand(this.name, this.hand, this.player);
    this.walk = walk;
    const back = () => go("play", { evening: this.name, player: this.player });
    const start = button("Review my decisions", () => attempt(() => this.#review(start)), { disabled: !walk.reviewable });
    fill(this.view.root, h("div", { class: "stack evening" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, `Hand ${walk.number || this.hand + 1}`), h("p", { class: "soft" }, [walk.site, walk.stake, walk.table, walk.time].filter(Boolean).join(" · "))), button("Back to the evening", back, { class: "quiet" })),
      h("section", { class: "sheet stack" }, this.stage,
        h("div", { class: "row" }, button("◀ Back", () => this.#go(this.at - 1), { class: "small" }), button("Next ▶", () => this.#go(this.at + 1), { class: "small" }), button("End", () => this.#go(walk.steps.length), { class: "small quiet" })), this.list),
      h("section", { class: "sheet stack" }, h("h2", {}, "Review"), h("p", { class: "soft" }, walk.reviewable ? "The pot was heads-up from the flop on: it is solved with its real pot and stacks." : "Only pots that are heads-up from the flop on, with your cards known, can be reviewed."), h("div", { class: "row" }, start), this.review)));
    this.#go(walk.steps.length);
  }

  #go(at) {
    const { walk } = this;
    this.at = Math.max(0, Math.min(at, walk.steps.length));
    const done = walk.steps.slice(0, this.at);
    const next = walk.steps[this.at];
    const folded = new Set(done.filter((one) => one.fold).map((one) => one.player));
    const board = next ? next.board : walk.boards[0];
    fill(this.stage, h("div", { class: "seats" }, walk.seats.map((seat, k) => h("div", { class: `seat-box${folded.has(k) ? " out" : ""}${next?.player === k ? " turn" : ""}` },
      h("b", {}, seat.position), h("span", {}, seat.name), h("small", {}, seat.stack), seat.hole ? cards(splitBoard(seat.hole), true) : null,
      next ? null : h("small", { class: "won" }, signed(seat.won))))),
    h("div", { class: "row" }, board ? cards(splitBoard(board)) : h("span", { class: "soft" }, "before the flop"), ...(next ? [] : walk.boards.slice(1).map((one) => cards(splitBoard(one)))), h("span", { class: "soft" }, next ? `pot ${next.pot}; ${walk.seats[next.player].position} is to act` : `end of the hand, rake ${walk.rake}`)));
    let street = "";
    fill(this.list, walk.steps.map((step, k) => {
      const head = step.street === street ? null : h("small", { class: "soft" }, `${step.street}, pot ${step.pot} `);
      street = step.street;
      return h("li", {}, head, button(`${walk.seats[step.player].position} ${step.words}`, () => this.#go(k), { class: "small quiet", "aria-current": k === this.at ? "step" : undefined }));
    }));
  }

  async #review(start) {
    start.disabled = true;
    fill(this.review, h("p", { class: "soft", role: "status" }, "Solving… half a minute for a flop"));
    const review = await attempt(() => reviewed(this.view, this.name, this.hand, this.player));
    if (this.view.closed) return;
    start.disabled = false;
    if (!review) return fill(this.review);
    const range = (title, one) => h("details", {}, h("summary", {}, `${title}: ${one.name}, ${one.percent.toFixed(1)} % of hands`), h("p", { class: "soft" }, `${one.range} (library: ${one.entry})`));
    fill(this.review, h("p", {}, h("b", {}, `EV lost ${review.ev_lost_bb.toFixed(2)} bb`)), range("Out of position", review.ranges.oop), range("In position", review.ranges.ip),
      review.decisions.map((one) => h("div", { class: "decision" },
        h("div", { class: "spread" }, h("b", {}, `${one.street}: ${one.action}`), h("span", { class: "lost" }, one.ev_lost === null ? "not reviewed" : one.ev_lost_bb < 0.005 ? "no EV lost" : `−${one.ev_lost_bb.toFixed(2)} bb; better: ${one.best}`)),
        one.why ? h("small", { class: "soft" }, one.why) : h("table", { class: "figures options" }, h("thead", {}, h("tr", {}, ["Move", "Frequency", "EV"].map((title) => h("th", { scope: "col" }, title)))),
          h("tbody", {}, one.options.map((option) => h("tr", { class: option.action === one.action ? "made" : "" }, h("td", {}, option.action), h("td", {}, `${Math.round(100 * option.probability)} %`), h("td", {}, option.ev === null ? "–" : (option.ev / review.scale).toFixed(2)))))),
        one.source ? h("small", { class: "soft" }, one.source) : null)));
    return undefined;
  }
}
