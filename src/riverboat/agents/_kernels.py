"""Compiled betting by the rules of the ACPC protocol, random numbers of agents, and the yardsticks.

`games.acpc_betting.Betting` says the rules; here they are once more for batches, and tests hold the two together. A move is
a number: FOLD, CALL (or check), or the total that a raise reaches over the whole hand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.arrays import Array
from riverboat.cards._kernels import START, plain_value, ranked
from riverboat.cards.ranking import Tables as Ranks
from riverboat.games.moves import CALL, FOLD
from riverboat.jit import kernel, part
from riverboat.solving._blueprint_deal_kernels import draw

U = np.uint64
GOING, FOLDED, SHOWDOWN = 0, 1, 2
READING, ACTING, AMOUNT = 0, 1, 2  # random numbers of a place in a line; `STREAMS` for each place
STREAMS = 4
SALT = U(0x6A09E667F3BCC909)  # keeps an agent's numbers apart from the cards of a match with the same seed
NO_END = 2**40  # stacks and raises without a limit
MARGIN = 0.2  # of strength above the price at which a call is worth it: those who bet hold more than a random hand
STRONG, STRONGEST = 0.85, 0.95  # share of other hands beaten: good for a bet; good for raising one
FOLDER, CALLER, RAISER, RANDOM, BY_RULES = 0, 1, 2, 3, 4  # yardsticks


class Book(NamedTuple):
    """Rules as loops read them."""

    limit: bool
    big_blind: int
    blinds: Array  # int64 [2]
    stacks: Array  # int64 [2]; NO_END where there are none
    raise_sizes: Array  # int64 [rounds]; zeros in no-limit games
    most_raises: Array  # int64 [rounds]; NO_END where there is no limit
    first: Array  # int64 [rounds]
    shown: Array  # int64 [rounds]: cards on the board


class State(NamedTuple):
    """The betting of one hand, as `Betting` has it. When it is over after a fold, `turn` is the seat that folded."""

    spent0: int
    spent1: int
    turn: int
    street: int
    raises: int
    acted: int
    last_raise: int
    before: int
    over: int  # GOING, FOLDED or SHOWDOWN


# --- betting ----------------------------------------------------------------------------------


@part
def begin(book):
    """Blinds are in."""
    zero = np.int64(0)
    return State(
        np.int64(book.blinds[0]),
        np.int64(book.blinds[1]),
        np.int64(book.first[0]),
        zero,
        zero,
        zero,
        np.int64(book.big_blind),
        zero,
        zero,
    )


@part
def price(book, s):
    """Chips that a call adds."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    return min(max(mine, theirs), book.stacks[s.turn]) - mine


@part
def span(book, s):
    """The least and the most total of a raise; (0, -1) where none is legal."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    high, stack = max(mine, theirs), np.int64(book.stacks[s.turn])
    if theirs == book.stacks[1 - s.turn] or stack <= high or s.raises >= book.most_raises[s.street]:
        return np.int64(0), np.int64(-1)
    by = np.int64(book.raise_sizes[s.street]) if book.limit else s.last_raise
    least = min(high + by, stack)
    return least, least if book.limit else stack


@part
def legal(book, s, move):
    """Whether a move may be played."""
    if s.over != GOING:
        return False
    if move == FOLD:
        return price(book, s) > 0
    if move == CALL:
        return True
    least, most = span(book, s)
    return least <= move and move <= most


@part
def step(book, s, move):
    """The state after a legal move, and after the deal that may follow."""
    if move == FOLD:
        over = np.int64(FOLDED)
        return State(s.spent0, s.spent1, s.turn, s.street, s.raises, s.acted, s.last_raise, s.before, over)
    me, zero = s.turn, np.int64(0)
    other = 1 - me
    mine, theirs = (s.spent0, s.spent1) if me == 0 else (s.spent1, s.spent0)
    high = max(mine, theirs)
    total = min(high, np.int64(book.stacks[me])) if move == CALL else np.int64(move)
    raises, last = s.raises, s.last_raise
    if total > high:
        raises, last = raises + 1, max(last, total - high)
    spent0, spent1 = (total, theirs) if me == 0 else (theirs, total)
    acted, street, over = s.acted + 1, s.street, zero
    turn, before = other, s.before
    all_in = total == book.stacks[me] or theirs == book.stacks[other]
    owed = min(max(total, theirs), np.int64(book.stacks[other])) - theirs
    if owed == 0 and (acted >= 2 or all_in):
        if all_in or street == len(book.first) - 1:
            over = np.int64(SHOWDOWN)
        else:
            street = street + 1
            turn, before = np.int64(book.first[street]), min(spent0, spent1)
            raises, acted, last = zero, zero, np.int64(book.big_blind)
    return State(spent0, spent1, turn, street, raises, acted, last, before, over)


@part
def replay(book, moves, i, length):
    """The state after the moves of line i."""
    s = begin(book)
    for k in range(length):
        s = step(book, s, np.int64(moves[i, k]))
    return s


@kernel
def first_illegal(
    book,  # Book
    moves,  # int32 [n, most]
    length,  # int32 [n]
    states,  # int64 [n, 9] OUT: as `State`
):
    """Line and place of the first move that is illegal, or -1: states after all lines."""
    for i in range(len(length)):
        s = begin(book)
        for k in range(length[i]):
            move = np.int64(moves[i, k])
            if not legal(book, s, move):
                return i, k
            s = step(book, s, move)
        write(s, states, i)
    return -1, -1


@part
def write(s, states, i):
    """Keep a state in a row."""
    for k, x in enumerate(s):
        states[i, k] = x


@part
def read(states, i):
    """A state that was kept."""
    return State(
        np.int64(states[i, 0]),
        np.int64(states[i, 1]),
        np.int64(states[i, 2]),
        np.int64(states[i, 3]),
        np.int64(states[i, 4]),
        np.int64(states[i, 5]),
        np.int64(states[i, 6]),
        np.int64(states[i, 7]),
        np.int64(states[i, 8]),
    )


@kernel
def spans(book, states, out):
    """Price of a call, least and most total of a raise. int64 [n, 9] -> int64 [n, 3]"""
    for i in range(len(states)):
        s = read(states, i)
        out[i, 0] = price(book, s)
        out[i, 1], out[i, 2] = span(book, s)


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
