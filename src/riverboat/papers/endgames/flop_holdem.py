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
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards.named_abstractions import abstraction_by_name
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.formatting import format_bytes
from riverboat.engines.cpu.board_engine import CpuBoardEngine
from riverboat.engines.devices import AUTO, CPU
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.boards.holdem import Holdem
from riverboat.games.boards.subtrees import BoardSubgame
from riverboat.games.registry import game_from_spec
from riverboat.papers.framework import (
    Curve,
    ExperimentParts,
    ExperimentReport,
    PartArrays,
    announce,
    format_notes,
    load_figures,
)
from riverboat.papers.rows import ComparisonRow, finding_row, new_row, theorem_row
from riverboat.solvers.boards.cfr import BoardCFR, board_table_bytes, engine_quality
from riverboat.solvers.schedules import dcfr
from riverboat.subgames.flop_nested import NESTED_METHODS, ExtendedGame, solve_nested, translate_strategy
from riverboat.subgames.flop_refinement import FLOP_METHODS, BettingRound, refine_flop
from riverboat.trees.boards import BoardTree

# --- Table 1 ---

BASE = "base"
TABLE_METHODS = (
    "resolve", "maxmargin", "reach_maxmargin", "reach_maxmargin_plain", "reach_maxmargin_split", "reach_maxmargin_whole",
)  # fmt: skip
ALL_HANDS_METHODS = (
    BASE,
    "unsafe",
    "resolve",
    "maxmargin",
    "reach_maxmargin",
)  # methods that refine a base with all hands
# Orders of the paper's table: the first is at most as exploitable as the second.
ORDERS = (("resolve", BASE), ("maxmargin", "resolve"), ("reach_maxmargin", "maxmargin"))
# The exploitability of gadget games after 100 iterations is half of that of other schedules.
SCHEDULE = dcfr(alpha=1.1, beta=0.25, gamma=4.0, stakes=0.8)
CACHE_VERSION = 2
ROUNDING = 1e-5
BASE_GROWTH = 1.5  # how far apart checks of a base are
MAX_BASE_FACTOR = 12  # most iterations of a base, in units of those before its first check
PROBE_ITERATIONS = 32  # of each gadget, for a prediction


class FlopEndgameSize(NamedTuple):
    """The amount of work of a run."""

    kind: str  # `small` or `large`
    ranks: int
    suits: int
    potential: int  # potential-aware buckets on all flops together; 0: no such base
    buckets: int  # buckets by strength, each on one flop; 0: no such base
    base: int  # iterations of bases before their first check
    iterations: int  # most for each endgame
    target: float  # of gadgets' own exploitability, and of bases, in mbb/g
    threads: int = 1
    device: str = CPU  # device of endgames; bases with buckets need the CPU

    @property
    def game(self) -> str:
        """Spec of the game."""
        return f"flop_holdem:{self.kind},ranks={self.ranks},suits={self.suits}"


