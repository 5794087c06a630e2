"""Tables 1 and 2 of Brown & Sandholm (2017): endgames of flop hold'em.

Table 1: endgames solved by every method from an abstraction's strategy. The base is the solution of the game with flop
hands in buckets. Every endgame begins after the preflop betting, before the flop is dealt, and is solved with all
hands. Exploitability is that of the whole strategy, exact.

Table 2: responses to an off-tree bet of 0.75 pots. The base has bets of 0.5 and 1 pot. The opponent may bet 0.75 pots
as well; the player never does, and responds by action translation or by nested endgames. The opponent's best-response
values are exact, in the game where only the opponent has that bet, once for each seat.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards.percentile_buckets import abstraction_by_name
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.devices import AUTO, CPU
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.holdem import Holdem
from riverboat.games.boards.subtrees import BoardSubgame
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import Curve, ExperimentParts, ExperimentReport, PartArrays, format_notes, load_figures
from riverboat.papers.rows import ComparisonRow, ExplainedDifference, finding_row, new_row, theorem_row
from riverboat.solvers.boards.cfr import BoardCFR, engine_quality
from riverboat.solvers.schedules import dcfr
from riverboat.subgames.flop_nested import NESTED_METHODS, ExtendedGame, solve_nested, translate_strategy
from riverboat.subgames.flop_refinement import FLOP_METHODS, BettingRound, refine_flop
from riverboat.trees.boards import BoardTree

# --- Table 1 ---

BASE = "base"
TABLE_METHODS = ("resolve", "maxmargin", "reach", "reach_split", "reach_plain", "gifts_split", "gifts_whole")
ALL_HANDS_METHODS = (BASE, "unsafe", "resolve", "maxmargin")  # methods that refine a base with all hands
# The exploitability of gadget games after 100 iterations is half of that of other schedules.
SCHEDULE = dcfr(alpha=1.1, beta=0.25, gamma=4.0, stakes=0.8)
CACHE_VERSION = 1
ROUNDING = 1e-5


class FlopEndgameSize(NamedTuple):
    """The amount of work of a run."""

    kind: str  # `small` or `large`
    ranks: int
    suits: int
    buckets: int
    base: int  # iterations of the base
    iterations: int  # for each endgame
    threads: int = 1
    device: str = CPU  # device of endgames; bases with buckets need the CPU
    fine: int = 0  # iterations of the base with all hands, which should be nearly an equilibrium; 0 for `base`

    @property
    def game(self) -> str:
        """Spec of the game."""
        return f"flop_holdem:{self.kind},ranks={self.ranks},suits={self.suits}"


class FlopEndgameTable:
    """One base, with buckets or with all hands, and its endgames refined by every method."""

    def __init__(self, size: FlopEndgameSize, *, buckets: bool = True) -> None:
        self.size, self.buckets = size, buckets
        self.iterations = size.base if buckets else size.fine or size.base

    @cached_property
    def base(self) -> BettingRound:
        """The strategy of the whole game, solved on first use."""
        size, game = self.size, game_from_spec(self.size.game)
        assert isinstance(game, Holdem)
        tree = BoardTree(game)
        cards = abstraction_by_name(f"flops:{size.buckets}", game.deck, tuple(game.deals)) if self.buckets else None
        device = CPU if self.buckets else size.device
        solver = BoardCFR(tree, SCHEDULE, dtype="float32", threads=size.threads, cards=cards, device=device)
        solver.step(self.iterations)
        return BettingRound(tree, np.array(solver.averages), threads=size.threads)

    def measure(self, name: str) -> dict[str, object]:
        """Measure the base, or the whole strategy after a method.

        Keys: `best`, best-response values of both players in mbb/g; after a method also `allowance`, upper bounds of
        the gain of each player's opponent by gadget errors, and `margin`, the least margin.
        """
        base, size = self.base, self.size
        if name == BASE:
            return {"best": engine_quality(base.engine).best}
        refined = refine_flop(
            base, name, iterations=size.iterations, schedule=SCHEDULE, dtype="float32", threads=size.threads,
            device=size.device,
        )  # fmt: skip
        best = engine_quality(CpuBoardEngine.from_average(base.tree, refined.table, size.threads)).best
        return {
            "best": best, "allowance": (refined.allowance(0), refined.allowance(1)), "margin": refined.least_margin
        }  # fmt: skip

    def measure_all(self, names: Iterable[str], parts: ExperimentParts) -> dict[str, PartArrays]:
        """Return measurements by name of the method, without those that are neither cached nor requested."""
        kind = "buckets" if self.buckets else f"all-{self.iterations}"
        found = {name: parts.get_or_compute(f"{kind}-{name}", partial(self.measure, name)) for name in names}
        return {name: arrays for name, arrays in found.items() if arrays is not None}


def _exploitability(measurement: PartArrays) -> float:
    return float(measurement["best"].sum()) / 2


def method_rows(measured: dict[str, PartArrays], paper: dict[str, float], title: str) -> list[ComparisonRow]:
    """Return rows with the exploitability of every method, and checks of the safety theorems.

    A safe method raises no best-response value above the base's by more than the errors of its gadget solutions.
    `paper` has the printed exploitability by method, for the notes.
    """
    rows = []
    for name, after in measured.items():
        notes = [_paper_note(paper, name)]
        if name != BASE and FLOP_METHODS[name].gadget:
            notes.append(f"gadgets' own {after['allowance'].sum() / 2:.3g}, least margin {after['margin']:.3g}")
        note = "; ".join(filter(None, notes))
        rows.append(new_row(f"{title}: {_method_title(name)}", _exploitability(after), note=note))
    for name, after in measured.items():
        if BASE in measured and name != BASE and FLOP_METHODS[name].safe:
            name_of_check = f"{title}: {_method_title(name)}, gain beyond the gadgets' own"
            excess = (after["best"] - measured[BASE]["best"] - after["allowance"][::-1]).max()
            rows.append(theorem_row(name_of_check, 0.0, excess, "<=", rounding=ROUNDING))
    return rows


def _method_title(name: str) -> str:
    return name if name == BASE else FLOP_METHODS[name].title


def _paper_note(paper: dict[str, float], name: str) -> str:
    """Format the paper's number; the first version prints a tenth of the later version's numbers."""
    return f"paper {paper[name]:g}, in the later version's unit {10 * paper[name]:g}" if name in paper else ""


def ratio_rows(measured: dict[str, PartArrays], paper: dict[str, float], title: str) -> list[ComparisonRow]:
    """Return ratios of methods, the paper's and ours, and checks of orders that must hold."""
    rows = []
    for name, over in (("unsafe", BASE), ("resolve", BASE), ("maxmargin", "resolve"), ("reach", "maxmargin")):
        if name not in measured or over not in measured:
            continue
        ours = _exploitability(measured[name]) / _exploitability(measured[over])
        paper_ratio = paper[name] / paper[over]
        label, note = f"{title}: {_method_title(name)} / {_method_title(over)}", f"paper {paper_ratio:.3g}"
        if name in ("resolve", "maxmargin"):
            rows.append(finding_row(label, 1.0, ours, "<=", note=note))
        else:
            same = "the same side of 1" if (ours < 1) == (paper_ratio < 1) else "not so here"
            rows.append(new_row(label, ours, note=f"{note}: {same}"))
    return rows


