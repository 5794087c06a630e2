"""OCHS of small decks, by comparing every hand with every other."""

from __future__ import annotations

import numpy as np

from riverboat.cards import ranking
from riverboat.cards.deck import Deck, card_masks
from riverboat.cards.features.hand_features import live_deals
from riverboat.cards.features.small_deck_features import _runouts, hand_indexer
from riverboat.cards.isomorphism import canonical_boards


def small_deck_ochs(deck: Deck, deals: tuple[int, ...], street: int, groups: np.ndarray) -> np.ndarray:
    """Return the strength against each group of starting hands, averaged over the runouts. float64 [hands, groups]

    Ties count half; against a group that a hand blocks, its strength against all hands counts.
    """
    board, last = sum(deals[:street]), sum(deals)
    twice, met = wins_against_groups(deck, last, np.asarray(groups)[hand_indexer(deck, 0).index(deck.hands)])
    overall = twice.sum(axis=1, keepdims=True) / (2 * met.sum(axis=1, keepdims=True))
    share = np.where(met > 0, twice / np.maximum(2 * met, 1), overall)
    out = np.zeros((hand_indexer(deck, board).size(), share.shape[1]))
    for hands, after in _runouts(deck, board, last):
        out[hands] = share[after].mean(axis=1)
    return out


def wins_against_groups(deck: Deck, board: int, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 2 wins + ties against each group of hands, and the number of its hands met."""
    indexer = hand_indexer(deck, board)
    one_hot = (group[:, None] == np.arange(group.max() + 1)).astype(np.int32)
    twice, met = np.zeros((2, indexer.size(), one_hot.shape[1]), np.int32)
    for here in canonical_boards(board, deck)[0] if board else np.zeros((1, 0), np.uint8):
        live, deals = live_deals(here[None], deck)
        ranks, cards = ranking.rank_batch(deals, deck.rules), card_masks(deals[:, : deck.hole])
        meets = ((cards[:, None] & cards) == 0).astype(np.int32)
        points = (ranks[:, None] > ranks).astype(np.int32) + (ranks[:, None] >= ranks)
        index = indexer.index(deals)
        twice[index], met[index] = (points * meets) @ one_hot[live[0]], meets @ one_hot[live[0]]
    return twice, met
