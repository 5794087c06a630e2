// What stands in the place of something that cannot be shown: what is wrong, and where to go from here.

import { want } from "./api.js";
import { button, h } from "./dom.js";
import { again } from "./place.js";

/** `links`: [address, text] of places to begin again. What must be computed first is computed after a click. */
export function failure(error, title, links) {
  const link = ([hash, text]) => h("a", { class: "button", href: hash, on: { click: () => location.hash === hash && again() } }, text);
  const compute = () => {
    want(error.costly);
    again();
  };
  const [head, text, act] = error.costly
    ? [`${error.costly} is not computed yet`, h("p", { class: "soft" }, "This may take minutes the first time. You can leave or cancel at any moment."), button(`Compute ${error.costly}`, compute, { class: "main", "data-costly": "" })]
    : [error.cancelled ? "Cancelled" : title, error.cancelled ? null : h("p", { class: "bad" }, error.message), button("Try again", again, { class: "main" })];
  return h("section", { class: "sheet stack failed", role: "alert" }, h("h2", {}, head), text, h("div", { class: "row" }, act, links.map(link)));
}
