"""Hold'em rivers by threshold strategies: coverage of qualitative models, losses, and solving times."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from riverboat.continuous import holdem
from riverboat.continuous.holdem import RankDistribution, RiverBetting, RiverThresholdPlayer
from riverboat.continuous.proposals import solve_discretized
from riverboat.continuous.signals import uniform
from riverboat.continuous.solver import solve as solve_game
from riverboat.continuous.solver import solve_model
from riverboat.continuous.strategies import QualitativeModel
from riverboat.core.arrays import Array
from riverboat.engines.tables import table_block
from riverboat.papers import reached_rivers
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.reached_rivers import LIMIT_SIZES, POT, RIVERS_PER_TURN, SampledRiver
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, mean_row, new_row
from riverboat.solvers.boards.cfr import BoardCFR
from riverboat.strategies.solution import Solution
from riverboat.trees.boards import BoardTree

PATIENT_STAGES = 40  # stages of Newton's method where the time does not matter: checks of whether a model applies
MAX_FALLBACK_RIVERS = 10  # rivers without a model for which models are proposed anew
EPSILON_TOLERANCE = 0.005  # a model applies if its certified ε is at most this share of the pot
# A player bluff-raises with its weakest hands, or with the best of those that would otherwise fold.
BLUFF_RAISES = {"weakest": "r f c r", "best folds": "f r c r"}
TRIED_COVERAGE = "all eight models, and twice the tolerance: still not all; the rest mostly have models with more bands"
MODELS = {
    f"{root} / {name}": (root, raises)
    for root in ("b x b x", "b x b x b", "b x b", "x")
    for name, raises in BLUFF_RAISES.items()
}


AGAINST_BASE = "against the base agent, % of pot a hand"
# Our shares with `full` at the time, by source; the proposal prints no tolerance.
COVERAGE_DIFFERENCES = {
    source: ExplainedDifference(at, within=0.02, tried=TRIED_COVERAGE)
    for source, at in {"turns, limit": 0.927, "matches, limit": 0.817}.items()
}


def make_river_player(betting: RiverBetting) -> RiverThresholdPlayer:
    """Make a threshold player with all `MODELS`; Newton's method starts at their thresholds for uniform signals."""
    game = betting.game(uniform())
    discretized = solve_discretized(game, 60)
    models = []
    for name, (root, raises) in MODELS.items():
        bands = {"root": root, "x": "b x b", "x-b": raises, "x-b-r": "f c", "b": raises, "b-r": "f c"}
        solution = solve_model(game, QualitativeModel.from_words(game, bands, name=name), discretized=discretized)
        models.append((solution.model, solution.profile.cuts))
    return RiverThresholdPlayer(betting, models)


def exploitability_percent(solution: Solution) -> float:
    """Return the exact exploitability of a river solution, with card removal, in % of the pot."""
    return 100 * (solution.expected_value(0, respond=True) + solution.expected_value(1, respond=True) - POT) / 2 / POT


def win_rate_percent(tree: BoardTree, ours: Solution, theirs: Solution) -> float:
    """Return the expected winnings of `ours` against `theirs`, averaged over both seats, in % of the pot."""
    total, cut = 0.0, int(tree.boards.base[0, 1])
    for seat in (0, 1):
        first, second = (ours, theirs) if seat == 0 else (theirs, ours)
        table = np.concatenate([_decode_table(first, tree)[:cut], _decode_table(second, tree)[cut:]])
        total += Solution(tree, table).expected_value(seat) - POT / 2
    return 100 * total / 2 / POT


def _decode_table(solution: Solution, tree: BoardTree) -> Array:
    """Return a solution's table as probabilities. float64 [tree.table_size]"""
    out = np.zeros(tree.table_size)
    for node in np.flatnonzero(tree.forest.actor >= 0).tolist():
        at, width, rows = table_block(tree, 0, node)
        out[at : at + width * rows] = solution.node_strategy(0, node).ravel()
    return out


def solve_exactly(tree: BoardTree, until: float) -> tuple[Solution, float]:
    """Solve a river by DCFR until its exploitability is at most `until` % of the pot; also return the CPU seconds."""
    start_time = time.process_time()
    solver = BoardCFR(tree, "dcfr:alpha=1.4,beta=0.25,gamma=3")
    while solver.iteration < 2000:
        solver.step(10)
        if solver.exploitability() <= until:
            break
    return solver.average(), time.process_time() - start_time


