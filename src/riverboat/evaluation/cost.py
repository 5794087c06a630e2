"""What an agent costs: hours that trained it, megabytes, seconds until it is there, and seconds a decision.

    measured = cost(lambda: make_agent("default"), read_game("nolimit-200bb"), hands=400)
    measured.mean_seconds, measured.worst_seconds, measured.load_seconds

Decisions are timed one table at a time, as at a dealer's: the agent plays duplicate hands against one that bets any legal
size. The first hands are not counted, since loops are compiled or loaded in them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.baselines import Yardstick
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.identity import about
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.rules import Rules

OPPONENT = "random"
WARM = 20  # hands that are not counted


@dataclass
class TimedAgent:
    """An agent whose decisions are timed, one table at a time."""

    agent: Agent
    streets: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The agent's own."""
        return self.agent.name

    def check_rules(self, rules: Rules) -> None:
        """Whatever the agent plays."""
        self.agent.check_rules(rules)

    def act(self, views: Views) -> Array:
        """The agent's moves, each by itself."""
        return np.concatenate([self._one(views.take(np.array([i]))) for i in range(len(views))])

    def _one(self, views: Views) -> Array:
        street = int(views.places.street[0])
        began, spent = time.perf_counter(), time.process_time()
        move = self.agent.act(views)
        self.seconds.append(time.perf_counter() - began)
        self.processor.append(time.process_time() - spent)
        self.streets.append(street)
        return move


@dataclass(frozen=True)
class Cost:
    """Of an agent. Seconds are those of the clock; `processor_seconds` of all cores, which others' work does not lengthen."""

    agent: Agent
    rules: Rules
    load_seconds: float
    hands: int
    seed: int
    decisions: tuple[int, ...]  # by street
    mean_seconds: float
    median_seconds: float
    worst_seconds: float
    processor_seconds: float  # mean
    by_street: tuple[float, ...]  # mean seconds; 0 where there was no decision

    def to_dict(self) -> dict[str, Any]:
        """For JSON and for ledgers."""
        told = about("cost", self.rules, self.agent)
        told["about"]["agents"][0]["decision_seconds"] = float(f"{self.mean_seconds:.3g}")
        return {
            "agent": self.agent.name,
            **{key: told["about"]["agents"][0].get(key) for key in ("core_hours", "megabytes")},
            "load_seconds": self.load_seconds,
            "hands": self.hands,
            "seed": self.seed,
            "decisions": list(self.decisions),
            "mean_seconds": self.mean_seconds,
            "median_seconds": self.median_seconds,
            "worst_seconds": self.worst_seconds,
            "processor_seconds": self.processor_seconds,
            "street_seconds": list(self.by_street),
            "unit": "seconds",
            **told,
        }


def cost(
    make: Callable[[], Agent],
    rules: Rules | Callable[[Agent], Rules],
    hands: int = 400,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Cost:
    """Make an agent, and let it play."""
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: an even number, four or more: pairs are played")
    began = time.perf_counter()
    agent = make()
    loaded = time.perf_counter() - began
    game = rules(agent) if callable(rules) else rules
    opponent = Yardstick(OPPONENT, seed)
    play_match(agent, opponent, game, WARM, seed + 1, pairs_at_once=1)
    timed = TimedAgent(agent)
    play_match(timed, opponent, game, hands, seed, pairs_at_once=1, progress=progress)
    seconds, streets = np.array(timed.seconds or [0.0]), np.array(timed.streets or [0])
    there = [seconds[streets == street] for street in range(game.rounds)]
    return Cost(
        agent,
        game,
        loaded,
        hands,
        seed,
        tuple(len(part) for part in there),
        float(seconds.mean()),
        float(np.median(seconds)),
        float(seconds.max()),
        float(np.mean(timed.processor or [0.0])),
        tuple(float(part.mean()) if len(part) else 0.0 for part in there),
    )
