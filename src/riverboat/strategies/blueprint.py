"""`Blueprint`: the average strategy of a sampled solver, over a betting tree and card buckets.

Tables hold the accumulated average in any unit: float32 sums, or integers of one or two bytes. Probabilities are
normalized on reading; a decision with no accumulated weight is uniform. Each street has one table, bucket by bucket,
so that all decisions of one bucket are contiguous in memory.

    strategy = load_blueprint("runs/mine")
    strategy.hand_probabilities("cr300c/", "QhJh", "AsKd2c")   # {"c": 0.72, "r600": 0.28}
    strategy.probabilities(node, buckets)              # float64 [n, actions]: one decision, many buckets
    strategy.batch_probabilities(nodes, buckets)       # float64 [n, max actions]: many decisions at once
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, load_abstraction, lossless_abstraction
from riverboat.cards.notation import Cards, format_cards
from riverboat.core import artifacts
from riverboat.core.arrays import Array, safe_divide
from riverboat.core.errors import InputError, RiverboatError
from riverboat.core.schema import ArtifactArrays, FileEntries
from riverboat.games.holdem.action_tree import ActionTree, compile_action_tree
from riverboat.games.holdem.menus import ActionMenu, format_menu, parse_menu
from riverboat.games.holdem.public_states import parse_game_board, parse_game_hand
from riverboat.games.holdem.rules import PokerRules, format_game, parse_game
from riverboat.strategies._kernels import table as kernels
from riverboat.strategies.files import CHECKPOINT_PREFIX as CHECKPOINTS
from riverboat.strategies.files import latest_artifact

ARTIFACT_KIND = "blueprint"
# Checkpoint of an unfinished run: the layout of a blueprint, and the state of the trainer, which readers ignore.
CHECKPOINT_KIND = "blueprint checkpoint"
ARTIFACT_KINDS = (ARTIFACT_KIND, CHECKPOINT_KIND)
QUANTIZATION_STEPS = 255  # integer units that the probabilities of one decision sum to in compact tables
ABSTRACTION_FOLDER = "cards"  # subfolder of a run or a strategy that holds the card abstraction
SNAPSHOTS_FOLDER = "snapshots"
MAX_STREETS = 4
_CACHE = artifacts.ArtifactCache["Blueprint"](4)
_MAX_TRIES = 5


@dataclass(frozen=True, eq=False)
class Blueprint:
    """Strategy of both seats over a betting tree and card buckets. Immutable.

    Attributes
    ----------
    rules
        Rules of the game.
    menu
        Bet sizes of the tree; None in limit games.
    tree
        Betting tree.
    cards
        Card abstraction.
    average
        Accumulated average strategy by street: float32 sums or unsigned integers. [buckets, actions of the street]
    provenance
        Origin of the strategy: method, iterations and so on.
    cards_path
        Folder of the card abstraction; None if it is lossless.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> blueprint = load_blueprint(default_folder())
    >>> sorted(blueprint.hand_probabilities("", "AsAh"))[:2]
    ['c', 'f']
    """

    rules: PokerRules
    menu: ActionMenu | None  # None in limit games
    tree: ActionTree
    cards: CardAbstraction
    average: tuple[Array, ...]  # by street: float32 sums or unsigned integers [buckets, actions of the street]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    cards_path: Path | None = None  # folder of the card abstraction; None if it is lossless

    def __post_init__(self) -> None:
        name = f"strategy for {self.rules.name!r}"
        if self.tree.rules != self.rules or self.tree.menu != self.menu:
            raise InputError(f"{name}: the tree has other rules or another menu")
        check_abstraction(self.rules, self.cards)
        wanted = [(self.cards.counts[s], int(self.tree.width[s])) for s in range(self.rules.rounds)]
        shapes = [table.shape for table in self.average]
        if shapes != wanted:
            raise InputError(f"{name}: tables have shapes {shapes}; by buckets and actions they must be {wanted}")
        for street, table in enumerate(self.average):
            if table.dtype.kind not in "fu":
                raise InputError(f"{name}, street {street}: {table.dtype}: must be float or unsigned int")

    def __repr__(self) -> str:
        buckets = " – ".join(f"{count:,}" for count in self.buckets)
        return f"<Blueprint of {self.rules.name}: {len(self.tree):,} nodes, buckets {buckets}>"

    @property
    def buckets(self) -> tuple[int, ...]:
        """Number of buckets of each street."""
        return self.cards.counts[: self.rules.rounds]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the tree, the card abstraction and all tables."""
        digest = hashlib.sha256((self.tree.fingerprint + self.cards.fingerprint).encode())
        for table in self.average:
            digest.update(repr((table.shape, table.dtype.str)).encode())
            digest.update(np.ascontiguousarray(table[:1] if table.strides[0] == 0 else table).data)
        return digest.hexdigest()

    def with_labels(self, threads: int | None = None, progress: Callable[[float], None] | None = None) -> Blueprint:
        """Return the strategy with bucket labels of all hands in memory, for fast lookup of millions of deals.

        `progress` is called with the finished fraction while labels are computed.

        Parameters
        ----------
        threads
            Threads that compute the labels; None: all cores.
        progress
            Called with the finished fraction.
        """
        cards = self.cards.with_labels(threads, progress)
        return self if cards is self.cards else replace(self, cards=cards)

    # --- probabilities ------------------------------------------------------------------------------

    def probabilities(self, node: int, buckets: Array) -> Array:
        """Return action probabilities at one decision for many buckets. int [n] -> float64 [n, actions]

        Parameters
        ----------
        node
            Index of a decision of the betting tree.
        buckets
            Buckets of the hands. int [n]
        """
        count = len(self.moves(node))
        street, slot = int(self.tree.street[node]), int(self.tree.slot[node])
        chosen = self._check_buckets(street, np.asarray(buckets))
        return _normalize_rows(self.average[street][chosen, slot : slot + count].astype(np.float64))

    def batch_probabilities(self, nodes: Array, buckets: Array) -> Array:
        """Return action probabilities at many decisions, of any streets. int [n], int [n] -> float64 [n, max actions]

        Rows are as long as the decision with the most actions; shorter ones are padded with zeros.

        Parameters
        ----------
        nodes
            Indices of decisions. int [n]
        buckets
            Bucket at each. int [n]
        """
        nodes, buckets = np.asarray(nodes), np.asarray(buckets)
        if nodes.shape != buckets.shape or nodes.ndim != 1:
            raise InputError(f"{nodes.shape} nodes and {buckets.shape} buckets: give one bucket for each node")
        count = self.tree.count[nodes]
        terminal = np.flatnonzero(count == 0)
        if len(terminal):
            self.moves(int(nodes[terminal[0]]))
        offsets = np.arange(count.max(initial=0))
        mask = offsets < count[:, None]
        weights = np.zeros(mask.shape)
        streets = self.tree.street[nodes]
        for street in np.unique(streets).tolist():
            rows = np.flatnonzero(streets == street)
            chosen = self._check_buckets(street, buckets[rows])
            columns = np.minimum(self.tree.slot[nodes[rows], None] + offsets, self.tree.width[street] - 1)
            weights[rows] = self.average[street][chosen[:, None], columns]
        return _normalize_rows(np.where(mask, weights, 0.0), mask)

    def street_probabilities(self, street: int, bucket: int) -> Array:
        """Return action probabilities at all decisions of a street for one bucket. float64 [actions of the street]

        The actions of a decision start at `tree.slot[node]`.

        Parameters
        ----------
        street
            Betting round, from 0.
        bucket
            Bucket of the hand on the street.
        """
        if not 0 <= street < self.rules.rounds:
            raise InputError(f"street {street}: {self.rules.name} has 0 to {self.rules.rounds - 1}")
        (chosen,) = self._check_buckets(street, np.array([bucket]))
        return normalize_table(self.average[street][chosen], *self.slots(street))

    def hand_probabilities(self, line: str, hand: Cards, board: Cards = ()) -> dict[str, float]:
        """Return action probabilities of one hand: `hand_probabilities("cr300c/", "QhJh", "AsKd2c")`.

        Parameters
        ----------
        line
            Line as in the ACPC protocol.
        hand
            Hole cards.
        board
            Board cards of the line's street.
        """
        node = self.tree.find(line)
        moves = self.moves(node)
        hole = parse_game_hand(self.rules, hand)
        public = parse_game_board(self.rules, int(self.tree.street[node]), board)
        if set(hole) & set(public):
            raise InputError(f"hand {format_cards(hole)}: shares a card with the board {format_cards(public)}")
        bucket = self.cards.bucket(hole, public)
        return dict(zip(moves, self.probabilities(node, np.array([bucket]))[0].tolist(), strict=True))

    # --- layout -------------------------------------------------------------------------------------

    def moves(self, node: int) -> tuple[str, ...]:
        """Return the labels of the actions at a decision; raise `InputError` at other nodes.

        Parameters
        ----------
        node
            Index of a decision of the betting tree.
        """
        if not 0 <= node < len(self.tree):
            raise InputError(f"node {node}: the tree has nodes 0 to {len(self.tree) - 1:,}")
        if self.tree.actor[node] < 0:
            raise InputError(f"line {self.tree.line(node)!r}: the hand is over, nobody acts")
        return self.tree.actions(node)

    def slots(self, street: int) -> tuple[Array, Array]:
        """Return first column and number of actions of each decision of a street. int32 and int8 [decisions]

        Parameters
        ----------
        street
            Betting round, from 0.
        """
        return self._slots[street]

    @cached_property
    def _slots(self) -> tuple[tuple[Array, Array], ...]:
        return decision_slots(self.tree)

    def _check_buckets(self, street: int, buckets: Array) -> Array:
        if buckets.dtype.kind not in "iu" or buckets.ndim != 1:
            raise InputError(f"buckets of {buckets.dtype} {buckets.shape}: must be a one-dimensional array of integers")
        if len(buckets) and not (buckets.min() >= 0 and buckets.max() < self.cards.counts[street]):
            wrong = buckets.min() if buckets.min() < 0 else buckets.max()
            raise InputError(
                f"bucket {wrong} on the {self.rules.streets[street]}: there are 0 to {self.cards.counts[street] - 1:,}"
            )
        return buckets


