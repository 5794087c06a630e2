"""One iteration of counterfactual regret minimisation on Kuhn poker, the deal queen against jack."""

from __future__ import annotations

from riverboat.games.registry import make
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import new, printed
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.trace import trace
from riverboat.trees.compile import compile_game

VALUE = -1 / 18  # Kuhn 1950


def run(full: bool, seed: int) -> Report:
    """The first iteration node by node, then many."""
    traced = trace(make("kuhn"), "QJ", "vanilla", 1)
    strategies = {p for node in traced.nodes if node.actor >= 0 for p in node.strategy.values()}
    rows = [printed("first iteration: every probability", 0.5, max(strategies, key=lambda p: abs(p - 0.5)))]
    rows += [
        new(f"value to player 0 at {node.line or 'the start'}", node.value[0])
        for node in traced.nodes
        if node.actor >= 0
    ]
    for infoset in traced.infosets:
        for action, regret in infoset.deal_regrets.items():
            rows.append(new(f"regret of {action} at {infoset.name}", regret, note="given the deal"))
    solver = CFR(compile_game(make("kuhn")), "vanilla")
    iterations, errors = [], []
    for target in [10**k for k in range(1, 7 if full else 6)]:
        solver.step(target - solver.iteration)
        iterations.append(float(target))
        errors.append(solver.exploitability())
    low, high = solver.quality().bracket
    note = f"certified, {solver.iteration:,} iterations"
    fair = 0.0  # the value that it must be told apart from
    rows.append(printed("value of the game", VALUE, (low + high) / 2, interval=(low, high), rivals=(fair,), note=note))
    notes = (
        "The essay calls the players 1 and 2; here they are 0 and 1. Regrets are given the deal, without its "
        "probability of 1/6. Its figure prints the steps of this deal; values and regrets follow from play of 1/2 by "
        "arithmetic, and the tests work them out by hand.",
        "Slip of the text: the size of no-limit hold'em is given as 100^165; it is about 10^165 (6.3 × 10^164 "
        "states, Johanson 2013).",
    )
    return Report(tuple(rows), notes, (Curve("exploitability by iterations", tuple(iterations), tuple(errors)),))


EXPERIMENT = Experiment(
    "essay-kuhn-trace",
    "One iteration of CFR on Kuhn poker, queen against jack",
    "essay on counterfactual regret minimisation, figures 1 and 2",
    "1 s",
    "5 s",
    run,
)
