"""Agents that solve subgames at the table.

    agent = SearchAgent(BlueprintAgent(load_blueprint("runs/mine")), SearchSettings("turn", "resolve"))
    agent.act(observations)

Before its street the agent plays the blueprint; from there on the solutions of `subgames.search.search`. Subgames
depend only on public information, so the agent has strategies for all hands and is a function of the observation like
any other. `SubgameLibraryAgent` looks rivers up in a database instead. `LearningSearchAgent` also learns, and solves
subgames against the range of its model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from riverboat.agents.base import ActionProbabilities, errors_of_agent, merge_actions
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.composite import DelegatingPolicyAgent
from riverboat.agents.learning import LearningAgent
from riverboat.cards.deck import FULL_DECK
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.engines.devices import CPU, resolve_device
from riverboat.games.holdem.actions import END_OF_LINE, fit_to_stacks
from riverboat.games.holdem.hand_records import HandRecords
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.opponents.models.tree import fit_model
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.policy import sample_moves
from riverboat.strategies.public_strategy import StrategyBatch
from riverboat.subgames.database.database import EndgameDatabase
from riverboat.subgames.database.policy import DatabasePolicy, RiverStrategy
from riverboat.subgames.search.depth_limited import DepthLimitedPosition
from riverboat.subgames.search.report import SubgameReport
from riverboat.subgames.search.search import (
    SearchSettings,
    SubgameSearch,
    equal_stack_policy,
    equal_stack_states,
    equal_stack_strategy,
)
from riverboat.subgames.search.subgames import SubgamePosition

BATCH_TABLES = 128  # preferred number of tables in a batch on the CPU
DEVICE_BATCH_TABLES = 16_384  # a GPU solves a thousand subgames in the time of ten


DecisionSearch: TypeAlias = SubgameSearch | DatabasePolicy  # source of strategies from a street on
PublicDecision: TypeAlias = SubgamePosition | DepthLimitedPosition | RiverStrategy  # strategy at one public state


@dataclass(frozen=True, eq=False)
class SearchAgent:
    """Agent that plays a blueprint, and solutions of subgames from the street `settings.street` on."""

    base: BlueprintAgent
    settings: SearchSettings
    opponent: Blueprint | None = None  # model of the opponent, which gives its range; None: the blueprint

    def __post_init__(self) -> None:
        _ = self.search  # raises if the game cannot be searched

    def __repr__(self) -> str:
        return f"<SearchAgent {self.name}: {self.settings.method} from the {self.settings.street} on>"

    @cached_property
    def search(self) -> DecisionSearch:
        """Search that finds and solves subgames, in the game with equal stacks."""
        with errors_of_agent(self.name):
            opponent = None if self.opponent is None else equal_stack_strategy(self.opponent)
            return SubgameSearch(equal_stack_policy(self.base.policy), self.settings, opponent)

    @property
    def name(self) -> str:
        """Name of the agent in tables and messages."""
        return self.base.name

    @property
    def made_of(self) -> tuple[BlueprintAgent]:
        """Blueprint agent behind it, which identifies it in ledgers together with its options."""
        return (self.base,)

    @property
    def rules(self) -> PokerRules:
        """Rules of the game that it plays."""
        return self.base.rules

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError unless the rules are its own."""
        self.base.check_rules(rules)

    @property
    def tables_at_once(self) -> int:
        """Preferred number of tables in a batch; the solutions of all of them are cached while their hands continue."""
        return BATCH_TABLES if resolve_device(self.settings.device) == CPU else DEVICE_BATCH_TABLES

    # --- Tables ---

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        rows, moves = self._action_rows(observations)
        return sample_moves(self.base.seed, observations, rows, moves)

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities, which are positive and sum to one."""
        rows, moves = self._action_rows(observations)
        return merge_actions(rows, moves)

    def explain(self, observations: Observations) -> SubgameReport | None:
        """Report on the subgame at the first table; None before the first street with search."""
        self.check_rules(observations.rules)
        if observations.public_states.street[0] < self.search.first_street:
            return None
        position, moves = self._solve(observations.public_states, np.zeros(1, np.int64), observations.seat)[0]
        if not isinstance(position, SubgamePosition | DepthLimitedPosition):
            return None
        return SubgameReport(position, moves, int(FULL_DECK.hand_indices(observations.hole)[0]))

    def _action_rows(self, observations: Observations) -> tuple[Array, Array]:
        """Return the action probabilities of the actual hands, and the actions. float64, int32 [n, columns]"""
        self.check_rules(observations.rules)
        late = observations.public_states.street >= self.search.first_street
        early, searched = np.flatnonzero(~late), np.flatnonzero(late)
        base = self.base.decide(observations.take(early)) if len(early) else None
        solved = self._solve(observations.public_states, searched, observations.seat)
        columns = max([len(actions) for _, actions in solved], default=0)
        columns = max(columns, 0 if base is None else base.rows.shape[1])
        rows, moves = np.zeros((len(observations), columns)), np.zeros((len(observations), columns), np.int32)
        if base is not None:
            rows[early, : base.rows.shape[1]], moves[early, : base.rows.shape[1]] = base.rows, base.moves
        hands = FULL_DECK.hand_indices(observations.hole)
        for i, (position, actions) in zip(searched.tolist(), solved, strict=True):
            rows[i, : len(actions)], moves[i, : len(actions)] = position.strategy[hands[i]], actions
        return rows, moves

    # --- Public states ---

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands at public states; `draw` has hand numbers that fix random translations."""
        self.check_rules(public_states.rules)
        actor = public_states.actor
        late = (public_states.street >= self.search.first_street) & (actor >= 0)
        early, searched = np.flatnonzero(~late), np.flatnonzero(late)
        base = (
            self.base.strategies(public_states.take(early), None if draw is None else draw[early])
            if len(early)
            else None
        )
        solved = self._solve(public_states, searched, actor)
        columns = max([len(actions) for _, actions in solved], default=0)
        columns = max(columns, 0 if base is None else base.moves.shape[1])
        moves = np.full((len(public_states), columns), END_OF_LINE, np.int32)
        probabilities = np.zeros((len(public_states), public_states.rules.deck.num_hands, columns))
        if base is not None:
            moves[early, : base.moves.shape[1]] = base.moves
            probabilities[early, :, : base.moves.shape[1]] = base.probabilities
        for i, (position, actions) in zip(searched.tolist(), solved, strict=True):
            moves[i, : len(actions)] = actions
            probabilities[i, :, : len(actions)] = (
                position.strategy[self.search.hand_indices] * public_states.live_hands[i, :, None]
            )
        return StrategyBatch(public_states, actor, moves, probabilities)

    def _solve(
        self, public_states: PublicStates, chosen: Array, seats: Array
    ) -> list[tuple[PublicDecision, tuple[int, ...]]]:
        """Return the solved strategy at each chosen public state for the seat to act, and its actions.

        Subgames have equal stacks; the actions are fitted to the stacks of the table.
        """
        selected = public_states.take(chosen)
        equal_stacks = equal_stack_states(selected)
        positions = self.search.positions(equal_stacks, seats[chosen]) if len(chosen) else []
        if equal_stacks is selected:
            return [(position, position.moves) for position in positions]
        return [(p, fit_to_stacks(p.moves, selected.betting(i))) for i, p in enumerate(positions)]