class FlopEndgameTable:
    """One base and its endgames refined by every method; `cards` is its card abstraction, None for all hands."""

    def __init__(
        self, size: FlopEndgameSize, parts: ExperimentParts, cards: str | None, *, predict: bool = False
    ) -> None:
        self.size, self.parts, self.cards, self.predict = size, parts, cards, predict

    @cached_property
    def tree(self) -> BoardTree:
        """Tree of the whole game."""
        game = game_from_spec(self.size.game)
        assert isinstance(game, Holdem)
        return BoardTree(game)

    @cached_property
    def base_arrays(self) -> PartArrays:
        """The base: `average`, its table; `iterations`; and `change`, of its exploitability in the last third of them."""
        name = f"{self.parts.name}-{self.title.replace(' ', '-')}-base-table"
        return cached_arrays(name, self._solve_base) if self.parts.use_cache else self._solve_base()

    def _solve_base(self) -> PartArrays:
        """Solve the base: with all hands to the target, with buckets until its exploitability in the whole game is settled.

        It is settled when it changes by no more than the target in a third of the iterations.
        """
        size, game = self.size, self.tree.game
        assert isinstance(game, Holdem)
        cards = (
            None if self.cards is None else abstraction_by_name(self.cards, game.deck, tuple(game.deals), size.threads)
        )
        device = size.device if self.cards is None else CPU
        solver = BoardCFR(self.tree, SCHEDULE, dtype="float32", threads=size.threads, cards=cards, device=device)
        if self.predict:
            solver.step(1)  # compiles
            started = perf_counter()
            solver.step(1)
            seconds, most = perf_counter() - started, MAX_BASE_FACTOR * size.base
            memory = format_bytes(board_table_bytes(self.tree, SCHEDULE, "float32"))
            announce(
                f"{size.game}, {self.title}: base: {size.base:,} to {most:,} iterations in {seconds * size.base:,.0f} to "
                f"{seconds * most:,.0f} s, tables of {memory}"
            )
        before, after = float("inf"), float("inf")
        while solver.iteration < MAX_BASE_FACTOR * size.base:
            solver.step(max(size.base, int(solver.iteration * BASE_GROWTH)) - solver.iteration)
            before, after = after, solver.exploitability()
            if (after if self.cards is None else abs(before - after)) <= size.target:
                break
        counts = {"iterations": np.array(solver.iteration), "change": np.array(abs(before - after))}
        return {"average": np.array(solver.averages)} | counts

    @cached_property
    def base(self) -> BettingRound:
        """The base strategy of the whole game, solved on first use."""
        return BettingRound(self.tree, self.base_arrays["average"], threads=self.size.threads)

    def measure(self, name: str) -> dict[str, object]:
        """Measure the base, or the whole strategy after a method.

        Keys: `best`, best-response values of both players in mbb/g; `iterations`, of the base or of all endgames together;
        for the base `change`, of its exploitability in the last third of its iterations; after a method `slack`, upper
        bounds of the gain of each player's opponent by gadget errors, `own`, the gadgets' own exploitability by player, and
        `margin`, the least margin.
        """
        base, size = self.base, self.size
        if name == BASE:
            best, arrays = engine_quality(base.engine).best, self.base_arrays
            return {"best": best, "iterations": arrays["iterations"], "change": arrays["change"]}
        refined = refine_flop(
            base, name, iterations=size.iterations, until=size.target, schedule=SCHEDULE, dtype="float32",
            threads=size.threads, device=size.device,
        )  # fmt: skip
        best = engine_quality(CpuBoardEngine.from_average(base.tree, refined.table, size.threads)).best
        return {
            "best": best, "iterations": refined.iterations, "slack": refined.slacks, "margin": refined.least_margin,
            "own": (refined.own_exploitability(0), refined.own_exploitability(1)),
        }  # fmt: skip

    def announce_prediction(self, name: str) -> None:
        """Announce iterations, seconds and memory of a method before it starts, from a short run of its endgames.

        Endgames are assumed to converge as 1 / iterations; they are faster, so that this is the most.
        """
        size, base, started = self.size, self.base, perf_counter()
        probe = refine_flop(
            base, name, iterations=PROBE_ITERATIONS, schedule=SCHEDULE, dtype="float32", threads=size.threads,
            device=size.device,
        )  # fmt: skip
        seconds, share = perf_counter() - started, size.target / len(base.leaves)
        factors = [min(max(x.own / share, 1.0), size.iterations / PROBE_ITERATIONS) for x in probe.endgames]
        factor, memory = float(np.mean(factors)), board_table_bytes(self.tree, SCHEDULE, "float32")
        announce(
            f"{size.game}, {self.title}: {_method_title(name)}: at most {factor * probe.iterations:,.0f} iterations of "
            f"{len(factors)} endgames in {factor * seconds:,.0f} s, tables below {format_bytes(memory)}"
        )

    @property
    def title(self) -> str:
        """Name of the base in rows."""
        if self.cards is None:
            return "all hands"
        kind, _, count = self.cards.partition(":")
        return f"{int(count):,} {'potential-aware' if kind == 'potential' else 'strength'} buckets"

    def measure_all(self, names: Iterable[str]) -> dict[str, PartArrays]:
        """Return measurements by name of the method, without those that are neither cached nor requested."""

        def compute(name: str) -> dict[str, object]:
            if self.predict and name != BASE:
                self.announce_prediction(name)
            return self.measure(name)

        kind = "all" if self.cards is None else self.cards.replace(":", "-")
        found = {name: self.parts.get_or_compute(f"{kind}-{name}", partial(compute, name)) for name in names}
        return {name: arrays for name, arrays in found.items() if arrays is not None}


