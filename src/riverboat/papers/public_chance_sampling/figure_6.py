"""CS and PCS on Bluff, head to head against an ε-equilibrium. Johanson et al. 2012, Figure 6."""

from __future__ import annotations

from functools import cache

from riverboat.papers.framework import Experiment, Report
from riverboat.papers.pieces import Pieces
from riverboat.papers.public_chance_sampling.bluff import (
    FIRST,
    PAPER,
    SECONDS,
    SMALL,
    VERSION,
    loss_to,
    runs_of,
    tree_of,
)
from riverboat.papers.public_chance_sampling.curves import checks_of, claims, curves_of, rows_of
from riverboat.papers.rows import new
from riverboat.solvers.tabular.cfr import CFR


def run(full: bool, seed: int, seconds: int = 0, iterations: int = 0, threads: int = 1, part: int = 0) -> Report:
    """Both samplers, `seconds` each, against one that has learnt by another schedule for `iterations`, on `threads`."""
    tree, most = tree_of(full), float(seconds or SECONDS[full])
    checks, learnt = checks_of(most, FIRST[full]), iterations or (20 if full else 200)
    pieces = Pieces("pcs-figure-6", f"{VERSION} {most:g} {checks} {learnt} {seed}", keep=full, part=part)

    @cache
    def opponent() -> CFR:
        solver = CFR(tree, "dcfr", dtype="float32", threads=threads)
        solver.step(learnt)
        return solver

    quality = pieces.get("opponent", lambda: {"epsilon": opponent().exploitability()})
    runs = runs_of(tree, pieces, most, checks, seed, lambda solver: loss_to(opponent())(solver))
    rows = rows_of(runs, "matches lost")
    if quality is not None:
        note = f"DCFR, {learnt} iterations"
        rows.insert(0, new("exploitability of the opponent", float(quality["epsilon"]), note=note))
    if not pieces.missing:
        rows += claims(runs, "loss to the equilibrium", "PCS", ("CS",))
    name = PAPER if full else SMALL
    notes = (
        f"{name}: what the average strategy loses over both seats against an equilibrium, or nearly one, exact: all pairs of "
        "rolls, none drawn. Nobody can win more than its exploitability from it. Time is that of one core, without the "
        "measuring.",
        "The paper's game is Bluff(2,2), which --full runs (8.4 GB of tables).",
        f"{most:g} s for each run. {pieces.note}",
    )
    panel = f"{name}: matches lost to an ε-equilibrium against seconds"
    return Report(tuple(rows), notes, tuple(curves_of(runs, panel)), log=True)


EXPERIMENT = Experiment(
    "pcs-figure-6",
    "CS and PCS on Bluff, head to head against an ε-equilibrium",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 6",
    "1 min",
    "15 min",
    run,
    ("seconds", "iterations", "threads", "part"),
)
