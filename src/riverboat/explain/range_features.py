"""Features that need both ranges: equity, the place in one's own range, and what a hand blocks of theirs."""

from __future__ import annotations

import numpy as np

from riverboat.cards.card_removal import without_shared
from riverboat.cards.equity.equities import range_shares, runouts
from riverboat.core.arrays import Array

BEST = 0.25  # the part of their range that is worth blocking


def equities(mine: Array, theirs: Array, board: tuple[int, ...]) -> tuple[Array, Array]:
    """Share of the pot of each hand against the other range, if nobody bet any more. float64 [1326] each"""
    boards = runouts(board)
    shares = []
    for against in (theirs, mine):
        won, met = range_shares(against, boards, np.ones(len(boards)))
        shares.append(np.where(met > 0, won / np.where(met > 0, met, 1.0), 0.0))
    return shares[0], shares[1]


def range_columns(mine: Array, theirs: Array, equity: tuple[Array, Array], hands: Array) -> dict[str, Array]:
    """`player_features.RANGE` of some hands, given both ranges and the equities of all hands of both. float64 [n] each"""
    own = np.nan_to_num(equity[0])
    met = without_shared(theirs)
    weight = (mine * met)[hands]
    order = np.argsort(own[hands], kind="stable")
    before = np.cumsum(weight[order])
    percentile = np.zeros(len(hands))
    percentile[order] = (before - weight[order] / 2) / max(before[-1], 1e-300)
    # Their best hands, by equity against ours; what share of them is blocked beyond what is blocked of all.
    ranked = np.argsort(-np.where(theirs > 0, np.nan_to_num(equity[1]), -1.0), kind="stable")
    top = ranked[np.cumsum(theirs[ranked]) <= BEST * theirs.sum()]
    best = np.zeros(len(theirs))
    best[top] = theirs[top]
    usual = best.sum() / max(theirs.sum(), 1e-300)
    left = without_shared(best)[hands] / np.maximum(met[hands], 1e-300)
    blocks = np.maximum(1.0 - left / usual, 0.0) if usual > 0 else np.zeros(len(hands))
    return {"equity": own[hands], "percentile": percentile, "blocks": blocks}
