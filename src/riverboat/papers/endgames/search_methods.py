"""Methods of search at the table: winnings against the own blueprint, and local best-response values on the same deals.

The quick run has hold'em with twelve cards and a coarse blueprint that it trains itself. The full run has `demo`, and
should run in parts: other seeds give other deals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.evaluation.local_best_response import LbrTraversal, LocalResponder
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import FULL_POT, PairSampling, play_match
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, new_row
from riverboat.papers.training import percentile_game, train_blueprint
from riverboat.strategies.public_strategy import PublicPolicy
from riverboat.subgames.search.search import SearchSettings
from riverboat.subgames.search.subgames import SEARCH_METHODS

RULES = PokerRules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="twelve cards")
MENU = 'preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]'
NUM_BUCKETS, TRAINING_BOARDS = 2, 4_000  # for each bucket of the street before; iterations
ACTIONS = "fcpa"  # actions of the local best response
MIN_OPTIONS = {"hands": 4, "deals": 2, "walkers": 1, "iterations": 1, "river": 0}
SAMPLED_ESTIMATE = "estimate, drawn"
COMPARED_METHODS = (*SEARCH_METHODS, SAMPLED_ESTIMATE)


class SearchExperimentSize(NamedTuple):
    """The amount of work of a run."""

    hands: int  # in each match
    deals: int  # for each local best response
    walkers: int  # hands of a deal, in each seat
    full_pot: float  # big blinds: matches subsample pairs with smaller pots
    iterations: int | None = None  # of a solve; None for the defaults


QUICK = SearchExperimentSize(hands=1_600, deals=60, walkers=6, full_pot=5.0, iterations=40)
FULL = SearchExperimentSize(hands=2_048, deals=48, walkers=4, full_pot=FULL_POT)


def train_twelve_card_blueprint(seed: int) -> BlueprintAgent:
    """Train a blueprint with two buckets for each bucket of the street before."""
    game = percentile_game(RULES, NUM_BUCKETS, parse_menu(MENU))
    return BlueprintAgent(train_blueprint(game, "pcs", TRAINING_BOARDS, seed=seed), name="blueprint")


def local_best_response_gains(
    agent: PublicPolicy, rules: PokerRules, size: SearchExperimentSize, street: str, seed: int
) -> Array:
    """Return the winnings of a local best response against an agent in each deal, mbb/g. float64 [deals]"""
    traversal = LbrTraversal(LocalResponder(agent, rules, ACTIONS, rules.streets.index(street)), size.walkers, seed)
    return np.array([sum(traversal.evaluate_deal(number)) for number in range(size.deals)]) * 500 / rules.big_blind


def run(full: bool, seed: int, **chosen: int) -> ExperimentReport:
    """Compare every method; with `full` on `demo`."""
    for key, minimum in MIN_OPTIONS.items():
        if chosen.get(key, minimum) < minimum:
            raise InputError(f"search-methods: {key}={chosen[key]}: must be at least {minimum}")
    street = "river" if chosen.pop("river", 0) else "turn"
    size = (FULL if full else QUICK)._replace(**chosen)
    base = make_agent("demo") if full else train_twelve_card_blueprint(seed)
    assert isinstance(base, BlueprintAgent)
    rows = []
    if not full:
        rows.append(new_row("blueprint: exploitability", quality(base.strategy).mbb_per_game, note="exact, mbb/g"))
    first = local_best_response_gains(base, base.rules, size, street, seed)
    rows.append(_mean_row("blueprint: local best response", first))
    for search_method in COMPARED_METHODS:
        method, spread = ("estimate", 1.0) if search_method == SAMPLED_ESTIMATE else (search_method, 0.0)
        agent = SearchAgent(base, SearchSettings(street, method, iterations=size.iterations, spread=spread))
        rows += method_rows(search_method, agent, base, first, size, seed)
    notes = format_notes(
        "search-methods", base=base, street=street, size=size, actions=ACTIONS, deal_hands=2 * size.walkers
    )
    return ExperimentReport(rows, notes)


def method_rows(
    search_method: str, agent: SearchAgent, base: Agent, base_gains: Array, size: SearchExperimentSize, seed: int
) -> list[ComparisonRow]:
    """Measure one method by both measures."""
    rules, street = agent.rules, agent.settings.street
    aivat, sampling = Aivat(agent, base, rules), PairSampling(street, size.full_pot)
    match = play_match(agent, base, rules, size.hands, seed, aivat=aivat, pair_sampling=sampling)
    name, note = f"{search_method}: won of the blueprint", f"{match.played or 0:,} hands played"
    after = local_best_response_gains(agent, rules, size, street, seed)
    return [
        new_row(name, match.mbb_per_game, half_width=match.ci95, null=0.0, note=note),
        _mean_row(f"{search_method}: local best response", after),
        _mean_row(f"{search_method}: local best response, less than of the blueprint", base_gains - after, null=0.0),
    ]


def _mean_row(name: str, samples: Array, null: float | None = None) -> ComparisonRow:
    estimate = SampleSums().add_samples(samples).confidence_interval()
    return new_row(name, estimate.mean, half_width=estimate.half_width, null=null, note=f"{estimate.count} deals")
