// An error in place of content that cannot be shown, with links to continue.

import { want } from "./api.js";
import { button, h } from "./dom.js";
import { again } from "./place.js";

/** `links`: pairs [address, text]. A source that must be computed first gets a button that starts it. */
export function failure(error, title, links) {
  const link = ([hash, text]) => h("a", { class: "button", href: hash, on: { click: () => location.hash === hash && again() } }, text);
  const compute = () => {
    want(error.costly);
    again();
  };
  const [head, text, act] = error.costly
    ? [`${error.costly} is not computed yet`, h("p", { class: "soft" }, "This may take minutes the first time. You can leave or cancel at any time."), button(`Compute ${error.costly}`, compute, { class: "main", "data-costly": "" })]
    : [error.cancelled ? "Cancelled" : title, error.cancelled ? null : h("p", { class: "bad" }, error.message), button("Try again", again, { class: "main" })];
  return h("section", { class: "sheet stack failed", role: "alert" }, h("h2", {}, head), text, h("div", { class: "row" }, act, links.map(link)));
}
