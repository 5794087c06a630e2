"""Depth-limited search on a small deck: exploitability of what it plays, with exits valued in four ways at equal time.

The game is no-limit hold'em with 15 cards, 15 big blinds deep. A blueprint of three percentile buckets for each bucket of the
street before is trained; on some flops both seats search. Everything that follows is small enough to be walked, so that best
responses are exact, as is what the searched street wins of the blueprint.
"""

from __future__ import annotations

import time

import numpy as np

from riverboat.abstraction.cards.perfect_recall import percentile_abstraction
from riverboat.agents.blueprint import BlueprintAgent
from riverboat.agents.search import SearchingAgent
from riverboat.cards.notation import show_cards
from riverboat.compiled.blas import one_thread
from riverboat.core.arrays import Array
from riverboat.evaluation.matches.aivat import Aivat
from riverboat.evaluation.matches.match import play_match
from riverboat.games.holdem.action_tree import compile_actions
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.holdem.rules import Rules
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, finding, new
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.subgames.depth_limited.gadgets import gadget_solver
from riverboat.subgames.depth_limited.leaf_baselines import Learnt
from riverboat.subgames.depth_limited.leaf_methods import Street, exit_values
from riverboat.subgames.depth_limited.leaf_regression import learn
from riverboat.subgames.depth_limited.quality import Flop
from riverboat.subgames.depth_limited.rollouts import SHOWN, Exit, groups_of
from riverboat.subgames.depth_limited.street_game import goes_on
from riverboat.subgames.search.search import SearchSettings

GAME = Rules(blinds=(100, 50), stacks=(1_500, 1_500), board=(0, 3, 1, 1), ranks=5, suits=3, name="15 cards")
MENU = parse_menu('preflop = ["2.5x", "a"]\nflop = ["100%, a", "a"]\nmost_raises = [2, 2, 2, 2]')
LINES = ("cc/", "cr250c/")
SECONDS = 0.25  # of a processor for a searched street
LEARNT_FROM = 60  # solved turns
DEALS = 400_000  # of the blueprint's training
HANDS = 400  # of a match
SAMPLED = 24  # runouts, with one continuation four times as many
FULL_ITERATIONS = 150
WAYS = {  # how exits are valued, and what stands in front of the street
    "four continuations": ("continuations", "unsafe"),
    "simulation": ("simulation", "unsafe"),
    "table from the blueprint": ("table", "unsafe"),
    "learnt value": ("learnt", "unsafe"),
    "four continuations, re-solved": ("continuations", "resolve"),
    "four continuations, maxmargin": ("continuations", "maxmargin"),
}


def blueprint(deals: int, seed: int) -> BlueprintStrategy:
    """A coarse blueprint of the small game."""
    tree = compile_actions(GAME, MENU)
    cards = percentile_abstraction(3, "square", GAME.deck, GAME.board[1:])
    solver = Blueprint(tree, cards, seed=seed)
    solver.step(deals)
    tables = tuple(solver.tables.strategies(street) for street in range(GAME.rounds))
    return BlueprintStrategy(GAME, MENU, tree, cards, tables, {"iterations": solver.iterations})


def exits(flop: Flop) -> list[Exit]:
    """Where the street ends; bets are all the blueprint's own."""
    out = []
    for node in flop.street.exits:
        state = flop.street.states[node]
        place = flop.strategy.tree.find(state.next_street().line) if goes_on(state) else SHOWN
        out.append(Exit(place, float(state.pot)))
    return out


# --- the comparison ---------------------------------------------------------------------------------


def _board(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(c) for c in np.sort(rng.choice(GAME.deck.cards, 3, replace=False)))


def searched(
    flop: Flop,
    kind: str,
    seconds: float | None,
    *,
    model: Learnt,
    runouts: int | None = SAMPLED,
    method: str = "unsafe",
) -> list[dict[int, Array]]:
    """The street of each seat: values and iterations take so much of a processor together, or as many as it takes."""
    ends, groups = (
        exits(flop),
        groups_of(flop.strategy, flop.board, flop.hands, 1),
    )  # on so small a deck each hand is one
    street = Street(
        flop.strategy, flop.street, ends, flop.board, flop.hands, (flop.ranges[0], flop.ranges[1]), flop.blueprint_play
    )
    plays = []
    for seat in (0, 1):
        began = time.thread_time()
        with one_thread():
            leaves = exit_values(kind, street, seat, runouts=runouts, groups=groups, model=model)
            solver, _ = gadget_solver(method, flop.street, flop.hands, flop.ranges, leaves, seat, flop.blueprint_play)
            solver.step(2)
            while solver.iterations < FULL_ITERATIONS if seconds is None else time.thread_time() - began < seconds:
                solver.step(2)
        plays.append(solver.averages()[0])
    return plays


