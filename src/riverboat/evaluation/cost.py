"""Cost of an agent: training hours, memory, load time and time per decision.

    measured = measure_cost(lambda: make_agent("default"), read_game("nolimit-200bb"), hands=400)
    measured.mean_seconds, measured.worst_seconds, measured.load_seconds

Decisions are timed one table at a time, as against a dealer. The agent plays duplicate hands against an opponent that
bets any legal size. The first hands do not count, because kernels are compiled or loaded in them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.baselines import BaselineAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.identity import describe_result
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.observations import Observations
from riverboat.games.holdem.rules import PokerRules

OPPONENT_NAME = "random"
WARMUP_HANDS = 20  # hands before timing starts


@dataclass
class TimedAgent:
    """Wrapper that times the decisions of an agent, one table at a time."""

    agent: Agent
    streets: list[int] = field(default_factory=list)  # street of each decision
    seconds: list[float] = field(default_factory=list)  # wall-clock time of each decision
    processor_seconds: list[float] = field(default_factory=list)  # processor time of each decision, over all cores

    @property
    def name(self) -> str:
        """Name of the wrapped agent."""
        return self.agent.name

    def check_rules(self, rules: PokerRules) -> None:
        """Check the rules with the wrapped agent."""
        self.agent.check_rules(rules)

    def act(self, observations: Observations) -> Array:
        """Return the agent's actions, each decided and timed by itself. int32 [n]"""
        actions = []
        self.streets += observations.public_states.street.tolist()
        for i in range(len(observations)):
            observation = observations.take(np.array([i]))
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            actions.append(self.agent.act(observation))
            self.seconds.append(time.perf_counter() - wall_start)
            self.processor_seconds.append(time.process_time() - cpu_start)
        return np.concatenate(actions)


@dataclass(frozen=True)
class AgentCost:
    """Measured cost of an agent.

    Seconds are wall-clock times. `processor_seconds` counts all cores, so other programs do not add to it.
    """

    agent: Agent
    rules: PokerRules
    load_seconds: float  # time to create the agent
    hands: int
    seed: int
    decisions: tuple[int, ...]  # number of decisions by street
    mean_seconds: float  # per decision, as the following ones
    median_seconds: float
    worst_seconds: float
    processor_seconds: float  # mean processor time per decision
    seconds_by_street: tuple[float, ...]  # mean seconds; 0 where there was no decision

    def to_dict(self) -> dict[str, Any]:
        """Return the cost as a JSON object, in the form that ledgers store."""
        description = describe_result("cost", self.rules, self.agent)
        about = description["about"]["agents"][0]
        about["decision_seconds"] = float(f"{self.mean_seconds:.3g}")
        shown_elsewhere = ("agent", "rules", "seconds_by_street")
        figures = {key: value for key, value in vars(self).items() if key not in shown_elsewhere}
        return {
            "agent": self.agent.name,
            **{key: about.get(key) for key in ("core_hours", "megabytes")},
            **figures,
            "decisions": list(self.decisions),
            "street_seconds": list(self.seconds_by_street),
            "unit": "seconds",
            **description,
        }


def measure_cost(
    make_agent: Callable[[], Agent],
    rules: PokerRules | Callable[[Agent], PokerRules],
    hands: int = 400,
    *,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> AgentCost:
    """Create an agent and time its decisions over `hands` hands; `rules` may be a function of the created agent."""
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: must be an even number, four or more: hands are played in duplicate pairs")
    start = time.perf_counter()
    agent = make_agent()
    load_seconds = time.perf_counter() - start
    game = rules(agent) if callable(rules) else rules
    opponent = BaselineAgent(OPPONENT_NAME, seed)
    play_match(agent, opponent, game, WARMUP_HANDS, seed + 1, batch_pairs=1)
    timed = TimedAgent(agent)
    play_match(timed, opponent, game, hands, seed, batch_pairs=1, progress=progress)
    seconds, streets = np.array(timed.seconds or [0.0]), np.array(timed.streets or [0])
    by_street = [seconds[streets == street] for street in range(game.rounds)]
    decisions = tuple(len(times) for times in by_street)
    figures = float(seconds.mean()), float(np.median(seconds)), float(seconds.max())
    processor_seconds = float(np.mean(timed.processor_seconds or [0.0]))
    means = tuple(float(times.mean()) if len(times) else 0.0 for times in by_street)
    return AgentCost(agent, game, load_seconds, hands, seed, decisions, *figures, processor_seconds, means)
