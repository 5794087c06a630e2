"""Traversers of sampling trainers: each samples deals or boards in its own way and updates the tables.

`ExternalTraverser` runs external sampling (Lanctot et al. 2009), with racing threads or deterministically.
`SamplingTraverser` runs the other traversals on the same tables: chance sampling, public chance sampling with one
vector or two (Johanson et al. 2012), pure CFR (Gibson 2014) and CFR-BR. Traversers on a GPU are in `cuda_trainer` and
`cuda_public_chance`.
"""

from __future__ import annotations

from math import comb, isqrt
from typing import Any, Protocol

import numpy as np

from riverboat.abstraction.cards.card_abstraction import CardAbstraction, lossless_abstraction
from riverboat.cards.ranking import rank_tables as ranking_tables
from riverboat.core.arrays import Array, zeros
from riverboat.core.errors import InputError, MemoryLimitError, unknown_name_error
from riverboat.core.formatting import format_bytes
from riverboat.engines.sampling._kernels import chance as chance_kernels
from riverboat.engines.sampling._kernels import external as kernels
from riverboat.engines.sampling._kernels import public_chance as board_kernels
from riverboat.engines.threads import ThreadTeam
from riverboat.games.holdem.action_tree import ActionTree
from riverboat.solvers.mccfr import tables as trainer_tables
from riverboat.solvers.mccfr.tables import LOOKUP_BLOCK, BucketTables, Pruning, deal_range, make_sampling_game

MODES = ("racing", "deterministic")
MAX_RUNOUTS = 1000
MAX_HYBRID_BYTES = 2 << 30  # memory for the tables of CFR-BR's unabstracted opponent
_MAX_JOURNAL_BYTES = 1 << 28  # memory for the journals of a batch
_MIN_EXCHANGE_BLOCKS, _MAX_EXCHANGE_BLOCKS = 4, 64  # blocks of deals between two exchanges of first-street copies
_LINE = 16  # padding of per-thread counters, so that threads do not share a cache line


class Traverser(Protocol):
    """The part of a trainer that samples, traverses and updates the tables."""

    traversal: str  # one of `trainer.TRAVERSALS`
    batch: int  # iterations of a batch, inside which no step may end; 0: any number

    hybrid: BucketTables | None  # CFR-BR: tables of the unabstracted opponent before the last street

    @property
    def tables(self) -> BucketTables:
        """The tables, up to date and in the memory of the host."""

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1 of a run.

        `payoff` has the total payoffs of both seats so far, in chips. Returns the number of visited decisions, and the
        new total payoffs. float64 [2]
        """

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply positive and negative regrets and averages by factors; `seed` is for random rounding."""


def payoff_sums(threads: int, start: Array, columns: int = 2) -> Array:
    """Allocate payoff sums of both seats for each thread; those of the first thread begin with the run's sums `start`.

    So with one thread the sums do not depend on how a run is divided into steps. float64 [threads, columns]
    """
    sums = np.zeros((threads, columns))
    sums[0, :2] = start
    return sums


class CpuTraverser:
    """Base class of traversers on CPU threads: tables, and the game as sampling kernels read it."""

    batch = 0
    hybrid: BucketTables | None = None

    def __init__(
        self, tree: ActionTree, cards: CardAbstraction, dtype: str, runouts: int, team: ThreadTeam, copies: int = 0
    ) -> None:
        if not 0 <= runouts <= MAX_RUNOUTS:
            raise InputError(
                f"runouts={runouts}: boards over which an all-in is averaged, must be 0 (the dealt board) to {MAX_RUNOUTS}"
            )
        self.cards, self.team = cards, team
        self.tables = BucketTables(tree, cards.counts, dtype, copies)
        self.game = make_sampling_game(tree, cards, self.tables, runouts)

    def discount(self, positive: float, negative: float, decay: float, seed: int) -> None:
        """Multiply positive and negative regrets and averages by factors; `seed` is for random rounding."""
        for tables in (self.hybrid, self.tables):
            if tables is not None:
                tables.discount(positive, negative, decay, seed, self.team)


