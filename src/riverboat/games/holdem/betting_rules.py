"""Betting rules of a hand as plain functions on numbers, by the rules of the ACPC protocol.

Python calls them on tuples of ints (`PokerRules.compact`, `BettingState.compact`); `riverboat.games.holdem._kernels`
compiles the same functions for batches of tables. For that none of them calls another. An action is a number: FOLD,
CALL (or check), or the total that a raise reaches over the whole hand. A raise adds at least the increment of the last
raise of the round, and at least the minimum bet, unless it is all-in.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

FOLD, CALL = -1, 0
IN_PROGRESS, FOLDED, SHOWDOWN, DEAL_DUE = 0, 1, 2, 3  # SHOWDOWN: no more betting; DEAL_DUE: the next round follows
NOBODY = -1
UNLIMITED = 2**40  # for stacks and raises without a limit

IntSequence: TypeAlias = Any  # tuple[int, ...]; in compiled loops int64 [n]


class CompactBettingRules(NamedTuple):
    """Betting rules as tuples or arrays of integers."""

    limit: bool
    big_blind: int
    least_bet: int  # minimum bet of a no-limit round
    stacks: IntSequence  # by seat; UNLIMITED if there are none
    raise_sizes: IntSequence  # by round; zeros in no-limit games
    most_raises: IntSequence  # by round; UNLIMITED without a limit
    first: IntSequence  # by round: the seat that acts first
    shown: IntSequence  # by round: number of cards on the board
    start: IntSequence  # the CompactBettingState before the first action


class CompactBettingState(NamedTuple):
    """Betting state of one hand. After a fold, `turn` is the seat that folded."""

    spent0: int  # chips over the whole hand, including blinds and antes
    spent1: int
    turn: int
    street: int
    raises: int  # bets and raises of this round
    acted: int  # actions of this round
    last_raise: int  # increment of the last bet or raise of this round; the minimum bet before the first
    before: int  # chips put in by each seat before this round; in the first round, the ante
    over: int  # IN_PROGRESS, FOLDED, SHOWDOWN or DEAL_DUE
    led: int  # the seat that bet or raised last on the previous round, or NOBODY


def call_amount(book: CompactBettingRules, s: CompactBettingState) -> int:
    """Return the chips that a call adds."""
    own, other = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    return min(other, book.stacks[s.turn]) - own if other > own else 0


def raise_bounds(book: CompactBettingRules, s: CompactBettingState) -> tuple[int, int]:
    """Return the smallest and largest total of a raise; (0, -1) if none is legal."""
    own, other = (s.spent0, s.spent1) if s.turn == 0 else (s.spent1, s.spent0)
    high, stack = max(own, other), book.stacks[s.turn]
    least, most = 0, -1
    if other < book.stacks[1 - s.turn] and high < stack and s.raises < book.most_raises[s.street]:
        least = min(high + (book.raise_sizes[s.street] if book.limit else s.last_raise), stack)
        most = least if book.limit else stack
    return least, most


def is_action_allowed(to_call: int, min_raise: int, max_raise: int, action: int) -> bool:
    """Return whether an action is legal, given the results of `call_amount` and `raise_bounds`."""
    return (
        (action == FOLD and to_call > 0)
        or action == CALL
        or (action > CALL and min_raise <= action and action <= max_raise)
    )


def apply_action(book: CompactBettingRules, s: CompactBettingState, action: int) -> CompactBettingState:
    """Return the state after a legal action."""
    spent0, spent1, turn, street, raises, acted, last, before, over, led = s
    if action == FOLD:
        over = FOLDED
    else:
        own, opponent_total = (spent0, spent1) if turn == 0 else (spent1, spent0)
        high, stack, opponent_stack = max(own, opponent_total), book.stacks[turn], book.stacks[1 - turn]
        total = action
        if action == CALL:
            total = min(high, stack)
        elif action > high:
            # A raise below the minimum is all-in and cannot be raised again, so it needs no special case.
            raises, last = raises + 1, max(last, action - high)
        acted += 1
        all_in = total == stack or opponent_total == opponent_stack
        if (acted >= 2 or all_in) and opponent_total >= min(total, opponent_stack):
            over = SHOWDOWN if all_in or street == len(book.first) - 1 else DEAL_DUE
        spent0, spent1 = (total, opponent_total) if turn == 0 else (opponent_total, total)
        turn = 1 - turn
    return CompactBettingState(spent0, spent1, turn, street, raises, acted, last, before, over, led)


def deal_street(book: CompactBettingRules, s: CompactBettingState) -> CompactBettingState:
    """Return the state after the next round is dealt; after a called all-in, `over` stays SHOWDOWN."""
    street, over = s.street + 1, s.over
    if over == DEAL_DUE:
        over = IN_PROGRESS
    # The round ended with a call, so it is the turn of the player who was called.
    led = s.turn if s.raises > 0 else NOBODY
    before = min(s.spent0, s.spent1)
    return CompactBettingState(s.spent0, s.spent1, book.first[street], street, 0, 0, book.least_bet, before, over, led)
