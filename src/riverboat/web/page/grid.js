// The 13 × 13 grid: moves side by side in each cell, with the weight as height. Cells are created once and only recolored
// afterwards, so that a node is drawn in a few milliseconds. The arrow keys move the focus between cells.

import { CELL_NAMES, cellWords } from "./cards.js";
import { h } from "./dom.js";

function backdrop(shares, colours) {
  if (colours.length === 1 || !shares) return colours[0];
  const stops = [];
  let at = 0;
  shares.forEach((share, k) => {
    if (share <= 0.0005) return;
    const end = at + 100 * share;
    stops.push(`${colours[k]} ${at.toFixed(1)}% ${end.toFixed(1)}%`);
    at = end;
  });
  return stops.length ? `linear-gradient(90deg, ${stops.join(", ")})` : colours[0];
}

export class Grid {
  /** `pick(cell)` is called when a cell is chosen; `label` names the grid for screen readers. */
  constructor({ label, pick = () => {} }) {
    this.pick = pick;
    this.painter = null; // `{ begin(cell), over(cell), end() }` while cells are painted
    this.painting = false; // during a drag
    this.chosen = -1;
    this.at = 0;
    this.cells = CELL_NAMES.map((name, number) => this.#make(name, number));
    const rows = Array.from({ length: 13 }, (_, row) => h("div", { role: "row" }, this.cells.slice(13 * row, 13 * row + 13)));
    this.element = h("div", {
      class: "grid", role: "grid", "aria-label": label,
      on: {
        keydown: (event) => this.#key(event), click: (event) => this.#click(event), pointerdown: (event) => this.#press(event),
        pointermove: (event) => this.#drag(event), pointerup: () => this.#release(), pointercancel: () => this.#release(),
      },
    }, rows);
  }

  /** Enable painting of cells by dragging, or with space and enter; null disables it. */
  paintWith(painter) {
    this.painter = painter;
    this.element.classList.toggle("paint", Boolean(painter));
  }

  #press(event) {
    const cell = this.cellOf(event);
    if (!this.painter || cell < 0 || event.button) return;
    event.preventDefault();
    this.element.setPointerCapture(event.pointerId);
    this.focus(cell);
    this.painting = true;
    this.painter.begin(cell);
    this.painter.over(cell);
  }

  #drag(event) {
    if (!this.painting) return;
    const under = document.elementFromPoint(event.clientX, event.clientY);
    const cell = under && this.element.contains(under) ? this.cellOf({ target: under }) : -1;
    if (cell >= 0) this.painter.over(cell);
  }

  #release() {
    if (!this.painting) return;
    this.painting = false;
    this.painter.end();
  }

  #make(name, number) {
    const cell = h("div", { class: "cell none", role: "gridcell", tabindex: number ? -1 : 0, "data-cell": number },
      h("i"), h("span", { "aria-hidden": "true" }, name), h("b", { "aria-hidden": "true" }));
    cell.setAttribute("aria-label", name);
    return cell;
  }

  /** The cell that an event is about, or -1. */
  cellOf(event) {
    const found = event.target.closest?.("[data-cell]");
    return found ? Number(found.dataset.cell) : -1;
  }

  #click(event) {
    const cell = this.cellOf(event);
    if (cell < 0 || this.painter) return;
    this.focus(cell, false);
    this.pick(cell);
  }

  #key(event) {
    const row = Math.floor(this.at / 13);
    const column = this.at % 13;
    const to = {
      ArrowRight: column < 12 ? this.at + 1 : -1, ArrowLeft: column ? this.at - 1 : -1,
      ArrowDown: row < 12 ? this.at + 13 : -1, ArrowUp: row ? this.at - 13 : -1, Home: 13 * row, End: 13 * row + 12,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      if (to >= 0) this.focus(to);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      if (!this.painter) this.pick(this.at);
      else {
        this.painter.begin(this.at);
        this.painter.over(this.at);
        this.painter.end();
      }
    }
  }

  focus(cell, move = true) {
    this.cells[this.at].tabIndex = -1;
    this.at = cell;
    this.cells[cell].tabIndex = 0;
    if (move) this.cells[cell].focus();
  }

  select(cell) {
    if (this.chosen >= 0) this.cells[this.chosen].removeAttribute("aria-selected");
    this.chosen = cell;
    if (cell >= 0) this.cells[cell].setAttribute("aria-selected", "true");
  }

  /** `values`: 169 of `{ weight, shares, heat, words, corner, dim, locked }`, `colours`: one for each share. */
  draw(values, colours) {
    values.forEach((value, number) => {
      const cell = this.cells[number];
      const [bar, , corner] = cell.children;
      const weight = Math.max(0, Math.min(1, value.weight || 0));
      bar.style.height = weight ? `${Math.max(6, 100 * weight).toFixed(1)}%` : "0";
      bar.style.background = weight ? (value.heat ?? backdrop(value.shares, colours)) : "none";
      corner.textContent = value.corner ?? "";
      cell.className = `cell${weight === 0 ? " none" : weight > 0.62 ? " full" : ""}${value.dim ? " dim" : ""}${value.locked ? " locked" : ""}`;
      cell.setAttribute("aria-label", `${CELL_NAMES[number]}, ${cellWords(CELL_NAMES[number])}: ${value.words ?? "not in range"}`);
    });
  }
}
