"""Baseline agents: simple players to measure others against. Each plays any game."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.agents import _kernels as kernels
from riverboat.agents.base import ActionProbabilities
from riverboat.cards.equity.equities import showdown_workspace
from riverboat.cards.features.hand_features import hand_strength_tables
from riverboat.core.arrays import Array
from riverboat.core.errors import MemoryLimitError, unknown_name_error
from riverboat.core.formatting import format_bytes
from riverboat.games.holdem.actions import CALL, END_OF_LINE, FOLD, call_and_raise_bounds, compact_rules_arrays
from riverboat.games.holdem.match_state import MatchState
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.public_strategy import StrategyBatch, empty_strategies, reach_by_chain_rule

BASELINES: dict[str, tuple[int, str]] = {
    "always-fold": (kernels.FOLDER, "folds when it faces a bet, else checks"),
    "always-call": (kernels.CALLER, "checks and calls"),
    "always-raise": (kernels.RAISER, "raises the minimum while it can, then calls"),
    "random": (kernels.RANDOM, "folds, calls or raises to any legal total, with equal probability"),
    "rule-based": (kernels.RULE_BASED, "bets the pot with strong hands, calls when the price is right"),
}
MAX_BYTES = 4 << 30  # largest size of the strategies of `random`, which have a column for every legal raise


@dataclass(frozen=True)
class BaselineAgent:
    """One of `BASELINES`. Only `random` is randomized and uses the seed."""

    name: str
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in BASELINES:
            raise unknown_name_error("baseline agent", self.name, BASELINES)

    def check_rules(self, rules: PokerRules) -> None:
        """Accept all games."""

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        out, rules = np.empty(len(observations), np.int32), observations.rules
        kernels.act(
            BASELINES[self.name][0],
            compact_rules_arrays(rules),
            hand_strength_tables(rules.deck, rules.board_sizes),
            np.uint64(self.seed % 2**64),
            observations.hand,
            observations.hole,
            observations.board,
            observations.moves,
            observations.length,
            out,
        )
        return out

    def at_once(self, state: MatchState) -> str | None:
        """Return the action at one table if it needs no arrays, else None, for clients of the ACPC protocol."""
        betting = state.betting
        if self.name == "always-call" or (self.name == "always-fold" and not betting.to_call):
            return "c"
        if self.name == "always-fold":
            return "f"
        if self.name == "always-raise":
            legal = betting.raise_range()
            return "c" if legal is None else "r" if state.rules.limit else f"r{legal.least}"
        return None

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities; all legal ones for `random`."""
        if self.name != "random":
            return [[(move, 1.0)] for move in self.act(observations).tolist()]
        return [
            _uniform_probabilities(*row)
            for row in call_and_raise_bounds(observations.rules, observations.public_states.states).tolist()
        ]

    # --- Strategies for all hands ---

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands at public states; there are no secret draws, so `draw` has no effect."""
        compute = self._random_strategies if self.name == "random" else self._deterministic_strategies
        return compute(public_states)

    def reach(self, public_states: PublicStates, seat: int) -> Array:
        """Return the probability that a seat plays its actions of each line with each hand. float64 [n, hands]"""
        if self.name != "random":
            return reach_by_chain_rule(self, public_states, seat)
        decisions, owner, actions = public_states.decisions()
        price, least, most = call_and_raise_bounds(public_states.rules, decisions.states).T
        probability = 1.0 / (1 + (price > 0) + (least <= most)) / np.where(actions > 0, most - least + 1, 1)
        out, own = public_states.live_hands.astype(float), decisions.actor == seat
        np.multiply.at(out, owner[own], probability[own, None])
        return out

    def _deterministic_strategies(self, public_states: PublicStates) -> StrategyBatch:
        """Return strategies with one action for each hand: fold, call or one raise."""
        rules, hands = public_states.rules, public_states.rules.deck.num_hands
        _ = public_states.states  # raises on illegal lines
        out = np.full((len(public_states), hands), END_OF_LINE, np.int32)
        kernels.act_with_all_hands(
            BASELINES[self.name][0],
            compact_rules_arrays(rules),
            hand_strength_tables(rules.deck, rules.board_sizes),
            np.ascontiguousarray(public_states.board),
            np.ascontiguousarray(public_states.moves),
            np.ascontiguousarray(public_states.length),
            public_states.live_hands,
            showdown_workspace(hands),
            out,
        )
        batch, raise_total = empty_strategies(public_states, kernels.NUM_COLUMNS), out.max(axis=1)
        batch.moves[:, 0] = np.where((out == FOLD).any(axis=1), FOLD, CALL)
        batch.moves[:, 1] = np.where(
            batch.moves[:, 0] == FOLD, CALL, np.where(raise_total > 0, raise_total, END_OF_LINE)
        )
        batch.moves[:, 2] = np.where((batch.moves[:, 0] == FOLD) & (raise_total > 0), raise_total, END_OF_LINE)
        batch.moves[batch.actor < 0] = END_OF_LINE
        for column in range(kernels.NUM_COLUMNS):
            action = batch.moves[:, column, None]
            batch.probabilities[:, :, column] = (out == action) & (action != END_OF_LINE)
        return batch

    def _random_strategies(self, public_states: PublicStates) -> StrategyBatch:
        """Return strategies over all legal actions, the same for every hand."""
        has_actor = public_states.actor >= 0
        choices = [
            _uniform_probabilities(*row) if is_decision else []
            for row, is_decision in zip(
                call_and_raise_bounds(public_states.rules, public_states.states).tolist(),
                has_actor.tolist(),
                strict=True,
            )
        ]
        columns = max(map(len, choices))
        size = 8 * len(public_states) * public_states.rules.deck.num_hands * columns
        if size > MAX_BYTES:
            raise MemoryLimitError(
                f"agent {self.name!r}: {columns:,} legal actions with every hand at {len(public_states):,} states take "
                f"{format_bytes(size)}; the limit is {format_bytes(MAX_BYTES)}: use fewer public states at a time"
            )
        batch = empty_strategies(public_states, columns)
        for i, choice in enumerate(choices):
            batch.moves[i, : len(choice)] = [action for action, _ in choice]
            batch.probabilities[i, :, : len(choice)] = public_states.live_hands[i, :, None] * np.array(
                [p for _, p in choice]
            )
        return batch


def _uniform_probabilities(price: int, least: int, most: int) -> ActionProbabilities:
    kinds = [*([FOLD] if price else []), CALL]
    share = 1 / (len(kinds) + (least <= most))
    raises = range(least, most + 1)
    return [(move, share) for move in kinds] + [(total, share / len(raises)) for total in raises]
