"""How often a bet is called in equilibrium: the minimum defence frequency, and its correction by range advantage.

Against a bet b into a pot P, a defence of P / (P + b) makes a bluff with nothing break even: the minimum defence frequency.
Who faces a range that is ahead defends less. Ganzfried and Chiswick (2019) fit MDF − RA / 2 + 1 / 4, where RA, from 0 to 1,
is the bettor's equity: at RA = 1/2 that is the minimum defence frequency itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS
from riverboat.cards.features.strength import shares_beaten
from riverboat.cards.notation import show_cards
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.solution import Solution

POT = 100
SIZES = (25, 50, 75, 100, 150, 200)  # % of the pot
HELD = 120  # hands of each range
BETS_AT_LEAST = 0.02  # how often a bet must be made to be looked at
AT_ONCE = 50


@dataclass(frozen=True, eq=False)
class Defences:
    """Rivers that were solved. Shares are 0 to 1."""

    mdf: Array  # float64 [n]
    advantage: Array  # of the bettor: its equity before it bets
    defence: Array  # how often the bet is called
    bet: Array  # how often it is made
    exploitability: float  # the largest, in % of the pot

    def predicted(self) -> dict[str, Array]:
        """What is said of the defence. float64 [n] each"""
        return {
            "MDF": self.mdf,
            "MDF - RA / 2 + 1 / 4": np.clip(self.mdf - 0.5 * self.advantage + 0.25, 0.0, 1.0),
            "b / (P + b)": 1.0 - self.mdf,
        }

    def fitted(self) -> tuple[Array, Array]:
        """Least squares of ours: constant, MDF, RA, with their standard errors. float64 [3] each"""
        x = np.stack([np.ones(len(self.mdf)), self.mdf, self.advantage], axis=1)
        slopes, *_ = np.linalg.lstsq(x, self.defence, rcond=None)
        rest = self.defence - x @ slopes
        spread = rest @ rest / max(len(x) - 3, 1) * np.linalg.inv(x.T @ x)
        return slopes, np.sqrt(np.diag(spread))


def river(rng: np.random.Generator) -> Spot:
    """A board, a size and two ranges at random, one of them often the stronger."""
    board = tuple(int(c) for c in rng.choice(52, 5, replace=False))
    strength, live = shares_beaten(board), ~np.isin(HAND_CARDS, board).any(axis=1)
    held = []
    for tilt in rng.normal(0.0, 2.0, 2):
        chance = np.where(live, np.exp(tilt * (strength - 0.5)), 0.0)
        hands = rng.choice(HANDS, HELD, replace=False, p=chance / chance.sum())
        held.append(Range(np.where(np.isin(np.arange(HANDS), hands), 1.0, 0.0)))
    size = int(rng.choice(SIZES))
    return Spot.make(
        board=board, pot=POT, stack=10 * POT, oop=held[0], ip=held[1], bets=f"{size}%", raise_cap=0,
        name=f"{show_cards(board)} {size} %",
    )  # fmt: skip


def defences(
    count: int, seed: int = 0, iterations: int = 400, threads: int = 1, progress: Callable[[float], None] | None = None
) -> Defences:
    """Solve rivers with one bet and no raise until so many of them have a bet to defend against.

    The first player bets or checks, the second calls or folds.
    """
    if count < 4:
        raise InputError(f"{count} rivers: at least 4 are needed for a fit")
    rng, worst = np.random.default_rng(seed), 0.0
    rows: list[Sequence[float]] = []
    while len(rows) < count:
        spots = [river(rng) for _ in range(AT_ONCE)]
        for solution in solve_many(spots, iterations=iterations, threads=threads):
            row = _row(solution)
            if row[-1] >= BETS_AT_LEAST and len(rows) < count:
                rows.append(row)
                worst = max(worst, float(solution.provenance["exploitability"]))
        if progress is not None:
            progress(len(rows) / count)
    table = np.array(rows)
    return Defences(table[:, 0], table[:, 1], table[:, 2], table[:, 3], worst)


def _row(solution: Solution) -> Sequence[float]:
    root = solution[""]
    label = next(name for name in root.actions if name != "x")
    faced = solution[label]
    fold = faced.mean(1, faced.strategy[faced.actions.index("f")])
    bets = root.mean(0, root.strategy[root.actions.index(label)])
    size = float(label[1:])
    return POT / (POT + size), root.mean(0, root.equity[0]), 1.0 - (0.0 if np.isnan(fold) else fold), bets
