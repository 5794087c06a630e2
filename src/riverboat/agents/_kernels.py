"""Kernels of the baseline agents."""

import numpy as np

from riverboat.cards.equity._kernels.showdown import hand_strength, hand_strength_of_all
from riverboat.compiled.jit import inline, kernel
from riverboat.games.holdem._kernels import IN_PROGRESS, call_amount, raise_bounds, replay
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.strategies._kernels.line import ACTION_STREAM, AMOUNT_STREAM, uniform_draw
from riverboat.strategies._kernels.policy import is_profitable_call

# Hand strength (share of other hands beaten) needed to bet, and to raise a bet.
BET_STRENGTH, RAISE_STRENGTH = 0.85, 0.95
FOLDER, CALLER, RAISER, RANDOM, RULE_BASED = 0, 1, 2, 3, 4
NUM_COLUMNS = 3  # fold, call, and the one raise of deterministic baselines


@inline
def deterministic_action(kind, book, s, beaten, met):
    """Return the action of a deterministic baseline whose hand beats a share `beaten` / `met` of other hands."""
    least, most = raise_bounds(book, s)
    if kind == CALLER:
        return np.int64(CALL)
    if kind == RAISER:
        return least if least <= most else np.int64(CALL)
    if kind == RULE_BASED:
        if least <= most and beaten >= (BET_STRENGTH if s.raises == 0 else RAISE_STRENGTH) * met:
            return min(max(3 * max(s.spent0, s.spent1), least), most)  # the pot
        if is_profitable_call(book, s, beaten, met):
            return np.int64(CALL)
    return np.int64(FOLD if call_amount(book, s) > 0 else CALL)


@kernel
def act(
    kind,  # FOLDER …
    book,  # CompactBettingRules
    ranker,  # hand strength tables
    seed,  # uint64
    hand,  # int64 [n]
    hole,  # uint8 [n, hole]
    board,  # uint8 [n, board]
    moves,  # int32 [n, most]
    length,  # int32 [n]
    out,  # int32 [n] OUT
):
    """Choose the actions of a baseline agent."""
    for i in range(len(out)):
        s = replay(book, moves, i, length[i])
        if kind == RANDOM:
            least, most = raise_bounds(book, s)
            folds, raises = call_amount(book, s) > 0, least <= most
            choice = np.int64(uniform_draw(seed, hand[i], length[i], ACTION_STREAM) * (1 + folds + raises))
            if choice == 0:
                out[i] = CALL
            elif choice == 1 and folds:
                out[i] = FOLD
            else:
                out[i] = least + np.int64(uniform_draw(seed, hand[i], length[i], AMOUNT_STREAM) * (most - least + 1))
            continue
        beaten, met = np.int64(0), np.int64(0)
        if kind == RULE_BASED:
            beaten, met = hand_strength(ranker, s.street, hole, board, i, book.shown[s.street])
        out[i] = deterministic_action(kind, book, s, beaten, met)


@kernel
def act_with_all_hands(
    kind,  # FOLDER, CALLER, RAISER or RULE_BASED
    book,  # CompactBettingRules
    ranker,  # hand strength tables
    board,  # uint8 [n, board]
    moves,  # int32 [n, most]
    length,  # int32 [n]
    live,  # bool [n, hands]
    sorter,  # hand strength workspace
    out,  # int32 [n, hands] OUT: actions, at decisions and for unblocked hands
):
    """Choose the actions of a deterministic baseline with every hand."""
    for i in range(len(length)):
        s = replay(book, moves, i, length[i])
        if s.over != IN_PROGRESS:
            continue
        met = np.int64(0)
        if kind == RULE_BASED:
            met = hand_strength_of_all(ranker, s.street, board, i, book.shown[s.street], sorter)
        for h in range(live.shape[1]):
            if live[i, h]:
                out[i, h] = deterministic_action(kind, book, s, sorter.twice[h], met)
