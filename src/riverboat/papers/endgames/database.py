"""A library of endgames: how wrong its values are as it grows, how it plays, and a solver that stops where it begins.

Rivers are those that a blueprint reaches against itself. Some are held out and solved exactly. On a deck of 15 cards a
solver of turns that samples rivers either stops at the turn's end and reads the library, or goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from riverboat.compiled.blas import one_thread
from riverboat.core.arrays import Array
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.tables import block
from riverboat.games.holdem.betting import Betting
from riverboat.papers.endgames.leaf_values import GAME, MENU, blueprint
from riverboat.papers.framework import Curve, Experiment, Report
from riverboat.papers.reached_rivers import base_agent
from riverboat.papers.rows import Row, new
from riverboat.solvers.boards.batches import solve_many
from riverboat.solvers.boards.cfr import quality_of
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.solution import Solution
from riverboat.subgames.database.build import Reached, reached, solve_some
from riverboat.subgames.database.database import POT, Key, Library, Shelf, columns, rung_betting, rung_spot
from riverboat.subgames.database.leaves import LibraryLeaves, RiverLeaves, Turn
from riverboat.subgames.depth_limited.quality import Flop
from riverboat.subgames.depth_limited.street_game import StreetSolver, StreetTree, goes_on, street_tree

MANY = 100_000  # entries among which a look-up is timed
SECONDS = 1.5  # of a processor for a turn
TURN_LINE = "cc/cc/"


# --- values -----------------------------------------------------------------------------------------


def errors(library: Library, rivers: list[Reached], solutions: list[Solution]) -> Array:
    """Of each held-out river: |error| of hands' values on average, of the value of the game, and the "
    "distance. [n, 3]"""
    out = []
    for river, solution in zip(rivers, solutions, strict=True):
        key, root = Key.of(river.board, river.pot, river.stack, river.ranges), solution[""]
        match = library.nearest(key)
        values = library.values(match, key)
        by_hand, by_game = [], []
        for seat in (0, 1):
            exact, weight = root.ev(seat) / POT, key.weight[seat]
            known = (weight > 0) & ~np.isnan(exact) & ~np.isnan(values[seat])
            share = weight[known] / weight[known].sum()
            wrong = values[seat][known] - exact[known]
            by_hand.append(float(share @ np.abs(wrong)))
            by_game.append(abs(float(share @ wrong)))
        out.append((float(np.mean(by_hand)), float(np.mean(by_game)), match.distance))
    return np.array(out)


def played(library: Library, river: Reached, solution: Solution) -> float:
    """Exploitability of what a library plays on a river, in % of the pot."""
    key = Key.of(river.board, river.pot, river.stack, river.ranges)
    match, tree = library.nearest(key), solution.tree
    if match.rung != key.rung:
        return float("nan")
    table = np.zeros(len(solution.table), np.float32)
    forest = {int(n): f for f, n in enumerate(tree.forest.node)}
    betting = rung_betting(key.rung)
    for node in columns(key.rung):
        seat, place = int(betting.actor[node]), forest[node]
        at, width, rows = block(tree, 0, place)
        hands = tree.reps(0, seat)
        table[at : at + width * rows] = library.play(match, node, key.equity[seat][hands]).ravel()
    return quality_of(BoardWalker.reader(tree, table)).exploitability


