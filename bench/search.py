"""Stress test of a searching agent against one that bets any legal size: no errors and no late decisions.

    python bench/search.py "demo?search=turn&time=1s" --hands 2000 --limit 3

Prints the number of decisions and their mean and worst times, in seconds and CPU time. An illegal action or an error
ends it; the exit code is 1 if a decision took longer than `--limit`. Hands are played in pairs, one pair after the
other, as at a dealer's table; other seeds give other hands.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np

from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchAgent
from riverboat.evaluation.cost import TimedAgent
from riverboat.evaluation.matches.match import play_match


def facts(timed: TimedAgent, first: int) -> dict[str, Any]:
    """Statistics of the decisions from a street on."""
    searched = np.array(timed.streets, int) >= first
    seconds, processor = np.array(timed.seconds)[searched], np.array(timed.processor_seconds)[searched]
    selected = max(len(seconds), 1)
    return {
        "decisions": len(seconds),
        "mean_seconds": float(seconds.sum() / selected),
        "worst_seconds": float(seconds.max(initial=0.0)),
        "mean_processor": float(processor.sum() / selected),
        "worst_processor": float(processor.max(initial=0.0)),
    }


def main() -> int:
    """Play and print the statistics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("--against", default="random")
    parser.add_argument("--hands", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=5.0, help="time limit of a decision, in seconds")
    arguments = parser.parse_args()
    agent, opponent = make_agent(arguments.agent, arguments.seed), make_agent(arguments.against, arguments.seed)
    if not isinstance(agent, SearchAgent):
        parser.error(f"{arguments.agent}: does not search; add search=turn")
    timed = TimedAgent(agent)
    match = play_match(timed, opponent, agent.rules, arguments.hands, arguments.seed, batch_pairs=1)
    statistics = facts(timed, agent.search.first_street)
    late = statistics["worst_seconds"] > arguments.limit
    about = {"agent": arguments.agent, "against": arguments.against, "late": late}
    print(json.dumps(about | statistics | match.record()))
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
