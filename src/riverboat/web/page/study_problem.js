// An error in place of content that could not be loaded, with buttons to continue.

import { button, fill, h } from "./dom.js";
import { go } from "./place.js";

/** Fill a box from the server; on failure show the reason in it. */
export async function load(box, work) {
  try {
    await work();
  } catch (error) {
    fill(box, h("p", { class: "bad", role: "alert" }, error.message));
  }
}

/** `acts`: `[text, work]` of additional buttons. */
export function problem(error, acts = []) {
  return h("section", { class: "sheet stack problem", role: "alert" }, h("h2", {}, "This cannot be shown"), h("p", { class: "bad" }, error.message),
    h("div", { class: "row" }, acts.map(([text, work]) => button(text, work)), button("Back to Study", () => go("study", {}), { class: "quiet" })));
}
