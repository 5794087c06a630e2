"""Regret matching on rock-paper-scissors, the worked example of an essay on counterfactual regret minimisation."""

from __future__ import annotations

import numpy as np

from riverboat.games.small.normal_form import rock_paper_scissors
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Explained, new, printed
from riverboat.solvers.tabular.cfr import CFR
from riverboat.solvers.tabular.trace import regret_matching
from riverboat.trees.compile import compile_game

MOVES = ("rock", "paper", "scissors")
REGRETS = np.array([2.0, 1.0, 1.0])
PRINTED = (2 / 5, 1 / 5, 1 / 5)
SLIP = "a slip of the text: the sum of 2, 1 and 1 is 4, and the printed numbers do not sum to one"
EXPLAINED = tuple(Explained(at, SLIP, within=1e-9) for at in (1 / 2, 1 / 4, 1 / 4))


def run(full: bool, seed: int) -> Report:
    """The example's strategy after regrets of 2, 1 and 1, and where self-play leads."""
    example = regret_matching(REGRETS)
    rows = [
        printed(f"regrets (2, 1, 1): {move}", paper, float(ours), explained=explained)
        for move, paper, ours, explained in zip(MOVES, PRINTED, example, EXPLAINED, strict=True)
    ]
    mixed = np.array([2.0, 1.0, -2.0])
    raw, proper = mixed / mixed.sum(), regret_matching(mixed)
    rows += [
        new("regrets (2, 1, -2): scissors, raw regrets normalised", float(raw[2]), note="not a probability"),
        new("regrets (2, 1, -2): scissors, positive parts", float(proper[2])),
    ]
    solver = CFR(compile_game(rock_paper_scissors()), "vanilla")
    # Uniform play has no regrets, and stays: give the first move a regret, as the first throw of a real match does.
    solver.regret[0] = 1.0
    solver.step(1_000_000 if full else 50_000)
    quality = solver.quality()
    low, high = quality.bracket
    one_sided = (-1.0, 1.0)  # what a pure strategy of either side is worth
    rows.append(
        printed("value of the game", 0.0, (low + high) / 2, interval=(low, high), rivals=one_sided, note="certified")
    )
    average = solver.average()["player 0"]
    rows += [new(f"average strategy: {move}", average[move], note="1/3 in equilibrium") for move in MOVES]
    notes = (
        "The essay's algorithm 1 normalises raw regrets; regret matching normalises their positive parts, else a move "
        "that is regretted less than nothing would get a negative probability.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "essay-rps",
    "Regret matching on rock-paper-scissors",
    "essay on counterfactual regret minimisation, worked example",
    "1 s",
    "2 s",
    run,
)
