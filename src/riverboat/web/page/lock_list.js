// The locks of a spot: line, hands and strategy of each, with a button to remove it.

import { button, h } from "./dom.js";
import { moveWords, percent } from "./figures.js";

const played = (strategy) => Object.entries(strategy).map(([move, share]) => `${moveWords(move)} ${percent(share, 0)}`).join(", ");

/** `locks`: entries of a spot file; `unlock(number)` removes one, `open(line)` shows its node if possible. */
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
