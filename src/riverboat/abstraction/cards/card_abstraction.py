"""A card abstraction: the bucket of a hand on every street.

Each street has a table from the canonical index of hole cards and board to a bucket. Boards are unordered, so the turn
has 13,960,050 hands and the river 123,156,254. Three variants use the same tables:

- `cuts`: the table holds values, and the bucket on the previous street determines where they are cut (perfect recall).
- layers: with public buckets a board has one row of labels for each public bucket that its flop may belong to.
- no table: the canonical index is the bucket (lossless), or buckets are computed from centroids on demand
  (`riverboat.abstraction.cards.centroid_buckets`), as in shipped agents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards import _kernels as kernels
from riverboat.abstraction.cards import centroid_buckets
from riverboat.abstraction.cards.centroid_buckets import BOARD_CARDS_OF_METHOD, CENTROID_WIDTHS, CentroidBuckets
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.cards.deck import FULL_DECK, HAND_RULES, STANDARD_RULES, Deck
from riverboat.cards.features.small_deck_features import hand_indexer
from riverboat.cards.isomorphism import HandIndexer, join_tables
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError
from riverboat.core.schema import ArtifactArrays, FileEntries, check_range

ABSTRACTION_KIND = "card abstraction"
STREETS = ("preflop", "flop", "turn", "river")
_LOOKUP_ARRAYS = ("labels", "layer", "cuts", "first")
STATISTICS_ARRAYS = ("centres", "sizes", "spread", "nearest", "farthest")
MAX_BUCKETS = 1 << 31
MIN_TABLE_DEALS = 256  # from this many deals on, tables are faster than centroids
_MAX_FLOAT = 1e300
_NUMERIC_METADATA = ("cost", "square", "seconds", "passes", "iterations", "threads")
# Arrays of a file: allowed types, number of dimensions, smallest and largest value (None: the last bucket).
_ARRAY_SCHEMA: dict[str, tuple[tuple[str, ...], int, float, float | None]] = {
    "labels": (("uint16", "int32"), 2, 0, None),
    "layer": (("uint8",), 2, 0, 255),
    "cuts": (("uint16", "int32"), 2, 0, 2**31),
    "first": (("int64",), 1, 0, MAX_BUCKETS),
    "centres": (("float32",), 2, -_MAX_FLOAT, _MAX_FLOAT),
    "sizes": (("float64",), 1, 0, _MAX_FLOAT),
    "spread": (("float32",), 1, 0, _MAX_FLOAT),
    "nearest": (("int64",), 1, -1, MAX_BUCKETS),
    "farthest": (("int64",), 1, -1, MAX_BUCKETS),
}


def empty_table(dtype: Any = np.uint16, dims: int = 2) -> Array:
    """Return an empty table.

    Parameters
    ----------
    dtype
        Type of its entries.
    dims
        Number of dimensions.

    Returns
    -------
    Array
        Zero rows in every dimension.

    Examples
    --------
    >>> empty_table().shape
    (0, 0)
    """
    return np.zeros((0,) * dims, dtype)


@dataclass(frozen=True, eq=False)
class StreetBuckets:
    """Buckets of one street.

    Parameters
    ----------
    count
        Number of buckets.
    labels
        uint16 or int32 [layers, hands]: bucket, or value to be cut, of each canonical hand. Empty: the canonical index
        is the bucket.
    layer
        uint8 [boards, public buckets]: layer of labels of a board for a public bucket. Empty: one layer.
    cuts
        uint16 [parents, parts - 1]: smallest values of the parts after the first. Empty: labels are buckets.
    first
        int64 [public buckets + 1]: first bucket of each public bucket, and the end. Empty: one for all.
    centres
        float32 [buckets, d]: centroids. This and the following statistics may be empty.
    sizes
        float64 [buckets]: number of deals.
    spread
        float32 [buckets]: mean distance to the centroid.
    nearest, farthest
        int64 [buckets]: canonical indices of the members nearest to the centroid and farthest from it.
    computed
        Whether there are no labels, and buckets are computed from centroids or cuts by the method in the metadata.
    metadata
        Method, unit of the distance, cost, seconds, ….

    Examples
    --------
    >>> StreetBuckets(2, np.array([[0, 1, 1]], np.uint16)).nbytes
    6
    """

    count: int
    labels: Array = field(default_factory=empty_table)  # uint16 or int32 [layers, hands]
    layer: Array = field(default_factory=partial(empty_table, np.uint8))  # uint8 [boards, public buckets]
    cuts: Array = field(default_factory=empty_table)  # uint16 [parents, parts - 1]
    first: Array = field(default_factory=partial(empty_table, np.int64, 1))  # int64 [public buckets + 1]
    # Statistics of the buckets, which may be empty. Members are canonical indices.
    centres: Array = field(default_factory=partial(empty_table, np.float32))  # float32 [buckets, d]
    sizes: Array = field(default_factory=partial(empty_table, np.float64, 1))  # float64 [buckets]: deals
    spread: Array = field(default_factory=partial(empty_table, np.float32, 1))  # float32 [buckets]
    nearest: Array = field(default_factory=partial(empty_table, np.int64, 1))  # int64 [buckets]
    farthest: Array = field(default_factory=partial(empty_table, np.int64, 1))  # int64 [buckets]
    computed: bool = False  # no labels: buckets are computed from centroids or cuts, by the method in the metadata
    metadata: Mapping[str, Any] = field(default_factory=dict)  # method, unit of the distance, cost, seconds, …

    @property
    def nbytes(self) -> int:
        """Memory of the look-up tables, in bytes."""
        return sum(int(getattr(self, name).nbytes) for name in _LOOKUP_ARRAYS)

    def arrays(self) -> dict[str, Array]:
        """Return all arrays that are not empty, by the names of their fields."""
        tables = {name: getattr(self, name) for name in (*_LOOKUP_ARRAYS, *STATISTICS_ARRAYS)}
        return {name: array for name, array in tables.items() if array.size}


@dataclass(frozen=True, eq=False)
class CardAbstraction:
    """Buckets for every street of a game with hole cards and a board.

    Parameters
    ----------
    streets
        Buckets of each street.
    deals
        Board cards of each street after the first.
    deck
        The deck.
    public
        Public buckets of boards; None for none.
    name
        Name for people.
    recipe
        Entries of the recipe that it was built from.
    stored_fingerprint
        Fingerprint as stored in the folder that it was loaded from.

    Raises
    ------
    InputError
        There are more streets than boards, or labels for another number of hands.

    Examples
    --------
    >>> abstraction = lossless_abstraction((1,), Deck("JQK", "hs", hole=1))
    >>> abstraction
    CardAbstraction(lossless, 3 – 15)
    >>> abstraction.bucket([42], [43]) == abstraction.bucket([43], [42])
    True
    """

    streets: tuple[StreetBuckets, ...]
    deals: tuple[int, ...] = (3, 1, 1)  # board cards of each street after the first
    deck: Deck = FULL_DECK
    public: PublicBuckets | None = None
    name: str = "abstraction"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    stored_fingerprint: str | None = None  # as stored in the folder it was loaded from

    def __post_init__(self) -> None:
        if not 1 <= len(self.streets) <= len(self.deals) + 1:
            raise InputError(f"{self.name}: {len(self.streets)} streets with boards of {self.deals} cards")
        for r, street in enumerate(self.streets):
            hands = self.indexer(r).size()
            if len(street.labels) and street.labels.shape[1] != hands:
                raise InputError(
                    f"{self.name}, street {r}: {street.labels.shape[1]:,} labels for {hands:,} canonical hands"
                )

    @property
    def board_sizes(self) -> tuple[int, ...]:
        """Number of board cards on each street."""
        return tuple(accumulate(self.deals[: len(self.streets) - 1], initial=0))

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of buckets of each street."""
        return tuple(street.count for street in self.streets)

    def __repr__(self) -> str:
        return f"CardAbstraction({self.name}, {' – '.join(f'{count:,}' for count in self.counts)})"

    def indexer(self, street: int) -> HandIndexer:
        """Return the indexer of the canonical hands of a street.

        Parameters
        ----------
        street
            Street, from 0.
        """
        return hand_indexer(self.deck, self.board_sizes[street])

    def street_of(self, board: Sequence[int]) -> int:
        """Return the street on which a board has this many cards.

        Parameters
        ----------
        board
            The board; only its length counts.
        """
        if len(board) not in self.board_sizes:
            sizes = ", ".join(map(str, self.board_sizes))
            raise InputError(f"board of {len(board)} cards: {self.name} has boards of {sizes}")
        return self.board_sizes.index(len(board))

    @property
    def lookup(self) -> kernels.BucketLookup:
        """Tables for the compiled look-up; labels of streets with centroids only are computed once and cached."""
        return self._lookup if not self._centroid_buckets else self._with_labels._lookup

    @cached_property
    def _labels_cached(self) -> bool:
        """Whether the labels of all hands are cached: for many hands the look-up is much faster than centroids."""
        return all(centroid_buckets.has_cached_labels(buckets) for buckets in self._centroid_buckets.values())

    @cached_property
    def _with_labels(self) -> CardAbstraction:
        return self.with_labels()

    def with_labels(
        self, threads: int | None = None, progress: Callable[[float], None] | None = None
    ) -> CardAbstraction:
        """Return this abstraction with tables instead of centroids.

        Parameters
        ----------
        threads
            Threads that compute labels which are not cached; all cores by default.
        progress
            Called with the completed share while missing labels are computed.
        """
        if not self._centroid_buckets:
            return self
        missing = [
            r for r, buckets in self._centroid_buckets.items() if not centroid_buckets.has_cached_labels(buckets)
        ]
        streets = list(self.streets)
        for r, buckets in self._centroid_buckets.items():
            completed = missing.index(r) if r in missing else 0

            def report(share: float, completed: int = completed) -> None:
                if progress is not None and missing:
                    progress((completed + share) / len(missing))

            labels = centroid_buckets.load_labels(buckets, threads, report)
            streets[r] = replace(streets[r], labels=labels, cuts=empty_table(), computed=False)
        return replace(self, streets=tuple(streets), stored_fingerprint=self.fingerprint)

    @cached_property
    def _centroid_buckets(self) -> dict[int, CentroidBuckets]:
        """Buckets that are computed from centroids, by street."""
        return {
            r: CentroidBuckets(str(street.metadata["method"]), street.centres, street.cuts.reshape(-1))
            for r, street in enumerate(self.streets)
            if street.computed
        }

    @cached_property
    def _lookup(self) -> kernels.BucketLookup:
        small = all(street.labels.dtype == np.uint16 for street in self.streets)
        dtype = np.uint16 if small else np.int32
        cards = [self.public.cards if self.public is not None else 1, *(max(1, shown) for shown in self.board_sizes)]
        boards = [HandIndexer.for_deck(self.deck, (count,)).tables() for count in cards]
        hands = [self.indexer(r).tables() for r in range(len(self.streets))]
        numbering, first = join_tables([*boards, *hands])
        streets = [
            kernels.StreetLookup(s.labels.astype(dtype, copy=False), s.layer, s.cuts.astype(dtype, copy=False))
            for s in (*self.streets, *[StreetBuckets(0)] * (kernels.STREETS - len(self.streets)))
        ]
        return kernels.BucketLookup(
            tuple(streets),
            numbering,
            hand=first[len(boards) :],
            board=first[1 : len(boards)],
            flop=first[0],
            public=np.array(self.public.labels, np.int32) if self.public is not None else np.zeros(0, np.int32),
            shown=np.array(self.board_sizes, np.int64),
            hole=self.deck.hole,
            decides=self.public.cards if self.public is not None else 0,
        )

    def buckets(self, cards: Array, players: int = 1, *, check: bool = True) -> Array:
        """Return the buckets on every street that the boards have reached.

        Parameters
        ----------
        cards
            uint8 [deals, players · hole + board]: hole cards of all players, then the board in the order of the streets.
        players
            Number of players whose hole cards are given.
        check
            Whether to reject invalid deals. Without it they give undefined results.

        Returns
        -------
        Array
            int32 [deals, players, streets].

        Raises
        ------
        InputError
            The number of cards fits no street, or a deal is invalid.
        """
        cards = np.asarray(cards)
        shown = cards.shape[-1] - players * self.deck.hole if cards.ndim == 2 else -1
        if shown not in self.board_sizes or cards.dtype.kind not in "iu":
            sizes = ", ".join(str(players * self.deck.hole + s) for s in self.board_sizes)
            raise InputError(f"deals of shape {cards.shape} for {players} players: expected [deals, {sizes} cards]")
        if check:
            # raises an error unless these are deals of this deck
            HandIndexer.for_deck(self.deck, (cards.shape[1],)).index(cards)
        if self._centroid_buckets and len(cards) >= MIN_TABLE_DEALS and self._labels_cached:
            return self._with_labels.buckets(cards, players, check=False)
        streets = self.board_sizes.index(shown) + 1
        out = np.empty((len(cards), players, streets), np.int32)
        flat = np.ascontiguousarray(cards, np.uint8).reshape(-1)
        layers, numbers = (np.zeros((kernels.LOOKUP_BLOCK, *n, streets), np.int64) for n in ((), (players,)))
        kernels.look_up_buckets(self._lookup, flat, players, layers, numbers, out)
        hole, board = self.deck.hole, players * self.deck.hole
        for r, computed in self._centroid_buckets.items():
            for p in range(players if r < streets else 0):
                held = cards[:, p * hole : (p + 1) * hole]
                out[:, p, r] = computed.buckets(np.hstack([held, cards[:, board : board + self.board_sizes[r]]]))
        return out

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """Return the bucket of one hand on its street.

        Parameters
        ----------
        hand
            Card numbers of the hole cards.
        board
            Card numbers of the board, in the order of the streets.
        """
        self.street_of(board)
        return int(self.buckets(np.array([[*hand, *board]]))[0, 0, -1])

    def public_bucket(self, board: Sequence[int]) -> int | None:
        """Return the public bucket of a board; None without public buckets or if too few cards are dealt.

        Parameters
        ----------
        board
            Card numbers, in the order of the streets.
        """
        if self.public is None or len(board) < self.public.cards:
            return None
        return int(self.public.buckets(np.array(board[: self.public.cards], np.uint8)))

    # --- on disk ------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of all that determines buckets: abstractions with equal fingerprints are the same map."""
        if self.stored_fingerprint is not None:
            return self.stored_fingerprint
        digest = hashlib.sha256(repr((self.deck, self.deals, self.counts)).encode())
        digest.update(b"" if self.deck.rules == STANDARD_RULES else self.deck.rules.encode())
        arrays = [self.public.labels] if self.public is not None else []
        arrays += [getattr(street, name) for street in self.streets for name in _LOOKUP_ARRAYS]
        for street in self.streets:
            if street.computed:
                digest.update(str(street.metadata["method"]).encode())
                arrays.append(street.centres)
        for array in arrays:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def save(self, folder: str | Path) -> Path:
        """Write the abstraction as a folder.

        Parameters
        ----------
        folder
            Folder of the artifact.

        Returns
        -------
        Path
            The folder.
        """
        arrays: dict[str, Array] = {}
        for r, street in enumerate(self.streets):
            arrays |= {f"{r}_{name}": array for name, array in street.arrays().items()}
        if self.public is not None:
            arrays["public"] = np.asarray(self.public.labels)
        meta = {
            "name": self.name,
            "recipe": dict(self.recipe),
            "deck": {key: getattr(self.deck, key) for key in ("ranks", "suits", "hole", "rules")},
            "deals": list(self.deals),
            "counts": list(self.counts),
            "public_cards": self.public.cards if self.public is not None else None,
            "fingerprint": self.fingerprint,
            "streets": [dict(street.metadata) for street in self.streets],
        }
        if self._centroid_buckets:
            meta["computed"] = sorted(self._centroid_buckets)
        return artifacts.write(Path(folder), ABSTRACTION_KIND, arrays, meta)


