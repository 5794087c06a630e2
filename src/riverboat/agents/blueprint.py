"""An agent that plays a blueprint in the real game.

    agent = BlueprintAgent(load_blueprint("runs/mine"), post="new", share=0.2)
    agent.act(views)

How it is played is `strategies.policy`: translation, real pots and stacks, post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from riverboat.abstraction.actions.translation import Tie
from riverboat.agents.base import Choice, refuse_rules
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.policy import DEFAULT_MAPPING, Decisions, Played
from riverboat.strategies.public_strategy import Strategies


@dataclass(frozen=True, eq=False)
class BlueprintAgent:
    """Plays the average strategy of a blueprint. Options are those of `Played`."""

    strategy: BlueprintStrategy
    name: str = "blueprint"
    translation: str = DEFAULT_MAPPING
    tie: Tie = "high"
    post: str = "none"
    share: float | None = None
    spare_first: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _ = self.played  # refuses wrong options

    def __repr__(self) -> str:
        return f"<BlueprintAgent {self.name}: {self.strategy!r}, {self.translation}, {self.post}>"

    @cached_property
    def played(self) -> Played:
        """The strategy as it is played."""
        try:
            return Played(self.strategy, self.translation, self.tie, self.post, self.share, self.spare_first, self.seed)
        except InputError as error:
            raise InputError(f"agent {self.name!r}: {error}") from None

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        return self.strategy.rules

    def check_rules(self, rules: Rules) -> None:
        """Only its own rules."""
        refuse_rules(self.name, self.rules, rules)

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        self.check_rules(views.rules)
        return self.played.act(views)

    def decide(self, views: Views) -> Decisions:
        """Rows of probabilities and the moves that they are of."""
        self.check_rules(views.rules)
        return self.played.decide(views)

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities; abstract moves that come out alike are one."""
        decided, out = self.decide(views), []
        for row, moves in zip(decided.rows.tolist(), decided.moves.tolist(), strict=True):
            sums: dict[int, float] = {}
            for p, move in zip(row, moves, strict=True):
                if p > 0:
                    sums[move] = sums.get(move, 0.0) + p
            out.append(sorted(sums.items()))
        return out

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What it plays with all hands at public places."""
        self.check_rules(places.rules)
        return self.played.strategies(places, draw)

    def reach(self, places: Places, seat: int) -> Array:
        """Probability that it makes its moves of the line, in a seat and with each hand. float64 [n, hands]"""
        self.check_rules(places.rules)
        return self.played.reach(places, seat)
