"""Purification of abstract equilibria (Ganzfried, Sandholm & Waugh 2012): random matrix games and Leduc.

Payoffs of matrix games are uniform on [-1, 1]. The abstraction drops the last row and column. Player 1 plays its
equilibrium of the abstraction against player 2's equilibrium of the full game. The paper has 4 × 4 games; other sizes
are options, `purification-matrices:rows=5,columns=3`. The second experiment purifies strategies from card abstractions
of Leduc.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from riverboat.abstraction.bucketed_game import BucketedGame, BucketMap
from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.small.poker import leduc
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, new_row, printed_row, theorem_row
from riverboat.solvers.exact.lp import solve_lp
from riverboat.solvers.exact.matrix_games import MAX_ACTIONS, solve_matrix_games
from riverboat.solvers.tabular.best_response import quality
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.lifting import combine_players, lift_cards
from riverboat.strategies.postprocessing import purify, purify_strategy, tartanian7_strategy, threshold_strategy
from riverboat.strategies.tabular import Strategy
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

FULL_GAMES = 1_500_000  # as in the paper
DEFAULT_GAMES = 300_000
BATCH_SIZE = 50_000
PAYOFF_TOLERANCE = 1e-9  # payoffs this close are equal
SUPPORT_TOLERANCE = 1e-9  # least probability of an action in the support
PAPER_SIZE = (4, 4)
MEMBERSHIP_LABELS = ("out", "in")


class MatrixGameSample(NamedTuple):
    """A sample of random games with solutions. All arrays are [games]."""

    payoff: Array  # float64: payoff of the abstract equilibrium
    purified_payoff: Array  # float64
    support_size: Array  # int: support of player 1's full equilibrium; player 2's has the same size
    row_in_support: Array  # bool: player 1's support has the row that the abstraction lacks
    column_in_support: Array  # bool: player 2's support has the column that it lacks
    unaffected: Array  # bool: purification changes nothing, by proposition 4

    @property
    def gain(self) -> Array:
        """Payoff of the purified strategy less that of the unpurified one. float64 [games]"""
        difference: Array = self.purified_payoff - self.payoff
        return difference


def sample_games(count: int, seed: int, rows: int = 4, columns: int = 4) -> MatrixGameSample:
    """Draw and solve random games with this number of rows and columns."""
    for name, size in (("rows", rows), ("columns", columns)):
        if not 2 <= size <= MAX_ACTIONS:
            raise InputError(f"{name}={size}: must be 2 to {MAX_ACTIONS}, as the abstraction drops one")
    if count < 2:
        raise InputError(f"{count} games: must be at least 2, for a standard error")
    rng = np.random.default_rng(seed)
    parts = []
    for start in range(0, count, BATCH_SIZE):
        games = rng.uniform(-1.0, 1.0, (min(BATCH_SIZE, count - start), rows, columns))
        full, small = solve_matrix_games(games), solve_matrix_games(games[:, :-1, :-1])
        row_values = np.einsum("gij,gj->gi", games[:, :-1], full.columns)
        support, abstract = full.rows > SUPPORT_TOLERANCE, small.rows > SUPPORT_TOLERANCE
        pure = abstract.sum(axis=1) == 1
        inside = (support[:, :-1] | ~abstract).all(axis=1)
        plain, purified = (small.rows * row_values).sum(axis=1), (purify(small.rows) * row_values).sum(axis=1)
        column_in_support = full.columns[:, -1] > SUPPORT_TOLERANCE
        parts.append((plain, purified, support.sum(axis=1), support[:, -1], column_in_support, pure | inside))
    return MatrixGameSample(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _confidence_interval(sample: Array, confidence: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of the mean."""
    mean, error = float(sample.mean()), float(sample.std(ddof=1)) / len(sample) ** 0.5
    half = float(ndtri(0.5 + confidence / 2)) * error
    return mean - half, mean + half


# Supports of 2 with the fourth row and without the fourth column: an exception of observation 2 that gains significantly.
OBSERVATION_2_DIFFERENCE = ExplainedDifference(
    0.00199, within=0.0005, tried="intervals of each support alone, and of all together, as here: purification gains"
)


def support_rows(sample: MatrixGameSample, rows: int, columns: int) -> list[ComparisonRow]:
    """Return rows with the mean gain of purification, tested against zero, by supports of the full game's equilibrium.

    Games are grouped by the size of the supports, and by whether these contain the dropped row and the dropped column.
    Intervals hold jointly: with 95 % none of them misses its mean (Bonferroni), so that a table of fifteen rows has no
    significant row by chance.
    """
    chosen, out = {}, []
    for size, row, column in product(range(1, min(rows, columns) + 1), (False, True), (False, True)):
        hit = (sample.support_size == size) & (sample.row_in_support == row) & (sample.column_in_support == column)
        if hit.sum() > 1:
            chosen[size, row, column] = hit
    for (size, row, column), hit in chosen.items():
        name = f"gain, supports of {size}: row {rows} {MEMBERSHIP_LABELS[row]}, column {columns} {MEMBERSHIP_LABELS[column]}"
        gain = sample.gain[hit]
        note = f"{100 * hit.mean():.1f} % of the games"
        if sample.unaffected[hit].all():
            note += "; by proposition 4"
            out.append(theorem_row(name, 0.0, np.abs(gain).max(), rounding=PAYOFF_TOLERANCE, note=note))
            continue
        low, high = _confidence_interval(gain, 1 - 0.05 / len(chosen))
        if (rows, columns) != PAPER_SIZE:
            out.append(new_row(name, gain.mean(), (low, high), null=0.0, note=note))
            continue
        # Observation 2: exceptions are the pure fourth actions, and mixed strategies with the fourth row only.
        exception = row and column == (size == 1)
        out.append(
            finding_row(name, 0.0, gain.mean(), "=" if exception else ">=", half_width=(high - low) / 2,
                        explained=OBSERVATION_2_DIFFERENCE if (size, row, column) == (2, True, False) else None,
                        note=note + "; observation 2: no significant difference" * exception)
        )  # fmt: skip
    return out