def _normalize_rows(weights: Array, mask: Array | None = None) -> Array:
    """Normalize rows to sum one; rows of sum zero become uniform over the valid columns. float64 [n, actions]"""
    total = weights.sum(axis=1, keepdims=True)
    count = weights.shape[1] if mask is None else mask.sum(axis=1, keepdims=True)
    uniform = 1.0 / count if mask is None else mask / count
    return safe_divide(weights, total, uniform)


def hand_buckets(cards: CardAbstraction, hands: Array, board: Sequence[int]) -> Array:
    """Return the buckets of hands on a board, by street.

    Parameters
    ----------
    cards
        Card abstraction.
    hands
        Hands that the board does not block. uint8 [n, hole]
    board
        Board cards.

    Returns
    -------
    Array
        Buckets. int32 [n, streets so far]

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> hand_buckets(lossless_abstraction(), np.array([[50, 51]], np.uint8), ()).shape
    (1, 1)
    """
    board_cards = np.tile(np.array(board, np.uint8), (len(hands), 1))
    return cards.buckets(np.concatenate([hands, board_cards], axis=1), check=False)[:, 0]


def current_buckets(cards: CardAbstraction, streets: Array, hole: Array, boards: Array) -> Array:
    """Return the bucket of each hand on its street.

    Parameters
    ----------
    cards
        Card abstraction.
    streets
        Street of each hand; -1 for none. int [n]
    hole
        Hole cards. uint8 [n, hole]
    boards
        Board cards, of which those of the street count. uint8 [n, board]

    Returns
    -------
    Array
        Buckets; -1 without a street. int32 [n]

    Examples
    --------
    >>> from riverboat.abstraction.cards.card_abstraction import lossless_abstraction
    >>> hole, boards = np.array([[50, 51]] * 2, np.uint8), np.zeros((2, 0), np.uint8)
    >>> (current_buckets(lossless_abstraction(), np.array([0, -1]), hole, boards) >= 0).tolist()
    [True, False]
    """
    out = np.full(len(streets), -1, np.int32)
    for street, num_cards in enumerate(cards.board_sizes):
        rows = np.flatnonzero(streets == street)
        if len(rows):
            deals = np.concatenate([hole[rows], boards[rows, :num_cards]], axis=1)
            out[rows] = cards.buckets(deals, check=False)[:, 0, -1]
    return out


