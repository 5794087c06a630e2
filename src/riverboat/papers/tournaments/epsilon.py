"""What is left to gain in the three-player tournament, after value iteration and after policy iteration."""

from __future__ import annotations

from riverboat.core import cores
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, finding, new
from riverboat.tournaments.run import SolvedTournament, kept_solution
from riverboat.tournaments.tournament import Tournament

SOURCE = "Ganzfried & Sandholm, AAMAS 2008 and IJCAI 2009"
PAPER = 0.5  # % of the entry fee
COSTS = "2 min, once", "30 min, once"
GRID = (
    "Without --full stacks are multiples of 900 instead of 300: 91 states of three players instead of 946; between two of "
    "them chance rounds, keeping everybody's mean. Solved once, then kept (`riverboat cache`)."
)
FEE = "The fee is a tenth of the prizes, 10: the paper's 0.0488 dollars are its 0.5 %."


def solved(full: bool, method: str = "pi-fp") -> SolvedTournament:
    """The paper's tournament, or the small one."""
    return kept_solution(Tournament() if full else Tournament.small(), method, cores.available_cores())


def run(full: bool, seed: int) -> Report:
    """Nothing is random."""
    rows: list[Row] = []
    for method in ("vi-fp", "pi-fp"):
        solution = solved(full, method)
        rows += [
            finding(
                f"{method}: largest gain of any player, % of the fee",
                PAPER,
                solution.percent_of_fee,
                "<=",
                note="exact",
            ),
            new(f"{method}: the same in dollars", solution.epsilon),
            new(f"{method}: steps outside", float(solution.steps)),
            new(f"{method}: seconds", solution.seconds),
        ]
    notes = (
        FEE,
        GRID,
        "The check is the paper's: the others' strategies fixed, a player has a Markov decision problem over all states and "
        "seats, heads-up states included; policy iteration solves it. The gain is the largest over all states.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment("tournament-epsilon", "The three-player tournament: what is left to gain", SOURCE, *COSTS, run)
