"""How a library of endgames comes to be: rivers that a blueprint reaches against itself, solved side by side.

    build(strategy, "runs/endgames", 100_000, threads=2)     # goes on where it was stopped

A library on disk is a folder of parts, each an artefact of some hundred endgames, drawn from a seed of its own: so a run that
was stopped goes on with the next part, and any part can be made again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from riverboat.core import artifacts, atomic_io
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.devices import CPU, choose
from riverboat.games.holdem.rules import Rules
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.strategies.reports.blueprint import at_line
from riverboat.strategies.reports.public_state import hand_numbers
from riverboat.subgames.database.database import (
    GRID,
    RUNGS,
    STEPS,
    Kept,
    Key,
    Library,
    Shelf,
    columns_count,
    kept_of,
    rung_of,
    rung_spot,
)

KIND = "endgames"
PART = 250  # endgames of a part
ITERATIONS = 300
UNTIL = 0.5  # % of the pot, at which fewer iterations do
RIVER = 3
DRAWN = 2048  # deals at a time


class Reached(NamedTuple):
    """A street that was reached."""

    board: tuple[int, ...]
    pot: float
    stack: float
    ranges: tuple[Array, Array]  # float64 [1326] each
    line: str


class Progress(NamedTuple):
    """How far a build is."""

    done: int
    wanted: int
    seconds: float  # since it began, of this run
    made: int  # by this run


def _check_rules(rules: Rules) -> None:
    if rules.limit or rules.board != (0, 3, 1, 1) or rules.hole != 2 or rules.stacks is None:
        raise InputError(f"{rules.name}: endgames are rivers of no-limit hold'em")


def reached(strategy: BlueprintStrategy, seed: int | list[int], street: int = RIVER) -> Iterator[Reached]:
    """Rivers that a blueprint reaches against itself with chips behind, as often as it does, without end; or turns."""
    rules, tree, rng = strategy.rules, strategy.tree, np.random.default_rng(seed)
    _check_rules(rules)
    assert rules.stacks is not None
    while True:
        deck = np.tile(rules.deck.cards, (DRAWN, 1))
        dealt = rng.permuted(deck, axis=1)[:, :9].astype(np.uint8)
        buckets = strategy.cards.buckets(dealt, players=2, check=False)
        node = np.zeros(DRAWN, np.int64)
        while len(going := np.flatnonzero((tree.actor[node] >= 0) & (tree.street[node] < street))):
            here = node[going]
            shares = strategy.decisions(here, buckets[going, tree.actor[here], tree.street[here]])
            move = (rng.random((len(going), 1)) > np.cumsum(shares, axis=1)).sum(axis=1)
            node[going] = tree.first[here] + np.minimum(move, tree.count[here] - 1)
        for i in np.flatnonzero(tree.actor[node] >= 0).tolist():
            spent = tree.spent[node[i]].tolist()
            board = tuple(dealt[i, 4 : 4 + rules.board_sizes[street]].tolist())
            stack = min(rules.stacks) - max(spent)
            place = at_line(strategy, tree.line(int(node[i])), board)
            held = np.zeros((2, 1326))
            held[:, hand_numbers(place.hands)] = place.reach
            if stack > 0 and held.any(axis=1).all():
                yield Reached(board, float(sum(spent)), float(stack), (held[0], held[1]), tree.line(int(node[i])))


def solve_some(
    rivers: list[Reached], strategy: BlueprintStrategy, threads: int = 1, device: str = CPU
) -> list[tuple[int, Kept]]:
    """Solve rivers, each on its rung, and keep them by equity."""
    deck = strategy.rules.deck
    spots = [rung_spot(rung_of(r.stack / r.pot), r.board, r.ranges, deck) for r in rivers]
    solutions = solve_many(spots, iterations=ITERATIONS, until=UNTIL, check_every=20, threads=threads, device=device)
    entries = []
    for river, solution in zip(rivers, solutions, strict=True):
        key = Key.of(river.board, river.pot, river.stack, river.ranges, deck)
        entries.append((key.rung, kept_of(key, solution)))
    return entries


# --- on disk --------------------------------------------------------------------------------------


def build(
    strategy: BlueprintStrategy,
    folder: str | Path,
    count: int,
    *,
    seed: int = 0,
    threads: int = 1,
    device: str = CPU,
    resume: bool = False,
    name: str = "",
    tell: Callable[[Progress], None] | None = None,
    part: int = PART,
) -> Library:
    """Fill a folder with so many endgames, solved by threads or on a GPU (`device`). With `resume` what is there counts; it
    must be of the same blueprint and seed.
    """
    check_threads(threads)
    choose(device)
    _check_rules(strategy.rules)  # what is refused leaves no folder behind
    place = Path(folder)
    if count < 1:
        raise InputError(f"count={count}: at least 1 endgame")
    with atomic_io.held(place):  # now: not after the first part is solved
        artifacts.discard_leftovers(place)
        parts = _parts(place)
        if parts and not resume:
            raise InputError(f"{place}: holds {KIND} already; go on with resume (--resume), or give another folder")
        done = 0
        for path in parts:
            entries = artifacts.manifest(path)
            for what, mine in (("strategy", strategy.fingerprint), ("seed", seed)):
                if entries[what] != mine:
                    raise InputError(
                        f"{path}: made from another {what}; resume with the one that it has: {entries[what]}"
                    )
            done += entries.whole("count", 1)
        began, made, number = time.perf_counter(), 0, len(parts)
        while done < count:
            size = min(part, count - done)
            source = reached(strategy, [seed, number])
            rivers = [next(source) for _ in range(size)]
            shelves = Library.of(solve_some(rivers, strategy, threads, device)).shelves
            arrays = {
                f"{what}_{rung}": getattr(shelf, what)
                for rung, shelf in shelves.items()
                for what in ("cdf", "value", "play")
            }
            facts = {
                "count": size,
                "seed": seed,
                "strategy": strategy.fingerprint,
                "agent": name,
                "rungs": list(shelves),
            }
            artifacts.write(place / f"part-{number:05d}", KIND, arrays, facts)
            number, done, made = number + 1, done + size, made + size
            if tell is not None:
                tell(Progress(done, count, time.perf_counter() - began, made))
    return load_library(place)


def _parts(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("part-*") if (path / artifacts.MANIFEST).is_file())


def load_library(folder: str | Path) -> Library:
    """The library in a folder; every part is checked."""
    place = Path(folder)
    parts = _parts(place)
    if not parts:
        raise InputError(f"{place}: holds no {KIND}; `riverboat endgames build {place}` makes some")
    rows: dict[int, list[tuple[Array, ...]]] = {}
    agents = set()
    for path in parts:
        entries, arrays = artifacts.read(path)
        if entries.text("kind") != KIND:
            raise InputError(f"{path}: holds a {entries.text('kind')}, not {KIND}")
        agents.add(str(entries["agent"]))
        for rung in range(len(RUNGS)):
            if f"cdf_{rung}" in arrays:
                cdf = arrays.take(f"cdf_{rung}", ("float32",), (None, 2, GRID), 0.0)
                value = arrays.take(f"value_{rung}", ("float32",), (len(cdf), 2, STEPS))
                play = arrays.take(f"play_{rung}", ("uint8",), (len(cdf), columns_count(rung), STEPS))
                rows.setdefault(rung, []).append((cdf, value, play))
    shelves = {
        rung: Shelf(*(np.concatenate(part) for part in zip(*some, strict=True))) for rung, some in sorted(rows.items())
    }
    return Library(shelves, {"agents": sorted(agents), "parts": len(parts)})
