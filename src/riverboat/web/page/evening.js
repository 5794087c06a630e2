// The report of an evening: hands read and refused, winnings, statistics, the most expensive decisions, and all hands.

import * as api from "./api.js";
import { cards } from "./card_parts.js";
import { splitBoard } from "./cards.js";
import { attempt, button, field, fill, h } from "./dom.js";
import { EveningHand, reviewed } from "./evening_hand.js";
import { go } from "./place.js";

const LARGEST = 10; // pots that one click reviews
const SHOWN = 100; // hands listed at first
const TITLES = { vpip: "VPIP", pfr: "PFR", three_bet: "3-bet", fold_to_three_bet: "fold to 3-bet", steal: "steal", c_bet: "c-bet", fold_to_c_bet: "fold to c-bet", check_raise: "check-raise", aggression: "aggression", wtsd: "WTSD", wsd: "W$SD" };
const ORDER = ["UTG", "UTG+1", "UTG+2", "UTG+3", "LJ", "HJ", "CO", "BTN", "SB", "BB", "all"];
const STREETS = ["preflop", "flop", "turn", "river", "all"];

const signed = (value, digits = 2) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
const share = (one) => (one && one.chances ? `${Math.round(100 * one.share)} %` : "–");
const around = (one) => (one && one.chances ? `95 %: ${Math.round(100 * one.ci95[0])} to ${Math.round(100 * one.ci95[1])} %, ${one.count} of ${one.chances}` : "");

function table(label, heads, rows, kind = "figures") {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: kind }, h("thead", {}, h("tr", {}, heads.map((one) => h("th", { scope: "col" }, one)))),
    h("tbody", {}, rows.map((row) => h("tr", { class: row[0] === "all" ? "total" : null }, row.map((cell, k) => (k ? h("td", {}, cell) : h("th", { scope: "row" }, cell))))))));
}

export class EveningReport {
  constructor(root, params) {
    Object.assign(this, { root, params, closed: false });
    this.worst = h("div", { class: "stack", "aria-live": "polite" });
  }

  close() {
    this.closed = true;
    api.cancelEveningReviews(this.params.evening).catch(() => undefined);
  }

