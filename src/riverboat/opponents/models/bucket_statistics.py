"""Facts of buckets: how often they are dealt, which follow which, and how strong they are.

Estimated over deals that are the same in every run.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.cards.features.strength import shares_beaten_by
from riverboat.core.arrays import Array

DEALS = 200_000
STRENGTHS = 30_000  # deals by which buckets are known to be strong


@lru_cache(maxsize=4)
def bucket_chances(cards: CardAbstraction, rounds: int) -> tuple[Array, tuple[Array, ...]]:
    """How often each bucket is dealt, and each follows another: float64 [buckets], then [before, after] by street."""
    buckets = cards.buckets(_deals(cards, rounds, DEALS, 7), check=False)[:, 0, :]
    first = np.bincount(buckets[:, 0], minlength=cards.counts[0]).astype(float)
    steps = []
    for s in range(rounds - 1):
        joint = np.zeros((cards.counts[s], cards.counts[s + 1]))
        np.add.at(joint, (buckets[:, s], buckets[:, s + 1]), 1.0)
        total = joint.sum(axis=1, keepdims=True)
        steps.append(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))
    return first / first.sum(), tuple(steps)


def bucket_dealt(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """How often each bucket is dealt, by street. float64 [buckets]"""
    first, steps = bucket_chances(cards, rounds)
    dealt = [first]
    for step in steps:
        dealt.append(dealt[-1] @ step)
    return tuple(dealt)


@lru_cache(maxsize=4)
def bucket_points(cards: CardAbstraction, rounds: int) -> tuple[Array, ...]:
    """The share of hands that a bucket beats in the end, its mean and its spread, by street. float64 [buckets, 2]

    A bucket that was never dealt stands in the middle.
    """
    hole = cards.deck.hole
    deals = _deals(cards, rounds, STRENGTHS, 11)
    buckets = cards.buckets(deals, check=False)[:, 0, :]
    share = shares_beaten_by(deals[:, :hole], deals[:, hole:], cards.deck)
    out = []
    for street in range(rounds):
        dealt = np.bincount(buckets[:, street], minlength=cards.counts[street])
        times = np.maximum(dealt, 1)
        mean = np.bincount(buckets[:, street], share, cards.counts[street]) / times
        square = np.bincount(buckets[:, street], share**2, cards.counts[street]) / times
        spread = np.sqrt(np.maximum(square - mean**2, 0.0))
        out.append(np.stack([np.where(dealt > 0, mean, 0.5), spread], axis=1))
    return tuple(out)


def _deals(cards: CardAbstraction, rounds: int, deals: int, seed: int) -> Array:
    """Cards of one player and whole boards. uint8 [deals, hole + board]"""
    rng, deck = np.random.default_rng(seed), cards.deck
    need = deck.hole + cards.shown[rounds - 1]
    if need < len(deck.cards):
        chosen = rng.random((deals, len(deck.cards))).argpartition(need, axis=1)[:, :need]
    else:
        chosen = np.tile(np.arange(need), (deals, 1))
    drawn = rng.permuted(np.array(deck.cards, np.uint8)[chosen], axis=1)
    return np.ascontiguousarray(drawn)