class RiverMeasurement(NamedTuple):
    """Measurements of one river."""

    epsilon: tuple[float, ...]  # ε of each model in the continuous game, as a share of the pot
    percent: dict[str, float]  # losses and win rates in % of the pot, by the names in PERCENT_NOTES
    seconds: tuple[float, float]  # CPU time: the threshold player; the exact solution to 0.5 %, including its tree


# Names of losses (exploitability) and win rates (expectation over all hands and both seats), with notes.
PERCENT_NOTES = {
    "loss of the threshold player, % of pot": "exploitability in the river as it is",
    "loss of ranks without card removal, % of pot": "1,000 iterations of CFR+ on ranks",
    "loss of ranks in equal time, % of pot": "every rank a bucket",
    "loss of the exact solution, % of pot": "solved to 0.05 %",
    "loss of the base agent, % of pot": "all its bets count as the one that there is",
    "against the exact solution, % of pot a hand": "to 0.05 %, seats exchanged",
    "against ranks in equal time, % of pot a hand": "seats exchanged",
    "against the base agent, % of pot a hand": "seats exchanged",
}


def measure_river(river: SampledRiver, river_player: RiverThresholdPlayer) -> RiverMeasurement:
    """Compare the threshold strategy of a river with exact and other approximate strategies.

    Measure each strategy's exploitability, win rates of the threshold strategy against the others (exact expectations
    over all hands), the ε of each model, and solving times.
    """
    spot, betting = river.spot(), river_player.betting
    start_time = time.process_time()
    tree = BoardTree(spot)
    build = time.process_time() - start_time
    start_time = time.process_time()
    ranks = RankDistribution.from_ranges(spot.board, spot.weights)
    best = river_player.best_thresholds(ranks)
    threshold_seconds = time.process_time() - start_time
    epsilons = tuple(
        river_player.find_thresholds(ranks, index, PATIENT_STAGES).epsilon for index in range(len(river_player.models))
    )
    start_time = time.process_time()
    converged = river_player.cfr_plus_frequencies(ranks, 1000)
    iteration_seconds = (time.process_time() - start_time) / 1000
    iterations = max(1, int(threshold_seconds / iteration_seconds))  # CFR+ iterations in the threshold player's time
    thresholds = holdem.rank_solution(tree, ranks, betting, best.frequencies)
    equal_time = holdem.rank_solution(tree, ranks, betting, river_player.cfr_plus_frequencies(ranks, iterations))
    _, seconds = solve_exactly(tree, 0.5)
    exact, _ = solve_exactly(tree, 0.05)
    strategies = {
        "the threshold player": thresholds,
        "ranks without card removal": holdem.rank_solution(tree, ranks, betting, converged),
        "ranks in equal time": equal_time,
        "the exact solution": exact,
    }
    opponents = {"the exact solution": exact, "ranks in equal time": equal_time}
    if river.base is not None:
        strategies["the base agent"] = opponents["the base agent"] = holdem.hand_solution(tree, betting, river.base)
    percent = {f"loss of {name}, % of pot": exploitability_percent(s) for name, s in strategies.items()}
    for name, strategy in opponents.items():
        percent[f"against {name}, % of pot a hand"] = win_rate_percent(tree, thresholds, strategy)
    return RiverMeasurement(epsilons, percent, (threshold_seconds, build + seconds))


def is_solved_by_proposal(river: SampledRiver, betting: RiverBetting) -> bool:
    """Whether a model that is read off this river's own discretized game is an equilibrium (ranks without ties)."""
    spot = river.spot()
    game = betting.game(RankDistribution.from_ranges(spot.board, spot.weights).signals.without_ties())
    return solve_game(game)[0].solved


def best_coverage(epsilon: Array, size: int) -> tuple[float, tuple[int, ...]]:
    """Return the largest share of rivers to which one of `size` models applies, and these models.

    epsilon: float64 [rivers, models]: ε of each model, as a share of the pot
    """
    applies = epsilon <= EPSILON_TOLERANCE
    return max(
        (float(applies[:, list(subset)].any(axis=1).mean()), subset)
        for subset in combinations(range(epsilon.shape[1]), size)
    )


