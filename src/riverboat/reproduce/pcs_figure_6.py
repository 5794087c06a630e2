"""CS and PCS on Bluff, head to head against an ε-equilibrium. Johanson et al. 2012, Figure 6."""

from __future__ import annotations

from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.pcs_bluff import PAPER, SAMPLERS, SMALL, loss_to, trained, tree_of
from riverboat.reproduce.pcs_curves import claims, curves_of, rows_of
from riverboat.reproduce.rows import new
from riverboat.solving.cfr import CFR


def run(full: bool, seed: int) -> Report:
    """Both samplers against one that has learnt for long by another schedule."""
    tree = tree_of(full)
    opponent = CFR(tree, "dcfr", dtype="float32")
    opponent.step(400 if full else 200)
    epsilon = opponent.exploitability()
    seconds, checks = (1024.0, 6) if full else (8.0, 6)
    runs = {
        name: [trained(tree, traversal, seconds, checks, seed, loss_to(opponent))]
        for traversal, name in SAMPLERS.items()
    }
    rows = [
        new("exploitability of the opponent", epsilon, note=f"DCFR, {opponent.iteration} iterations"),
        *rows_of(runs, "matches lost"),
        *claims(runs, "loss to the equilibrium", "PCS", ("CS",)),
    ]
    name = PAPER if full else SMALL
    notes = (
        f"{name}: what the average strategy loses against an equilibrium (ε = {epsilon:.2g} matches) over both seats, "
        "exact: all pairs of rolls, none drawn. Nobody can win more than ε from it. Time is that of one core, without the "
        "measuring.",
        "The paper's game is Bluff(2,2), which --full runs (8.4 GB of tables).",
    )
    panel = f"{name}: matches lost to an ε-equilibrium against seconds"
    return Report(tuple(rows), notes, tuple(curves_of(runs, panel)), log=True)


EXPERIMENT = Experiment(
    "pcs-figure-6",
    "CS and PCS on Bluff, head to head against an ε-equilibrium",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 6",
    "1 min",
    "1 h 30 min",
    run,
)
