"""Blueprint against blueprint in one compiled loop, duplicate: every deal is played twice, with the seats exchanged."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from riverboat.abstraction.cards.card_abstraction import STREETS
from riverboat.cards.ranking import tables as ranking_tables
from riverboat.compiled.rng import match_key
from riverboat.core import cores
from riverboat.core.arrays import Array
from riverboat.core.claims import ESTIMATE, Claim
from riverboat.core.errors import InputError, check_threads, unknown
from riverboat.evaluation.intervals import Interval, interval
from riverboat.evaluation.matches._kernels import duel as kernels
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE, ActionTree
from riverboat.strategies.blueprint import BlueprintStrategy

CHUNK = 4096  # pairs that one thread plays at a time
YARDSTICKS = ("call", "fold", "raise", "random")


@dataclass(frozen=True)
class Duel:
    """What the first of two strategies won."""

    pairs: int
    seed: int
    big_blind: int
    chips: Interval  # won by the first, a hand; over pairs
    seconds: float

    @property
    def hands(self) -> int:
        """Hands played."""
        return 2 * self.pairs

    @property
    def mbb_per_game(self) -> float:
        """Thousandths of a big blind a hand."""
        return 1000 * self.chips.mean / self.big_blind

    @property
    def ci95(self) -> float:
        """Half the width of the 95 % interval of `mbb_per_game`."""
        return 1000 * self.chips.half_width / self.big_blind

    @property
    def bb_per_100(self) -> float:
        """Big blinds a hundred hands."""
        return self.mbb_per_game / 10

    @property
    def claim(self) -> Claim:
        """What the first won a hand, in mbb/g."""
        return Claim(
            "won", self.mbb_per_game, "mbb/g", ESTIMATE, self.ci95, seed=self.seed, size=self.hands, samples="hands"
        )

    @property
    def hands_per_second(self) -> float:
        """Speed."""
        return self.hands / self.seconds if self.seconds > 0 else 0.0

    def record(self) -> dict[str, float | int]:
        """The result for files, without what depends on the machine."""
        return {
            "mbb_per_game": self.mbb_per_game,
            "bb_per_100": self.bb_per_100,
            "ci95": self.ci95,
            "hands": self.hands,
            "pairs": self.pairs,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        return str(self.claim)


def duel(
    first: BlueprintStrategy, second: BlueprintStrategy, hands: int = 100_000, seed: int = 0, threads: int = 1
) -> Duel:
    """Play `hands` hands in hands / 2 duplicate pairs. Equal seeds mean equal results, whatever the number of threads.

    Card abstractions may differ, betting trees may not. An all-in is paid by the board that was dealt.
    """
    _check(first, second)
    if hands < 4 or hands % 2:
        raise InputError(f"hands={hands}: a duplicate match has an even number of hands, four or more")
    check_threads(threads)
    pairs, key = hands // 2, match_key(seed)
    game, sides = _game(first.tree), (side(first), side(second))
    chunks = range(0, pairs, CHUNK)
    out = np.zeros((len(chunks), 2))
    start = time.perf_counter()

    def play(begin: int) -> None:
        deals = _deals(first, second, game, key, begin, min(begin + CHUNK, pairs))
        kernels.play(game, *sides, deals, _room(), out[begin // CHUNK])

    if threads == 1:
        for begin in chunks:
            play(begin)
    else:
        with ThreadPoolExecutor(min(threads, cores.available_cores()), thread_name_prefix="riverboat") as pool:
            list(pool.map(play, chunks))
    seconds = time.perf_counter() - start
    total, squares = out.sum(axis=0).tolist()  # in the order of the chunks, whoever played them
    return Duel(pairs, seed, first.rules.big_blind, interval(pairs, total / 2, squares / 4), seconds)


def yardstick(move: str, like: BlueprintStrategy) -> BlueprintStrategy:
    """A simple strategy over the tree and cards of another: always `call`, `fold` (check where that is free), `raise` by
    the least the tree has (else call), or `random` among all moves of the tree.
    """
    if move not in YARDSTICKS:
        raise unknown("yardstick", move, YARDSTICKS)
    tree, counts = like.tree, like.cards.counts
    average = []
    for street, buckets in enumerate(counts[: tree.rules.rounds]):
        row = np.zeros(int(tree.width[street]), np.uint8)
        if move != "random":
            row[_chosen(tree, street, move)] = 1
        average.append(np.broadcast_to(row, (buckets, len(row))))  # one row in memory for all buckets
    return BlueprintStrategy(
        rules=like.rules,
        menu=like.menu,
        tree=tree,
        cards=like.cards,
        average=tuple(average),
        provenance={"method": f"always {move}" if move != "random" else move},
    )


def _chosen(tree: ActionTree, street: int, move: str) -> Array:
    """Places of the one move that each decision of a street takes. int64 [decisions]"""
    wanted = {"fold": FOLD, "call": CALL, "raise": RAISE}[move]
    nodes = np.flatnonzero((tree.actor >= 0) & (tree.street == street))
    # Moves stand in the order fold, call, raises; a call is always there.
    folds = tree.kind[tree.first[nodes]] == FOLD
    place = folds.astype(np.int64)
    if wanted == FOLD:
        place[:] = 0
    elif wanted == RAISE:
        place = np.where(tree.count[nodes] > place + 1, place + 1, place)
    return np.asarray(tree.slot[nodes] + place, np.int64)


def _check(first: BlueprintStrategy, second: BlueprintStrategy) -> None:
    if first.rules != second.rules:
        raise InputError(
            f"duel: the first plays {first.rules.name!r} and the second {second.rules.name!r}, which have other rules"
        )
    if 0 in first.rules.board[1:]:
        raise InputError(
            f"duel: {first.rules.name!r} deals {first.rules.board} board cards: each later round needs one"
        )
    if first.tree is not second.tree and first.tree.fingerprint != second.tree.fingerprint:
        raise InputError(
            f"duel: betting trees of {len(first.tree):,} and {len(second.tree):,} nodes with other moves; a duel needs "
            "one tree for both, play a match between agents, which translate bets"
        )


def _game(tree: ActionTree) -> kernels.Game:
    rules = tree.rules
    board = rules.board_sizes[-1]
    return kernels.Game(
        tree.actor,
        tree.street,
        tree.first,
        tree.count,
        tree.showdown,
        tree.pay,
        tree.slot,
        rules.deck.cards,
        ranking_tables(rules.hole + board),
        rules.hole,
        board,
    )


def side(strategy: BlueprintStrategy) -> kernels.Side:
    """The tables of a strategy as compiled loops read them; contiguous ones are not copied."""
    shared = [table.strides[0] == 0 for table in strategy.average]  # one row for all buckets
    flat = [
        np.array(table[0]) if one else np.ascontiguousarray(table).reshape(-1)
        for table, one in zip(strategy.average, shared, strict=True)
    ]
    stride = [0 if one else table.shape[1] for table, one in zip(strategy.average, shared, strict=True)]
    flat += flat[-1:] * (len(STREETS) - len(flat))  # for every game as many: numbers are types to compiled loops
    return kernels.Side(tuple(flat), np.array(stride, np.int64))


def _deals(
    first: BlueprintStrategy, second: BlueprintStrategy, game: kernels.Game, seed: np.uint64, begin: int, end: int
) -> kernels.Deals:
    """Deals begin … end - 1 of a match, with their buckets."""
    count = end - begin
    keys, result = np.empty(count, np.uint64), np.empty(count, np.float32)
    cards = np.empty((count, 2 * game.hole + game.board), np.uint8)
    kernels.draw_deals(game, seed, begin, keys, cards.reshape(-1), result)
    buckets = first.cards.buckets(cards, 2, check=False)
    alike = first.cards is second.cards or first.cards.fingerprint == second.cards.fingerprint
    return kernels.Deals(
        keys, cards, result, buckets, buckets if alike else second.cards.buckets(cards, 2, check=False)
    )


def _room() -> kernels.Room:
    return kernels.Room(
        np.zeros(2 * kernels.BLOCK, np.int32), np.zeros(2 * kernels.BLOCK, np.int32), np.zeros(kernels.BLOCK, np.int64)
    )