def normalize_table(weights: Array, slot: Array, count: Array) -> Array:
    """Normalize accumulated weights at each decision of a street; decisions without weight are uniform.

    Parameters
    ----------
    weights
        Accumulated weights. [..., actions of the street]
    slot
        First column of each decision.
    count
        Number of actions of each decision.

    Returns
    -------
    Array
        Probabilities. float64 [..., actions of the street]

    Examples
    --------
    >>> normalize_table(np.array([1.0, 3.0, 0.0, 0.0]), np.array([0, 2], np.int32), np.array([2, 2], np.int8)).tolist()
    [0.25, 0.75, 0.5, 0.5]
    """
    sums = weights.astype(np.float64)
    total = np.repeat(np.add.reduceat(sums, slot, axis=-1), count, axis=-1)
    return safe_divide(sums, total, 1.0 / np.repeat(count, count))


def decision_slots(tree: ActionTree) -> tuple[tuple[Array, Array], ...]:
    """Return, by street, first column and number of actions of each decision. int32 and int8 [decisions]

    Parameters
    ----------
    tree
        Betting tree.

    Returns
    -------
    tuple[tuple[Array, Array], ...]
        First column and number of actions of each decision, by street.

    Examples
    --------
    >>> from riverboat.games.holdem.action_tree import compile_action_tree
    >>> from riverboat.games.holdem.rules import read_game
    >>> [len(first) for first, _ in decision_slots(compile_action_tree(read_game("leduc")))]
    [6, 30]
    """
    # Nodes of a street are in the order of their slots.
    by_street = [np.flatnonzero((tree.street == street) & (tree.actor >= 0)) for street in range(tree.rules.rounds)]
    return tuple((tree.slot[nodes], tree.count[nodes]) for nodes in by_street)


