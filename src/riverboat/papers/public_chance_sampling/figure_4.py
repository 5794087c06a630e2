"""CS and PCS by training time against one fixed strong agent, with imperfect recall (Johanson et al. 2012, Figure 4).

Theirs is limit hold'em with several hundred million information sets of imperfect recall, played against a winner of
the 2010 competition. Here hands are percentiles of E[HS²] on each street, regardless of the street before. The opponent
is trained by external sampling in the same game. PCS draws 64 boards at a time; so it runs first, and CS is measured
after the same times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, StreetBuckets
from riverboat.abstraction.cards.percentile_buckets import UNREACHED_CUT, hand_values
from riverboat.cards.deck import FULL_DECK
from riverboat.cards.isomorphism import HandIndexer
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.evaluation.matches.duel import duel
from riverboat.games.boards.holdem import HOLDEM_BOARD, holdem
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.public_chance_sampling.curves import (
    format_seconds,
    iterate_doubling_times,
    iterate_target_times,
    num_checks,
)
from riverboat.papers.rows import new_row
from riverboat.papers.training import average_strategy, make_compiled_trainer
from riverboat.solvers.mccfr.trainer import make_sampling_trainer

NUM_BUCKETS = 5000  # on each street
FIRST_CHECK_SECONDS = 52.0


def quantile_cuts(values: Array, num_buckets: int) -> Array:
    """Return the cuts that split hands of a street into percentiles of about equal size. uint16 [1, parts - 1]"""
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


@dataclass(frozen=True)
class AgentMatchCheck:
    """The result of a sampler's average strategy against the fixed agent at a check."""

    seconds: float  # training time
    iterations: int
    win_rate: float  # mbb/g
    half_width: float  # of the 95 % interval


def play_checks(
    cards: CardAbstraction, opponent_seconds: float, seconds: float, checks: int, hands: int, seed: int
) -> dict[str, list[AgentMatchCheck]]:
    """Train both samplers, and play matches after equal times against an agent trained by external sampling."""
    tree = compile_action_tree(holdem("4-4").rules)
    trainer = make_sampling_trainer(tree, cards, "external", seed=seed + 1)
    for _ in iterate_doubling_times(trainer.step, partial(getattr, trainer, "iterations"), opponent_seconds, 1):
        pass
    opponent = average_strategy(trainer)
    del trainer

    def play(traversal: str, targets: Sequence[float]) -> list[AgentMatchCheck]:
        solver, results = make_compiled_trainer((tree, cards), traversal, seed), []
        for elapsed in iterate_target_times(solver.step, partial(getattr, solver, "iterations"), targets):
            result = duel(average_strategy(solver), opponent, hands, seed, threads=2)
            results.append(AgentMatchCheck(elapsed, solver.iterations, result.mbb_per_game, result.ci95))
        return results

    first = play("pcs", [seconds / 2 ** (checks - 1 - k) for k in range(checks)])
    return {"CS": play("chance", [match.seconds for match in first]), "PCS": first}


def win_rate_lead(checks: dict[str, list[AgentMatchCheck]], k: int) -> tuple[float, float]:
    """Return the lead of PCS over CS at a check, and its half-width."""
    pcs, cs = checks["PCS"][k], checks["CS"][k]
    return pcs.win_rate - cs.win_rate, float(np.hypot(pcs.half_width, cs.half_width))


def run(full: bool, seed: int, seconds: int = 0, parts: int = 0, hands: int = 0) -> ExperimentReport:
    """Compare both samplers over `seconds`, with `parts` buckets a street and `hands` per match."""
    total_seconds, opponent_seconds = (832.0, 600.0) if full else (104.0, 60.0)
    total_seconds, match_hands = float(seconds or total_seconds), hands or 4_000_000
    checks, cards = num_checks(total_seconds, FIRST_CHECK_SECONDS), imperfect_recall_cards(parts or NUM_BUCKETS)
    results = play_checks(cards, opponent_seconds, total_seconds, checks, match_hands, seed)
    rows, curves = [], []
    for name, matches in results.items():
        for match in matches:
            label, note = f"{name}, {format_seconds(match.seconds)}", f"mbb a hand; {match.iterations:,} iterations"
            rows.append(new_row(label, match.win_rate, half_width=match.half_width, note=note))
        panel = "mbb a hand won from the fixed agent, by seconds of training"
        curves.append(Curve(name, [m.seconds for m in matches], [m.win_rate for m in matches], panel))
    for k in range(checks):
        lead, error = win_rate_lead(results, k)
        claim = "holds here" if lead > error else "does not hold here" if lead < -error else "is not settled here"
        name = f"PCS less CS after {format_seconds(results['CS'][k].seconds)}, mbb a hand"
        rows.append(new_row(name, lead, half_width=error, null=0.0, note=f"the paper's claim {claim}"))
    infosets = sum(compile_action_tree(holdem("4-4").rules).table_size(cards.counts).infosets)
    notes = format_notes(
        "pcs-figure-4",
        buckets=" – ".join(f"{n:,}" for n in cards.counts),
        infosets=infosets,
        opponent_seconds=opponent_seconds,
        match_hands=match_hands,
    )
    return ExperimentReport(rows, notes, curves)
