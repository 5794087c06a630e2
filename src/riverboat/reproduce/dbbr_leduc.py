"""Deviation-based best response in Leduc against yardstick opponents and a perturbed equilibrium.

Table 3 and Figure 8 of the proposal in kind: the paper's game is limit hold'em against abstractions that are not public.
"""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from riverboat.exploit.dbbr import FITS, play
from riverboat.games.base import Array
from riverboat.games.small_poker import leduc
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.rows import Row, finding, new
from riverboat.solving.lp import solve_lp
from riverboat.solving.response import best_response
from riverboat.strategy.table import Strategy, Tree
from riverboat.trees.compile import compile_game

LEARN, EVERY = 1000, 50  # as in the paper: hands of equilibrium play, hands between two models
NOISE = 0.3  # how much of the perturbed equilibrium is not equilibrium
TRIVIAL = ("always fold", "always call", "always raise", "random")


def yardsticks(equilibrium: Strategy, seed: int) -> dict[str, Strategy]:
    """The opponents, for both seats."""
    tree = equilibrium.tree
    opponents = {f"always {move}": _always(tree, move) for move in ("fold", "call", "raise")}
    opponents["random"] = Strategy.uniform(tree)
    noise = Strategy.from_sums(tree, np.random.default_rng(seed).exponential(size=tree.table))
    mixed = (1 - NOISE) * equilibrium.probabilities + NOISE * noise.probabilities
    return opponents | {"perturbed equilibrium": Strategy(tree, mixed)}


def _always(tree: Tree, move: str) -> Strategy:
    """Folds, calls or raises wherever it can; who cannot fold checks, who cannot raise calls."""
    table = np.zeros(tree.table)
    for infoset in tree.infosets():
        last = len(infoset.actions) - 1
        k = {"fold": 0, "call": infoset.actions.index("c"), "raise": last}[move]
        table[infoset.offset + k * infoset.stride] = 1.0
    return Strategy.from_sums(tree, table)


def run(full: bool, seed: int) -> Report:
    """Matches in both seats; a match's figure is the average of the two."""
    return compare(20, 5000, seed) if full else compare(4, 2000, seed)


def compare(matches: int, hands: int, seed: int) -> Report:
    """Every variant against every opponent."""
    equilibrium = solve_lp(compile_game(leduc())).strategy
    rows: list[Row] = []
    curves: list[Curve] = []
    ahead = 0
    for name, opponent in yardsticks(equilibrium, seed).items():
        base = _earned(equilibrium, opponent, None, hands, 1, seed)
        ceiling = float(np.mean([best_response(opponent, me)[0] for me in (0, 1)]))
        rows.append(new(f"{name}: equilibrium", float(base.mean()), note="exact"))
        curves += _curves(f"{name}: equilibrium", base)
        for fit in FITS:
            earned = _earned(equilibrium, opponent, fit, hands, matches, seed)
            means = earned.mean(axis=1)
            half = float(stdtrit(matches - 1, 0.975) * means.std(ddof=1) / np.sqrt(matches))
            mean = float(means.mean())
            at_the_end = float(earned[:, -1].mean())
            note = f"at the end {at_the_end:.3f}; the most possible is {ceiling:.3f}"
            rows.append(new(f"{name}: dbbr {fit}", mean, (mean - half, mean + half), note=note))
            curves += _curves(f"{name}: dbbr {fit}", earned)
            ahead += name in TRIVIAL and mean > float(base.mean())
    pairs = len(TRIVIAL) * len(FITS)
    rows.append(
        finding("variants ahead of the equilibrium, trivial opponents", float(pairs), float(ahead), note="Table 3: all")
    )
    return Report(
        tuple(rows),
        (
            f"{matches} matches of {hands} hands in each seat: equilibrium play for {LEARN} hands, then the best response "
            f"to a model made every {EVERY} hands; chips per hand, exact expectation of each hand",
            "prior of 5 hands at each public history; only public actions are seen, showdowns are ignored as in the paper",
            f"the perturbed equilibrium plays {NOISE:.0%} of one random strategy at every information set",
            "the paper's figures are for limit hold'em: only the order can be compared",
        ),
        tuple(curves),
    )


def _earned(base: Strategy, opponent: Strategy, fit: str | None, hands: int, matches: int, seed: int) -> Array:
    """Expectation of every hand, both seats averaged. float64 [matches, hands]"""
    every = [
        [play(base, opponent, me, fit, hands, LEARN, EVERY, seed=2 * (seed * 1000 + m) + me).earned for me in (0, 1)]
        for m in range(matches)
    ]
    both: Array = np.mean(np.array(every), axis=1)
    return both


def _curves(name: str, earned: Array) -> list[Curve]:
    profit = earned.mean(axis=0).cumsum()
    hands = np.arange(EVERY, len(profit) + 1, EVERY)
    x = tuple(float(h) for h in hands)
    return [
        Curve(f"{name}: profit", x, tuple(profit[hands - 1].tolist())),
        Curve(f"{name}: win rate", x, tuple((profit[hands - 1] / hands).tolist())),
    ]


EXPERIMENT = Experiment(
    id="dbbr-leduc",
    title="Deviation-based best response in Leduc",
    source="Ganzfried & Sandholm 2011, Table 3 and Figure 8 of the thesis proposal, in kind",
    cost="25 s",
    full_cost="10 min",
    run=run,
)
