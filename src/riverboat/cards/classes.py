"""What a hand is on a board, in players' words: one made hand, and any number of draws.

Made hands, best first. A straight or better counts whoever's cards make it. Below that the hand's own cards give the
name, since the board's pair belongs to everyone: aces on KK7 are an overpair.

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

Draws, on the flop and the turn. A draw needs a card of the hand, and what it hopes for must beat what is made.

    combo draw            a flush draw and a straight draw; both are named too
    nut flush draw        four of a suit, and the hand has the highest of those that the board lacks
    flush draw            four of a suit, and not the nut one
    open-ended            four in a row, open at both ends
    double gutshot        two ranks make a straight, without four in a row
    gutshot               one rank makes a straight
    backdoor flush draw   on the flop, both cards and one of the board share a suit
    overcards             no pair in the hand, and both cards above the board
    no draw               none of these
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.notation import Cards, as_board, as_hand, show_cards
from riverboat.errors import InputError

MADE = (
    "straight flush", "quads", "full house", "flush", "straight", "set", "trips", "two pair", "overpair", "top pair",
    "pair below top", "second pair", "third pair", "low pair", "underpair", "board pair", "ace high", "king high",
    "high card",
)  # fmt: skip
DRAWS = (
    "combo draw", "nut flush draw", "flush draw", "open-ended", "double gutshot", "gutshot", "backdoor flush draw",
    "overcards", "no draw",
)  # fmt: skip

_FLUSH, _STRAIGHT = MADE.index("flush"), MADE.index("straight")
_ACE, _KING = 12, 11
_COUNT = np.array([bin(bits).count("1") for bits in range(1 << 14)])  # how many bits are set


class HandClass(NamedTuple):
    """The made hand, and the draws (none on the river)."""

    made: str
    draws: tuple[str, ...]


class Classes(NamedTuple):
    """The classes of all hands on a board."""

    made: Array  # int8 [1326]: a place in MADE, −1 for hands that the board blocks
    draws: Array  # bool [1326, len(DRAWS)]: which draws a hand has; none where blocked and on the river


def classify(hand: Cards, board: Cards) -> HandClass:
    """The class of one hand, such as `classify("AsKs", "Kd7s2s")`: top pair and a nut flush draw."""
    cards, public = as_hand(hand), _postflop(board)
    shared = set(cards) & set(public)
    if shared:
        raise InputError(f"hand {show_cards(cards)} on board {show_cards(public)}: both hold {show_cards(shared)}")
    made, draws = _classify(np.array([sorted(cards)], np.int64), public)
    return HandClass(MADE[made[0]], tuple(name for name, has in zip(DRAWS, draws[0], strict=True) if has))


def classify_all(board: Cards) -> Classes:
    """The classes of all 1326 hands."""
    public = _postflop(board)
    blocked = np.isin(HAND_CARDS, public)
    live = ~(blocked[:, 0] | blocked[:, 1])
    made, draws = np.full(HANDS, -1, np.int8), np.zeros((HANDS, len(DRAWS)), bool)
    made[live], draws[live] = _classify(HAND_CARDS[live].astype(np.int64), public)
    return Classes(made, draws)


def _postflop(board: Cards) -> tuple[int, ...]:
    cards = as_board(board)
    if not cards:
        raise InputError("classes of hands need a board of 3 to 5 cards, such as QsJh2h")
    return cards


def _classify(hands: Array, board: tuple[int, ...]) -> tuple[Array, Array]:
    """Made [hands] and draws [hands, DRAWS] of hands [hands, 2] that the board does not block."""
    ranks, suits = hands >> 2, hands & 3
    public = np.array(board)
    on_board = np.bincount(public >> 2, minlength=13)  # [13] cards of each rank
    made = _made(ranks, suits, on_board, public)
    draws = np.zeros((len(hands), len(DRAWS)), bool)
    if len(board) < 5:
        flush, nut = _flush_draws(ranks, suits, public)
        flush &= made > _FLUSH
        open_ended, double, gutshot = (found & (made > _STRAIGHT) for found in _straight_draws(ranks, on_board))
        straight = open_ended | double | gutshot
        top = (public >> 2).max()
        suited = suits[:, 0] == suits[:, 1]
        backdoor = suited & (_in_suit(suits[:, 0], public) == 1) & (len(board) == 3) & (made > _FLUSH)
        over = (ranks > top).all(axis=1) & (ranks[:, 0] != ranks[:, 1]) & (made > _STRAIGHT)
        columns = [flush & straight, flush & nut, flush & ~nut, open_ended, double, gutshot, backdoor, over]
        draws[:, :-1] = np.stack(columns, axis=1)
        draws[:, -1] = ~draws.any(axis=1)
    return made, draws


def _made(ranks: Array, suits: Array, on_board: Array, public: Array) -> Array:
    """The place in MADE of every hand: the first condition that holds."""
    low, high = ranks[:, 0], ranks[:, 1]
    pocket = low == high
    counts = on_board + (np.arange(13) == low[:, None]) + (np.arange(13) == high[:, None])  # [hands, 13]
    suited = np.stack([_bits(ranks, suits == s) | _bits(public >> 2, (public & 3) == s) for s in range(4)])
    flush = (_COUNT[suited] >= 5).any(axis=0)
    straight = _has_straight(_bits(np.arange(13), counts > 0))
    pairs = counts >= 2
    full_house = (counts >= 3).any(axis=1) & (pairs.sum(axis=1) >= 2)

    hit_low, hit_high = on_board[low], on_board[high]  # cards of the board with the ranks of the hand
    # Two pairs play: a rank that two higher pairs outrank is as good as unpaired.
    above = pairs[:, ::-1].cumsum(axis=1)[:, ::-1]  # [hands, 13] pairs at or above a rank
    each = np.arange(len(ranks))
    plays_low = (pocket | (hit_low == 1)) & (above[each, low] <= 2)
    plays_high = (pocket | (hit_high == 1)) & (above[each, high] <= 2)
    own = np.where(plays_high, high, low)  # the rank of the best pair that has a card of the hand
    higher = (on_board > 0)[::-1].cumsum()[::-1][own] - (on_board[own] > 0)  # ranks of the board above it
    paired = plays_low | plays_high
    kind = {
        "straight flush": _has_straight(suited).any(axis=0),
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
    first: Array = np.stack([kind[name] for name in MADE]).argmax(axis=0)
    return first.astype(np.int8)


def _flush_draws(ranks: Array, suits: Array, public: Array) -> tuple[Array, Array]:
    """Which hands have four of a suit with a card of their own, and which of them the highest that is left."""
    flush, nut = np.zeros(len(ranks), bool), np.zeros(len(ranks), bool)
    for suit in range(4):
        mine = suits == suit  # [hands, 2]
        taken = set((public[(public & 3) == suit] >> 2).tolist())
        best = max(rank for rank in range(13) if rank not in taken)
        four = mine.any(axis=1) & (mine.sum(axis=1) + len(taken) == 4)
        flush |= four
        nut |= four & (mine & (ranks == best)).any(axis=1)
    return flush, nut


def _straight_draws(ranks: Array, on_board: Array) -> tuple[Array, Array, Array]:
    """Open-ended, double gutshot and gutshot, each [hands]."""
    board = _ace_low(_bits(np.arange(13), on_board > 0))
    mine = _ace_low(_bits(ranks, np.ones_like(ranks, bool))) & ~board
    held = mine | board
    outs = np.zeros(len(ranks), np.int64)
    open_ended = np.zeros(len(ranks), bool)
    for low in range(10):
        window = 0b11111 << low
        needs_one = (_COUNT[held & window] == 4) & ((mine & window) != 0)
        outs |= np.where(needs_one, window & ~held, 0)
    for low in range(9):
        four, ends = 0b11110 << low, 0b100001 << low
        open_ended |= ((held & four) == four) & ((mine & four) != 0) & ((outs & ends) == ends)
    count = _COUNT[outs & ~1 | (outs & 1) << 13]  # an ace is one rank, not two
    return open_ended, (count >= 2) & ~open_ended, count == 1


def _in_suit(suit: Array, public: Array) -> Array:
    """Cards of the board in the suit of each hand."""
    return np.bincount(public & 3, minlength=4)[suit]


def _bits(ranks: Array, where: Array) -> Array:
    """The ranks of the last axis, where they count, as bits of a number."""
    bits: Array = np.bitwise_or.reduce(np.where(where, 1 << ranks, 0), axis=-1)
    return bits


def _ace_low(bits: Array) -> Array:
    """Fourteen bits, the ace at both ends."""
    return (bits << 1) | (bits >> 12)


def _has_straight(bits: Array) -> Array:
    run = _ace_low(bits)
    five: Array = (run & run >> 1 & run >> 2 & run >> 3 & run >> 4) != 0
    return five
