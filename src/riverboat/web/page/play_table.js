// The table of a session: cards, pot, moves by click or key, the hand's history, results, and reviews of finished hands.

import * as api from "./api.js";
import { card } from "./card_parts.js";
import { attempt, button, fill, h, input, say } from "./dom.js";
import { HandReview } from "./play_review.js";

const KEYS = "f fold · c check or call · 1–9 bet size · b bet · n next hand";
const chips = (number) => Number(number).toLocaleString("en", { maximumFractionDigits: 1 });
const signed = (number) => `${number > 0 ? "+" : number < 0 ? "−" : ""}${chips(Math.abs(number))}`;

export class PlayTable {
  constructor(root, name, leave) {
    Object.assign(this, { root, name, leave, busy: false, state: null, size: null });
    this.felt = h("div", { class: "felt" });
    this.actions = h("div", { class: "actions", role: "group", "aria-label": "Your moves" });
    this.log = h("ol", { class: "history", "aria-label": "Hand history" });
    this.figures = h("div", { class: "numbers" });
    this.more = h("div", { class: "row" });
    this.reviews = h("div", { class: "stack" });
    this.head = h("div", { class: "spread title" });
    this.keys = (event) => this.#key(event);
    addEventListener("keydown", this.keys);
  }

  close() {
    removeEventListener("keydown", this.keys);
    api.cancelReviews(this.name).catch(() => undefined); // the player has left the table
  }

  async load() {
    const state = await api.session(this.name);
    fill(this.root, h("div", { class: "stack" }, this.head,
      h("div", { class: "playing" }, h("div", { class: "stack" }, this.felt, this.actions, h("p", { class: "soft keys" }, KEYS)),
        h("div", { class: "stack" }, h("section", { class: "sheet" }, h("header", {}, h("h2", {}, "This hand")), this.log),
          h("section", { class: "sheet stack" }, h("header", {}, h("h2", {}, "Results")), this.figures, this.more),
          h("section", { class: "sheet stack", "aria-label": "Review" }, h("header", {}, h("h2", {}, "Review")), this.reviews)))));
    this.#draw(state);
    for (let hand = Math.max(0, state.hands - 3); hand < state.hands; hand++) this.#review(hand);
  }

