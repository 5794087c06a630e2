"""Potential-aware buckets of games with a showdown on their second street, such as flop hold'em.

Potential-aware clustering compares hands by their histograms over the clusters of the next street (Ganzfried & Sandholm
2014). Where the showdown is on the flop there is no next street: the last unknown is the opponent's hand. A hand's
potential is then its histogram over showdowns: the strength of the opponent's hand before the flop, in groups, and
whether it wins, ties or loses. The earth mover's distance moves a showdown to another result, or to another group.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import weighted_percentiles
from riverboat.abstraction.clustering.potential_aware import (
    GroundDistances,
    ground_distances_from_matrix,
    potential_kmeans,
    to_sparse,
)
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.features import hand_features
from riverboat.cards.isomorphism import HandIndexer, canonical_boards
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError

GROUPS, RESULTS = 8, 3  # groups of opponent hands; lose, tie, win
CACHED_HANDS = 100_000  # labels of this many canonical hands are cached
SEED, PASSES, SAMPLE_FACTOR = 1, 4, 2
CACHE_VERSION = 1


def potential_abstraction(buckets: int, deck: Deck = FULL_DECK, cards: int = 3, *, threads: int = 1) -> CardAbstraction:
    """Build an abstraction of a two-street game: lossless first street, potential-aware buckets on all boards together.

    Parameters
    ----------
    buckets
        Number of buckets of the second street.
    deck
        Deck of the game; hands have two cards.
    cards
        Cards on the board.
    threads
        Number of threads.

    Returns
    -------
    CardAbstraction
        The abstraction; the same for any number of threads.

    Raises
    ------
    InputError
        If there are fewer distinct hands than buckets.

    Examples
    --------
    >>> potential_abstraction(20, Deck.small(3, 2)).streets[1].count
    20
    """
    hands = HandIndexer.for_deck(deck, (deck.hole, cards))
    size, weight = hands.size(), hands.count(np.arange(hands.size())).astype(float)
    if buckets > size:
        raise InputError(f"potential:{buckets}: there are {size:,} hands on boards of {cards} cards; use fewer buckets")

    def labels() -> dict[str, Array]:
        histograms, strengths = showdown_histograms(deck, cards)
        points = to_sparse(histograms)
        sample = min(size, max(50_000, SAMPLE_FACTOR * buckets))
        clusters = potential_kmeans(
            points, weight, buckets, _ground(strengths), SEED, threads=threads, sample=sample, iterations=PASSES
        )
        return {"labels": clusters.labels.astype(np.int32)}

    name = f"potential-buckets-{CACHE_VERSION}-{len(deck.cards)}-{deck.rules}-{cards}-{buckets}"
    found = (cached_arrays(name, labels) if size >= CACHED_HANDS else labels())["labels"]
    kind = np.uint16 if buckets <= 1 << 16 else np.int32
    facts = {"method": "potential", "groups": GROUPS}
    streets = (
        lossless_abstraction((cards,), deck).streets[0],
        StreetBuckets(buckets, found.astype(kind)[None], metadata=facts),
    )
    recipe = {"method": "potential", "buckets": buckets}
    return CardAbstraction(streets, (cards,), deck, name=f"potential:{buckets}", recipe=recipe)


def showdown_histograms(deck: Deck = FULL_DECK, cards: int = 3) -> tuple[Array, Array]:
    """Return each canonical hand's histogram over showdowns, and the mean strength of each group of opponent hands.

    Parameters
    ----------
    deck
        Deck of the game; hands have two cards.
    cards
        Cards on the board.

    Returns
    -------
    tuple[Array, Array]
        float32 [canonical hands, groups × results], each of mass one, and float64 [groups], ascending, from 0 to 1.

    Examples
    --------
    >>> histograms, strengths = showdown_histograms(Deck.small(3, 2))
    >>> histograms.shape[1], len(strengths)
    (24, 8)
    """
    boards, times = canonical_boards(cards, deck)
    hands, all_hands = HandIndexer.for_deck(deck, (deck.hole, cards)), np.asarray(deck.hands)
    preflop = HandIndexer.for_deck(deck, (deck.hole,)).index(all_hands, check=False)  # hands up to suits
    strength, seen = np.zeros((2, int(preflop.max()) + 1))
    ranks: list[tuple[Array, Array, Array]] = []  # of each board: its live hands, their canonical indices, their ranks
    for board, count in zip(boards, times, strict=True):
        live, dealt = hand_features.live_deals(board[None], deck)
        rank = rank_batch(dealt, deck.rules, check=False).astype(np.int64)
        held, order = np.flatnonzero(live[0]), np.sort(rank)
        below, above = np.searchsorted(order, rank, "left"), np.searchsorted(order, rank, "right")
        np.add.at(strength, preflop[held], count * (below + above) / (2 * len(rank)))
        np.add.at(seen, preflop[held], count)
        ranks.append((held, hands.index(dealt, check=False), rank))
    strength = safe_divide(strength, seen)[preflop]
    group = np.minimum((weighted_percentiles(strength, np.ones(len(strength))) * GROUPS).astype(np.int64), GROUPS - 1)
    means = np.array([strength[group == g].mean() if (group == g).any() else (g + 0.5) / GROUPS for g in range(GROUPS)])
    apart = ~(all_hands[:, None, :, None] == all_hands[None, :, None, :]).any(axis=(2, 3))
    histograms = np.zeros((hands.size(), GROUPS, RESULTS), np.float32)
    for held, number, rank in ranks:
        compatible, members = apart[np.ix_(held, held)], np.eye(GROUPS, dtype=np.float32)[group[held]]
        difference = np.sign(rank[:, None] - rank[None, :])
        for result in range(RESULTS):
            histograms[number, :, result] = (compatible & (difference == result - 1)).astype(np.float32) @ members
    flat = histograms.reshape(len(histograms), -1)
    return flat / flat.sum(axis=1, keepdims=True), means


def _ground(strengths: Array) -> GroundDistances:
    """Return the ground distances of showdowns: half a unit for each step of the result, and that of the groups."""
    group, result = np.divmod(np.arange(GROUPS * RESULTS), RESULTS)
    distance = np.abs(result[:, None] - result[None, :]) / 2 + np.abs(strengths[group][:, None] - strengths[group])
    return ground_distances_from_matrix(distance)