def load_abstraction(folder: str | Path) -> CardAbstraction:
    """Load the abstraction in a folder, with its tables mapped into memory.

    Parameters
    ----------
    folder
        Folder that `CardAbstraction.save` has written.

    Returns
    -------
    CardAbstraction
        The abstraction. Compiled loops trust its tables, so every number has been checked.

    Raises
    ------
    InputError
        The folder holds another artifact, or none.
    CorruptError
        A file is damaged, or the tables do not fit each other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder = lossless_abstraction((1,), Deck("JQK", "hs", hole=1)).save(f"{home}/lossless")
    ...     load_abstraction(folder).counts
    (3, 15)
    """
    folder = Path(folder)
    kind = artifacts.read_manifest(folder).text("kind")
    if kind != ABSTRACTION_KIND:
        raise InputError(f"{folder}: contains a {kind}, not a {ABSTRACTION_KIND}; make one with `riverboat abstract`")
    entries, arrays = artifacts.read(folder, private=True)  # same array type as in memory, so loops compile once
    deck_entries = entries.table("deck")
    rules = deck_entries.text("rules", HAND_RULES) if "rules" in deck_entries else STANDARD_RULES
    deck = Deck(deck_entries.text("ranks"), deck_entries.text("suits"), deck_entries.integer("hole", 1, 2), rules)
    deals, counts = entries.integers("deals", 1, 5), entries.integers("counts", 1, MAX_BUCKETS)
    metadata = entries.tables("streets")
    if len(metadata) != len(counts) or not 1 <= len(counts) <= min(len(deals) + 1, len(STREETS)) or sum(deals) > 5:
        raise CorruptError(f"{folder}: {len(counts)} counts and {len(metadata)} streets with boards of {deals} cards")
    streets = []
    computed = entries.integers("computed", 0, len(STREETS) - 1) if "computed" in entries else ()
    for r, count in enumerate(counts):
        street_arrays = {
            name: arrays[f"{r}_{name}"] for name in (*_LOOKUP_ARRAYS, *STATISTICS_ARRAYS) if f"{r}_{name}" in arrays
        }
        street = read_street_buckets(ArtifactArrays(f"{folder}, street {r}", street_arrays), count, metadata[r])
        streets.append(replace(street, computed=r in computed))
    public = None
    if entries["public_cards"] is not None:
        labels = arrays.get_checked("public", ("int32", "int64"), (None,), 0, MAX_BUCKETS)
        public = PublicBuckets(np.array(labels), entries.integer("public_cards", 1, 5), deck)
    name, recipe, fingerprint = entries.text("name"), entries.plain_table("recipe"), entries.text("fingerprint")
    abstraction = CardAbstraction(tuple(streets), deals, deck, public, name, recipe, fingerprint)
    _check_tables(str(folder), abstraction)
    return abstraction