def look_up(library: Library, rivers: list[Reached]) -> dict[str, Array]:
    """Microseconds of queries where there are many entries, those of the library mixed with each other: as often on each
    rung as now, and where all have the same stack. With the key and the values of all hands, and without. float64 [rivers]
    """
    rng = np.random.default_rng(0)
    spread = Library(
        {rung: _mixed(shelf.cdf, -(-MANY * len(shelf) // len(library)), rng) for rung, shelf in library.shelves.items()}
    )
    together = _mixed(np.concatenate([shelf.cdf for shelf in library.shelves.values()]), MANY, rng)
    keys = [Key.of(r.board, r.pot, r.stack, r.ranges) for r in rivers]
    return {
        "look-up": _timed(lambda i: spread.nearest(keys[i]), len(keys)),
        "look-up, one stack": _timed(lambda i: together.nearest(keys[i].cdf), len(keys)),
        "key and values": _timed(lambda i: _whole(library, rivers[i]), len(keys)),
    }


def _whole(library: Library, river: Reached) -> Array:
    key = Key.of(river.board, river.pot, river.stack, river.ranges)
    return library.values(library.nearest(key), key)


def _mixed(cdf: Array, count: int, rng: np.random.Generator) -> Shelf:
    """A shelf of mixtures, indexed."""
    one, other = (cdf[rng.integers(len(cdf), size=count)] for _ in range(2))
    share = rng.random((count, 1, 1)).astype(np.float32)
    shelf = Shelf(
        share * one + (1 - share) * other, np.zeros((count, 2, 1), np.float32), np.zeros((count, 1, 1), np.uint8)
    )
    _ = shelf.index
    return shelf


def _timed(ask: Callable[[int], object], count: int) -> Array:
    """Microseconds of each question, the least of three."""
    times = np.empty((3, count))
    for turn in times:
        for i in range(count):
            began = time.perf_counter()
            ask(i)
            turn[i] = 1e6 * (time.perf_counter() - began)
    least: Array = times.min(axis=0)
    return least


# --- a solver that stops ------------------------------------------------------------------------------


def turns(
    strategy: BlueprintStrategy, library: Library, count: int, seconds: float, seed: int
) -> dict[str, list[float]]:
    """Turns of the small deck, solved for the same time by a solver that stops and by one that goes on."""
    rng = np.random.default_rng([seed, 3])
    figures: dict[str, list[float]] = {}
    for _ in range(count):
        board = tuple(int(c) for c in np.sort(rng.choice(GAME.deck.cards, 4, replace=False)))
        turn = Flop.of(strategy, TURN_LINE, board)
        states = [turn.street.states[node] for node in turn.street.exits]
        own = turn.blueprint_play()
        first = sum(2 * table.size for table in own.values())
        rows = [sum(len(moves) for moves in tree.moves) for tree in (turn.street, *_rivers(states))]
        coarse, coarse_river = max(first // (4 * rows[0]), 1), max(first // (4 * sum(rows[1:])), 1)
        stops, goes, equal = [], [], []
        numbers = shared = 0
        for seat in (0, 1):
            end = Turn(states, board, turn.hands, seat, seed=seed)
            on, few = RiverLeaves(end, MENU), RiverLeaves(end, MENU, coarse_river)
            stops.append(_solved(turn, LibraryLeaves(end, library), seconds))
            goes.append(_solved(turn, on, seconds))
            equal.append(_solved(turn, few, seconds, coarse))
            numbers, shared = max(numbers, on.numbers), max(shared, few.numbers)
        told = {
            "blueprint (buckets on all streets), % of pot": turn.exploitability(turn.table),
            "blueprint on the turn, rivers solved, % of pot": turn.exploitability(turn.nested([own, own])),
            "stops and reads the library, rivers solved, % of pot": turn.exploitability(turn.nested(stops)),
            "goes on in buckets with as many numbers, rivers solved, % of pot": turn.exploitability(turn.nested(equal)),
            "goes on with all hands, rivers solved, % of pot": turn.exploitability(turn.nested(goes)),
            "numbers kept: stops": float(first),
            "numbers kept: goes on in buckets": float(2 * rows[0] * coarse + shared),
            "numbers kept: goes on with all hands": float(first + numbers),
            "buckets on the turn: goes on in buckets": float(coarse),
            "buckets on a river: goes on in buckets": float(coarse_river),
        }
        for name, value in told.items():
            figures.setdefault(name, []).append(value)
    return figures


def _rivers(states: list[Betting]) -> list[StreetTree]:
    """The betting behind each exit of a turn that goes on."""
    return [street_tree(state.next_street(), MENU) for state in states if goes_on(state)]


def _solved(
    turn: Flop, leaves: LibraryLeaves | RiverLeaves, seconds: float, buckets: int | None = None
) -> dict[int, Array]:
    began, end = time.thread_time(), leaves.turn
    with one_thread():
        rows = None if buckets is None else end.buckets(buckets)
        solver = StreetSolver(turn.street, turn.hands, turn.ranges, leaves, end.seat, rows)
        while time.thread_time() - began < seconds:
            solver.step(2)
    return solver.averages()[0]


# --- the report -----------------------------------------------------------------------------------------


def run(full: bool, seed: int) -> Report:
    """Some hundred endgames; with `full` some thousand."""
    strategy = base_agent(seed).strategy
    sizes = (125, 250, 500, 1000, 2000, 4000) if full else (20, 40, 80, 160)
    held_out, count, seconds = (100, 12, 4 * SECONDS) if full else (15, 2, SECONDS)
    source = reached(strategy, [seed, 0])
    entries = solve_some([next(source) for _ in range(sizes[-1])], strategy)
    other = reached(strategy, [seed, 1])
    rivers = [next(other) for _ in range(held_out)]
    spots = [rung_spot(Key.of(r.board, r.pot, r.stack, r.ranges).rung, r.board, r.ranges) for r in rivers]
    solutions = solve_many(spots, iterations=600, until=0.2, check_every=20)
    rows: list[Row] = []
    curve: list[float] = []
    for size in sizes:
        wrong = 100 * errors(Library.of(entries[:size]), rivers, solutions)
        mean, half = float(wrong[:, 0].mean()), 1.96 * float(wrong[:, 0].std(ddof=1)) / held_out**0.5
        note = f"of the game {wrong[:, 1].mean():.2f}, distance {wrong[:, 2].mean() / 100:.3f}"
        rows.append(
            new(f"{size:,} endgames: error of a hand's value, % of pot", mean, (mean - half, mean + half), note=note)
        )
        curve.append(mean)
    library = Library.of(entries)
    weak = np.array([played(library, r, s) for r, s in zip(rivers, solutions, strict=True)])
    solved = float(np.mean([s.provenance["exploitability"] for s in solutions]))
    uniform = _uniform(solutions)
    rows += [
        new("played by the nearest endgame: exploitability, % of pot", float(np.nanmean(weak))),
        new("every move alike: exploitability, % of pot", uniform),
        new("solved: exploitability, % of pot", solved),
    ]
    for what, micros in look_up(library, rivers).items():
        among = f"among {len(library):,} endgames" if "key" in what else f"among {MANY:,} endgames"
        note = f"at most {micros.max():.0f}"
        rows.append(new(f"{what} {among}, microseconds (median)", float(np.median(micros)), note=note))
    rows += _stopping(count, seconds, seed, 400 if full else 60)
    notes = (
        f"Values: {held_out} rivers of the blueprint against itself that are not in the library, solved to "
        "0.2 % of the pot; |error| over both ranges. Intervals are over rivers.",
        f"Turns: 15 cards, {count} turns after {TURN_LINE!r}, both solvers {seconds:g} s of a processor for "
        "each seat; in the end rivers are solved for the ranges that the turn leads to. "
        "A solver that stops spends all its numbers on the turn, where every hand has its own; one that goes on and may "
        "keep as many has half of them for rivers, which all cards share, and so few buckets on both streets.",
        f"Look-ups among {MANY:,} are timed on mixtures of the library's own distributions; the times are the machine's, "
        "with whatever else it does.",
    )
    return Report(
        tuple(rows), notes, (Curve("error of a hand's value (% of pot)", tuple(map(float, sizes)), tuple(curve)),)
    )


def _uniform(solutions: list[Solution]) -> float:
    each = [quality_of(BoardWalker.reader(s.tree, np.ones(len(s.table), np.float32))).exploitability for s in solutions]
    return float(np.mean(each))


def _stopping(count: int, seconds: float, seed: int, entries: int) -> list[Row]:
    strategy = blueprint(40_000, seed)
    source = reached(strategy, [seed, 4])
    library = Library.of(solve_some([next(source) for _ in range(entries)], strategy))
    figures = turns(strategy, library, count, seconds, seed)
    return [new(f"turn: {what}", float(np.mean(values))) for what, values in figures.items()]


EXPERIMENT = Experiment(
    "endgame-database",
    "A library of endgames: errors as it grows, play, and a solver that stops where it begins",
    "Ganzfried & Sandholm 2015, section 3.3, proposed there and not measured",
    "1 min",
    "20 min",
    run,
)
