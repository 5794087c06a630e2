// Costly computations: an address alone starts none. The page says what would be computed, and a click starts it.

import { attempt, button, fill, h } from "./dom.js";

const COSTLY = 405; // the server's answer to a GET that would have to compute

/** Read something. Where it must be computed first, offer that in `place` and return undefined; after a click it is computed,
 * and `again` draws what can be read then, if the place is still there. */
export async function readOrOffer(place, read, { text, action, compute, again }) {
  try {
    return await read();
  } catch (error) {
    if (error.status !== COSTLY) throw error;
  }
  const start = async () => {
    fill(place, h("p", { class: "soft", role: "status" }, "Being computed…"));
    const done = await attempt(compute);
    fill(place);
    if (done && place.isConnected) await again();
  };
  fill(place, h("div", { class: "stack" }, h("p", { class: "soft" }, text), button(action, () => attempt(start), { class: "main" })));
  return undefined;
}