def check_abstraction(rules: PokerRules, cards: CardAbstraction) -> None:
    """Check that a card abstraction has the deck and the board sizes of the game.

    Parameters
    ----------
    rules
        Rules of the game.
    cards
        Card abstraction.

    Raises
    ------
    InputError
        If the abstraction was made for another game.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> blueprint = load_blueprint(default_folder())
    >>> check_abstraction(blueprint.rules, blueprint.cards)
    """
    if cards.deck != rules.deck:
        raise InputError(
            f"card abstraction {cards.name!r}: its deck has {len(cards.deck.cards)} cards and hands of {cards.deck.hole}; "
            f"{rules.name} has {len(rules.deck.cards)} and {rules.hole}"
        )
    if cards.board_sizes[: rules.rounds] != rules.board_sizes:
        raise InputError(
            f"card abstraction {cards.name!r}: boards of {cards.board_sizes}; {rules.name} has {rules.board_sizes}"
        )


# --- files --------------------------------------------------------------------------------------


def manifest_entries(tree: ActionTree, cards: CardAbstraction, cards_path: str | Path | None = None) -> dict[str, Any]:
    """Return manifest entries from which the tree and the card abstraction can be rebuilt.

    Parameters
    ----------
    tree
        Betting tree.
    cards
        Card abstraction.
    cards_path
        Folder of the card abstraction; None if it is lossless.

    Returns
    -------
    dict[str, Any]
        Manifest entries from which the tree and the card abstraction can be rebuilt.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> blueprint = load_blueprint(default_folder())
    >>> "menu" in manifest_entries(blueprint.tree, blueprint.cards, blueprint.cards_path)
    True
    """
    if cards_path is None and any(street.labels.size for street in cards.streets):
        raise InputError(
            f"card abstraction {cards.name!r}: pass cards_path, the folder where it is stored, to refer to it"
        )
    return {
        "game": tree.rules.name,
        "rules": format_game(tree.rules),
        "menu": None if tree.menu is None else format_menu(tree.menu),
        "fingerprint": tree.fingerprint,
        "abstraction": {
            "name": cards.name,
            "path": None if cards_path is None else str(Path(cards_path).resolve()),
            "fingerprint": cards.fingerprint,
            "buckets": list(cards.counts[: tree.rules.rounds]),
        },
        "unit": "chips",
    }


