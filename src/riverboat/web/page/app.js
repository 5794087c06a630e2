// The frame: navigation between pages, the color theme, and errors.
//
// A page is a module with `open(root, params, signal)`. It draws itself into its element `root`, and ends everything it
// started when `signal` is aborted. It may return `{ update(params) }`, which shows another address if
// `keeps(old, params)` is true; all other addresses open it again. Pages are listed in pages.js.

import { complain, fill, h } from "./dom.js";
import { failure } from "./failure.js";
import { PAGES } from "./pages.js";
import { here } from "./place.js";
import { addressSignal, nextAddress, nextPage, wasLeft } from "./scope.js";

const NOT_FOUND = "Not found";

let current = null; // { page, module, params, root, held }; `held` is set once the page is open

/** Show the current address immediately, even if the last one is still loading. */
function show() {
  const { page: name, params } = here();
  const page = PAGES.find((one) => one.name === name) ?? null;
  const reused = current?.held?.update && current.page === page && current.module.keeps(current.params, params);
  if (reused) {
    nextAddress();
    current.params = params;
    return watch(current, current.held.update(params));
  }
  const first = current === null;
  const signal = nextPage();
  const title = page?.title ?? NOT_FOUND;
  current = { page, params, root: loading(title), held: null };
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.page === page?.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${title} · Riverboat`;
  fill(document.getElementById("main"), current.root);
  scrollTo(0, 0);
  if (!first) current.root.querySelector("h1").focus({ preventScroll: true });
  return watch(current, open(current, signal), !first);
}

/** The placeholder of a page until it draws itself. */
const loading = (title) => h("div", { class: "page", "aria-busy": "true" }, h("div", { class: "title" }, h("h1", { tabindex: "-1" }, title), h("p", { class: "soft", role: "status" }, "Loading…")));

async function open(visit, signal) {
  if (!visit.page) throw new Error(`There is no page ${JSON.stringify(here().page)}. Choose one above.`);
  visit.module = await visit.page.load().catch(() => {
    throw new Error("The server does not respond. Start riverboat serve again, then reload the page."); // browsers do not retry a failed module
  });
  signal.throwIfAborted();
  visit.held = (await visit.module.open(visit.root, visit.params, signal)) ?? null;
}

/** Wait until an address is drawn; show an error in its place. */
async function watch(visit, drawn, focus = false) {
  const signal = addressSignal();
  visit.root.setAttribute("aria-busy", "true");
  try {
    await drawn;
    if (signal.aborted) return; // another address is shown
  } catch (error) {
    if (signal.aborted || wasLeft(error)) return;
    nextPage(); // stop everything of it
    fail(visit, error);
  }
  visit.root.removeAttribute("aria-busy");
  if (focus && document.activeElement === document.body) { // the heading that had the focus was replaced
    const heading = visit.root.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
}

/** Show an error with links to other pages. */
function fail(visit, error) {
  visit.held = null; // the next address opens the page anew
  const links = visit.page ? [[`#${visit.page.name}`, `Back to ${visit.page.title}`]] : PAGES.map((one) => [`#${one.name}`, one.title]);
  fill(visit.root, h("div", { class: "stack" }, h("div", { class: "title" }, h("h1", {}, visit.page?.title ?? NOT_FOUND)), failure(error, "This address cannot be shown", links)));
}

function theme() {
  const knob = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light");
  function apply() {
    document.documentElement.dataset.theme = chosen();
    knob.textContent = chosen() === "dark" ? "☾" : "☀";
    knob.setAttribute("aria-label", `Colours: ${chosen()}; change`);
  }
  knob.addEventListener("click", () => {
    localStorage.setItem("theme", chosen() === "dark" ? "light" : "dark");
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

function start() {
  theme();
  fill(document.getElementById("nav"), PAGES.map(({ name, title }) => h("a", { href: `#${name}`, "data-page": name }, title)));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // its address is not a page
    document.getElementById("main").focus();
  });
  addEventListener("hashchange", show);
  addEventListener("unhandledrejection", (event) => {
    if (wasLeft(event.reason)) event.preventDefault();
    else complain(event.reason);
  });
  show();
}

start();
