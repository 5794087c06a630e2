"""Human-readable strategies: rule lists for small games, and minimum defence frequency on solved rivers.

The second player of Kuhn poker needs four rules, and Leduc at most twelve. Ganzfried & Chiswick (2019) correct the
minimum defence frequency by range advantage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, NUM_HANDS
from riverboat.cards.features.hand_features import board_hand_strengths
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.explain.explanation import RuleExplanation, explain
from riverboat.explain.fidelity import purify_decisions
from riverboat.explain.small_game_decisions import exploitability_cost, small_game_decisions
from riverboat.games.small.poker import kuhn, leduc
from riverboat.games.spots.spot import Spot
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import finding_row, new_row, theorem_row
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.exact.lp import solve_lp
from riverboat.strategies.solution import Solution
from riverboat.trees.public import PublicTree

# --- Rule lists ---

SECOND_PLAYER = 1
KUHN_VALUE = -1 / 18  # value of the game to the first player


def curve_columns(explanation: RuleExplanation, *names: str) -> list[list[float]]:
    """Return columns of the fidelity curve (a row for each number of rules) as numbers; 0 for missing cells."""
    return [[float(x or 0) for x in explanation.fidelity_curve.column(name)] for name in names]


def run_kuhn(full: bool, seed: int) -> ExperimentReport:
    """Learn rules for the second player's strategy, which is the same in every equilibrium."""
    strategy = solve_lp(PublicTree(kuhn())).strategy
    decisions = small_game_decisions(strategy, SECOND_PLAYER)
    cost = exploitability_cost(strategy, decisions, SECOND_PLAYER, KUHN_VALUE)
    explanation = explain(decisions, 4, "list", cost=cost)
    pure = cost(purify_decisions(decisions))["exploitability"]
    lengths, costs = curve_columns(explanation, "rules", "exploitability")
    rows = [
        theorem_row("rules", 4, len(explanation.rules), "<="),
        theorem_row("fidelity: agreement", 1.0, explanation.fidelity.agreement),
        theorem_row("fidelity: distance", 0.0, explanation.fidelity.distance),
        theorem_row("exploitability of the rules", 0.0, explanation.costs["exploitability"]),
        theorem_row("exploitability when purified", 2 / 9, pure),
        *(new_row(f"exploitability with {n:g} rules", x) for n, x in zip(lengths, costs, strict=True)),
    ]
    curve = Curve("exploitability by rules", lengths, costs)
    notes = format_notes("explain-kuhn", rules="; ".join(str(rule) for rule in explanation.rules.rules))
    return ExperimentReport(rows, notes, (curve,))


# --- Leduc ---

MAX_RULES = 12


def run_leduc(full: bool, seed: int) -> ExperimentReport:
    """Learn a rule list of at most `MAX_RULES` rules for each player's equilibrium strategy in Leduc."""
    strategy = solve_lp(PublicTree(leduc())).strategy
    rows, notes, curves = [], [], []
    for player in (0, 1):
        decisions = small_game_decisions(strategy, player)
        cost = exploitability_cost(strategy, decisions, player)
        explanation = explain(decisions, MAX_RULES, cost=cost, use_longest=True)
        name = f"player {player}"
        rows += [
            new_row(f"{name}: rules", len(explanation.rules), note=f"at most {MAX_RULES} are searched"),
            new_row(f"{name}: agreement", explanation.fidelity.agreement),
            new_row(f"{name}: distance", explanation.fidelity.distance),
            new_row(f"{name}: exploitability of the rules", explanation.costs["exploitability"]),
            new_row(f"{name}: exploitability when purified", cost(purify_decisions(decisions))["exploitability"]),
        ]
        rows += [
            new_row(f"{name}: exploitability of {row['instead']}", float(row["exploitability"] or 0))
            for row in explanation.baselines
            if row["instead"] != "purified"
        ]
        notes.append(f"Player {player}: {'; '.join(str(rule) for rule in explanation.rules.rules)}.")
        for column in ("agreement", "exploitability"):
            x, y = curve_columns(explanation, "rules", column)
            curves.append(Curve(f"{name}: {column}", x, y, column))
    notes.append("Chips, exact. Agreement is weighted by how often an information set comes up in the equilibrium.")
    return ExperimentReport(rows, notes, curves)


# --- Minimum defence frequency ---

POT = 100
BET_SIZES = (25, 50, 75, 100, 150, 200)  # % of the pot
HANDS_PER_RANGE = 120
MIN_BET_FREQUENCY = 0.02  # least frequency of a bet to be included
BATCH_SIZE = 50


