"""A card abstraction: which bucket a hand is in on every street.

Each street has a table from the canonical number of hole cards and board to a bucket. Boards count without order, so that the
turn has 13,960,050 hands and the river 123,156,254. Three refinements fit the same tables:

- `cuts`: the table holds values, and a hand's bucket on the street before says where they are cut (perfect recall).
- layers: with public buckets a board has one table row for each public bucket that it may have begun in.
- no table: the number is the bucket (nothing is lost), or buckets are computed from centres when they are asked for
  (`centre_buckets`): what an agent is shipped with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from riverboat.abstraction.cards._kernels import lookup as kernels
from riverboat.abstraction.clustering import centroid_labels
from riverboat.abstraction.clustering.centroid_buckets import CENTRE_SIZES, METHODS, CentreBuckets
from riverboat.abstraction.clustering.public_clusters import PublicBuckets
from riverboat.cards.deck import FULL_DECK, Deck
from riverboat.cards.isomorphism import Indexer, joined
from riverboat.cards.ranking_rules import RULES, STANDARD
from riverboat.core import artifacts
from riverboat.core.arrays import Array
from riverboat.core.errors import CorruptError, InputError
from riverboat.core.schema import Arrays, Fields, check_range

KIND = "card abstraction"
STREETS = ("preflop", "flop", "turn", "river")
_TABLES = ("labels", "layer", "cuts", "first")
_FACTS = ("centres", "sizes", "spread", "nearest", "farthest")
MOST_BUCKETS = 1 << 31
MANY = 256  # deals for which tables are worth opening
_LARGE = 1e300
_FIGURES = ("cost", "square", "seconds", "passes", "iterations", "threads")
# What a file may hold: types, dimensions, least and greatest number (None: the last bucket).
_STORED: dict[str, tuple[tuple[str, ...], int, float, float | None]] = {
    "labels": (("uint16", "int32"), 2, 0, None),
    "layer": (("uint8",), 2, 0, 255),
    "cuts": (("uint16", "int32"), 2, 0, 2**31),
    "first": (("int64",), 1, 0, MOST_BUCKETS),
    "centres": (("float32",), 2, -_LARGE, _LARGE),
    "sizes": (("float64",), 1, 0, _LARGE),
    "spread": (("float32",), 1, 0, _LARGE),
    "nearest": (("int64",), 1, -1, MOST_BUCKETS),
    "farthest": (("int64",), 1, -1, MOST_BUCKETS),
}


def nothing(dtype: Any = np.uint16, dims: int = 2) -> Array:
    """An empty table."""
    return np.zeros((0,) * dims, dtype)


@dataclass(frozen=True, eq=False)
class StreetBuckets:
    """The buckets of one street."""

    count: int
    labels: Array = field(default_factory=nothing)  # uint16 or int32 [layers, hands]; empty: the number is the bucket
    layer: Array = field(default_factory=lambda: nothing(np.uint8))  # uint8 [boards, public buckets]; empty: one layer
    cuts: Array = field(default_factory=nothing)  # uint16 [parents, parts - 1]; empty: labels are buckets
    first: Array = field(default_factory=lambda: nothing(np.int64, 1))  # int64 [public buckets + 1]; empty: one for all
    # What is known of the buckets; empty where nothing is. Members are canonical numbers.
    centres: Array = field(default_factory=lambda: nothing(np.float32))  # float32 [buckets, d]
    sizes: Array = field(default_factory=lambda: nothing(np.float64, 1))  # float64 [buckets]: deals
    spread: Array = field(default_factory=lambda: nothing(np.float32, 1))  # float32 [buckets]: mean distance to centre
    nearest: Array = field(default_factory=lambda: nothing(np.int64, 1))  # int64 [buckets]: the member next to it
    farthest: Array = field(default_factory=lambda: nothing(np.int64, 1))  # int64 [buckets]
    computed: bool = False  # there are no labels: buckets come from centres or cuts, by the method of the facts
    facts: Mapping[str, Any] = field(default_factory=dict)  # method, unit of the distance, cost, seconds, …

    @property
    def nbytes(self) -> int:
        """Of the tables that a look-up reads."""
        return sum(int(getattr(self, name).nbytes) for name in _TABLES)

    def arrays(self) -> dict[str, Array]:
        """All that is not empty."""
        tables = {name: getattr(self, name) for name in (*_TABLES, *_FACTS)}
        return {name: array for name, array in tables.items() if array.size}


@dataclass(frozen=True, eq=False)
class CardAbstraction:
    """Buckets for every street of a game with hole cards and a board."""

    streets: tuple[StreetBuckets, ...]
    deals: tuple[int, ...] = (3, 1, 1)  # board cards of each street after the first
    deck: Deck = FULL_DECK
    public: PublicBuckets | None = None
    name: str = "abstraction"
    recipe: Mapping[str, Any] = field(default_factory=dict)
    known_fingerprint: str | None = None  # of a folder, which has it written down

    def __post_init__(self) -> None:
        if not 1 <= len(self.streets) <= len(self.deals) + 1:
            raise InputError(f"{self.name}: {len(self.streets)} streets with boards of {self.deals} cards")
        for r, street in enumerate(self.streets):
            hands = self.indexer(r).size()
            if street.labels.size and street.labels.shape[1] != hands:
                raise InputError(
                    f"{self.name}, street {r}: {street.labels.shape[1]:,} labels for {hands:,} canonical hands"
                )

    @property
    def shown(self) -> tuple[int, ...]:
        """Board cards that lie on each street."""
        return tuple(accumulate(self.deals[: len(self.streets) - 1], initial=0))

    @property
    def counts(self) -> tuple[int, ...]:
        """Buckets of each street."""
        return tuple(street.count for street in self.streets)

    def __repr__(self) -> str:
        return f"CardAbstraction({self.name}, {' – '.join(f'{count:,}' for count in self.counts)})"

    def indexer(self, street: int) -> Indexer:
        """Numbers of the hands of a street."""
        shown = self.shown[street]
        return Indexer.for_deck(self.deck, (self.deck.hole, shown) if shown else (self.deck.hole,))

    def street_of(self, board: Sequence[int]) -> int:
        """The street on which a board of so many cards lies."""
        if len(board) not in self.shown:
            choice = ", ".join(map(str, self.shown))
            raise InputError(f"board of {len(board)} cards: {self.name} has boards of {choice}")
        return self.shown.index(len(board))

    @property
    def look(self) -> kernels.LookUp:
        """What the compiled look-up reads, labels of all hands: those that are computed are made once and kept."""
        return self._look if not self._computed else self._labelled._look

    @cached_property
    def _kept(self) -> bool:
        """Whether tables of all hands have been made before: many hands are found in them far sooner than by centres."""
        return all(centroid_labels.have(buckets) for buckets in self._computed.values())

    @cached_property
    def _labelled(self) -> CardAbstraction:
        return self.labelled()

    def labelled(self, threads: int | None = None, progress: Callable[[float], None] | None = None) -> CardAbstraction:
        """The same with tables in place of centres; `progress` hears of labels that have to be made."""
        if not self._computed:
            return self
        missing = [r for r, buckets in self._computed.items() if not centroid_labels.have(buckets)]
        streets = list(self.streets)
        for r, buckets in self._computed.items():
            before = missing.index(r) if r in missing else 0

            def told(share: float, before: int = before) -> None:
                if progress is not None and missing:
                    progress((before + share) / len(missing))

            made = centroid_labels.labels(buckets, threads, told)
            streets[r] = replace(streets[r], labels=made, cuts=nothing(), computed=False)
        return replace(self, streets=tuple(streets), known_fingerprint=self.fingerprint)

    @cached_property
    def _computed(self) -> dict[int, CentreBuckets]:
        """By street, buckets that no table has."""
        return {
            r: CentreBuckets(str(street.facts["method"]), street.centres, street.cuts.reshape(-1))
            for r, street in enumerate(self.streets)
            if street.computed
        }

    @cached_property
    def _look(self) -> kernels.LookUp:
        small = all(street.labels.dtype == np.uint16 for street in self.streets)
        dtype = np.uint16 if small else np.int32
        cards = [self.public.cards if self.public is not None else 1, *(max(1, shown) for shown in self.shown)]
        boards = [Indexer.for_deck(self.deck, (count,)).tables() for count in cards]
        hands = [self.indexer(r).tables() for r in range(len(self.streets))]
        numbering, first = joined([*boards, *hands])
        streets = [kernels.Street(nothing(dtype), nothing(np.uint8), nothing(dtype))] * kernels.STREETS
        for r, street in enumerate(self.streets):
            tables = street.labels.astype(dtype, copy=False), street.layer, street.cuts.astype(dtype, copy=False)
            streets[r] = kernels.Street(*tables)
        return kernels.LookUp(
            tuple(streets),
            numbering,
            hand=first[len(boards) :],
            board=first[1 : len(boards)],
            flop=first[0],
            public=np.array(self.public.labels, np.int32) if self.public is not None else np.zeros(0, np.int32),
            shown=np.array(self.shown, np.int64),
            hole=self.deck.hole,
            decides=self.public.cards if self.public is not None else 0,
        )

    def buckets(self, cards: Array, players: int = 1, *, check: bool = True) -> Array:
        """Buckets on every street that the boards have reached. uint8 [deals, players · hole + board] -> int32 [deals,
        players, streets]

        A deal is the hole cards of all players, then the board in the order of the streets. Without `check`, wrong cards
        give wrong buckets or worse.
        """
        cards = np.asarray(cards)
        shown = cards.shape[-1] - players * self.deck.hole if cards.ndim == 2 else -1
        if shown not in self.shown or cards.dtype.kind not in "iu":
            choice = ", ".join(str(players * self.deck.hole + s) for s in self.shown)
            raise InputError(f"deals of shape {cards.shape} for {players} players: expected [deals, {choice} cards]")
        if check:
            Indexer.for_deck(self.deck, (cards.shape[1],)).index(cards)  # refuses what is no deal of this deck
        if self._computed and len(cards) >= MANY and self._kept:
            return self._labelled.buckets(cards, players, check=False)
        streets = self.shown.index(shown) + 1
        out = np.empty((len(cards), players, streets), np.int32)
        flat = np.ascontiguousarray(cards, np.uint8).reshape(-1)
        layers = np.zeros((kernels.BLOCK, streets), np.int64)
        kernels.look_up(self._look, flat, players, layers, np.zeros((kernels.BLOCK, players, streets), np.int64), out)
        hole, board = self.deck.hole, players * self.deck.hole
        for r, computed in self._computed.items():
            for p in range(players if r < streets else 0):
                held = cards[:, p * hole : (p + 1) * hole]
                out[:, p, r] = computed.of(np.hstack([held, cards[:, board : board + self.shown[r]]]))
        return out

    def bucket(self, hand: Sequence[int], board: Sequence[int] = ()) -> int:
        """The bucket of one hand on its street."""
        self.street_of(board)
        return int(self.buckets(np.array([[*hand, *board]]))[0, 0, -1])

    def bucket_of_public(self, board: Sequence[int]) -> int | None:
        """The public bucket of a board, None where there are none or too few cards lie."""
        if self.public is None or len(board) < self.public.cards:
            return None
        return int(self.public.of(np.array(board[: self.public.cards], np.uint8)))

    # --- on disk ------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """Of everything that decides a bucket: two abstractions with one fingerprint are the same map."""
        if self.known_fingerprint is not None:
            return self.known_fingerprint
        digest = hashlib.sha256(repr((self.deck, self.deals, self.counts)).encode())
        digest.update(b"" if self.deck.rules == STANDARD else self.deck.rules.encode())
        arrays = [self.public.labels] if self.public is not None else []
        arrays += [getattr(street, name) for street in self.streets for name in _TABLES]
        for street in self.streets:
            if street.computed:
                digest.update(str(street.facts["method"]).encode())
                arrays.append(street.centres)
        for array in arrays:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def save(self, folder: str | Path) -> Path:
        """Write the abstraction as a folder."""
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
            "streets": [dict(street.facts) for street in self.streets],
        }
        if self._computed:
            meta["computed"] = sorted(self._computed)
        return artifacts.write(Path(folder), KIND, arrays, meta)


def load_abstraction(folder: str | Path) -> CardAbstraction:
    """The abstraction in a folder, its tables mapped into memory. Loops trust what they say, so every number is checked."""
    folder = Path(folder)
    kind = artifacts.manifest(folder).text("kind")
    if kind != KIND:
        raise InputError(f"{folder}: holds a {kind}, not a {KIND}; `riverboat abstract` makes one")
    entries, arrays = artifacts.read(folder, private=True)  # one compilation of the loops then serves all
    ranks = entries.table("deck")
    rules = ranks.text("rules", RULES) if "rules" in ranks else STANDARD
    deck = Deck(ranks.text("ranks"), ranks.text("suits"), ranks.whole("hole", 1, 2), rules)
    deals, counts, facts = (
        entries.wholes("deals", 1, 5),
        entries.wholes("counts", 1, MOST_BUCKETS),
        entries.tables("streets"),
    )
    if len(facts) != len(counts) or not 1 <= len(counts) <= min(len(deals) + 1, len(STREETS)) or sum(deals) > 5:
        raise CorruptError(f"{folder}: {len(counts)} counts and {len(facts)} streets with boards of {deals} cards")
    streets = []
    computed = entries.wholes("computed", 0, len(STREETS) - 1) if "computed" in entries else ()
    for r, count in enumerate(counts):
        mine = {name: arrays[f"{r}_{name}"] for name in (*_TABLES, *_FACTS) if f"{r}_{name}" in arrays}
        made_street = street_buckets(Arrays(f"{folder}, street {r}", mine), count, facts[r])
        streets.append(replace(made_street, computed=r in computed))
    public = None
    if entries["public_cards"] is not None:
        labels = arrays.take("public", ("int32", "int64"), (None,), 0, MOST_BUCKETS)
        public = PublicBuckets(np.array(labels), entries.whole("public_cards", 1, 5), deck)
    made = CardAbstraction(
        tuple(streets), deals, deck, public, entries.text("name"), entries.plain("recipe"), entries.text("fingerprint")
    )
    _check_tables(str(folder), made)
    return made


def street_buckets(arrays: Arrays, count: int, facts: Fields) -> StreetBuckets:
    """The buckets of a street from a file, each array of its type."""
    taken: dict[str, Any] = {}
    for name, (dtypes, dims, low, high) in _STORED.items():
        if name in arrays:
            # where they are cut, labels are values; where there are layers, places that no board reaches hold a mark
            most = high if high is not None else MOST_BUCKETS if "cuts" in arrays else count - 1
            each = count if name in _FACTS else None
            layered = name == "labels" and arrays[name].ndim == 2 and len(arrays[name]) > 1
            taken[name] = arrays.take(name, dtypes, (each, None)[:dims], low, MOST_BUCKETS if layered else most)
            if layered:
                _check_layers(f"{arrays.where}: {name}.npy", taken[name], most)
    for key in facts:
        if key in _FIGURES:
            facts.number(key, 0)
    known = Fields(facts.where, {"facts": dict(facts)}).plain("facts")
    strange = next((name for name in arrays if name not in _STORED), None)
    if strange is not None:
        raise CorruptError(f"{arrays.where}: {strange}.npy is nothing that a street has")
    return StreetBuckets(count, facts=known, **taken)


def _check_layers(where: str, labels: Array, most: float) -> None:
    """Refuse labels that are neither a bucket nor the mark of a place that no board reaches."""
    for layer in labels:
        for first in range(0, len(layer), 1 << 22):
            part = layer[first : first + (1 << 22)]
            check_range(where, part[part != np.iinfo(labels.dtype).max], 0, most)


def _check_tables(where: str, made: CardAbstraction) -> None:
    """Refuse tables that do not fit each other: a look-up would read beside them."""
    before = 1
    for r, (street, shown) in enumerate(zip(made.streets, made.shown, strict=True)):
        layers, here = len(street.labels), f"{where}, street {r}"
        if street.computed:
            _check_computed(here, made, street, shown)
        elif not street.labels.size and street.count != made.indexer(r).size():
            raise CorruptError(f"{here}: {street.count:,} buckets and no labels; {made.indexer(r).size():,} hands")
        if street.cuts.size:
            families, parts = len(street.cuts), street.cuts.shape[1] + 1
            if families not in (1, before) or families * parts != street.count:
                raise CorruptError(f"{here}: cuts of {families:,} × {parts:,} parts for {street.count:,} buckets")
        if layers > 1:
            boards = Indexer.for_deck(made.deck, (shown,)).size() if shown else 0
            publics = made.public.count if made.public is not None else 0
            decided = made.public is not None and shown >= made.public.cards
            if not decided or street.layer.shape != (boards, publics):
                raise CorruptError(f"{here}: {layers} layers of labels, and layers of shape {street.layer.shape}")
            reached = made.public.openings(shown) > 0 if made.public is not None else street.layer < 0
            if (street.layer[reached] >= layers).any():
                raise CorruptError(f"{here}: a board in a layer beyond the {layers}")
        for members in (street.nearest, street.farthest):
            check_range(here, members, -1, made.indexer(r).size() - 1)
        firsts = street.first.tolist()
        if firsts and (firsts != sorted(firsts) or firsts[0] != 0 or firsts[-1] != street.count):
            raise CorruptError(f"{here}: first.npy: must rise from 0 to {street.count:,}")
        before = street.count


def _check_computed(where: str, made: CardAbstraction, street: StreetBuckets, shown: int) -> None:
    """Refuse centres that are none of this street."""
    method = str(street.facts.get("method"))
    if METHODS.get(method) != shown or made.deck != FULL_DECK or street.labels.size:
        raise CorruptError(f"{where}: method {method!r} computes no buckets with {shown} cards on the board")
    wanted = (street.count, CENTRE_SIZES[method])
    right = street.cuts.shape == (1, street.count - 1) if method == "strength" else not street.cuts.size
    if street.centres.shape != wanted or not right:
        raise CorruptError(f"{where}: centres of shape {street.centres.shape}, not {wanted}, or cuts that do not fit")


def lossless(deals: tuple[int, ...] = (3, 1, 1), deck: Deck = FULL_DECK) -> CardAbstraction:
    """Every canonical hand a bucket of its own: nothing is lost but the order of the board and the names of the suits."""
    shown = accumulate(deals, initial=0)
    indexers = [Indexer.for_deck(deck, (deck.hole, s) if s else (deck.hole,)) for s in shown]
    streets = tuple(StreetBuckets(i.size(), facts={"method": "lossless"}) for i in indexers)
    return CardAbstraction(streets, deals, deck, name="lossless")
