// Cards and card pickers.

import { ORDER, SYMBOLS, cardWords, handName, parseBoard } from "./cards.js";
import { h, input, say } from "./dom.js";

export function card(name) {
  return h("span", { class: `card ${name[1]}`, role: "img", "aria-label": cardWords(name) }, name[0], SYMBOLS[name[1]]);
}

export function cards(names, little = false) {
  return h("span", { class: little ? "cards little" : "cards" }, names.map(card));
}

/** A hand in a table: A♠K♦. */
export function combo(hand) {
  const name = handName(hand);
  const part = (rank, suit) => [rank, h("span", { class: suit }, SYMBOLS[suit])];
  return h("span", { class: "combo", role: "img", "aria-label": name }, part(name[0], name[1]), part(name[2], name[3]));
}

/** All cards in four rows by suit. `pick(name)` is called on a click; `state(name)` returns "free", "on" or "gone". */
export class Deck {
  constructor({ label, pick, suits = "shdc" }) {
    this.buttons = new Map();
    const make = (name) => {
      const one = h("button", { type: "button", class: name[1], "aria-label": cardWords(name), on: { click: () => pick(name) } },
        name[0], SYMBOLS[name[1]]);
      this.buttons.set(name, one);
      return one;
    };
    const names = [...suits].flatMap((suit) => [...ORDER].map((rank) => rank + suit));
    this.names = names;
    this.element = h("div", { class: "deck", role: "group", "aria-label": label, on: { keydown: (event) => this.#key(event) } }, names.map(make));
    this.buttons.forEach((one, name) => { one.tabIndex = name === names[0] ? 0 : -1; });
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 13, ArrowUp: -13 }[event.key];
    if (!step) return;
    event.preventDefault();
    let at = this.names.findIndex((name) => this.buttons.get(name) === document.activeElement);
    do at += step; while (this.names[at] && this.buttons.get(this.names[at]).disabled);
    const next = this.buttons.get(this.names[at]);
    if (!next) return;
    this.buttons.forEach((one) => { one.tabIndex = -1; });
    next.tabIndex = 0;
    next.focus();
  }

  draw(state) {
    this.buttons.forEach((one, name) => {
      const how = state(name);
      one.setAttribute("aria-pressed", how === "on");
      one.disabled = how === "gone";
    });
    if (this.names.every((name) => this.buttons.get(name).tabIndex < 0 || this.buttons.get(name).disabled)) {
      const first = this.names.find((name) => !this.buttons.get(name).disabled);
      if (first) this.buttons.get(first).tabIndex = 0;
    }
  }
}

/** Choose three to five cards by clicking or typing. `change(names)` is called after each change. */
export class BoardPicker {
  constructor({ change, most = 5 }) {
    this.change = change;
    this.most = most;
    this.names = [];
    this.deck = new Deck({ label: "Cards of the board", pick: (name) => this.#toggle(name) });
    this.text = input({ "aria-label": "Board", placeholder: "Qs Jh 2h", maxlength: 24, on: { change: () => this.#typed() } });
    this.shown = h("span", { class: "cards" });
    this.element = h("div", { class: "stack" }, h("div", { class: "row" }, h("div", { class: "grow" }, this.text), this.shown), this.deck.element);
    this.#draw();
  }

  #toggle(name) {
    if (this.names.includes(name)) this.set(this.names.filter((one) => one !== name), true);
    else if (this.names.length < this.most) this.set([...this.names, name], true);
    else say("The board has five cards; remove one first.");
  }

  #typed() {
    const found = parseBoard(this.text.value);
    this.text.setAttribute("aria-invalid", found === null || found.length > this.most);
    if (found && found.length <= this.most) this.set(found, true);
  }

  set(names, tell = false) {
    this.names = names;
    this.#draw();
    if (tell) this.change(names);
  }

  #draw() {
    this.text.value = this.names.join(" ");
    this.text.removeAttribute("aria-invalid");
    this.shown.replaceChildren(...this.names.map(card));
    this.deck.draw((name) => (this.names.includes(name) ? "on" : "free"));
  }
}
