// The preflop chart of a blueprint, updated while it trains.

import * as api from "./api.js";
import { Breadcrumb } from "./breadcrumb.js";
import { attempt, fill, h } from "./dom.js";
import { Grid } from "./grid.js";
import { readNode } from "./node_model.js";
import { moveBar } from "./summary_parts.js";

export class PreflopChart {
  constructor() {
    this.grid = new Grid({ label: "Preflop chart" });
    this.crumbs = new Breadcrumb((line) => { this.line = line; this.#draw(); });
    this.bar = h("div", { class: "below" });
    this.element = h("section", { class: "sheet", hidden: true }, h("header", {}, h("h2", {}, "Preflop")), this.crumbs.element, h("div", { class: "preflop" }, this.grid.element, this.bar));
    this.line = "";
  }

  /** Show the chart of a run at an iteration; null hides it. */
  show(run, iteration) {
    this.element.hidden = !run;
    if (run !== this.run) this.line = "";
    const news = run !== this.run || iteration !== this.iteration;
    Object.assign(this, { run, iteration });
    if (run && news) this.#draw();
  }

  async #draw() {
    const token = (this.token = {});
    let reply;
    try {
      reply = await attempt(async () => readNode(await api.node(this.run, this.line), await api.hands()));
    } catch (error) {
      if (this.token === token) this.iteration = null; // abandoned: the next update requests it again
      throw error;
    }
    if (!reply || this.token !== token) return;
    const side = reply.sides[Math.max(reply.acting, 0)];
    this.crumbs.draw(reply);
    this.grid.draw(side.cells(), side.colours);
    fill(this.bar, side.actions.length ? moveBar(side.actions, reply.moves.map((move) => move.frequency)) : null);
  }
}
