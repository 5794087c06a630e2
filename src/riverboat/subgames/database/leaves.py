"""Leaf values of a turn by sampled rivers: from an endgame database, or from river solvers that are updated meanwhile.

    DatabaseLeafValues        stops at the end of the turn, with values of the nearest solved endgame
    SampledRiverLeafValues    continues: each leaf has a river solver for each card, or rivers with buckets

Both sample cards for each query, so that an iteration is one of public chance sampling (Johanson et al. 2012).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, Deck
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.menus import ActionMenu
from riverboat.subgames.database.database import EndgameDatabase, EndgameKey
from riverboat.subgames.depth_limited.solver import (
    CompatibleWeights,
    DepthLimitedSolver,
    ShowdownLeafValues,
    SingleLeafValues,
    build_street_tree,
    has_later_betting,
)


@dataclass(frozen=True, eq=False)
class RiverSampler:
    """Sampler of river cards at the leaves of a turn subgame, with cached strengths of all hands on each river."""

    leaf_states: Sequence[BettingState]  # betting states at the leaves
    board: tuple[int, ...]
    hands: Array  # indices of unblocked hands
    seat: int  # the searching seat
    cards_per_sample: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if len(self.board) != 4:
            raise InputError(f"a board of {len(self.board)} cards: must be a turn, with 4")

    @cached_property
    def deck(self) -> Deck:
        """Deck of the game."""
        return self.leaf_states[0].rules.deck

    @cached_property
    def river_cards(self) -> Array:
        """Possible river cards."""
        return np.setdiff1d(self.deck.cards, self.board)

    @cached_property
    def live_hands(self) -> dict[int, Array]:
        """Hands that each river card does not block. bool [hands]"""
        return {int(c): ~(HAND_CARDS[self.hands] == c).any(axis=1) for c in self.river_cards}

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random generator of the cards."""
        return np.random.default_rng(self.seed)

    def hand_ranks(self, card: int) -> Array:
        """Return the showdown strengths of all hands after a river card. int64 [hands]"""
        rank = np.zeros(NUM_HANDS, np.int64)
        rank[FULL_DECK.hand_indices(self.deck.hands)] = hand_strengths((*self.board, card), self.deck)
        return rank[self.hands]

    @cached_property
    def beaten_shares(self) -> dict[int, Array]:
        """Share of unblocked hands that each hand beats, scaled to 1 for the best, by river card. float64 [hands]"""
        out = {}
        for card, live in self.live_hands.items():
            rank = self.hand_ranks(card)
            level = np.sort(rank[live])
            below = np.searchsorted(level, rank) / max(int(np.searchsorted(level, level[-1])), 1)
            out[card] = np.where(rank >= level[-1], 1.0, below) * live
        return out

    def buckets(self, count: int) -> tuple[Array, Array]:
        """Return buckets of equal size by mean strength over all rivers, the same for both seats. int64 [hands] each"""
        num_rivers = sum(live.astype(float) for live in self.live_hands.values())
        strength = sum(self.beaten_shares.values()) / np.maximum(num_rivers, 1.0)
        row = np.empty(len(self.hands), np.int64)
        row[np.argsort(strength, kind="stable")] = np.arange(len(row)) * count // len(row)
        return row, row

    @cached_property
    def showdown_values(self) -> dict[int, ShowdownLeafValues]:
        """Showdown values of all hands on each river, for a pot of one."""
        cards = self.river_cards.tolist()
        return {card: ShowdownLeafValues(self.hands, self.hand_ranks(card), np.ones(1)) for card in cards}