def _coverage_rows(
    source: str, river_player: RiverThresholdPlayer, rivers: Sequence[SampledRiver], epsilon: Array, full: bool
) -> list[ComparisonRow]:
    """Return rows with the share of rivers to which each model, and the best sets of models, apply."""
    names = [model.name for model in river_player.models]
    rows = []
    for size in (1, 2, 3, len(names)):
        share, subset = best_coverage(epsilon, size)
        labels = ", ".join(names[n] for n in subset) if size < len(names) else "all"
        name, known = (
            f"{source}: rivers to which one of the best {size} models applies",
            COVERAGE_DIFFERENCES.get(source),
        )
        if size == 3 and known and full:  # the proposal's three models cover all hands
            rows.append(finding_row(name, 1.0, share, ">=", explained=known, note=labels))
        else:
            rows.append(new_row(name, share, note=labels))
    doubled = float((epsilon.min(axis=1) <= 2 * EPSILON_TOLERANCE).mean())
    rows.append(new_row(f"{source}: rivers to which one of all applies within {200 * EPSILON_TOLERANCE:g} %", doubled))
    uncovered = [river for river, row in zip(rivers, epsilon, strict=True) if row.min() > EPSILON_TOLERANCE]
    if uncovered := uncovered[:MAX_FALLBACK_RIVERS]:
        share = sum(is_solved_by_proposal(river, river_player.betting) for river in uncovered) / len(uncovered)
        label = "of the rest, solved by models read off their own game in steps"
        rows.append(new_row(f"{source}: {label}", share, note=f"of {len(uncovered)}"))
    for number, name in enumerate(names):
        share = float((epsilon[:, number] <= EPSILON_TOLERANCE).mean())
        rows.append(new_row(f"{source}: applies: {name}", share, note="first to act / bluff-raises"))
    return rows


def measure_rivers(source: str, rivers: Sequence[SampledRiver], full: bool) -> list[ComparisonRow]:
    """Measure rivers with the same betting tree; return report rows."""
    river_player = make_river_player(RiverBetting.from_spot(rivers[0].spot()))
    measure_river(rivers[0], river_player)  # compiles the kernels
    measured = [measure_river(river, river_player) for river in rivers]
    epsilon = np.array([f.epsilon for f in measured])
    rows = _coverage_rows(source, river_player, rivers, epsilon, full)
    for name, note in PERCENT_NOTES.items():
        if name in measured[0].percent:
            rows.append(mean_row(f"{source}: {name}", [f.percent[name] for f in measured], null=0.0, note=note))
            if name == AGAINST_BASE:  # the proposal's threshold player wins from its base agent
                label, row = f"{source}: the threshold player wins from the base agent, % of pot a hand", rows.pop()
                rows.append(finding_row(label, 0.0, row.ours, ">=", half_width=row.half_width, note=note))
    for name, column in (("thresholds, ms a river", 0), ("exact to 0.5 %, ms a river, with its tree", 1)):
        milliseconds = 1e3 * np.array([f.seconds[column] for f in measured])
        note = f"of one core, median; mean {milliseconds.mean():.2g}"
        rows.append(new_row(f"{source}: {name}", np.median(milliseconds), note=note))
    return rows


def run(full: bool, seed: int) -> ExperimentReport:
    """Measure threshold strategies on 30 rivers of each source; with `full`, on a thousand."""
    count = 1000 if full else 30
    turns = list(reached_rivers.rivers_from_solved_turns(count, seed))
    agent = reached_rivers.make_base_agent(seed)
    matches, num_short = reached_rivers.rivers_from_self_play(agent, agent.rules, count, seed)
    limit = [river._replace(sizes=LIMIT_SIZES, base=None) for river in matches]
    rows: list[ComparisonRow] = []
    for source, rivers in (("turns, limit", turns), ("matches, limit", limit), ("matches", matches)):
        rows += measure_rivers(source, rivers, full)
    lines = sorted({river.line for river in turns})
    training = f"{agent.strategy.provenance.get('iterations', 0):,} iterations"
    notes = format_notes(
        "continuous-holdem-rivers",
        count=count,
        turns=-(-count // RIVERS_PER_TURN),
        lines=", ".join(lines),
        agent=agent,
        training=training,
        num_short=num_short,
        percent=100 * EPSILON_TOLERANCE,
    )
    return ExperimentReport(rows, notes)
