"""CS and PCS on limit hold'em with percentile buckets (Johanson et al. 2012, Figure 3).

The measure is exploitability in the abstract game. Limit hold'em has four rounds with four bets each, and n buckets of
E[HS²] on each street within those of the street before: 3.6, 23.6, 57.3 and 118.7 million information sets for n = 5, 8,
10 and 12. Best responses see buckets only, and are computed from joint counts of bucket sequences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.cards.percentile_buckets import percentile_abstraction
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.papers.framework import ExperimentParts, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.class_game import (
    ClassGame,
    class_game_from_boards,
    class_quality,
    sample_boards,
)
from riverboat.papers.public_chance_sampling.curves import (
    TrainingCheck,
    cached_run,
    claim_rows,
    num_checks,
    sampler_curves,
    sampler_rows,
    train_with_checks,
)
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, new_row, printed_row
from riverboat.papers.training import cached_abstraction, make_compiled_trainer
from riverboat.solvers.mccfr.trainer import BlueprintTrainer

SAMPLERS = {"chance": "CS", "pcs": "PCS"}
PAPER_MILLION_INFOSETS = {5: 3.6, 8: 23.6, 10: 57.3, 12: 118.6}
TRUNCATED_COUNT = ExplainedDifference(118.671936, "118,671,936: cut off, not rounded", within=0.01)
NUM_BOARDS = {False: 1500, True: 5000}  # of joint counts, by `full`
RUN_SECONDS = {False: 26, True: 64}  # by `full`
FIRST_CHECK_SECONDS = {False: 13.0, True: 32.0}  # of a run, by `full`
CACHE_VERSION = 1


def load_percentile_cards(n: int) -> CardAbstraction:
    """Load the buckets from the cache; computing them the first time takes minutes."""

    def build(folder: Path) -> CardAbstraction:
        cards = percentile_abstraction(n, "square", threads=2)
        cards.save(folder)
        return cards

    return cached_abstraction(f"percentile-square-{n}-1", build)


def exploitability(game: ClassGame, solver: BlueprintTrainer) -> float:
    """Return the exploitability in the abstract game, in mbb/g."""
    tables = [solver.tables.strategies(street) for street in range(game.tree.rules.rounds)]
    return 1000 * class_quality(game, tables, self_play=False).exploitability / game.tree.rules.big_blind


def train_sampler(
    tree: ActionTree,
    prepare_game: Callable[[], tuple[CardAbstraction, ClassGame]],
    traversal: str,
    seconds: float,
    checks: int,
    seed: int,
) -> list[TrainingCheck]:
    """Train one run with its checks."""
    cards, game = prepare_game()
    trainer = make_compiled_trainer((tree, cards), traversal, seed)
    return train_with_checks(trainer, partial(exploitability, game), seconds, checks)


def infoset_count_rows(tree: ActionTree) -> list[ComparisonRow]:
    """Count the information sets of all four abstract games."""
    decisions = [int(((tree.actor >= 0) & (tree.street == street)).sum()) for street in range(4)]
    rows = []
    for n, million in PAPER_MILLION_INFOSETS.items():
        count = sum(d * n ** (street + 1) for street, d in enumerate(decisions))
        why = TRUNCATED_COUNT if n == 12 else None
        rows.append(printed_row(f"n = {n}: information sets, millions", million, count / 1e6, digits=1, explained=why))
    return rows


def run(full: bool, seed: int, seconds: int = 0, boards: int = 0, part: int = 0) -> ExperimentReport:
    """Compare two numbers of buckets, or four with `full`; `seconds` for each run, joint counts of `boards`."""
    tree = compile_action_tree(holdem("4-4").rules)
    total_seconds, buckets = float(seconds or RUN_SECONDS[full]), (5, 8, 10, 12) if full else (5, 8)
    num_boards, checks = boards or NUM_BOARDS[full], num_checks(total_seconds, FIRST_CHECK_SECONDS[full])
    parts = ExperimentParts(
        "pcs-figure-3", f"{CACHE_VERSION} {total_seconds:g} {checks} {num_boards} {seed}", use_cache=full, part=part
    )
    rows, curves, shares = infoset_count_rows(tree), [], {}
    for n in buckets:
        prepared = cache(partial(_prepare_game, tree, n, num_boards, seed))
        results = {
            name: cached_run(
                parts, f"{n}-{name}", partial(train_sampler, tree, prepared, traversal, total_seconds, checks, seed)
            )
            for traversal, name in SAMPLERS.items()
        }
        runs = {name: [run] for name, run in results.items() if run is not None}
        rows += [new_row(f"n = {n}: {row.name}", row.ours, note=row.note) for row in sampler_rows(runs, "mbb a hand")]
        if len(runs) == len(SAMPLERS):
            shares[n] = runs["PCS"][0][-1].value / runs["CS"][0][-1].value
            rows.append(new_row(f"n = {n}: PCS at the end, shares of CS", shares[n]))
            rows += [row for row in claim_rows(runs, f"n = {n}", "PCS", ("CS",)) if row.kind == "new"]
        curves += sampler_curves(
            runs, f"percentile {n}: exploitability in the abstract game, mbb a hand, against seconds"
        )
    smallest, largest = min(shares, default=0), max(shares, default=0)
    if smallest < largest:
        name = f"PCS gains on CS as buckets grow: share of CS with {largest} buckets, shares of that with {smallest}"
        rows.append(finding_row(name, 1.0, shares[largest] / shares[smallest], "<="))
    notes = format_notes(
        "pcs-figure-3", num_boards=num_boards, pairs=num_boards * 1081 * 990, total_seconds=total_seconds, parts=parts
    )
    return ExperimentReport(rows, notes, curves, log=True)


def _prepare_game(tree: ActionTree, n: int, boards: int, seed: int) -> tuple[CardAbstraction, ClassGame]:
    cards = load_percentile_cards(n)
    return cards, class_game_from_boards(tree, cards, sample_boards(tree, boards, seed))
