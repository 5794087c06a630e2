"""How strong hands are on the board that lies: the share of all other hands that each beats, ties counting half."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

import numpy as np

from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.features import _kernels as kernels
from riverboat.cards.features._kernels import Ranker as Ranker
from riverboat.cards.features._kernels import Sorter as Sorter
from riverboat.cards.ranking import tables
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError

STREETS = 4
Part = TypeVar("Part")


@lru_cache(maxsize=64)
def ranker(deck: Deck, shown: tuple[int, ...]) -> Ranker:
    """For boards of so many cards, by street."""
    return Ranker(deck.cards, deck.hands, padded(tables(deck.hole + cards, deck.rules) for cards in shown))


def padded(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Parts by street, as many for every game: loops are compiled for tuples of one length."""
    some = tuple(parts)
    return some + some[-1:] * (STREETS - len(some))


def sorter(hands: int) -> Sorter:
    """Room to sort so many hands."""
    return Sorter(
        np.zeros(hands, np.uint16),
        np.zeros(hands, np.int32),
        np.zeros(hands, np.int32),
        np.zeros(257, np.int64),
        np.zeros(52, np.int64),
        np.zeros(hands, np.int64),
    )


def shares_beaten(board: Iterable[int], deck: Deck = FULL_DECK) -> Array:
    """Of every hand of a deck on a board; zero where the board holds one of its cards. float64 [hands]"""
    cards = np.array([*board], np.uint8)
    if len(set(cards.tolist())) < len(cards) or not np.isin(cards, deck.cards).all() or deck.hole + len(cards) > 7:
        raise InputError(f"board {cards.tolist()}: different cards of the deck, up to seven with the hole cards")
    room = sorter(deck.hand_count)
    met = kernels.strength_of_all(ranker(deck, (len(cards),)), 0, cards.reshape(1, -1), 0, len(cards), room)
    shares: Array = room.twice / met
    return shares


def shares_beaten_by(holes: Array, boards: Array, deck: Deck = FULL_DECK) -> Array:
    """Of other hands by many hands, each on its own board, all boards of one length. uint8 [n, cards] each -> float64 [n]"""
    if deck.hole + boards.shape[1] > 7 or len(holes) != len(boards) or holes.shape[1] != deck.hole:
        raise InputError(f"hands {holes.shape} on boards {boards.shape}: one of each, up to seven cards together")
    out, shown = np.empty((len(holes), 2), np.int64), boards.shape[1]
    given = np.ascontiguousarray(holes, np.uint8), np.ascontiguousarray(boards, np.uint8)
    kernels.strengths(ranker(deck, (shown,)), 0, *given, shown, out)
    shares: Array = out[:, 0] / out[:, 1]
    return shares
