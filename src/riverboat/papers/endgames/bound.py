"""What safe endgame solving promises beside what it brings, on Leduc's second round.

If the opponent's best response to the refined strategy reaches its information set I at the start of an endgame, then the
refined strategy concedes at least N(I) · M(I) less than the base strategy: M(I) is the margin there with the gifts on
the way, given the hand, and N(I) the probability that chance and the refined player lead to I (Brown & Sandholm 2017,
theorem 2, as read: for reach margins; with plain margins for maxmargin and re-solve).
"""

from __future__ import annotations

from dataclasses import dataclass

from riverboat.games.registry import make
from riverboat.papers.endgames.coin_toss import SAFE, TITLES, bases
from riverboat.papers.framework import Experiment, Report
from riverboat.papers.rows import Row, theorem
from riverboat.solvers.tabular.best_response import best_response
from riverboat.solvers.tabular.state_values import ranges_at
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.resolving import after_chance, refine
from riverboat.subgames.values import entries
from riverboat.trees.gadgets import endgame_at
from riverboat.trees.public import PublicTree

ROUNDING = 1e-6  # of many linear programs


@dataclass(frozen=True)
class Promise:
    """One player's strategy, refined in all endgames."""

    before: float  # what the opponent's best response earns against the base strategy
    after: float  # and against the refined one
    promised: float  # how much less it must be, by the best information set that the new best response reaches
    where: str  # that information set

    @property
    def bound(self) -> float:
        """What the opponent earns at most."""
        return self.before - self.promised


def promise(base: Strategy, lines: list[str], method: str, player: int) -> Promise:
    """Refine one player and compare."""
    tree, opponent = base.tree, 1 - player
    assert isinstance(tree, PublicTree)
    refined = refine(base, lines, method, players=(player,))
    before = best_response(base, opponent)[0]
    after, answer = best_response(refined.strategy, opponent)
    known = entries(base, player, [endgame_at(tree, line) for line in lines])
    best, where = 0.0, "no endgame"
    for line, entry, part in zip(lines, known, refined.endgames, strict=True):
        reached = ranges_at(answer, line)[opponent]
        for h, hand in enumerate(tree.hands[opponent]):
            if reached[h] > 0 and hand in part.margins:
                weight = tree.deal.weights[opponent][h] * entry.weights[h] / tree.total
                less = weight * (part.margins[hand] + part.gifts[hand])
                if less > best:
                    best, where = float(less), f"{hand} at {line}"
    return Promise(before, after, best, where)


def compare(spec: str) -> list[Row]:
    """Every base strategy, every safe method, both players."""
    tree = PublicTree(make(spec))  # type: ignore[arg-type]
    lines, rows = after_chance(tree), []
    for title, base in bases(tree).items():
        for method in SAFE:
            for player in (0, 1):
                kept = promise(base, lines, method, player)
                name = f"{title}: {TITLES[method]}, player {player} concedes"
                note = f"{kept.before:.4f} before, at least {kept.promised:.4f} less by {kept.where}"
                rows.append(theorem(name, kept.bound, kept.after, "<=", rounding=ROUNDING, note=note))
    return rows


def run(full: bool, seed: int) -> Report:
    """Leduc; with `full` also the one with five ranks."""
    rows = compare("leduc")
    if full:
        rows += compare("leduc:ranks=5,suits=2")
    notes = (
        "What a player concedes is what the opponent's best response earns, in chips a hand; the value of the game is in "
        "it before and after. The column of the paper is the bound: before, less the largest N · M of an information set "
        "that the best response to the refined strategy reaches.",
        "All endgames of the second round are refined at once, and each adds what it gains: the bound, which counts one "
        "information set, is far from what they bring together.",
    )
    return Report(tuple(rows), notes)


EXPERIMENT = Experiment(
    "endgame-bound",
    "What safe endgame solving promises and brings, Leduc's second round",
    "Brown & Sandholm 2017, Safe and nested endgame solving, theorem 2",
    "10 s",
    "2 min",
    run,
)
