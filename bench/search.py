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
from typing import Any

import numpy as np

from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchingAgent
from riverboat.evaluation.cost import TimedAgent
from riverboat.evaluation.matches.match import play_match


def facts(timed: TimedAgent, first: int) -> dict[str, Any]:
    """Of the decisions from a street on."""
    searched = np.array(timed.streets, int) >= first
    seconds, processor = np.array(timed.seconds)[searched], np.array(timed.processor)[searched]
    some = max(len(seconds), 1)
    return {
        "decisions": len(seconds),
        "mean_seconds": float(seconds.sum() / some),
        "worst_seconds": float(seconds.max(initial=0.0)),
        "mean_processor": float(processor.sum() / some),
        "worst_processor": float(processor.max(initial=0.0)),
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
    timed = TimedAgent(agent)
    match = play_match(timed, opponent, agent.rules, given.hands, given.seed, pairs_at_once=1)
    told = facts(timed, agent.search.first)
    late = told["worst_seconds"] > given.limit
    print(json.dumps({"agent": given.agent, "against": given.against, "late": late, **told, **match.record()}))
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
