// A node of a solution: data of each hand, aggregated into cells, groups and means. Means weight
// each hand by its probability (`deals`), as in all reports.

import { HANDS_OF_CELL, HAND_CARDS, cardNumber, splitBoard } from "./cards.js";
import { chips, combos, moveColours, moveWords, percent } from "./figures.js";

const BUCKETS = [[0, 0.2], [0.2, 0.4], [0.4, 0.6], [0.6, 0.8], [0.8, 1.0001]];
const bucketName = ([low, high]) => `${Math.round(100 * low)}–${Math.round(100 * Math.min(high, 1))} %`;

/** One player at a node: columns over hands, and the index of each hand in them. */
export class Side {
  constructor(name, reply, moves, board, pot, locked = []) {
    this.name = name;
    this.locked = new Set(locked); // hands whose strategy is fixed at the node
    for (const key of ["combos", "ev", "equity", "eqr"]) this[key] = reply[key];
    const { index, weight, deals, ev, equity, eqr, strategy, action_ev: actionEv, made, draws } = reply.hands;
    Object.assign(this, { hands: index, weight, deals: deals ?? weight, handEv: ev ?? [], handEquity: equity ?? [], handEqr: eqr ?? [], made, draws });
    this.strategy = strategy?.length ? strategy : null;
    this.actionEv = actionEv;
    this.actions = this.strategy ? moves.map((move) => move.name) : [];
    this.words = this.strategy ? moves.map((move) => moveWords(move.name, move.kind)) : [];
    this.colours = this.actions.length ? moveColours(this.actions) : ["var(--weight)"];
    this.pot = pot;
    this.place = new Int32Array(1326).fill(-1);
    this.hands.forEach((hand, k) => { this.place[hand] = k; });
    const blocked = new Set(board.map(cardNumber));
    this.possible = HANDS_OF_CELL.map((hands) => hands.filter((hand) => !HAND_CARDS[hand].some((card) => blocked.has(card))).length);
    this.inCell = HANDS_OF_CELL.map((hands) => hands.map((hand) => this.place[hand]).filter((k) => k >= 0));
  }

  /** The mean of a column over some indices. */
  mean(values, places) {
    let sum = 0;
    let total = 0;
    for (const k of places) {
      const value = values[k];
      if (value === null || value === undefined) continue;
      sum += value * this.deals[k];
      total += this.deals[k];
    }
    return total > 0 ? sum / total : null;
  }

  /** Frequencies, EV, equity, EQR and combos over some indices. */
  figures(places) {
    const ev = this.mean(this.handEv, places);
    const equity = this.mean(this.handEquity, places);
    return {
      combos: places.reduce((sum, k) => sum + this.weight[k], 0),
      shares: this.actions.map((_, a) => this.mean(this.strategy[a], places) ?? 0),
      ev, equity, eqr: ev !== null && equity > 0 ? ev / (equity * this.pot) : null,
    };
  }

  everyPlace() {
    return this.hands.map((_, k) => k);
  }

  /** The 169 cells to draw. `keeps(index)` filters hands; `view` is the quantity that colors show. */
  cells(view = "strategy", keeps = null) {
    const values = { ev: this.handEv, equity: this.handEquity, eqr: null }[view];
    const span = values ? extent(values.filter((_, k) => this.weight[k] > 0)) : null;
    return this.inCell.map((all, cell) => {
      const places = keeps ? all.filter(keeps) : all;
      const found = this.figures(places);
      const whole = this.possible[cell] ? all.reduce((sum, k) => sum + this.weight[k], 0) / this.possible[cell] : 0;
      const weight = keeps && places.length ? Math.min(1, found.combos / this.possible[cell]) : Math.min(1, whole);
      const locked = this.locked.size > 0 && all.some((k) => this.locked.has(this.hands[k]));
      const words = locked ? `locked: ${this.#words(found, whole)}` : this.#words(found, whole);
      const shown = { weight: this.possible[cell] ? weight : 0, shares: found.shares, words, locked, dim: Boolean(keeps) && !places.length };
      if (view === "weight") shown.shares = null;
      if (values && weight > 0) {
        const value = view === "ev" ? found.ev : found.equity;
        shown.heat = value === null ? null : heat((value - span[0]) / (span[1] - span[0] || 1));
        shown.corner = value === null ? "" : view === "ev" ? chips(value, Math.abs(value) >= 100 ? 0 : 1) : Math.round(100 * value);
      }
      return shown;
    });
  }

  #words(found, weight) {
    if (!(weight > 0)) return "not in range";
    const moves = this.words.map((words, k) => `${words} ${percent(found.shares[k], 0)}`);
    return [`${combos(found.combos)} combos`, ...moves, found.ev === null ? null : `EV ${chips(found.ev)}`,
      found.equity === null ? null : `equity ${percent(found.equity, 0)}`].filter(Boolean).join(", ");
  }

  /** Non-empty groups by made hand, draw and equity bucket: `{ kind, name, places }`. */
  groups(node) {
    const all = this.everyPlace().filter((k) => this.weight[k] > 0);
    const rows = [];
    const add = (kind, name, test) => {
      const places = all.filter(test);
      if (places.length) rows.push({ kind, name, places });
    };
    (node.made ?? []).forEach((name, which) => add("made", name, (k) => this.made?.[k] === which));
    (node.draws ?? []).forEach((name, which) => add("draws", name, (k) => ((this.draws?.[k] ?? 0) >> which) & 1));
    for (const [low, high] of BUCKETS) {
      add("equity", bucketName([low, high]), (k) => this.handEquity[k] !== null && this.handEquity[k] >= low && this.handEquity[k] < high);
    }
    return rows;
  }
}

function extent(values) {
  const found = values.filter((value) => value !== null && value !== undefined);
  return found.length ? [Math.min(...found), Math.max(...found)] : [0, 1];
}

/** A color from cold to warm. */
function heat(share) {
  const at = Math.max(0, Math.min(1, share));
  return `hsl(${Math.round(222 - 178 * at)} ${Math.round(42 + 26 * at)}% ${Math.round(46 + 6 * at)}%)`;
}

/** The server's node with its two sides; `names` has the made hands and draws (GET /api/hands). */
export function readNode(reply, names) {
  const cards = splitBoard(reply.board);
  const labels = reply.moves.map((move) => move.name);
  const sides = reply.names.map((name) => new Side(name, reply.players[name], reply.moves, cards, reply.pot, name === reply.player ? reply.locked : []));
  const joiner = reply.joiner ?? "-";
  return { ...reply, board: cards, labels, joiner, sides, acting: reply.names.indexOf(reply.player), made: names.made, draws: names.draws };
}

/** Whether a card is dealt at a node. */
export const isDeal = (node) => node.kind === "deal";

/** A predicate for filtered hands, or null without filters: AND between kinds of filters, OR within a kind. */
export function keeper(side, node, filters) {
  const kinds = ["made", "draws", "equity"].filter((kind) => filters[kind]?.size);
  if (!kinds.length) return null;
  const rows = side.groups(node);
  const sets = kinds.map((kind) => new Set(rows.filter((row) => row.kind === kind && filters[kind].has(row.name)).flatMap((row) => row.places)));
  return (place) => sets.every((set) => set.has(place));
}