def save_blueprint(strategy: Blueprint, folder: str | Path, compact: bool = False) -> Path:
    """Write a strategy as an artifact with its card abstraction.

    Parameters
    ----------
    strategy
        The blueprint.
    folder
        New folder.
    compact
        Quantize tables to one byte per action.

    Returns
    -------
    Path
        The written folder.

    Raises
    ------
    InputError
        If the folder is in use.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from riverboat.agents.registry import default_folder
    >>> folder = pathlib.Path(tempfile.mkdtemp(), "copy")
    >>> save_blueprint(load_blueprint(default_folder()), folder) == folder
    True
    """
    entries = manifest_entries(strategy.tree, strategy.cards, strategy.cards_path)
    tables = strategy.average
    if compact:
        tables = tuple(quantize_table(table, *strategy.slots(street)) for street, table in enumerate(tables))
    arrays = {f"average_{street}": table for street, table in enumerate(tables)}
    written = artifacts.write(Path(folder), ARTIFACT_KIND, arrays, entries | {"provenance": dict(strategy.provenance)})
    if strategy.cards_path is not None and _abstraction_folder(written) is None:
        artifacts.link(strategy.cards_path, written / ABSTRACTION_FOLDER)
    return written


def quantize_table(sums: Array, slot: Array, count: Array, steps: int = QUANTIZATION_STEPS) -> Array:
    """Quantize probabilities to integers that sum to `steps` at each decision, or to 0 where no weight was accumulated.

    uint8 [buckets, actions of the street]

    Parameters
    ----------
    sums
        Accumulated weights. float [buckets, actions of the street]
    slot
        First column of each decision.
    count
        Number of actions of each decision.
    steps
        Sum of the integers at a decision.

    Returns
    -------
    Array
        Integers. uint8 [buckets, actions of the street]

    Examples
    --------
    >>> sums = np.array([[1.0, 3.0]], np.float32)
    >>> quantize_table(sums, np.array([0], np.int32), np.array([2], np.int8), 100).tolist()
    [[25, 75]]
    """
    out = np.empty(sums.shape, np.uint8)
    kernels.quantize(sums, slot, count, steps, np.empty(int(count.max(initial=1))), out)
    return out


def load_blueprint(folder: str | Path, abstraction: CardAbstraction | str | Path | None = None) -> Blueprint:
    """Load the strategy in a folder, or in the latest checkpoint of a run, with memory-mapped tables.

    Recently loaded strategies are cached until they change on disk.

    Parameters
    ----------
    folder
        Folder of a strategy or of a run, which may still be training.
    abstraction
        Card abstraction, or its folder. The default is the one in the folder of the strategy or of its run.

    Returns
    -------
    Blueprint
        The average strategy.

    Raises
    ------
    InputError
        If the folder holds no blueprint.
    CorruptError
        If a file of it is torn or altered.

    Examples
    --------
    >>> from riverboat.agents.registry import default_folder
    >>> load_blueprint(default_folder()).rules.name
    'nolimit-200bb'
    """
    if abstraction is not None:
        return _load_uncached(folder, abstraction)
    path = latest_artifact(folder)
    card_folders = path / ABSTRACTION_FOLDER, path.parent / ABSTRACTION_FOLDER
    return _CACHE.get(path, lambda: _load_uncached(folder, None), *card_folders)


