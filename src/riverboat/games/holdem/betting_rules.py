"""The rules of a hand's betting, written once: plain functions on numbers, by the rules of the ACPC protocol.

Python calls them as they are, on tuples of ints (`Rules.book`, `Betting.at`); `_betting_kernels` compiles the same functions
for batches of tables. For that none of them calls another. A move is a number: FOLD, CALL (or check), or the total that a
raise reaches over the whole hand. A raise adds at least what the last one of the round added, and at least the least bet,
unless it is all-in.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

FOLD, CALL = -1, 0
GOING, FOLDED, SHOWDOWN, DEAL = 0, 1, 2, 3  # DEAL: the next round is due; SHOWDOWN: nobody bets any more
NOBODY = -1
NO_END = 2**40  # stacks and raises without a limit

Numbers: TypeAlias = Any  # tuple[int, ...], in loops int64 [n]


class Book(NamedTuple):
    """Rules as these functions read them."""

    limit: bool
    big_blind: int
    least_bet: int  # of a no-limit round
    stacks: Numbers  # by seat; NO_END where there are none
    raise_sizes: Numbers  # by round; zeros in no-limit games
    most_raises: Numbers  # by round; NO_END where there is no limit
    first: Numbers  # by round: the seat that speaks first
    shown: Numbers  # by round: cards on the board
    start: Numbers  # the `State` before the first move


class State(NamedTuple):
    """The betting of one hand. When it is over after a fold, `turn` is the seat that folded."""

    spent0: int  # by seat, over the whole hand, blinds and antes included
    spent1: int
    turn: int
    street: int
    raises: int  # bets and raises of this round
    acted: int  # moves of this round
    last_raise: int  # what the last bet or raise of this round added; the least bet before one
    before: int  # what each seat had put in when this round began; antes, in the first
    over: int  # GOING, FOLDED, SHOWDOWN or DEAL
    led: int  # the seat that bet or raised last on the round before, or NOBODY


def price(book: Book, s: State) -> int:
    """Chips that a call adds."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    return min(theirs, book.stacks[s.turn]) - mine if theirs > mine else 0


def span(book: Book, s: State) -> tuple[int, int]:
    """The least and the most total of a raise; (0, -1) where none is legal."""
    mine, theirs = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    high, stack = max(mine, theirs), book.stacks[s.turn]
    least, most = 0, -1
    if theirs < book.stacks[1 - s.turn] and high < stack and s.raises < book.most_raises[s.street]:
        least = min(high + (book.raise_sizes[s.street] if book.limit else s.last_raise), stack)
        most = least if book.limit else stack
    return least, most


def allowed(owed: int, least: int, most: int, move: int) -> bool:
    """Whether a player who owes so much and may raise so far may play a move."""
    return (move == FOLD and owed > 0) or move == CALL or (move > CALL and least <= move and move <= most)


def step(book: Book, s: State, move: int) -> State:
    """The state after a legal move."""
    spent0, spent1, turn, street, raises, acted, last, before, over, led = s
    if move == FOLD:
        over = FOLDED
    else:
        mine, theirs = (spent0, spent1) if turn == 0 else (spent1, spent0)
        high, stack, other = max(mine, theirs), book.stacks[turn], book.stacks[1 - turn]
        total = move
        if move == CALL:
            total = min(high, stack)
        elif move > high:
            # A raise that is short of the minimum is all-in and cannot be raised again: it need not be told apart.
            raises, last = raises + 1, max(last, move - high)
        acted += 1
        all_in = total == stack or theirs == other
        if (acted >= 2 or all_in) and theirs >= min(total, other):
            over = SHOWDOWN if all_in or street == len(book.first) - 1 else DEAL
        spent0, spent1 = (total, theirs) if turn == 0 else (theirs, total)
        turn = 1 - turn
    return State(spent0, spent1, turn, street, raises, acted, last, before, over, led)


def deal(book: Book, s: State) -> State:
    """The state after the next round is dealt. Whoever is all-in and called sees the cards that are left and bets no more."""
    street, over = s.street + 1, s.over
    if over == DEAL:
        over = GOING
    # The round ended with a call, so the turn has come to who was called.
    led = s.turn if s.raises > 0 else NOBODY
    before = min(s.spent0, s.spent1)
    return State(s.spent0, s.spent1, book.first[street], street, 0, 0, book.least_bet, before, over, led)
