"""What is known of a bucket beside its number: members as deals that people can read, its size, and its centre as strength.

A clustering leaves centres and members beside its tables. With public buckets, the first cards of a member's board are a flop
of the bucket's own public bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.clustering.points import BINS
from riverboat.cards.equity.equities import hand_classes
from riverboat.cards.features.street_features import published_groups
from riverboat.cards.notation import show_cards
from riverboat.core.arrays import Array

OCHS_STEPS = 255  # of strengths that were kept in bytes
_COUNTED = 2_000_000  # hands that are still counted where no sizes are known


# --- members as deals ---------------------------------------------------------------------------------


def public_of(abstraction: CardAbstraction, street: int, bucket: int) -> int | None:
    """The public bucket that a bucket lies in, None where the street has none."""
    first = abstraction.streets[street].first
    return int(np.searchsorted(first, bucket, side="right")) - 1 if first.size else None


def deal_of(
    abstraction: CardAbstraction, street: int, number: int, bucket: int | None = None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Hole cards and board of a canonical number, high cards first; with a bucket, its public cards come first."""
    hole = abstraction.deck.hole
    cards = abstraction.indexer(street).unindex(int(number)).tolist()
    hand, board = sorted(cards[:hole], reverse=True), sorted(cards[hole:], reverse=True)
    public = public_of(abstraction, street, bucket) if bucket is not None else None
    if abstraction.public is not None and public is not None and len(board) > abstraction.public.cards:
        for begun in combinations(board, abstraction.public.cards):
            if int(abstraction.public.of(np.array(begun, np.uint8))) == public:
                board = [*begun, *(card for card in board if card not in begun)]
                break
    return tuple(hand), tuple(board)


def show_deal(hand: Iterable[int], board: Iterable[int]) -> str:
    """`KsJs on Td9d6h`; before the flop the hand alone."""
    shown = show_cards(board)
    return show_cards(hand) + (f" on {shown}" if shown else "")


def member(abstraction: CardAbstraction, street: int, bucket: int, which: str) -> str | None:
    """The `nearest` or `farthest` member of a bucket as a deal, None where it is not known."""
    numbers = getattr(abstraction.streets[street], which)
    if not numbers.size or numbers[bucket] < 0:
        return None
    return show_deal(*deal_of(abstraction, street, int(numbers[bucket]), bucket))


def method_of(abstraction: CardAbstraction, street: int) -> str:
    """How the buckets of a street were made."""
    buckets = abstraction.streets[street]
    return str(buckets.facts.get("method", "unknown" if buckets.labels.size else "lossless"))


def sizes_of(abstraction: CardAbstraction, street: int) -> Array | None:
    """Deals in each bucket of a street, float64 [buckets]; None where they are not known and too many to count."""
    buckets = abstraction.streets[street]
    if buckets.sizes.size:
        return np.asarray(buckets.sizes, float)
    indexer = abstraction.indexer(street)
    if buckets.cuts.size or buckets.layer.size or indexer.size() > _COUNTED:
        return None
    times = np.asarray(indexer.count(np.arange(indexer.size())), float)
    return times if not buckets.labels.size else np.bincount(buckets.labels[0], times, buckets.count)


# --- centres as strengths -----------------------------------------------------------------------------


def kind_of(abstraction: CardAbstraction, street: int) -> str:
    """What the centres of a street are: `histogram` of river strength, `potential` (over the buckets of the next street),
    `ochs`, `strength`, or nothing."""
    buckets = abstraction.streets[street]
    if not buckets.centres.size:
        return ""
    width = buckets.centres.shape[1]
    if buckets.facts.get("method") == "potential" and width != BINS:
        return "potential"
    if width == 1:
        return "strength"
    return "histogram" if np.abs(np.sum(buckets.centres, axis=1, dtype=float) - 1).max() < 1e-3 else "ochs"


def ochs_shares(centres: Array) -> Array:
    """OCHS centres as shares from 0 to 1, which clustering keeps in whole steps. float64 [buckets, groups]"""
    centres = np.asarray(centres, float)
    return centres / (OCHS_STEPS if centres.max() > 1 else 1)


def mean_strength(abstraction: CardAbstraction, street: int) -> Array | None:
    """E[HS] of each centre, of OCHS by the sizes of the groups; None where there are no centres. float64 [buckets]"""
    centres, kind = np.asarray(abstraction.streets[street].centres, float), kind_of(abstraction, street)
    if kind == "strength":
        return np.asarray(centres[:, 0])
    if kind == "ochs":
        groups = published_groups()
        fits = centres.shape[1] == groups.max() + 1
        combos = np.bincount(groups[hand_classes()]) if fits else np.ones(centres.shape[1])
        return np.asarray(ochs_shares(centres) @ (combos / combos.sum()))
    shown = strength_histograms(abstraction, street)
    return None if shown is None else np.asarray(shown @ ((np.arange(shown.shape[1]) + 0.5) / shown.shape[1]))


def strength_histograms(abstraction: CardAbstraction, street: int) -> Array | None:
    """Centres as histograms of river strength, mass one, float64 [buckets, bins]; None where there are no centres.

    Of `potential` the histograms of the next street's centres are mixed; OCHS and strengths fall into one bin.
    """
    buckets, kind = abstraction.streets[street], kind_of(abstraction, street)
    centres = np.asarray(buckets.centres, float)
    if kind == "histogram":
        return np.asarray(centres / centres.sum(axis=1, keepdims=True))
    if kind == "potential":
        after = strength_histograms(abstraction, street + 1)
        if after is None:
            return None
        if not buckets.first.size:
            return np.asarray(centres @ after)
        then = abstraction.streets[street + 1].first
        out = np.zeros((len(centres), after.shape[1]))
        for c in range(len(buckets.first) - 1):
            here, there = slice(*buckets.first[c : c + 2].tolist()), after[then[c] : then[c + 1]]
            out[here] = centres[here, : len(there)] @ there
        return out
    strength = mean_strength(abstraction, street) if kind else None
    if strength is None:
        return None
    return np.asarray(np.eye(BINS)[np.minimum((BINS * strength).astype(int), BINS - 1)])