def run_table_1(full: bool, seed: int, game: str, cuda: int = 0, part: int = 0, **chosen: Any) -> ExperimentReport:
    """Reproduce Table 1 for one of `GAMES`: with 15 or 20 cards; with `full` all 52 and 30,000 buckets, cached in parts."""
    paper, explained = load_figures(f"endgame-table-1-{game}"), EXPLAINED_RATIOS[game]
    size = GAMES[game][full]._replace(**chosen)
    size = size._replace(device=AUTO) if cuda else size
    cache_key = f"{CACHE_VERSION} {size.game} {size.buckets} {size.base} {size.iterations} {SCHEDULE}"
    parts = ExperimentParts(f"endgame-{game}", cache_key, use_cache=full, part=part)
    coarse = FlopEndgameTable(size).measure_all((BASE, "unsafe", *TABLE_METHODS), parts)
    fine = FlopEndgameTable(size, buckets=False).measure_all(ALL_HANDS_METHODS, parts)
    buckets = f"{size.buckets:,} buckets"
    rows = method_rows(coarse, paper, buckets) + ratio_rows(coarse, paper, buckets) + method_rows(fine, {}, "all hands")
    if {BASE, "unsafe"} <= set(fine):
        ratio = _exploitability(fine["unsafe"]) / _exploitability(fine[BASE])
        title = "all hands: unsafe / base, where the base is nearly an equilibrium"
        note = "the paper's large game has 9.58: unsafe can be worse than the base"
        rows.append(finding_row(title, 1.0, ratio, ">=", explained=explained if full else None, note=note))
    curve = Curve(buckets, range(len(coarse)), map(_exploitability, coarse.values()))
    methods = ", ".join(map(_method_title, coarse))
    notes = format_notes(
        "endgame-table-1-small", size=size, fine=size.fine or size.base, schedule=SCHEDULE, parts=parts, methods=methods
    )
    return ExperimentReport(rows, notes, (curve,))


GAMES = {  # at default and at full size
    "small": (
        FlopEndgameSize("small", 5, 4, buckets=600, base=300, iterations=150),
        FlopEndgameSize("small", 13, 4, buckets=30_000, base=200, iterations=500, threads=2),
    ),
    "large": (
        FlopEndgameSize("large", 5, 3, buckets=400, base=300, iterations=150),
        FlopEndgameSize("large", 13, 4, buckets=30_000, base=150, iterations=300, threads=2),
    ),
}
EXPLAINED_RATIOS = {  # why unsafe is not worse than the base at full size
    game: ExplainedDifference(**load_figures(f"endgame-table-1-{game}", "explained")["unsafe"]) for game in GAMES
}


