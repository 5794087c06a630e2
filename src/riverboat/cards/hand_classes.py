"""Hand classes on a board, in players' terms: one made hand, and any number of draws.

Made hands, best first. A straight or better counts even if the board alone makes it. Below that the player's own cards
decide, since a pair of the board belongs to everyone: aces on KK7 are an overpair.

    straight flush   five in a row of one suit
    quads            four of a rank
    full house       three of a rank and two of another
    flush            five of a suit
    straight         five in a row; the ace also counts as one
    set              a pocket pair and a third on the board
    trips            one card of the hand with a pair of the board
    two pair         both cards pair with different ranks of the board, and both pairs play
    overpair         a pocket pair above the board
    top pair         one card pairs the highest rank of the board
    pair below top   a pocket pair with one rank of the board above it
    second pair      one card pairs the second rank of the board
    third pair       one card pairs the third rank
    low pair         one card pairs the fourth or fifth rank
    underpair        a pocket pair with two or more ranks of the board above it
    board pair       pairs or trips of the board alone; a pair of the hand that two pairs of the board beat is none
    ace high         no pair anywhere, and an ace in the hand
    king high        no pair anywhere, and a king is the best of the hand
    high card        no pair anywhere, and nothing better in the hand than a queen

Draws, on the flop and the turn. A draw needs a card of the hand, and must improve the made hand if it comes in.

    combo draw            a flush draw and a straight draw; both are named too
    nut flush draw        four of a suit, and the hand has the highest of those that the board lacks
    flush draw            four of a suit, and not the nut one
    open-ended            four in a row, open at both ends
    double gutshot        two ranks make a straight, without four in a row
    gutshot               one rank makes a straight
    backdoor flush draw   on the flop, both cards and one of the board share a suit
    overcards             no pair in the hand, and both cards above the board
    no draw               none of these

In another deck (`Deck`) a draw needs a card that the deck has. Short deck has its own order: a flush beats a full house
and, by the rules short-trips, sets and trips beat a straight; there the ace also counts as one below the six.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, RANKS, Deck, get_hand_rules
from riverboat.cards.notation import Cards, as_hand, as_postflop_board, format_cards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

MADE_HANDS = (
    "straight flush", "quads", "full house", "flush", "straight", "set", "trips", "two pair", "overpair", "top pair",
    "pair below top", "second pair", "third pair", "low pair", "underpair", "board pair", "ace high", "king high",
    "high card",
)  # fmt: skip
DRAWS = (
    "combo draw", "nut flush draw", "flush draw", "open-ended", "double gutshot", "gutshot", "backdoor flush draw",
    "overcards", "no draw",
)  # fmt: skip

# names of the ranking's categories in this module
_CATEGORY_MADE_HANDS = {"four of a kind": ("quads",), "three of a kind": ("set", "trips")}
_ACE, _KING = 12, 11
_POPCOUNT = np.array([bin(bits).count("1") for bits in range(1 << 14)])  # number of bits set


class HandClass(NamedTuple):
    """Made hand and draws (none on the river) of a hand."""

    made: str
    draws: tuple[str, ...]


class _HandClassRules(NamedTuple):
    """Properties of a deck that change the classes."""

    ranks: int  # bits of the deck's ranks
    lowest: int  # lowest rank; the ace also counts as one below it
    order: tuple[str, ...]  # made hands, best first

    @staticmethod
    def for_deck(deck: Deck) -> _HandClassRules:
        """Return the rules of a deck: its hand rules order the made hands above two pair, the others are as usual."""
        rules = get_hand_rules(deck.rules)
        high = [name for category in rules.order[:2:-1] for name in _CATEGORY_MADE_HANDS.get(category, (category,))]
        ranks = sum(1 << RANKS.index(r) for r in deck.ranks)
        return _HandClassRules(ranks, rules.lowest, (*high, *MADE_HANDS[len(high) :]))

    def beaten(self, made: Array, by: str) -> Array:
        """Return which made hands, given as indices of MADE_HANDS, are weaker than the made hand `by`."""
        return np.array([self.order.index(name) > self.order.index(by) for name in MADE_HANDS])[made]


class HandClasses(NamedTuple):
    """Classes of all hands on a board."""

    made: Array  # int8 [1326]: index of MADE_HANDS, −1 for hands that the board blocks
    draws: Array  # bool [1326, len(DRAWS)]: draws of each hand; none for blocked hands and on the river


def classify(hand: Cards, board: Cards, deck: Deck = FULL_DECK) -> HandClass:
    """Classify one hand: `classify("AsKs", "Kd7s2s")` is top pair and a nut flush draw."""
    cards, public = as_hand(hand), as_postflop_board(board, "hand classes")
    shared = set(cards) & set(public)
    if shared:
        raise InputError(
            f"hand {format_cards(cards)} on board {format_cards(public)}: both hold {format_cards(shared)}"
        )
    foreign = [card for card in (*cards, *public) if card not in deck.cards]
    if foreign:
        raise InputError(
            f"hand {format_cards(cards)} on board {format_cards(public)}: no {format_cards(foreign[:1])} in the deck"
        )
    made, draws = classify_batch(np.array([cards]), np.array([public]), deck)
    return HandClass(MADE_HANDS[made[0]], tuple(name for name, has in zip(DRAWS, draws[0], strict=True) if has))


def classify_all(board: Cards, deck: Deck = FULL_DECK) -> HandClasses:
    """Classify all 1326 hands on a board; hands with cards that a smaller deck does not have count as blocked."""
    public = as_postflop_board(board, "hand classes")
    live = np.isin(HAND_CARDS, np.setdiff1d(deck.cards, public)).all(axis=1)
    made, draws = np.full(NUM_HANDS, -1, np.int8), np.zeros((NUM_HANDS, len(DRAWS)), bool)
    boards = np.broadcast_to(np.array(public), (int(live.sum()), len(public)))
    made[live], draws[live] = classify_batch(HAND_CARDS[live], boards, deck)
    return HandClasses(made, draws)


def classify_batch(hands: Array, boards: Array, deck: Deck = FULL_DECK) -> HandClasses:
    """Classify n hands, each on its own board of 3 to 5 cards that does not block it, without checking the cards.

    uint8 [n, 2], uint8 [n, cards] -> int8 [n], bool [n, len(DRAWS)]
    """
    hands, boards, game = (
        np.sort(hands, axis=1).astype(np.int64),
        boards.astype(np.int64),
        _HandClassRules.for_deck(deck),
    )
    ranks, suits = hands >> 2, hands & 3
    on_board = _count_values(boards >> 2, 13)  # [n, 13] cards of each rank
    made = _made_hands(ranks, suits, on_board, boards, game)
    draws = np.zeros((len(hands), len(DRAWS)), bool)
    if boards.shape[1] < 5:
        below_flush, below_straight = game.beaten(made, "flush"), game.beaten(made, "straight")
        flush, nut = _flush_draws(ranks, suits, boards, game)
        flush &= below_flush
        open_ended, double, gutshot = (draw & below_straight for draw in _straight_draws(ranks, on_board, game))
        straight = open_ended | double | gutshot
        top = (boards >> 2).max(axis=1)
        suited = suits[:, 0] == suits[:, 1]
        of_suit = _count_values(boards & 3, 4)[np.arange(len(hands)), suits[:, 0]]
        backdoor = suited & (of_suit == 1) & (boards.shape[1] == 3) & below_flush
        over = (ranks > top[:, None]).all(axis=1) & (ranks[:, 0] != ranks[:, 1]) & below_straight
        columns = [flush & straight, flush & nut, flush & ~nut, open_ended, double, gutshot, backdoor, over]
        draws[:, :-1] = np.stack(columns, axis=1)
        draws[:, -1] = ~draws.any(axis=1)
    return HandClasses(made, draws)


def _count_values(values: Array, kinds: int) -> Array:
    """Count each value in each row. int64 [n, values] -> int64 [n, kinds]"""
    return np.asarray((values[:, :, None] == np.arange(kinds)).sum(axis=1))


def _made_hands(ranks: Array, suits: Array, on_board: Array, boards: Array, game: _HandClassRules) -> Array:
    """Return the made hand of every hand, as index of MADE_HANDS: the best one whose condition holds. int8 [hands]"""
    low, high = ranks[:, 0], ranks[:, 1]
    pocket = low == high
    counts = on_board + (np.arange(13) == low[:, None]) + (np.arange(13) == high[:, None])  # [hands, 13]
    suited = np.stack([_rank_bits(ranks, suits == s) | _rank_bits(boards >> 2, (boards & 3) == s) for s in range(4)])
    flush = (_POPCOUNT[suited] >= 5).any(axis=0)
    straight = _has_straight(_rank_bits(np.arange(13), counts > 0), game)
    if game.order.index("straight") > game.order.index("trips"):  # also if the board alone has three of a kind
        straight &= ~(counts >= 3).any(axis=1)
    pairs = counts >= 2
    full_house = (counts >= 3).any(axis=1) & (pairs.sum(axis=1) >= 2)

    each = np.arange(len(ranks))
    hit_low, hit_high = on_board[each, low], on_board[each, high]  # cards of the board with the ranks of the hand
    # Only two pairs play: a pair below two higher pairs does not count.
    above = pairs[:, ::-1].cumsum(axis=1)[:, ::-1]  # [hands, 13] pairs at or above a rank
    plays_low = (pocket | (hit_low == 1)) & (above[each, low] <= 2)
    plays_high = (pocket | (hit_high == 1)) & (above[each, high] <= 2)
    own = np.where(plays_high, high, low)  # rank of the best pair with a card of the hand
    from_here = (on_board > 0)[:, ::-1].cumsum(axis=1)[:, ::-1]
    higher = from_here[each, own] - (on_board[each, own] > 0)  # ranks of the board above it
    paired = plays_low | plays_high
    kind = {
        "straight flush": _has_straight(suited, game).any(axis=0),
        "quads": (counts == 4).any(axis=1),
        "full house": full_house,
        "flush": flush,
        "straight": straight,
        "set": pocket & (hit_high == 1),
        "trips": ~pocket & ((hit_low == 2) | (hit_high == 2)),
        "two pair": ~pocket & plays_low & plays_high,
        "overpair": pocket & paired & (higher == 0),
        "top pair": ~pocket & paired & (higher == 0),
        "pair below top": pocket & paired & (higher == 1),
        "second pair": ~pocket & paired & (higher == 1),
        "third pair": ~pocket & paired & (higher == 2),
        "low pair": ~pocket & paired,
        "underpair": pocket & paired,
        "board pair": pairs.any(axis=1),
        "ace high": high == _ACE,
        "king high": high == _KING,
        "high card": np.ones(len(ranks), bool),
    }
    first = np.stack([kind[name] for name in game.order]).argmax(axis=0)
    return np.asarray(np.array([MADE_HANDS.index(name) for name in game.order], np.int8)[first])


def _flush_draws(ranks: Array, suits: Array, boards: Array, game: _HandClassRules) -> tuple[Array, Array]:
    """Return flush draws (four of a suit, at least one in the hand) and nut flush draws, each bool [hands]."""
    flush, nut = np.zeros(len(ranks), bool), np.zeros(len(ranks), bool)
    in_deck = np.array([game.ranks >> rank & 1 for rank in range(13)], bool)
    for suit in range(4):
        of_hand = suits == suit  # [n, 2]
        of_suit = (boards & 3) == suit
        taken = _rank_bits(boards >> 2, of_suit)[:, None] >> np.arange(13) & 1  # [n, 13]
        left = in_deck & (taken == 0)
        best = np.where(left.any(axis=1), 12 - left[:, ::-1].argmax(axis=1), -1)
        four = of_hand.any(axis=1) & (of_hand.sum(axis=1) + of_suit.sum(axis=1) == 4)
        flush |= four
        nut |= four & (of_hand & (ranks == best[:, None])).any(axis=1)
    return flush, nut


def _straight_draws(ranks: Array, on_board: Array, game: _HandClassRules) -> tuple[Array, Array, Array]:
    """Return open-ended, double gutshot and gutshot draws, each bool [hands]."""
    board = _with_low_ace(_rank_bits(np.arange(13), on_board > 0), game.lowest)
    own = _with_low_ace(_rank_bits(ranks, np.ones_like(ranks, bool)), game.lowest) & ~board
    held, top = own | board, 13 - game.lowest  # the bit of the ace above the other ranks
    dealt = _with_low_ace(np.array(game.ranks), game.lowest)
    outs = np.zeros(len(ranks), np.int64)
    open_ended = np.zeros(len(ranks), bool)
    for low in range(top - 3):
        window = 0b11111 << low
        needs_one = (_POPCOUNT[held & window] == 4) & ((own & window) != 0)
        outs |= np.where(needs_one, window & ~held & dealt, 0)
    for low in range(top - 4):
        four, ends = 0b11110 << low, 0b100001 << low
        open_ended |= ((held & four) == four) & ((own & four) != 0) & ((outs & ends) == ends)
    count = _POPCOUNT[outs & ~1 | (outs & 1) << top]  # an ace is one rank, not two
    return open_ended, (count >= 2) & ~open_ended, count == 1


def _rank_bits(ranks: Array, where: Array) -> Array:
    """Return the selected ranks of the last axis as bits of a number."""
    return np.asarray(np.bitwise_or.reduce(np.where(where, 1 << ranks, 0), axis=-1))


def _with_low_ace(bits: Array, lowest: int) -> Array:
    """Return the ranks from the lowest on, with the ace at both ends: fourteen bits for 52 cards."""
    return (bits >> lowest << 1) | (bits >> 12)


def _has_straight(bits: Array, game: _HandClassRules) -> Array:
    run = _with_low_ace(bits, game.lowest)
    return np.asarray((run & run >> 1 & run >> 2 & run >> 3 & run >> 4) != 0)
