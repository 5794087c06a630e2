"""`BlueprintStrategy`: what a sampled solver learnt over a tree of betting and buckets of hands.

Tables hold the average as it was added up, in any unit: float32 sums, or steps of one or two bytes. Shares are taken when
they are read, and a decision for which nothing was ever added is uniform. Every street has one table, bucket by bucket, so
that all decisions of one bucket lie together.

    strategy = load_blueprint("runs/mine")
    strategy.at("cr300c/", "QhJh", "AsKd2c")           # {"c": 0.72, "r600": 0.28}
    strategy.probabilities(node, buckets)              # float64 [n, moves]: one decision, many hands
    strategy.decisions(nodes, buckets)                 # float64 [n, most moves]: many decisions at once
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction, lossless
from riverboat.cards.notation import Cards, show_cards
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, RiverboatError
from riverboat.core.schema import Arrays, Fields
from riverboat.games.holdem.action_tree import ActionTree, compile_actions
from riverboat.games.holdem.menus import Menu, parse_menu, show_menu
from riverboat.games.holdem.public_state import board_of, hand_of
from riverboat.games.holdem.rules import Rules, parse_game, show_game
from riverboat.strategies._kernels import blueprint as kernels
from riverboat.strategies.files import CHECKPOINT as CHECKPOINTS
from riverboat.strategies.files import newest

KIND = "blueprint"
CHECKPOINT = "blueprint checkpoint"  # of a run that goes on: read the same way, and what is learnt beside it left alone
KINDS = (KIND, CHECKPOINT)
STEPS = 255  # in which compact tables count
CARDS = "cards"  # the folder of the card abstraction, in that of a run or of a strategy
SNAPSHOTS = "snapshots"
MOST_STREETS = 4
_OPENED = artifacts.Opened["BlueprintStrategy"](4)
_TRIES = 5


@dataclass(frozen=True, eq=False)
class BlueprintStrategy:
    """What both seats do at every decision of a tree with every bucket of hands. Immutable."""

    rules: Rules
    menu: Menu | None  # None in limit games
    tree: ActionTree
    cards: CardAbstraction
    average: tuple[Array, ...]  # by street: float32 sums or unsigned steps [buckets, moves of the street]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    cards_path: Path | None = None  # the folder of the card abstraction; none where nothing is lost

    def __post_init__(self) -> None:
        if self.tree.rules != self.rules or self.tree.menu != self.menu:
            raise InputError(f"strategy for {self.rules.name!r}: the tree is one of other rules or another menu")
        check_cards(self.rules, self.cards)
        wanted = [(self.cards.counts[s], int(self.tree.width[s])) for s in range(self.rules.rounds)]
        shapes = [table.shape for table in self.average]
        if shapes != wanted:
            raise InputError(
                f"strategy for {self.rules.name!r}: tables of {shapes} for {wanted} buckets and moves by street"
            )
        for street, table in enumerate(self.average):
            if table.dtype.kind not in "fu":
                raise InputError(
                    f"strategy for {self.rules.name!r}, street {street}: {table.dtype}: sums or steps needed"
                )

    def __repr__(self) -> str:
        buckets = " – ".join(f"{count:,}" for count in self.buckets)
        return f"<BlueprintStrategy of {self.rules.name}: {len(self.tree):,} nodes, buckets {buckets}>"

    @property
    def buckets(self) -> tuple[int, ...]:
        """Buckets of each street that is played."""
        return self.cards.counts[: self.rules.rounds]

    @cached_property
    def fingerprint(self) -> str:
        """Tells strategies apart: the tree, the cards and everything that is played."""
        digest = hashlib.sha256((self.tree.fingerprint + self.cards.fingerprint).encode())
        for table in self.average:
            digest.update(repr((table.shape, table.dtype.str)).encode())
            digest.update(np.ascontiguousarray(table[:1] if table.strides[0] == 0 else table).data)
        return digest.hexdigest()

    def labelled(
        self, threads: int | None = None, progress: Callable[[float], None] | None = None
    ) -> BlueprintStrategy:
        """The same with tables of all hands, for whoever deals by the million; `progress` hears of tables to be made."""
        cards = self.cards.labelled(threads, progress)
        return self if cards is self.cards else replace(self, cards=cards)

    # --- what is played ---------------------------------------------------------------------------

    def probabilities(self, node: int, buckets: Array) -> Array:
        """Of every move at one decision, for many buckets of its street. int [n] -> float64 [n, moves]"""
        self.moves(node)
        street, at = int(self.tree.street[node]), int(self.tree.slot[node])
        chosen = self._checked(street, np.asarray(buckets))
        return _shares(self.average[street][chosen, at : at + int(self.tree.count[node])].astype(np.float64))

    def decisions(self, nodes: Array, buckets: Array) -> Array:
        """Of every move at many decisions, of whatever streets. int [n], int [n] -> float64 [n, most moves]

        Rows are as long as the decision with the most moves; behind the moves of the others stand zeros.
        """
        nodes, buckets = np.asarray(nodes), np.asarray(buckets)
        if nodes.shape != buckets.shape or nodes.ndim != 1:
            raise InputError(f"{nodes.shape} nodes and {buckets.shape} buckets: give one bucket for each node")
        count = self.tree.count[nodes]
        over = np.flatnonzero(count == 0)
        if len(over):
            self.moves(int(nodes[over[0]]))
        places = np.arange(count.max(initial=0))
        there = places < count[:, None]
        weights = np.zeros(there.shape)
        streets = self.tree.street[nodes]
        for street in np.unique(streets).tolist():
            rows = np.flatnonzero(streets == street)
            chosen = self._checked(street, buckets[rows])
            columns = np.minimum(self.tree.slot[nodes[rows], None] + places, self.tree.width[street] - 1)
            weights[rows] = self.average[street][chosen[:, None], columns]
        return _shares(np.where(there, weights, 0.0), there)

    def row(self, street: int, bucket: int) -> Array:
        """Of every move of every decision of a street, for one bucket. float64 [moves of the street]

        The moves of a decision begin at `tree.slot[node]`.
        """
        if not 0 <= street < self.rules.rounds:
            raise InputError(f"street {street}: {self.rules.name} has 0 to {self.rules.rounds - 1}")
        (chosen,) = self._checked(street, np.array([bucket]))
        weights = self.average[street][chosen].astype(np.float64)
        slot, count = self.slots(street)
        total = np.repeat(np.add.reduceat(weights, slot), count)
        return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / np.repeat(count, count))

    def at(self, line: str, hand: Cards, board: Cards = ()) -> dict[str, float]:
        """Of every move with one hand: `at("cr300c/", "QhJh", "AsKd2c")`."""
        node = self.tree.find(line)
        moves = self.moves(node)
        mine, shown = hand_of(self.rules, hand), board_of(self.rules, int(self.tree.street[node]), board)
        if set(mine) & set(shown):
            raise InputError(f"hand {show_cards(mine)}: shares a card with the board {show_cards(shown)}")
        bucket = self.cards.bucket(mine, shown)
        return dict(zip(moves, self.probabilities(node, np.array([bucket]))[0].tolist(), strict=True))

    # --- what is asked about ----------------------------------------------------------------------

    def moves(self, node: int) -> tuple[str, ...]:
        """Labels of the moves at a decision; other nodes are refused."""
        if not 0 <= node < len(self.tree):
            raise InputError(f"node {node}: the tree has nodes 0 to {len(self.tree) - 1:,}")
        if self.tree.actor[node] < 0:
            raise InputError(f"line {self.tree.line(node)!r}: the hand is over there, nobody acts")
        return self.tree.moves(node)

    def slots(self, street: int) -> tuple[Array, Array]:
        """Where the moves of each decision of a street begin, and how many they are. int32 and int8 [decisions]"""
        return self._slots[street]

    @cached_property
    def _slots(self) -> tuple[tuple[Array, Array], ...]:
        return slots(self.tree)

    def _checked(self, street: int, buckets: Array) -> Array:
        if buckets.dtype.kind not in "iu" or buckets.ndim != 1:
            raise InputError(f"buckets of {buckets.dtype} {buckets.shape}: give a list of whole numbers")
        if len(buckets) and not (buckets.min() >= 0 and buckets.max() < self.cards.counts[street]):
            wrong = buckets.min() if buckets.min() < 0 else buckets.max()
            raise InputError(
                f"bucket {wrong} on the {self.rules.streets[street]}: there are 0 to {self.cards.counts[street] - 1:,}"
            )
        return buckets


def _shares(weights: Array, there: Array | None = None) -> Array:
    """Rows divided by their sums; uniform, over what is there, where the sum is zero. float64 [n, moves]"""
    total = weights.sum(axis=1, keepdims=True)
    count = weights.shape[1] if there is None else there.sum(axis=1, keepdims=True)
    uniform = 1.0 / count if there is None else there / count
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), uniform)


def slots(tree: ActionTree) -> tuple[tuple[Array, Array], ...]:
    """By street, where the moves of each decision begin, and how many they are. int32 and int8 [decisions]"""
    pairs = []
    for street in range(tree.rules.rounds):
        nodes = np.flatnonzero((tree.street == street) & (tree.actor >= 0))  # in the order of their slots
        pairs.append((tree.slot[nodes], tree.count[nodes]))
    return tuple(pairs)


def check_cards(rules: Rules, cards: CardAbstraction) -> None:
    """Refuse a card abstraction that is not one of this game."""
    if cards.deck != rules.deck:
        raise InputError(
            f"card abstraction {cards.name!r}: its deck has {len(cards.deck.cards)} cards and hands of {cards.deck.hole}; "
            f"{rules.name} has {len(rules.deck.cards)} and {rules.hole}"
        )
    if cards.shown[: rules.rounds] != rules.board_sizes:
        raise InputError(
            f"card abstraction {cards.name!r}: boards of {cards.shown}; {rules.name} has {rules.board_sizes}"
        )


# --- on disk ----------------------------------------------------------------------------------


def describe(tree: ActionTree, cards: CardAbstraction, cards_path: str | Path | None = None) -> dict[str, Any]:
    """What it takes to build the tree and the cards again: entries of a manifest."""
    if cards_path is None and any(street.labels.size for street in cards.streets):
        raise InputError(
            f"card abstraction {cards.name!r}: give the folder that it lies in (cards_path) to refer to it"
        )
    return {
        "game": tree.rules.name,
        "rules": show_game(tree.rules),
        "menu": None if tree.menu is None else show_menu(tree.menu),
        "fingerprint": tree.fingerprint,
        "abstraction": {
            "name": cards.name,
            "path": None if cards_path is None else str(Path(cards_path).resolve()),
            "fingerprint": cards.fingerprint,
            "buckets": list(cards.counts[: tree.rules.rounds]),
        },
        "unit": "chips",
    }


def save_blueprint(strategy: BlueprintStrategy, folder: str | Path, compact: bool = False) -> Path:
    """Write a strategy as an artefact: its tables as they are, or one byte for each move. Its cards are put with it."""
    facts = describe(strategy.tree, strategy.cards, strategy.cards_path)
    tables = strategy.average
    if compact:
        tables = tuple(to_steps(table, *strategy.slots(street)) for street, table in enumerate(tables))
    arrays = {f"average_{street}": table for street, table in enumerate(tables)}
    written = artifacts.write(Path(folder), KIND, arrays, facts | {"provenance": dict(strategy.provenance)})
    if strategy.cards_path is not None and _cards_folder(written) is None:
        artifacts.link(strategy.cards_path, written / CARDS)
    return written


def to_steps(sums: Array, slot: Array, count: Array, steps: int = STEPS) -> Array:
    """Shares as steps that sum to 255 for each decision, or to `steps`, and to 0 where nothing was added.

    uint8 [buckets, moves of the street]
    """
    out = np.empty(sums.shape, np.uint8)
    kernels.to_steps(sums, slot, count, steps, np.empty(int(count.max(initial=1))), out)
    return out


def load_blueprint(folder: str | Path, abstraction: CardAbstraction | str | Path | None = None) -> BlueprintStrategy:
    """The strategy in a folder, or in the last checkpoint of a run that may be going on, its tables mapped into memory.

    The card abstraction is looked for where it lay; `abstraction` gives it, or the folder that it lies in now. What was read
    lately and has not changed on disk is not read again.
    """
    if abstraction is None:
        place = newest(folder)
        return _OPENED.get(place, lambda: _load(folder, None), place / CARDS, place.parent / CARDS)
    return _load(folder, abstraction)


def _load(folder: str | Path, abstraction: CardAbstraction | str | Path | None) -> BlueprintStrategy:
    place, entries, arrays = _read(Path(folder))
    name = entries.text("game")
    rules = parse_game(entries.text("rules", lines=True), name, f"{place}, rules")
    menu = None if entries["menu"] is None else parse_menu(entries.text("menu", lines=True))
    tree = compile_actions(rules, menu)
    if tree.fingerprint != entries.text("fingerprint"):
        raise InputError(f"{place}: trained on another tree of {name!r}: this release builds other moves for it")
    cards, path = _find_cards(place, entries.table("abstraction"), rules, abstraction)
    tables = []
    for street, (count, width) in enumerate(zip(cards.counts[: rules.rounds], tree.width.tolist(), strict=False)):
        tables.append(arrays.take(f"average_{street}", ("uint8", "uint16", "float32", "float64"), (count, width), 0.0))
    provenance = {**entries.plain("provenance", 1), "folder": place.name}
    return BlueprintStrategy(rules, menu, tree, cards, tuple(tables), provenance, path)


def _read(folder: Path) -> tuple[Path, Fields, Arrays]:
    """The manifest and the tables of the average. A run may put a newer checkpoint in the place of one that is being read."""
    for trial in range(_TRIES):
        before = _standing(folder)
        try:
            place = newest(folder)
            kind = artifacts.manifest(place).text("kind")
            if kind not in KINDS:
                raise InputError(f"{place}: holds a {kind}, not a blueprint; `riverboat train` makes one")
            names = [f"average_{street}.npy" for street in range(MOST_STREETS)]
            entries, arrays = artifacts.read(place, names, private=True)  # a checkpoint's regrets may be as large again
        except (RiverboatError, OSError):
            if trial == _TRIES - 1 or _standing(folder) == before:
                raise
            continue
        return place, entries, arrays
    raise AssertionError


def _standing(folder: Path) -> tuple[Path, int] | None:
    """Tells whether another artefact has taken the place."""
    try:
        place = newest(folder)
        return place, place.stat().st_ino
    except (RiverboatError, OSError):
        return None


def _find_cards(
    place: Path, facts: Fields, rules: Rules, given: CardAbstraction | str | Path | None
) -> tuple[CardAbstraction, Path | None]:
    """The card abstraction that a strategy was trained on, and its folder.

    It lies in the folder of the run, or with the strategy. Where it lay when the run began is told, and never followed: a
    folder does not say which other folders are read.
    """
    name = facts.text("name")
    if isinstance(given, CardAbstraction):
        cards, path = given, None
    elif given is None and facts["path"] is None:
        cards, path = lossless(rules.board[1:], rules.deck), None
    else:
        path = _cards_folder(place) if given is None else Path(given)
        if path is None:
            raise InputError(
                f"{place}: the card abstraction {name!r} that it was trained on is not with it (it lay at "
                f"{facts.text('path')}): say where it is with --abstraction DIR"
            )
        cards = load_abstraction(path)
    if cards.fingerprint != facts.text("fingerprint"):
        where = f"the one at {path}" if path is not None else "the one given"
        raise InputError(
            f"{place}: trained on the card abstraction {name!r}, and {where} puts hands into other buckets: "
            "give the right one with --abstraction DIR"
        )
    return cards, None if path is None else path.resolve()


def _cards_folder(place: Path) -> Path | None:
    """The card abstraction beside a strategy: in its folder, or in the run's, of which it is a part."""
    folders = [place]
    if place.name == "strategy" or place.name.startswith(CHECKPOINTS):
        folders.append(place.parent)
    if place.parent.name == SNAPSHOTS:
        folders.append(place.parent.parent)
    copies = [f / CARDS for f in folders if (f / CARDS / artifacts.MANIFEST).is_file() and not (f / CARDS).is_symlink()]
    return copies[0] if copies else None