# --- Table 2 ---

TRANSLATION = "translation"
TABLE_2: dict[str, float] = load_figures("endgame-table-2")
NUM_BET_SIZES = 3  # half a pot, the off-tree bet, a pot
DTYPE = "float32"
SIZE_OPTIONS = ("ranks", "suits", "raises", "base", "iterations", "threads")


def off_tree_bet_nodes(betting: BettingTree) -> list[int]:
    """Return the nodes after an off-tree bet: the middle one wherever there are three bet sizes."""
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
        """Board trees of the larger game, one for each flop."""
        return self.larger_game.board_trees()

    def base_values(self) -> dict[str, object]:
        """Compute both players' best-response values against the base, in the game without the off-tree bet."""
        engine = CpuBoardEngine.from_average(self.larger_game.tree, self.base, self.threads)
        return {"best": engine_quality(engine).best}

    def translation_values(self) -> dict[str, object]:
        """Compute best-response values with the off-tree bet against action translation, by seat of the responder."""
        values = []
        for player in (0, 1):
            tree, table = translate_strategy(self.larger_game, self.base, player)
            engine = CpuBoardEngine.from_average(tree, table, self.threads)
            values.append(engine.expected_value(1 - player, respond=True) * tree.per_chip)
        return {"earned": values[::-1]}

    def nested_values(self, name: str) -> dict[str, object]:
        """Compute best-response values with the off-tree bet against nested endgames solved by a method.

        `earned` and `shortfall` are by seat of the responder, `solved` is the number of endgames.
        """
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
    work = {TRANSLATION: table.translation_values} | {n: partial(table.nested_values, n) for n in NESTED_METHODS}
    results = {name: parts.get_or_compute(name, compute) for name, compute in work.items()}
    available = {name: arrays for name, arrays in results.items() if arrays is not None}
    values = {name: float(arrays["earned"].mean()) for name, arrays in available.items()}
    rows = []
    if base_values is not None:
        rows.append(new_row("base in its own abstraction", base_values["best"].mean(), note="not fully converged"))
    for name, value in values.items():
        title = "pseudo-harmonic translation" if name == TRANSLATION else NESTED_METHODS[name].title
        rows.append(new_row(title, value, note=_paper_note(TABLE_2, name)))
    safe = {name: arrays for name, arrays in available.items() if name != TRANSLATION and NESTED_METHODS[name].gadget}
    for name, arrays in safe.items():
        margin = float(arrays["margin"])
        meaning = (
            "not negative: an equilibrium of the larger game" if margin >= 0 else "negative: no proof of an equilibrium"
        )
        rows.append(new_row(f"{NESTED_METHODS[name].title}: least margin", margin, note=meaning))
    for name in values:
        if name != TRANSLATION and TRANSLATION in values:
            ratio, note = values[name] / values[TRANSLATION], f"paper {TABLE_2[name] / TABLE_2[TRANSLATION]:.3g}"
            rows.append(finding_row(f"{NESTED_METHODS[name].title} / translation", 1.0, ratio, "<=", note=note))
    if base_values is not None:
        for name, arrays in safe.items():  # bounds of the opponent's gain by negative margins
            excess = float((arrays["earned"] - base_values["best"] - arrays["shortfall"]).max())
            label = f"{NESTED_METHODS[name].title}: gain beyond what margins below zero allow"
            rows.append(theorem_row(label, 0.0, excess, "<=", rounding=ROUNDING))
    solved = max((int(arrays["solved"]) for arrays in available.values() if "solved" in arrays), default=0)
    return rows, [Curve(table.spec, range(len(values)), values.values())], solved


def run_table_2(full: bool, seed: int, part: int = 0, **chosen: Any) -> ExperimentReport:
    """Reproduce Table 2 with fifteen cards and two bets on the flop; with `full`, 28 cards and the paper's three."""
    size = dict(zip(SIZE_OPTIONS, (7, 4, 3, 300, 100, 2) if full else (5, 3, 2, 300, 100, 1), strict=True))
    size |= {name: number for name, number in chosen.items() if number}
    spec = f"flop_holdem:nested,ranks={size['ranks']},suits={size['suits']},raises=1/{size['raises']}"
    table = OffTreeBetTable(spec, size["base"], size["iterations"], size["threads"])
    recipe = f"{CACHE_VERSION} {spec} {table.base_iterations} {table.iterations} {SCHEDULE}"
    parts = ExperimentParts("endgame-nested", recipe, use_cache=full, part=part)
    rows, curves, solved = compare_methods(table, parts)
    notes = format_notes("endgame-table-2", spec=spec, size=size, solved=solved, parts=parts)
    return ExperimentReport(rows, notes, curves)
