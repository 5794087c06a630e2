"""Agents made of other agents: delegation to a current agent, and mixtures drawn in secret for every hand.

    agent = MixtureAgent((blueprint, response), (0.9, 0.1))

A player who draws a strategy before the hand plays the mixture in the whole game: it wins the mean of their winnings
against any opponent, and guarantees at least the mean of their guarantees. At a public state its strategy is the mean
over the parts, weighted by their reach probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from riverboat.agents.base import ActionProbabilities, Agent, PolicyAgent, rules_of_agents
from riverboat.compiled.rng import random_bits
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError
from riverboat.games.holdem.actions import END_OF_LINE
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import PublicPolicy, StrategyBatch, reach_probabilities

# --- Delegation ---


class PlayableAgent(Agent, PublicPolicy, Protocol):
    """Agent that another can delegate to: it has actions, and strategies for all hands."""


class DelegatingAgent:
    """Agent that delegates every call to its current agent, which may change between hands."""

    current_agent: PlayableAgent

    @property
    def rules(self) -> PokerRules | None:
        """Rules of the game that it plays; None if it plays any game."""
        return rules_of_agents(self.current_agent)

    def check_rules(self, rules: PokerRules) -> None:
        """Check the rules with the current agent."""
        self.current_agent.check_rules(rules)

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        return self.current_agent.act(observations)

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the current strategies of all hands at public states; `draw` has hand numbers that fix draws."""
        return self.current_agent.strategies(public_states, draw)

    def reach(self, public_states: PublicStates, seat: int) -> Array:
        """Return the probability that a seat plays its actions of each line with each hand. float64 [n, hands]"""
        return reach_probabilities(self.current_agent, public_states, seat)


class PlayablePolicyAgent(PlayableAgent, PolicyAgent, Protocol):
    """Agent that another can delegate to, with action probabilities too."""


class DelegatingPolicyAgent(DelegatingAgent):
    """Delegating agent that also returns action probabilities."""

    current_agent: PlayablePolicyAgent

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities, which are positive and sum to one."""
        return self.current_agent.probabilities(observations)


class CompositeAgent:
    """Agent made of agents that play the same game."""

    parts: tuple[Agent, ...]

    @property
    def made_of(self) -> tuple[Agent, ...]:
        """Agents that identify it in ledgers (`evaluation.identity`)."""
        return self.parts

    @property
    def rules(self) -> PokerRules | None:
        """Rules of the game that its parts play; None if they play any game."""
        return rules_of_agents(*self.parts)

    def check_rules(self, rules: PokerRules) -> None:
        """Check the rules with all parts."""
        for part in self.parts:
            part.check_rules(rules)

    def act_as_parts(self, observations: Observations, part_of: Array) -> Array:
        """Return the action at each table of the part that plays it; `part_of` has the parts' indices. int32 [n]"""
        out = np.zeros(len(observations), np.int32)
        for k in np.unique(part_of).tolist():
            rows = np.flatnonzero(part_of == k)
            out[rows] = self.parts[k].act(observations.take(rows))
        return out


