"""Database of solved river endgames, looked up by equity distributions (Ganzfried & Sandholm 2015, section 3.3).

    key = EndgameKey.from_river(board, pot, stack, ranges)
    match = database.nearest(key)                      # NearestEndgame: the entry, and its distance
    database.hand_values(match, key)                   # value of each hand, in pots

A *key* is the stack in pots and, for each player, the distribution of its hands' equities against the other's range.
The distance of two keys at the same stack level is the larger of the two players' earth mover's distances. Entries
store strategies and values by equity, so that they apply to any board: a hand plays like the hands of its equity.

A database is built from rivers that a blueprint reaches in self-play, solved in parallel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, Deck
from riverboat.cards.equity.equities import range_wins
from riverboat.cards.notation import format_cards
from riverboat.cards.ranges import Range
from riverboat.core import artifacts, files
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, check_threads
from riverboat.engines.devices import CPU, resolve_device
from riverboat.games.boards.board_game import BettingTree
from riverboat.games.holdem.rules import PokerRules
from riverboat.games.spots.spot import Spot
from riverboat.solvers.boards.batches import solve_many
from riverboat.strategies.blueprint import Blueprint
from riverboat.strategies.reports.blueprint import node_at_line
from riverboat.strategies.solution import Solution
from riverboat.subgames.database import _kernels as kernels

NUM_CDF_STEPS = 100  # equity steps of stored distributions
NUM_EQUITY_STEPS = 25  # equity steps of stored strategies and values
STACK_LEVELS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # stacks in pots
ENDGAME_POT = 1000  # chips in the pot of endgames solved for the database
BET_SIZES = {"bet": "50%, 100%, a", "raise": "100%, a"}
RAISE_CAP = 2  # raises after a bet
PROBABILITY_SCALE = 255  # probability 1 as a byte
_NUM_CELLS, _SAMPLE_SIZE, _KMEANS_ROUNDS = 128, 8192, 4  # parameters of the index


@dataclass(frozen=True, eq=False)
class EndgameKey:
    """Key of an endgame: stack level and equity distributions."""

    stack_level: int
    cdf: Array  # float32 [2, NUM_CDF_STEPS]: cumulative equity distribution of each player's range
    equity: Array  # float64 [2, 1326]: NaN without a compatible hand
    weight: Array  # float64 [2, 1326]: weight of each hand times that of the other player's compatible hands

    @staticmethod
    def from_river(
        board: Sequence[int], pot: float, stack: float, ranges: Sequence[Array], deck: Deck = FULL_DECK
    ) -> EndgameKey:
        """Compute the key of a river with a pot, the stack behind, and two ranges. float64 [1326] each"""
        if len(board) != 5:
            raise InputError(f"a board of {len(board)} cards: endgames of a database are rivers, with 5")
        if not (pot > 0 and stack > 0):
            raise InputError(f"pot {pot:g}, stack {stack:g}: both must be above zero")
        for name, weights in zip(("oop", "ip"), ranges, strict=True):
            if not np.any(np.asarray(weights)[~np.isin(HAND_CARDS, board).any(axis=1)] > 0):
                raise InputError(f"range of {name}: the board {format_cards(board)} blocks every hand in it")
        equity, weight = equities(board, ranges, deck)
        cdf = np.empty((2, NUM_CDF_STEPS), np.float32)
        for seat in (0, 1):
            if not weight[seat].any():
                raise InputError("ranges of oop and ip: every pair of hands shares a card")
            held = weight[seat] > 0
            step = _equity_steps(equity[seat][held], NUM_CDF_STEPS)
            shares = np.bincount(step, weight[seat][held], minlength=NUM_CDF_STEPS)
            cdf[seat] = np.cumsum(shares) / shares.sum()
        return EndgameKey(nearest_stack_level(stack / pot), cdf, equity, weight)


def equities(board: Sequence[int], ranges: Sequence[Array], deck: Deck = FULL_DECK) -> tuple[Array, Array]:
    """Return the equity of each hand against the other's range, and its joint weight. float64 [2, 1326] each

    The joint weight is the hand's weight times the total weight of the other's compatible hands.
    """
    boards = np.array([board], np.uint8)
    equity, weight = np.full((2, NUM_HANDS), np.nan), np.zeros((2, NUM_HANDS))
    for seat in (0, 1):
        won, total = range_wins(np.asarray(ranges[1 - seat], float), boards, np.ones(1), rules=deck.rules)
        valid = total > 1e-9 * max(float(np.sum(ranges[1 - seat])), 1e-300)
        equity[seat, valid] = np.clip(won[valid] / total[valid], 0.0, 1.0)
        weight[seat, valid] = np.asarray(ranges[seat])[valid] * total[valid]
    return equity, weight


def nearest_stack_level(stack_to_pot: float) -> int:
    """Return the stack level nearest to a stack in pots, by ratio."""
    return int(np.argmin(np.abs(np.log(np.array(STACK_LEVELS)) - np.log(stack_to_pot))))


# --- common betting trees -----------------------------------------------------------------------


def endgame_spot(
    stack_level: int,
    board: Sequence[int],
    ranges: Sequence[Array],
    deck: Deck = FULL_DECK,
    stack_to_pot: float | None = None,
) -> Spot:
    """Return an endgame as a spot with the database's bet sizes; `stack_to_pot` overrides the stack of the level."""
    behind = STACK_LEVELS[stack_level] if stack_to_pot is None else stack_to_pot
    scaled = [Range(np.asarray(weights) / max(float(np.max(weights)), 1e-300)) for weights in ranges]
    return Spot.make(
        board=tuple(int(c) for c in board), pot=ENDGAME_POT, stack=round(ENDGAME_POT * behind), oop=scaled[0], ip=scaled[1],
        bets={"river": BET_SIZES}, raise_cap=RAISE_CAP, deck=deck, name="endgame",
    )  # fmt: skip


