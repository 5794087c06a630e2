"""Four samplers on two-round hold'em without abstraction: what figures 2a and 2b share.

Every canonical hand has a row of its own (169 before the flop and 1,286,792 on it), so the abstract game is the real one, and
best responses over all 1,755 flops are exact.
"""

from __future__ import annotations

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.papers.framework import Report
from riverboat.papers.public_chance_sampling.curves import SAMPLERS, Check, claims, curves_of, doublings, rows_of
from riverboat.papers.rows import Row, printed
from riverboat.solvers.mccfr.samplers import make_blueprint
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy

FLOPS = 1_286_792  # canonical hands on the flop
PAPER_FLOPS = 1_342_562  # of the paper's indexer: what its 16 and 94 million information sets come from


def game_of(kind: str) -> tuple[ActionTree, CardAbstraction]:
    """[2-1] or [2-4] hold'em, with all its hands."""
    rules = holdem(kind).rules
    return compile_actions(rules), lossless(rules.board[1:], rules.deck)


def exploitability(solver: Blueprint) -> float:
    """Of the average strategy, in mbb a hand, exact."""
    tree = solver.tree
    average = tuple(solver.averages(street) for street in range(tree.rules.rounds))
    strategy = BlueprintStrategy(tree.rules, tree.menu, tree, solver.cards, average)
    return quality(strategy, threads=2, self_play=False).mbb_per_game


def trained(
    game: tuple[ActionTree, CardAbstraction], traversal: str, seconds: float, checks: int, seed: int
) -> list[Check]:
    """One run with its checks."""
    make_blueprint(*game, traversal).step(1)  # compiles
    solver = make_blueprint(*game, traversal, seed=seed)
    return [
        Check(spent, solver.iterations, solver.updates, exploitability(solver))
        for spent in doublings(solver.step, lambda: solver.iterations, seconds, checks)
    ]


def size_rows(kind: str, tree: ActionTree, million: int) -> list[Row]:
    """Information sets, as the paper has them and as they are."""
    decisions = [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in (0, 1)]
    then = decisions[0] * 169 + decisions[1] * PAPER_FLOPS
    now = decisions[0] * 169 + decisions[1] * FLOPS
    note = f"{decisions[0]} decisions before the flop, {decisions[1]} on it; {now:,} with every flop hand once"
    return [printed(f"{kind}: information sets, with the paper's indexer", million * 1e6, then, digits=-6, note=note)]


def figure(kind: str, million: int, seconds: float, checks: int, seeds: range) -> Report:
    """All four samplers, from some seeds."""
    game = game_of(kind.strip("[]"))
    runs = {
        name: [trained(game, traversal, seconds, checks, seed) for seed in seeds]
        for traversal, name in SAMPLERS.items()
    }
    rows = [
        *size_rows(kind, game[0], million),
        *rows_of(runs, "mbb a hand"),
        *claims(runs, "exploitability", "PCS", ("CS", "OPCS", "SPCS")),
    ]
    notes = (
        f"{kind} hold'em, no abstraction. Exploitability in mbb a hand, exact: all flops, all hands. Vanilla CFR; time is "
        f"that of one core, without the measuring. Seeds: {len(seeds)}; figures are geometric means, intervals the least and "
        "the most.",
        "An iteration is one deal (CS), one board with all hands of both seats (PCS), or a board with all hands of one seat "
        "against a drawn hand of the other, for each seat in turn (OPCS, SPCS). The paper finds that PCS converges fastest.",
        "Until PCS and OPCS have drawn each of the 1,755 flops once or twice, all of them are near where they began, and "
        "their order says nothing: there OPCS is ahead of PCS in [2-4].",
    )
    return Report(tuple(rows), notes, tuple(curves_of(runs, f"{kind}: mbb a hand against seconds")), log=True)
