// What stands in place of a page that could not be read: why, and what can be done about it.

import { button, fill, h } from "./dom.js";
import { go } from "./place.js";

/** Fill a box by what is asked of the server; where that fails, the reason stands in it. */
export async function load(box, work) {
  try {
    await work();
  } catch (error) {
    fill(box, h("p", { class: "bad", role: "alert" }, error.message));
  }
}

/** `acts`: `[text, work]` of the buttons beside the way back to Study. */
export function problem(error, acts = []) {
  return h("section", { class: "sheet stack problem", role: "alert" }, h("h2", {}, "This cannot be shown"), h("p", { class: "bad" }, error.message),
    h("div", { class: "row" }, acts.map(([text, work]) => button(text, work)), button("All of Study", () => go("study", {}), { class: "quiet" })));
}
