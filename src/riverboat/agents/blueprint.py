"""Agent that plays a blueprint in the full game.

    agent = BlueprintAgent(load_blueprint("runs/mine"), post="new", share=0.2)
    agent.act(observations)

`strategies.policy` does the work: action translation, real pots and stacks, post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from riverboat.abstraction.actions.translation import TieRule
from riverboat.agents.base import ActionProbabilities, check_own_rules, errors_of_agent, merge_actions
from riverboat.core.arrays import Array
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.public_states import PublicStates
from riverboat.games.holdem.rules import PokerRules
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.policy import DEFAULT_MAPPING, BlueprintPolicy, PolicyDecisions
from riverboat.strategies.public_strategy import StrategyBatch


@dataclass(frozen=True, eq=False)
class BlueprintAgent:
    """Agent that plays the average strategy of a blueprint. Options are those of `BlueprintPolicy`."""

    strategy: Blueprint
    name: str = "blueprint"
    translation: str = DEFAULT_MAPPING
    tie: TieRule = "high"
    post: str = "none"
    share: float | None = None
    spare_first: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.policy  # raises on invalid options

    def __repr__(self) -> str:
        return f"<BlueprintAgent {self.name}: {self.strategy!r}, {self.translation}, {self.post}>"

    @cached_property
    def policy(self) -> BlueprintPolicy:
        """Policy that plays the blueprint, with action translation and post-processing."""
        with errors_of_agent(self.name):
            return BlueprintPolicy(
                self.strategy, self.translation, self.tie, self.post, self.share, self.spare_first, self.seed
            )

    @property
    def rules(self) -> PokerRules:
        """Rules of the game that it plays."""
        return self.strategy.rules

    def check_rules(self, rules: PokerRules) -> None:
        """Raise InputError unless the rules are its own."""
        check_own_rules(self.name, self.rules, rules)

    def act(self, observations: Observations) -> Array:
        """Return the action at each table: FOLD, CALL, or the total of a raise. int32 [n]"""
        self.check_rules(observations.rules)
        return self.policy.act(observations)

    def decide(self, observations: Observations) -> PolicyDecisions:
        """Return the action probabilities at each table before sampling, with the real action of each column."""
        self.check_rules(observations.rules)
        return self.policy.decide(observations)

    def probabilities(self, observations: Observations) -> list[ActionProbabilities]:
        """Return the actions at each table with their probabilities; columns with equal real actions are merged."""
        decisions = self.decide(observations)
        return merge_actions(decisions.rows, decisions.moves)

    def strategies(self, public_states: PublicStates, draw: Array | None = None) -> StrategyBatch:
        """Return the strategies of all hands at public states; `draw` has hand numbers that fix random translations."""
        self.check_rules(public_states.rules)
        return self.policy.strategies(public_states, draw)

    def reach(self, public_states: PublicStates, seat: int) -> Array:
        """Return the probability that a seat plays its actions of each line with each hand. float64 [n, hands]"""
        self.check_rules(public_states.rules)
        return self.policy.reach(public_states, seat)
