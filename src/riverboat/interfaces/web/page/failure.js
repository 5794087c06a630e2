// What stands in the place of something that cannot be shown: what is wrong, and where to go from here.

import { button, h } from "./dom.js";

/** `links`: [address, text] of places to begin again. */
export function failure(error, title, links, again = () => location.reload()) {
  const link = ([hash, text]) => h("a", { class: "button", href: hash, on: { click: () => location.hash === hash && location.reload() } }, text);
  return h("section", { class: "sheet stack failed", role: "alert" }, h("h2", {}, error.cancelled ? "Cancelled" : title),
    error.cancelled ? null : h("p", { class: "bad" }, error.message),
    h("div", { class: "row" }, button("Try again", again, { class: "main" }), links.map(link)));
}
