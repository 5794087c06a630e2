"""Kuhn poker's second player in four rules."""

from __future__ import annotations

from riverboat.explain.explanation import explain
from riverboat.explain.fidelity import purified
from riverboat.explain.small_games import cost_of, small_decisions
from riverboat.games.small.poker import kuhn
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import new, theorem
from riverboat.solvers.exact.lp import solve_lp
from riverboat.trees.public import PublicTree

SECOND = 1
VALUE = -1 / 18  # to the first player


def run(full: bool, seed: int) -> Report:
    """Learn the second player's half, which is the same in every equilibrium."""
    strategy = solve_lp(PublicTree(kuhn())).strategy
    decisions = small_decisions(strategy, SECOND)
    cost = cost_of(strategy, decisions, SECOND, VALUE)
    explanation = explain(decisions, 4, "list", cost=cost)
    pure = cost(purified(decisions))["exploitability"]
    lengths, costs = ([float(x or 0) for x in explanation.dial.column(name)] for name in ("rules", "exploitability"))
    rows = [
        theorem("rules", 4, len(explanation.rules), "<="),
        theorem("fidelity: agreement", 1.0, explanation.seen.agreement),
        theorem("fidelity: distance", 0.0, explanation.seen.distance),
        theorem("exploitability of the rules", 0.0, explanation.costs["exploitability"]),
        theorem("exploitability when purified", 2 / 9, pure),
        *(new(f"exploitability with {n:g} rules", x) for n, x in zip(lengths, costs, strict=True)),
    ]
    notes = (
        f"The rules: {'; '.join(str(rule) for rule in explanation.rules.rules)}. "
        "A raise that cannot be made is a call, a fold that is free is a check.",
        "Purified, the second player never bluffs and never calls with the queen; its opponent then earns 1/6, not -1/18.",
    )
    curve = Curve("exploitability by rules", tuple(lengths), tuple(costs))
    return Report(tuple(rows), notes, (curve,))


EXPERIMENT = Experiment(
    "explain-kuhn",
    "The second player's half of Kuhn poker in four rules",
    "after Ganzfried & Yusuf 2017; Kuhn 1950",
    "2 s",
    "2 s",
    run,
)
