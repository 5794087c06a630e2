"""Methods of search at the table, and leaf values of depth-limited search (Brown, Sandholm & Amos 2018).

`search-methods` measures winnings against the agent's own blueprint, and local best-response values on the same deals.
The quick run has hold'em with twelve cards and a coarse blueprint that it trains itself. The full run has `demo`, and
should run in parts: other seeds give other deals.

`midgame-leaves` compares the exploitability of four kinds of leaf values. The game is no-limit hold'em with 15 cards,
15 big blinds deep. The blueprint has three percentile buckets for each bucket of the street before. Both seats search
on sampled flops with equal time. The remaining game is small enough to traverse, so best responses and winnings against
the blueprint are exact.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchAgent
from riverboat.cards.notation import format_cards
from riverboat.core.arrays import Array
from riverboat.core.blas import single_threaded_blas
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.confidence_intervals import SampleSums
from riverboat.evaluation.local_best_response import LbrTraversal, LocalResponder
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import FULL_POT, PairSampling, play_match
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.holdem.rules import PokerRules
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, finding_row, mean_row, new_row
from riverboat.papers.training import percentile_game, train_blueprint
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.public_strategy import PublicPolicy
from riverboat.subgames.depth_limited import leaf_values
from riverboat.subgames.depth_limited import solver as depth_limited
from riverboat.subgames.depth_limited.leaf_values import LeafValueRegression
from riverboat.subgames.depth_limited.quality import StreetEvaluation
from riverboat.subgames.depth_limited.rollouts import group_hands
from riverboat.subgames.depth_limited.solver import BlueprintLeaf, DepthLimitedStreet
from riverboat.subgames.search.search import SearchSettings
from riverboat.subgames.search.subgames import SEARCH_METHODS

# --- Methods of search ---

TWELVE_CARDS = PokerRules(
    blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="twelve cards"
)
TWELVE_CARD_MENU = 'preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]'
NUM_BUCKETS, TRAINING_BOARDS = 2, 4_000  # buckets in each bucket of the street before; training iterations
ACTIONS = "fcpa"  # actions of the local best response: fold, call, pot, all-in
MIN_OPTIONS = {"hands": 4, "deals": 2, "walkers": 1, "iterations": 1, "river": 0}
SAMPLED_ESTIMATE = "estimate, drawn"  # the method `estimate` with random alternative payoffs (spread 1)
COMPARED_METHODS = (*SEARCH_METHODS, SAMPLED_ESTIMATE)


class SearchExperimentSize(NamedTuple):
    """The amount of work of a run."""

    hands: int  # hands of each match
    deals: int  # deals of each local best response
    walkers: int  # sampled trajectories of the local best response per deal and seat
    full_pot: float  # big blinds: matches subsample pairs with smaller pots
    iterations: int | None = None  # iterations of each search; None for the defaults


QUICK = SearchExperimentSize(hands=1_600, deals=60, walkers=6, full_pot=5.0, iterations=40)
FULL = SearchExperimentSize(hands=2_048, deals=48, walkers=4, full_pot=FULL_POT)


def train_twelve_card_blueprint(seed: int) -> BlueprintAgent:
    """Train a blueprint with two buckets for each bucket of the street before."""
    game = percentile_game(TWELVE_CARDS, NUM_BUCKETS, parse_menu(TWELVE_CARD_MENU))
    return BlueprintAgent(train_blueprint(game, "pcs", TRAINING_BOARDS, seed=seed), name="blueprint")


def local_best_response_gains(
    agent: PublicPolicy, rules: PokerRules, size: SearchExperimentSize, street: str, seed: int
) -> Array:
    """Return the winnings of a local best response against an agent in each deal, mbb/g. float64 [deals]"""
    traversal = LbrTraversal(LocalResponder(agent, rules, ACTIONS, rules.streets.index(street)), size.walkers, seed)
    return np.array([sum(traversal.evaluate_deal(number)) for number in range(size.deals)]) * 500 / rules.big_blind


def run(full: bool, seed: int, **chosen: int) -> ExperimentReport:
    """Compare search methods by winnings against the blueprint and by local best response; with `full`, for `demo`."""
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
    """Measure a search agent: winnings against its blueprint, and local best response.

    `base_gains` are the local best-response values against the blueprint on the same deals. float64 [deals]
    """
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


# --- Leaf values ---

FIFTEEN_CARDS = PokerRules(
    blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=5, suits=3, name="15 cards"
)
FIFTEEN_CARD_MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 2, 2, 2]')
PREFLOP_LINES = ("cc/", "cr250c/")
SEARCH_SECONDS = 0.25  # CPU time of a searched street
NUM_TRAINING_TURNS = 60  # solved turns for the regression
BLUEPRINT_DEALS = 400_000  # training deals of the blueprint
MATCH_HANDS = 400
NUM_RUNOUTS = 24  # four times as many with a single continuation
FULL_ITERATIONS = 150
LEAF_METHODS = {  # kind of leaf values, and gadget
    "four continuations": ("continuations", "unsafe"),
    "simulation": ("simulation", "unsafe"),
    "table from the blueprint": ("table", "unsafe"),
    "learnt value": ("learnt", "unsafe"),
    "four continuations, re-solved": ("continuations", "resolve"),
    "four continuations, maxmargin": ("continuations", "maxmargin"),
}


def train_small_blueprint(deals: int, seed: int) -> Blueprint:
    """Train a coarse blueprint of the small game."""
    return train_blueprint(percentile_game(FIFTEEN_CARDS, 3, FIFTEEN_CARD_MENU), "external", deals, seed=seed)


def street_leaves(flop: StreetEvaluation) -> list[BlueprintLeaf]:
    """Return the leaves of the depth-limited flop as nodes of the blueprint's tree, which contains all its bets."""
    leaves = []
    for state in (flop.street.states[node] for node in flop.street.leaves):
        ends = not depth_limited.has_later_betting(state)
        node = depth_limited.SHOWDOWN_NODE if ends else flop.strategy.tree.find(state.next_street().line)
        leaves.append(BlueprintLeaf(node, float(state.pot)))
    return leaves


