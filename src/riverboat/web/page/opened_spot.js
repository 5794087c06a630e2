// A spot that was opened from somewhere, on its way to the form.

import { go } from "./place.js";

/** Open the form with what the server has read. */
export function openSpot(told) {
  sessionStorage.setItem("spot", JSON.stringify(told.spot));
  go("study", { new: "1", from: "opened", at: String(Date.now() % 1e6) }); // another address each time
}

export const openedSpot = () => JSON.parse(sessionStorage.getItem("spot") ?? "null");