class MixtureAgent(CompositeAgent):
    """Agent that plays each hand as one of its parts, drawn in secret."""

    def __init__(self, parts: Sequence[Agent], weights: Sequence[float], name: str = "mixture", seed: int = 0) -> None:
        if len(parts) != len(weights) or not parts:
            raise InputError(f"{len(weights)} shares for {len(parts)} agents: must be one for each")
        if min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
            raise InputError(f"shares {', '.join(f'{s:g}' for s in weights)}: must sum to one, none below zero")
        self.parts, self.weights, self.name, self.seed = tuple(parts), tuple(weights), name, seed

    def mixture_weights(self, public_states: PublicStates, seats: Array) -> Array:
        """Return the probabilities with which each part is drawn before a hand, at public states. float64 [n, parts]"""
        return np.tile(np.array(self.weights, float), (len(public_states), 1))

    def sample_parts(self, hand: Array, seat: Array, weights: Array) -> Array:
        """Draw the part that plays each hand number in a seat, with probabilities `weights` [n, parts]. int64 [n]"""
        number = (np.asarray(hand, np.uint64) << np.uint64(1)) + np.asarray(seat, np.uint64)
        bits = random_bits.py_func(np.uint64(self.seed % 2**64), number)
        uniform = (bits >> np.uint64(11)).astype(float) / 2.0**53
        chosen: Array = (np.cumsum(weights, axis=1) <= uniform[:, None]).sum(axis=1)
        return np.minimum(chosen, len(self.parts) - 1)

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        weights = self.mixture_weights(observations.public_states, observations.seat)
        return self.act_as_parts(observations, self.sample_parts(observations.hand, observations.seat, weights))

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands: the mean over the parts, weighted by their posterior probabilities.

        `draw` has hand numbers, which determine the part that plays each hand.
        """
        actor = public_states.actor
        priors = self.mixture_weights(public_states, actor)
        used = [k for k in range(len(self.parts)) if (priors[:, k] > 0).any()]
        batches = {k: self._part_policy(k).strategies(public_states, draw) for k in used}
        weights = self._posterior_weights(public_states, actor, priors, used, draw)
        total = np.sum(list(weights.values()), axis=0)
        labels = [
            sorted({int(m) for a in batches.values() for m in a.moves[i] if m != END_OF_LINE})
            for i in range(len(public_states))
        ]
        columns = max(map(len, labels), default=0)
        moves = np.full((len(public_states), columns), END_OF_LINE, np.int32)
        probabilities = np.zeros((len(public_states), public_states.rules.deck.num_hands, columns))
        for i, actions in enumerate(labels):
            moves[i, : len(actions)] = actions
            for k, batch in batches.items():
                posterior = safe_divide(weights[k][i], total[i], priors[i, k])
                for column, move in enumerate(batch.moves[i].tolist()):
                    if move != END_OF_LINE:
                        probabilities[i, :, actions.index(move)] += posterior * batch.probabilities[i, :, column]
        return StrategyBatch(public_states, actor, moves, probabilities)

    def reach(self, public_states: PublicStates, seat: int) -> Array:
        """Return the probability that a seat plays its actions of each line with each hand. float64 [n, hands]"""
        priors = self.mixture_weights(public_states, np.full(len(public_states), seat))
        used = [k for k in range(len(self.parts)) if (priors[:, k] > 0).any()]
        parts = [priors[:, k, None] * reach_probabilities(self._part_policy(k), public_states, seat) for k in used]
        return np.asarray(np.sum(parts, axis=0))

    def _posterior_weights(
        self, public_states: PublicStates, actor: Array, weights: Array, used: list[int], draw: Array | None
    ) -> dict[int, Array]:
        """Return prior × reach of each used part: its unnormalized posterior probability. float64 [n, hands] each"""
        out = {k: np.zeros((len(public_states), public_states.rules.deck.num_hands)) for k in used}
        if draw is not None:
            part_of = self.sample_parts(draw, np.maximum(actor, 0), weights)
            for k in used:
                out[k][part_of == k] = 1.0
            return out
        for seat in (0, 1):
            rows = np.flatnonzero(actor == seat)
            for k in used if len(rows) else ():
                out[k][rows] = weights[rows, k, None] * reach_probabilities(
                    self._part_policy(k), public_states.take(rows), seat
                )
        return out

    def _part_policy(self, k: int) -> PublicPolicy:
        part = self.parts[k]
        if not isinstance(part, PublicPolicy):
            raise InputError(f"agent {part.name!r} has no strategies for all hands, so {self.name!r} has none")
        return part


class MixtureDelegatingAgent(DelegatingAgent):
    """Agent that delegates to a mixture, which changes only between batches of `every` hands."""

    current_agent: MixtureAgent
    every: int

    @property
    def tables_at_once(self) -> int:
        """Number of hands between two mixtures."""
        return self.every