def read_street_buckets(arrays: ArtifactArrays, count: int, metadata: FileEntries) -> StreetBuckets:
    """Read the buckets of a street from the arrays of a file, and check each array.

    Parameters
    ----------
    arrays
        Arrays by the names of the fields of `StreetBuckets`.
    count
        Number of buckets.
    metadata
        Metadata of the street.

    Returns
    -------
    StreetBuckets
        The buckets.

    Raises
    ------
    CorruptError
        An array is unknown, of another type or shape, or has numbers out of range.

    Examples
    --------
    >>> arrays = ArtifactArrays("example", {"labels": np.zeros((1, 3), np.uint16)})
    >>> read_street_buckets(arrays, 1, FileEntries("example", {"method": "strength"})).count
    1
    """
    fields: dict[str, Any] = {}
    for name, (dtypes, dims, low, high) in _ARRAY_SCHEMA.items():
        if name in arrays:
            # With cuts, labels are values. With layers, entries that no board reaches hold a sentinel.
            max_value = high if high is not None else MAX_BUCKETS if "cuts" in arrays else count - 1
            length = count if name in STATISTICS_ARRAYS else None
            layered = name == "labels" and arrays[name].ndim == 2 and len(arrays[name]) > 1
            most = MAX_BUCKETS if layered else max_value
            fields[name] = arrays.get_checked(name, dtypes, (length, None)[:dims], low, most)
            if layered:
                _check_layers(f"{arrays.location}: {name}.npy", fields[name], max_value)
    for key in metadata:
        if key in _NUMERIC_METADATA:
            metadata.number(key, 0)
    checked_metadata = FileEntries(metadata.location, {"facts": dict(metadata)}).plain_table("facts")
    unknown = next((name for name in arrays if name not in _ARRAY_SCHEMA), None)
    if unknown is not None:
        raise CorruptError(f"{arrays.location}: {unknown}.npy is not an array of a street")
    return StreetBuckets(count, metadata=checked_metadata, **fields)


