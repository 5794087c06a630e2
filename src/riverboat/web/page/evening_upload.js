// Uploading hands of poker sites: by drop, by choosing files, or by pasting text.

import * as api from "./api.js";
import { attempt, button, h } from "./dom.js";
import { ago } from "./figures.js";
import { go } from "./place.js";

const PART = 400_000; // characters of one request; its body has at most 1 MiB
const MOST = 16 << 20; // bytes of all files

/** Decode a file: UTF-8 or UTF-16 with a byte-order mark, plain UTF-8, or Windows-1252. */
async function textOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Split a text before first lines of hands, so that every part fits into a request. */
function parts(text) {
  if (/^\s*</.test(text)) return sessions(text);
  const hands = text.replace(/\r\n?/g, "\n").split(/\n(?=(?:PokerStars |Poker Hand #|\*{5} |Winamax Poker|Game started at|Hand #|Full ?Tilt|Ignition |Bovada |Bodog|Mano n|Main PokerStars|\[\d+\]))/);
  const all = [""];
  for (const hand of hands) {
    if (all.at(-1).length + hand.length > PART) all.push("");
    all[all.length - 1] += `${hand}\n`;
  }
  return all.filter((part) => part.trim());
}

/** Split an XML session before its games; every part has the head of the session. */
function sessions(text) {
  const [head, ...games] = text.split(/(?=<game\b)/);
  const all = [head];
  for (const game of games) {
    if (all.at(-1).length + game.length > PART) all.push(head);
    all[all.length - 1] += game;
  }
  return all;
}

async function bring(texts, title) {
  const requests = texts.flatMap(parts);
  if (!requests.length) throw new Error("There is no text. Paste hands, or choose the files that the site's program writes.");
  if (requests.some((part) => part.length > 2 * PART)) throw new Error(`${title}: one hand or session is too long for a request; use riverboat hands in the terminal`);
  const { name } = await api.beginEvening(requests[0], title);
  for (const part of requests.slice(1)) await api.addToEvening(name, part);
  go("play", { evening: name });
}

async function openFiles(list) {
  const files = [...list];
  if (files.reduce((sum, file) => sum + file.size, 0) > MOST) throw new Error(`The files are larger than ${MOST >> 20} MB in all: choose fewer, or use riverboat hands in the terminal`);
  await bring(await Promise.all(files.map(textOf)), files[0].name);
}

/** The section of the start page of Play, with the evenings uploaded before. */
export function eveningUpload(evenings) {
  const chosen = h("input", { type: "file", multiple: true, accept: ".txt,.xml,.phh,.phhs,.hh", class: "unseen", tabindex: "-1", "aria-label": "Files with hands of poker sites", on: { change: () => chosen.files.length && attempt(() => openFiles(chosen.files)) } });
  const text = h("textarea", { rows: 3, placeholder: "or paste hands here, as the site's program writes them", "aria-label": "Hands of poker sites" });
  const sheet = h("div", { class: "sheet stack drop" },
    h("p", { class: "soft" }, "Drop the files of your evening here: PokerStars, GGPoker, PartyPoker, iPoker, 888, Winamax, ACR, Ignition, OnGame, Full Tilt, PHH. You get winnings without all-in luck, statistics by position, and the decisions that cost most."),
    h("div", { class: "row" }, button("Choose files…", () => chosen.click()), chosen), text,
    h("div", { class: "row" }, button("Read the text", () => attempt(() => bring([text.value], "pasted")), { class: "small" })));
  const over = (event, on) => {
    event.preventDefault();
    sheet.classList.toggle("over", on);
  };
  sheet.addEventListener("dragover", (event) => over(event, true));
  sheet.addEventListener("dragleave", (event) => over(event, false));
  sheet.addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer.files.length) attempt(() => openFiles(event.dataTransfer.files));
  });
  const old = evenings.map((one) => h("a", { class: "run", href: `#play?evening=${one.name}` }, h("b", {}, one.name), h("small", {}, ago(one.changed))));
  return h("section", { class: "stack", "aria-label": "Your evening" }, h("h2", {}, "Your evening"), old.length ? h("div", { class: "runs" }, old.slice(0, 8)) : null, sheet);
}
