"""GameShrink for games of one hole card and single public cards (Gilpin & Sandholm 2007): what can be forgotten for nothing.

Two hands are the same on a whole board if they win, lose and tie against equally many others. Before the last card they are
the same if their futures can be paired so that each pair is the same: if they have equally many futures of each kind. So
classes are found from the last street to the first; and then numbered from the first to the last, each within its class of
the street before, so that nothing is forgotten. Names of suits go this way, and so does more: a card that can make neither a
flush nor a straight is as good in any suit, and pairs with many boards play alike.

Rhode Island hold'em keeps 13, 205 and 1,774 classes, where suits alone leave 13, 325 and 9,997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from riverboat.core.arrays import Array
from riverboat.games.small.poker import OneCardPoker

NOBODY = -1


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Classes of every street; those of impossible cards are NOBODY."""

    labels: tuple[Array, Array, Array]  # int64 [hand], [hand, first card], [hand, first, second]
    parents: tuple[Array, Array, Array]  # int64 [classes]: the class of the street before; zeros on the first

    @property
    def counts(self) -> tuple[int, int, int]:
        """Classes of each street."""
        first, second, third = (len(above) for above in self.parents)
        return first, second, third


def leaves(game: OneCardPoker) -> Array:
    """How many hands each beats and ties on each board, as one number. int64 [hand, first card, second]; NOBODY"""
    count = game.ranks * game.suits
    leaf = np.full((count,) * 3, NOBODY, np.int64)
    for first in range(count):
        for second in range(first):
            strength = np.array(game.strengths((first, second)))
            held = np.delete(np.arange(count), [second, first])
            mine = strength[held]
            order = np.sort(mine)
            beaten = np.searchsorted(order, mine, "left")
            tied = np.searchsorted(order, mine, "right") - beaten - 1
            leaf[held, first, second] = leaf[held, second, first] = beaten * count + tied
    return leaf


def shrink(game: OneCardPoker) -> Shrunk:
    """Classes of a game of three streets with one public card before the second and one before the third."""
    third = leaves(game)
    second = _kinds(third)
    return numbered(_kinds(second), second, third)


def numbered(first: Array, second: Array, third: Array) -> Shrunk:
    """Classes from the kinds of each street."""
    start, above0 = _within(np.zeros_like(first), first)
    middle, above1 = _within(np.where(second >= 0, start[:, None], NOBODY), second)
    last, above2 = _within(np.where(third >= 0, middle[:, :, None], NOBODY), third)
    return Shrunk((start, middle, last), (above0, above1, above2))


def by_suits(game: OneCardPoker) -> Shrunk:
    """Classes of hands that differ by the names of suits alone."""
    count, suits = game.ranks * game.suits, game.suits
    card = np.arange(count)
    rank, suit = card // suits, card % suits
    hand, one, two = card[:, None, None], card[None, :, None], card[None, None, :]
    # A suit counts by whether it has been seen: the hand's is 0, the next new one 1, then 2.
    second = np.where(suit[one] == suit[hand], 0, 1)
    seen = np.where(suit[two] == suit[hand], 0, np.where(suit[two] == suit[one], second, 1 + second))
    apart = (hand != one) & (hand != two) & (one != two)
    third = np.where(apart, ((rank[hand] * game.ranks + rank[one]) * 2 + second) * game.ranks + rank[two], NOBODY)
    third = np.where(apart, third * 3 + seen, NOBODY)
    middle = np.where(
        hand[:, :, 0] != one[:, :, 0], ((rank[hand] * game.ranks + rank[one]) * 2 + second)[:, :, 0], NOBODY
    )
    return numbered(rank, middle, third)


def meetings(game: OneCardPoker, shrunk: Shrunk) -> tuple[Any, Any]:
    """How often two classes of the last street meet, and how much more often the first wins. csr [classes, classes]"""
    count, classes = game.ranks * game.suits, shrunk.counts[-1]
    last, places, weights = shrunk.labels[-1], [], []
    for first in range(count):
        for second in range(count):
            if second == first:
                continue
            held = np.delete(np.arange(count), sorted((first, second)))
            strength = np.array(game.strengths((first, second)))[held]
            label = last[held, first, second]
            apart = ~np.eye(len(held), dtype=bool)
            places.append((label[:, None] * classes + label)[apart])
            weights.append(np.sign(strength[:, None] - strength)[apart].astype(np.int8))
    at, number = np.unique(np.concatenate(places), return_inverse=True)
    where = at // classes, at % classes
    total = len(number)
    met = np.bincount(number) / total
    won = np.bincount(number, np.concatenate(weights)) / total
    meets, wins = (csr_array((values, where), shape=(classes, classes)) for values in (met, won))
    wins.eliminate_zeros()
    return meets, wins


def _kinds(later: Array) -> Array:
    """Numbers of what has equally many futures of each kind, over the last axis. NOBODY where there is no future at all."""
    rows = np.sort(later.reshape(-1, later.shape[-1]), axis=1)
    _, number = np.unique(rows, axis=0, return_inverse=True)
    number = number.reshape(-1)
    number[(rows == NOBODY).all(axis=1)] = NOBODY
    return number.reshape(later.shape[:-1])


def _within(above: Array, kind: Array) -> tuple[Array, Array]:
    """Classes of a kind within those of the street before, and which class each follows."""
    live = kind >= 0
    pairs, number = np.unique(np.stack([above[live], kind[live]], axis=1), axis=0, return_inverse=True)
    label = np.full(kind.shape, NOBODY, np.int64)
    label[live] = number.reshape(-1)
    return label, pairs[:, 0].astype(np.int64)