def _check_layers(where: str, labels: Array, max_label: float) -> None:
    """Raise CorruptError for labels that are neither a bucket nor the sentinel of an unreached entry."""
    for layer in labels:
        for first in range(0, len(layer), 1 << 22):
            part = layer[first : first + (1 << 22)]
            check_range(where, part[part != np.iinfo(labels.dtype).max], 0, max_label)


def _check_tables(where: str, made: CardAbstraction) -> None:
    """Raise CorruptError for tables that do not fit each other: a look-up would read out of bounds."""
    previous_count = 1
    for r, (street, shown) in enumerate(zip(made.streets, made.board_sizes, strict=True)):
        layers, location = len(street.labels), f"{where}, street {r}"
        if street.computed:
            _check_centroids(location, made, street, shown)
        elif not street.labels.size and street.count != made.indexer(r).size():
            raise CorruptError(f"{location}: {street.count:,} buckets and no labels; {made.indexer(r).size():,} hands")
        if street.cuts.size:
            families, parts = len(street.cuts), street.cuts.shape[1] + 1
            if families not in (1, previous_count) or families * parts != street.count:
                raise CorruptError(f"{location}: cuts of {families:,} × {parts:,} parts for {street.count:,} buckets")
        if layers > 1:
            boards = HandIndexer.for_deck(made.deck, (shown,)).size() if shown else 0
            publics = made.public.count if made.public is not None else 0
            decided = made.public is not None and shown >= made.public.cards
            if not decided or street.layer.shape != (boards, publics):
                raise CorruptError(f"{location}: {layers} layers of labels, and layers of shape {street.layer.shape}")
            reached = made.public.flop_counts(shown) > 0 if made.public is not None else street.layer < 0
            if (street.layer[reached] >= layers).any():
                raise CorruptError(f"{location}: a board has a layer outside of the {layers}")
        for members in (street.nearest, street.farthest):
            check_range(location, members, -1, made.indexer(r).size() - 1)
        firsts = street.first.tolist()
        if firsts and (firsts != sorted(firsts) or firsts[0] != 0 or firsts[-1] != street.count):
            raise CorruptError(f"{location}: first.npy: must increase from 0 to {street.count:,}")
        previous_count = street.count