def _random_flop(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(c) for c in np.sort(rng.choice(FIFTEEN_CARDS.deck.cards, 3, replace=False)))


def search_street(
    flop: StreetEvaluation,
    kind: str,
    seconds: float | None,
    *,
    model: LeafValueRegression,
    runouts: int | None = NUM_RUNOUTS,
    method: str = "unsafe",
) -> list[dict[int, Array]]:
    """Solve the street for each seat by depth-limited search; return for each seat strategies by decision node.

    `kind` is the kind of leaf values, `method` the gadget. `seconds` is the CPU time for leaf values and iterations;
    None for `FULL_ITERATIONS` iterations. `runouts` are sampled for leaf values; None for all runouts.
    """
    groups = group_hands(flop.strategy, flop.board, flop.hands, 1)  # on a small deck each hand is its own group
    street = DepthLimitedStreet(
        flop.strategy, flop.street, street_leaves(flop), flop.board, flop.hands, (flop.ranges[0], flop.ranges[1]),
        flop.blueprint_strategy,
    )  # fmt: skip
    strategies = []
    for seat in (0, 1):
        start_time = time.thread_time()
        with single_threaded_blas():
            leaves = leaf_values.make_leaf_values(kind, street, seat, runouts=runouts, groups=groups, model=model)
            solver, _ = depth_limited.make_gadget_solver(method, street, leaves, seat)
            solver.step(2)
            while solver.iterations < FULL_ITERATIONS if seconds is None else time.thread_time() - start_time < seconds:
                solver.step(2)
        strategies.append(solver.average_strategies()[0])
    return strategies


def compare_leaf_methods(
    strategy: Blueprint, flops: int, seconds: float, seed: int
) -> tuple[list[ComparisonRow], dict[str, list[float]]]:
    """Compare the exploitability of all kinds of leaf values on the same random flops.

    Also return all measurements, in % of the pot, by name.
    """
    rng = np.random.default_rng([seed, 1])
    model = leaf_values.fit_regression(strategy, NUM_TRAINING_TURNS, seed)
    results: dict[str, list[float]] = {}

    def record(name: str, value: float) -> None:
        results.setdefault(name, []).append(value)

    for number in range(flops):
        flop = StreetEvaluation.from_blueprint(strategy, PREFLOP_LINES[number % len(PREFLOP_LINES)], _random_flop(rng))
        own = flop.blueprint_strategy()
        exact = search_street(flop, "continuations", None, model=model, runouts=None)
        for name, table in {
            "blueprint": flop.table,
            "blueprint on the flop, then solved": flop.with_nested_solutions([own, own], FULL_ITERATIONS),
            "all streets solved": flop.solve_rest(None, FULL_ITERATIONS),
            "four continuations, nothing sampled": flop.with_nested_solutions(exact, FULL_ITERATIONS),
        }.items():
            record(name, flop.exploitability(table))
        for name, (kind, method) in LEAF_METHODS.items():
            strategies = search_street(flop, kind, seconds, model=model, method=method)
            solved_table = flop.with_nested_solutions(strategies, FULL_ITERATIONS)
            record(name, flop.exploitability(solved_table))
            record(f"{name}, then the blueprint", flop.exploitability(flop.with_street_strategies(strategies)))
            record(f"{name}: won of the blueprint", flop.gain_over_blueprint(solved_table))
    return [mean_row(f"{name}, % of pot", numbers) for name, numbers in results.items()], results


def match_rows(strategy: Blueprint, hands: int, seed: int) -> list[ComparisonRow]:
    """Play each kind of leaf values against the blueprint: `search=flop&leaves=`, with later streets solved."""
    base, rows = BlueprintAgent(strategy, name="blueprint", seed=seed), []
    for name, (kind, method) in LEAF_METHODS.items():
        agent = SearchAgent(base, SearchSettings("flop", method, leaves=kind))
        match = play_match(agent, base, FIFTEEN_CARDS, hands, seed, aivat=Aivat(agent, base, FIFTEEN_CARDS))
        label, note = f"match, {name}: won of the blueprint, mbb/g", f"{match.hands:,} duplicate hands, AIVAT"
        rows.append(new_row(label, match.mbb_per_game, half_width=match.ci95, null=0.0, note=note))
    return rows


def run_leaf_values(full: bool, seed: int) -> ExperimentReport:
    """Compare leaf values of depth-limited search on a few flops; with `full`, on more of them with more time each."""
    flops, seconds = (24, 4 * SEARCH_SECONDS) if full else (4, SEARCH_SECONDS)
    strategy = train_small_blueprint(BLUEPRINT_DEALS, seed)
    rows, results = compare_leaf_methods(strategy, flops, seconds, seed)
    rows += match_rows(strategy, 10 * MATCH_HANDS if full else MATCH_HANDS, seed)
    base, searched = (float(np.mean(results[name])) for name in ("blueprint", "four continuations"))
    label = "exploitability with four continuations over the blueprint's, at most half"
    note = "the flop searched, later streets solved for its ranges"
    rows.insert(0, finding_row(label, 0.5, searched / base, "<=", note=note))
    first = _random_flop(np.random.default_rng([seed, 1]))
    notes = format_notes(
        "midgame-leaves", flops=flops, first=format_cards(first), seconds=seconds, num_training_turns=NUM_TRAINING_TURNS
    )
    return ExperimentReport(rows, notes)
