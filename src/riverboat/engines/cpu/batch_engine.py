"""Many subgames at once: one betting tree, unlike boards, ranges and gadgets. Threads take the subgames in turn.

Of several, a subgame is walked by one thread with the same arithmetic as alone, so what comes out is the same to the
bit, whoever walked it. Its tables stay in a core's cache for as many iterations as are handed over at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TypeVar

import numpy as np

from riverboat.core.errors import InputError, MemoryLimitError
from riverboat.core.formatting import show_bytes
from riverboat.core.resources import available_memory
from riverboat.engines.cpu.board_engine import BoardWalker
from riverboat.engines.cpu.workspace import Rooms
from riverboat.engines.rules import LocalRule
from riverboat.engines.tables import Format, allocate, table_bytes
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.trees.boards import BoardTree
from riverboat.trees.streets import Shape, shape

T = TypeVar("T")


def alike_trees(games: Sequence[BoardGame], shaped: Callable[[BoardGame, int], Shape] | None = None) -> list[BoardTree]:
    """Trees of games that have the betting of the first one, which they share. It is up to the caller that they do.

    `shaped` gives the shape of a game for so many hands, where somebody keeps them.
    """
    if not games:
        return []
    hands = max(int(np.count_nonzero(w)) for game in games for w in game.weights)
    common = (shaped or shape_of)(games[0], hands)
    return [BoardTree(game, common) for game in games]


def shape_of(game: BoardGame, hands: int) -> Shape:
    """The shape of a game's betting for so many hands."""
    return shape(game.betting, len(game.deals) + 1, hands)


class BatchWalker:
    """A walker for each of some trees of one shape (`alike_trees`), on shared threads and room."""

    def __init__(
        self,
        trees: Sequence[BoardTree],
        form: Format,
        *,
        predictive: bool = False,
        simultaneous: bool = False,
        threads: int = 1,
        rule: LocalRule | None = None,
        memory: int | None = None,
        stakes: float = 0.0,
    ) -> None:
        if not trees or any(tree.shape is not trees[0].shape for tree in trees):
            raise InputError("a batch needs trees of one shape, one at least: make them with alike_trees")
        need = table_bytes(sum(tree.table for tree in trees), form, predictive=predictive, apart=simultaneous)
        bound = min(x for x in (memory, available_memory(), need) if x is not None)
        if need > bound:
            raise MemoryLimitError(
                f"{len(trees)} subgames: the tables need {show_bytes(need)} and {show_bytes(bound)} are allowed; "
                "solve fewer at once"
            )
        alone = len(trees) == 1  # then threads share its boards
        self.rooms = Rooms(trees[0], form.work, 1 if alone else threads)
        self.walkers = [
            BoardWalker(
                tree,
                form,
                allocate(tree, form, predictive=predictive, apart=simultaneous),
                threads=threads,
                rule=rule,
                rooms=None if alone and threads > 1 else self.rooms,
                stakes=stakes,
            )
            for tree in trees
        ]

    def each(self, task: Callable[[BoardWalker, int], T], among: Sequence[int] | None = None) -> list[T]:
        """Do something with all walkers, or some, on all threads. The task is told the thread, whose room it may use."""
        some = range(len(self.walkers)) if among is None else among
        results: list[T | None] = [None] * len(some)
        turns = count()

        def work(thread: int) -> None:
            while (turn := next(turns)) < len(some):
                results[turn] = task(self.walkers[some[turn]], thread)

        self.rooms.on_all(work)
        return results  # type: ignore[return-value]

    def learn(self, steps: Array, among: Sequence[int] | None = None) -> None:
        """The same iterations in all subgames, or in some."""
        self.each(lambda walker, thread: walker.learn(steps, thread=thread), among)

    def earnings(self, player: int, *, respond: bool = False, among: Sequence[int] | None = None) -> list[float]:
        """What a player wins on average in each, in chips."""
        return self.each(lambda walker, thread: walker.earnings(player, respond=respond, thread=thread), among)

    @property
    def trees(self) -> list[BoardTree]:
        """What is walked."""
        return [walker.tree for walker in self.walkers]

    @property
    def constants(self) -> list[float | None]:
        """For each subgame what both players earn together, see `BoardWalker.constant`."""
        return [walker.constant for walker in self.walkers]

    def averages(self) -> list[tuple[Array, Array | None]]:
        """For each subgame the averages, and those of its gadget where there is one."""
        return [
            (w.read("average"), w.read("root_average") if "root_average" in w.names else None) for w in self.walkers
        ]
