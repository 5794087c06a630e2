"""GameShrink for poker games with one hole card and single public cards (Gilpin & Sandholm 2007): lossless abstraction.

Two hands are equivalent on a complete board if they win, lose and tie against equally many others. Before the last card
they are equivalent if their continuations can be matched in equivalent pairs, that is, if they have equally many
continuations of each kind. So kinds are computed from the last street to the first. Classes are then numbered from the
first street to the last, each within its class of the previous street, which keeps perfect recall. This covers suit
isomorphism and more: a card that can make neither a flush nor a straight is equal in any suit, and pairs are equivalent
on many boards.

Rhode Island hold'em has 13, 205 and 1,774 classes; suit isomorphism alone leaves 13, 325 and 9,997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from riverboat.core.arrays import Array
from riverboat.games.small.poker import OneCardPoker

NO_CLASS = -1


@dataclass(frozen=True, eq=False)
class ShrunkGame:
    """Equivalence classes of hands on three streets; impossible combinations of cards have NO_CLASS."""

    labels: tuple[Array, Array, Array]  # int64 [hand], [hand, first card], [hand, first, second]
    parents: tuple[Array, Array, Array]  # int64 [classes]: class on the previous street; zeros on the first street

    @property
    def counts(self) -> tuple[int, int, int]:
        """Number of classes of each street."""
        first, second, third = (len(above) for above in self.parents)
        return first, second, third


def showdown_counts(game: OneCardPoker) -> Array:
    """Count the hands that each hand beats and ties on each board. int64 [hand, first card, second]

    Entries are beaten · cards of the deck + tied. Impossible combinations have NO_CLASS.
    """
    count = game.ranks * game.suits
    leaf = np.full((count,) * 3, NO_CLASS, np.int64)
    for first in range(count):
        for second in range(first):
            strength = np.array(game.strengths((first, second)))
            held = np.delete(np.arange(count), [second, first])
            held_strength = strength[held]
            order = np.sort(held_strength)
            beaten = np.searchsorted(order, held_strength, "left")
            tied = np.searchsorted(order, held_strength, "right") - beaten - 1
            leaf[held, first, second] = leaf[held, second, first] = beaten * count + tied
    return leaf


def shrink_game(game: OneCardPoker) -> ShrunkGame:
    """Compute the classes of GameShrink for a game of three streets with single public cards before the last two."""
    third = showdown_counts(game)
    second = _equivalence_kinds(third)
    return number_classes(_equivalence_kinds(second), second, third)


def number_classes(first: Array, second: Array, third: Array) -> ShrunkGame:
    """Number the classes of each street inside those of the previous one.

    Arguments have the kind of every hand on each street, a label that equivalent hands share. Shapes are those of
    `labels`.
    """
    start, parents0 = _classes_within_parents(np.zeros_like(first), first)
    middle, parents1 = _classes_within_parents(np.where(second >= 0, start[:, None], NO_CLASS), second)
    last, parents2 = _classes_within_parents(np.where(third >= 0, middle[:, :, None], NO_CLASS), third)
    return ShrunkGame((start, middle, last), (parents0, parents1, parents2))


def suit_classes(game: OneCardPoker) -> ShrunkGame:
    """Compute the classes of hands by suit isomorphism alone, to compare with `shrink_game`."""
    count, suits = game.ranks * game.suits, game.suits
    card = np.arange(count)
    rank, suit = card // suits, card % suits
    hand, one, two = card[:, None, None], card[None, :, None], card[None, None, :]
    # Suits are numbered in order of appearance: the hand's suit is 0, the next new one 1, then 2.
    second = np.where(suit[one] == suit[hand], 0, 1)
    seen = np.where(suit[two] == suit[hand], 0, np.where(suit[two] == suit[one], second, 1 + second))
    middle = (rank[hand] * game.ranks + rank[one]) * 2 + second
    last = (middle * game.ranks + rank[two]) * 3 + seen
    distinct = (hand != one) & (hand != two) & (one != two)
    third = np.where(distinct, last, NO_CLASS)
    return number_classes(rank, np.where(hand != one, middle, NO_CLASS)[:, :, 0], third)


def class_matchups(game: OneCardPoker, shrunk: ShrunkGame) -> tuple[Any, Any]:
    """Compute the frequency with which two classes of the last street meet, and the row's win minus loss frequency.

    Both are shares of all deals. csr [classes, classes]
    """
    count, classes = game.ranks * game.suits, shrunk.counts[-1]
    last, pairs, weights = shrunk.labels[-1], [], []
    for first in range(count):
        for second in range(count):
            if second == first:
                continue
            held = np.delete(np.arange(count), sorted((first, second)))
            strength = np.array(game.strengths((first, second)))[held]
            label = last[held, first, second]
            off_diagonal = ~np.eye(len(held), dtype=bool)
            pairs.append((label[:, None] * classes + label)[off_diagonal])
            weights.append(np.sign(strength[:, None] - strength)[off_diagonal].astype(np.int8))
    at, number = np.unique(np.concatenate(pairs), return_inverse=True)
    coordinates = at // classes, at % classes
    total = len(number)
    frequency = np.bincount(number) / total
    win_balance = np.bincount(number, np.concatenate(weights)) / total
    meets, wins = (csr_array((values, coordinates), shape=(classes, classes)) for values in (frequency, win_balance))
    wins.eliminate_zeros()
    return meets, wins


def _equivalence_kinds(later: Array) -> Array:
    """Return the kind of each hand, given the kinds of its continuations along the last axis.

    Hands with equally many continuations of each kind have one kind; hands without any have NO_CLASS.
    """
    rows = np.sort(later.reshape(-1, later.shape[-1]), axis=1)
    _, number = np.unique(rows, axis=0, return_inverse=True)
    number = number.reshape(-1)
    number[(rows == NO_CLASS).all(axis=1)] = NO_CLASS
    return number.reshape(later.shape[:-1])


def _classes_within_parents(above: Array, kind: Array) -> tuple[Array, Array]:
    """Number the pairs of previous class (`above`) and kind; return each hand's class and each class's parent."""
    live = kind >= 0
    pairs, number = np.unique(np.stack([above[live], kind[live]], axis=1), axis=0, return_inverse=True)
    label = np.full(kind.shape, NO_CLASS, np.int64)
    label[live] = number.reshape(-1)
    return label, pairs[:, 0].astype(np.int64)
