// All elements are created here. Text is always set as text, never as markup, so that a file name or a
// range written by somebody else cannot inject markup.

import { Abandoned, pageSignal, wasLeft } from "./scope.js";

const SVG = "http://www.w3.org/2000/svg";

function put(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("aria-")) element.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === "value" || name === "checked" || name === "selected" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Create an element: `h("button", { class: "quiet", on: { click } }, "text", other)`. */
export function h(tag, props, ...children) {
  return put(document.createElement(tag), props, children);
}

/** Create an SVG element. */
export function s(tag, props, ...children) {
  return put(document.createElementNS(SVG, tag), props, children);
}

/** Replace all children of an element. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function button(text, click, props = {}) {
  return h("button", { type: "button", ...props, on: { click } }, text);
}

/** Create a form field with its label above it. */
export function field(label, control, hint) {
  return h("label", { class: "field" }, h("span", {}, label), control, hint ? h("small", {}, hint) : null);
}

export function input(props = {}) {
  return h("input", { type: "text", spellcheck: "false", autocomplete: "off", ...props });
}

/** Create a radio group: `choice("Size", [["a", "A"], …], "a", (value) => …)`; the arrow keys move. */
export function choice(label, options, chosen, change) {
  const box = h("div", { class: "choice", role: "radiogroup", "aria-label": label });
  const buttons = options.map(([value, text]) =>
    h("button", { type: "button", role: "radio", "data-value": value, on: { click: () => set(value, true) } }, text));
  function set(value, tell = false) {
    for (const one of buttons) {
      const on = one.dataset.value === String(value);
      one.setAttribute("aria-checked", on);
      one.tabIndex = on ? 0 : -1;
    }
    if (tell) change(value);
  }
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = buttons.indexOf(document.activeElement);
    const next = buttons[(at + step + buttons.length) % buttons.length];
    next.focus();
    set(next.dataset.value, true);
  });
  box.append(...buttons);
  set(chosen);
  box.set = set;
  return box;
}

/** Announce a text to screen readers. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

const MOST_NOTES = 3;
const NOTE_TIME = 4000; // ms that a message stays if it is not an error

/** Show a message in the corner. A repeated message is counted; the oldest messages are removed. */
function note(text, kind) {
  const notes = document.getElementById("notes");
  let shown = [...notes.children].find((one) => one.dataset.text === text && one.classList.contains(kind));
  if (shown) {
    const times = Number(shown.dataset.times) + 1;
    shown.dataset.times = times;
    shown.querySelector(".badge").textContent = `${times}×`;
  } else {
    shown = h("div", { class: `note ${kind}`, "data-text": text, "data-times": 1 }, h("span", {}, text, " ", h("span", { class: "badge" })),
      button("✕", () => shown.remove(), { class: "quiet", "aria-label": "Dismiss" }));
  }
  notes.append(shown); // the newest is the last
  while (notes.children.length > MOST_NOTES) (notes.querySelector(".info") ?? notes.firstChild).remove();
  return shown;
}

/** Show an error until it is dismissed, unless the page was left or the work cancelled. */
export function complain(error) {
  if (error instanceof Abandoned) return;
  note(error instanceof Error ? error.message : String(error), "error");
}

/** Show a confirmation that disappears by itself. */
export function notify(text) {
  const shown = note(text, "info");
  clearTimeout(shown.timer);
  shown.timer = setTimeout(() => shown.remove(), NOTE_TIME);
}

/** Run the work of a click and show its errors; stop silently if the page was left. */
export async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    if (wasLeft(error)) throw error;
    complain(error);
    return undefined;
  }
}

/** Debounce a function by `wait` ms; it is not called if the page was left. */
export function later(call, wait = 250) {
  const signal = pageSignal();
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => signal.aborted || call(...values), wait);
  };
}

export async function copy(text, what) {
  await navigator.clipboard.writeText(text);
  notify(`${what} copied`);
}

/** Save a text as a file. */
export function download(name, text, type = "text/plain") {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
