// The frame: which page is open, the colours, and what goes wrong. A page is a module with `open(root, params)` that
// draws itself and may return `{ update(params), close() }`; it is listed in pages.js and loaded when it is first needed.

import { button, complain, fill, h } from "./dom.js";
import { PAGES } from "./pages.js";
import { here } from "./place.js";

let current = null; // { name, held }

async function show() {
  const { page, params } = here();
  const found = PAGES.find((one) => one.name === page) ?? PAGES[0];
  for (const link of document.querySelectorAll("#nav a")) {
    if (link.dataset.page === found.name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current?.name === found.name && current.held?.update) {
    await current.held.update(params);
    return;
  }
  current?.held?.close?.();
  current = null;
  document.title = `${found.title} · Riverboat`;
  const root = fill(document.getElementById("main"));
  const module = await found.load();
  current = { name: found.name, held: (await module.open(root, params)) ?? null };
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

async function start() {
  theme();
  fill(document.getElementById("nav"), PAGES.map(({ name, title }) => h("a", { href: `#${name}`, "data-page": name }, title)));
  const told = (error) => {
    complain(error);
    const root = document.getElementById("main");
    if (!root.children.length) fill(root, h("div", { class: "empty" }, h("p", {}, error.message), button("Try again", () => location.reload())));
  };
  let shown = Promise.resolve(); // one after the other: a page that is being opened is open before the next
  const safely = () => (shown = shown.then(show).catch(told));
  addEventListener("hashchange", safely);
  addEventListener("unhandledrejection", (event) => complain(event.reason));
  await safely();
}

start();
