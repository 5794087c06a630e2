"""Methods of search at the table side by side, in two measures: what each wins of its own blueprint, and what a local best
response wins of it, on the same deals.

The quick run has hold'em with twelve cards and a blueprint with few buckets, made on the spot. The full one has `demo`, and
is meant for pieces: runs with other seeds have other cards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.cards.perfect_recall import percentile_abstraction
from riverboat.agents.base import Agent
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.registry import make_agent
from riverboat.agents.search import SearchingAgent
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.best_response.exact import quality
from riverboat.evaluation.intervals import Tally
from riverboat.evaluation.local_best_response.choice import Responder
from riverboat.evaluation.local_best_response.traversal import Walk
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import play_match
from riverboat.evaluation.matches.thinning import WHOLE, Thinning
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.holdem.rules import Rules
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, new
from riverboat.solvers.mccfr.samplers import make_blueprint
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.public_strategy import Answering
from riverboat.subgames.search.search import SearchSettings
from riverboat.subgames.search.subgames import METHODS

RULES = Rules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=6, suits=2, name="twelve cards")
MENU = 'preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 1, 2, 2]'
BUCKETS, TRAINED = 2, 4_000  # for each sequence on a street; boards
ACTIONS = "fcpa"  # of the local best response
LEAST = {"hands": 4, "deals": 2, "walkers": 1, "iterations": 1, "river": 0}
DRAWN = "estimate, drawn"
WAYS = (*METHODS, DRAWN)


@dataclass(frozen=True)
class Size:
    """How large an experiment is."""

    hands: int  # of each match
    deals: int  # of each local best response
    walkers: int  # of a deal, in each seat
    whole: float  # big blinds: matches are thinned below such a pot
    iterations: int | None = None  # of a solve; None: the usual ones


QUICK = Size(hands=1_600, deals=60, walkers=6, whole=5.0, iterations=40)
FULL = Size(hands=2_048, deals=48, walkers=4, whole=WHOLE)


def twelve_cards(seed: int) -> BlueprintAgent:
    """A blueprint that sees two buckets for each sequence of the street before."""
    tree = compile_actions(RULES, parse_menu(MENU))
    cards = percentile_abstraction(BUCKETS, "square", RULES.deck, RULES.board[1:])
    solver = make_blueprint(tree, cards, "pcs", seed=seed)
    solver.step(TRAINED)
    average = tuple(solver.averages(street) for street in range(RULES.rounds))
    strategy = BlueprintStrategy(RULES, tree.menu, tree, cards, average, {"iterations": TRAINED})
    return BlueprintAgent(strategy, name="blueprint")


def searching(base: BlueprintAgent, street: str, way: str, iterations: int | None) -> SearchingAgent:
    """The blueprint with one way to search."""
    method, spread = ("estimate", 1.0) if way == DRAWN else (way, 0.0)
    return SearchingAgent(base, SearchSettings(street, method, iterations=iterations, spread=spread))


def lost(agent: Answering, rules: Rules, size: Size, street: str, seed: int) -> Array:
    """What a local best response wins of an agent in each deal, mbb/g. float64 [deals]"""
    walk = Walk(Responder(agent, rules, ACTIONS, rules.streets.index(street)), size.walkers, seed)
    return np.array([sum(walk.deal(number)) for number in range(size.deals)]) * 500 / rules.big_blind


def run(full: bool, seed: int, **chosen: int) -> Report:
    """Every method; with `full` on `demo`."""
    for key, least in LEAST.items():
        if chosen.get(key, least) < least:
            raise InputError(f"search-methods: {key}={chosen[key]}: must be at least {least}")
    usual = FULL if full else QUICK
    size = Size(
        chosen.get("hands", usual.hands),
        chosen.get("deals", usual.deals),
        chosen.get("walkers", usual.walkers),
        usual.whole,
        chosen.get("iterations", usual.iterations),
    )
    street = "river" if chosen.get("river", 0) else "turn"
    base = make_agent("demo") if full else twelve_cards(seed)
    assert isinstance(base, BlueprintAgent)
    rows = [] if full else [new("blueprint: exploitability", quality(base.strategy).mbb_per_game, note="exact, mbb/g")]
    first = lost(base, base.rules, size, street, seed)
    rows.append(_row("blueprint: local best response", first))
    for way in WAYS:
        agent = searching(base, street, way, size.iterations)
        rows += compared(way, agent, base, first, size, seed)
    notes = (
        f"{base.rules.name}: search from the {street} on, {size.hands:,} hands against its own blueprint with AIVAT, "
        f"thinned by the pot; local best response with {ACTIONS} from the {street} on, {size.deals} deals of "
        f"{2 * size.walkers} hands, the same for all. mbb/g with 95 % intervals.",
        "A local best response is a lower bound on exploitability; below zero this opponent loses. No paper prints these.",
    )
    return Report(tuple(rows), notes)


def compared(way: str, agent: SearchingAgent, base: Agent, first: Array, size: Size, seed: int) -> list[Row]:
    """One method in both measures."""
    rules, street = agent.rules, agent.settings.street
    aivat = Aivat(agent, base, rules)
    match = play_match(agent, base, rules, size.hands, seed, aivat=aivat, thin=Thinning(street, size.whole))
    won, width = match.mbb_per_game, match.ci95
    note = f"{match.played or 0:,} hands played"
    after = lost(agent, rules, size, street, seed)
    return [
        new(f"{way}: won of the blueprint", won, (won - width, won + width), null=0.0, note=note),
        _row(f"{way}: local best response", after),
        _row(f"{way}: local best response, less than of the blueprint", first - after, null=0.0),
    ]


def _row(name: str, samples: Array, null: float | None = None) -> Row:
    known = Tally().plus(samples).interval()
    low, high = known.mean - known.half_width, known.mean + known.half_width
    return new(name, known.mean, (low, high), null=null, note=f"{known.count} deals")


EXPERIMENT = Experiment(
    "search-methods",
    "Search at the table: every method against its own blueprint, and against a local best response",
    "none: figures of ours",
    "2 min",
    "hours; in pieces with other seeds",
    run,
    ("hands", "deals", "walkers", "iterations", "river"),
)
