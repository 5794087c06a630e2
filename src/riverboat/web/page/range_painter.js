// Range editor: paint cells with a weight, change single hands, choose a preset, or paste a range in any notation of the
// command line. The server parses texts; the page only handles weights.

import { parseRange, presets } from "./api.js";
import { CELL_NAMES, HANDS, HANDS_OF_CELL, rangeText } from "./cards.js";
import { combo } from "./card_parts.js";
import { attempt, button, fill, h, later, say } from "./dom.js";
import { combos, percent } from "./figures.js";
import { Grid } from "./grid.js";

export class RangePainter {
  /** `change(text)` is called after each change; `label` is for example "Range of oop". */
  constructor({ label, change = () => {}, text = "" }) {
    this.change = change;
    this.weights = new Float64Array(HANDS);
    this.brush = 1;
    this.cell = -1;
    this.stroke = null; // weight of the current drag
    this.grid = new Grid({ label: `${label}, paint with the mouse, or with arrow keys and space` });
    this.text = h("textarea", { "aria-label": `${label} as text`, rows: 3, spellcheck: "false", on: { change: () => this.read(this.text.value) } });
    this.total = h("span", { class: "soft" });
    this.hands = h("div", { class: "stack" });
    this.element = h("div", { class: "stack" }, this.#tools(label), this.grid.element, this.hands, this.text);
    this.tell = later(() => this.change(this.text.value), 200);
    this.#listen();
    this.#draw();
    if (text) this.read(text, false);
  }

  #tools(label) {
    const shown = h("output", {}, "100 %");
    const slider = h("input", {
      type: "range", min: 0, max: 100, step: 5, value: 100, "aria-label": "Weight of the brush, in per cent",
      on: { input: () => { this.brush = slider.value / 100; shown.textContent = `${slider.value} %`; } },
    });
    const preset = h("select", { "aria-label": `Preset for ${label}`, on: { change: () => {
      if (preset.value) this.read(preset.value);
      preset.value = "";
    } } }, h("option", { value: "" }, "Presets"));
    attempt(async () => {
      const groups = Map.groupBy(await presets(), (one) => one.group);
      preset.append(...[...groups].map(([group, entries]) => h("optgroup", { label: group }, entries.map(({ name, text }) => h("option", { value: text }, name)))));
    });
    return h("div", { class: "row" },
      h("label", { class: "row brush" }, h("small", {}, "Brush"), slider, shown),
      h("span", { style: { width: "102px" } }, preset), button("Clear", () => this.set(new Float64Array(HANDS), true), { class: "quiet small" }));
  }

  #listen() {
    this.grid.paintWith({ begin: (cell) => this.#begin(cell), over: (cell) => this.#paint(cell, this.stroke), end: () => this.#end() });
    this.grid.element.addEventListener("keydown", (event) => {
      if (event.key !== "Delete") return;
      this.stroke = 0;
      this.#paint(this.grid.at, 0);
      this.#end();
    });
  }

  #mean(cell) {
    const hands = HANDS_OF_CELL[cell];
    return hands.reduce((sum, hand) => sum + this.weights[hand], 0) / hands.length;
  }

  /** Painting a cell that has the weight of the brush removes it. */
  #begin(cell) {
    this.stroke = HANDS_OF_CELL[cell].every((hand) => this.weights[hand] === this.brush) ? 0 : this.brush;
    this.#choose(cell);
  }

  #paint(cell, weight) {
    for (const hand of HANDS_OF_CELL[cell]) this.weights[hand] = weight;
    this.#draw();
  }

  #end() {
    if (this.stroke === null) return;
    this.stroke = null;
    say(`${CELL_NAMES[this.grid.at]} ${percent(this.#mean(this.grid.at), 0)}`);
    this.#write();
  }

  #write() {
    this.token = {};
    this.text.value = rangeText(this.weights);
    this.text.removeAttribute("aria-invalid");
    this.#choose(this.cell);
    this.tell();
  }

  /** Show the hands of a cell with their weights. */
  #choose(cell) {
    this.cell = cell;
    if (cell < 0) return;
    const one = (hand) => {
      const weight = this.weights[hand];
      return h("button", { type: "button", "aria-pressed": weight > 0, on: { click: () => {
        this.weights[hand] = weight === this.brush ? 0 : this.brush;
        this.#draw();
        this.#write();
      } } }, combo(hand), weight > 0 && weight < 1 ? ` ${percent(weight, 0)}` : "");
    };
    fill(this.hands, h("details", { open: this.hands.querySelector("details")?.open ?? false },
      h("summary", {}, h("small", {}, `Hands of ${CELL_NAMES[cell]}`)), h("div", { class: "suits" }, HANDS_OF_CELL[cell].map(one))));
  }

  /** Set the range from a text, which the server parses. */
  async read(text, tell = true) {
    const token = (this.token = {});
    const found = await attempt(() => parseRange(text));
    if (this.token !== token) return; // painted in the meantime, or another text was entered
    this.text.setAttribute("aria-invalid", !found);
    if (!found) return;
    this.set(found.weights, false);
    this.text.value = found.text ?? text;
    if (tell) this.tell();
  }

  set(weights, tell = false) {
    this.weights = Float64Array.from(weights);
    this.#draw();
    this.#choose(this.cell);
    if (tell) this.#write();
  }

  #draw() {
    const cells = CELL_NAMES.map((_, cell) => {
      const weight = this.#mean(cell);
      return { weight, corner: weight > 0.2 && weight < 0.995 ? Math.round(100 * weight) : "", words: weight ? percent(weight, 0) : "not in the range" };
    });
    this.grid.draw(cells, ["var(--weight)"]);
    const sum = this.weights.reduce((a, b) => a + b, 0);
    this.total.textContent = `${combos(sum)} combos, ${percent(sum / HANDS)}`;
  }
}
