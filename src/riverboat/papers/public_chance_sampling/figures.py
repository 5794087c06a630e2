"""Figures 2 to 6 of Johanson et al. (2012): samplers on hold'em, and (public) chance sampling on Bluff.

Figure 2 has four samplers on two-round hold'em without abstraction. Every canonical hand has its own row (169 before
the flop and 1,286,792 on it), so the abstract game is the real one, and best responses over all 1,755 flops are exact.

Figure 3 is limit hold'em of four rounds with four bets each, and n buckets of E[HS²] on each street within those of the
street before: 3.6, 23.6, 57.3 and 118.7 million information sets for n = 5, 8, 10 and 12. The measure is exploitability
in the abstract game. Best responses see buckets only, and are computed from joint counts of bucket sequences.

Figure 4 has matches against one fixed agent by training time. Theirs is limit hold'em with several hundred million
information sets of imperfect recall, played against a winner of the 2010 competition. Here hands are percentiles of
E[HS²] on each street, regardless of the street before. The opponent is trained by external sampling in the same game.
PCS draws 64 boards at a time; so it runs first, and CS is measured after the same times.

Figures 5 and 6 are on Bluff. It has no public chance, so PCS is a full traversal with vectors of rolls, and CS a
traversal with one roll for each player. The default game is Bluff(2,1), with 3.5 million information sets; the paper's
is Bluff(2,2), with 352 million.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets, lossless_abstraction
from riverboat.abstraction.cards.percentile_buckets import UNREACHED_CUT, hand_values, percentile_abstraction
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.duel import duel
from riverboat.games.boards.holdem import HOLDEM_BOARD, holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.papers import training
from riverboat.papers.framework import Curve, ExperimentParts, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling import class_game
from riverboat.papers.public_chance_sampling import curves as shared
from riverboat.papers.public_chance_sampling.class_game import ClassGame
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, new_row, printed_row, variation_row
from riverboat.papers.training import AbstractGame
from riverboat.solvers import game_values
from riverboat.solvers.mccfr.trainer import BlueprintTrainer
from riverboat.solvers.tabular.best_response import expected_value
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game
from riverboat.trees.public import PublicTree

# --- Figure 2: two rounds ---

CANONICAL_FLOP_HANDS = 1_286_792  # suit-isomorphic hands on the flop
PAPER_FLOP_HANDS = 1_342_562  # hands of the paper's indexer, which give its 16 and 94 million information sets


def make_game(kind: str) -> AbstractGame:
    """Return [2-1] or [2-4] hold'em with one bucket for every canonical hand."""
    rules = holdem(kind).rules
    return compile_action_tree(rules), lossless_abstraction(rules.board[1:], rules.deck)


def two_round_infoset_rows(kind: str, tree: ActionTree, million_infosets: int) -> list[ComparisonRow]:
    """Compare the number of information sets with the one that Johanson et al. print, by their count of flop hands.

    `million_infosets` is the printed number. The row's note has the number with every canonical flop hand once.
    """
    paper_count = sum(tree.table_size((169, PAPER_FLOP_HANDS)).infosets)
    exact_count = sum(tree.table_size((169, CANONICAL_FLOP_HANDS)).infosets)
    before, on_flop = map(sum, tree.shape.decisions)
    note = f"{before} decisions before the flop, {on_flop} on it; {exact_count:,} with every flop hand once"
    name = f"{kind}: information sets, with the paper's indexer"
    return [printed_row(name, million_infosets * 1e6, paper_count, digits=-6, note=note)]


MILLION_INFOSETS = {"[2-1]": 16, "[2-4]": 94}  # printed numbers of information sets
RUNS = {  # seconds, checks at doubling times, seeds; by default and with `full`
    "[2-1]": ((6.0, 4, 1), (32.0, 6, 3)),
    "[2-4]": ((16.0, 4, 1), (64.0, 6, 3)),
}


