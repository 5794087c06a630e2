// One hand looked at again: every decision with what it cost, what there was instead, and a way into Study.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, fill, h } from "./dom.js";
import { go } from "./place.js";
import { openSpot } from "./opened_spot.js";

export const chips = (number) => Number(number).toLocaleString("en", { maximumFractionDigits: 1 });
export const percent = (share) => `${Math.round(100 * share)} %`;

const UNSURE = "In brackets: hardly ever made, so that its value is no measure.";

/** A colour for EV lost: green, amber, red by its share of the pot. */
export function tone(lost, pot) {
  const share = lost / Math.max(pot, 1e-9);
  return share < 0.005 ? "fine" : share < 0.05 ? "slip" : "blunder";
}

/** The options of a verdict as bars: how often each is right, and its EV; `made` is marked. */
export function optionTable(verdict, made, words = (option) => option.words ?? option.move) {
  const best = verdict.best;
  return h("table", { class: "figures options" }, h("thead", {}, h("tr", {}, ["Move", "How often", `EV, ${verdict.unit}`].map((title) => h("th", { scope: "col" }, title)))),
    h("tbody", {}, verdict.options.map((option) => h("tr", { class: option.move === made ? "made" : "" },
      h("td", {}, words(option), option.move === made ? h("span", { class: "badge" }, "yours") : null, option.move === best ? h("span", { class: "badge live" }, "best") : null),
      h("td", {}, h("span", { class: "share", style: { "--share": `${100 * option.probability}%` } }, percent(option.probability))),
      h("td", {}, option.ev === null ? "–" : option.sure ? chips(option.ev) : h("span", { class: "unsure", title: UNSURE }, `(${chips(option.ev)})`))))),
    verdict.options.some((option) => option.ev !== null && !option.sure) ? h("caption", { class: "soft" }, UNSURE) : null);
}

const FIRST_LOOK = 40; // ms after a review was asked for
const LAST_LOOK = 1000; // ms between two looks, in the end

export class HandReview {
  /** `ask` lets the server review the hand, `look` tells where that stands. */
  constructor(hand, ask, look) {
    Object.assign(this, { hand, ask, look });
    this.element = h("details", { class: "review", "data-hand": hand }, h("summary", {}, `Hand ${hand + 1}: waits to be judged…`));
  }

  /** The review, once it is computed and drawn; reviews are computed behind play, one at a time. */
  async load() {
    const told = await attempt(() => this.#computed());
    if (!told) {
      fill(this.element, h("summary", {}, `Hand ${this.hand + 1}: not judged`));
      return undefined;
    }
    const judged = told.decisions.filter((one) => one.ev_lost !== null);
    const pot = Math.max(...told.decisions.map((one) => one.pot), 1);
    const lost = h("span", { class: `lost ${judged.length ? tone(told.ev_lost, pot) : "soft"}`, "data-lost": told.ev_lost }, !told.decisions.length ? "nothing to decide" : judged.length ? `EV lost ${chips(told.ev_lost)}` : "not judged");
    this.head(told, lost);
    this.element.append(...told.decisions.map((one) => this.#decision(one)));
    return told;
  }

  async #computed() {
    let told = await this.ask();
    for (let wait = FIRST_LOOK; told.state !== "done"; wait = Math.min(1.5 * wait, LAST_LOOK)) {
      if (told.state === "failed") throw new Error(told.error);
      this.element.dataset.state = told.state;
      await new Promise((resolve) => { setTimeout(resolve, wait); });
      if (!this.element.isConnected) return undefined; // nobody looks at it any more
      told = await this.look();
      if (told.state === "none") told = await this.ask(); // another window has left the table
    }
    delete this.element.dataset.state;
    return told.review;
  }

  /** The line that is always to be seen: cards, what was won, and what is known of the rest. */
  head(told, rest) {
    const won = told.won === null ? null : h("span", { class: "soft" }, `${told.won > 0 ? "+" : told.won < 0 ? "−" : ""}${chips(Math.abs(told.won))}`);
    fill(this.element, h("summary", {}, h("span", {}, `Hand ${this.hand + 1} `), cards(splitBoard(told.hole), true), told.board ? h("span", { class: "soft" }, "on") : null, told.board ? cards(splitBoard(told.board), true) : null, won, rest));
  }

  #decision(one) {
    const cost = one.ev_lost === null ? null : h("span", { class: `lost ${tone(one.ev_lost, one.pot)}`, "data-lost": one.ev_lost }, one.ev_lost < 0.05 ? "no EV lost" : `−${chips(one.ev_lost)}`);
    const read = one.read_as && one.read_as !== one.move ? h("small", { class: "soft" }, ` read as ${one.read_as}`) : null;
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
