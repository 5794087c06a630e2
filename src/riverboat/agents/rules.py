"""Agent that plays by a rule list: a text file that people can read and edit.

    agent = RuleAgent.read("mine.rules")
    agent.act(observations)

Features are those of `strategies.features.HOLDEM_FEATURES`. A raise of a number of pots is rounded to a legal total;
it becomes a call if no raise is legal. A fold becomes a check if checking is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path

import numpy as np

from riverboat.agents.base import ActionProbabilities, errors_of_agent, merge_actions
from riverboat.cards.deck import FULL_DECK
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, call_and_raise_bounds
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies import rule_list
from riverboat.strategies.features import HOLDEM_FEATURES, hand_features, situation_features
from riverboat.strategies.public_strategy import StrategyBatch, empty_strategies
from riverboat.strategies.rule_list import OTHER, FeatureColumns, RuleAction, RuleList

RULES_SUFFIX = ".rules"
MAX_BYTES = 1 << 20  # largest file of rules


@dataclass(frozen=True, eq=False)
class RuleAgent:
    """Agent that plays by rules; its draws depend on its seed, the number of the hand and the position in the line."""

    rule_list: RuleList
    name: str = "rules"
    seed: int = 0

    def __post_init__(self) -> None:
        unknown = [move for move in self.rule_list.moves if move.kind == OTHER]
        if unknown:
            raise InputError(
                f"agent {short_repr(self.name)}: move {short_repr(unknown[0].label)}: must be "
                "fold, check, call, raise, raise 0.75 pot or all-in"
            )

    @staticmethod
    def read(path: str | Path, name: str | None = None, seed: int = 0) -> RuleAgent:
        """Read a rule list from a text file."""
        with errors_of_agent(name or str(path)):
            rules = RuleList.parse(read_text(path, "rules", MAX_BYTES), HOLDEM_FEATURES)
        return RuleAgent(rules, name or str(path), seed)

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError unless the game is hold'em: two hole cards, boards of up to five cards, a deck of 52."""
        if rules.hole != 2 or rules.deck != FULL_DECK or any(n not in (0, 3, 4, 5) for n in rules.board_sizes):
            raise InputError(
                f"agent {short_repr(self.name)}: its rules are for hold'em and cannot play {short_repr(rules.name)}"
            )

    # --- Tables ---

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        moves, probabilities = self._action_probabilities(observations)
        uniform = _uniform_numbers(self.seed, observations.hand, observations.length)
        chosen = (np.cumsum(probabilities, axis=1) <= uniform[:, None]).sum(axis=1)
        last = probabilities.shape[1] - 1 - (probabilities[:, ::-1] > 0).argmax(axis=1)  # guards against rounding
        return np.asarray(moves[np.arange(len(observations)), np.minimum(chosen, last)].astype(np.int32))

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities; rule actions that become equal are merged."""
        moves, probabilities = self._action_probabilities(observations)
        return merge_actions(probabilities, moves)

    def _action_probabilities(self, observations: Observations) -> tuple[Array, Array]:
        """Return the legal action and the probability of each action of the rule list. int64, float64 [n, moves]"""
        self.check_rules(observations.rules)
        states = observations.public_states.states
        columns = situation_features(observations.rules, states)
        shown_cards = np.array(observations.rules.board_sizes)[states[:, 3]]
        needed = self.rule_list.tested_features()
        hands = {
            f.name: np.zeros(len(observations)) for f in HOLDEM_FEATURES if f.name in needed and f.name not in columns
        }
        for count in np.unique(shown_cards).tolist() if hands else ():
            rows = np.flatnonzero(shown_cards == count)
            for name, x in hand_features(observations.hole[rows], observations.board[rows, :count], needed).items():
                hands[name][rows] = x
        rule = self.rule_list.deciding_rules(columns | hands, len(observations))
        return _legal_actions(observations.rules, states, self.rule_list.moves), self._rule_mixtures[rule]

    @property
    def _rule_mixtures(self) -> Array:
        return self.rule_list.action_mixes(self.rule_list.moves)

    # --- Strategies for all hands ---

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands at public states; there are no secret draws, so `draw` has no effect."""
        self.check_rules(public_states.rules)
        moves = _legal_actions(public_states.rules, public_states.states, self.rule_list.moves)
        batch = empty_strategies(public_states, moves.shape[1])
        columns = situation_features(public_states.rules, public_states.states)
        needed = frozenset(self.rule_list.tested_features())
        for i in np.flatnonzero(batch.actor >= 0).tolist():
            actions, column = np.unique(moves[i], return_inverse=True)
            live = np.flatnonzero(public_states.live_hands[i])
            features: FeatureColumns = _board_features(public_states.board_cards(i), needed) | {
                name: np.full(len(live), x[i]) for name, x in columns.items() if name in needed
            }
            rule = self.rule_list.deciding_rules(features, len(live))
            mixtures = np.zeros((len(self.rule_list), len(actions)))
            np.add.at(mixtures.T, column, self._rule_mixtures.T)
            used = (mixtures[np.unique(rule)] > 0).any(axis=0)
            batch.moves[i, : used.sum()] = actions[used]
            batch.probabilities[i, live, : used.sum()] = mixtures[rule][:, used]
        return batch


def _legal_actions(rules: PokerRules, states: Array, moves: tuple[RuleAction, ...]) -> Array:
    """Convert the actions of a rule list to legal ones at states; END_OF_LINE if nobody acts. int64 [n, moves]"""
    price, least, most = call_and_raise_bounds(rules, states).T
    spent = np.maximum(states[:, 0], states[:, 1])
    pot = states[:, 0] + states[:, 1] + price
    out = np.empty((len(states), len(moves)), np.int64)
    for k, move in enumerate(moves):
        if move.kind == rule_list.FOLD:
            out[:, k] = np.where(price > 0, FOLD, CALL)
        elif move.kind == rule_list.CALL:
            out[:, k] = CALL
        else:
            total = most if move.size == inf else np.floor(spent + move.size * pot + 0.5)
            out[:, k] = np.where(least <= most, np.minimum(np.maximum(total, least), most), CALL)
    out[states[:, 8] != 0] = END_OF_LINE
    return out


@lru_cache(maxsize=4096)
def _board_features(board: tuple[int, ...], needed: frozenset[str]) -> dict[str, Array]:
    """Compute the needed features of all hands that a board does not block, by name. [hands] each"""
    hands = FULL_DECK.hands[~np.isin(FULL_DECK.hands, board).any(axis=1)]
    boards = np.broadcast_to(np.array(board, np.uint8), (len(hands), len(board)))
    return hand_features(hands, boards, needed)


def _uniform_numbers(seed: int, hands: Array, lengths: Array) -> Array:
    """Return numbers in [0, 1) that depend only on seed, hand and position: splitmix64 of the three. float64 [n]"""
    with np.errstate(over="ignore"):
        z = np.uint64(seed % 2**64) * np.uint64(0x9E3779B97F4A7C15) + hands.astype(np.uint64)
        for step in (np.uint64(0), lengths.astype(np.uint64) + np.uint64(1)):
            z = (z + step) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x632BE59BD9B4E019)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(float) / 2.0**53
