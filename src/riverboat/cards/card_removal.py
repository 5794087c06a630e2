"""Hands that share cards: whether every player can be dealt one of its range, and what a hand leaves the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from riverboat.cards.deck import HAND_CARDS
from riverboat.core.arrays import Array

STATES = 100_000  # looked at before the search gives up

_MASKS = tuple((1 << int(a)) | (1 << int(b)) for a, b in HAND_CARDS)


def can_be_dealt(held: Sequence[Iterable[int]]) -> bool | None:
    """Whether there are disjoint hands, one of each list; None where that is not found out quickly.

    The shortest list comes first, so that what cannot be is seen early; what was tried with the same cards gone is not
    tried again.
    """
    ranges = sorted(({_MASKS[h] for h in hands} for hands in held), key=len)
    behind = [0] * (len(ranges) + 1)  # the cards of a range and of all after it
    for k in reversed(range(len(ranges))):
        behind[k] = behind[k + 1]
        for mask in ranges[k]:
            behind[k] |= mask
    failed: set[tuple[int, int]] = set()
    looks = 0

    def search(k: int, gone: int) -> bool:
        nonlocal looks
        if k == len(ranges):
            return True
        key = k, gone & behind[k]  # other cards that are gone make no difference
        if key in failed or (behind[k] & ~gone).bit_count() < 2 * (len(ranges) - k):
            return False
        looks += 1
        if looks > STATES:
            raise TimeoutError
        if any(search(k + 1, gone | mask) for mask in ranges[k] if not mask & gone):
            return True
        failed.add(key)
        return False

    try:
        return search(0, 0)
    except TimeoutError:
        return None


def without_shared(weights: Array) -> Array:
    """For each hand, the weight of the hands that share no card with it. float64 [1326]"""
    by_card = np.bincount(HAND_CARDS.ravel(), np.repeat(weights, 2), minlength=52)
    left: Array = np.maximum(weights.sum() - by_card[HAND_CARDS].sum(axis=1) + weights, 0.0)
    return left
