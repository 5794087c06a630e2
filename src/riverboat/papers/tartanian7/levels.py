"""Three levels of blades on a small deck: what a cluster of clusters learns from a deal, beside two levels and one machine.

Brown, Ganzfried & Sandholm (2015) have a head and blades, each of which owns all streets after its flops. Where a share is
too large for one machine, a blade can be a head to others. Leduc with a second public card (six cards, three rounds) is small
enough for exact exploitability: at three levels 1, 3 and 9 machines have a street each.
"""

from __future__ import annotations

from riverboat.evaluation.best_response.exact import quality
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.games.holdem.rules import Rules
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import Row, new
from riverboat.papers.tartanian7.blade_levels import BladeLevels

LEVELS = (1, 2, 3)


def three_rounds() -> ActionTree:
    """Leduc with a second public card, and one bet on each of the later rounds."""
    rules = Rules(
        limit=True, blinds=(1, 1), raise_sizes=(2, 4, 4), most_raises=(2, 1, 1), first=(1, 1, 1), suits=2, ranks=3, hole=1,
        board=(0, 1, 1), name="leduc of three rounds",
    )  # fmt: skip
    return compile_actions(rules)


def run(full: bool, seed: int) -> Report:
    """All levels, with equal deals."""
    return compare((1_000, 4_000, 16_000) if full else (250, 1_000), seed)


def compare(deals: tuple[int, ...], seed: int) -> Report:
    """Exploitability of each number of levels after so many deals."""
    tree = three_rounds()
    rows: list[Row] = []
    curves = []
    for levels, weighted in [*((n, True) for n in LEVELS), (3, False)]:
        solver = BladeLevels(tree, levels, seed, weighted=weighted)
        left, name = [], f"{levels} level{'s' if levels > 1 else ''}{'' if weighted else ', not weighted'}"
        for count in deals:
            solver.step(count - solver.iterations)
            left.append(quality(solver.strategy()).mbb_per_game)
            note = f"{solver.machines} machines, {solver.messages / solver.iterations:.1f} messages a deal"
            rows.append(new(f"{name}: {count:,} deals", left[-1], note=note))
        curves.append(Curve(name, tuple(map(float, deals)), tuple(left), "exploitability against deals"))
    notes = (
        "Exact exploitability in thousandths of an ante a hand. A deal of hands visits every machine, which draws a card "
        "of its own: with more levels a deal shows more boards.",
        "Not weighted: machines learn as the paper's pseudocode has it, without the number of cards that each could draw.",
    )
    return Report(tuple(rows), notes, tuple(curves), log=True)


EXPERIMENT = Experiment(
    id="blade-levels",
    title="Head and blades on three levels, on a small deck",
    source="Brown, Ganzfried & Sandholm 2015, Algorithm 4, with blades that are heads",
    cost="30 s",
    full_cost="7 min",
    run=run,
)