def compare(
    strategy: BlueprintStrategy, flops: int, seconds: float, seed: int
) -> tuple[list[Row], dict[str, list[float]]]:
    """All ways on the same flops."""
    rng = np.random.default_rng([seed, 1])
    model = learn(strategy, LEARNT_FROM, seed)
    figures: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        figures.setdefault(name, []).append(value)

    for number in range(flops):
        flop = Flop.of(strategy, LINES[number % len(LINES)], _board(rng))
        note("blueprint", flop.exploitability(flop.table))
        own = flop.blueprint_play()
        note("blueprint on the flop, then solved", flop.exploitability(flop.nested([own, own], FULL_ITERATIONS)))
        note("all streets solved", flop.exploitability(flop.solved(None, FULL_ITERATIONS)))
        exact = searched(flop, "continuations", None, model=model, runouts=None)
        note("four continuations, nothing sampled", flop.exploitability(flop.nested(exact, FULL_ITERATIONS)))
        for name, (kind, method) in WAYS.items():
            plays = searched(flop, kind, seconds, model=model, method=method)
            after = flop.nested(plays, FULL_ITERATIONS)
            note(f"{name}", flop.exploitability(after))
            note(f"{name}, then the blueprint", flop.exploitability(flop.played(plays)))
            note(f"{name}: won of the blueprint", flop.earned(after))
    rows = []
    for name, numbers in figures.items():
        half = 1.96 * float(np.std(numbers, ddof=1)) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0
        mean = float(np.mean(numbers))
        rows.append(new(f"{name}, % of pot", mean, (mean - half, mean + half)))
    return rows, figures


def matches(strategy: BlueprintStrategy, hands: int, seed: int) -> list[Row]:
    """Each way at the table against the blueprint: `search=flop&leaves=`, later streets solved."""
    base, rows = BlueprintAgent(strategy, name="blueprint", seed=seed), []
    for name, (kind, method) in WAYS.items():
        agent = SearchingAgent(base, SearchSettings("flop", method, leaves=kind))
        played = play_match(agent, base, GAME, hands, seed, aivat=Aivat(agent, base, GAME))
        won, half = played.mbb_per_game, played.ci95
        note = f"{played.hands:,} duplicate hands, AIVAT"
        rows.append(
            new(f"match, {name}: won of the blueprint, mbb/g", won, (won - half, won + half), null=0.0, note=note)
        )
    return rows


def run(full: bool, seed: int) -> Report:
    """A few flops; with `full` more of them, and more time for each."""
    flops, seconds = (24, 4 * SECONDS) if full else (4, SECONDS)
    strategy = blueprint(DEALS, seed)
    rows, figures = compare(strategy, flops, seconds, seed)
    rows += matches(strategy, 10 * HANDS if full else HANDS, seed)
    base, mine = (float(np.mean(figures[name])) for name in ("blueprint", "four continuations"))
    rows.insert(
        0,
        finding(
            "exploitability with four continuations over the blueprint's, at most half", 0.5, mine / base, "<=",
            note="the flop searched, later streets solved for its ranges",
        ),
    )  # fmt: skip
    first = _board(np.random.default_rng([seed, 1]))
    notes = (
        f"15 cards (five ranks, three suits), 15 big blinds; {flops} flops, the first one "
        f"{show_cards(first)}. Exploitability is half of what "
        "both seats could gain by exact best responses from the flop on, where both come with the blueprint's ranges.",
        f"Each searched street takes {seconds:g} s of a processor, values of exits included. Without further "
        "words later streets are solved for the ranges that the "
        "search leads to, as search=flop does at the table; `then the blueprint`: they are left to it.",
        "Won of the blueprint: the mean over both seats, exact: a match without luck. Intervals are over flops.",
        f"The learnt value is a polynomial with 16 weights, fitted to {LEARNT_FROM} turns that were solved "
        "for ranges around the blueprint's; that time is not counted.",
        "Re-solved and maxmargin: with a gadget in front of the flop, whose values come from the same exits.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "midgame-leaves",
    "Depth-limited search on a small deck: exits valued in four ways",
    "Brown, Sandholm & Amos 2018, in kind: theirs is heads-up no-limit hold'em",
    "3 min",
    "40 min",
    run,
)
