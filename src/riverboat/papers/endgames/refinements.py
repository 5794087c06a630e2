"""Refined equilibria of small endgames against weak opponents, and card abstraction for one endgame.

Rivers that a blueprint reaches, reduced to a few hands, are solved by linear programs: any equilibrium, an undominated
one, a quasi-perfect one. All have the same value against a best response; against an opponent who errs they differ. The
same rivers with all hands are solved with buckets: percentiles of equity against the opponent's actual range, and
against all hands.
"""

from __future__ import annotations

import numpy as np

from riverboat.abstraction.cards.percentile_buckets import percentile_buckets
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.compiled.blas import single_threaded_blas
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.spots.spot import Spot
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.reached_rivers import make_base_agent
from riverboat.papers.rows import ComparisonRow, mean_row, new_row, theorem_row
from riverboat.solvers.exact.lp import LPSolution, quasi_perfect, solve_lp, undominated
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.database.database import ReachedStreet, equities, sample_reached_streets
from riverboat.subgames.depth_limited.solver import DepthLimitedSolver, ShowdownLeafValues, build_street_tree
from riverboat.trees.compile import compile_game

NUM_HANDS = 6  # hands of each player in a small endgame
LP_NOISE = 1e-6  # numerical error of the linear programs, % of the pot
MENU = parse_menu('preflop = ["50%, 100%, a", "100%, a", "a"]')
OPPONENT_NAMES = ("uniform", "errs one time in ten", "calls too much")
BUCKET_COUNTS = (5, 10, 20, 40, 80)
ITERATIONS = 150


# --- Refinements ---


def small_river_spot(river: ReachedStreet, rng: np.random.Generator) -> Spot:
    """Return a river with a few hands of each player, drawn by their weights, and a pot of 100."""
    hand_ranges = []
    for weights in river.ranges:
        hands = rng.choice(len(weights), NUM_HANDS, replace=False, p=weights / weights.sum())
        hand_ranges.append(Range(np.isin(np.arange(len(weights)), hands).astype(float)))
    stack = int(np.clip(round(100 * river.stack / river.pot), 50, 400))
    oop, ip = hand_ranges
    return Spot.make(board=river.board, pot=100, stack=stack, oop=oop, ip=ip, bets="50%, a", raise_cap=1)


def weak_opponents(form: SequenceForm, equilibrium: Strategy) -> dict[str, Strategy]:
    """Return strategies of opponents who err, by name."""
    tree = form.tree
    uniform = Strategy.uniform(tree)
    calls = uniform.probabilities.copy()
    for row in tree.infosets():
        if "c" in row.actions:
            weights = np.array([4.0 if move == "c" else 1.0 for move in row.actions])
            calls[row.offset + row.stride * np.arange(len(weights))] = weights / weights.sum()
    mixed = 0.9 * equilibrium.probabilities + 0.1 * uniform.probabilities
    return dict(zip(OPPONENT_NAMES, (uniform, Strategy(tree, mixed), Strategy(tree, calls)), strict=True))


def refinement_rows(rivers: list[ReachedStreet], seed: int) -> tuple[list[ComparisonRow], int]:
    """Compare refinements with the plain equilibrium against weak opponents, on all rivers."""
    rng = np.random.default_rng(seed)
    gains: dict[tuple[str, str], list[float]] = {}
    gaps: dict[str, list[float]] = {}
    for river in rivers:
        try:
            tree = compile_game(UnrolledBoardGame.from_game(small_river_spot(river, rng)), constant_sum=True)
        except InputError:  # the drawn hands exclude each other
            continue
        form, plain = SequenceForm(tree), solve_lp(tree)
        kinds: dict[str, LPSolution] = {"undominated": undominated(tree), "quasi-perfect": quasi_perfect(tree)}
        for name, kind in kinds.items():
            gaps.setdefault(name, []).append(kind.gap / 2)
        for opponent, strategy in weak_opponents(form, plain.strategy).items():
            plans = form.plans(strategy)
            for name, kind in kinds.items():
                won = [_expected_winnings(form, p, s, plans) for s in (kind, plain) for p in (0, 1)]
                gains.setdefault((name, opponent), []).append((won[0] + won[1] - won[2] - won[3]) / 2)
    rows = [
        theorem_row("undominated: exploitability, % of pot, at most", 0.0, max(gaps["undominated"]), rounding=LP_NOISE),
        new_row("quasi-perfect: exploitability, % of pot, on average", np.mean(gaps["quasi-perfect"])),
    ]
    rows += [
        mean_row(f"{name}, opponent {opponent}: won more than plain, % of pot", differences, null=0.0)
        for (name, opponent), differences in gains.items()
    ]
    return rows, len(gaps["undominated"])


