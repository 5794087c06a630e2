"""Endgames that a blueprint reaches in self-play (Ganzfried & Sandholm 2015): a database, refinements, and buckets.

`endgame-database` is section 3.3 of Ganzfried's thesis proposal: errors by size, play, and use as leaf values. Held-out
rivers are solved exactly. On a deck of 15 cards a solver of turns with sampled rivers either stops at the end of the
turn and reads the database, or continues on the river.

`endgame-refinements` reduces rivers to a few hands and solves them by linear programs: any equilibrium, an undominated
one, a quasi-perfect one. All have the same value against a best response; against an opponent who errs they differ. The
same rivers with all hands are solved with buckets: percentiles of equity against the opponent's actual range, and
against all hands.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

import numpy as np

from riverboat.abstraction.cards.percentile_buckets import percentile_buckets
from riverboat.cards.deck import HAND_CARDS
from riverboat.cards.ranges import Range
from riverboat.cards.ranking import hand_strengths
from riverboat.core.arrays import Array
from riverboat.core.blas import single_threaded_blas
from riverboat.core.errors import InputError
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.tables import table_block
from riverboat.games.boards.board_game import UnrolledBoardGame
from riverboat.games.holdem.menus import parse_menu
from riverboat.games.spots.spot import Spot
from riverboat.papers.endgames.search_methods import FIFTEEN_CARD_MENU, FIFTEEN_CARDS, train_small_blueprint
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.reached_rivers import make_base_agent
from riverboat.papers.rows import ComparisonRow, mean_row, new_row, theorem_row
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import engine_quality
from riverboat.solvers.exact.lp import LPSolution, quasi_perfect, solve_lp, undominated
from riverboat.solvers.exact.sequence_form import SequenceForm
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.database import database as endgames
from riverboat.subgames.database.database import EndgameDatabase, EndgameKey, ReachedStreet, StackLevelEntries
from riverboat.subgames.database.leaves import DatabaseLeafValues, RiverSampler, SampledRiverLeafValues
from riverboat.subgames.depth_limited.quality import StreetEvaluation
from riverboat.subgames.depth_limited.solver import (
    DepthLimitedSolver,
    ShowdownLeafValues,
    build_street_tree,
    has_later_betting,
)
from riverboat.trees.compile import compile_game

# --- Database ---

NUM_TIMED_ENTRIES = 100_000  # size of the database of timed look-ups
SOLVE_SECONDS = 1.5  # CPU time of a turn
TURN_LINE = "cc/cc/"


def river_key(river: ReachedStreet) -> EndgameKey:
    """Return the key of a river in the database."""
    return EndgameKey.from_river(river.board, river.pot, river.stack, river.ranges)


def value_errors(database: EndgameDatabase, rivers: list[ReachedStreet], solutions: list[Solution]) -> Array:
    """Return errors of the database's values on held-out rivers. float64 [rivers, 3]

    Columns: mean absolute error of a hand's value and absolute error of the game value, both in pots and averaged over
    seats, and the distance to the nearest entry. `solutions` are the exact ones.
    """
    out = []
    for river, solution in zip(rivers, solutions, strict=True):
        key, root = river_key(river), solution[""]
        match = database.nearest(key)
        values = database.hand_values(match, key)
        errors = []  # for each seat: mean error of a hand's value, and error of the game value
        for seat in (0, 1):
            exact, weight = root.ev(seat) / endgames.ENDGAME_POT, key.weight[seat]
            valid = (weight > 0) & ~np.isnan(exact) & ~np.isnan(values[seat])
            share = weight[valid] / weight[valid].sum()
            error = values[seat][valid] - exact[valid]
            errors.append((share @ np.abs(error), abs(share @ error)))
        out.append((*np.mean(errors, axis=0), match.distance))
    return np.array(out)


def database_exploitability(database: EndgameDatabase, river: ReachedStreet, solution: Solution) -> float:
    """Return the exploitability of the database's strategy on a river, in % of the pot.

    It is NaN if the nearest entry has another stack level. `solution` provides the tree of the river.
    """
    key = river_key(river)
    match, tree = database.nearest(key), solution.tree
    if match.stack_level != key.stack_level:
        return float("nan")
    table = np.zeros(len(solution.table), np.float32)
    forest = {int(n): f for f, n in enumerate(tree.forest.node)}
    betting = endgames.stack_level_betting(key.stack_level)
    for node in endgames.decision_columns(key.stack_level):
        seat, forest_node = int(betting.actor[node]), forest[node]
        at, width, rows = table_block(tree, 0, forest_node)
        hands = tree.representatives(0, seat)
        table[at : at + width * rows] = database.strategy(match, node, key.equity[seat][hands]).ravel()
    return engine_quality(CpuBoardEngine.from_average(tree, table)).exploitability


def time_lookups(database: EndgameDatabase, rivers: list[ReachedStreet]) -> dict[str, Array]:
    """Time queries of a large database that mixes the entries of this one, in microseconds. float64 [rivers] each

    Keys: `look-up`, with the database's distribution over stack levels; `look-up, one stack`, with all entries in one
    level; `key and values`, in the database itself, including the key and the values of all hands.
    """
    rng = np.random.default_rng(0)
    by_level = {
        level: _random_mixtures(entries.cdf, -(-NUM_TIMED_ENTRIES * len(entries) // len(database)), rng)
        for level, entries in database.entries_by_level.items()
    }
    mixtures = EndgameDatabase(by_level)
    all_cdfs = np.concatenate([entries.cdf for entries in database.entries_by_level.values()])
    single_level = _random_mixtures(all_cdfs, NUM_TIMED_ENTRIES, rng)
    keys = [river_key(river) for river in rivers]
    return {
        "look-up": _time_queries(lambda i: mixtures.nearest(keys[i]), len(keys)),
        "look-up, one stack": _time_queries(lambda i: single_level.nearest(keys[i].cdf), len(keys)),
        "key and values": _time_queries(lambda i: _look_up_values(database, rivers[i]), len(keys)),
    }


def _look_up_values(database: EndgameDatabase, river: ReachedStreet) -> Array:
    key = river_key(river)
    return database.hand_values(database.nearest(key), key)


def _random_mixtures(cdf: Array, count: int, rng: np.random.Generator) -> StackLevelEntries:
    """Return `count` indexed entries whose equity distributions are mixtures of random pairs; for timing only.

    cdf: float32 [entries, 2, steps]
    """
    first, second = (cdf[rng.integers(len(cdf), size=count)] for _ in range(2))
    share = rng.random((count, 1, 1)).astype(np.float32)
    mixture, values = share * first + (1 - share) * second, np.zeros((count, 2, 1), np.float32)
    entries = StackLevelEntries(mixture, values, np.zeros((count, 1, 1), np.uint8))
    _ = entries.index
    return entries


def _time_queries(query: Callable[[int], object], count: int) -> Array:
    """Return the microseconds of each query, the minimum of three runs."""
    times = np.empty((3, count))
    for row in times:
        for i in range(count):
            start_time = time.perf_counter()
            query(i)
            row[i] = 1e6 * (time.perf_counter() - start_time)
    least: Array = times.min(axis=0)
    return least


# --- Depth-limited solving of turns ---


def compare_turn_solvers(
    strategy: Blueprint, database: EndgameDatabase, count: int, seconds: float, seed: int
) -> dict[str, list[float]]:
    """Solve random turns of the small deck for the same time: with the database as leaf values, or through the river.

    Return exploitability in % of the pot and table sizes by name, one value for each turn.
    """
    rng = np.random.default_rng([seed, 3])
    results: dict[str, list[float]] = {}
    for _ in range(count):
        board = tuple(int(c) for c in np.sort(rng.choice(FIFTEEN_CARDS.deck.cards, 4, replace=False)))
        turn = StreetEvaluation.from_blueprint(strategy, TURN_LINE, board)
        states = [turn.street.states[node] for node in turn.street.leaves]
        own = turn.blueprint_strategy()
        turn_numbers = sum(2 * table.size for table in own.values())
        rivers = [
            build_street_tree(state.next_street(), FIFTEEN_CARD_MENU) for state in states if has_later_betting(state)
        ]
        rows = [sum(len(moves) for moves in tree.moves) for tree in (turn.street, *rivers)]
        coarse, coarse_river = max(turn_numbers // (4 * rows[0]), 1), max(turn_numbers // (4 * sum(rows[1:])), 1)
        depth_limited, continued, bucketed = [], [], []
        river_numbers = bucketed_numbers = 0
        for seat in (0, 1):
            sampler = RiverSampler(states, board, turn.hands, seat, seed=seed)
            all_hands = SampledRiverLeafValues(sampler, FIFTEEN_CARD_MENU)
            bucketed_leaves = SampledRiverLeafValues(sampler, FIFTEEN_CARD_MENU, coarse_river)
            depth_limited.append(_solve_turn(turn, DatabaseLeafValues(sampler, database), seconds))
            continued.append(_solve_turn(turn, all_hands, seconds))
            bucketed.append(_solve_turn(turn, bucketed_leaves, seconds, coarse))
            river_numbers = max(river_numbers, all_hands.table_size)
            bucketed_numbers = max(bucketed_numbers, bucketed_leaves.table_size)
        measured = {"blueprint (buckets on all streets), % of pot": turn.exploitability(turn.table)}
        for name, strategies in {
            "blueprint on the turn": [own, own],
            "stops and reads the library": depth_limited,
            "goes on in buckets with as many numbers": bucketed,
            "goes on with all hands": continued,
        }.items():
            solved = turn.with_nested_solutions(strategies)
            measured[f"{name}, rivers solved, % of pot"] = turn.exploitability(solved)
        measured |= {
            "numbers kept: stops": float(turn_numbers),
            "numbers kept: goes on in buckets": float(2 * rows[0] * coarse + bucketed_numbers),
            "numbers kept: goes on with all hands": float(turn_numbers + river_numbers),
            "buckets on the turn: goes on in buckets": float(coarse),
            "buckets on a river: goes on in buckets": float(coarse_river),
        }
        for name, value in measured.items():
            results.setdefault(name, []).append(value)
    return results


def _solve_turn(
    turn: StreetEvaluation,
    leaves: DatabaseLeafValues | SampledRiverLeafValues,
    seconds: float,
    buckets: int | None = None,
) -> dict[int, Array]:
    start_time, sampler = time.thread_time(), leaves.sampler
    with single_threaded_blas():
        rows = None if buckets is None else sampler.buckets(buckets)
        solver = DepthLimitedSolver(turn.street, turn.hands, turn.ranges, leaves, sampler.seat, rows)
        while time.thread_time() - start_time < seconds:
            solver.step(2)
    return solver.average_strategies()[0]


def run_database(full: bool, seed: int) -> ExperimentReport:
    """Measure errors, play, speed and leaf values of a database of 160 endgames; with `full`, of 4,000."""
    strategy = make_base_agent(seed).strategy
    sizes = (125, 250, 500, 1000, 2000, 4000) if full else (20, 40, 80, 160)
    held_out, count, seconds = (100, 12, 4 * SOLVE_SECONDS) if full else (15, 2, SOLVE_SECONDS)
    source = endgames.sample_reached_streets(strategy, [seed, 0])
    entries = endgames.solve_rivers(list(islice(source, sizes[-1])), strategy)
    rivers = list(islice(endgames.sample_reached_streets(strategy, [seed, 1]), held_out))
    spots = [endgames.endgame_spot(river_key(r).stack_level, r.board, r.ranges) for r in rivers]
    solutions = solve_many(spots, iterations=600, until=0.2, check_every=20)
    rows = []
    for size in sizes:
        errors = 100 * value_errors(EndgameDatabase.from_entries(entries[:size]), rivers, solutions)
        note = f"of the game {errors[:, 1].mean():.2f}, distance {errors[:, 2].mean() / 100:.3f}"
        rows.append(mean_row(f"{size:,} endgames: error of a hand's value, % of pot", errors[:, 0], note=note))
    curve = Curve("error of a hand's value (% of pot)", sizes, [row.ours for row in rows])
    database = EndgameDatabase.from_entries(entries)
    exploitability = np.array([database_exploitability(database, r, s) for r, s in zip(rivers, solutions, strict=True)])
    uniform = [
        engine_quality(CpuBoardEngine.from_average(s.tree, np.ones(len(s.table), np.float32))).exploitability
        for s in solutions
    ]
    solved = [s.provenance["exploitability"] for s in solutions]
    rows += [
        new_row("played by the nearest endgame: exploitability, % of pot", np.nanmean(exploitability)),
        new_row("every move alike: exploitability, % of pot", np.mean(uniform)),
        new_row("solved: exploitability, % of pot", np.mean(solved)),
    ]
    for name, micros in time_lookups(database, rivers).items():
        size_label = f"among {len(database):,} endgames" if "key" in name else f"among {NUM_TIMED_ENTRIES:,} endgames"
        note = f"at most {micros.max():.0f}"
        rows.append(new_row(f"{name} {size_label}, microseconds (median)", np.median(micros), note=note))
    rows += _turn_rows(count, seconds, seed, 400 if full else 60)
    notes = format_notes(
        "endgame-database", held_out=held_out, count=count, line=TURN_LINE, seconds=seconds, timed=NUM_TIMED_ENTRIES
    )

    return ExperimentReport(rows, notes, (curve,))


def _turn_rows(count: int, seconds: float, seed: int, entries: int) -> list[ComparisonRow]:
    strategy = train_small_blueprint(40_000, seed)
    rivers = list(islice(endgames.sample_reached_streets(strategy, [seed, 4]), entries))
    database = EndgameDatabase.from_entries(endgames.solve_rivers(rivers, strategy))
    results = compare_turn_solvers(strategy, database, count, seconds, seed)
    return [new_row(f"turn: {name}", np.mean(values)) for name, values in results.items()]


# --- Refinements and buckets ---

NUM_HANDS = 6  # hands of each player in a small endgame
LP_NOISE = 1e-6  # numerical error of the linear programs, % of the pot
MENU = parse_menu('preflop = ["50%, 100%, a", "100%, a", "a"]')
OPPONENT_NAMES = ("uniform", "errs one time in ten", "calls too much")
BUCKET_COUNTS = (5, 10, 20, 40, 80)
ITERATIONS = 150


def small_river_spot(river: ReachedStreet, rng: np.random.Generator) -> Spot:
    """Return a river with `NUM_HANDS` hands of each player, drawn by their weights, and a pot of 100."""
    hand_ranges = []
    for weights in river.ranges:
        hands = rng.choice(len(weights), NUM_HANDS, replace=False, p=weights / weights.sum())
        hand_ranges.append(Range(np.isin(np.arange(len(weights)), hands).astype(float)))
    stack = int(np.clip(round(100 * river.stack / river.pot), 50, 400))
    oop, ip = hand_ranges
    return Spot.make(board=river.board, pot=100, stack=stack, oop=oop, ip=ip, bets="50%, a", raise_cap=1)


def weak_opponents(form: SequenceForm, equilibrium: Strategy) -> dict[str, Strategy]:
    """Return opponents who err, keyed by `OPPONENT_NAMES`: strategies of both seats."""
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
    """Compare refinements with the plain equilibrium against weak opponents; also return the number of rivers."""
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
    """Return a player's expected winnings against an opponent's plans for both seats, in chips for a pot of 100."""
    plans = (mine.plans[0], theirs[1]) if player == 0 else (theirs[0], mine.plans[1])
    value = form.value(*plans)
    return value if player == 0 else 2 * form.half_sum - value


# --- Buckets ---


def bucketed_exploitability(strategy: Blueprint, river: ReachedStreet, count: int | None, actual_range: bool) -> float:
    """Return the exploitability of a river solved with `count` buckets for each player, in % of the pot.

    `count` None solves all hands. Buckets are by equity against the opponent's range with `actual_range`, else against
    all hands.
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
        equity, weight = endgames.equities(
            river.board, river.ranges if actual_range else (live.astype(float),) * 2, deck
        )
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
    """Measure exploitability by number of buckets, with equity against the actual range and against all hands."""
    exact = float(np.mean([bucketed_exploitability(strategy, river, None, True) for river in rivers]))
    rows, curves = [new_row("all hands, exploitability after as many iterations, % of pot", exact)], []
    for title, actual in (("against the actual range", True), ("against all hands", False)):
        losses = []
        for count in counts:
            losses.append(np.mean([bucketed_exploitability(strategy, river, count, actual) for river in rivers]))
            rows.append(new_row(f"{count} buckets of equity {title}, exploitability, % of pot", losses[-1]))
        curves.append(Curve(title, counts, losses, "exploitability (% of pot) by buckets"))
    return rows, curves


def run_refinements(full: bool, seed: int) -> ExperimentReport:
    """Compare equilibrium refinements and bucket counts on a few rivers reached in self-play; with `full`, on more."""
    strategy = make_base_agent(seed).strategy
    source = endgames.sample_reached_streets(strategy, [seed, 2])
    rivers = [next(source) for _ in range(60 if full else 12)]
    rows, num_rivers = refinement_rows(rivers, seed)
    chosen, counts = (rivers[:10], BUCKET_COUNTS) if full else (rivers[:3], BUCKET_COUNTS[::2])
    bucket_results, curves = bucket_rows(strategy, chosen, counts)
    notes = format_notes("endgame-refinements", num_rivers=num_rivers, num_hands=NUM_HANDS, iterations=ITERATIONS)
    return ExperimentReport((*rows, *bucket_results), notes, curves)