class RiverDefences(NamedTuple):
    """Defence against the only bet on n solved rivers, and its predictors; shares are 0 to 1."""

    mdf: Array  # float64 [n]: minimum defence frequency, pot / (pot + bet)
    range_advantage: Array  # float64 [n]: equity of the bettor before the bet
    defence_frequency: Array  # float64 [n]: share of the range that calls the bet in equilibrium
    exploitability: float  # largest of all rivers, in % of the pot

    def predictions(self) -> dict[str, Array]:
        """Return predicted defence frequencies for each formula; keys are the formulas as text. float64 [n] each"""
        return {
            "MDF": self.mdf,
            "MDF - RA / 2 + 1 / 4": np.clip(self.mdf - 0.5 * self.range_advantage + 0.25, 0.0, 1.0),
            "b / (P + b)": 1.0 - self.mdf,
        }

    def fit_linear_model(self) -> tuple[Array, Array]:
        """Fit the defence frequency by least squares: constant, MDF, RA, with standard errors. float64 [3] each"""
        x = np.stack([np.ones(len(self.mdf)), self.mdf, self.range_advantage], axis=1)
        slopes, *_ = np.linalg.lstsq(x, self.defence_frequency, rcond=None)
        residuals = self.defence_frequency - x @ slopes
        covariance = residuals @ residuals / max(len(x) - 3, 1) * np.linalg.inv(x.T @ x)
        return slopes, np.sqrt(np.diag(covariance))


def random_river_spot(rng: np.random.Generator) -> Spot:
    """Return a spot with a random board, bet size and two random ranges of different strength."""
    board = tuple(int(c) for c in rng.choice(52, 5, replace=False))
    strength, live = board_hand_strengths(board), ~np.isin(HAND_CARDS, board).any(axis=1)
    ranges = []
    for tilt in rng.normal(0.0, 2.0, 2):
        probability = np.where(live, np.exp(tilt * (strength - 0.5)), 0.0)
        hands = rng.choice(NUM_HANDS, HANDS_PER_RANGE, replace=False, p=probability / probability.sum())
        ranges.append(Range(np.isin(np.arange(NUM_HANDS), hands).astype(float)))
    size = int(rng.choice(BET_SIZES))
    return Spot.make(
        board=board, pot=POT, stack=10 * POT, oop=ranges[0], ip=ranges[1], bets=f"{size}%", raise_cap=0,
        name=f"{format_cards(board)} {size} %",
    )  # fmt: skip


def solve_defences(count: int, seed: int, iterations: int) -> RiverDefences:
    """Solve random rivers with one bet and no raise until `count` of them have a bet to defend against.

    The first player bets or checks, the second calls or folds.
    """
    if count < 4:
        raise InputError(f"{count} rivers: must be at least 4 for a fit")
    rng, worst = np.random.default_rng(seed), 0.0
    rows: list[Sequence[float]] = []
    while len(rows) < count:
        spots = [random_river_spot(rng) for _ in range(BATCH_SIZE)]
        for solution in solve_many(spots, iterations=iterations):
            row = _defence_row(solution)
            if row[-1] >= MIN_BET_FREQUENCY and len(rows) < count:
                rows.append(row)
                worst = max(worst, float(solution.provenance["exploitability"]))
    table = np.array(rows)
    return RiverDefences(table[:, 0], table[:, 1], table[:, 2], worst)


def _defence_row(solution: Solution) -> Sequence[float]:
    root = solution[""]
    label = next(name for name in root.actions if name != "x")
    faced = solution[label]
    fold = faced.range_mean(1, faced.strategy[faced.actions.index("f")])
    bets = root.range_mean(0, root.strategy[root.actions.index(label)])
    size = float(label[1:])
    # minimum defence frequency, range advantage, defence frequency, and frequency of the bet
    return POT / (POT + size), root.range_mean(0, root.equity[0]), 1.0 - (0.0 if np.isnan(fold) else fold), bets


NUM_RIVERS = 1_000
ITERATIONS = 200


def run_defence(full: bool, seed: int) -> ExperimentReport:
    """Solve rivers with random ranges, and compare defence frequencies with predictions."""
    rivers = solve_defences(NUM_RIVERS, seed, 4 * ITERATIONS if full else ITERATIONS)
    predictions, frequency = rivers.predictions(), rivers.defence_frequency
    error = {name: float(np.abs(predicted - frequency).mean()) for name, predicted in predictions.items()}
    variance = ((frequency - frequency.mean()) ** 2).sum()
    explained = {
        name: float(1 - (predicted - frequency) @ (predicted - frequency) / variance)
        for name, predicted in predictions.items()
    }
    plain, corrected, inverse = error
    fit, spread = rivers.fit_linear_model()
    rows = [
        finding_row("mean error of the correction, less than of MDF", error[plain], error[corrected], "<="),
        finding_row("mean error of MDF, less than of b / (P + b)", error[inverse], error[plain], "<="),
        *(new_row(f"mean error of {name}", value) for name, value in error.items()),
        *(new_row(f"share of the variance that {name} explains", value) for name, value in explained.items()),
        *(
            new_row(f"least squares of ours: {name}", x, half_width=1.96 * s)
            for name, x, s in zip(("constant", "MDF", "RA"), fit, spread, strict=True)
        ),
        new_row("largest exploitability, % of the pot", rivers.exploitability),
    ]
    notes = format_notes(
        "explain-defence", num_rivers=NUM_RIVERS, bet_sizes=", ".join(map(str, BET_SIZES)), iterations=ITERATIONS
    )
    order = np.argsort(rivers.range_advantage)
    parts = [p for p in np.array_split(order, 10) if len(p)]
    x = [rivers.range_advantage[p].mean() for p in parts]
    shown = {"defence in equilibrium": frequency} | {name: predictions[name] for name in (plain, corrected)}
    curves = [Curve(name, x, [values[p].mean() for p in parts]) for name, values in shown.items()]
    return ExperimentReport(rows, notes, curves)
