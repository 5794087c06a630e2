"""Compiled yardsticks."""

from __future__ import annotations

import numpy as np

from riverboat.cards.features._kernels import strength, strength_of_all
from riverboat.compiled.jit import kernel, part
from riverboat.games.holdem._kernels.betting import GOING, price, replay, span
from riverboat.games.holdem.actions import CALL, FOLD
from riverboat.strategies._kernels.line import ACTING, AMOUNT, uniform
from riverboat.strategies._kernels.policy import worth_a_call

STRONG, STRONGEST = 0.85, 0.95  # share of other hands beaten: good for a bet; good for raising one
FOLDER, CALLER, RAISER, RANDOM, BY_RULES = 0, 1, 2, 3, 4
COLUMNS = 3  # fold, call, and the one raise of yardsticks that do not draw


@part
def plain_move(kind, book, s, beaten, met):
    """What a yardstick that does not draw plays with a hand of some strength."""
    least, most = span(book, s)
    if kind == CALLER:
        return np.int64(CALL)
    if kind == RAISER:
        return least if least <= most else np.int64(CALL)
    if kind == BY_RULES:
        if least <= most and beaten >= (STRONG if s.raises == 0 else STRONGEST) * met:
            return min(max(3 * max(s.spent0, s.spent1), least), most)  # the pot
        if worth_a_call(book, s, beaten, met):
            return np.int64(CALL)
    return np.int64(FOLD if price(book, s) > 0 else CALL)


@kernel
def act(
    kind,  # FOLDER …
    book,  # Book
    ranker,  # Ranker
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
        if kind == RANDOM:
            least, most = span(book, s)
            folds, raises = price(book, s) > 0, least <= most
            choice = np.int64(uniform(seed, hand[i], length[i], ACTING) * (1 + folds + raises))
            if choice == 0:
                out[i] = CALL
            elif choice == 1 and folds:
                out[i] = FOLD
            else:
                out[i] = least + np.int64(uniform(seed, hand[i], length[i], AMOUNT) * (most - least + 1))
            continue
        beaten, met = np.int64(0), np.int64(0)
        if kind == BY_RULES:
            beaten, met = strength(ranker, s.street, hole, board, i, book.shown[s.street])
        out[i] = plain_move(kind, book, s, beaten, met)


@kernel
def act_for_all(
    kind,  # a yardstick that does not draw
    book,  # Book
    ranker,  # Ranker
    board,  # uint8 [n, board]
    moves,  # int32 [n, most]
    length,  # int32 [n]
    live,  # bool [n, hands]
    sorter,  # Sorter
    out,  # int32 [n, hands] OUT: moves where somebody acts and the board leaves the hand
):
    """What a yardstick does with every hand."""
    for i in range(len(length)):
        s = replay(book, moves, i, length[i])
        if s.over != GOING:
            continue
        met = np.int64(0)
        if kind == BY_RULES:
            met = strength_of_all(ranker, s.street, board, i, book.shown[s.street], sorter)
        for h in range(live.shape[1]):
            if live[i, h]:
                out[i, h] = plain_move(kind, book, s, sorter.twice[h], met)