def _check_centroids(where: str, made: CardAbstraction, street: StreetBuckets, shown: int) -> None:
    """Raise CorruptError for centroids that do not fit this street."""
    method = str(street.metadata.get("method"))
    if BOARD_CARDS_OF_METHOD.get(method) != shown or made.deck != FULL_DECK or street.labels.size:
        raise CorruptError(f"{where}: method {method!r} does not compute buckets with {shown} cards on the board")
    expected = (street.count, CENTROID_WIDTHS[method])
    cuts_fit = street.cuts.shape == (1, street.count - 1) if method == "strength" else not street.cuts.size
    if street.centres.shape != expected or not cuts_fit:
        raise CorruptError(f"{where}: centres of shape {street.centres.shape}, not {expected}, or cuts that do not fit")


def lossless_abstraction(deals: tuple[int, ...] = (3, 1, 1), deck: Deck = FULL_DECK) -> CardAbstraction:
    """Return the lossless abstraction: every canonical hand is a bucket.

    Only the order of the board and the names of the suits are dropped.

    Parameters
    ----------
    deals
        Board cards of each street after the first.
    deck
        The deck.

    Returns
    -------
    CardAbstraction
        An abstraction without tables.

    Examples
    --------
    >>> lossless_abstraction().counts
    (169, 1286792, 13960050, 123156254)
    """
    sizes = [hand_indexer(deck, shown).size() for shown in accumulate(deals, initial=0)]
    streets = tuple(StreetBuckets(size, metadata={"method": "lossless"}) for size in sizes)
    return CardAbstraction(streets, deals, deck, name="lossless")


