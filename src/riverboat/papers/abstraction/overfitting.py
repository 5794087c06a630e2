"""Overfitting to an abstraction: abstract exploitability falls to zero while real exploitability rises again.

This is Figure 6 of Ganzfried's thesis proposal, and CFR-BR (Johanson et al. 2012). The game is two-round hold'em with
four bets ([2-4], `holdem:2-4`) with five percentile buckets of E[HS²] on each street and perfect recall, where best
responses are exact in both games. An equilibrium among strategies that see buckets relies on what the opponent cannot
see. The longer the training, the better the response to an opponent restricted to buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from riverboat.abstraction.cards.percentile_buckets import hand_values, percentile_abstraction
from riverboat.core.cache import cached_arrays
from riverboat.games.boards.holdem import holdem
from riverboat.games.holdem.action_tree import compile_action_tree
from riverboat.papers.framework import Curve, ExperimentReport, format_notes
from riverboat.papers.rows import ComparisonRow, finding_row, new_row
from riverboat.papers.training import (
    AbstractGame,
    abstract_exploitability,
    exploitability_curves,
    real_exploitability,
)
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import make_sampling_trainer

BUCKETS = 5
BUCKET_FEATURE = "square"  # E[HS²]
FIRST_CHECK = 128  # iterations before the first check; each later check doubles them
QUICK_CHECKS, FULL_CHECKS = 7, 12
WEIGHTING = Weighting("linear", FIRST_CHECK // 2)  # later iterations count more
_TOLERANCE = 1.03  # ratio to the minimum above which exploitability counts as rising


@dataclass(frozen=True)
class ExploitabilityPoint:
    """A measurement of a training run, in mbb/g, exact."""

    iterations: int
    real_exploitability: float
    abstract_exploitability: float


@cache
def two_round_holdem() -> AbstractGame:
    """Return [2-4] hold'em and its buckets; strengths on the flop take a minute and are cached."""
    rules = holdem("2-4").rules
    deals = rules.board[1:]
    values = cached_arrays(
        "values-two-rounds-1", lambda: {"flop": hand_values(1, BUCKET_FEATURE, rules.deck, deals, threads=2)}
    )
    cards = percentile_abstraction(BUCKETS, BUCKET_FEATURE, rules.deck, deals, values=(None, values["flop"]))
    return compile_action_tree(rules), cards


def train_with_checks(game: AbstractGame, traversal: str, checks: int, seed: int) -> list[ExploitabilityPoint]:
    """Train with measurements at doubling numbers of iterations."""
    solver, points = make_sampling_trainer(*game, traversal, seed=seed, weighting=WEIGHTING), []
    for k in range(checks):
        solver.step(FIRST_CHECK * 2**k - solver.iterations)
        measured = real_exploitability(solver), abstract_exploitability(solver)
        points.append(ExploitabilityPoint(solver.iterations, *measured))
    return points


def run_results(name: str, points: list[ExploitabilityPoint]) -> tuple[list[ComparisonRow], list[Curve]]:
    """Return the rows and curves of a training run."""
    rows = [
        new_row(
            f"{name}, {p.iterations:,} iterations: real game",
            p.real_exploitability,
            note=f"{p.abstract_exploitability:.4g} in the abstract game",
        )
        for p in points
    ]
    panel = f"[2-4] hold'em, percentile {BUCKETS}: exploitability in mbb a hand against iterations"
    return rows, exploitability_curves(name, [p.iterations for p in points], points, panel)


def run_overfitting(full: bool, seed: int) -> ExperimentReport:
    """Train by CFR over boards (PCS) with measurements."""
    points = train_with_checks(two_round_holdem(), "pcs", FULL_CHECKS if full else QUICK_CHECKS, seed)
    least = min(points, key=lambda p: p.real_exploitability)
    falls = max(after.abstract_exploitability / before.abstract_exploitability for before, after in pairwise(points))
    rows, curves = run_results("CFR", points)
    rows += [
        finding_row("abstract game: the largest step from check to check, shares of the one before", 1.0, falls, "<="),
        finding_row(
            "real game: at the end, shares of its least",
            _TOLERANCE,
            points[-1].real_exploitability / least.real_exploitability,
            ">=",
            note=f"least, {least.real_exploitability:.4g}, after {least.iterations:,} iterations",
        ),
    ]
    return ExperimentReport(rows, format_notes("proposal-figure-6", buckets=BUCKETS), curves, log=True)


# --- CFR-BR against CFR ---


def run_cfr_br(full: bool, seed: int) -> ExperimentReport:
    """Train both with the same buckets, and measure both games."""
    game, checks = two_round_holdem(), FULL_CHECKS if full else QUICK_CHECKS
    points = {
        name: train_with_checks(game, traversal, checks, seed)
        for name, traversal in (("CFR", "pcs"), ("CFR-BR", "cfr-br"))
    }
    (rows, curves), (br_rows, br_curves) = (run_results(name, run_points) for name, run_points in points.items())
    rows += br_rows
    last = {name: run_points[-1] for name, run_points in points.items()}
    share = last["CFR-BR"].real_exploitability / last["CFR"].real_exploitability
    rows += [
        finding_row(
            "real game: CFR-BR at the end, shares of CFR", 1.0, share, "<=", note="published: 25 of 103 = 0.24"
        ),
        finding_row(
            "abstract game: CFR at the end, shares of CFR-BR",
            1.0,
            last["CFR"].abstract_exploitability / last["CFR-BR"].abstract_exploitability,
            "<=",
            note="the equilibrium of the abstract game is another strategy",
        ),
        new_row("real game: least of CFR on the way", min(p.real_exploitability for p in points["CFR"])),
        new_row("real game: least of CFR-BR on the way", min(p.real_exploitability for p in points["CFR-BR"])),
    ]
    return ExperimentReport(rows, format_notes("cfr-br"), curves + br_curves, log=True)