class ExternalTraverser(CpuTraverser):
    """External sampling on CPU threads: without locks (`racing`), or reproducibly in batches (`deterministic`).

    `batch` is the number of deals in a batch; an all-in is averaged over `runouts` boards (0: the dealt one only).
    """

    traversal = "external"

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        *,
        threads: int = 1,
        mode: str = "racing",
        prune: Pruning | None = None,
        dtype: str = "float32",
        batch: int = 1024,
        runouts: int = 0,
    ) -> None:
        if mode not in MODES:
            raise unknown_name_error("mode", mode, MODES)
        team = ThreadTeam(threads)
        if batch < 1:
            raise InputError(f"batch={batch}: deals per batch in the deterministic mode, must be at least 1")
        copies = threads if mode == "racing" and threads > 1 else 0
        super().__init__(tree, cards, dtype, runouts, team, copies)
        self.rule = trainer_tables.update_rule(self.tables, prune)
        notes = trainer_tables.DealGroup(self.game.nodes)
        self.group = notes.size
        self._workspaces = [
            (trainer_tables.make_block(self.game, LOOKUP_BLOCK), notes.make_notes()) for _ in range(threads)
        ]
        self._journals = trainer_tables.empty_journal()
        if mode == "deterministic":
            self._journals = _make_journals(notes, batch, int(tree.count.max()))
            self.batch = len(self._journals.used) * self.group

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1; see `Traverser`."""
        start = payoff / self.tables.unit  # a power of two: exact
        visited, sums = (self._train_batch if self.batch else self._train_racing)(seed, begin, end, start)
        return visited, sums * self.tables.unit

    def _train_racing(self, seed: int, begin: int, end: int, start: Array) -> tuple[int, Array]:
        """Train on threads that update the tables without locks, each with a copy of the first street's tables.

        All threads write to the few rows of the first street on every deal. Without copies its cache lines bounce
        between cores: two threads were only 1.2 times as fast as one.
        """
        tables, threads = self.tables, self.team.threads
        tally, payoff = np.zeros((threads, _LINE), np.int64), payoff_sums(threads, start, _LINE)
        while begin < end:
            stop = min(end, max(begin + 1024, 2 * begin))  # the older the run, the longer copies may differ
            interval = self._exchange_interval(begin)
            copied = tables.copied_cells if interval else 0
            shared = *self._kernel_arguments(seed, begin, stop)[1:], self._journals

            def run(thread: int, given: Any = shared, copied: int = copied, interval: int = interval) -> None:
                own_start = len(tables.cells) + 2 * thread * copied
                game = self.game._replace(base=np.where(tables.base < copied, tables.base + own_start, tables.base))
                copy = kernels.FirstStreetCopy(copied, own_start, interval)
                own_tally = kernels.SamplingTally(tally[thread, :2], payoff[thread, :2])
                kernels.train_external(game, *given, *self._workspaces[thread], copy, own_tally)

            self.team.run(run)
            begin = stop
        return int(tally.sum()), payoff[:, :2].sum(axis=0)

    def _exchange_interval(self, iterations: int) -> int:
        """Return the blocks between two exchanges of first-street copies; 0: too few for a copy to pay off.

        Regrets of a row grow like the square root of its visits. What other threads add to a row between exchanges is
        limited to a fraction of that: a row is visited twice in as many deals as there are rows.
        """
        if not self.tables.copied_cells:
            return 0
        every = isqrt(iterations * self.tables.counts[0] // 2) // 4 // self.team.threads // LOOKUP_BLOCK
        return min(every, _MAX_EXCHANGE_BLOCKS) if every >= _MIN_EXCHANGE_BLOCKS else 0

    def _train_batch(self, seed: int, begin: int, end: int, start: Array) -> tuple[int, Array]:
        """Traverse one batch of deals with unchanged tables, then add its increments in a fixed order."""
        groups = len(self._journals.used)
        tally = kernels.SamplingTally(np.zeros((groups, 2), np.int64), np.zeros((groups, 2)))
        arguments = *self._kernel_arguments(seed, begin, end), self._journals
        cells, count = self.tables.all_cells, -(-(end - begin) // self.group)
        self.team.run(lambda thread: kernels.collect_increments(*arguments, *self._workspaces[thread], tally))
        shared = cells, self._journals, count, self.rule.floor
        self.team.run(lambda thread: kernels.apply_increments(*shared, thread, self.team.threads))
        return int(tally.decisions.sum()), np.vstack([start, tally.payoff]).sum(axis=0)

    def _kernel_arguments(self, seed: int, begin: int, end: int) -> tuple[Any, ...]:
        return self.game, self.cards.lookup, self.tables.all_cells, deal_range(seed, begin, end), self.rule


def _make_journals(group: trainer_tables.DealGroup, batch: int, moves: int) -> kernels.Journal:
    """Allocate journals for as many groups of deals as a batch has, or as fit in memory.

    A batch is a multiple or a divisor of a block of deals. `moves` is the largest number of actions at a decision.
    """
    held = _MAX_JOURNAL_BYTES // (16 * group.entries + 4 * group.entries * moves)
    groups, per_block = max(1, min(-(-batch // group.size), held)), LOOKUP_BLOCK // group.size
    groups = groups // per_block * per_block if groups >= per_block else 1 << groups.bit_length() - 1
    return group.make_journals(moves, groups)


class SamplingTraverser(CpuTraverser):
    """Chance sampling, public chance sampling (PCS, OPCS, SPCS), pure CFR or CFR-BR on CPU threads."""

    def __init__(
        self,
        tree: ActionTree,
        cards: CardAbstraction,
        traversal: str,
        *,
        threads: int = 1,
        dtype: str = "float32",
        runouts: int = 0,
    ) -> None:
        super().__init__(tree, cards, dtype, runouts, ThreadTeam(threads))
        self.traversal = traversal
        self._inputs = self.game, cards.lookup, self.tables.cells
        self._train: Any = board_kernels.train_on_boards
        self._workspaces: list[tuple[Any, ...]] = []  # by thread
        if traversal in ("chance", "pure"):
            self._train = chance_kernels.train_deals
            blocks = (trainer_tables.make_block(self.game, LOOKUP_BLOCK) for _ in range(threads))
            self._workspaces = [(traversal == "pure", block, _visit_list(tree)) for block in blocks]
            return
        hands, code = deck_hands(tree), getattr(board_kernels, traversal.upper().replace("-", "_"))
        for _ in range(threads):
            board, frames = board_workspace(tree), hand_frames(tree)
            responder = board_kernels.TraversalPlayer(*self._inputs, board)
            if traversal == "cfr-br":
                responder = self._responder(tree, board)
                best, margin = np.zeros((len(tree), len(hands.mask)), np.int8), frames.margin / self.tables.unit
                frames = frames._replace(best=best, margin=margin)
            self._workspaces.append((code, hands, board, frames, responder))

    def _responder(self, tree: ActionTree, board: board_kernels.BoardWorkspace) -> board_kernels.TraversalPlayer:
        """Make CFR-BR's unabstracted opponent for one thread, on the board of the seat that it plays against."""
        lossless = lossless_abstraction(tree.rules.board[1:], tree.rules.deck)
        if self.hybrid is None:
            counts = *lossless.counts[: tree.rules.rounds - 1], 1
            cells = 2 * sum(n * int(w) for n, w in zip(counts, tree.width, strict=True))
            if (required := cells * self.tables.cells.itemsize) > MAX_HYBRID_BYTES:
                raise MemoryLimitError(
                    f"cfr-br in {tree.rules.name}: the unabstracted opponent needs {format_bytes(required)} before the "
                    f"last street, {format_bytes(MAX_HYBRID_BYTES)} are allowed: use a game of two rounds"
                )
            self.hybrid = BucketTables(tree, counts, self.tables.dtype)
        buckets = ("member", "bucket", "kinds", "known", "number", "place")
        # The other arrays describe the board and its hands.
        own = board._replace(**{name: np.zeros_like(getattr(board, name)) for name in buckets})
        game = make_sampling_game(tree, lossless, self.hybrid)
        return board_kernels.TraversalPlayer(game, lossless.lookup, self.hybrid.cells, own)

    def train(self, seed: int, begin: int, end: int, payoff: Array) -> tuple[int, Array]:
        """Run iterations begin … end - 1; see `Traverser`."""
        threads = self.team.threads
        tally, sums = np.zeros((threads, 2), np.int64), payoff_sums(threads, payoff / self.tables.unit)
        deals, share = deal_range(seed, begin, end), self.tables.share

        def run(thread: int) -> None:
            own_tally = kernels.SamplingTally(tally[thread], sums[thread])
            self._train(*self._inputs, deals, share, *self._workspaces[thread], own_tally)

        self.team.run(run)
        return int(tally.sum()), sums.sum(axis=0) * self.tables.unit


