"""`Played`: a blueprint as it is played in the real game.

    played = Played(load_blueprint("runs/mine"), post="new", share=0.2)
    played.decide(views)                               # rows and moves for tables, each with its player's cards
    played.strategies(places)                          # for all hands at public places

Bets off the tree are read by an action translation, real pots and stacks are kept beside the abstract line, and what the
blueprint would do is brought back to a legal move in the real pot (`_follow_kernels` has the rules). The rows of
probabilities may be post-processed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.actions.translation import MAPPINGS, Tie
from riverboat.cards.features.strength import padded, ranker, sorter
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, MemoryLimitError, unknown
from riverboat.core.formatting import show_bytes
from riverboat.games.holdem.action_tree import RAISE
from riverboat.games.holdem.actions import END, HIDDEN
from riverboat.games.holdem.betting_batch import FIELDS, book_of
from riverboat.games.holdem.observation import Views
from riverboat.games.holdem.public_state import Places
from riverboat.games.holdem.rules import Rules
from riverboat.strategies._kernels import line as follow
from riverboat.strategies._kernels import policy as kernels
from riverboat.strategies._kernels import postprocessing as post_kernels
from riverboat.strategies.blueprint import MOST_STREETS, BlueprintStrategy
from riverboat.strategies.board_buckets import board_buckets
from riverboat.strategies.postprocessing import FOLD_THRESHOLD, kinds_of
from riverboat.strategies.public_cache import PublicCache
from riverboat.strategies.public_strategy import Strategies

DEFAULT_MAPPING = "rand-pshar"
POST = {
    "none": "as the strategy says",
    "purify": "the most likely move",
    "threshold": "without moves of less than a share, such as 0.15",
    "new": "Tartanian7's: fold above a share, such as 0.2, else the most likely of fold, call and all bets, then of bets",
}
SHARES = {"threshold": 0.15, "new": FOLD_THRESHOLD}  # what is taken when none is given
MOST_BYTES = 8 << 30  # of an answer
_CODES = dict(zip(MAPPINGS, range(len(MAPPINGS)), strict=True))
_RULES = {
    "none": post_kernels.NONE,
    "purify": post_kernels.PURIFY,
    "threshold": post_kernels.THRESHOLD,
    "new": post_kernels.TARTANIAN7,
}
_AT_ONCE = 256  # places whose buckets are held together


@dataclass(frozen=True)
class Decisions:
    """What a blueprint does at some tables. Columns: fold, call, and each raise of the tree, upwards."""

    rows: Array  # float64 [n, columns]: probabilities, post-processed
    moves: Array  # int32 [n, columns]: the real move of each
    node: Array  # int32 [n]: the decision in the tree that the line is read as; -1: off the tree
    # int8 [n]: 1 where the menu has no such raise, and the decision before it is used again without raising; 2 where a small
    # raise is read as a call, which ends the round in the tree: `node` comes after it
    off: Array


class _Board(NamedTuple):
    """Hands that a board leaves, and their buckets."""

    live: Array  # int32 [hands]: their numbers, and nothing behind
    left: np.int64  # how many they are
    buckets: Array  # int32 [streets, hands]


@dataclass(frozen=True, eq=False)
class Played:
    """The average strategy of a blueprint, translated and post-processed."""

    strategy: BlueprintStrategy
    translation: str = DEFAULT_MAPPING  # one of `abstraction.actions.translation.MAPPINGS`
    tie: Tie = "high"  # what a bet on the threshold of a deterministic mapping is read as
    post: str = "none"  # one of POST
    share: float | None = None  # ε of `threshold`, fold threshold of `new`
    # leave the first move of a hand as it is; None: as Tartanian7 did, with `new` alone
    spare_first: bool | None = None
    seed: int = 0
    cache: PublicCache[_Board] = field(default_factory=PublicCache, repr=False)

    def __post_init__(self) -> None:
        if self.translation not in MAPPINGS:
            raise unknown("action translation", self.translation, MAPPINGS)
        if self.tie not in ("low", "high"):
            raise unknown("tie rule", self.tie, ("low", "high"))
        if self.post not in POST:
            raise unknown("post-processing", self.post, POST)
        if self.share is not None and self.post not in SHARES:
            raise InputError(f"share={self.share:g}: {self.post} has no share; {' and '.join(SHARES)} have one")
        if self.share is not None and not 0 <= self.share <= 1:
            raise InputError(f"{self.post}={self.share:g}: must be from 0 to 1")
        if 0 in self.rules.board[1:]:
            raise InputError(
                f"{self.rules.name!r} deals {self.rules.board} board cards: each later round needs one to play a blueprint"
            )

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        return self.strategy.rules

    @property
    def reads_one_way(self) -> bool:
        """Whether a bet between two sizes is always read alike, so that nothing is drawn in secret."""
        return not MAPPINGS[self.translation].randomised

    # --- tables ---------------------------------------------------------------------------------

    def decide(self, views: Views) -> Decisions:
        """Rows of probabilities and the moves that they are of."""
        n = len(views)
        seen = kernels.Seen(views.hand, views.seat, views.hole, views.board, views.moves, views.length)
        at = kernels.Stand(
            np.empty((n, FIELDS), np.int64), np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n, np.int32)
        )
        kernels.stand(self._player, self._seed, seen, at)
        rows, moves = np.empty((n, self._columns)), np.empty((n, self._columns), np.int32)
        kernels.choose(self._player, self._buckets(views, at.states[:, 3]), seen, at, rows, moves)
        return Decisions(rows, moves, at.node, at.off)

    def act(self, views: Views) -> Array:
        """Moves, drawn from the rows. int32 [n]"""
        decided = self.decide(views)
        return drawn(self.seed, views, decided.rows, decided.moves)

    def _buckets(self, views: Views, streets: Array) -> Array:
        """Of the hands on the streets that their tables have reached. int32 [n]"""
        out = np.empty(len(views), np.int32)
        for street, shown in enumerate(self.rules.board_sizes):
            there = np.flatnonzero(streets == street)
            if len(there):
                deals = np.concatenate([views.hole[there], views.board[there, :shown]], axis=1)
                out[there] = self.strategy.cards.buckets(deals, check=False)[:, 0, -1]
        return out

    def read_as(self, places: Places, seats: Array) -> Array:
        """The node of the tree that the player of a seat takes each line for, where bets are read one way; -1: off the tree.

        int8 [n] -> int32 [n]
        """
        if not self.reads_one_way:
            raise InputError(f"{self.translation}: a line is read in one way by deterministic translations only")
        _ = places.states  # refuses illegal lines
        n = len(places)
        none = np.zeros((n, self.rules.hole), np.uint8)  # cards make no difference
        moves, length = (np.ascontiguousarray(part, np.int32) for part in (places.moves, places.length))
        seen = kernels.Seen(np.zeros(n, np.int64), np.asarray(seats, np.int8), none, places.board, moves, length)
        at = kernels.Stand(
            np.empty((n, FIELDS), np.int64), np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n, np.int32)
        )
        kernels.stand(self._player, self._seed, seen, at)
        return at.node

    # --- public places --------------------------------------------------------------------------

    def strategies(self, places: Places, draw: Array | None = None) -> Strategies:
        """What is played with all hands: the mean over how bets were read, given the line and the player's own moves.

        A hand that never makes these moves gets the mean over how the bets alone are read.
        """
        seats = places.actor
        asked, surveyed, room = self._surveyed(places, seats, draw)
        columns = int(surveyed.used.max(initial=0))
        shape = (len(places), self._hands, columns)
        size = 8 * shape[0] * shape[1] * columns
        if size > MOST_BYTES:
            raise MemoryLimitError(
                f"{shape[0]:,} places, {shape[1]:,} hands and {columns} moves take {show_bytes(size)}; "
                f"{show_bytes(MOST_BYTES)} are allowed: ask for fewer places at a time"
            )
        moves = np.ascontiguousarray(surveyed.moves[:, :columns])
        told = kernels.Told(np.zeros(shape[:2]), surveyed.used, moves, np.zeros(shape))
        self._answer(asked, room, told)
        return Strategies(places, seats, moves, told.shares)

    def reach(self, places: Places, seat: int, draw: Array | None = None) -> Array:
        """Probability that the player of a seat makes its moves of the line with each hand. float64 [n, hands]"""
        n = len(places)
        asked, _, room = self._surveyed(places, np.full(n, seat, np.int8), draw)
        out = np.zeros((n, self._hands))
        none = np.zeros((n, 0), np.int32), np.zeros((n, self._hands, 0))
        self._answer(asked, room, kernels.Told(out, np.zeros(n, np.int64), *none))
        return out

    def on_tree(self) -> BlueprintStrategy:
        """What is played where all bets are those of the tree: the strategy, post-processed."""
        if self.post == "none":
            return self.strategy
        tree, player = self.strategy.tree, self._player
        tables = [np.zeros(table.shape) for table in self.strategy.average]
        for node in np.flatnonzero(tree.actor >= 0).tolist():
            street, slot = int(tree.street[node]), int(tree.slot[node])
            rows = self.strategy.probabilities(node, np.arange(len(tables[street])))
            if not player.spares or self._moved_before(node):
                post_kernels.process_all(player.post, kinds_of(tree.moves(node)), rows)
            tables[street][:, slot : slot + rows.shape[1]] = rows
        facts = {**self.strategy.provenance, "post-processing": self.post}
        return replace(self.strategy, average=tuple(tables), provenance=facts)

    def _moved_before(self, node: int) -> bool:
        """Whether the seat that acts at a node has acted on the way there."""
        tree, seat = self.strategy.tree, int(self.strategy.tree.actor[node])
        while node:
            node = int(tree.parent[node])
            if tree.actor[node] == seat:
                return True
        return False

    def _surveyed(
        self, places: Places, seats: Array, draw: Array | None
    ) -> tuple[kernels.Asked, kernels.Told, kernels.Room]:
        """The question without any hands, the moves at its places, and room for all ways to read its lines."""
        if places.rules is not self.rules and places.rules != self.rules:
            raise InputError(f"places of {places.rules.name!r}: this strategy plays {self.rules.name!r}")
        _ = places.states  # refuses illegal lines
        n, most = len(places), 4
        if draw is not None and np.shape(draw) != (n,):
            raise InputError(f"draw of {np.shape(draw)}: give the number of a hand for each of {n} places")
        asked = kernels.Asked(
            np.ascontiguousarray(places.moves, np.int32),
            np.ascontiguousarray(places.length, np.int32),
            np.ascontiguousarray(places.board, np.uint8),
            seats,
            draw is not None,
            np.zeros(n, np.int64) if draw is None else np.ascontiguousarray(draw, np.int64),
            np.zeros(n, np.int32),
            np.zeros((1, 0), np.int32),
            np.zeros(1, np.int64),
            np.zeros((1, MOST_STREETS, 0), np.int32),
        )
        while True:
            columns = 2 + most * (self._columns - 2)
            moves = np.full((n, columns), END, np.int32)
            told = kernels.Told(np.zeros((n, 0)), np.zeros(n, np.int64), moves, np.zeros((n, 0, columns)))
            if kernels.answer(self._player, self._seed, asked, self._room(most, 0), told) < 0:
                return asked, told, self._room(most, self._hands)
            most *= 2

    def _answer(self, asked: kernels.Asked, room: kernels.Room, told: kernels.Told) -> None:
        """Fill in what is told, some places at a time."""
        n = len(asked.length)
        for begin in range(0, n, _AT_ONCE):
            part = slice(begin, min(begin + _AT_ONCE, n))
            boards, numbers = asked.board[part], np.zeros(1, np.int64)
            if len(boards) > 1:
                boards, numbers = np.unique(boards, axis=0, return_inverse=True)
            live, left, buckets = self._boards(boards)
            some = kernels.Asked(
                asked.moves[part],
                asked.length[part],
                asked.board[part],
                asked.seat[part],
                asked.drawn,
                asked.hand[part],
                numbers.reshape(-1).astype(np.int32),
                live,
                left,
                buckets,
            )
            kernels.answer(self._player, self._seed, some, room, kernels.Told(*(array[part] for array in told)))

    def _boards(self, boards: Array) -> tuple[Array, Array, Array]:
        """Hands that boards leave, how many, and their buckets, which may be known already. uint8 [boards, cards] -> int32
        [boards, hands], int64 [boards], int32 [boards, streets, hands]
        """
        known_boards = [self.cache.get(board.tobytes()) for board in boards]
        new = np.array([i for i, board in enumerate(known_boards) if board is None], np.int64)
        dealt = (boards != HIDDEN).sum(axis=1)
        for cards in np.unique(dealt[new]).tolist():
            these = new[dealt[new] == cards]
            live, left, buckets = board_buckets(self.strategy.cards, boards[these, :cards])
            for k, i in enumerate(these.tolist()):
                known_boards[i] = self.cache.keep(boards[i].tobytes(), _Board(live[k], left[k], buckets[k]))
        known = [board for board in known_boards if board is not None]
        if len(known) == 1:
            return known[0].live[None], np.array([known[0].left]), known[0].buckets[None]
        live, buckets = (np.stack([getattr(board, name) for board in known]) for name in ("live", "buckets"))
        return live, np.array([board.left for board in known]), buckets

    # --- for compiled loops -----------------------------------------------------------------------

    @cached_property
    def _seed(self) -> np.uint64:
        return np.uint64(self.seed % 2**64)

    @cached_property
    def _hands(self) -> int:
        return self.rules.deck.hand_count

    @cached_property
    def _buckets_at_most(self) -> int:
        return max(self.strategy.buckets)

    @cached_property
    def _columns(self) -> int:
        tree = self.strategy.tree
        raises = np.bincount(tree.parent[1:][tree.kind[1:] == RAISE], minlength=1)
        return kernels.FIRST_RAISE + int(raises.max(initial=0))

    @cached_property
    def _player(self) -> kernels.Player:
        book = book_of(self.rules)
        share = SHARES.get(self.post, 0.0) if self.share is None else self.share
        epsilon = share if self.post == "threshold" else post_kernels.WITHOUT
        return kernels.Player(
            book,
            *tree_of(self.strategy, self.rules, self.translation, self.tie),
            post_kernels.Post(_RULES[self.post], float(share), float(epsilon)),
            self.post == "new" if self.spare_first is None else self.spare_first,
            kinds_of(("f", "c", *["r"] * (self._columns - kernels.FIRST_RAISE))),
            ranker(self.rules.deck, self.rules.board_sizes),
            self._tables,
        )

    @cached_property
    def _tables(self) -> tuple[Array, ...]:
        """Tables of one type, so that one compiled loop can choose among them; of one of two, so that it is compiled twice
        at most.
        """
        average = self.strategy.average
        dtype: Any = np.uint8 if all(table.dtype == np.uint8 for table in average) else np.float32
        return padded(np.require(table, dtype, ["C", "W"]) for table in average)

    def _room(self, most: int, hands: int) -> kernels.Room:
        return kernels.Room(
            np.zeros(most, np.int64),
            np.zeros(most, np.int64),
            np.zeros(most),
            np.zeros((most, hands)),
            np.zeros((hands, self._columns)),
            np.zeros((1, self._columns), np.int32),
            np.zeros(self._columns, np.int64),
            np.zeros(hands),
            np.zeros(1, np.int64),
            np.zeros(self._buckets_at_most if hands else 0, np.int64),
            np.zeros(self._buckets_at_most if hands else 0, np.int32),
            np.zeros(2, np.int64),
            sorter(hands),
        )


def drawn(seed: int, views: Views, rows: Array, moves: Array) -> Array:
    """A move from each row of probabilities, by the seed, the number of the hand and the place in the line. int32 [n]"""
    out = np.zeros(len(views), np.int32)
    kernels.sample(np.uint64(seed % 2**64), views.hand, views.length, rows, moves, out)
    return out


def tree_of(
    strategy: BlueprintStrategy | None, rules: Rules, mapping: str, tie: Tie = "high"
) -> tuple[follow.Tree, follow.Reader]:
    """The tree of a blueprint and how bets are read into it, for loops that follow lines (`_follow_kernels`).

    Without a strategy there is a tree of nothing, for lines that begin off it.
    """
    reader = follow.Reader(_CODES[mapping], tie == "low", int(book_of(rules).stacks.min()))
    names = ("actor", "street", "first", "count", "parent", "kind", "total", "spent", "slot")
    if strategy is not None:
        return follow.Tree(*(getattr(strategy.tree, name) for name in names)), reader
    types: dict[str, Any] = dict.fromkeys(("actor", "street", "count", "kind"), np.int8)
    shapes = {"spent": (1, 2)}
    return follow.Tree(*(np.full(shapes.get(name, (1,)), -1, types.get(name, np.int32)) for name in names)), reader
