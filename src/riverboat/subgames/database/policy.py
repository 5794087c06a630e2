"""Play rivers from an endgame database: the strategy of the nearest solved endgame.

    river = look_up_river(database, root, seat)         # the nearest endgame, given both ranges
    river.strategy_after(moves)                         # strategies of all hands, as actions of the real table

Off-tree bets of the opponent are translated to the database's sizes (deterministic pseudo-harmonic mapping); its own
bets are the same fractions of the real pot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import translation_probabilities
from riverboat.cards.deck import NUM_HANDS
from riverboat.core.arrays import Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.holdem.actions import CALL, END_OF_LINE
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.public_states import PublicStates
from riverboat.strategies.public_strategy import PublicStateCache
from riverboat.subgames.database.database import (
    ENDGAME_POT,
    STACK_LEVELS,
    EndgameDatabase,
    EndgameKey,
    NearestEndgame,
    stack_level_betting,
)
from riverboat.subgames.depth_limited.solver import unblocked_hands
from riverboat.subgames.search.search import SubgameSearch
from riverboat.subgames.search.subgames import SubgameRoot, normalize_range

TRANSLATION = "det-pshar"  # mapping of off-tree bets
MIN_OPPONENT_WEIGHT = 0.01  # minimum weight of the opponent's hands
CACHE_SIZE = 4096  # rivers whose nearest endgame is cached


class RiverStrategy(NamedTuple):
    """Strategies of all hands at a public state on the river, as actions of the real table."""

    moves: tuple[int, ...]  # actions of the real table
    strategy: Array  # float64 [1326, actions]


@dataclass(frozen=True, eq=False)
class DatabaseRiver:
    """A river of a hand in play, with the nearest endgame in the database, whose strategy is played."""

    database: EndgameDatabase
    key: EndgameKey
    match: NearestEndgame
    root: BettingState  # first state of the river

    def strategy_after(self, moves: Sequence[int]) -> RiverStrategy | None:
        """Return the strategy after some real actions on the river; None if the endgame's betting is over by then."""
        betting, node, state = self.betting, 0, self.root
        for action in moves:
            next_node = self._translate_move(node, state, action)
            if next_node is None:
                return None
            node, state = next_node, state.apply_action(action)
        if betting.actor[node] != state.turn:
            return None
        shares = self.database.strategy(self.match, node, self.key.equity[state.turn])
        real_actions = [self._real_move(node, move, state) for move in betting.moves(node)]
        actions = tuple(sorted(set(real_actions)))
        out = np.zeros((shares.shape[1], len(actions)))
        for action, share in zip(real_actions, shares, strict=True):
            out[:, actions.index(action)] += share
        return RiverStrategy(actions, out)

    @cached_property
    def betting(self) -> BettingTree:
        """Betting tree of the endgame's stack level."""
        return stack_level_betting(self.match.stack_level)

    def _translate_move(self, node: int, state: BettingState, move: int) -> int | None:
        """Return the endgame's child node that a real action is translated to; None if there is none."""
        betting = self.betting
        if betting.actor[node] != state.turn:
            return None
        children = dict(zip(betting.moves(node), betting.children(node), strict=True))
        if move <= CALL:
            return children.get(move, children[CALL])
        raises = [total for total in children if total > CALL]
        if not raises:
            return None
        size = (move - max(state.spent)) / (state.pot + state.to_call)
        sizes = [self._relative_size(node, total) for total in raises]
        return children[raises[next(iter(translation_probabilities(TRANSLATION, sizes, size)))]]

    def _relative_size(self, node: int, total: int) -> float:
        """Return the size of a raise to a total in the endgame's chips, as a fraction of the pot after a call."""
        high = float(self.betting.spent[node].max())
        return (total - high) / (ENDGAME_POT + 2 * high)

    def _real_move(self, node: int, move: int, state: BettingState) -> int:
        """Return the legal real action for an action of the endgame: the same fraction of the pot, or all-in."""
        if move <= CALL:
            return move if state.to_call else CALL
        least, most = state.raise_range() or (0, -1)
        if most < least:
            return CALL
        if move >= ENDGAME_POT * STACK_LEVELS[self.match.stack_level]:
            return most
        total = max(state.spent) + round(self._relative_size(node, move) * (state.pot + state.to_call))
        return min(max(total, least), most)


@dataclass(frozen=True, eq=False)
class DatabasePolicy:
    """Policy for rivers from an endgame database; falls back to the blueprint where the database's betting is over."""

    database: EndgameDatabase
    search: SubgameSearch  # provides the ranges at the river
    cache: PublicStateCache[DatabaseRiver] = field(default_factory=lambda: PublicStateCache(CACHE_SIZE), repr=False)

    @property
    def first_street(self) -> int:
        """First street that the policy covers."""
        return self.search.first_street

    @property
    def hand_indices(self) -> Array:
        """Indices of the deck's hands among the 1,326. int64 [hands]"""
        return self.search.hand_indices

    def positions(self, public_states: PublicStates, seats: Sequence[int] | Array) -> list[RiverStrategy]:
        """Return the strategy at each public state; ranges are those that the searching seat (`seats`) assumes."""
        return [self._strategy_at(public_states.take(np.array([i])), int(seats[i])) for i in range(len(public_states))]

    def _strategy_at(self, place: PublicStates, seat: int) -> RiverStrategy:
        state, moves = self.search.split_line(place, 0)
        key = f"{seat} {state.line} {place.board_cards(0)}".encode()

        def look_up() -> DatabaseRiver:
            root = self.search.root_of_first_subgame(state, place.board_cards(0), seat)
            return look_up_river(self.database, root, seat)

        found = self.cache.get_or_compute(key, look_up).strategy_after(moves)
        if found is not None:
            return found
        blueprint = self.search.policy.strategies(place)
        probabilities = np.zeros((NUM_HANDS, blueprint.moves.shape[1]))
        probabilities[self.hand_indices] = blueprint.probabilities[0]
        used = blueprint.moves[0] != END_OF_LINE
        return RiverStrategy(tuple(blueprint.moves[0][used].tolist()), probabilities[:, used])


def look_up_river(database: EndgameDatabase, root: SubgameRoot, seat: int) -> DatabaseRiver:
    """Look up the river at a subgame root for a seat; every unblocked hand of the opponent has a minimum weight."""
    state = root.state
    live = unblocked_hands(state.rules.deck, root.board)
    ranges = [normalize_range(weights, live) for weights in root.ranges]
    ranges[1 - seat] = np.maximum(ranges[1 - seat], MIN_OPPONENT_WEIGHT * live)
    key = EndgameKey.from_river(root.board, state.pot, max(min(state.behind), 1), ranges, state.rules.deck)
    return DatabaseRiver(database, key, database.nearest(key), state)