def run_figure_2(full: bool, seed: int, kind: str) -> ExperimentReport:
    """Compare four samplers on a two-round game by exploitability at doubling times."""
    seconds, checks, num_seeds = RUNS[kind][full]
    game = make_game(kind.strip("[]"))
    runs = {
        name: [
            shared.train_with_checks(
                training.make_compiled_trainer(game, traversal, seed + k), training.real_exploitability, seconds, checks
            )
            for k in range(num_seeds)
        ]
        for traversal, name in shared.SAMPLERS.items()
    }
    rows = [
        *two_round_infoset_rows(kind, game[0], MILLION_INFOSETS[kind]),
        *shared.sampler_rows(runs, "mbb a hand"),
        *shared.claim_rows(runs, "exploitability"),
    ]
    notes = format_notes("pcs-figure-2a", kind=kind, seeds=num_seeds)
    return ExperimentReport(rows, notes, shared.sampler_curves(runs, f"{kind}: mbb a hand against seconds"), log=True)


# --- Figure 3: percentile buckets ---

PAPER_MILLION_INFOSETS = {5: 3.6, 8: 23.6, 10: 57.3, 12: 118.6}
TRUNCATED_COUNT = ExplainedDifference(
    118.671936, "118,671,936: cut off, not rounded", 0.01, "n = 12: millions, cut off"
)
NUM_BOARDS = {False: 1500, True: 5000}  # sampled boards for joint bucket counts, by `full`
RUN_SECONDS = {False: 26, True: 64}  # CPU time of a training run, by `full`
FIRST_CHECK_SECONDS = {False: 13.0, True: 32.0}  # time of the first check of a run, by `full`
CACHE_VERSION = 1


def load_percentile_cards(n: int) -> CardAbstraction:
    """Load n percentile buckets of E[HS²] per bucket of the street before, cached; the first time takes minutes."""

    def build(folder: Path) -> CardAbstraction:
        cards = percentile_abstraction(n, "square", threads=2)
        cards.save(folder)
        return cards

    return training.cached_abstraction(f"percentile-square-{n}-1", build)


def exploitability(game: ClassGame, solver: BlueprintTrainer) -> float:
    """Return the exploitability in the abstract game, in mbb/g."""
    tables = [solver.tables.strategies(street) for street in range(game.tree.rules.rounds)]
    return 1000 * class_game.class_quality(game, tables, self_play=False).exploitability / game.tree.rules.big_blind


def train_sampler(
    prepare_game: Callable[[], tuple[CardAbstraction, ClassGame]],
    seconds: float,
    checks: int,
    seed: int,
    traversal: str,
) -> list[shared.TrainingCheck]:
    """Train with one sampler for `seconds` of CPU time; measure abstract exploitability at `checks` doubling times."""
    cards, game = prepare_game()
    trainer = training.make_compiled_trainer((game.tree, cards), traversal, seed)
    return shared.train_with_checks(trainer, partial(exploitability, game), seconds, checks)


