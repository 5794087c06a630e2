// The locks of a spot as a list: where each holds, what it plays with which hands, and a button that takes it off.

import { button, h } from "./dom.js";
import { moveWords, percent } from "./figures.js";

const played = (strategy) => Object.entries(strategy).map(([move, share]) => `${moveWords(move)} ${percent(share, 0)}`).join(", ");

/** `locks`: entries of a spot file; `unlock(number)` takes one off, `open(line)` shows its node where that can be shown. */
export function lockList(locks, { unlock, open = null }) {
  if (!locks.length) return null;
  const row = ({ line, hands, strategy }, number) => {
    const name = line || "root";
    const place = open && !line.includes("*") ? button(name, () => open(line), { class: "quiet small", "aria-label": `Open ${name}` }) : h("b", {}, name);
    return h("li", {}, h("div", { class: "spread" }, place, button("Unlock", () => unlock(number), { class: "small", "aria-label": `Unlock ${name}, ${hands ?? "all hands"}` })),
      h("small", {}, `${hands ?? "all hands"}: ${played(strategy)}`));
  };
  return h("section", { class: "stack tight", "aria-label": "Locks" }, h("h3", {}, `${locks.length} ${locks.length === 1 ? "lock" : "locks"} of this spot`), h("ul", { class: "locks" }, locks.map(row)));
}
