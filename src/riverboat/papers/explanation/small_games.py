"""Rule lists for small games: the second player of Kuhn poker in four rules, and Leduc in at most twelve."""

from __future__ import annotations

from riverboat.explain.explanation import RuleExplanation, explain
from riverboat.explain.fidelity import purify_decisions
from riverboat.explain.small_game_decisions import exploitability_cost, small_game_decisions
from riverboat.games.small.poker import kuhn, leduc
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import finding_row, new_row, theorem_row
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.public import PublicTree

SECOND_PLAYER = 1
KUHN_VALUE = -1 / 18  # to the first player


def curve_columns(explanation: RuleExplanation, *names: str) -> list[list[float]]:
    """Return columns of the fidelity curve as numbers."""
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
    """Learn rules for each player's strategy of an equilibrium."""
    solved = solve_lp(PublicTree(leduc()))
    strategy = solved.strategy
    rows, notes, curves = [], [], []
    for player in (0, 1):
        decisions = small_game_decisions(strategy, player)
        cost = exploitability_cost(strategy, decisions, player)
        explanation = explain(decisions, MAX_RULES, cost=cost, use_longest=True)
        name = f"player {player}"
        rows += [
            finding_row(f"{name}: rules", MAX_RULES, len(explanation.rules), "<="),
            finding_row(f"{name}: agreement", 0.9, explanation.fidelity.agreement, ">="),
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
