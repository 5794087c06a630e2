"""Flops in groups that a person makes, by words: what clusters of flops are compared with.

    groups(("paired", "monotone", "two-tone A-high", "connected"))     # the first that fits; all others are the last group

A group is one word or several, all of which must hold: `trips`, `paired` (trips too), `unpaired`; `monotone`, `two-tone`,
`rainbow`; `connected` (a straight is possible); `A-high` to `4-high`, `low` (no card above a nine).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from riverboat.cards.deck import RANKS
from riverboat.cards.isomorphism import canonical_boards
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown, unknown

CARDS = 3
_NINE = RANKS.index("9")


def _words(flops: Array) -> dict[str, Callable[[], Array]]:
    """What each word says of flops. uint8 [n, 3] -> bool [n]"""
    rank, suit = np.sort(flops // 4, axis=1).astype(int), np.sort(flops % 4, axis=1)
    ranks, suits = (1 + (np.diff(kind, axis=1) != 0).sum(axis=1) for kind in (rank, suit))
    wheel = np.sort(np.where(rank == len(RANKS) - 1, -1, rank), axis=1)  # an ace below the deuce
    straight = [(way[:, -1] - way[:, 0] <= 4) for way in (rank, wheel)]
    said: dict[str, Callable[[], Array]] = {
        "trips": lambda: ranks == 1,
        "paired": lambda: ranks <= 2,
        "unpaired": lambda: ranks == 3,
        "monotone": lambda: suits == 1,
        "two-tone": lambda: suits == 2,
        "rainbow": lambda: suits == 3,
        "connected": lambda: (ranks == 3) & (straight[0] | straight[1]),
        "low": lambda: rank[:, -1] <= _NINE,
    }
    return said | {f"{name}-high": lambda r=r: rank[:, -1] == r for r, name in enumerate(RANKS)}


def groups(texts: Sequence[str]) -> Array:
    """The group of each canonical flop, from 0; those that no text fits are in one more. int32 [1755]"""
    flops = canonical_boards(CARDS)[0]
    words = _words(flops)
    out = np.full(len(flops), len(texts), np.int32)
    for number, text in enumerate(texts):
        fits = out == len(texts)
        if not text.split():
            raise InputError(f"group {shown(text)}: say what flops it has, such as 'paired' or 'two-tone A-high'")
        for word in text.split():
            if word not in words:
                raise unknown(f"word of group {shown(text)}", word, tuple(words))
            fits &= words[word]()
        if not fits.any():
            raise InputError(f"group {shown(text)}: no flop is left for it after those before; leave it out")
        out[fits] = number
    return out