@cache
def stack_level_betting(stack_level: int) -> BettingTree:
    """Return the betting tree that all entries of a stack level share."""
    full_range = np.ones(NUM_HANDS)
    return endgame_spot(stack_level, (0, 5, 10, 15, 20), (full_range, full_range)).betting


@cache
def decision_columns(stack_level: int) -> dict[int, slice]:
    """Return, by decision node of a stack level's betting, the slice of its actions in `EndgameEntry.play`."""
    betting = stack_level_betting(stack_level)
    widths = {node: len(betting.actions(node)) for node in np.flatnonzero(betting.actor >= 0).tolist()}
    ends = accumulate(widths.values())
    return {node: slice(end - width, end) for (node, width), end in zip(widths.items(), ends, strict=True)}


class EndgameEntry(NamedTuple):
    """Stored form of one solved endgame: equity distributions, and values and strategies by equity."""

    cdf: Array  # float32 [2, NUM_CDF_STEPS]
    value: Array  # float32 [2, NUM_EQUITY_STEPS]: value of hands of each equity, in pots
    play: Array  # uint8 [actions of the level, NUM_EQUITY_STEPS]: probabilities times PROBABILITY_SCALE


def make_entry(key: EndgameKey, solution: Solution) -> EndgameEntry:
    """Convert a solved endgame to values and strategies by equity. Equity steps without hands copy the nearest step."""
    root = solution[""]
    value = np.zeros((2, NUM_EQUITY_STEPS), np.float32)
    play = np.zeros((num_columns(key.stack_level), NUM_EQUITY_STEPS), np.uint8)
    step = _equity_steps(key.equity)
    for seat in (0, 1):
        ev, weight = root.ev(seat) / ENDGAME_POT, root.reach[seat] * root.compatible_weight(seat)
        valid = (step[seat] >= 0) & (weight > 0) & ~np.isnan(ev)
        value[seat] = _means_by_step(step[seat][valid], weight[valid], ev[valid])
    betting = stack_level_betting(key.stack_level)
    for node, columns in decision_columns(key.stack_level).items():
        seat, solution_node = int(betting.actor[node]), solution.node(node)
        strategy, weight = solution_node.strategy, solution_node.reach[seat] * root.compatible_weight(seat)
        valid = (step[seat] >= 0) & ~np.isnan(strategy).any(axis=0)
        if not weight[valid].any():
            weight = valid.astype(float)
        valid_steps, valid_weight = step[seat][valid], weight[valid]
        shares = np.stack([_means_by_step(valid_steps, valid_weight, row[valid]) for row in strategy])
        shares = shares / np.maximum(shares.sum(axis=0), 1e-12)
        play[columns] = np.round(shares * PROBABILITY_SCALE)
    return EndgameEntry(key.cdf, value, play)