  async #do(work) {
    if (this.busy) return;
    this.busy = true;
    this.actions.classList.add("waiting");
    const before = this.state?.hands ?? 0;
    const state = await attempt(work);
    this.busy = false;
    this.actions.classList.remove("waiting");
    if (!state) { // rejected: another window may have continued the session
      const now = await attempt(() => api.session(this.name));
      if (now) this.#draw(now);
      return;
    }
    this.#draw(state);
    if (state.over && state.hands > before) this.#review(state.hands - 1);
  }

  act(move) {
    return this.#do(() => api.move(this.name, move, this.state.version));
  }

  deal() {
    return this.#do(() => api.deal(this.name, this.state.version));
  }

  #key(event) {
    const typing = event.target.matches?.("input:not([type=range]), textarea, select");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !this.state) return;
    const key = event.key.toLowerCase();
    const has = (move) => this.state.moves.some((one) => one.move === move);
    if (this.state.over) {
      if (key === "n") this.deal();
    } else if (key === "f" && has("f")) this.act("f");
    else if (key === "c" && has("c")) this.act("c");
    else if (key === "b" && this.size !== null) this.act(`r${this.size}`);
    else if (/^[1-9]$/.test(key)) this.pickers?.[Number(key) - 1]?.click();
  }

  // --- Drawing ---

  #draw(state) {
    this.state = state;
    fill(this.head, h("div", {}, h("h1", {}, `Hand ${state.hand}`), h("p", { class: "soft" }, `${state.game} against ${state.agent}`)), button("Leave the table", this.leave, { class: "quiet" }));
    this.#drawFelt(state);
    this.#drawActions(state);
    fill(this.log, state.history.map((event) => this.#event(event)));
    this.log.scrollTop = this.log.scrollHeight;
    fill(this.figures, this.#figure("Hands", chips(state.hands)), this.#figure("Won", `${signed(state.won)} chips`));
    if (state.hands > 1) this.#results(false);
    fill(this.more, button("Remove luck (AIVAT)", () => this.#results(true), { class: "small", disabled: state.hands < 2 }),
      state.phh && state.hands ? h("a", { class: "button small", href: api.handsLink(this.name), download: `${this.name}.phhs` }, "Save as PHH") : null);
  }

  #figure(name, value) {
    return h("div", {}, h("small", {}, name), h("b", {}, value));
  }

  #drawFelt(state) {
    const them = 1 - state.you;
    const side = (seat, names, label) => h("div", { class: "seat", "aria-label": label },
      h("span", { class: "cards big" }, names.length ? names.map(card) : [h("span", { class: "card back", role: "img", "aria-label": "a hidden card" }), h("span", { class: "card back", role: "img", "aria-label": "a hidden card" })]),
      h("div", { class: "who" }, h("b", {}, label), h("small", {}, `${state.seats[seat]}${state.behind ? ` · ${chips(state.behind[seat])} behind` : ""}`)),
      state.bets[seat] > 0 && !state.over ? h("span", { class: "bet" }, chips(state.bets[seat])) : null);
    const board = state.board.length ? state.board.map(card) : h("span", { class: "soft" }, "no board yet");
    const end = state.result === null ? "" : state.result > 0 ? `You win ${chips(state.result)}` : state.result < 0 ? `You lose ${chips(-state.result)}` : "No chips won";
    fill(this.felt, side(them, state.shown ?? [], state.agent),
      h("div", { class: "middle" }, h("span", { class: "cards big", "aria-label": "Board" }, board), h("div", { class: "pot" }, "Pot ", h("b", {}, chips(state.pot))), end ? h("div", { class: `ended ${state.result > 0 ? "good" : ""}`, role: "status" }, end) : null),
      side(state.you, state.hole, "You"));
    if (end) say(end);
  }

  #drawActions(state) {
    this.size = null;
    this.pickers = null;
    if (state.over) {
      fill(this.actions, button("Next hand", () => this.deal(), { class: "main", "data-move": "deal" }));
      this.actions.firstChild.focus({ preventScroll: true });
      return;
    }
    const plain = state.moves.map((one) => button(one.words, () => this.act(one.move), { "data-move": one.move, class: `act ${one.move[0]}` }));
    fill(this.actions, h("div", { class: "row" }, plain), state.raise ? this.#slider(state) : null);
  }

  /** Pot-size buttons, a slider and a number field, which all set the same bet size. */
  #slider(state) {
    const { least, most, before } = state.raise;
    const verb = state.bets.some((bet) => bet > 0) ? "Raise to" : "Bet";
    const make = button("", () => this.act(`r${this.size}`), { class: "main act r", "data-move": "raise" });
    const slide = h("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": "Bet size", on: { input: () => set(Math.round(least * (most / least) ** (slide.value / 1000)), slide) } });
    const number = input({ inputmode: "numeric", "aria-label": "Chips on this street", on: { change: () => set(before + (Number.parseInt(number.value.replace(/\D/g, ""), 10) || 0), number), keydown: (event) => event.key === "Enter" && (number.dispatchEvent(new Event("change")), make.click()) } });
    const set = (total, from) => {
      this.size = Math.max(least, Math.min(most, total));
      if (from !== slide) slide.value = most > least ? String(Math.round((1000 * Math.log(this.size / least)) / Math.log(most / least))) : "0";
      number.value = chips(this.size - before);
      fill(make, `${verb} ${chips(this.size - before)}${this.size === most ? " (all-in)" : ""}`);
      this.pickers.forEach((one) => one.setAttribute("aria-pressed", one.dataset.total === String(this.size)));
    };
    this.pickers = state.sizes.map((one, k) => button(one.name, () => set(Number(one.move.slice(1))), { class: "small", "data-total": one.move.slice(1), title: `key ${k + 1}` }));
    set(Number((state.sizes.find((one) => one.name === "½ pot") ?? state.sizes[0]).move.slice(1)));
    return h("div", { class: "sizing" }, h("div", { class: "row tags" }, this.pickers), h("div", { class: "row" }, slide, number, make));
  }

  #event(event) {
    if (event.kind === "move") return h("li", { class: event.you ? "mine" : "" }, h("b", {}, event.you ? "You" : this.state.agent), ` ${event.you ? event.words : event.words.replace(/^\w+/, "$&s")}`);
    if (event.kind === "won") return h("li", { class: "end" }, event.won > 0 ? `You win ${chips(event.won)}` : event.won < 0 ? `You lose ${chips(-event.won)}` : "No chips won");
    if (event.kind === "showdown") return h("li", { class: "street" }, `Showdown, pot ${chips(event.pot)}`);
    return h("li", { class: "street" }, `${event.street[0].toUpperCase()}${event.street.slice(1)}, pot ${chips(event.pot)}`);
  }

  // --- Results and reviews ---

  /** Draw the win rate with its interval; `aivat` also removes luck, which may take minutes the first time with an agent. */
  async #results(aivat) {
    const { hands } = this.state;
    if (!aivat && this.reply?.hands === hands) return this.#drawResults(this.reply);
    const wait = aivat ? h("small", { class: "soft", role: "status" }, "Computing; the values of an agent are computed once, which takes a minute or two…") : null;
    if (wait) this.figures.append(wait);
    const reply = await attempt(() => (aivat ? api.lucklessResults(this.name) : api.results(this.name)));
    wait?.remove();
    if (!reply || this.state.hands !== reply.hands) return undefined; // another hand has finished in the meantime
    this.reply = reply;
    return this.#drawResults(reply);
  }

  #drawResults(reply) {
    const row = (title, found) => (found ? this.#figure(title, `${signed(found.mean)} ± ${chips(found.ci95)} ${reply.unit}`) : null);
    fill(this.figures, this.#figure("Hands", chips(reply.hands)), this.#figure("Won", `${signed(reply.won)} chips`), row("As played", reply.raw), row("All-ins by equity", reply.all_in), row("Without luck (AIVAT)", reply.aivat),
      reply.aivat || reply.why_no_aivat === "it was not requested" ? null : h("small", { class: "soft" }, reply.why_no_aivat));
  }

  #review(hand) {
    const shown = new HandReview(hand, () => api.askReview(this.name, hand), () => api.review(this.name, hand));
    this.reviews.prepend(shown.element);
    while (this.reviews.children.length > 12) this.reviews.lastChild.remove();
    shown.load();
  }
}