def _table_1_rows(sample: MatrixGameSample) -> list[ComparisonRow]:
    """Return the rows of Table 1. The rows must distinguish purified from not purified, and better from worse."""

    def row(name: str, values: Array, paper: float, error: float, rival: float) -> ComparisonRow:
        interval = _confidence_interval(values)
        return printed_row(name, paper, values.mean(), digits=6, interval=interval, error=error, rivals=(rival,))

    gain = sample.gain
    better, worse = gain > PAYOFF_TOLERANCE, gain < -PAYOFF_TOLERANCE
    rows = [
        row("mean payoff, purified", sample.purified_payoff, -0.050987, 0.00042, -0.054905),
        row("mean payoff, unpurified", sample.payoff, -0.054905, 0.00044, -0.050987),
        # The paper uses the same games for both and gives no error of the difference.
        row("gain of purification", gain, 0.003918, 0.0, 0.0),
    ]
    shares = (
        ("better", better, 261_569, 172_164),
        ("worse", worse, 172_164, 261_569),
        ("same", ~better & ~worse, 1_066_267, 261_569),
    )
    for name, hit, count, other in shares:
        share = count / FULL_GAMES
        error = 1.959964 * (share * (1 - share) / FULL_GAMES) ** 0.5
        rows.append(row(f"share {name}", hit.astype(float), round(share, 6), error, other / FULL_GAMES))
    return rows


def run_matrices(full: bool, seed: int, rows: int = 4, columns: int = 4) -> ExperimentReport:
    """Measure purification in random games: payoffs, shares of games where it helps, and gain by supports."""
    sample = sample_games(FULL_GAMES if full else DEFAULT_GAMES, seed, rows, columns)
    lines = _table_1_rows(sample) if (rows, columns) == PAPER_SIZE else []
    if not lines:
        lines.append(new_row("gain of purification", sample.gain.mean(), _confidence_interval(sample.gain), null=0.0))
    name, unaffected = "largest change where proposition 4 allows none", np.abs(sample.gain[sample.unaffected])
    lines.append(theorem_row(name, 0.0, unaffected.max(initial=0.0), rounding=PAYOFF_TOLERANCE))
    table = support_rows(sample, rows, columns)
    tested = [row for row in table if row.kind != "theorem"]
    signs = [(row.low or 0.0) > 0 or -((row.high or 0.0) < 0) for row in tested]
    notes = format_notes(
        "purification-matrices",
        games=len(sample.gain),
        payoff_tolerance=PAYOFF_TOLERANCE,
        gains=signs.count(1),
        groups=len(tested),
        losses=signs.count(-1),
        neither=signs.count(0),
    )
    return ExperimentReport((*lines, *table), notes)


# --- Leduc ---

ABSTRACTIONS = ("J.Q.K", "JQ.K", "J.QK")
THRESHOLDS = (0.05, 0.10, 0.15, 0.25, 0.35)


def merge_ranks(groups: str) -> BucketMap:
    """Return the bucket function of groups of ranks such as `JQ.K`; after the public card, of pair or no pair."""

    def bucket(player: int, hand: str, board: tuple[str, ...]) -> str:
        if not board:
            return next(group for group in groups.split(".") if hand[0] in group)
        return "pair" if board[-1].strip("/")[0] == hand[0] else "none"

    return bucket


def postprocessing_rules() -> dict[str, Callable[[Strategy], Strategy]]:
    """Return the post-processing rules by name, from none to purification."""
    rules: dict[str, Callable[[Strategy], Strategy]] = {"none": lambda s: s}
    rules |= {f"threshold {epsilon:g}": partial(threshold_strategy, epsilon=epsilon) for epsilon in THRESHOLDS}
    return rules | {"purified": purify_strategy, "Tartanian7": tartanian7_strategy}


def exact_match_value(first: Strategy, second: Strategy) -> float:
    """Return the exact expected winnings of the first strategy against the second per hand, over both seats."""
    return (quality(combine_players(first, second)).values[0] + quality(combine_players(second, first)).values[1]) / 2


def run_leduc(full: bool, seed: int) -> ExperimentReport:
    """Measure exploitability and head-to-head results of every rule on every abstraction."""
    iterations = 20_000 if full else 1_000
    tree = PublicTree(leduc())
    equilibrium = solve_lp(tree).strategy
    rows, curves = [], []
    for groups in ABSTRACTIONS:
        abstraction = BucketedGame(tree.game, merge_ranks(groups), label=groups)
        solver = CFR(compile_game(abstraction), "vanilla")
        solver.step(iterations)
        base = lift_cards(solver.average(), abstraction, tree)
        strategies = {name: rule(base) for name, rule in postprocessing_rules().items()}
        measures: dict[str, Callable[[Strategy], float]] = {
            "exploitability": lambda strategy: quality(strategy).exploitability,
            "against the equilibrium": partial(exact_match_value, second=equilibrium),
            "against unprocessed": partial(exact_match_value, second=base),
        }
        for measure, evaluate in measures.items():
            values = {name: evaluate(strategy) for name, strategy in strategies.items()}
            rows += [new_row(f"{groups}, {name}: {measure}", value) for name, value in values.items()]
            if measure != "against unprocessed":
                del values["Tartanian7"]
                curves.append(Curve(f"{groups}: {measure}", (0.0, *THRESHOLDS, 0.5), values.values()))
    return ExperimentReport(rows, format_notes("purification-leduc", iterations=iterations), curves)
