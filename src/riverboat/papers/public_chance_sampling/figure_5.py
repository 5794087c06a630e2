"""CS and PCS on Bluff: exploitability against time. Johanson et al. 2012, Figure 5."""

from __future__ import annotations

from riverboat.papers.framework import Experiment, Report
from riverboat.papers.pieces import Pieces
from riverboat.papers.public_chance_sampling.bluff import (
    FIRST,
    INFOSETS,
    PAPER,
    SECONDS,
    SMALL,
    VERSION,
    exploitability,
    runs_of,
    tree_of,
)
from riverboat.papers.public_chance_sampling.curves import checks_of, claims, curves_of, rows_of
from riverboat.papers.rows import printed


def run(full: bool, seed: int, seconds: int = 0, part: int = 0) -> Report:
    """Both samplers, `seconds` each."""
    tree, most = tree_of(full), float(seconds or SECONDS[full])
    checks = checks_of(most, FIRST[full])
    pieces = Pieces("pcs-figure-5", f"{VERSION} {most:g} {checks} {seed}", keep=full, part=part)
    runs = runs_of(tree, pieces, most, checks, seed, exploitability)
    rolls = tree.hand_counts[0] * tree.hand_counts[1]
    rows = rows_of(runs, "matches")
    if full:
        rows = [
            printed("information sets of Bluff(2,2), millions", 352, tree.infoset_count / 1e6, digits=0),
            printed("pairs of rolls in Bluff(2,2)", 441, rolls),
            *rows,
        ]
    if not pieces.missing:
        rows += claims(runs, "exploitability", "PCS", ("CS",))
    name = PAPER if full else SMALL
    notes = (
        f"{name}, {tree.infoset_count:,} information sets, vanilla CFR. Exploitability in matches (won +1, lost -1), exact; "
        "time is that of one core, without the measuring. A visit is a public node entered.",
        f"The paper's game is Bluff(2,2), {INFOSETS:,} information sets, which --full runs (5.6 GB of tables). There, too, "
        f"PCS is below CS at equal time: one walk with vectors does the work of one for each pair of rolls, {rolls} here.",
        f"{most:g} s for each run. {pieces.note}",
        *(
            ("In Bluff(2,1), the default size, PCS was at 0.060 after 8 s and CS at 0.223: ten times as fast.",)
            if full
            else ()
        ),
    )
    return Report(tuple(rows), notes, tuple(curves_of(runs, f"{name}: exploitability against seconds")), log=True)


EXPERIMENT = Experiment(
    "pcs-figure-5",
    "CS and PCS on Bluff: exploitability against time",
    "Johanson, Bard, Lanctot, Gibson & Bowling 2012, Figure 5",
    "40 s",
    "8 min",
    run,
    ("seconds", "part"),
)
