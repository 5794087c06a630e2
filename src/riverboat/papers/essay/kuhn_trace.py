"""One iteration of counterfactual regret minimization on Kuhn poker, for the deal queen against jack."""

from __future__ import annotations

from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import new_row, printed_row
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.trace import trace
from riverboat.trees.compile import compile_game

KUHN_VALUE = -1 / 18  # Kuhn 1950


def run_kuhn_trace(full: bool, seed: int) -> ExperimentReport:
    """Trace the first iteration node by node, then run many."""
    traced = trace(game_from_spec("kuhn"), "QJ", "vanilla", 1)
    strategies = {p for node in traced.nodes if node.actor >= 0 for p in node.strategy.values()}
    rows = [printed_row("first iteration: every probability", 0.5, max(strategies, key=lambda p: abs(p - 0.5)))]
    rows += [
        new_row(f"value to player 0 at {node.line or 'the start'}", node.value[0])
        for node in traced.nodes
        if node.actor >= 0
    ]
    for infoset in traced.infosets:
        for action, regret in infoset.deal_regrets.items():
            rows.append(new_row(f"regret of {action} at {infoset.name}", regret, note="given the deal"))
    solver = CFR(compile_game(game_from_spec("kuhn")), "vanilla")
    iterations, errors = [], []
    for target in [10**k for k in range(1, 7 if full else 6)]:
        solver.step(target - solver.iteration)
        iterations.append(float(target))
        errors.append(solver.exploitability())
    low, high = solver.quality().bracket
    note = f"certified, {solver.iteration:,} iterations"
    fair = 0.0  # the value it must be distinguished from
    value = (low + high) / 2
    rows.append(printed_row("value of the game", KUHN_VALUE, value, interval=(low, high), rivals=(fair,), note=note))
    notes = format_notes("essay-kuhn-trace")
    return ExperimentReport(rows, notes, (Curve("exploitability by iterations", iterations, errors),))
