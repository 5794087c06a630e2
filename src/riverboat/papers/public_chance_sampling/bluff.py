"""Chance sampling and public chance sampling on Bluff: what figures 5 and 6 share.

Bluff has no public chance, so PCS is a full walk with vectors of rolls, and CS one walk with a roll for each player. By
default the game is Bluff(2,1), with 3.5 million information sets; the paper's is Bluff(2,2), with 352 million.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from riverboat.core.errors import InputError
from riverboat.papers.pieces import Pieces
from riverboat.papers.public_chance_sampling.curves import Check, doublings, piece
from riverboat.solvers.game_values import game
from riverboat.solvers.tabular.best_response import earned
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

SAMPLERS = {"chance": "CS", "pcs": "PCS"}
SMALL, PAPER = "bluff:2,1", "bluff:2,2"
INFOSETS = 352_321_536  # of Bluff(2,2)
SECONDS, FIRST = {False: 8, True: 128}, {False: 0.25, True: 32.0}  # of a run, and to its first check; `full` or not
VERSION = 1  # of what pieces hold
LEAST = 1e-7  # of a figure on a logarithmic axis


def tree_of(full: bool) -> Tree:
    """The game as a tree; the values of the smaller games are solved first, and kept."""
    return compile_game(game(PAPER if full else SMALL))


def solver_of(tree: Tree, traversal: str, seed: int) -> CFR:
    """Vanilla CFR with numbers of four bytes: those of Bluff(2,2) take 5.6 GB."""
    return CFR(tree, "vanilla", traversal, seed=seed, dtype="float32")


def trained(
    tree: Tree, traversal: str, seconds: float, checks: int, seed: int, measure: Callable[[CFR], float]
) -> list[Check]:
    """One run with its checks."""
    solver = solver_of(tree, traversal, seed)
    solver.warm()
    return [
        Check(spent, solver.iteration, solver.nodes_touched, max(measure(solver), LEAST))
        for spent in doublings(solver.step, lambda: solver.iteration, seconds, checks)
    ]


def runs_of(
    tree: Tree, pieces: Pieces, seconds: float, checks: int, seed: int, measure: Callable[[CFR], float]
) -> dict[str, list[list[Check]]]:
    """The runs of a figure that are there, each a piece."""
    runs = {}
    for traversal, name in SAMPLERS.items():
        run = piece(pieces, name, partial(trained, tree, traversal, seconds, checks, seed, measure))
        if run is not None:
            runs[name] = [run]
    return runs


def exploitability(solver: CFR) -> float:
    """Of the average strategy, in matches."""
    return solver.exploitability()


def loss_to(equilibrium: CFR) -> Callable[[CFR], float]:
    """What an average strategy loses against an equilibrium's, the mean of both seats, in matches: exact, no dice rolled."""
    tree, theirs = equilibrium.tree, equilibrium.average_sums
    if not isinstance(tree, PublicTree):
        raise InputError(f"{tree.name}: what players earn by hand needs a public game")

    def measure(solver: CFR) -> float:
        return -sum(earned(tree, seat, solver.average_sums, theirs) for seat in (0, 1)) / 2

    return measure
