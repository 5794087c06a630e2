// The path to the current node: one box per decision with all its actions, and a card picker for deals.

import { card, Deck } from "./card_parts.js";
import { button, fill, h } from "./dom.js";
import { chips, moveColours, moveTitle, moveWords, percent } from "./figures.js";

/** Append a move to a line: with `-` in spots, without a separator in full games. */
export function joinLine(line, move, joiner) {
  return line === "" || line.endsWith("/") ? line + move : `${line}${joiner}${move}`;
}

const STREETS = { 4: "turn", 5: "river" };

export class Breadcrumb {
  /** `go(line)` is called for a chosen move or card; `deal(cards)` in full games, where cards are not part of the line. */
  constructor(go, deal = () => {}) {
    this.go = go;
    this.deal = deal;
    this.crumbs = h("div", { class: "crumbs", role: "list", "aria-label": "Moves so far" });
    this.picker = h("div");
    this.element = h("div", {}, this.crumbs, this.picker);
  }

  /** Draw `node.path`: the decisions and deals up to the node, which is last. */
  draw(node) {
    const dealt = node.path.filter((step) => step.kind === "deal" && step.chosen).length;
    let size = node.board.length - dealt;
    const steps = node.path.filter((step) => step.kind !== "end").map((step) =>
      (step.kind === "deal" ? { ...step, board: node.board.slice(0, size++), street: STREETS[size] } : step));
    const held = this.element.contains(document.activeElement); // its button is replaced, so keyboard users need the focus on the new one
    fill(this.crumbs, steps.map((step) => (step.kind === "deal" ? this.#deal(step, node) : this.#decision(step, node))));
    this.crumbs.scrollLeft = this.crumbs.scrollWidth;
    this.#pick(null, node);
    if (node.kind === "deal") this.#due(node, steps);
    if (held) (this.picker.querySelector("button[tabindex='0']") ?? this.crumbs.querySelector(".here button"))?.focus();
  }

  /** Open the picker for the next cards. */
  #due(node, steps) {
    if (node.needs) this.#pick({ line: node.line, street: node.street, board: node.board, chosen: null, apart: true }, node);
    else this.#pick(steps.at(-1), node);
  }

  #decision(step, node) {
    const here = step.chosen === null && node.kind === "decision";
    const colours = moveColours(step.moves);
    const facts = (label) => (here ? node.moves.find((move) => move.name === label) : null);
    const moves = step.moves.map((label, k) => h("button", {
      type: "button", title: moveTitle(label, facts(label)), style: { "--move": colours[k] },
      "aria-current": step.chosen === label ? "true" : null, on: { click: () => this.go(joinLine(step.line, label, node.joiner)) },
    }, h("span", {}, moveWords(label, facts(label)?.kind)), here ? h("span", {}, percent(facts(label).frequency, 0)) : null));
    const head = h("header", {}, h("b", { class: step.player }, step.player.toUpperCase()), step.locked ? h("span", { class: "badge", title: "Some hands are locked here" }, "locked") : null, h("span", {}, here ? chips(node.pot, 0) : step.pot ? chips(step.pot, 0) : ""));
    return h("div", { class: here ? "crumb here" : "crumb", role: "listitem", "aria-label": `${step.player} to act` }, head, moves);
  }

  #deal(step, node) {
    const words = step.chosen ? `${step.street} ${step.chosen}; choose another card` : `Choose the ${step.street}`;
    const open = button(step.chosen ? card(step.chosen) : "card…", () => this.#pick(step, node), { "aria-label": words });
    return h("div", { class: step.chosen ? "crumb deal" : "crumb deal here", role: "listitem" }, h("header", {}, h("span", {}, step.street)), open);
  }

  #pick(step, node) {
    if (!step || (this.picker.children.length && this.step === step.line)) {
      this.step = null;
      fill(this.picker);
      return;
    }
    this.step = step.line;
    const gone = new Set(step.board);
    const taken = step.chosen ? [step.chosen] : [];
    const many = step.apart ? node.needs - node.board.length : 1; // a flop has three
    const deck = new Deck({ label: many > 1 ? `Cards of the ${step.street}` : `Card of the ${step.street}`, pick: (name) => {
      if (!step.apart) {
        this.go(`${step.line}/${name}${step.chosen ? this.#rest(step, node) : ""}`);
        return;
      }
      if (taken.includes(name)) taken.splice(taken.indexOf(name), 1);
      else taken.push(name);
      draw();
      if (taken.length === many) this.deal(taken);
    } });
    const draw = () => deck.draw((name) => (gone.has(name) ? "gone" : taken.includes(name) ? "on" : "free"));
    draw();
    fill(this.picker, h("div", { class: "sheet picker" }, h("h3", {}, `The ${step.street}`), deck.element));
  }

  /** The moves after a card up to the next deal, kept when another card is chosen. */
  #rest(step, node) {
    const behind = node.line.slice(`${step.line}/${step.chosen}`.length);
    return behind.includes("/") ? behind.slice(0, behind.indexOf("/")) : behind;
  }
}
