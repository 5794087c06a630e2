"""The worked examples of an essay on counterfactual regret minimization.

One iteration on Kuhn poker for the deal queen against jack, and regret matching on rock-paper-scissors.
"""

from __future__ import annotations

import numpy as np

from riverboat.games.registry import game_from_spec
from riverboat.games.small.normal_form import rock_paper_scissors
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, new_row, printed_row, variation_row
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.trace import regret_matching, trace
from riverboat.trees.compile import compile_game

# --- Kuhn poker ---

KUHN_VALUE = -1 / 18  # Kuhn 1950


def run_kuhn_trace(full: bool, seed: int) -> ExperimentReport:
    """Trace the first CFR iteration on Kuhn poker for one deal, node by node; then solve the game."""
    traced = trace(game_from_spec("kuhn"), "QJ", "vanilla", 1)
    decisions = [node for node in traced.nodes if node.actor >= 0]
    strategies = {p for node in decisions for p in node.strategy.values()}
    rows = [printed_row("first iteration: every probability", 0.5, max(strategies, key=lambda p: abs(p - 0.5)))]
    rows += [new_row(f"value to player 0 at {node.line or 'the start'}", node.value[0]) for node in decisions]
    for infoset in traced.infosets:
        for action, regret in infoset.deal_regrets.items():
            rows.append(new_row(f"regret of {action} at {infoset.name}", regret, note="given the deal"))
    solver = CFR(compile_game(game_from_spec("kuhn")), "vanilla")
    iterations, errors = [10**k for k in range(1, 7 if full else 6)], []
    for target in iterations:
        solver.step(target - solver.iteration)
        errors.append(solver.exploitability())
    rows.append(_value_row(solver, KUHN_VALUE, (0.0,), f"certified, {solver.iteration:,} iterations"))
    curve = Curve("exploitability by iterations", iterations, errors)
    return ExperimentReport(rows, format_notes("essay-kuhn-trace"), (curve,))


def _value_row(solver: CFR, paper: float, rivals: tuple[float, ...], note: str) -> ComparisonRow:
    """Compare the value that a solver certifies; `rivals` are values that it must be distinguished from."""
    quality = solver.quality()
    return printed_row("value of the game", paper, quality.value, interval=quality.interval, rivals=rivals, note=note)


# --- Rock-paper-scissors ---

MOVES = ("rock", "paper", "scissors")
REGRETS = np.array([2.0, 1.0, 1.0])
PRINTED_STRATEGY = (2 / 5, 1 / 5, 1 / 5)
SLIP_NOTE = "a slip of the text: regrets divided by 5, although their sum is 4"
SLIP_DIVISOR = 5
EXPLAINED_STRATEGY = tuple(
    ExplainedDifference(at, SLIP_NOTE, 1e-9, f"divided by {SLIP_DIVISOR}: {move}")
    for at, move in zip((1 / 2, 1 / 4, 1 / 4), MOVES, strict=True)
)


def run_rps(full: bool, seed: int) -> ExperimentReport:
    """Compute the example's strategy for regrets of 2, 1 and 1, and the result of self-play."""
    example = regret_matching(REGRETS)
    rows = [
        printed_row(f"regrets (2, 1, 1): {move}", paper, float(ours), explained=explained)
        for move, paper, ours, explained in zip(MOVES, PRINTED_STRATEGY, example, EXPLAINED_STRATEGY, strict=True)
    ]
    rows += [
        variation_row(f"divided by {SLIP_DIVISOR}: {move}", paper, regret / SLIP_DIVISOR)
        for move, paper, regret in zip(MOVES, PRINTED_STRATEGY, REGRETS, strict=True)
    ]
    mixed = np.array([2.0, 1.0, -2.0])
    raw, proper = mixed / mixed.sum(), regret_matching(mixed)
    rows += [
        new_row("regrets (2, 1, -2): scissors, raw regrets normalised", raw[2], note="not a probability"),
        new_row("regrets (2, 1, -2): scissors, positive parts", proper[2]),
    ]
    solver = CFR(compile_game(rock_paper_scissors()), "vanilla")
    # Uniform play has no regrets and never changes: start with a regret of the first action.
    solver.regret[0] = 1.0
    solver.step(1_000_000 if full else 50_000)
    one_sided = (-1.0, 1.0)  # values if one side plays a pure strategy
    rows.append(_value_row(solver, 0.0, one_sided, "certified"))
    average = solver.average()["player 0"]
    rows += [new_row(f"average strategy: {move}", average[move], note="1/3 in equilibrium") for move in MOVES]
    return ExperimentReport(rows, format_notes("essay-rps"))
