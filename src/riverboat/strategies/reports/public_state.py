"""Public states in reports: ranges and action probabilities of unblocked hands.

The weight of a hand is the probability that its player takes the actions of the line with it. Means over hands are
weighted by deals: the weight times the weight of the opponent's compatible hands.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.cards.deck import FULL_DECK, NUM_HANDS
from riverboat.cards.notation import Cards
from riverboat.cards.ranges import Range, compatible_weights
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import CALL
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.public_states import PublicStates, parse_game_board
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy, ranges

MAX_MOVES = 40  # with more actions, all raises are merged


@dataclass(frozen=True, eq=False, kw_only=True)
class PublicStateNode:
    """A decision on a board. Arrays have the unblocked hands, in the order of the deck's hands."""

    rules: PokerRules
    line: str
    street: int  # index of the betting round
    seat: int  # seat to act
    spent: tuple[int, int]  # chips that each seat has put in
    board: tuple[int, ...]
    hands: Array  # uint8 [n, hole]
    reach: Array  # float64 [2, n]: weights of both seats' hands
    moves: tuple[str, ...]  # labels of the actions
    action_probabilities: Array  # float64 [n, actions]
    bucket: Array | None = None  # int32 [n]: buckets on the current street; None for strategies without buckets

    @cached_property
    def unreachable_seats(self) -> tuple[int, ...]:
        """Seats with an empty range: no hand plays their actions of the line."""
        return tuple(seat for seat in (0, 1) if not self.reach[seat].any())

    @cached_property
    def assumed_ranges(self) -> Array:
        """Ranges for means: the ranges of both seats, with all hands for a seat whose range is empty.

        A strategy is defined for each hand even where it is never reached. float64 [2, n]
        """
        return np.where(self.reach.any(axis=1, keepdims=True), self.reach, 1.0)

    @cached_property
    def deal_weights(self) -> Array:
        """Weight of each seat's hands, times the weight of the opponent's compatible hands. float64 [2, n]"""
        return self._pair_weights(self.assumed_ranges)

    @property
    def reach_probability(self) -> float:
        """Probability of the line, given the board."""
        pairs = compatible_weights(np.ones(len(self.hands)), self.hands).sum()
        return float(self._pair_weights(self.reach)[0].sum() / pairs)

    def _pair_weights(self, weights: Array) -> Array:
        pairs: Array = weights * np.stack([compatible_weights(weights[1 - seat], self.hands) for seat in (0, 1)])
        return pairs

    @cached_property
    def frequencies(self) -> dict[str, float]:
        """Frequency of each action over the assumed ranges."""
        weights = self.deal_weights[self.seat]
        shares = weights @ self.action_probabilities / max(weights.sum(), 1e-300)
        return dict(zip(self.moves, shares.tolist(), strict=True))

    @property
    def full_reach(self) -> Array:
        """Weights of both seats for all hands of a full deck. float64 [2, 1326]"""
        weights = np.zeros((2, NUM_HANDS))
        weights[:, FULL_DECK.hand_indices(self.hands)] = self.reach
        return weights

    def range(self, seat: int) -> Range | None:
        """Return the range of a seat; None in games with other decks than hold'em's."""
        return Range(np.minimum(self.full_reach[seat], 1.0)) if self.rules.deck == FULL_DECK else None


# --- policies ---------------------------------------------------------------------------------


def policy_node(player: PublicPolicy, rules: PokerRules, line: str = "", board: Cards = ()) -> PublicStateNode:
    """Return a policy's decision at a line of the real game, with any bet sizes; both ranges follow the same policy.

    Actions that no hand plays are omitted; if more than MAX_MOVES remain, all raises are merged into one.
    """
    state = BettingState.from_line(rules, line).deal_due_streets()
    cards = parse_game_board(rules, state.street, board)
    public_states = PublicStates.from_betting([state], [cards])
    if state.actor < 0:
        raise InputError(f"line {state.line!r}: the hand is over, nobody acts")
    strategies, live = player.strategies(public_states), np.flatnonzero(public_states.live_hands[0])
    used = np.flatnonzero(strategies.probabilities[0].any(axis=0))  # omit actions that no hand plays
    names, rows = strategies.labels(0), strategies.probabilities[0][live][:, used]
    labels, both_ranges = [names[k] for k in used], ranges(public_states, player)[0][:, live]
    if len(labels) > MAX_MOVES:
        first = int((strategies.moves[0, used] <= CALL).sum())
        labels = [*labels[:first], f"{labels[first]}-{labels[-1]}"]
        rows = np.concatenate([rows[:, :first], rows[:, first:].sum(axis=1, keepdims=True)], axis=1)
    return PublicStateNode(
        rules=rules,
        line=state.line,
        street=state.street,
        seat=state.actor,
        spent=state.spent,
        board=cards,
        hands=rules.deck.hands[live],
        reach=both_ranges,
        moves=tuple(labels),
        action_probabilities=rows,
    )
