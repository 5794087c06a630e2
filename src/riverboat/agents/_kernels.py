"""Random numbers of agents, strength of hands, and the yardsticks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.cards._kernels import START, plain_value, ranked
from riverboat.cards.ranking import Tables as Ranks
from riverboat.games._betting_kernels import price, replay, span
from riverboat.games.moves import CALL, FOLD
from riverboat.jit import kernel, part
from riverboat.solving._blueprint_deal_kernels import draw

U = np.uint64
READING, ACTING, AMOUNT = 0, 1, 2  # random numbers of a place in a line; `STREAMS` for each place
STREAMS = 4
SALT = U(0x6A09E667F3BCC909)  # keeps an agent's numbers apart from the cards of a match with the same seed
MARGIN = 0.2  # of strength above the price at which a call is worth it: those who bet hold more than a random hand
STRONG, STRONGEST = 0.85, 0.95  # share of other hands beaten: good for a bet; good for raising one
FOLDER, CALLER, RAISER, RANDOM, BY_RULES = 0, 1, 2, 3, 4  # yardsticks


# --- random numbers ---------------------------------------------------------------------------


@part
def uniform(seed, hand, place, stream):
    """In [0, 1), the same whenever an agent looks at this place of this hand's line."""
    bits = draw(draw(U(seed) ^ SALT, U(hand)), U(STREAMS * place + stream))
    return np.float64(bits >> U(11)) * (1.0 / 9007199254740992.0)


# --- hands ------------------------------------------------------------------------------------


@part
def value_of(ranks, key, mask, cards):
    """Class of a hand of so many cards by the sums of its keys and mask bits."""
    if cards >= 5:
        return np.int64(ranked(key, mask, ranks.offset, ranks.value, ranks.flush))
    return np.int64(plain_value(key, ranks.offset, ranks.value))


@part
def strength(
    deck,  # uint8 [cards]
    ranks,  # Ranks of hole and board cards together
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    i,
    shown,
):
    """The share of all hands that the other player may hold which hand i beats on the board that lies; ties are half."""
    own = hole.shape[1]
    key, mask, known = START, U(0), U(0)
    for k in range(shown):
        key += ranks.key[board[i, k]]
        mask += ranks.mask[board[i, k]]
        known |= U(1) << U(board[i, k])
    mine, bits = key, mask
    for k in range(own):
        mine += ranks.key[hole[i, k]]
        bits += ranks.mask[hole[i, k]]
        known |= U(1) << U(hole[i, k])
    value, cards = value_of(ranks, mine, bits, own + shown), own + shown
    beaten, hands = np.int64(0), np.int64(0)
    for a in range(len(deck)):
        if (known >> U(deck[a])) & U(1):
            continue
        one, mark = key + ranks.key[deck[a]], mask + ranks.mask[deck[a]]
        if own == 1:
            theirs = value_of(ranks, one, mark, cards)
            beaten += 2 * (value > theirs) + (value == theirs)
            hands += 2
            continue
        for b in range(a):
            if (known >> U(deck[b])) & U(1):
                continue
            theirs = value_of(ranks, one + ranks.key[deck[b]], mark + ranks.mask[deck[b]], cards)
            beaten += 2 * (value > theirs) + (value == theirs)
            hands += 2
    return beaten / hands


@part
def worth_a_call(book, s, strong):
    """Whether a hand of this strength is worth the price."""
    cost = price(book, s)
    return strong >= cost / (s.spent0 + s.spent1 + cost) + MARGIN


# --- yardsticks -------------------------------------------------------------------------------


class Cards(NamedTuple):
    """What it takes to rank hands on every street."""

    deck: Array  # uint8 [cards]
    ranks: tuple[Ranks, ...]  # by street


@kernel
def act(
    kind,  # FOLDER …
    book,  # Book
    cards,  # Cards
    seed,  # uint64
    hand,  # int64 [n]
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    moves,  # int32 [n, most]
    length,  # int32 [n]
    out,  # int32 [n] OUT
):
    """What a yardstick does."""
    for i in range(len(out)):
        s = replay(book, moves, i, length[i])
        least, most = span(book, s)
        if kind == FOLDER:
            out[i] = FOLD if price(book, s) > 0 else CALL
        elif kind == CALLER:
            out[i] = CALL
        elif kind == RAISER:
            out[i] = least if least <= most else CALL
        elif kind == RANDOM:
            folds, raises = price(book, s) > 0, least <= most
            choice = np.int64(uniform(seed, hand[i], length[i], ACTING) * (1 + folds + raises))
            if choice == 0:
                out[i] = CALL
            elif choice == 1 and folds:
                out[i] = FOLD
            else:
                out[i] = least + np.int64(uniform(seed, hand[i], length[i], AMOUNT) * (most - least + 1))
        else:
            strong = strength(cards.deck, cards.ranks[s.street], hole, board, i, book.shown[s.street])
            high = max(s.spent0, s.spent1)
            if least <= most and strong >= (STRONG if s.raises == 0 else STRONGEST):
                out[i] = min(max(3 * high, least), most)  # the pot
            elif price(book, s) == 0 or worth_a_call(book, s, strong):
                out[i] = CALL
            else:
                out[i] = FOLD


@kernel
def strengths(cards, hole, board, shown, street, out):
    """`strength` of many hands of one street. float64 [n] OUT"""
    for i in range(len(out)):
        out[i] = strength(cards.deck, cards.ranks[street], hole, board, i, shown)
