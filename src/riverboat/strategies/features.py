"""What players see at a hold'em decision, as features that rules can test: the hand, the board, the situation.

    columns = hand_columns(holes, boards) | situation_columns(rules, states)

Features that have no meaning somewhere (the made hand before the flop) are −1 or 0 there, below every threshold.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from riverboat.cards.deck import FULL_DECK, RANKS, Deck
from riverboat.cards.hand_classes import DRAWS, MADE, classify_rows
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.games.holdem.betting_batch import NO_END, spans
from riverboat.games.holdem.betting_rules import State
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.rule_list import BOARD, FLAG, HAND, LEVEL, NUMBER, SHARE, SITUATION, Feature

STREETS = ("preflop", "flop", "turn", "river")
SUITS = ("no suits", "rainbow", "two of a suit", "three of a suit", "four of a suit", "five of a suit")
_ALL_DRAWS = ("nut flush draw", "flush draw", "open-ended", "double gutshot", "gutshot")

HANDS: tuple[Feature, ...] = (
    Feature("made", LEVEL, HAND, MADE[::-1]),
    Feature("kicker", LEVEL, HAND, tuple(RANKS), "a kicker of"),
    Feature("high card", LEVEL, HAND, tuple(RANKS), "a high card of"),
    Feature("low card", LEVEL, HAND, tuple(RANKS), "a low card of"),
    Feature("pocket pair", FLAG, HAND, (), "a pocket pair", "no pocket pair"),
    Feature("suited", FLAG, HAND, (), "suited cards", "unsuited cards"),
    Feature("gap", NUMBER, HAND, (), "ranks between its cards", effort=2.0),
    Feature("draw", FLAG, HAND, (), "a draw", "no draw"),
    Feature("flush draw", FLAG, HAND, (), "a flush draw", "no flush draw"),
    Feature("nut flush draw", FLAG, HAND, (), "the nut flush draw", "not the nut flush draw"),
    Feature("straight draw", FLAG, HAND, (), "an open-ended straight draw", "no open-ended straight draw"),
    Feature("gutshot", FLAG, HAND, (), "a gutshot", "no gutshot"),
    Feature("backdoor flush draw", FLAG, HAND, (), "a backdoor flush draw", "no backdoor flush draw"),
    Feature("overcards", FLAG, HAND, (), "two overcards", "at most one overcard"),
    Feature("flush cards", NUMBER, HAND, (), "cards of the board's suit"),
    Feature("nut flush card", FLAG, HAND, (), "the highest card left of the board's suit", "not the nut flush card"),
    Feature("strength", SHARE, HAND, (), "of all hands beaten", effort=2.0),
)
BOARDS: tuple[Feature, ...] = (
    Feature("paired", FLAG, BOARD, (), "on a paired board", "on an unpaired board"),
    Feature("suits", LEVEL, BOARD, SUITS, "on a board with"),
    Feature("top card", LEVEL, BOARD, tuple(RANKS), "on a board with a top card of"),
    Feature("connected", NUMBER, BOARD, (), "straights possible on the board"),
)
SITUATIONS: tuple[Feature, ...] = (
    Feature("street", LEVEL, SITUATION, STREETS, "on the"),
    Feature("in position", FLAG, SITUATION, (), "in position", "out of position"),
    Feature("facing", FLAG, SITUATION, (), "facing a bet", "when you may check"),
    Feature("price", SHARE, SITUATION, (), "of the pot to call"),
    Feature("raises", NUMBER, SITUATION, (), "bets and raises on this street"),
    Feature("stack to pot", NUMBER, SITUATION, (), "pots behind"),
    Feature("you led", FLAG, SITUATION, (), "if you bet last on the street before", "if you did not lead before"),
    Feature("they led", FLAG, SITUATION, (), "if they bet last on the street before", "if they did not lead before"),
)
RANGE: tuple[Feature, ...] = (
    Feature("equity", SHARE, HAND, (), "equity against their range", effort=2.0),
    Feature("percentile", SHARE, HAND, (), "of your own range behind it", effort=3.0),
    Feature("blocks", SHARE, HAND, (), "of their best hands blocked", effort=4.0),
)
HOLDEM = HANDS + BOARDS + SITUATIONS  # what an agent can see at any table

_MADE_LEVEL = np.array([len(MADE) - 1 - k for k in range(len(MADE))], float)


def hand_columns(
    holes: Array, boards: Array, wanted: Collection[str] | None = None, deck: Deck = FULL_DECK
) -> dict[str, Array]:
    """Features of n hands, each on a board of its own; boards have the same number of cards, none or 3 to 5.

    uint8 [n, 2], uint8 [n, cards] -> float64 [n] each
    """
    n, shown = boards.shape
    cards = np.sort(holes.astype(np.int64), axis=1)
    low, high = cards[:, 0] >> 2, cards[:, 1] >> 2
    suits, pair = cards & 3, low == high
    out = {
        "high card": high, "low card": low, "pocket pair": pair, "suited": suits[:, 0] == suits[:, 1],
        "gap": np.maximum(high - low - 1, 0),
    }  # fmt: skip
    names = {feature.name for feature in HANDS + BOARDS}
    out |= dict.fromkeys(sorted(names - set(out)), np.zeros(n))
    out |= {"made": np.full(n, -1), "kicker": low, "top card": np.full(n, -1)}
    if shown:
        out |= _on_board(cards, low, high, suits, boards.astype(np.int64), deck)
    if wanted is None or "strength" in wanted:
        out["strength"] = _strength(cards, boards, deck)
    return {name: np.asarray(x, float) for name, x in out.items() if wanted is None or name in wanted}


def _on_board(cards: Array, low: Array, high: Array, suits: Array, boards: Array, deck: Deck) -> dict[str, Array]:
    made, draws = classify_rows(cards, boards, deck)
    has = dict(zip(DRAWS, draws.T, strict=True))
    ranks, colours = boards >> 2, boards & 3
    hit_low, hit_high = ((ranks == own[:, None]).any(axis=1) for own in (low, high))
    counts = (colours[:, :, None] == np.arange(4)).sum(axis=1)  # [n, 4]
    suit = counts.argmax(axis=1)
    of_suit = colours == suit[:, None]
    taken = np.zeros((len(cards), 13), bool)
    for column in range(boards.shape[1]):
        taken[np.arange(len(cards)), ranks[:, column]] |= of_suit[:, column]
    best = 12 - (~taken)[:, ::-1].argmax(axis=1)
    mine = suits == suit[:, None]
    held = np.stack([low, high], axis=1)
    bits = np.bitwise_or.reduce(1 << ranks, axis=1)
    run = (bits << 1) | (bits >> 12)
    windows = sum(((_ones(run >> start & 0b11111) >= 3).astype(int) for start in range(10)), np.zeros(len(cards), int))
    return {
        "made": _MADE_LEVEL[made],
        # The card beside the one that pairs the board; of no pair or a pocket pair the higher one.
        "kicker": np.where(hit_high & ~hit_low, low, high),
        "draw": np.any([has[name] for name in _ALL_DRAWS], axis=0),
        "flush draw": has["flush draw"] | has["nut flush draw"],
        "nut flush draw": has["nut flush draw"],
        "straight draw": has["open-ended"] | has["double gutshot"],
        "gutshot": has["gutshot"],
        "backdoor flush draw": has["backdoor flush draw"],
        "overcards": has["overcards"],
        "flush cards": np.where(counts.max(axis=1) >= 2, mine.sum(axis=1), 0),
        "nut flush card": (counts.max(axis=1) >= 2) & (mine & (held == best[:, None])).any(axis=1),
        "paired": (np.sort(ranks, axis=1)[:, 1:] == np.sort(ranks, axis=1)[:, :-1]).any(axis=1),
        "suits": counts.max(axis=1),
        "top card": ranks.max(axis=1),
        "connected": windows,
    }


def _ones(bits: Array) -> Array:
    """How many of five bits are set."""
    ones: Array = sum((bits >> k & 1 for k in range(5)), np.zeros_like(bits))
    return ones


def _strength(cards: Array, boards: Array, deck: Deck) -> Array:
    """Share of all other hands that each beats on its board, ties counting half. Each board is ranked once."""
    if not boards.shape[1]:
        low, high = cards[:, 0] >> 2, cards[:, 1] >> 2
        # Before the flop: pairs, then the higher card, then the lower, as shares of the 169 classes by combos.
        value = np.where(low == high, 1000 + low, 13 * high + low)
        every = deck.hands.astype(np.int64)
        a, b = every[:, 0] >> 2, every[:, 1] >> 2
        all_values = np.sort(np.where(a == b, 1000 + a, 13 * np.maximum(a, b) + np.minimum(a, b)))
        below, upto = (np.searchsorted(all_values, value, side) for side in ("left", "right"))
        preflop: Array = (below + upto) / 2 / len(all_values)
        return preflop
    keys, inverse = np.unique(np.sort(boards, axis=1), axis=0, return_inverse=True)
    out, place = np.zeros(len(cards)), inverse.ravel()
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(keys) + 1))
    hands = deck.hands
    for k, board in enumerate(keys):
        rows = order[ends[k] : ends[k + 1]]
        live = hands[~np.isin(hands, board).any(axis=1)]
        both = np.concatenate([live, cards[rows].astype(np.uint8)])
        full = np.concatenate([both, np.tile(board, (len(both), 1)).astype(np.uint8)], axis=1)
        all_ranks = rank_batch(np.ascontiguousarray(full), deck.rules, check=False)
        ranks, mine = all_ranks[: len(live)], all_ranks[len(live) :]
        ordered = np.sort(ranks)
        below, upto = (np.searchsorted(ordered, mine, side) for side in ("left", "right"))
        out[rows] = (below + upto) / 2 / len(ordered)
    return out


def situation_columns(rules: Rules, states: Array) -> dict[str, Array]:
    """Features of the betting at n places. int64 [n, FIELDS] -> float64 [n] each"""
    s = State(*states.T)  # of columns
    turn, led = states[:, 2], states[:, 9]
    price, _, _ = spans(rules, states).T
    pot = s.spent0 + s.spent1
    mine = np.where(turn == 0, s.spent0, s.spent1)
    stacks = np.array(rules.stacks or (NO_END, NO_END))
    behind = np.minimum(stacks[0] - s.spent0, stacks[1] - s.spent1)
    behind = np.minimum(behind, stacks[turn] - mine - price)
    return {
        "street": np.asarray(s.street, float),
        "in position": (turn == 1).astype(float),
        "facing": (price > 0).astype(float),
        "price": price / np.maximum(pot + price, 1),
        "raises": np.asarray(s.raises, float),
        "stack to pot": np.maximum(behind, 0) / np.maximum(pot + price, 1),
        "you led": (led == turn).astype(float),
        "they led": (led == 1 - turn).astype(float),
    }
