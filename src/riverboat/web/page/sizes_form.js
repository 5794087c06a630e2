// Bet sizes per street: bets, raises and donk bets, for both players together or separately.

import { choice, fill, h, input } from "./dom.js";

export const STREETS = ["flop", "turn", "river"];
const KINDS = [["bet", "Bets", "33%, 75%"], ["raise", "Raises", "60%"], ["donk", "Donk bets", ""]];

/** The streets from a board with this many cards on. */
export const streetsFrom = (cards) => STREETS.slice(Math.max(0, Math.min(cards, 5) - 3));

export class SizesForm {
  /** `change()` is called after each change. */
  constructor(change) {
    this.change = change;
    this.apart = false;
    this.values = {}; // "oop.flop.bet" or "both.flop.bet" -> text
    for (const street of STREETS) for (const [kind, , text] of KINDS) this.values[`both.${street}.${kind}`] = text;
    this.streets = STREETS;
    this.who = choice("Bet sizes for", [["both", "Both players"], ["apart", "Each player"]], "both", (value) => { this.#part(value === "apart"); change(); });
    this.table = h("div", { class: "stack" });
    this.element = h("div", { class: "stack" }, this.who, this.table, h("small", {}, "33% of the pot, 2.5x the bet, 100c chips, a all-in, e or 2e geometric; separate several by commas, and later raises by a semicolon"));
    this.#draw();
  }

  #part(apart) {
    this.apart = apart;
    if (apart) for (const [key, text] of Object.entries(this.values)) if (key.startsWith("both.")) for (const player of ["oop", "ip"]) this.values[key.replace("both", player)] ??= text;
    this.#draw();
  }

  show(streets) {
    this.streets = streets;
    this.#draw();
  }

  #draw() {
    const one = (player) => h("table", { class: "sizes" },
      h("thead", {}, h("tr", {}, h("th", { class: player }, player === "both" ? "" : player.toUpperCase()), KINDS.map(([, title]) => h("th", { scope: "col" }, title)))),
      h("tbody", {}, this.streets.map((street) => h("tr", {}, h("th", { scope: "row" }, street), KINDS.map(([kind, title]) => h("td", {}, player === "ip" && kind === "donk" ? "" : this.#field(player, street, kind, title)))))));
    fill(this.table, this.apart ? [one("oop"), one("ip")] : one("both"));
  }

  #field(player, street, kind, title) {
    const key = `${player}.${street}.${kind}`;
    const box = input({ value: this.values[key] ?? "", "aria-label": `${title}, ${street}${player === "both" ? "" : `, ${player}`}`, maxlength: 60, on: { input: () => { this.values[key] = box.value; this.change(); } } });
    return box;
  }

  /** `bets` of a spot. */
  read() {
    const sizes = (text) => (text.includes(";") ? text.split(";").map((part) => part.trim()) : text.trim());
    const of = (player, street) => KINDS.map(([kind]) => [kind, this.values[`${player}.${street}.${kind}`] ?? ""])
      .filter(([kind, text]) => text.trim() && !(player === "ip" && kind === "donk")).map(([kind, text]) => [kind, sizes(text)]);
    const table = (player) => Object.fromEntries(this.streets.map((street) => [street, Object.fromEntries(of(player, street))]));
    return this.apart ? { oop: table("oop"), ip: table("ip") } : table("both");
  }

  /** Set the `bets` of a spot. Missing streets repeat the last one given. */
  write(bets = {}) {
    this.apart = Boolean(bets.oop || bets.ip);
    const text = (value) => (Array.isArray(value) ? value.join("; ") : (value ?? ""));
    const take = (player, tables) => {
      let last = {};
      for (const street of STREETS) {
        last = tables.map((table) => table?.[street]).find(Boolean) ?? last;
        for (const [kind] of KINDS) this.values[`${player}.${street}.${kind}`] = text(last[kind]);
      }
    };
    if (this.apart) for (const player of ["oop", "ip"]) take(player, [bets[player], bets]);
    else take("both", [bets]);
    this.who.set(this.apart ? "apart" : "both");
    this.#draw();
  }
}
