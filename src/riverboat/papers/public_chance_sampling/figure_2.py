"""Four samplers on two-round hold'em without abstraction (Johanson et al. 2012, Figures 2a and 2b).

Every canonical hand has its own row (169 before the flop and 1,286,792 on it), so the abstract game is the real one,
and best responses over all 1,755 flops are exact.
"""

from __future__ import annotations

from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.papers.framework import ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.curves import (
    SAMPLERS,
    claim_rows,
    sampler_curves,
    sampler_rows,
    train_with_checks,
)
from riverboat.papers.rows import ComparisonRow, printed_row
from riverboat.papers.training import AbstractGame, make_compiled_trainer, real_exploitability

CANONICAL_FLOP_HANDS = 1_286_792  # suit-isomorphic hands on the flop
PAPER_FLOP_HANDS = 1_342_562  # hands of the paper's indexer, which give its 16 and 94 million information sets


def make_game(kind: str) -> AbstractGame:
    """Return [2-1] or [2-4] hold'em with all its hands."""
    rules = holdem(kind).rules
    return compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)


def infoset_count_rows(kind: str, tree: ActionTree, million_infosets: int) -> list[ComparisonRow]:
    """Count information sets with the paper's indexer and with ours."""
    decisions = [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in (0, 1)]
    paper_count = decisions[0] * 169 + decisions[1] * PAPER_FLOP_HANDS
    exact_count = decisions[0] * 169 + decisions[1] * CANONICAL_FLOP_HANDS
    note = f"{decisions[0]} decisions before the flop, {decisions[1]} on it; {exact_count:,} with every flop hand once"
    name = f"{kind}: information sets, with the paper's indexer"
    return [printed_row(name, million_infosets * 1e6, paper_count, digits=-6, note=note)]


def figure_2_report(kind: str, million_infosets: int, seconds: float, checks: int, seeds: range) -> ExperimentReport:
    """Compare all four samplers over several seeds; `million_infosets` is the paper's count."""
    game = make_game(kind.strip("[]"))
    runs = {
        name: [
            train_with_checks(make_compiled_trainer(game, traversal, seed), real_exploitability, seconds, checks)
            for seed in seeds
        ]
        for traversal, name in SAMPLERS.items()
    }
    rows = [
        *infoset_count_rows(kind, game[0], million_infosets),
        *sampler_rows(runs, "mbb a hand"),
        *claim_rows(runs, "exploitability", "PCS", ("CS", "OPCS", "SPCS")),
    ]
    notes = format_notes("pcs-figure-2a", kind=kind, seeds=len(seeds))
    return ExperimentReport(rows, notes, sampler_curves(runs, f"{kind}: mbb a hand against seconds"), log=True)


def run_figure_2b(full: bool, seed: int) -> ExperimentReport:
    """Run [2-4] hold'em, four bets a round, for three minutes; with `full` twenty minutes with three seeds."""
    return figure_2_report(
        "[2-4]", 94, *((64.0, 6, range(seed, seed + 3)) if full else (16.0, 4, range(seed, seed + 1)))
    )


def run_figure_2a(full: bool, seed: int) -> ExperimentReport:
    """Run [2-1] hold'em, one bet a round, for a minute; with `full` eight minutes with three seeds."""
    return figure_2_report(
        "[2-1]", 16, *((32.0, 6, range(seed, seed + 3)) if full else (6.0, 4, range(seed, seed + 1)))
    )