def four_round_infoset_rows(tree: ActionTree) -> list[ComparisonRow]:
    """Compare the numbers of information sets of all four abstract games with the printed ones."""
    rows = []
    for n, million in PAPER_MILLION_INFOSETS.items():
        count = sum(tree.table_size((n, n**2, n**3, n**4)).infosets)
        why = TRUNCATED_COUNT if n == 12 else None
        rows.append(printed_row(f"n = {n}: information sets, millions", million, count / 1e6, digits=1, explained=why))
        if why:
            rows.append(variation_row(why.test, million, count // 100_000 / 10))
    return rows


def run_figure_3(full: bool, seed: int, seconds: int = 0, boards: int = 0, part: int = 0) -> ExperimentReport:
    """Compare CS and PCS with two numbers of buckets, or four with `full`, by abstract exploitability.

    `seconds` is the CPU time of each run, `boards` the number of boards for joint bucket counts, `part` the cached part
    to compute.
    """
    tree = compile_action_tree(holdem("4-4").rules)
    total_seconds, buckets = float(seconds or RUN_SECONDS[full]), (5, 8, 10, 12) if full else (5, 8)
    num_boards, checks = boards or NUM_BOARDS[full], shared.num_checks(total_seconds, FIRST_CHECK_SECONDS[full])
    parts = ExperimentParts(
        "pcs-figure-3", f"{CACHE_VERSION} {total_seconds:g} {checks} {num_boards} {seed}", use_cache=full, part=part
    )
    rows, curves, shares = four_round_infoset_rows(tree), [], {}
    for n in buckets:
        prepared = cache(partial(_prepare_game, tree, n, num_boards, seed))
        train = partial(train_sampler, prepared, total_seconds, checks, seed)
        runs = shared.cached_runs(parts, train, f"{n}-")
        for row in shared.sampler_rows(runs, "mbb a hand"):
            rows.append(new_row(f"n = {n}: {row.name}", row.ours, note=row.note))
        if len(runs) == len(shared.CS_AND_PCS):
            shares[n] = runs["PCS"][0][-1].value / runs["CS"][0][-1].value
            rows.append(new_row(f"n = {n}: PCS at the end, shares of CS", shares[n]))
            rows += [row for row in shared.claim_rows(runs, f"n = {n}") if row.kind == "new"]
        panel = f"percentile {n}: exploitability in the abstract game, mbb a hand, against seconds"
        curves += shared.sampler_curves(runs, panel)
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
    return cards, class_game.class_game_from_boards(tree, cards, class_game.sample_boards(tree, boards, seed))


# --- Figure 4: matches ---

NUM_BUCKETS = 5000  # on each street
FIRST_MATCH_SECONDS = 52.0


def quantile_cuts(values: Array, num_buckets: int) -> Array:
    """Return the values of E[HS²] that split the hands of a street into percentiles. uint16 [1, num_buckets - 1]"""
    below = np.cumsum(np.bincount(values, minlength=1 << 16))
    wanted = np.arange(1, num_buckets) * below[-1] / num_buckets
    cuts: Array = (np.searchsorted(below, wanted) + 1).clip(0, 65_535).astype(np.uint16)
    return cuts[None]


def imperfect_recall_cards(num_buckets: int) -> CardAbstraction:
    """Return all hands before the flop, and percentiles of E[HS²] on each later street with imperfect recall."""
    if not 2 <= num_buckets <= UNREACHED_CUT:
        raise InputError(f"parts={num_buckets}: must be 2 to {UNREACHED_CUT:,}")
    streets = [StreetBuckets(HandIndexer.for_deck(FULL_DECK, (2,)).size())]
    for street in (1, 2, 3):
        values = hand_values(street)
        streets.append(StreetBuckets(num_buckets, values[None], cuts=quantile_cuts(values, num_buckets)))
    return CardAbstraction(tuple(streets), HOLDEM_BOARD[1:], FULL_DECK, name=f"{num_buckets} parts, forgets")


class AgentMatchCheck(NamedTuple):
    """Result of a match of a sampler's average strategy against a fixed agent, after some training time."""

    seconds: float  # training time
    iterations: int
    win_rate: float  # mbb/g
    half_width: float  # of the 95 % interval


def play_checks(
    cards: CardAbstraction, opponent_seconds: float, seconds: float, checks: int, hands: int, seed: int
) -> dict[str, list[AgentMatchCheck]]:
    """Train both samplers, and play matches after equal times against an agent trained by external sampling."""
    tree = compile_action_tree(holdem("4-4").rules)
    trainer = BlueprintTrainer(tree, cards, "external", seed=seed + 1)
    for _ in shared.iterate_target_times(trainer.step, partial(getattr, trainer, "iterations"), [opponent_seconds]):
        pass
    opponent = training.average_strategy(trainer)
    del trainer

    def play(traversal: str, targets: Sequence[float]) -> list[AgentMatchCheck]:
        solver, results = training.make_compiled_trainer((tree, cards), traversal, seed), []
        for elapsed in shared.iterate_target_times(solver.step, partial(getattr, solver, "iterations"), targets):
            result = duel(training.average_strategy(solver), opponent, hands, seed, threads=2)
            results.append(AgentMatchCheck(elapsed, solver.iterations, result.mbb_per_game, result.ci95))
        return results

    first = play("pcs", shared.doubling_times(seconds, checks))
    return {"CS": play("chance", [match.seconds for match in first]), "PCS": first}


def run_figure_4(full: bool, seed: int, seconds: int = 0, parts: int = 0, hands: int = 0) -> ExperimentReport:
    """Compare CS and PCS by win rates against a fixed agent over `seconds` of training.

    `parts` is the number of buckets on each of flop, turn and river, `hands` the number of hands per match.
    """
    total_seconds, opponent_seconds = (832.0, 600.0) if full else (104.0, 60.0)
    total_seconds, hands = float(seconds or total_seconds), hands or 4_000_000
    checks, cards = shared.num_checks(total_seconds, FIRST_MATCH_SECONDS), imperfect_recall_cards(parts or NUM_BUCKETS)
    results = play_checks(cards, opponent_seconds, total_seconds, checks, hands, seed)
    rows, curves = [], []
    for name, matches in results.items():
        for match in matches:
            label = f"{name}, {shared.format_seconds(match.seconds)}"
            note = f"mbb a hand; {match.iterations:,} iterations"
            rows.append(new_row(label, match.win_rate, half_width=match.half_width, note=note))
        panel = "mbb a hand won from the fixed agent, by seconds of training"
        curves.append(Curve(name, [m.seconds for m in matches], [m.win_rate for m in matches], panel))
    for k in range(checks):
        pcs, cs = results["PCS"][k], results["CS"][k]
        lead, error = pcs.win_rate - cs.win_rate, float(np.hypot(pcs.half_width, cs.half_width))
        claim = "holds here" if lead > error else "does not hold here" if lead < -error else "is not settled here"
        name = f"PCS less CS after {shared.format_seconds(cs.seconds)}, mbb a hand"
        rows.append(new_row(name, lead, half_width=error, null=0.0, note=f"the paper's claim {claim}"))
    infosets = sum(compile_action_tree(holdem("4-4").rules).table_size(cards.counts).infosets)
    buckets = " – ".join(f"{n:,}" for n in cards.counts)
    notes = format_notes("pcs-figure-4", buckets=buckets, infosets=infosets, seconds=opponent_seconds, hands=hands)
    return ExperimentReport(rows, notes, curves)


# --- Bluff ---

BLUFF_RUN_SECONDS = {False: 8, True: 128}  # CPU time of a training run, by `full`
BLUFF_FIRST_CHECK_SECONDS = {False: 0.25, True: 32.0}  # time of the first check of a run, by `full`
MIN_PLOTTED_VALUE = 1e-7  # on logarithmic axes


def make_bluff_tree(full: bool) -> Tree:
    """Return the tree of Bluff(2,1), or with `full` of Bluff(2,2); values of smaller games are solved and cached."""
    return compile_game(game_values.game("bluff:2,2" if full else "bluff:2,1"))


def train_bluff(
    tree: Tree, seconds: float, checks: int, seed: int, measure: Callable[[CFR], float], traversal: str
) -> list[shared.TrainingCheck]:
    """Train Bluff with one sampler for `seconds` of CPU time, and call `measure` at `checks` doubling times."""
    solver = CFR(tree, "vanilla", traversal, seed=seed, dtype="float32")  # tables of Bluff(2,2) take 5.6 GB
    solver.warm()
    return [
        shared.TrainingCheck(elapsed, solver.iteration, solver.nodes_touched, max(measure(solver), MIN_PLOTTED_VALUE))
        for elapsed in shared.iterate_target_times(
            solver.step, lambda: solver.iteration, shared.doubling_times(seconds, checks)
        )
    ]


def loss_against(equilibrium: CFR, solver: CFR) -> float:
    """Return the exact expected loss of a solver's average strategy to an equilibrium, averaged over both seats."""
    tree = equilibrium.tree
    assert isinstance(tree, PublicTree)
    return -sum(expected_value(tree, seat, solver.averages, equilibrium.averages) for seat in (0, 1)) / 2


# --- Figure 6: head to head against an ε-equilibrium ---


def run_figure_6(
    full: bool, seed: int, seconds: int = 0, iterations: int = 0, threads: int = 1, part: int = 0
) -> ExperimentReport:
    """Train CS and PCS for `seconds` each; measure their losses to an opponent that DCFR trains for `iterations`."""
    tree, total_seconds = make_bluff_tree(full), float(seconds or BLUFF_RUN_SECONDS[full])
    checks = shared.num_checks(total_seconds, BLUFF_FIRST_CHECK_SECONDS[full])
    opponent_iterations = iterations or (20 if full else 200)
    cache_key = f"{CACHE_VERSION} {total_seconds:g} {checks} {opponent_iterations} {seed}"
    parts = ExperimentParts("pcs-figure-6", cache_key, use_cache=full, part=part)

    @cache
    def opponent() -> CFR:
        solver = CFR(tree, "dcfr", dtype="float32", threads=threads)
        solver.step(opponent_iterations)
        return solver

    def measure(solver: CFR) -> float:
        return loss_against(opponent(), solver)

    quality = parts.get_or_compute("opponent", lambda: {"epsilon": opponent().exploitability()})
    runs = shared.cached_runs(parts, partial(train_bluff, tree, total_seconds, checks, seed, measure))
    rows = shared.sampler_rows(runs, "matches lost")
    if quality is not None:
        note = f"DCFR, {opponent_iterations} iterations"
        rows.insert(0, new_row("exploitability of the opponent", quality["epsilon"], note=note))
    if not parts.missing:
        rows += shared.claim_rows(runs, "loss to the equilibrium")
    panel = f"{tree.name}: matches lost to an ε-equilibrium against seconds"
    notes = format_notes("pcs-figure-6", name=tree.name, total_seconds=total_seconds, parts=parts)
    return ExperimentReport(rows, notes, shared.sampler_curves(runs, panel), log=True)


# --- Figure 5: exploitability against time ---


def run_figure_5(full: bool, seed: int, seconds: int = 0, part: int = 0) -> ExperimentReport:
    """Compare the exploitability of CS and PCS on Bluff by training time, `seconds` of CPU time each."""
    tree, total_seconds = make_bluff_tree(full), float(seconds or BLUFF_RUN_SECONDS[full])
    checks = shared.num_checks(total_seconds, BLUFF_FIRST_CHECK_SECONDS[full])
    cache_key = f"{CACHE_VERSION} {total_seconds:g} {checks} {seed}"
    parts = ExperimentParts("pcs-figure-5", cache_key, use_cache=full, part=part)
    runs = shared.cached_runs(parts, partial(train_bluff, tree, total_seconds, checks, seed, CFR.exploitability))
    rolls = tree.hand_counts[0] * tree.hand_counts[1]
    rows = shared.sampler_rows(runs, "matches")
    if full:
        rows[:0] = [
            printed_row("information sets of Bluff(2,2), millions", 352, tree.infoset_count / 1e6, digits=0),
            printed_row("pairs of rolls in Bluff(2,2)", 441, rolls),
        ]
    if not parts.missing:
        rows += shared.claim_rows(runs, "exploitability")
    notes = format_notes("pcs-figure-5", name=tree.name, tree=tree, rolls=rolls, seconds=total_seconds, parts=parts)
    curves = shared.sampler_curves(runs, f"{tree.name}: exploitability against seconds")
    return ExperimentReport(rows, notes if full else notes[:-1], curves, log=True)
