"""Equilibria of small endgames that are refined, in play against plain ones; and buckets made for the endgame.

Rivers that a blueprint reaches, cut down to a few hands, are solved by linear programs: any equilibrium, an undominated one,
a quasi-perfect one. All have the same value against an opponent who does its best; against one who errs they do not.
The same rivers with all hands are solved with hands in buckets: percentiles of equity against the opponent's actual range,
for each player apart, and against all hands alike.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.small.percentile import percentile_buckets
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.compiled.blas import one_thread
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.unrolled import Unrolled
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.spots.spot import Spot
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.reached_rivers import base_agent
from riverboat.papers.rows import Row, new, theorem
from riverboat.solvers.exact.lp import LPSolution, quasi_perfect, solve_lp, undominated
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.database.build import Reached, reached
from riverboat.subgames.database.database import equities
from riverboat.subgames.depth_limited.street_game import ShownLeaves, StreetSolver, street_tree
from riverboat.trees.compile import compile_game

HANDS = 6  # of each player in a small endgame
NOISE = 1e-6  # of the linear programs, % of the pot
MENU = parse_menu('preflop = ["50%, 100%, a", "100%, a", "a"]')
OPPONENTS = ("uniform", "errs one time in ten", "calls too much")
COUNTS = (5, 10, 20, 40, 80)
ITERATIONS = 150


# --- refinements ----------------------------------------------------------------------------------


def small(river: Reached, rng: np.random.Generator) -> Spot:
    """A river with a few hands of each player, drawn by their weights; a pot of 100."""
    held = []
    for weights in river.ranges:
        some = rng.choice(len(weights), HANDS, replace=False, p=weights / weights.sum())
        few = np.zeros(len(weights))
        few[some] = 1.0
        held.append(Range(few))
    stack = int(np.clip(round(100 * river.stack / river.pot), 50, 400))
    return Spot.make(board=river.board, pot=100, stack=stack, oop=held[0], ip=held[1], bets="50%, a", raise_cap=1)


def opponents(form: SequenceForm, equilibrium: Strategy) -> dict[str, Strategy]:
    """Players who err."""
    tree = form.tree
    uniform = Strategy.uniform(tree)
    calls = uniform.probabilities.copy()
    for row in tree.infosets():
        if "c" in row.actions:
            weights = np.array([4.0 if move == "c" else 1.0 for move in row.actions])
            calls[row.offset + row.stride * np.arange(len(weights))] = weights / weights.sum()
    mixed = 0.9 * equilibrium.probabilities + 0.1 * uniform.probabilities
    return dict(zip(OPPONENTS, (uniform, Strategy(tree, mixed), Strategy(tree, calls)), strict=True))


def refined(rivers: list[Reached], seed: int) -> tuple[list[Row], int]:
    """All refinements on all rivers: what they win more than the plain one, of who errs."""
    rng, played = np.random.default_rng(seed), 0
    gains: dict[tuple[str, str], list[float]] = {}
    gaps: dict[str, list[float]] = {}
    for river in rivers:
        try:
            tree = compile_game(Unrolled.of(small(river, rng)), constant_sum=True)
        except InputError:  # the hands drawn exclude each other
            continue
        form, plain = SequenceForm(tree), solve_lp(tree)
        kinds: dict[str, LPSolution] = {"undominated": undominated(tree), "quasi-perfect": quasi_perfect(tree)}
        for name, kind in kinds.items():
            gaps.setdefault(name, []).append(kind.gap / 2)
        for who, strategy in opponents(form, plain.strategy).items():
            theirs = form.plans(strategy)
            for name, kind in kinds.items():
                won = [_won(form, p, s, theirs) for s in (kind, plain) for p in (0, 1)]
                gains.setdefault((name, who), []).append((won[0] + won[1] - won[2] - won[3]) / 2)
        played += 1
    rows = [
        theorem("undominated: exploitability, % of pot, at most", 0.0, max(gaps["undominated"]), rounding=NOISE),
        new("quasi-perfect: exploitability, % of pot, on average", float(np.mean(gaps["quasi-perfect"]))),
    ]
    for (name, who), more in gains.items():
        mean, half = float(np.mean(more)), 1.96 * float(np.std(more, ddof=1)) / len(more) ** 0.5
        rows.append(
            new(f"{name}, opponent {who}: won more than plain, % of pot", mean, (mean - half, mean + half), null=0.0)
        )
    return rows, played


def _won(form: SequenceForm, player: int, mine: LPSolution, theirs: tuple[Array, Array]) -> float:
    """What a player wins of an opponent, chips of a pot of 100."""
    plans = (mine.plans[0], theirs[1]) if player == 0 else (theirs[0], mine.plans[1])
    value = form.value(*plans)
    return value if player == 0 else 2 * form.half - value


# --- buckets ----------------------------------------------------------------------------------------


def bucketed(strategy: BlueprintStrategy, river: Reached, count: int | None, actual: bool) -> float:
    """Exploitability of a river solved with so many buckets for each player, in % of the pot; None: all hands."""
    deck = strategy.rules.deck
    hands = np.flatnonzero(~np.isin(HAND_CARDS, river.board).any(axis=1))
    state = Betting.from_line(strategy.rules, river.line)
    tree = street_tree(state, MENU)
    rank = hand_strengths(river.board, deck)[hands]
    ranges = [w[hands] / w.max() for w in river.ranges]
    pots = np.array([tree.states[node].pot for node in tree.exits], float)
    buckets = None
    if count is not None:
        live = np.zeros(len(river.ranges[0]))
        live[hands] = 1.0
        equity, weight = equities(river.board, river.ranges if actual else (live, live), deck)
        buckets = [_percentiles(equity[seat][hands], weight[seat][hands], count) for seat in (0, 1)]
    with one_thread():
        solver = StreetSolver(tree, hands, ranges, ShownLeaves(hands, rank, pots), 0, buckets)
        solver.step(ITERATIONS)
        return 100 * solver.exploitability() / state.pot


def _percentiles(equity: Array, weight: Array, count: int) -> Array:
    """Hands by equity, in parts of equal weight; hands that nobody holds go with their neighbours. int64 [hands]"""
    known = np.nan_to_num(equity, nan=0.5)
    return percentile_buckets(known, np.maximum(weight, 1e-9 * weight.max()), None, count)


def by_buckets(
    strategy: BlueprintStrategy, rivers: list[Reached], counts: tuple[int, ...]
) -> tuple[list[Row], list[Curve]]:
    """Loss by number of buckets, against the actual range and against all hands."""
    exact = float(np.mean([bucketed(strategy, river, None, True) for river in rivers]))
    rows, curves = [new("all hands, exploitability after as many iterations, % of pot", exact)], []
    for title, actual in (("against the actual range", True), ("against all hands", False)):
        losses = []
        for count in counts:
            each = [bucketed(strategy, river, count, actual) for river in rivers]
            losses.append(float(np.mean(each)))
            rows.append(new(f"{count} buckets of equity {title}, exploitability, % of pot", losses[-1]))
        curves.append(Curve(title, tuple(map(float, counts)), tuple(losses), "exploitability (% of pot) by buckets"))
    return rows, curves


def run(full: bool, seed: int) -> Report:
    """A few rivers; with `full` more of them."""
    strategy = base_agent(seed).strategy
    source = reached(strategy, [seed, 2])
    rivers = [next(source) for _ in range(60 if full else 12)]
    rows, played = refined(rivers, seed)
    more, curves = by_buckets(strategy, rivers[: 10 if full else 3], COUNTS if full else COUNTS[::2])
    notes = (
        f"Refinements: {played} rivers that the blueprint reaches, {HANDS} hands of each player drawn from "
        "its range, a bet of half the pot, all-in and one raise. "
        "What is won is exact, the mean over both seats; intervals are over rivers.",
        "Quasi-perfect: every sequence of n moves is played at least 0.001^n times by both, and what was "
        "only played for that is taken out.",
        f"Buckets: all hands, bets of half a pot, a pot and all-in, {ITERATIONS} iterations; the strategy "
        "plays by bucket, best responses see all hands.",
    )
    return Report((*rows, *more), notes, tuple(curves))


EXPERIMENT = Experiment(
    "endgame-refinements",
    "Refined equilibria of small endgames in play, and buckets made for the endgame",
    "Ganzfried & Sandholm 2015, sections 3 and 4, in kind",
    "1 min",
    "10 min",
    run,
)
