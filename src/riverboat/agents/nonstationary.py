"""Agents that change during a match, and agents that adapt to such opponents.

    switch:always-call,always-raise,deals=500          plays as the first for 500 deals, then as the second
    hedge:demo,always-raise,always-call                mixes prepared strategies by their estimated winnings
    demo?exploit=dbbr&notice=200                       a learning agent that discards data from before a change

A deal of a duplicate match is two hands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.composite import CompositeAgent, DelegatingPolicyAgent, MixtureAgent, MixtureDelegatingAgent
from riverboat.agents.learning import LearningAgent, own_player_name, read_opponent
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import HIDDEN_CARD
from riverboat.games.holdem.hand_records import HandRecords, concatenate_records
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.opponents.models.change_detection import ChangeDetector
from riverboat.strategies.public_strategy import PublicPolicy, reach_probabilities


class SwitchingAgent(CompositeAgent):
    """Agent that plays as one agent after the other, `deals` deals each; the last one continues."""

    def __init__(self, parts: Sequence[Agent], deals: int, name: str = "switch") -> None:
        if len(parts) < 2 or deals < 1:
            raise InputError(f"{len(parts)} agents, deals={deals}: must be at least two agents and one deal")
        self.parts, self.deals, self.name = tuple(parts), deals, name

    def act(self, observations: Observations) -> Array:
        """Return the actions of the part that plays each deal, by the number of the deal. int32 [n]"""
        deal = np.asarray(observations.hand) // self.deals
        return self.act_as_parts(observations, np.minimum(deal, len(self.parts) - 1))


class HedgeAgent(CompositeAgent, MixtureDelegatingAgent):
    """No-regret mixture of prepared strategies: Hedge with shared weights (fixed share; Herbster and Warmuth 1998).

    One strategy is drawn for each hand. The winnings of every other strategy are estimated from the same hand by
    importance sampling (Bowling et al. 2008): the actual winnings times the ratio of the strategy's reach probability
    to the mixture's. The estimate is unbiased, and at most the winnings divided by the strategy's weight. Weights are
    multiplied by exp(η × estimate), with η from the variance so far. Then a small part of all weights is shared
    evenly, so that a strategy that was bad for long recovers soon after a change.
    """

    def __init__(
        self, parts: Sequence[Agent], every: int = 200, share: float = 0.05, name: str = "hedge", seed: int = 0
    ) -> None:
        if len(parts) < 2 or every < 2 or not 0 < share < 1:
            raise InputError(
                f"{len(parts)} agents, every={every}, share={share:g}: needs 2 agents, 2 hands, 0 < share < 1"
            )
        self._policies = [part for part in parts if isinstance(part, PublicPolicy)]
        if len(self._policies) < len(parts):
            name = next(part.name for part in parts if not isinstance(part, PublicPolicy))
            raise InputError(f"agent {name!r} has no strategies for all hands, so hedge cannot weight it")
        self.parts, self.every, self.share, self.name, self.seed = tuple(parts), every, share, name, seed
        self.weights = np.full(len(parts), 1 / len(parts))
        self._variance = 0.0
        self._update_mixture()

    def _update_mixture(self) -> None:
        self.current_agent = MixtureAgent(self.parts, tuple(self.weights.tolist()), self.name, self.seed)

    def account(self) -> str:
        """Return the current weights of the parts, as text."""
        return "weights: " + ", ".join(
            f"{part.name} {share:.0%}" for part, share in zip(self.parts, self.weights, strict=True)
        )

    def observe(self, hands: HandRecords) -> None:
        """Update the weights of all parts by the estimated winnings of each in finished hands."""
        won = self.estimate_winnings(hands)
        centred = won - (won @ self.weights)[:, None]
        self._variance += float((centred**2 @ self.weights).sum())
        if self._variance > 0:
            rate = np.sqrt(np.log(len(self.parts)) / self._variance)
            updated = self.weights * np.exp(rate * (centred.sum(axis=0) - centred.sum(axis=0).max()))
            self.weights = (1 - self.share) * updated / updated.sum() + self.share / len(self.parts)
        self._update_mixture()

    def estimate_winnings(self, hands: HandRecords) -> Array:
        """Estimate the chips that each part would have won in each hand. float64 [n, parts]"""
        own_name = own_player_name(self.name, hands)
        seats, hole = hands.seat_of(own_name), hands.rules.hole
        board = np.array(hands.cards[:, 2 * hole :])
        public_states = PublicStates(hands.rules, hands.moves, hands.length, board)
        dealt = np.array(hands.rules.board_sizes)[public_states.street]
        board[np.arange(board.shape[1]) >= dealt[:, None]] = HIDDEN_CARD
        reach = np.zeros((len(hands), len(self.parts)))
        for seat in (0, 1):
            rows = np.flatnonzero(seats == seat)
            if not len(rows):
                continue
            hand = hands.rules.deck.hand_indices(hands.cards[rows, seat * hole : (seat + 1) * hole])
            for k, part in enumerate(self._policies):
                reach[rows, k] = reach_probabilities(part, public_states.take(rows), seat)[np.arange(len(rows)), hand]
        ratio = safe_divide(reach, (reach @ self.weights)[:, None])
        return ratio * hands.won[np.arange(len(hands)), np.maximum(seats, 0)][:, None]


class ChangeDetectingAgent(DelegatingPolicyAgent):
    """Learning agent that starts again, from its last hands, when it detects a change of its opponent."""

    def __init__(self, make: Callable[[], LearningAgent], window: int) -> None:
        self._make = make
        self.current_agent: LearningAgent = make()
        if self.current_agent.settings.memory is not None:
            raise InputError("notice and memory: discarded data cannot be stored; use one of the two")
        self.name = self.current_agent.name
        self.made_of = self.current_agent.made_of  # the blueprint that identifies it in ledgers
        self.change_detector = ChangeDetector(self.current_agent.blueprint_agent.strategy.tree, window)
        # Changes are detected between batches, so several batches must fit in the window.
        self.tables_at_once = max(2, min(self.current_agent.tables_at_once, window // 4))
        self.hands_seen = 0
        self.noticed: list[int] = []  # number of hands at each detected change
        self._recent: deque[HandRecords] = deque()

    def account(self) -> str:
        """Return after how many hands changes were detected, as text."""
        when = ", ".join(f"{n:,}" for n in self.noticed)
        return f"the opponent changed after {when} hands" if when else "no change of the opponent was detected"

    def observe(self, hands: HandRecords) -> None:
        """Learn from hands; after a change, discard earlier data and learn from the last hands."""
        base, own_name = self.current_agent.blueprint_agent, own_player_name(self.name, hands)
        reading, is_opponent = read_opponent(base, hands, own_name, self.hands_seen)
        self.hands_seen += len(hands)
        self._recent.append(hands)
        while sum(map(len, self._recent)) - len(self._recent[0]) >= self.change_detector.window:
            self._recent.popleft()
        if self.change_detector.add(reading, is_opponent, len(hands)):
            self.noticed.append(self.hands_seen)
            self.current_agent = self._make()
            self.current_agent.observe(concatenate_records(self._recent))
        else:
            self.current_agent.observe(hands)
