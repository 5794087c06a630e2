"""Leduc poker in at most twelve rules for each player, and what following them costs."""

from __future__ import annotations

from riverboat.explain.explanation import explain
from riverboat.explain.fidelity import purified
from riverboat.explain.small_games import cost_of, small_decisions
from riverboat.games.small.poker import leduc
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import finding, new
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.public import PublicTree

MOST = 12


def run(full: bool, seed: int) -> Report:
    """Learn each player's half of an equilibrium."""
    solved = solve_lp(PublicTree(leduc()))
    strategy = solved.strategy
    rows, notes, curves = [], [], []
    for player in (0, 1):
        decisions = small_decisions(strategy, player)
        cost = cost_of(strategy, decisions, player)
        explanation = explain(decisions, MOST, cost=cost, exact=True)
        name = f"player {player}"
        rows += [
            finding(f"{name}: rules", MOST, len(explanation.rules), "<="),
            finding(f"{name}: agreement", 0.9, explanation.seen.agreement, ">="),
            new(f"{name}: distance", explanation.seen.distance),
            new(f"{name}: exploitability of the rules", explanation.costs["exploitability"]),
            new(f"{name}: exploitability when purified", cost(purified(decisions))["exploitability"]),
        ]
        rows += [
            new(f"{name}: exploitability of {row['instead']}", float(row["exploitability"] or 0))
            for row in explanation.baselines
            if row["instead"] != "purified"
        ]
        notes.append(f"Player {player}: {'; '.join(str(rule) for rule in explanation.rules.rules)}.")
        x = tuple(float(v or 0) for v in explanation.dial.column("rules"))
        for what in ("agreement", "exploitability"):
            y = tuple(float(v or 0) for v in explanation.dial.column(what))
            curves.append(Curve(f"{name}: {what}", x, y, what))
    notes.append("Chips, exact. Agreement is weighted by how often an information set comes up in the equilibrium.")
    return Report(tuple(rows), tuple(notes), tuple(curves))


EXPERIMENT = Experiment(
    "explain-leduc",
    "Leduc poker in at most twelve rules for each player",
    "after Ganzfried & Yusuf 2017",
    "10 s",
    "10 s",
    run,
)