class _RiverLeafValues(SingleLeafValues):
    """Leaf values of a turn as means over sampled river cards; showdowns where no betting follows."""

    def __init__(self, turn: RiverSampler) -> None:
        self.sampler = turn

    def values(self, reach: Array, side: int) -> Array:
        """Return values of a side (0: the searching seat) at the leaves by sampled rivers. float64 [leaves, hands]"""
        sampler, seat, num_cards = self.sampler, self.sampler.seat ^ side, len(self.sampler.river_cards)
        count = min(sampler.cards_per_sample, num_cards)
        seats = reach if sampler.seat == 0 else reach[::-1]
        out: Array = np.zeros_like(reach[0])
        for card in sampler.rng.choice(sampler.river_cards, count, replace=False).tolist():
            live = sampler.live_hands[card]
            for leaf, state in enumerate(sampler.leaf_states):
                ranges = seats[:, leaf] * live
                value = self._river_values(leaf, card, seat, ranges) if has_later_betting(state) else None
                if value is None:
                    value = state.pot * sampler.showdown_values[card].winnings(ranges[None, 1 - seat])[0]
                out[leaf] += value * live
        out *= num_cards / (num_cards - 4) / count  # four cards are not compatible with a pair of hands
        return out

    @abstractmethod
    def _river_values(self, leaf: int, card: int, seat: int, ranges: Array) -> Array | None:
        """Return a seat's counterfactual values of a leaf after a river card, or None: use a showdown. float64 [hands]

        `ranges` are the reach of both seats' hands at the leaf. float64 [2, hands]
        """


class DatabaseLeafValues(_RiverLeafValues):
    """Leaf values from the nearest entries of an endgame database."""

    def __init__(self, turn: RiverSampler, library: EndgameDatabase) -> None:
        super().__init__(turn)
        self.database, self.num_lookups = library, 0
        self.compatible_weights = CompatibleWeights(turn.hands)

    def _river_values(self, leaf: int, card: int, seat: int, ranges: Array) -> Array | None:
        sampler, state = self.sampler, self.sampler.leaf_states[leaf]
        compatible = self.compatible_weights(ranges[1 - seat]) * sampler.live_hands[card]
        if not ranges[seat] @ compatible > 0:
            return None
        all_ranges = np.zeros((2, NUM_HANDS))
        all_ranges[:, sampler.hands] = ranges
        river = (*sampler.board, card), state.pot, min(state.behind), [*all_ranges]
        key = EndgameKey.from_river(*river, sampler.deck)
        self.num_lookups += 1
        hand_values = self.database.hand_values(self.database.nearest(key), key)[seat][sampler.hands]
        values: Array = state.pot * np.nan_to_num(hand_values) * compatible
        return values


class SampledRiverLeafValues(_RiverLeafValues):
    """Leaf values from river solvers that are updated whenever a river is sampled."""

    def __init__(self, turn: RiverSampler, menu: ActionMenu, buckets: int | None = None) -> None:
        """Set the bet sizes of the rivers, and the number of strength buckets of each leaf's solver.

        With buckets, all river cards of a leaf share a solver; None gives each card a solver with a row for each hand.
        """
        if buckets is not None and buckets < 1:
            raise InputError(f"{buckets} buckets: must be at least 1")
        super().__init__(turn)
        self.menu, self.buckets = menu, buckets
        self.river_solvers: dict[tuple[int, int], DepthLimitedSolver] = {}

    @property
    def table_size(self) -> int:
        """Number of stored regrets and averages in the solvers of all rivers."""
        return sum(river.table_size for river in self.river_solvers.values())

    def _river_values(self, leaf: int, card: int, seat: int, ranges: Array) -> Array:
        state, key = self.sampler.leaf_states[leaf], (leaf, card if self.buckets is None else -1)
        river = self.river_solvers.get(key)
        tree = build_street_tree(state.next_street(), self.menu) if river is None else river.tree
        pots = np.array([tree.states[node].pot for node in tree.leaves], float)
        leaves = ShowdownLeafValues.with_pots(self.sampler.showdown_values[card], pots)
        buckets = None
        if self.buckets is not None:
            row = np.minimum((self.sampler.beaten_shares[card] * self.buckets).astype(np.int64), self.buckets - 1)
            buckets = row, row
        if river is None:
            river = DepthLimitedSolver(tree, self.sampler.hands, ranges, leaves, 0, buckets)
            self.river_solvers[key] = river
        river.leaves, river.buckets = leaves, buckets
        return river.update_player(seat, ranges)
