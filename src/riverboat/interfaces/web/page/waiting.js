// The line below the menu about requests that take long: what is computed, for how long, how far it is, and Cancel.

import { button, fill, h } from "./dom.js";
import { seconds } from "./figures.js";

const AFTER = 700; // ms until a request is shown
const EVERY = 250; // ms between two drawings

const open = new Set(); // requests without an answer, the oldest first
let timer = null;

/** Show a request while it is open. `cancel` aborts it, where that is possible. Returns `{ progress(text, share), end() }`. */
export function wait(label, cancel = null) {
  const one = { label, cancel, begun: performance.now(), text: "", share: null };
  open.add(one);
  timer ??= setInterval(draw, EVERY);
  return {
    progress(text, share = null) { Object.assign(one, { text, share }); },
    end() {
      open.delete(one);
      if (!open.size) {
        clearInterval(timer);
        timer = null;
      }
      draw();
    },
  };
}

/** Cancel every request that can be cancelled. */
const cancelAll = () => [...open].forEach((one) => one.cancel?.());

let shown = null; // { one, time, detail, bar }: elements stay while the same request is shown, so that Cancel can be clicked

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
  shown.detail.textContent = one.text;
  shown.bar.hidden = one.share === null;
  shown.bar.firstChild.style.setProperty("width", `${100 * Math.min(Math.max(one.share ?? 0, 0), 1)}%`);
}

function begin(box, one) {
  const parts = { one, time: h("span", { "aria-hidden": "true" }), detail: h("span", { class: "soft", "aria-hidden": "true" }), bar: h("span", { class: "meter" }, h("i")) };
  fill(box, h("span", { class: "turning", "aria-hidden": "true" }), h("span", {}, `${one.label}…`), parts.time, parts.detail, parts.bar, one.cancel ? button("Cancel", cancelAll, { class: "small" }) : null);
  return parts;
}
