"""Table 2 of the paper on endgame solving: a bet of 0.75 pots that the base strategy does not know.

The base solves flop hold'em with bets of 0.5 and 1 pot. The opponent may bet 0.75 pots as well; the player never does, and
answers by translation or by nested endgames. What the opponent's best response earns is exact, in the game in which the
opponent alone has that bet, once for each seat.
"""

from __future__ import annotations

import numpy as np

from riverboat.endgame.flop_nested import METHODS, Larger, nest
from riverboat.endgame.flop_translated import translate
from riverboat.games.betting_parts import BoardPart
from riverboat.games.board_game import BettingTree
from riverboat.games.holdem import Holdem
from riverboat.games.registry import make
from riverboat.reproduce.framework import Curve, Experiment, Report
from riverboat.reproduce.rows import Row, finding, new, theorem
from riverboat.solving.boards import BoardCFR
from riverboat.walks.board_walk import BoardWalker

TRANSLATION = "translation"
PAPER = {
    TRANSLATION: 146.5,
    "resolve": 15.02,
    "reach_expensive": 14.92,
    "unsafe_expensive": 14.83,
    "maxmargin": 12.20,
    "reach": 11.91,
}
SIZES = 3  # of a bet: half a pot, the one that is unknown, a pot
ROUNDING = 1e-5


def unknown_bets(betting: BettingTree) -> list[int]:
    """The nodes that the middle one of three sizes leads to."""
    nodes = []
    for node in np.flatnonzero(betting.actor >= 0):
        before = betting.spent[node].max()
        bets = [child for child in betting.children(int(node)) if betting.spent[child].max() > before]
        nodes += [bets[1]] if len(bets) == SIZES else []
    return nodes


def compare(spec: str, base_iterations: int, iterations: int, threads: int) -> tuple[list[Row], list[Curve], int]:
    """All methods in one game; also how many endgames each of them solved."""
    game = make(spec)
    assert isinstance(game, Holdem)
    whole = BoardPart(game, game.name, game.betting, game.weights, None, game.board, game.deals)
    larger = Larger.of(whole, unknown_bets(game.betting))
    solver = BoardCFR(larger.tree, dtype="float64", threads=threads)
    solver.step(base_iterations)
    base, best = solver.averages, solver.quality().best
    known = sum(best) / 2
    earned: dict[str, float] = {}
    rows = [new("base in its own abstraction", known, note="what is left to solve there")]
    by_seat = []
    for player in (0, 1):
        tree, table = translate(larger, base, player)
        by_seat.append(BoardWalker.reader(tree, table, threads).earnings(1 - player, respond=True) * tree.per_chip)
    earned[TRANSLATION] = sum(by_seat) / 2
    boards, claims, solved = larger.board_trees(), [], 0
    margins: dict[str, float] = {}
    for name, method in METHODS.items():
        options = {"boards": boards, "iterations": iterations, "dtype": "float64", "threads": threads}
        nests = [nest(larger, base, name, player, **options) for player in (0, 1)]  # type: ignore[arg-type]
        gained = [built.earnings() for built in nests]
        earned[name], solved = sum(gained) / 2, sum(built.solved for built in nests)
        if method.gadget:
            margins[name] = min(built.least for built in nests)
            over = max(gained[p] - best[1 - p] - nests[p].shortfall for p in (0, 1))
            what = f"{method.title}: gain beyond what margins below zero allow"
            claims.append(theorem(what, 0.0, over, "<=", rounding=ROUNDING))
    for name, value in earned.items():
        title = "pseudo-harmonic translation" if name == TRANSLATION else METHODS[name].title
        note = f"paper {PAPER[name]:g}, in the later version's unit {10 * PAPER[name]:g}"
        rows.append(new(title, value, note=note))
    for name, least in margins.items():
        above = (
            "not negative: an equilibrium of the larger game" if least >= 0 else "negative: no proof of an equilibrium"
        )
        rows.append(new(f"{METHODS[name].title}: least margin", least, note=above))
    for name in METHODS:
        ratio, theirs = earned[name] / earned[TRANSLATION], PAPER[name] / PAPER[TRANSLATION]
        title, note = f"{METHODS[name].title} / translation", f"paper {theirs:.3g}"
        rows.append(finding(title, 1.0, ratio, "<=", note=note))
    order = tuple(map(float, range(len(earned))))
    return rows + claims, [Curve(spec, order, tuple(earned.values()))], solved


def run(
    full: bool,
    seed: int,
    ranks: int = 0,
    suits: int = 0,
    raises: int = 0,
    base: int = 0,
    iterations: int = 0,
    threads: int = 0,
) -> Report:
    """A deck of fifteen cards and two bets on the flop; with `full` 24 cards and three, as in the paper."""
    usual = (6, 4, 3, 600, 200, 2) if full else (5, 3, 2, 300, 100, 1)
    chosen = tuple(
        own or default for own, default in zip((ranks, suits, raises, base, iterations, threads), usual, strict=True)
    )
    spec = f"flop_holdem:nested,ranks={chosen[0]},suits={chosen[1]},raises=1/{chosen[2]}"
    rows, curves, solved = compare(spec, *chosen[3:])
    notes = (
        f"{spec}: {chosen[3]} iterations for the base, {chosen[4]} for each of {solved:,} endgames a method. mbb/g, the mean "
        "of what the opponent's best response earns in either seat, which is exact.",
        "The least margin is over all hands of all endgames, also those that are hardly ever reached; gifts are in it for "
        "reach-maxmargin. Only where it is not negative is nested play an equilibrium of the larger game.",
        "Before the flop an endgame has all flops in it, on the flop each board has its own. Inexpensive ones begin behind "
        "the bet, with the best that the opponent's hand has without it as alternative; expensive ones at its decision.",
        "The paper plays 52 cards (720.6 million information sets); decks here are smaller: orders and ratios are compared.",
    )
    return Report(tuple(rows), notes, tuple(curves))


EXPERIMENT = Experiment(
    "endgame-table-2",
    "Nested endgames against a bet that the base does not know",
    "Brown & Sandholm 2017, Safe and nested endgame solving, table 2",
    "60 s",
    "20 min",
    run,
    ("ranks", "suits", "raises", "base", "iterations", "threads"),
)