def _expected_winnings(form: SequenceForm, player: int, mine: LPSolution, theirs: tuple[Array, Array]) -> float:
    """Return a player's winnings against an opponent, in chips for a pot of 100."""
    plans = (mine.plans[0], theirs[1]) if player == 0 else (theirs[0], mine.plans[1])
    value = form.value(*plans)
    return value if player == 0 else 2 * form.half_sum - value


# --- Buckets ---


def bucketed_exploitability(strategy: Blueprint, river: ReachedStreet, count: int | None, actual_range: bool) -> float:
    """Return the exploitability of a river solved with `count` buckets for each player, in % of the pot.

    None for all hands.
    """
    deck = strategy.rules.deck
    live = ~np.isin(HAND_CARDS, river.board).any(axis=1)
    hands = np.flatnonzero(live)
    state = strategy.tree.state(river.node)
    tree = build_street_tree(state, MENU)
    rank = hand_strengths(river.board, deck)[hands]
    ranges = [w[hands] / w.max() for w in river.ranges]
    pots = np.array([tree.states[node].pot for node in tree.leaves], float)
    buckets = None
    if count is not None:
        equity, weight = equities(river.board, river.ranges if actual_range else (live.astype(float),) * 2, deck)
        buckets = [_percentile_labels(equity[seat][hands], weight[seat][hands], count) for seat in (0, 1)]
    with single_threaded_blas():
        solver = DepthLimitedSolver(tree, hands, ranges, ShowdownLeafValues(hands, rank, pots), 0, buckets)
        solver.step(ITERATIONS)
        return 100 * solver.exploitability() / state.pot


def _percentile_labels(equity: Array, weight: Array, count: int) -> Array:
    """Assign hands to equity percentiles of equal weight; hands outside the range go with their neighbours.

    int64 [hands]
    """
    finite_equity = np.nan_to_num(equity, nan=0.5)
    return percentile_buckets(finite_equity, np.maximum(weight, 1e-9 * weight.max()), None, count)


def bucket_rows(
    strategy: Blueprint, rivers: list[ReachedStreet], counts: tuple[int, ...]
) -> tuple[list[ComparisonRow], list[Curve]]:
    """Measure the loss by number of buckets, with equity against the actual range and against all hands."""
    exact = float(np.mean([bucketed_exploitability(strategy, river, None, True) for river in rivers]))
    rows, curves = [new_row("all hands, exploitability after as many iterations, % of pot", exact)], []
    for title, actual in (("against the actual range", True), ("against all hands", False)):
        losses = []
        for count in counts:
            losses.append(np.mean([bucketed_exploitability(strategy, river, count, actual) for river in rivers]))
            rows.append(new_row(f"{count} buckets of equity {title}, exploitability, % of pot", losses[-1]))
        curves.append(Curve(title, counts, losses, "exploitability (% of pot) by buckets"))
    return rows, curves


def run(full: bool, seed: int) -> ExperimentReport:
    """Measure a few rivers; with `full` more of them."""
    strategy = make_base_agent(seed).strategy
    source = sample_reached_streets(strategy, [seed, 2])
    rivers = [next(source) for _ in range(60 if full else 12)]
    rows, num_rivers = refinement_rows(rivers, seed)
    chosen, counts = (rivers[:10], BUCKET_COUNTS) if full else (rivers[:3], BUCKET_COUNTS[::2])
    bucket_results, curves = bucket_rows(strategy, chosen, counts)
    notes = format_notes("endgame-refinements", num_rivers=num_rivers, num_hands=NUM_HANDS, iterations=ITERATIONS)
    return ExperimentReport((*rows, *bucket_results), notes, curves)
