// The line below the menu about slow requests: what is computed, the elapsed time, and Cancel.

import { button, fill, h } from "./dom.js";
import { seconds } from "./figures.js";

const AFTER = 700; // ms until a request is shown
const EVERY = 250; // ms between two drawings

const open = new Set(); // pending requests, the oldest first
let timer = null;

/** Show a pending request. `cancel` aborts it, if possible. Returns a function that ends it. */
export function wait(label, cancel = null) {
  const one = { label, cancel, begun: performance.now() };
  open.add(one);
  timer ??= setInterval(draw, EVERY);
  return () => {
    open.delete(one);
    if (!open.size) {
      clearInterval(timer);
      timer = null;
    }
    draw();
  };
}

/** Cancel every request that can be cancelled. */
const cancelAll = () => [...open].forEach((one) => one.cancel?.());

let shown = null; // { one, time }: elements stay while the same request is shown, so that Cancel can be clicked

function draw() {
  const box = document.getElementById("waiting");
  const one = [...open].find((each) => performance.now() - each.begun >= AFTER);
  if (shown?.one !== one) {
    shown = one ? begin(box, one) : null;
    if (!one) fill(box);
  }
  if (!one) return;
  const elapsed = Math.floor((performance.now() - one.begun) / 1000);
  shown.time.textContent = elapsed < 90 ? `${elapsed} s` : seconds(elapsed);
}

function begin(box, one) {
  const time = h("span", { "aria-hidden": "true" });
  fill(box, h("span", { class: "turning", "aria-hidden": "true" }), h("span", {}, `${one.label}…`), time, one.cancel ? button("Cancel", cancelAll, { class: "small" }) : null);
  return { one, time };
}
