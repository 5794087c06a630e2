"""Buckets for games that are shown down on their second street, such as flop hold'em; the first street keeps all hands.

What a hand is worth there is known: how many of the hands that the board leaves it beats. `flops:30000` cuts the hands of
each board into parts of equal weight by that, 30,000 on all boards together; `strength:200` cuts the hands of all boards
together, and forgets the board.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, load_abstraction, lossless
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.isomorphism import Indexer, canonical_boards
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown

KINDS = ("flops", "strength")
MOST_BUCKETS = 10**7


def named_cards(name: str, deck: Deck = FULL_DECK, deals: tuple[int, ...] = (3,)) -> CardAbstraction:
    """The buckets that a name means: `flops:N`, `strength:N`, `lossless`, or the folder of a card abstraction."""
    kind, colon, count = name.partition(":")
    if name == "lossless":
        return lossless(deals, deck)
    if colon and kind in KINDS:
        if not count.isdecimal() or not count.strip("0"):
            raise InputError(f"cards {shown(name)}: write how many buckets, such as {kind}:2000")
        if len(count) > len(str(MOST_BUCKETS)) or int(count) > MOST_BUCKETS:  # the first: digits without end
            raise InputError(f"cards {shown(name)}: at most {MOST_BUCKETS:,} buckets, such as {kind}:{MOST_BUCKETS}")
        if len(deals) != 1:
            raise InputError(f"cards {shown(name)}: for games of two rounds; here boards are dealt {deals}")
        return by_strength(int(count), deck, deals[0], each=kind == "flops")
    if not Path(name).is_dir():
        raise InputError(
            f"cards {shown(name)}: write flops:30000, strength:2000, lossless, or the folder of a card abstraction"
        )
    return load_abstraction(name)


def by_strength(buckets: int, deck: Deck = FULL_DECK, cards: int = 3, *, each: bool = True) -> CardAbstraction:
    """Hands of the last street by strength, on boards of so many cards: in `buckets` parts, on each board or on all."""
    boards, times = canonical_boards(cards, deck)
    if each and buckets < len(boards):
        raise InputError(f"flops:{buckets}: there are {len(boards):,} boards, and each has one bucket at least")
    hands = Indexer.for_deck(deck, (deck.hole, cards))
    parts = np.full(len(boards), buckets // len(boards))
    parts[np.argsort(-times, kind="stable")[: buckets % len(boards)]] += 1  # the rest to those that are dealt most
    before = np.cumsum(parts) - parts
    size = hands.size()
    labels, strength, weight = np.zeros(size, np.int32), np.zeros(size), hands.count(np.arange(size)).astype(float)
    for b, board in enumerate(boards):
        live = deck.hands[~np.isin(deck.hands, board).any(axis=1)]
        dealt = np.concatenate([live, np.broadcast_to(board, (len(live), cards))], axis=1).astype(np.uint8)
        share = _shares(rank_batch(dealt, deck.rules, check=False), np.ones(len(live)))
        numbers = hands.index(dealt, check=False)
        strength[numbers] = share
        labels[numbers] = before[b] + np.minimum(share * parts[b], parts[b] - 1).astype(np.int64)
    if not each:
        labels = np.minimum(_shares(strength, weight) * buckets, buckets - 1).astype(np.int32)
    kind = "flops" if each else "strength"
    labels = labels.astype(np.uint16 if buckets <= 1 << 16 else np.int32)
    facts = {"method": "strength on each board" if each else "strength"}
    whole = lossless((cards,), deck).streets[0]
    recipe = {"method": kind, "buckets": buckets}
    return CardAbstraction(
        (whole, StreetBuckets(buckets, labels[None], facts=facts)),
        (cards,),
        deck,
        name=f"{kind}:{buckets}",
        recipe=recipe,
    )


def _shares(values: Array, weight: Array) -> Array:
    """How much of the weight lies below each value, half of what is equal to it included. float64, from 0 to 1"""
    distinct, where = np.unique(values, return_inverse=True)
    mass = np.bincount(where, weight, minlength=len(distinct))
    shares: Array = (np.cumsum(mass) - mass / 2)[where] / mass.sum()
    return shares