# --- workspaces ---


def _visit_list(tree: ActionTree) -> chance_kernels.VisitList:
    nodes = len(tree)
    kinds = {"node": np.int32, "first": np.int32, "share": np.float32, "value": np.float32}
    return chance_kernels.VisitList(reach=np.zeros((nodes, 2), np.float32), **zeros(nodes, **kinds))


def deck_hands(tree: ActionTree) -> board_kernels.DeckHands:
    """Return all hands of a deck, and the probability of a hand and of a pair of hands given a board of each street."""
    rules, deck = tree.rules, tree.rules.deck
    if deck.hole > 2:
        raise InputError(f"{rules.name} deals {deck.hole} cards to a hand: public chance sampling supports one or two")
    ranks, shown = ranking_tables(rules.hole + rules.board_sizes[-1]), np.array(rules.board_sizes, np.int64)
    cards = np.full((deck.num_hands, 2), board_kernels.NO_CARD, np.uint8)
    cards[:, : deck.hole] = deck.hands
    left = [len(deck.cards) - int(n) for n in shown]
    hand = np.array([1.0 / comb(n, deck.hole) for n in left])
    return board_kernels.DeckHands(
        cards,
        np.bitwise_or.reduce(np.uint64(1) << deck.hands.astype(np.uint64), axis=1),
        ranks.key[deck.hands].sum(axis=1, dtype=np.uint64),
        ranks.mask[deck.hands].sum(axis=1, dtype=np.uint64),
        shown,
        hand / np.array([comb(n - deck.hole, deck.hole) for n in left]),
        hand,
    )