# --- buckets after each possible next card ------------------------------------------------------


def next_buckets(abstraction: CardAbstraction, boards: Array, previous_buckets: Array) -> Array:
    """Return the buckets of all hands on each board with each card of the deck dealt next.

    Parameters
    ----------
    abstraction
        The abstraction; its next street must have one card.
    boards
        uint8 [boards, board cards], not checked.
    previous_buckets
        int32 [boards, hands]: buckets on the street of the boards.

    Returns
    -------
    Array
        int32 [boards, cards, hands], with 0 where a card would be dealt twice.

    Raises
    ------
    InputError
        No street of one card follows.

    Examples
    --------
    >>> abstraction = lossless_abstraction((1,), Deck("JQK", "hs", hole=1))
    >>> next_buckets(abstraction, np.zeros((1, 0), np.uint8), np.zeros((1, 6), np.int32)).shape
    (1, 6, 6)
    """
    street = abstraction.street_of(boards[0]) + 1
    if street >= len(abstraction.streets) or abstraction.deals[street - 1] != 1:
        raise InputError(f"{abstraction.name}: no street of one card follows boards of {boards.shape[1]} cards")
    deck = abstraction.deck
    out = np.empty((len(boards), len(deck.cards), deck.num_hands), np.int32)
    layers = np.zeros(len(deck.cards), np.int64)
    kernels.next_buckets(
        abstraction.lookup, deck.hands, deck.cards, street, np.ascontiguousarray(boards), previous_buckets, layers, out
    )
    return out
