"""Overfitting: training brings exploitability in the abstract game to zero, and the real one turns up on the way.

The thesis proposal's Figure 6, in kind. The game here is two-round hold'em with four bets ([2-4], `holdem:2-4`) with five
percentile buckets of E[HS²] on each street and perfect recall, where best responses are exact in both games. What is best
among strategies that see buckets is too sure of what the other cannot see: the longer one trains, the better it answers an
opponent that nobody has to be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from riverboat.abstraction.cards.card_abstraction import CardAbstraction
from riverboat.abstraction.cards.perfect_recall import hand_values, percentile_abstraction
from riverboat.core.cache import kept
from riverboat.evaluation.best_response.exact import quality
from riverboat.games.boards.full_holdem import holdem
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.rows import Row, finding, new
from riverboat.solvers.mccfr.abstract_response import abstract_quality
from riverboat.solvers.mccfr.samplers import make_blueprint
from riverboat.solvers.mccfr.tables import Weighting
from riverboat.solvers.mccfr.trainer import Blueprint
from riverboat.strategies.blueprint import BlueprintStrategy

BUCKETS = 5
VALUE = "square"  # E[HS²]
FIRST = 128  # iterations before the first check; then each time twice as many
QUICK, FULL = 7, 12  # checks
WEIGHTING = Weighting("linear", FIRST // 2)  # later iterations count more
_NOISE = 1.03  # of the least figure: what is above has turned up


@dataclass(frozen=True)
class Point:
    """A run at a check; figures in mbb a hand, exact."""

    iterations: int
    real: float
    abstract: float


@cache
def two_rounds() -> tuple[ActionTree, CardAbstraction]:
    """[2-4] hold'em and its buckets. Strengths on the flop take a minute, and are kept."""
    rules = holdem("2-4").rules
    deals = rules.board[1:]
    values = kept("values-two-rounds-1", lambda: {"flop": hand_values(1, VALUE, rules.deck, deals, threads=2)})
    cards = percentile_abstraction(BUCKETS, VALUE, rules.deck, deals, values=(None, values["flop"]))
    return compile_actions(rules), cards


def measured(solver: Blueprint) -> Point:
    """Where a run stands, in both games."""
    tree = solver.tree
    average = tuple(solver.averages(street) for street in range(tree.rules.rounds))
    real = quality(BlueprintStrategy(tree.rules, tree.menu, tree, solver.cards, average), threads=2, self_play=False)
    inner = abstract_quality(solver).exploitability
    return Point(solver.iterations, real.mbb_per_game, 1000 * inner / tree.rules.big_blind)


def trained(
    game: tuple[ActionTree, CardAbstraction],
    traversal: str,
    checks: int,
    seed: int,
    measure: Callable[[Blueprint], Point] = measured,
) -> list[Point]:
    """A run with its checks, each after twice as many iterations."""
    solver, points = make_blueprint(*game, traversal, seed=seed, weighting=WEIGHTING), []
    for k in range(checks):
        solver.step(FIRST * 2**k - solver.iterations)
        points.append(measure(solver))
    return points


def rows_of(name: str, points: list[Point]) -> list[Row]:
    """The figures of a run."""
    rows = []
    for p in points:
        where = f"{name}, {p.iterations:,} iterations"
        rows.append(new(f"{where}: real game", p.real, note=f"{p.abstract:.4g} in the abstract game"))
    return rows


def curves_of(name: str, points: list[Point], panel: str) -> tuple[Curve, Curve]:
    """Both figures against iterations."""
    x = tuple(float(p.iterations) for p in points)
    real = Curve(f"{name}, real game", x, tuple(p.real for p in points), panel)
    return real, Curve(f"{name}, abstract game", x, tuple(p.abstract for p in points), panel)


def run(full: bool, seed: int) -> Report:
    """CFR over boards (PCS), measured on the way."""
    points = trained(two_rounds(), "pcs", FULL if full else QUICK, seed)
    least = min(points, key=lambda p: p.real)
    falls = max(after.abstract / before.abstract for before, after in pairwise(points))
    rows = [
        *rows_of("CFR", points),
        finding("abstract game: the largest step from check to check, shares of the one before", 1.0, falls, "<="),
        finding(
            "real game: at the end, shares of its least",
            _NOISE,
            points[-1].real / least.real,
            ">=",
            note=f"least, {least.real:.4g}, after {least.iterations:,} iterations",
        ),
    ]
    notes = (
        "Exploitability in mbb a hand, exact in both games: all 1,755 flops, all hands. An iteration is one flop with all "
        "hands of both seats (PCS), and later ones count more (linear).",
        f"Two rounds, at most four bets a round, {BUCKETS} percentile buckets of E[HS²] on each street: 5 before the flop "
        "and 25 on it, which tell the ones before.",
    )
    panel = "[2-4] hold'em, percentile 5: exploitability in mbb a hand against iterations"
    return Report(tuple(rows), notes, curves_of("CFR", points, panel), log=True)


EXPERIMENT = Experiment(
    id="proposal-figure-6",
    title="Overfitting: the abstract game is closed, and the real one turns up",
    source="Ganzfried, thesis proposal, Figure 6, in kind",
    cost="2 min",
    full_cost="15 min",
    run=run,
)
