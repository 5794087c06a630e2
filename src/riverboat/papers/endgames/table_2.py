"""Table 2 of the paper on endgame solving: a bet of 0.75 pots that the base strategy does not know.

The base solves flop hold'em with bets of 0.5 and 1 pot. The opponent may bet 0.75 pots as well; the player never does, and
answers by translation or by nested endgames. What the opponent's best response earns is exact, in the game in which the
opponent alone has that bet, once for each seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.full_holdem import Holdem
from riverboat.games.boards.subtrees import BoardPart
from riverboat.games.registry import make
from riverboat.papers.endgames.flop import SCHEDULE
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.pieces import Figures, Pieces
from riverboat.papers.rows import Row, finding, new, theorem
from riverboat.solvers.boards.cfr import BoardCFR, quality_of
from riverboat.subgames.flop.nested import METHODS, Larger, nest
from riverboat.subgames.flop.translated import translate
from riverboat.trees.boards import BoardTree

BASE, TRANSLATION = "base", "translation"
PAPER = {
    TRANSLATION: 146.5,
    "resolve": 15.02,
    "reach_expensive": 14.92,
    "unsafe_expensive": 14.83,
    "maxmargin": 12.20,
    "reach": 11.91,
}
SIZES = 3  # of a bet: half a pot, the one that is unknown, a pot
VERSION = 1  # of what is kept
DTYPE = "float32"
ROUNDING = 1e-5


def unknown_bets(betting: BettingTree) -> list[int]:
    """The nodes that the middle one of three sizes leads to."""
    nodes = []
    for node in np.flatnonzero(betting.actor >= 0):
        before = betting.spent[node].max()
        bets = [child for child in betting.children(int(node)) if betting.spent[child].max() > before]
        nodes += [bets[1]] if len(bets) == SIZES else []
    return nodes


@dataclass(frozen=True, eq=False)
class Table:
    """One base and what answers a bet that it does not know."""

    spec: str
    base_iterations: int
    iterations: int  # of each endgame
    threads: int

    @cached_property
    def larger(self) -> Larger:
        """The game with the bet, and its abstraction without."""
        game = make(self.spec)
        assert isinstance(game, Holdem)
        whole = BoardPart(game, game.name, game.betting, game.weights, None, game.board, game.deals)
        return Larger.of(whole, unknown_bets(game.betting))

    @cached_property
    def base(self) -> Array:
        """The abstraction's strategy, solved when it is first needed."""
        solver = BoardCFR(self.larger.tree, SCHEDULE, dtype=DTYPE, threads=self.threads)
        solver.step(self.base_iterations)
        return solver.averages

    @cached_property
    def boards(self) -> dict[int, BoardTree]:
        """A tree for each flop."""
        return self.larger.board_trees()

    def known(self) -> dict[str, object]:
        """What best responses earn in the abstraction itself."""
        return {"best": quality_of(BoardWalker.reader(self.larger.tree, self.base, self.threads)).best}

    def translated(self) -> dict[str, object]:
        """What they earn with the bet, where it is translated."""
        earned = []
        for player in (0, 1):
            tree, table = translate(self.larger, self.base, player)
            walker = BoardWalker.reader(tree, table, self.threads)
            earned.append(walker.earnings(1 - player, respond=True) * tree.per_chip)
        return {"earned": earned[::-1]}

    def nested(self, name: str) -> dict[str, object]:
        """What they earn where it is answered by nested endgames; by the seat of who responds."""
        nests = [
            nest(
                self.larger, self.base, name, player, boards=self.boards, iterations=self.iterations, schedule=SCHEDULE,
                dtype=DTYPE, threads=self.threads,
            )
            for player in (1, 0)
        ]  # fmt: skip
        return {
            "earned": [built.earnings() for built in nests],
            "solved": sum(built.solved for built in nests),
            "margin": min(built.least for built in nests),
            "shortfall": [built.shortfall for built in nests],
        }