def board_workspace(tree: ActionTree) -> board_kernels.BoardWorkspace:
    """Allocate the workspace of a board and its hands."""
    rules, hands = tree.rules, tree.rules.deck.num_hands
    streets, slots = rules.rounds, 1 << (2 * hands).bit_length()
    return board_kernels.BoardWorkspace(
        cards=np.zeros(rules.hole + rules.board_sizes[-1], np.uint8),
        drawn=np.zeros(2, np.uint8),
        **zeros(hands, order=np.int32, spare=np.int32, strength=np.uint16, rank=np.uint16),
        **zeros(hands, first=np.uint8, second=np.uint8),
        **zeros(streets, live=np.int64, kinds=np.int64),
        **zeros((streets, hands), member=np.int32, bucket=np.int64, place=np.int64),
        **zeros((streets, slots), known=np.int64, number=np.int32),
        digits=np.zeros(257, np.int64),
        layers=np.zeros((LOOKUP_BLOCK, streets), np.int64),
        numbers=np.zeros((LOOKUP_BLOCK, 1, streets), np.int64),
        sums=np.zeros(53),
    )


def hand_frames(tree: ActionTree) -> board_kernels.HandFrames:
    """Allocate the frames of a traversal with vectors of hands."""
    hands, moves, levels = tree.rules.deck.num_hands, int(tree.count.max()), tree_depth(tree)
    return board_kernels.HandFrames(
        **zeros(levels, node=np.int64, move=np.int64),
        **zeros((levels, 2, hands), reach=np.float32, value=np.float32),
        **zeros((levels, moves, hands), sigma=np.float32, worth=np.float64),
        **zeros(hands, held=np.float64, beats=np.float64),
        best=np.zeros((0, 0), np.int8),
        margin=board_kernels.TIE_MARGIN,
    )


def tree_depth(tree: ActionTree) -> int:
    """Return the number of nodes on the longest line."""
    above, levels = tree.parent[tree.actor < 0], 1
    while len(above):
        above, levels = tree.parent[above[above >= 0]], levels + 1
    return levels
