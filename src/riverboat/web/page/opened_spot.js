// Transfer of an opened spot to the form.

import { go } from "./place.js";

/** Open the form with a spot from the server. */
export function openSpot(reply) {
  sessionStorage.setItem("spot", JSON.stringify(reply.spot));
  go("study", { new: "1", from: "opened", at: String(Date.now() % 1e6) }); // a new address each time
}

export const openedSpot = () => JSON.parse(sessionStorage.getItem("spot") ?? "null");