def num_columns(stack_level: int) -> int:
    """Return the number of actions over all decisions of a stack level: the length of `EndgameEntry.play`."""
    return sum(columns.stop - columns.start for columns in decision_columns(stack_level).values())


def _equity_steps(equity: Array, count: int = NUM_EQUITY_STEPS) -> Array:
    """Return the index of each equity among `count` equal steps from 0 to 1; -1 for NaN. int64 [..., hands]"""
    return np.where(np.isnan(equity), -1, np.minimum(np.nan_to_num(equity) * count, count - 1).astype(np.int64))


def _means_by_step(step: Array, weight: Array, numbers: Array) -> Array:
    """Return weighted means by equity step; empty steps copy the nearest nonempty one. float64 [NUM_EQUITY_STEPS]"""
    total = np.bincount(step, weight, minlength=NUM_EQUITY_STEPS)
    sums = np.bincount(step, weight * numbers, minlength=NUM_EQUITY_STEPS)
    nonempty = np.flatnonzero(total > 0)
    if not len(nonempty):
        return np.zeros(NUM_EQUITY_STEPS)
    nearest = nonempty[np.argmin(np.abs(np.arange(NUM_EQUITY_STEPS)[:, None] - nonempty), axis=1)]
    means: Array = sums[nearest] / total[nearest]
    return means


# --- lookup ---------------------------------------------------------------------------------------


class NearestEndgame(NamedTuple):
    """The entry nearest to a key: its stack level, its number among the level's entries, and its distance."""

    stack_level: int
    number: int
    distance: float