def _exploitability(measurement: PartArrays) -> float:
    return float(measurement["best"].sum()) / 2


def method_rows(
    measured: dict[str, PartArrays], figures: PrintedFigures | None, title: str, target: float
) -> list[ComparisonRow]:
    """Return rows with the exploitability of every method, checks of convergence, and checks of the safety theorems.

    A safe method raises no best-response value above the base's by more than the opponent's hands exceed what their
    gadgets allow, weighted by reach.
    """
    rows = []
    for name, after in measured.items():
        notes = [] if figures is None else [figures.note(name)]
        if name != BASE and FLOP_METHODS[name].gadget:
            notes.append(f"gadgets' own {after['own'].max():.3g}, least margin {after['margin']:.3g}")
        note = "; ".join([*filter(None, notes), f"{after['iterations']:,.0f} iterations"])
        rows.append(new_row(f"{title}: {_method_title(name)}", _exploitability(after), note=note))
    gadgets = {name: after for name, after in measured.items() if name != BASE and FLOP_METHODS[name].gadget}
    if gadgets:
        name = max(gadgets, key=lambda name: float(gadgets[name]["own"].max()))
        largest, label = float(gadgets[name]["own"].max()), f"{title}: gadgets' own exploitability, the largest"
        rows.append(
            finding_row(label, target, largest, "<=", note=f"{_method_title(name)}; the target of the iterations")
        )
    for name, after in gadgets.items():
        if BASE in measured and FLOP_METHODS[name].safe:
            label = f"{title}: {_method_title(name)}, gain beyond what its gadgets allow"
            excess = float((after["best"] - measured[BASE]["best"] - after["slack"][::-1]).max())
            note = f"allowed: {after['slack'].max():.3g}, hands above their limits times reach"
            rows.append(theorem_row(label, 0.0, excess, "<=", rounding=ROUNDING, note=note))
    return rows


def _method_title(name: str) -> str:
    return name if name == BASE else FLOP_METHODS[name].title


class PrintedFigures:
    """Exploitability by method: that of the paper, and that of its later version, whose unit is ten times smaller."""

    def __init__(self, experiment: str) -> None:
        self.paper: dict[str, float] = load_figures(experiment)
        self.later: dict[str, float] = load_figures(experiment, "later")

    def note(self, name: str) -> str:
        """Return the figures of a method as a note."""
        notes = []
        if name in self.paper:
            notes.append(f"paper {self.paper[name]:g}, in the later version's unit {10 * self.paper[name]:g}")
        if name in self.later:
            notes.append(f"later version {self.later[name]:g}")
        return "; ".join(notes)

    def ratio_note(self, name: str, over: str) -> str:
        """Return the ratios of two methods as a note."""
        tables = {"paper": self.paper, "later version": self.later}
        ratios = {
            title: table[name] / table[over] for title, table in tables.items() if name in table and over in table
        }
        return "; ".join(f"{title} {ratio:.3g}" for title, ratio in ratios.items())


def ratio_rows(measured: dict[str, PartArrays], figures: PrintedFigures, title: str) -> list[ComparisonRow]:
    """Return ratios of methods, the paper's and ours; orders of the paper's table are findings."""
    rows = []
    for name, over in (("unsafe", BASE), *ORDERS, ("reach_maxmargin_split", "maxmargin")):
        if name not in measured or over not in measured:
            continue
        ours = _exploitability(measured[name]) / _exploitability(measured[over])
        label, note = f"{title}: {_method_title(name)} / {_method_title(over)}", figures.ratio_note(name, over)
        if (name, over) in ORDERS:
            rows.append(finding_row(label, 1.0, ours, "<=", note=note))
        else:
            rows.append(new_row(label, ours, note=note))
    return rows