def compare(table: Table, pieces: Pieces) -> tuple[list[Row], list[Curve], int]:
    """All methods in one game; also how many endgames each of them solved."""
    known = pieces.get(BASE, table.known)
    pieced = {TRANSLATION: pieces.get(TRANSLATION, table.translated)}
    for name in METHODS:
        pieced[name] = pieces.get(name, lambda name=name: table.nested(name))  # type: ignore[misc]
    there = {name: figures for name, figures in pieced.items() if figures is not None}
    earned = {name: float(figures["earned"].mean()) for name, figures in there.items()}
    rows = []
    if known is not None:
        rows.append(new("base in its own abstraction", float(known["best"].mean()), note="what is left to solve there"))
    for name, value in earned.items():
        title = "pseudo-harmonic translation" if name == TRANSLATION else METHODS[name].title
        note = f"paper {PAPER[name]:g}, in the later version's unit {10 * PAPER[name]:g}"
        rows.append(new(title, value, note=note))
    safe = {name: figures for name, figures in there.items() if name != TRANSLATION and METHODS[name].gadget}
    rows += [_margin(name, float(figures["margin"])) for name, figures in safe.items()]
    for name in earned:
        if name != TRANSLATION and TRANSLATION in earned:
            ratio, theirs = earned[name] / earned[TRANSLATION], PAPER[name] / PAPER[TRANSLATION]
            rows.append(finding(f"{METHODS[name].title} / translation", 1.0, ratio, "<=", note=f"paper {theirs:.3g}"))
    if known is not None:
        rows += [_claim(name, figures, known) for name, figures in safe.items()]
    order = tuple(map(float, range(len(earned))))
    solved = max((int(figures["solved"]) for figures in there.values() if "solved" in figures), default=0)
    return rows, [Curve(table.spec, order, tuple(earned.values()))], solved


def _margin(name: str, least: float) -> Row:
    above = "not negative: an equilibrium of the larger game" if least >= 0 else "negative: no proof of an equilibrium"
    return new(f"{METHODS[name].title}: least margin", least, note=above)


def _claim(name: str, figures: Figures, known: Figures) -> Row:
    """What the bet brings is bounded by margins below zero."""
    over = float((figures["earned"] - known["best"] - figures["shortfall"]).max())
    what = f"{METHODS[name].title}: gain beyond what margins below zero allow"
    return theorem(what, 0.0, over, "<=", rounding=ROUNDING)


def run(
    full: bool,
    seed: int,
    ranks: int = 0,
    suits: int = 0,
    raises: int = 0,
    base: int = 0,
    iterations: int = 0,
    threads: int = 0,
    part: int = 0,
) -> Report:
    """A deck of fifteen cards and two bets on the flop; with `full` 28 cards and three, as in the paper."""
    usual = (7, 4, 3, 300, 100, 2) if full else (5, 3, 2, 300, 100, 1)
    chosen = tuple(
        own or default for own, default in zip((ranks, suits, raises, base, iterations, threads), usual, strict=True)
    )
    spec = f"flop_holdem:nested,ranks={chosen[0]},suits={chosen[1]},raises=1/{chosen[2]}"
    table = Table(spec, *chosen[3:])
    recipe = f"{VERSION} {spec} {table.base_iterations} {table.iterations} {SCHEDULE}"
    pieces = Pieces("endgame-nested", recipe, keep=full, part=part)
    rows, curves, solved = compare(table, pieces)
    notes = (
        f"{spec}: {chosen[3]} iterations for the base, {chosen[4]} for each of {solved:,} endgames a method. mbb/g, the mean "
        f"of what the opponent's best response earns in either seat, which is exact. {pieces.note}",
        "The least margin is over all hands of all endgames, also those that are hardly ever reached; gifts are in it for "
        "reach-maxmargin. Only where it is not negative is nested play an equilibrium of the larger game. With hands that "
        "meet hardly anybody it is rounding of float32; shortfalls weigh hands by whom they meet.",
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
    ("ranks", "suits", "raises", "base", "iterations", "threads", "part"),
)
