// The review of one hand: every decision with its EV lost, its alternatives, and a link to Study.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { openSpot } from "./opened_spot.js";

export const chips = (number) => Number(number).toLocaleString("en", { maximumFractionDigits: 1 });
export const percent = (share) => `${Math.round(100 * share)} %`;

const UNSURE = "In brackets: hardly ever played, so its EV is unreliable.";

/** The color class of EV lost: green, amber or red by its share of the pot. */
export function tone(lost, pot) {
  const share = lost / Math.max(pot, 1e-9);
  return share < 0.005 ? "fine" : share < 0.05 ? "slip" : "blunder";
}

/** The options of a verdict: frequency as a bar, and EV; the move `made` is marked. */
export function optionTable(verdict, made, words = (option) => option.words ?? option.move) {
  const best = verdict.best;
  return h("table", { class: "figures options" }, h("thead", {}, h("tr", {}, ["Move", "Frequency", `EV, ${verdict.unit}`].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, verdict.options.map((option) => h("tr", { class: option.move === made ? "made" : "" },
      h("td", {}, words(option), option.move === made ? h("span", { class: "badge" }, "yours") : null, option.move === best ? h("span", { class: "badge live" }, "best") : null),
      h("td", {}, h("span", { class: "share", style: { "--share": `${100 * option.probability}%` } }, percent(option.probability))),
      h("td", {}, option.ev === null ? "–" : option.sure ? chips(option.ev) : h("span", { class: "unsure", title: UNSURE }, `(${chips(option.ev)})`))))),
    verdict.options.some((option) => option.ev !== null && !option.sure) ? h("caption", { class: "soft" }, UNSURE) : null);
}

const FIRST_LOOK = 40; // ms until the first poll
const LAST_LOOK = 1000; // most ms between two polls

export class HandReview {
  /** `ask` requests the review, `look` returns its state. */
  constructor(hand, ask, look) {
    Object.assign(this, { hand, ask, look });
    this.element = h("details", { class: "review", "data-hand": hand }, h("summary", {}, `Hand ${hand + 1}: waiting for review…`));
  }

  /** Wait for the review and draw it; the server computes reviews one at a time, with a lower priority than play. */
  async load() {
    const reply = await attempt(() => this.#computed());
    if (!reply) {
      fill(this.element, h("summary", {}, `Hand ${this.hand + 1}: not reviewed`));
      return undefined;
    }
    const judged = reply.decisions.filter((one) => one.ev_lost !== null);
    const pot = Math.max(...reply.decisions.map((one) => one.pot), 1);
    const lost = h("span", { class: `lost ${judged.length ? tone(reply.ev_lost, pot) : "soft"}`, "data-lost": reply.ev_lost }, !reply.decisions.length ? "no decisions" : judged.length ? `EV lost ${chips(reply.ev_lost)}` : "not reviewed");
    this.head(reply, lost);
    this.element.append(...reply.decisions.map((one) => this.#decision(one)));
    return reply;
  }

  async #computed() {
    let reply = await this.ask();
    for (let wait = FIRST_LOOK; reply.state !== "done"; wait = Math.min(1.5 * wait, LAST_LOOK)) {
      if (reply.state === "failed") throw new Error(reply.error);
      this.element.dataset.state = reply.state;
      await new Promise((resolve) => { setTimeout(resolve, wait); });
      if (!this.element.isConnected) return undefined; // not shown any more
      reply = await this.look();
      if (reply.state === "none") reply = await this.ask(); // another window has left the table
    }
    delete this.element.dataset.state;
    return reply.review;
  }

  /** Draw the summary line: cards, chips won, and the state of the review. */
  head(reply, rest) {
    const won = reply.won === null ? null : h("span", { class: "soft" }, `${reply.won > 0 ? "+" : reply.won < 0 ? "−" : ""}${chips(Math.abs(reply.won))}`);
    fill(this.element, h("summary", {}, h("span", {}, `Hand ${this.hand + 1} `), cards(splitBoard(reply.hole), true), reply.board ? h("span", { class: "soft" }, "on") : null, reply.board ? cards(splitBoard(reply.board), true) : null, won, rest));
  }

  #decision(one) {
    const cost = one.ev_lost === null ? null : h("span", { class: `lost ${tone(one.ev_lost, one.pot)}`, "data-lost": one.ev_lost }, one.ev_lost < 0.05 ? "no EV lost" : `−${chips(one.ev_lost)}`);
    const read = one.read_as && one.read_as !== one.move ? h("small", { class: "soft" }, ` evaluated as ${one.read_as}`) : null;
    const agent = one.verdict?.agent_words ? h("small", { class: "soft" }, `The agent: ${Object.entries(one.verdict.agent_words).filter(([, p]) => p > 0.005).map(([move, p]) => `${move} ${percent(p)}`).join(", ")}`) : null;
    return h("div", { class: "decision" },
      h("div", { class: "spread" }, h("div", {}, h("b", {}, `${one.street}: ${one.words}`), read, h("small", { class: "soft" }, ` pot ${chips(one.pot)}`)), cost),
      one.verdict ? optionTable(one.verdict, one.read_as) : h("small", { class: "soft" }, one.why),
      agent,
      one.verdict ? h("div", { class: "spread" }, h("small", { class: "soft" }, `EVs: ${one.verdict.source}`), one.study ? button("Open in Study", () => this.#study(one.study), { class: "small" }) : null) : null);
  }

  #study(where) {
    if (where.run) go("study", where);
    else attempt(async () => openSpot(await api.readSpot(where.source)));
  }
}