def run_table_1(
    full: bool, seed: int, game: str, cuda: int = 0, part: int = 0, predict: int = 0, **chosen: Any
) -> ExperimentReport:
    """Reproduce Table 1 for one of `GAMES`: with 15 or 20 cards; with `full` all 52 and 30,000 buckets, cached in parts.

    A part announces its iterations, seconds and memory before it starts, at full size or with `predict`.
    """
    figures, size = PrintedFigures(f"endgame-table-1-{game}"), GAMES[game][full]._replace(**chosen)
    size = size._replace(device=AUTO) if cuda else size
    recipe = (CACHE_VERSION, size.game, size.base, size.iterations, size.target, SCHEDULE)
    parts = ExperimentParts(f"endgame-{game}", " ".join(map(str, recipe)), use_cache=full, part=part)
    rows, curves = [], []
    for cards in (f"flops:{size.buckets}", f"potential:{size.potential}", None):
        if cards is not None and cards.endswith(":0"):
            continue
        table = FlopEndgameTable(size, parts, cards, predict=full or bool(predict))
        measured = table.measure_all(ALL_HANDS_METHODS if cards is None else (BASE, "unsafe", *TABLE_METHODS))
        rows += method_rows(measured, None if cards is None else figures, table.title, size.target)
        if BASE in measured:
            rows.append(base_row(measured[BASE], table.title, size.target, settled=cards is not None))
        if cards is not None:
            rows += ratio_rows(measured, figures, table.title)
        elif {BASE, "unsafe"} <= set(measured):
            ratio = _exploitability(measured["unsafe"]) / _exploitability(measured[BASE])
            title = "all hands: unsafe / base, where the base is nearly an equilibrium"
            note = "the paper's large game has 9.58: unsafe can be worse than the base"
            rows.append(finding_row(title, 1.0, ratio, ">=", note=note))
        curves.append(Curve(table.title, range(len(measured)), map(_exploitability, measured.values())))
    methods = ", ".join(map(_method_title, (BASE, "unsafe", *TABLE_METHODS)))
    notes = format_notes("endgame-table-1-small", size=size, schedule=SCHEDULE, parts=parts, methods=methods)
    return ExperimentReport(rows, notes, curves)


def base_row(measurement: PartArrays, title: str, target: float, *, settled: bool) -> ComparisonRow:
    """Return a check that a base has converged: the change in the last third of its iterations, or its exploitability."""
    if settled:
        label = f"{title}: base, change in the last third of its iterations"
        return finding_row(label, target, float(measurement["change"]), "<=")
    return finding_row(f"{title}: base, exploitability", target, _exploitability(measurement), "<=")


GAMES = {  # at default and at full size; potential-aware buckets are as large a share of the flop hands as in the paper
    "small": (
        FlopEndgameSize("small", 5, 4, potential=180, buckets=600, base=150, iterations=4000, target=10.0),
        FlopEndgameSize(
            "small", 13, 4, potential=30_000, buckets=0, base=200, iterations=50_000, target=1.0, threads=2
        ),
    ),
    "large": (
        FlopEndgameSize("large", 5, 3, potential=90, buckets=400, base=150, iterations=4000, target=10.0),
        FlopEndgameSize(
            "large", 13, 4, potential=30_000, buckets=0, base=150, iterations=50_000, target=1.0, threads=2
        ),
    ),
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


def _table_2_note(name: str) -> str:
    """Format the paper's number; the first version prints a tenth of the later version's numbers."""
    return f"paper {TABLE_2[name]:g}, in the later version's unit {10 * TABLE_2[name]:g}" if name in TABLE_2 else ""


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
        rows.append(new_row(title, value, note=_table_2_note(name)))
    safe = {name: arrays for name, arrays in available.items() if name != TRANSLATION and NESTED_METHODS[name].gadget}
    for name, arrays in safe.items():
        margin = float(arrays["margin"])
        meaning = (
            "not negative: an equilibrium of the larger game" if margin >= 0 else "negative: no proof of an equilibrium"
        )
        rows.append(new_row(f"{NESTED_METHODS[name].title}: least margin", margin, note=meaning))
    for name in values:
        if name != TRANSLATION and TRANSLATION in values:
            ratio = values[name] / values[TRANSLATION]
            note = f"paper {TABLE_2[name] / TABLE_2[TRANSLATION]:.3g}" if name in TABLE_2 else ""
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