  async load() {
    const { evening: name, player = "", hand } = this.params;
    if (hand !== undefined) return new EveningHand(this, name, Number(hand), player).load();
    const report = await api.evening(name, player);
    this.report = report;
    const players = report.players.map((one) => [one.name, `${one.name} (${one.hands})`]);
    const choose = h("select", { "aria-label": "Player", on: { change: (event) => go("play", { evening: name, player: event.target.value }) } },
      [["", report.player && !player ? `${report.player}: own cards shown` : "own cards shown"], ...players].map(([value, text]) => h("option", { value, selected: value === player }, text)));
    fill(this.root, h("div", { class: "stack evening" },
      h("div", { class: "spread title" }, h("div", {}, h("h1", {}, name), h("p", { class: "soft" }, `${report.hands} hands read, ${report.refused_count} refused${report.duplicates ? `, ${report.duplicates} occur again` : ""}`)),
        h("div", { class: "row" }, button("Delete this evening", () => attempt(async () => { await api.removeEvening(name); go("play", {}); }), { class: "quiet" }), h("a", { class: "button", href: api.eveningPhh(name), download: `${name}.phhs` }, "Save as PHH"), button("Back to Play", () => go("play", {}), { class: "quiet" }))),
      h("section", { class: "sheet stack" }, field("Player", choose), this.#refused(report), report.heads_up ? h("div", { class: "row" }, button(`Review the ${report.heads_up} hands of tables of two by an agent`, () => attempt(async () => go("play", { history: (await api.bringHands({ text: await api.eveningHeadsUp(name), title: `${name} heads-up` })).name })), { class: "small" }), h("span", { class: "soft" }, "from before the flop on")) : null),
      report.played.length ? [this.#stakes(report), this.#worstSection(report), this.#statistics(report.statistics), this.#hands(report)] : h("p", { class: "empty" }, "No hand shows a player's own cards: choose a player above.")));
    return undefined;
  }

  #refused(report) {
    if (!report.refused_count) return null;
    const reasons = Object.entries(report.reasons).map(([why, times]) => `${times} × ${why}`).join(", ");
    return h("details", {}, h("summary", {}, `Refused: ${reasons}`), h("ul", { class: "soft" }, report.refused.map((one) => h("li", {}, `${one.file.includes(", part ") ? `${one.file}, ` : ""}line ${one.line}${one.number ? `, hand ${one.number}` : ""}: ${one.reason}${one.detail ? `: ${one.detail}` : ""}`))));
  }

  #stakes(report) {
    const rate = (value, half) => `${signed(value, 1)}${half === null ? "" : ` ± ${half.toFixed(1)}`}`;
    const rows = report.stakes.map((one) => [one.stake, one.hands, signed(one.won), rate(one.bb_per_100, one.ci95), one.all_ins, signed(one.won_all_in_ev), rate(one.bb_per_100_all_in_ev, one.ci95_all_in_ev), one.rake.toFixed(2)]);
    return h("section", { class: "sheet stack" }, h("h2", {}, "Winnings"), table("Winnings", ["Stake", "Hands", "Won", "bb/100 ± 95 %", "All-ins", "Won, all-ins by equity", "bb/100 ± 95 %", "Rake"], rows));
  }

  #statistics(statistics) {
    const by = new Map(statistics.frequencies.map((one) => [`${one.statistic} ${one.position} ${one.street}`, one]));
    const cell = (name, position, street = "all") => {
      const one = by.get(`${name} ${position} ${street}`);
      return h("span", { title: around(one) }, share(one), one ? h("small", { class: "soft" }, ` ${one.chances}`) : null);
    };
    const columns = ["vpip", "pfr", "three_bet", "fold_to_three_bet", "steal", "c_bet", "fold_to_c_bet", "wtsd", "wsd"];
    const positions = ORDER.filter((one) => statistics.hands[one]).map((one) => [one, statistics.hands[one], ...columns.map((name) => cell(name, one))]);
    const all = (name, street) => {
      const one = by.get(`${name} all ${street}`);
      return one ? h("span", {}, share(one), h("small", { class: "soft" }, ` ${Math.round(100 * one.ci95[0])}–${Math.round(100 * one.ci95[1])} (${one.count}/${one.chances})`)) : "–";
    };
    const streets = ["c_bet", "fold_to_c_bet", "check_raise", "aggression"].map((name) => [TITLES[name], ...STREETS.map((street) => all(name, street))]);
    const totals = columns.filter((name) => by.has(`${name} all all`)).map((name) => [TITLES[name], all(name, "all"), statistics.units[name]]);
    return h("section", { class: "sheet stack" }, h("h2", {}, "Statistics"), h("p", { class: "soft" }, "Small numbers count the opportunities; ranges are Wilson's 95 % intervals."),
      table("Statistics by position", ["Position", "Hands", ...columns.map((name) => TITLES[name])], positions),
      table("Statistics by street", ["Statistic", ...STREETS], streets), table("Statistics with intervals", ["Statistic", "%, 95 %, count", "Meaning"], totals, "figures left"));
  }

  #worstSection(report) {
    const start = button(`Review the ${Math.min(LARGEST, report.reviewable)} largest heads-up pots`, () => attempt(() => this.#reviewLargest(start)), { disabled: !report.reviewable });
    const note = report.reviewable ? `${report.reviewable} pots were heads-up from the flop on. Each is solved on this machine, half a minute for a flop; the ranges come from a library by position and action, and are shown with each hand.` : "No pot was heads-up from the flop on with this player's cards known.";
    return h("section", { class: "sheet stack" }, h("h2", {}, "Most expensive decisions"), h("p", { class: "soft" }, note), h("div", { class: "row" }, start), this.worst);
  }

  async #reviewLargest(start) {
    start.disabled = true;
    const pots = this.report.played.filter((one) => one.reviewable).sort((a, b) => b.pot_bb - a.pot_bb).slice(0, LARGEST);
    const decisions = [];
    for (const [k, pot] of pots.entries()) {
      fill(this.worst, this.#worstTable(decisions), h("p", { class: "soft", role: "status" }, `Solving pot ${k + 1} of ${pots.length}…`));
      const review = await attempt(() => reviewed(this, this.params.evening, pot.hand, this.params.player ?? ""));
      if (this.closed) return;
      decisions.push(...(review?.decisions ?? []));
    }
    fill(this.worst, this.#worstTable(decisions), h("p", { class: "soft", role: "status" }, `${pots.length} pots reviewed, ${decisions.length} decisions`));
  }

  #worstTable(decisions) {
    const rows = decisions.filter((one) => one.ev_lost > one.error && one.ev_lost_bb > 0.005).sort((a, b) => b.ev_lost_bb - a.ev_lost_bb).slice(0, 10)
      .map((one) => [this.#link(one.hand, one.number || `hand ${one.hand + 1}`), one.position, one.street, one.action, one.best, one.ev_lost_bb.toFixed(2), one.ev_lost_money.toFixed(2)]);
    return rows.length ? table("Most expensive decisions", ["Hand", "Position", "Street", "Played", "Better", "bb lost", "Lost"], rows) : null;
  }

  #link(hand, text) {
    return h("button", { type: "button", class: "quiet small", on: { click: () => go("play", { evening: this.params.evening, player: this.params.player, hand }) } }, text);
  }

  #hands(report) {
    const body = h("div");
    const draw = (most) => fill(body, table("Hands", ["Hand", "Stake", "Position", "Cards", "Board", "Won", "bb"], report.played.slice(0, most).map((one) =>
      [this.#link(one.hand, one.number || `hand ${one.hand + 1}`), one.stake, one.position, one.hole ? cards(splitBoard(one.hole), true) : "–", one.board ? cards(splitBoard(one.board), true) : "–", signed(one.won), signed(one.won_bb, 1)]), "figures left"),
      report.played.length > most ? button(`Show all ${report.played.length}`, () => draw(Infinity), { class: "small" }) : null);
    draw(SHOWN);
    return h("section", { class: "sheet stack" }, h("h2", {}, `Hands of ${report.player}`), report.left_out ? h("p", { class: "soft" }, `${report.left_out} more hands are not listed here`) : null, body);
  }
}