def _load_uncached(folder: str | Path, abstraction: CardAbstraction | str | Path | None) -> Blueprint:
    source, entries, arrays = _read(Path(folder))
    name = entries.text("game")
    rules = parse_game(entries.text("rules", multiline=True), name, f"{source}, rules")
    menu = None if entries["menu"] is None else parse_menu(entries.text("menu", multiline=True))
    tree = compile_action_tree(rules, menu)
    if tree.fingerprint != entries.text("fingerprint"):
        raise InputError(f"{source}: trained on another tree of {name!r}: this release builds different actions for it")
    cards, cards_path = _find_abstraction(source, entries.table("abstraction"), rules, abstraction)
    dtypes = ("uint8", "uint16", "float32", "float64")
    shapes = zip(cards.counts[: rules.rounds], tree.width.tolist(), strict=False)
    tables = tuple(arrays.get_checked(f"average_{s}", dtypes, shape, 0.0) for s, shape in enumerate(shapes))
    provenance = {**entries.plain_table("provenance", 1), "folder": source.name}
    return Blueprint(rules, menu, tree, cards, tables, provenance, cards_path)


def _read(folder: Path) -> tuple[Path, FileEntries, ArtifactArrays]:
    """Read the manifest and the average tables; retry if a running trainer replaces the checkpoint meanwhile."""
    for attempt in range(_MAX_TRIES):
        before = _artifact_identity(folder)
        try:
            source = latest_artifact(folder)
            kind = artifacts.read_manifest(source).text("kind")
            if kind not in ARTIFACT_KINDS:
                raise InputError(f"{source}: holds a {kind}, not a blueprint; `riverboat train` makes one")
            names = [f"average_{street}.npy" for street in range(MAX_STREETS)]
            entries, arrays = artifacts.read(source, names, private=True)  # skips regrets, which may be as large
        except (RiverboatError, OSError):
            if attempt == _MAX_TRIES - 1 or _artifact_identity(folder) == before:
                raise
            continue
        return source, entries, arrays
    raise AssertionError


def _artifact_identity(folder: Path) -> tuple[Path, int] | None:
    """Return path and inode of the artifact that is in a folder now, to notice when another one replaces it."""
    try:
        path = latest_artifact(folder)
        return path, path.stat().st_ino
    except (RiverboatError, OSError):
        return None


def _find_abstraction(
    place: Path, entries: FileEntries, rules: PokerRules, abstraction: CardAbstraction | str | Path | None
) -> tuple[CardAbstraction, Path | None]:
    """Find the card abstraction that a strategy was trained on, and its folder.

    It is in the folder of the strategy or of its run. The manifest records the original path for messages only: reading
    an artifact never opens folders that the artifact names.
    """
    name = entries.text("name")
    if isinstance(abstraction, CardAbstraction):
        cards, path = abstraction, None
    elif abstraction is None and entries["path"] is None:
        cards, path = lossless_abstraction(rules.board[1:], rules.deck), None
    else:
        path = _abstraction_folder(place) if abstraction is None else Path(abstraction)
        if path is None:
            raise InputError(
                f"{place}: the card abstraction {name!r} that it was trained on is not in this folder (it was at "
                f"{entries.text('path')}): give its folder with --abstraction DIR"
            )
        cards = load_abstraction(path)
    if cards.fingerprint != entries.text("fingerprint"):
        where = f"the one at {path}" if path is not None else "the one given"
        raise InputError(
            f"{place}: trained on the card abstraction {name!r}, but {where} has different buckets: "
            "give the right one with --abstraction DIR"
        )
    return cards, None if path is None else path.resolve()


def _abstraction_folder(place: Path) -> Path | None:
    """Return the folder of the card abstraction, in the folder of a strategy or of its run; None if there is none."""
    folders = [place]
    if place.name == "strategy" or place.name.startswith(CHECKPOINTS):
        folders.append(place.parent)
    if place.parent.name == SNAPSHOTS_FOLDER:
        folders.append(place.parent.parent)
    for candidate in (parent / ABSTRACTION_FOLDER for parent in folders):
        if (candidate / artifacts.MANIFEST).is_file() and not candidate.is_symlink():
            return candidate
    return None
