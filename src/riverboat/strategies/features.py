"""Features of hold'em decisions that rules can test: hand, board and situation.

    columns = hand_features(holes, boards) | situation_features(rules, states)

A feature without meaning somewhere, such as the made hand before the flop, is −1 or 0 there, below every threshold.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from riverboat.cards.deck import FULL_DECK, RANKS, Deck
from riverboat.cards.hand_classes import DRAWS, MADE_HANDS, classify_batch
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.games.holdem.actions import UNLIMITED, call_and_raise_bounds
from riverboat.games.holdem.betting_rules import CompactBettingState
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.rule_list import BOARD, FLAG, HAND, LEVEL, NUMBER, SHARE, SITUATION, DecisionFeature

STREET_LEVELS = ("preflop", "flop", "turn", "river")
SUIT_LEVELS = ("no suits", "rainbow", "two of a suit", "three of a suit", "four of a suit", "five of a suit")
_STRONG_DRAWS = ("nut flush draw", "flush draw", "open-ended", "double gutshot", "gutshot")

HAND_FEATURES: tuple[DecisionFeature, ...] = (
    DecisionFeature("made", LEVEL, HAND, MADE_HANDS[::-1]),
    DecisionFeature("kicker", LEVEL, HAND, tuple(RANKS), "a kicker of"),
    DecisionFeature("high card", LEVEL, HAND, tuple(RANKS), "a high card of"),
    DecisionFeature("low card", LEVEL, HAND, tuple(RANKS), "a low card of"),
    DecisionFeature("pocket pair", FLAG, HAND, (), "a pocket pair", "no pocket pair"),
    DecisionFeature("suited", FLAG, HAND, (), "suited cards", "unsuited cards"),
    DecisionFeature("gap", NUMBER, HAND, (), "ranks between its cards", effort=2.0),
    DecisionFeature("draw", FLAG, HAND, (), "a draw", "no draw"),
    DecisionFeature("flush draw", FLAG, HAND, (), "a flush draw", "no flush draw"),
    DecisionFeature("nut flush draw", FLAG, HAND, (), "the nut flush draw", "not the nut flush draw"),
    DecisionFeature("straight draw", FLAG, HAND, (), "an open-ended straight draw", "no open-ended straight draw"),
    DecisionFeature("gutshot", FLAG, HAND, (), "a gutshot", "no gutshot"),
    DecisionFeature("backdoor flush draw", FLAG, HAND, (), "a backdoor flush draw", "no backdoor flush draw"),
    DecisionFeature("overcards", FLAG, HAND, (), "two overcards", "at most one overcard"),
    DecisionFeature("flush cards", NUMBER, HAND, (), "cards of the board's suit"),
    DecisionFeature(
        "nut flush card", FLAG, HAND, (), "the highest card left of the board's suit", "not the nut flush card"
    ),
    DecisionFeature("strength", SHARE, HAND, (), "of all hands beaten", effort=2.0),
)
BOARD_FEATURES: tuple[DecisionFeature, ...] = (
    DecisionFeature("paired", FLAG, BOARD, (), "on a paired board", "on an unpaired board"),
    DecisionFeature("suits", LEVEL, BOARD, SUIT_LEVELS, "on a board with"),
    DecisionFeature("top card", LEVEL, BOARD, tuple(RANKS), "on a board with a top card of"),
    DecisionFeature("connected", NUMBER, BOARD, (), "straights possible on the board"),
)
SITUATION_FEATURES: tuple[DecisionFeature, ...] = (
    DecisionFeature("street", LEVEL, SITUATION, STREET_LEVELS, "on the"),
    DecisionFeature("in position", FLAG, SITUATION, (), "in position", "out of position"),
    DecisionFeature("facing", FLAG, SITUATION, (), "facing a bet", "when you may check"),
    DecisionFeature("price", SHARE, SITUATION, (), "of the pot to call"),
    DecisionFeature("raises", NUMBER, SITUATION, (), "bets and raises on this street"),
    DecisionFeature("stack to pot", NUMBER, SITUATION, (), "pots behind"),
    DecisionFeature(
        "you led", FLAG, SITUATION, (), "if you bet last on the street before", "if you did not lead before"
    ),
    DecisionFeature(
        "they led", FLAG, SITUATION, (), "if they bet last on the street before", "if they did not lead before"
    ),
)
RANGE_FEATURES: tuple[DecisionFeature, ...] = (
    DecisionFeature("equity", SHARE, HAND, (), "equity against their range", effort=2.0),
    DecisionFeature("percentile", SHARE, HAND, (), "of your own range behind it", effort=3.0),
    DecisionFeature("blocks", SHARE, HAND, (), "of their best hands blocked", effort=4.0),
)
HOLDEM_FEATURES = HAND_FEATURES + BOARD_FEATURES + SITUATION_FEATURES  # available from any observation

_SET_BITS = np.array([number.bit_count() for number in range(32)])
_MADE_LEVEL = np.array([len(MADE_HANDS) - 1 - k for k in range(len(MADE_HANDS))], float)


def hand_features(
    holes: Array, boards: Array, requested: Collection[str] | None = None, deck: Deck = FULL_DECK
) -> dict[str, Array]:
    """Compute the hand and board features of n hands, each on its own board. uint8 [n, 2], uint8 [n, cards]

    Returns float64 [n] by name of a feature, for the `requested` names or for all. All boards have the same number of
    cards, 0 or 3 to 5.
    """
    n, num_cards = boards.shape
    cards = np.sort(holes.astype(np.int64), axis=1)
    low, high = cards[:, 0] >> 2, cards[:, 1] >> 2
    suits, pair = cards & 3, low == high
    out = {
        "high card": high, "low card": low, "pocket pair": pair, "suited": suits[:, 0] == suits[:, 1],
        "gap": np.maximum(high - low - 1, 0),
    }  # fmt: skip
    names = {feature.name for feature in HAND_FEATURES + BOARD_FEATURES}
    out |= dict.fromkeys(sorted(names - set(out)), np.zeros(n))
    out |= {"made": np.full(n, -1), "kicker": low, "top card": np.full(n, -1)}
    if num_cards:
        out |= _board_features(cards, low, high, suits, boards.astype(np.int64), deck)
    if requested is None or "strength" in requested:
        out["strength"] = _hand_strength(cards, boards, deck)
    return {name: np.asarray(x, float) for name, x in out.items() if requested is None or name in requested}


def _board_features(cards: Array, low: Array, high: Array, suits: Array, boards: Array, deck: Deck) -> dict[str, Array]:
    made, draws = classify_batch(cards, boards, deck)
    has = dict(zip(DRAWS, draws.T, strict=True))
    ranks, board_suits = boards >> 2, boards & 3
    hit_low, hit_high = ((ranks == rank[:, None]).any(axis=1) for rank in (low, high))
    counts = (board_suits[:, :, None] == np.arange(4)).sum(axis=1)  # [n, 4]
    suit = counts.argmax(axis=1)
    in_suit = board_suits == suit[:, None]
    taken = ((ranks[:, :, None] == np.arange(13)) & in_suit[:, :, None]).any(axis=1)
    best = 12 - (~taken)[:, ::-1].argmax(axis=1)
    own_in_suit = suits == suit[:, None]
    own_ranks = np.stack([low, high], axis=1)
    bits = np.bitwise_or.reduce(1 << ranks, axis=1)
    wheel_bits = (bits << 1) | (bits >> 12)
    windows = np.sum([_SET_BITS[wheel_bits >> start & 0b11111] >= 3 for start in range(10)], axis=0)
    return {
        "made": _MADE_LEVEL[made],
        # The card that does not pair the board; the higher card without a pair or with a pocket pair.
        "kicker": np.where(hit_high & ~hit_low, low, high),
        "draw": np.any([has[name] for name in _STRONG_DRAWS], axis=0),
        "flush draw": has["flush draw"] | has["nut flush draw"],
        "nut flush draw": has["nut flush draw"],
        "straight draw": has["open-ended"] | has["double gutshot"],
        "gutshot": has["gutshot"],
        "backdoor flush draw": has["backdoor flush draw"],
        "overcards": has["overcards"],
        "flush cards": np.where(counts.max(axis=1) >= 2, own_in_suit.sum(axis=1), 0),
        "nut flush card": (counts.max(axis=1) >= 2) & (own_in_suit & (own_ranks == best[:, None])).any(axis=1),
        "paired": (np.sort(ranks, axis=1)[:, 1:] == np.sort(ranks, axis=1)[:, :-1]).any(axis=1),
        "suits": counts.max(axis=1),
        "top card": ranks.max(axis=1),
        "connected": windows,
    }


def _hand_strength(cards: Array, boards: Array, deck: Deck) -> Array:
    """Return the share of all hands that each hand beats on its board; ties count half. Each board is ranked once."""
    if not boards.shape[1]:
        low, high = cards[:, 0] >> 2, cards[:, 1] >> 2
        # Before the flop: pairs, then the higher card, then the lower, as shares of the 169 classes by combos.
        value = np.where(low == high, 1000 + low, 13 * high + low)
        all_hands = deck.hands.astype(np.int64)
        a, b = all_hands[:, 0] >> 2, all_hands[:, 1] >> 2
        all_values = np.sort(np.where(a == b, 1000 + a, 13 * np.maximum(a, b) + np.minimum(a, b)))
        below, upto = (np.searchsorted(all_values, value, side) for side in ("left", "right"))
        return (below + upto) / 2 / len(all_values)
    keys, inverse = np.unique(np.sort(boards, axis=1), axis=0, return_inverse=True)
    out, board_index, hands = np.zeros(len(cards)), inverse.ravel(), deck.hand_indices(cards)
    order = np.argsort(board_index, kind="stable")
    ends = np.searchsorted(board_index[order], np.arange(len(keys) + 1))
    for k, board in enumerate(keys):
        rows, strengths = order[ends[k] : ends[k + 1]], hand_strengths(board, deck)
        ordered = np.sort(strengths[strengths > 0])
        below, upto = (np.searchsorted(ordered, strengths[hands[rows]], side) for side in ("left", "right"))
        out[rows] = (below + upto) / 2 / len(ordered)
    return out


def situation_features(rules: PokerRules, states: Array) -> dict[str, Array]:
    """Compute the situation features of n betting states, for the seat to act. int64 [n, FIELDS]

    Returns float64 [n] by name of a feature.
    """
    s = CompactBettingState(*states.T)  # fields are columns
    turn, led = states[:, 2], states[:, 9]
    price, _, _ = call_and_raise_bounds(rules, states).T
    pot = s.spent0 + s.spent1
    own_spent = np.where(turn == 0, s.spent0, s.spent1)
    stacks = np.array(rules.stacks or (UNLIMITED, UNLIMITED))
    behind = np.minimum(stacks[0] - s.spent0, stacks[1] - s.spent1)
    behind = np.minimum(behind, stacks[turn] - own_spent - price)
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
