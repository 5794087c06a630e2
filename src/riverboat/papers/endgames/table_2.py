"""Table 2 of Brown & Sandholm (2017): responses to an off-tree bet of 0.75 pots.

The base solves flop hold'em with bets of 0.5 and 1 pot. The opponent may bet 0.75 pots as well; the player never does,
and responds by action translation or by nested endgames. The opponent's best-response values are exact, in the game
where only the opponent has that bet, once for each seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.holdem import Holdem
from riverboat.games.boards.subtrees import BoardSubgame
from riverboat.games.registry import game_from_spec
from riverboat.papers.endgames.table_1 import SCHEDULE
from riverboat.papers.framework import Curve, ExperimentParts, ExperimentReport, PartArrays, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, finding_row, new_row, theorem_row
from riverboat.solvers.boards.cfr import BoardCFR, engine_quality
from riverboat.subgames.flop_nested import NESTED_METHODS, ExtendedGame, solve_nested, translate_strategy
from riverboat.trees.boards import BoardTree

BASE, TRANSLATION = "base", "translation"
PAPER: dict[str, float] = load_figures("endgame-table-2")
NUM_BET_SIZES = 3  # half a pot, the off-tree bet, a pot
CACHE_VERSION = 1
DTYPE = "float32"
SIZE_OPTIONS = ("ranks", "suits", "raises", "base", "iterations", "threads")
ROUNDING = 1e-5


def off_tree_bet_nodes(betting: BettingTree) -> list[int]:
    """Return the nodes after the middle one of three sizes."""
    nodes = []
    for node in np.flatnonzero(betting.actor >= 0):
        before = betting.spent[node].max()
        bets = [child for child in betting.children(int(node)) if betting.spent[child].max() > before]
        nodes += [bets[1]] if len(bets) == NUM_BET_SIZES else []
    return nodes


@dataclass(frozen=True, eq=False)
class OffTreeBetTable:
    """One base strategy and its responses to an off-tree bet."""

    spec: str
    base_iterations: int
    iterations: int  # for each endgame
    threads: int

    @cached_property
    def larger_game(self) -> ExtendedGame:
        """The game with the off-tree bet, and its abstraction without."""
        game = game_from_spec(self.spec)
        assert isinstance(game, Holdem)
        whole = BoardSubgame(game, game.name, game.betting, game.weights, None, game.board, game.deals)
        return ExtendedGame.from_game(whole, off_tree_bet_nodes(game.betting))

    @cached_property
    def base(self) -> Array:
        """The strategy of the abstraction, solved on first use."""
        solver = BoardCFR(self.larger_game.tree, SCHEDULE, dtype=DTYPE, threads=self.threads)
        solver.step(self.base_iterations)
        return solver.averages

    @cached_property
    def board_trees(self) -> dict[int, BoardTree]:
        """A tree for each flop."""
        return self.larger_game.board_trees()

    def base_values(self) -> dict[str, object]:
        """Compute best-response values in the abstraction itself."""
        return {
            "best": engine_quality(CpuBoardEngine.from_average(self.larger_game.tree, self.base, self.threads)).best
        }

    def translation_values(self) -> dict[str, object]:
        """Compute best-response values with the off-tree bet, for action translation."""
        values = []
        for player in (0, 1):
            tree, table = translate_strategy(self.larger_game, self.base, player)
            engine = CpuBoardEngine.from_average(tree, table, self.threads)
            values.append(engine.expected_value(1 - player, respond=True) * tree.per_chip)
        return {"earned": values[::-1]}

    def nested_values(self, name: str) -> dict[str, object]:
        """Compute best-response values with the off-tree bet, for nested endgames; by the seat of the responder."""
        results = [
            solve_nested(
                self.larger_game, self.base, name, player, boards=self.board_trees, iterations=self.iterations,
                schedule=SCHEDULE, dtype=DTYPE, threads=self.threads,
            )
            for player in (1, 0)
        ]  # fmt: skip
        return {
            "earned": [result.best_response_value() for result in results],
            "solved": sum(result.num_solved for result in results),
            "margin": min(result.least_margin for result in results),
            "shortfall": [result.shortfall for result in results],
        }


def compare_methods(table: OffTreeBetTable, parts: ExperimentParts) -> tuple[list[ComparisonRow], list[Curve], int]:
    """Compare all methods in one game; also return the number of endgames that each solved."""
    base_values = parts.get_or_compute(BASE, table.base_values)
    results = {TRANSLATION: parts.get_or_compute(TRANSLATION, table.translation_values)}
    for name in NESTED_METHODS:
        results[name] = parts.get_or_compute(name, lambda name=name: table.nested_values(name))  # type: ignore[misc]
    available = {name: arrays for name, arrays in results.items() if arrays is not None}
    values = {name: float(arrays["earned"].mean()) for name, arrays in available.items()}
    rows = []
    if base_values is not None:
        rows.append(new_row("base in its own abstraction", base_values["best"].mean(), note="not fully converged"))
    for name, value in values.items():
        title = "pseudo-harmonic translation" if name == TRANSLATION else NESTED_METHODS[name].title
        note = f"paper {PAPER[name]:g}, in the later version's unit {10 * PAPER[name]:g}"
        rows.append(new_row(title, value, note=note))
    safe = {name: arrays for name, arrays in available.items() if name != TRANSLATION and NESTED_METHODS[name].gadget}
    rows += [_margin_row(name, float(arrays["margin"])) for name, arrays in safe.items()]
    for name in values:
        if name != TRANSLATION and TRANSLATION in values:
            ratio, note = values[name] / values[TRANSLATION], f"paper {PAPER[name] / PAPER[TRANSLATION]:.3g}"
            rows.append(finding_row(f"{NESTED_METHODS[name].title} / translation", 1.0, ratio, "<=", note=note))
    if base_values is not None:
        rows += [_bound_row(name, arrays, base_values) for name, arrays in safe.items()]
    solved = max((int(arrays["solved"]) for arrays in available.values() if "solved" in arrays), default=0)
    return rows, [Curve(table.spec, range(len(values)), values.values())], solved


def _margin_row(name: str, min_margin: float) -> ComparisonRow:
    proof = "an equilibrium of the larger game" if min_margin >= 0 else "no proof of an equilibrium"
    note = f"{'not ' * (min_margin >= 0)}negative: {proof}"
    return new_row(f"{NESTED_METHODS[name].title}: least margin", min_margin, note=note)


def _bound_row(name: str, figures: PartArrays, base_values: PartArrays) -> ComparisonRow:
    """Return a row for the bound of the opponent's gain by negative margins."""
    excess = float((figures["earned"] - base_values["best"] - figures["shortfall"]).max())
    label = f"{NESTED_METHODS[name].title}: gain beyond what margins below zero allow"
    return theorem_row(label, 0.0, excess, "<=", rounding=ROUNDING)


def run(full: bool, seed: int, part: int = 0, **chosen: int) -> ExperimentReport:
    """Use a deck of fifteen cards and two bets on the flop; with `full` 28 cards and three bets, as in the paper."""
    size = dict(zip(SIZE_OPTIONS, (7, 4, 3, 300, 100, 2) if full else (5, 3, 2, 300, 100, 1), strict=True))
    size |= {name: number for name, number in chosen.items() if number}
    spec = f"flop_holdem:nested,ranks={size['ranks']},suits={size['suits']},raises=1/{size['raises']}"
    table = OffTreeBetTable(spec, size["base"], size["iterations"], size["threads"])
    recipe = f"{CACHE_VERSION} {spec} {table.base_iterations} {table.iterations} {SCHEDULE}"
    parts = ExperimentParts("endgame-nested", recipe, use_cache=full, part=part)
    rows, curves, solved = compare_methods(table, parts)
    notes = format_notes("endgame-table-2", spec=spec, size=size, solved=solved, parts=parts)
    return ExperimentReport(rows, notes, curves)
