"""Agents that play as another agent, one that changes between hands.

Learners, mixtures and those who begin anew have in common that somebody else answers all questions of the table for them, and
that it is one and the same until hands are shown.
"""

from __future__ import annotations

from typing import Protocol

from riverboat.agents.base import Agent, Choice, Chooser, rules_of
from riverboat.core.arrays import Array
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies.public_strategy import Answering, Strategies, reach


class Playing(Agent, Answering, Protocol):
    """Who can be played as: asked for moves, and for what it does with all hands."""


class PlaysAs:
    """Hands all questions on to the agent that it plays as now."""

    now: Playing

    @property
    def rules(self) -> Rules | None:
        """The game that it plays; None where it plays any."""
        return rules_of(self.now)

    def check_rules(self, rules: Rules) -> None:
        """Those that the agent can play."""
        self.now.check_rules(rules)

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        return self.now.act(views)

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What it plays now with all hands at public places."""
        return self.now.strategies(places, draw)

    def reach(self, places: Places, seat: int) -> Array:
        """Probability that it makes its moves of the line, as it plays now. float64 [n, hands]"""
        return reach(self.now, places, seat)


class Telling(Playing, Chooser, Protocol):
    """Who can also be asked what it chooses from."""


class ChoosesAs(PlaysAs):
    """The same as somebody who tells what it chooses from."""

    now: Telling

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities."""
        return self.now.probabilities(views)
