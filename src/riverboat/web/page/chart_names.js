// Names of preflop decisions in poker terms, and their order.

import { count, moveWords } from "./figures.js";

const RARE = 0.001; // reach probability below which a decision is listed as rare
const BETS = ["", "Raise", "3-bet", "4-bet", "5-bet"];

/** The actions of a heads-up preflop line, or null for other lines: `cr300` has `c` and `r300`. */
function actionsOf(line) {
  return /^(?:[fc]|r\d+)*$/.test(line) ? (line.match(/[fc]|r\d+/g) ?? []) : null;
}

/** All charts of a source with names: `[{ title, charts: [{ chart, name, seat, words, title? }] }]`, common ones first. */
export function named(charts) {
  const lines = charts.map((chart) => actionsOf(chart.line));
  if (charts.some((chart, k) => lines[k] === null || !chart.moves.every((move) => actionsOf(move)?.length === 1))) {
    return [{ title: "", charts: charts.map((chart) => ({ chart, name: chart.line || "first decision", seat: chart.who, words: chart.moves })) }];
  }
  const most = Math.max(0, ...charts.flatMap((chart) => chart.moves.map(total)));
  const groups = new Map(["Common decisions", "Facing an all-in", "After a limp", "Rarely reached"].map((title) => [title, []]));
  charts.forEach((chart, k) => {
    const [name, seat] = [describe(lines[k], most), lines[k].length % 2 ? "BB" : "SB"];
    const one = { chart, name, seat, title: lines[k].length ? `${seat} facing: ${name.toLowerCase()}` : `${seat} first in`, words: chart.moves.map((move) => moveName(move, lines[k], most)) };
    groups.get(groupOf(chart, lines[k], most)).push(one);
  });
  return [...groups].map(([title, some]) => ({ title, charts: some })).filter((group) => group.charts.length);
}

const total = (action) => (action[0] === "r" ? Number(action.slice(1)) : 0);

/** Whether a chart has no strategy because no hand reaches it. */
export const isEmpty = (chart) => chart.moves.every((move) => chart.totals[move] === 0);

function groupOf(chart, actions, most) {
  if (isEmpty(chart)) return "Rarely reached";
  const raises = actions.filter((action) => action[0] === "r");
  const shoves = raises.some((raise) => total(raise) === most);
  if (shoves && actions.length === 1) return "Facing an all-in"; // the open shove, even if it is rare
  if (chart.reached !== null && chart.reached < RARE) return "Rarely reached";
  if (shoves) return "Facing an all-in";
  return actions[0] === "c" && raises.length ? "After a limp" : "Common decisions";
}

/** The actions so far, for the player to act. */
function describe(actions, most) {
  if (!actions.length) return "First in";
  const raises = actions.filter((action) => action[0] === "r");
  if (!raises.length) return "Limp";
  const last = total(raises.at(-1));
  const before = [...(actions[0] === "c" ? ["a limp"] : []), ...raises.slice(0, -1).map((raise) => count(total(raise)))];
  const now = last === most ? "All-in" : `${BETS[raises.length] ?? "Raise"} to ${count(last)}`;
  return before.length ? `${now} after ${before.join(", ")}` : now;
}

function moveName(move, actions, most) {
  if (total(move) && total(move) === most) return "all-in";
  return moveWords(move, move === "c" && actions.length === 1 && actions[0] === "c" ? "check" : undefined);
}