class EndgameIndex(NamedTuple):
    """Entries in cells around centres: the triangle inequality bounds a distance by those to the centre of the cell.

    Entries are sorted by cell, then by distance to its centre; distances are multiplied by NUM_CDF_STEPS.
    """

    centres: Array  # float32 [cells, 2, NUM_CDF_STEPS]
    reach: Array  # float32 [cells]: the largest radius in a cell; negative for empty cells
    first: Array  # int64 [cells + 1]: first entry of each cell
    order: Array  # int64 [n]: original indices of the entries
    radius: Array  # float32 [n]: distance of an entry to the centre of its cell
    coarse: Array  # float32 [n, 2, 10]: sums over tenths of the steps: their L1 distances are lower bounds
    cdf: Array  # float32 [n, 2, NUM_CDF_STEPS]

    @staticmethod
    def build(cdf: Array) -> EndgameIndex:
        """Build an index with cells by k-means on a sample of coarse distributions. float32 [n, 2, NUM_CDF_STEPS]"""
        n = len(cdf)
        coarse = cdf.reshape(n, 2, 10, NUM_CDF_STEPS // 10).sum(axis=3)
        flat = coarse.reshape(n, 20)
        sample = flat[np.linspace(0, n - 1, min(_SAMPLE_SIZE, n)).astype(np.int64)]
        num_cells = min(_NUM_CELLS, len(sample))
        coarse_centres = sample[np.linspace(0, len(sample) - 1, num_cells).astype(np.int64)]
        for _ in range(_KMEANS_ROUNDS):
            cell_of = _nearest_center(sample, coarse_centres)
            sums = np.stack([np.bincount(cell_of, column, num_cells) for column in sample.T], axis=1)
            count = np.bincount(cell_of, minlength=num_cells)[:, None]
            coarse_centres = np.where(count > 0, sums / np.maximum(count, 1), coarse_centres).astype(np.float32)
        cell_of = _nearest_center(flat, coarse_centres)
        centres = np.zeros((num_cells, 2, NUM_CDF_STEPS), np.float32)
        radius, reach = np.zeros(n, np.float32), np.full(num_cells, -np.inf, np.float32)
        for cell in np.unique(cell_of).tolist():
            members = cdf[cell_of == cell]
            centres[cell] = members.mean(axis=0)
            distances = np.abs(members - centres[cell]).sum(axis=2).max(axis=1)
            radius[cell_of == cell], reach[cell] = distances, distances.max()
        order = np.lexsort((radius, cell_of))
        first = np.searchsorted(cell_of[order], np.arange(num_cells + 1))
        return EndgameIndex(centres, reach, first, order, radius[order], coarse[order], cdf[order])


def _nearest_center(rows: Array, centres: Array) -> Array:
    """Return the nearest centre of each row, by squared distance. int64 [n]"""
    nearest: Array = (rows @ centres.T - (centres**2).sum(axis=1) / 2).argmax(axis=1)
    return nearest


@dataclass(frozen=True, eq=False)
class StackLevelEntries:
    """All entries of a stack level."""

    cdf: Array  # float32 [n, 2, NUM_CDF_STEPS]
    value: Array  # float32 [n, 2, NUM_EQUITY_STEPS]
    play: Array  # uint8 [n, actions, NUM_EQUITY_STEPS]

    def __len__(self) -> int:
        return len(self.cdf)

    @cached_property
    def index(self) -> EndgameIndex:
        """Index for exact nearest-neighbor search."""
        return EndgameIndex.build(self.cdf)

    def nearest(self, cdf: Array) -> tuple[int, float]:
        """Return the nearest entry and its distance. Exact: bounds exclude only entries that cannot be nearer."""
        index, best = self.index, np.array([0.0, np.inf])
        cdf = np.ascontiguousarray(cdf, np.float32)
        coarse = cdf.reshape(2, 10, NUM_CDF_STEPS // 10).sum(axis=2)
        center_distance = np.abs(index.centres - cdf).sum(axis=2).max(axis=1)
        entries = index.reach, index.first, index.radius, index.coarse, index.cdf
        kernels.find_nearest_entry(np.argsort(center_distance), center_distance, *entries, cdf, coarse, best)
        return int(index.order[int(best[0])]), float(best[1]) / NUM_CDF_STEPS


@dataclass(frozen=True, eq=False)
class EndgameDatabase:
    """Solved endgames by stack level."""

    entries_by_level: dict[int, StackLevelEntries]
    metadata: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(len(entries) for entries in self.entries_by_level.values())

    @staticmethod
    def from_entries(entries: Sequence[tuple[int, EndgameEntry]]) -> EndgameDatabase:
        """Build a database from entries with their stack levels."""
        by_level = {}
        for level in sorted({level for level, _ in entries}):
            level_entries = [entry for entry_level, entry in entries if entry_level == level]
            by_level[level] = StackLevelEntries(*(np.stack(part) for part in zip(*level_entries, strict=True)))
        return EndgameDatabase(by_level)

    def nearest(self, key: EndgameKey) -> NearestEndgame:
        """Return the entry nearest to a key, at its stack level or else the nearest level."""
        if not self.entries_by_level:
            raise InputError("an empty endgame database: `riverboat endgames build` fills it")
        level = min(self.entries_by_level, key=lambda candidate: (abs(candidate - key.stack_level), candidate))
        return NearestEndgame(level, *self.entries_by_level[level].nearest(key.cdf))

    def hand_values(self, match: NearestEndgame, key: EndgameKey) -> Array:
        """Return the values that an entry gives to the hands of a key, in pots; NaN without equity. float64 [2, 1326]

        The entry was solved for other ranges: both players' values are shifted alike, so that they sum to the pot.
        """
        step, entry_values = _equity_steps(key.equity), self.entries_by_level[match.stack_level].value[match.number]
        values = np.stack([np.where(step[seat] >= 0, entry_values[seat][step[seat]], np.nan) for seat in (0, 1)])
        total = np.nansum(values * key.weight) / max(float(key.weight[0].sum()), 1e-300)
        shifted: Array = values + (1.0 - total) / 2
        return shifted

    def strategy(self, match: NearestEndgame, node: int, equity: Array) -> Array:
        """Return an entry's strategy at a decision node, for hands of given equities. float64 [actions, hands]"""
        columns = decision_columns(match.stack_level)[node]
        play = self.entries_by_level[match.stack_level].play[match.number]
        shares = play[columns][:, np.maximum(_equity_steps(equity), 0)].astype(float)
        normalized: Array = shares / np.maximum(shares.sum(axis=0), 1e-12)
        return normalized


# --- construction ---------------------------------------------------------------------------------

ARTIFACT_KIND = "endgames"
PART_SIZE = 250  # endgames per part
SOLVE_ITERATIONS = 300
TARGET_EXPLOITABILITY = 0.5  # % of the pot: solves stop early below it
RIVER = 3
DEALS_PER_DRAW = 2048


class ReachedStreet(NamedTuple):
    """Start of a street that a blueprint reached in self-play: board, pot, stack and ranges."""

    board: tuple[int, ...]
    pot: float
    stack: float
    ranges: tuple[Array, Array]  # float64 [1326] each
    node: int  # node of the blueprint's tree


class DatabaseProgress(NamedTuple):
    """Progress of `build_database`, counted in endgames."""

    done: int
    target: int
    seconds: float  # since the start of this run
    newly_solved: int  # endgames solved by this run


def _check_rules(rules: PokerRules) -> None:
    if rules.limit or rules.board != (0, 3, 1, 1) or rules.hole != 2 or rules.stacks is None:
        raise InputError(f"{rules.name}: endgame databases are for no-limit hold'em")


def sample_reached_streets(strategy: Blueprint, seed: int | list[int], street: int = RIVER) -> Iterator[ReachedStreet]:
    """Yield starts of a street, sampled without end from self-play of a blueprint, where chips are left to bet."""
    rules, tree, rng = strategy.rules, strategy.tree, np.random.default_rng(seed)
    _check_rules(rules)
    while True:
        dealt = rng.permuted(np.tile(rules.deck.cards, (DEALS_PER_DRAW, 1)), axis=1)[:, :9].astype(np.uint8)
        buckets = strategy.cards.buckets(dealt, players=2, check=False)
        node = np.zeros(DEALS_PER_DRAW, np.int64)
        while len(active := np.flatnonzero((tree.actor[node] >= 0) & (tree.street[node] < street))):
            active_nodes = node[active]
            active_buckets = buckets[active, tree.actor[active_nodes], tree.street[active_nodes]]
            probabilities = strategy.batch_probabilities(active_nodes, active_buckets)
            action = (rng.random((len(active), 1)) > np.cumsum(probabilities, axis=1)).sum(axis=1)
            node[active] = tree.first[active_nodes] + np.minimum(action, tree.count[active_nodes] - 1)
        for i in np.flatnonzero(tree.actor[node] >= 0).tolist():
            spent = tree.spent[node[i]].tolist()
            board = tuple(dealt[i, 4 : 4 + rules.board_sizes[street]].tolist())
            stack = rules.stack - max(spent)
            ranges = node_at_line(strategy, int(node[i]), board).full_reach
            if stack > 0 and ranges.any(axis=1).all():
                yield ReachedStreet(board, float(sum(spent)), float(stack), (ranges[0], ranges[1]), int(node[i]))


def solve_rivers(
    rivers: list[ReachedStreet], strategy: Blueprint, threads: int = 1, device: str = CPU
) -> list[tuple[int, EndgameEntry]]:
    """Solve rivers with the stacks of their stack levels; return pairs of stack level and entry."""
    deck = strategy.rules.deck
    spots = [endgame_spot(nearest_stack_level(r.stack / r.pot), r.board, r.ranges, deck) for r in rivers]
    solutions = solve_many(
        spots, iterations=SOLVE_ITERATIONS, until=TARGET_EXPLOITABILITY, check_every=20, threads=threads, device=device
    )
    keys = [EndgameKey.from_river(r.board, r.pot, r.stack, r.ranges, deck) for r in rivers]
    return [(key.stack_level, make_entry(key, solution)) for key, solution in zip(keys, solutions, strict=True)]


# --- files ----------------------------------------------------------------------------------------


def build_database(
    strategy: Blueprint,
    folder: str | Path,
    count: int,
    *,
    seed: int = 0,
    threads: int = 1,
    device: str = CPU,
    resume: bool = False,
    name: str = "",
    on_progress: Callable[[DatabaseProgress], None] | None = None,
    part_size: int = PART_SIZE,
) -> EndgameDatabase:
    """Fill a folder with `count` endgames that the blueprint reaches, solved on threads or on a GPU (`device`).

    With `resume`, endgames that are in the folder already count; they must have the same blueprint and seed. Each part
    of `part_size` endgames is written when it is solved. `name` is the agent's name in the metadata.
    """
    check_threads(threads)
    resolve_device(device)
    _check_rules(strategy.rules)  # before the folder is created
    target = Path(folder)
    if count < 1:
        raise InputError(f"count={count}: must be at least 1")
    with files.folder_lock(target):  # before the first part is solved
        artifacts.discard_leftovers(target)
        parts = _part_folders(target)
        if parts and not resume:
            raise InputError(
                f"{target}: holds {ARTIFACT_KIND} already; continue with resume (--resume), or give another folder"
            )
        done = 0
        for path in parts:
            entries = artifacts.read_manifest(path)
            for field, expected in (("strategy", strategy.fingerprint), ("seed", seed)):
                if entries[field] != expected:
                    raise InputError(f"{path}: made from another {field}; resume with the same one: {entries[field]}")
            done += entries.integer("count", 1)
        start, newly_solved, index = time.perf_counter(), 0, len(parts)
        while done < count:
            size = min(part_size, count - done)
            rivers = list(islice(sample_reached_streets(strategy, [seed, index]), size))
            by_level = EndgameDatabase.from_entries(solve_rivers(rivers, strategy, threads, device)).entries_by_level
            arrays = {
                f"{field}_{level}": getattr(level_entries, field)
                for level, level_entries in by_level.items()
                for field in ("cdf", "value", "play")
            }
            made_from = {"seed": seed, "strategy": strategy.fingerprint, "agent": name}
            metadata = {"count": size, **made_from, "rungs": list(by_level)}
            artifacts.write(target / f"part-{index:05d}", ARTIFACT_KIND, arrays, metadata)
            index, done, newly_solved = index + 1, done + size, newly_solved + size
            if on_progress is not None:
                on_progress(DatabaseProgress(done, count, time.perf_counter() - start, newly_solved))
    return load_database(target)


def _part_folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("part-*") if (path / artifacts.MANIFEST).is_file())


def load_database(folder: str | Path) -> EndgameDatabase:
    """Load the database in a folder, and check the arrays of every part."""
    source = Path(folder)
    parts = _part_folders(source)
    if not parts:
        raise InputError(f"{source}: holds no {ARTIFACT_KIND}; `riverboat endgames build {source}` makes some")
    rows: dict[int, list[tuple[Array, ...]]] = {}
    agents = set()
    for path in parts:
        entries, arrays = artifacts.read(path)
        if entries.text("kind") != ARTIFACT_KIND:
            raise InputError(f"{path}: holds a {entries.text('kind')}, not {ARTIFACT_KIND}")
        agents.add(str(entries["agent"]))
        for level in range(len(STACK_LEVELS)):
            if f"cdf_{level}" in arrays:
                cdf = arrays.get_checked(f"cdf_{level}", ("float32",), (None, 2, NUM_CDF_STEPS), 0.0)
                value = arrays.get_checked(f"value_{level}", ("float32",), (len(cdf), 2, NUM_EQUITY_STEPS))
                play = arrays.get_checked(f"play_{level}", ("uint8",), (len(cdf), num_columns(level), NUM_EQUITY_STEPS))
                rows.setdefault(level, []).append((cdf, value, play))
    by_level = {
        level: StackLevelEntries(*(np.concatenate(part) for part in zip(*level_rows, strict=True)))
        for level, level_rows in sorted(rows.items())
    }
    return EndgameDatabase(by_level, {"agents": sorted(agents), "parts": len(parts)})
