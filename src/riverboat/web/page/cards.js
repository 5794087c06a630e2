// Cards, hands and grid cells as numbers, in the order of riverboat.cards.deck and riverboat.cards.grid.

export const RANKS = "23456789TJQKA";
export const SUITS = "cdhs";
export const ORDER = [...RANKS].reverse().join("");
export const SYMBOLS = { c: "♣", d: "♦", h: "♥", s: "♠" };
const SUIT_NAMES = { c: "clubs", d: "diamonds", h: "hearts", s: "spades" };
const RANK_NAMES = { T: "ten", J: "jack", Q: "queen", K: "king", A: "ace" };
export const HANDS = 1326;

export const cardName = (card) => RANKS[card >> 2] + SUITS[card & 3];
export const cardNumber = (name) => 4 * RANKS.indexOf(name[0].toUpperCase()) + SUITS.indexOf(name[1].toLowerCase());
export const cardWords = (name) => `${RANK_NAMES[name[0]] ?? name[0]} of ${SUIT_NAMES[name[1]]}`;

/** The cards of every hand, the lower one first. */
export const HAND_CARDS = [];
for (let b = 0; b < 52; b++) for (let a = 0; a < b; a++) HAND_CARDS.push([a, b]);

export const handNumber = (a, b) => (a < b ? (b * (b - 1)) / 2 + a : (a * (a - 1)) / 2 + b);
export const handName = (hand) => cardName(HAND_CARDS[hand][1]) + cardName(HAND_CARDS[hand][0]);

/** The 169 names, row by row: AA, AKs, …, 22. */
export const CELL_NAMES = [];
for (let row = 0; row < 13; row++) {
  for (let column = 0; column < 13; column++) {
    const names = ORDER[Math.min(row, column)] + ORDER[Math.max(row, column)];
    CELL_NAMES.push(names + (row === column ? "" : row < column ? "s" : "o"));
  }
}

function cellOf([a, b]) {
  const high = Math.max(a >> 2, b >> 2);
  const low = Math.min(a >> 2, b >> 2);
  return (a & 3) === (b & 3) || high === low ? 13 * (12 - high) + 12 - low : 13 * (12 - low) + 12 - high;
}

export const CELL_OF_HAND = HAND_CARDS.map(cellOf);
export const HANDS_OF_CELL = CELL_NAMES.map(() => []);
CELL_OF_HAND.forEach((cell, hand) => HANDS_OF_CELL[cell].push(hand));

/** The name of a cell in words: "ace king suited". */
export function cellWords(name) {
  const rank = (letter) => RANK_NAMES[letter] ?? letter;
  if (name.length === 2) return `pair of ${rank(name[0])}s`;
  return `${rank(name[0])} ${rank(name[1])} ${name[2] === "s" ? "suited" : "offsuit"}`;
}

/** Parse cards such as "QsJh2h", "Qs Jh 2h" or "Qs,Jh,2h"; null if the text is invalid. */
export function parseBoard(text) {
  const found = text.replace(/[\s,]/g, "").match(/.{1,2}/g) ?? [];
  const cards = found.map((one) => (/^[2-9tjqka][cdhs]$/i.test(one) ? one[0].toUpperCase() + one[1].toLowerCase() : null));
  return cards.includes(null) || new Set(cards).size !== cards.length ? null : cards;
}

export const splitBoard = (text) => parseBoard(text ?? "") ?? [];

/** A range as text from 1,326 weights: uniform cells by name, others hand by hand. The server has a shorter notation. */
export function rangeText(weights) {
  const parts = [];
  const show = (name, weight) => parts.push(weight === 1 ? name : `${name}:${Number(weight.toFixed(3))}`);
  HANDS_OF_CELL.forEach((hands, cell) => {
    const first = weights[hands[0]];
    if (hands.every((hand) => weights[hand] === first)) {
      if (first > 0) show(CELL_NAMES[cell], first);
    } else {
      for (const hand of hands) if (weights[hand] > 0) show(handName(hand), weights[hand]);
    }
  });
  return parts.join(",");
}
