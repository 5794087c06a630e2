"""CFR-BR against CFR: the least exploitable strategy that an abstraction can express, against the best one inside it.

Johanson, Bard, Burch & Bowling 2012 train both on two-round hold'em with four bets, in an abstraction with imperfect recall:
CFR ends at 103 mbb a hand in the real game, CFR-BR at 25. Here the same game has five percentile buckets on each street.
"""

from __future__ import annotations

from riverboat.papers.abstraction.overfitting import FULL, QUICK, curves_of, rows_of, trained, two_rounds
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import finding, new


def run(full: bool, seed: int) -> Report:
    """Both on the same buckets, measured in both games."""
    game, checks = two_rounds(), FULL if full else QUICK
    points = {
        name: trained(game, traversal, checks, seed) for name, traversal in (("CFR", "pcs"), ("CFR-BR", "cfr-br"))
    }
    panel = "[2-4] hold'em, percentile 5: exploitability in mbb a hand against iterations"
    rows = [row for name, some in points.items() for row in rows_of(name, some)]
    last = {name: some[-1] for name, some in points.items()}
    share = last["CFR-BR"].real / last["CFR"].real
    rows += [
        finding("real game: CFR-BR at the end, shares of CFR", 1.0, share, "<=", note="published: 25 of 103 = 0.24"),
        finding(
            "abstract game: CFR at the end, shares of CFR-BR",
            1.0,
            last["CFR"].abstract / last["CFR-BR"].abstract,
            "<=",
            note="what is best among those who see buckets is another strategy",
        ),
        new("real game: least of CFR on the way", min(p.real for p in points["CFR"])),
        new("real game: least of CFR-BR on the way", min(p.real for p in points["CFR-BR"])),
    ]
    notes = (
        "Exploitability in mbb a hand, exact: all flops, all hands. An iteration is one flop with all hands.",
        "The opponent of CFR-BR sees its cards. Before the flop it learns by regret matching; on it, with no chance left, "
        "it plays its best response to what the seat plays now.",
        "The published figures are of an abstraction with imperfect recall and many more buckets, so they are not compared.",
    )
    curves = tuple(curve for name, some in points.items() for curve in curves_of(name, some, panel))
    return Report(tuple(rows), notes, curves, log=True)


EXPERIMENT = Experiment(
    id="cfr-br",
    title="CFR-BR: the least exploitable strategy that buckets can express",
    source="Johanson, Bard, Burch & Bowling 2012, in kind",
    cost="4 min",
    full_cost="45 min",
    run=run,
)
