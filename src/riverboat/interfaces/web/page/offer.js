// Costly computations: an address alone starts none. The page says what would be computed, and a click starts it.

import { button, fill, h } from "./dom.js";

const COSTLY = 405; // the server's answer to a GET that would have to compute

/** Read something. Where it must be computed first, offer that in `place`, and resolve once the click has computed it. */
export async function readOrOffer(place, read, compute, { text, action }) {
  try {
    return await read();
  } catch (error) {
    if (error.status !== COSTLY) throw error;
  }
  await new Promise((resolve) => {
    fill(place, h("div", { class: "stack" }, h("p", { class: "soft" }, text), button(action, resolve, { class: "main", "data-costly": "" })));
  });
  fill(place, h("p", { class: "soft", role: "status" }, "Being computed…"));
  return compute().finally(() => fill(place));
}