@dataclass(frozen=True, eq=False)
class SubgameLibraryAgent(SearchAgent):
    """Agent that plays a blueprint, and rivers by the solution of the nearest endgame of a database."""

    library: EndgameDatabase = field(default_factory=lambda: EndgameDatabase({}))

    def __repr__(self) -> str:
        return f"<SubgameLibraryAgent {self.name}: {len(self.library):,} endgames>"

    def explain(self, observations: Observations) -> SubgameReport | None:
        """Raise InputError: this agent solves nothing."""
        raise InputError(
            f"agent {self.name!r} solves no subgames: --explain needs search; see `riverboat endgames query`"
        )

    @cached_property
    def search(self) -> DecisionSearch:
        """Policy that looks endgames up in the database."""
        with errors_of_agent(self.name):
            return DatabasePolicy(self.library, SubgameSearch(equal_stack_policy(self.base.policy), self.settings))


# --- Search with a learned model ---


class LearningSearchAgent(DelegatingPolicyAgent):
    """Learning agent that solves subgames against the range of its model; it changes only when it observes hands."""

    def __init__(self, learning_agent: LearningAgent, settings: SearchSettings) -> None:
        self.learning_agent, self.settings, self.name = learning_agent, settings, learning_agent.name
        self.made_of = learning_agent.made_of  # the blueprint that identifies it in ledgers
        self.current_agent: SearchAgent = SearchAgent(learning_agent.current_agent, settings)
        self._model_hands = 0  # hands that the model was fitted to

    @property
    def tables_at_once(self) -> int:
        """Preferred number of tables in a batch: the smaller of those of search and learning."""
        return min(self.current_agent.tables_at_once, self.learning_agent.tables_at_once)

    def observe(self, hands: HandRecords) -> None:
        """Learn from hands; with every new response, fit the model and start a new search."""
        self.learning_agent.observe(hands)
        every, base = self.learning_agent.settings.every, self.learning_agent.blueprint_agent.strategy
        if (
            self.learning_agent.hands_seen // every == self._model_hands // every
            and self.learning_agent.current_agent is self.current_agent.base
        ):
            return
        self._model_hands = self.learning_agent.hands_seen
        counts = self.learning_agent.counts
        if self.learning_agent.settings.method == "preflop":
            counts = counts.on_street(base.tree, 0)
        self.current_agent = SearchAgent(
            self.learning_agent.current_agent, self.settings, fit_model(base, counts, "l1")
        )
