"""CS and PCS on Bluff: exploitability against time. Johanson et al. 2012, Figure 5."""

from __future__ import annotations

from riverboat.reproduce.framework import Experiment, Report
from riverboat.reproduce.pcs_bluff import INFOSETS, PAPER, SAMPLERS, SMALL, exploitability, trained, tree_of
from riverboat.reproduce.pcs_curves import claims, curves_of, rows_of
from riverboat.reproduce.rows import printed


def run(full: bool, seed: int) -> Report:
    """Both samplers."""
    tree = tree_of(full)
    seconds, checks, seeds = (1024.0, 6, range(seed, seed + 1)) if full else (8.0, 6, range(seed, seed + 1))
    runs = {
        name: [trained(tree, traversal, seconds, checks, s, exploitability) for s in seeds]
        for traversal, name in SAMPLERS.items()
    }
    rolls = tree.hand_counts[0] * tree.hand_counts[1]
    rows = [
        *(
            [printed("information sets of Bluff(2,2), millions", 352, tree.infoset_count / 1e6, digits=0)]
            if full
            else []
        ),
        *([printed("pairs of rolls in Bluff(2,2)", 441, rolls)] if full else []),
        *rows_of(runs, "matches"),
        *claims(runs, "exploitability", "PCS", ("CS",)),
    ]
    name = PAPER if full else SMALL
    notes = (
        f"{name}, {tree.infoset_count:,} information sets, vanilla CFR. Exploitability in matches (won +1, lost -1), exact; "
        "time is that of one core, without the measuring. A visit is a public node entered.",
        f"The paper's game is Bluff(2,2), {INFOSETS:,} information sets, which --full runs (5.6 GB of tables). There, too, "
        f"PCS is below CS at equal time: one walk with vectors does the work of one for each pair of rolls, {rolls} here.",
    )
    return Report(tuple(rows), notes, tuple(curves_of(runs, f"{name}: exploitability against seconds")), log=True)


EXPERIMENT = Experiment(
    "pcs-figure-5",
    "CS and PCS on Bluff: exploitability against time",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 5",
    "40 s",
    "45 min",
    run,
)
