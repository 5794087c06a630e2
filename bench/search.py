"""An agent that searches against one that bets any legal size, a table at a time: nothing may break or be late.

    python bench/search.py "demo?search=turn&time=1s" --hands 2000 --limit 3

Says how many decisions there were, and how long they took on average and at worst, in seconds and in processor time. An
illegal move or an error ends it; the exit code is 1 where a decision took longer than `--limit`.
Hands are played in pairs, one pair after the other, as at a dealer's table; other seeds make other pieces.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.agents.registry import make_agent
from riverboat.agents.searching import SearchingAgent
from riverboat.arrays import Array
from riverboat.evaluation.matches import play_match
from riverboat.games.acpc import Rules
from riverboat.games.views import Views


@dataclass
class Timed:
    """An agent whose decisions are timed."""

    agent: SearchingAgent
    seconds: list[float] = field(default_factory=list)  # of each decision from its street on
    processor: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.agent.name

    def check_rules(self, rules: Rules) -> None:
        self.agent.check_rules(rules)

    def act(self, views: Views) -> Array:
        return np.concatenate([self._one(views.take(np.array([i]))) for i in range(len(views))])

    def _one(self, views: Views) -> Array:
        began, cpu = time.perf_counter(), time.process_time()
        move = self.agent.act(views)
        if views.places.street[0] >= self.agent.search.first:
            self.seconds.append(time.perf_counter() - began)
            self.processor.append(time.process_time() - cpu)
        return move

    def facts(self) -> dict[str, Any]:
        some = max(len(self.seconds), 1)
        return {
            "decisions": len(self.seconds),
            "mean_seconds": sum(self.seconds) / some,
            "worst_seconds": max(self.seconds, default=0.0),
            "mean_processor": sum(self.processor) / some,
            "worst_processor": max(self.processor, default=0.0),
        }


def main() -> int:
    """Play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("--against", default="random")
    parser.add_argument("--hands", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds that a decision may take")
    given = parser.parse_args()
    agent, opponent = make_agent(given.agent, given.seed), make_agent(given.against, given.seed)
    if not isinstance(agent, SearchingAgent):
        parser.error(f"{given.agent}: does not search; add search=turn")
    timed = Timed(agent)
    match = play_match(timed, opponent, agent.rules, given.hands, given.seed, pairs_at_once=1)
    facts = timed.facts()
    late = facts["worst_seconds"] > given.limit
    print(json.dumps({"agent": given.agent, "against": given.against, "late": late, **facts, **match.record()}))
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
