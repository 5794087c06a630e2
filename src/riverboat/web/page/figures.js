// Formatting of numbers and moves.

const known = (value) => value !== null && value !== undefined && !Number.isNaN(value);

/** Format a share as per cent. */
export function percent(share, digits = 1) {
  if (!known(share)) return "–";
  const value = 100 * share;
  return `${value.toFixed(value !== 0 && Math.abs(value) < 0.1 && digits < 2 ? 2 : digits)} %`;
}

/** Format chips and EVs. */
export function chips(value, digits) {
  if (!known(value)) return "–";
  const places = digits ?? (Math.abs(value) >= 1000 ? 0 : Math.abs(value) >= 100 ? 1 : 2);
  return value.toFixed(places).replace(/^-(0(\.0+)?)$/, "$1").replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, " ");
}

export function count(value) {
  return known(value) ? Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, " ") : "–";
}

export function combos(value) {
  return known(value) ? (Math.abs(value - Math.round(value)) < 0.005 ? String(Math.round(value)) : value.toFixed(1)) : "–";
}

export function bytes(value) {
  if (!known(value)) return "–";
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (value >= size) return `${(value / size).toFixed(value / size < 10 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(value)} bytes`;
}

export function seconds(value) {
  if (!known(value)) return "–";
  if (value < 1) return `${Math.round(1000 * value)} ms`;
  if (value < 90) return `${value < 10 ? value.toFixed(1) : Math.round(value)} s`;
  if (value < 5400) return `${value < 600 ? Number((value / 60).toFixed(1)) : Math.round(value / 60)} min`;
  return value < 172800 ? `${(value / 3600).toFixed(1)} h` : `${Math.round(value / 86400)} days`;
}

/** Format three significant digits: 0.00123, 12.3, 1 230 000. */
export function short(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (size >= 1000) return count(value);
  return size < 1e-4 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

/** Format the time since `time`, in seconds since 1970. */
export function ago(time, now = Date.now() / 1000) {
  const past = Math.max(0, now - time);
  return past < 60 ? "just now" : `${seconds(past)} ago`;
}

const WORDS = { f: "fold", x: "check", k: "check", c: "call", b: "bet", r: "raise to", a: "all-in" };

/** A move in words: "bet 120", "all-in". `kind` is the server's kind; in full games `c` may be a check and `r` a bet. */
export function moveWords(label, kind) {
  const amount = label.slice(1);
  const word = kind === "check" || (kind === "bet" && label[0] === "r") ? kind : (WORDS[label[0]] ?? label[0]);
  return amount ? `${word}${word === "bet" && label[0] === "r" ? " to" : ""} ${amount}` : word;
}

/** A move in words with its size as a share of the pot; `facts` describe the move at its node, if known. */
export function moveTitle(label, facts) {
  const words = moveWords(label, facts?.kind);
  if (!facts?.share) return words;
  return `${words}: ${Math.round(100 * facts.share)} % of the pot${facts.allin ? ", all-in" : ""}`;
}

const FOLD = "var(--fold)";
const CALL = "var(--call)";
const REDS = [[240, 152, 128], [222, 74, 54], [142, 20, 26]];

function red(place) {
  const [from, to, share] = place < 0.5 ? [REDS[0], REDS[1], 2 * place] : [REDS[1], REDS[2], 2 * place - 1];
  return `rgb(${from.map((value, k) => Math.round(value + share * (to[k] - value))).join(" ")})`;
}

/** Colors of moves: fold blue, check and call green, bets red, darker for larger sizes. */
export function moveColours(labels) {
  const bets = labels.filter((label) => !"fcxk".includes(label[0]));
  return labels.map((label) => {
    if (label[0] === "f") return FOLD;
    if ("cxk".includes(label[0])) return CALL;
    return red((bets.indexOf(label) + 0.5) / bets.length);
  });
}
