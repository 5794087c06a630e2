"""An agent that plays a blueprint in the real game.

    agent = BlueprintAgent(load_blueprint("runs/laptop"), post="new", share=0.2)
    agent.act(views)

Bets off the tree are read by an action translation, real pots and stacks are kept beside the abstract line, and what the
blueprint would do is brought back to a legal move in the real pot (`_follow_kernels` has the rules). The rows of
probabilities may be post-processed before a move is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from riverboat.abstraction.translation import MAPPINGS, Tie
from riverboat.agents import _follow_kernels as kernels
from riverboat.agents.base import Choice, refuse_rules
from riverboat.agents.view import Views, cards_of, padded
from riverboat.arrays import Array
from riverboat.errors import InputError, unknown
from riverboat.games.acpc import Rules
from riverboat.games.action_tree import RAISE
from riverboat.games.batches import book_of
from riverboat.strategy.blueprint import BlueprintStrategy
from riverboat.strategy.postprocess import FOLD_THRESHOLD, purify, tartanian7, threshold

DEFAULT_MAPPING = "rand-pshar"
POST = {
    "none": "as the strategy says",
    "purify": "the most likely move",
    "threshold": "without moves of less than a share, such as 0.15",
    "new": "Tartanian7's: fold above a share, such as 0.2, else the most likely of fold, call and all bets, then of bets",
}
_SHARES = {"threshold": 0.15, "new": FOLD_THRESHOLD}  # what is taken when none is given
_CODES = dict(zip(MAPPINGS, range(len(MAPPINGS)), strict=True))


@dataclass(frozen=True)
class Decisions:
    """What a blueprint does at some tables. Columns: fold, call, and each raise of the tree, upwards."""

    rows: Array  # float64 [n, columns]: probabilities, post-processed
    moves: Array  # int32 [n, columns]: the real move of each
    node: Array  # int32 [n]: the decision in the tree that the line is read as; -1: off the tree
    off: (
        Array  # int8 [n]: 1 where the menu has no such raise, and the decision before it is used again without raising;
    )
    #             2 where a small raise is read as a call, which ends the round in the tree: `node` comes after it


@dataclass(frozen=True, eq=False)
class BlueprintAgent:
    """Plays the average strategy of a blueprint."""

    strategy: BlueprintStrategy
    name: str = "blueprint"
    translation: str = DEFAULT_MAPPING  # one of `abstraction.translation.MAPPINGS`
    tie: Tie = "high"  # what a bet on the threshold of a deterministic mapping is read as
    post: str = "none"  # one of POST
    share: float | None = None  # ε of `threshold`, fold threshold of `new`
    spare_first: bool | None = (
        None  # leave the first move of a hand as it is; None: as Tartanian7 did, with `new` alone
    )
    seed: int = 0

    def __post_init__(self) -> None:
        if self.translation not in MAPPINGS:
            raise unknown("action translation", self.translation, MAPPINGS)
        if self.tie not in ("low", "high"):
            raise unknown("tie rule", self.tie, ("low", "high"))
        if self.post not in POST:
            raise unknown("post-processing", self.post, POST)
        if self.share is not None and self.post not in _SHARES:
            raise InputError(f"agent {self.name!r}: {self.post} has no share; {' and '.join(_SHARES)} have one")
        if self.share is not None and not 0 <= self.share <= 1:
            raise InputError(f"agent {self.name!r}: {self.post}={self.share:g}: must be from 0 to 1")
        if 0 in self.rules.board[1:]:
            raise InputError(
                f"agent {self.name!r}: {self.rules.name!r} deals {self.rules.board} board cards: each later round needs one"
            )

    def __repr__(self) -> str:
        return f"<BlueprintAgent {self.name}: {self.strategy!r}, {self.translation}, {self.post}>"

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        return self.strategy.rules

    def check_rules(self, rules: Rules) -> None:
        """Only its own rules."""
        refuse_rules(self.name, self.rules, rules)

    # --- playing --------------------------------------------------------------------------------

    def act(self, views: Views) -> Array:
        """Moves. int32 [n]"""
        found, out = self.decide(views), np.zeros(len(views), np.int32)
        kernels.sample(self._seed, views.hand, views.length, found.rows, found.moves, out)
        return out

    def probabilities(self, views: Views) -> list[Choice]:
        """Moves and their probabilities; abstract moves that come out alike are one."""
        found, out = self.decide(views), []
        for row, moves in zip(found.rows.tolist(), found.moves.tolist(), strict=True):
            sums: dict[int, float] = {}
            for p, move in zip(row, moves, strict=True):
                if p > 0:
                    sums[move] = sums.get(move, 0.0) + p
            out.append(sorted(sums.items()))
        return out

    def decide(self, views: Views) -> Decisions:
        """Rows of probabilities and the moves that they are of."""
        self.check_rules(views.rules)
        n, book, tree, reader = len(views), book_of(self.rules), self._tree, self._reader
        seen = kernels.Seen(views.hand, views.seat, views.hole, views.board, views.moves, views.length)
        at = kernels.Stand(
            np.empty((n, 9), np.int64), np.empty(n, np.int32), np.empty(n, np.int8), np.empty(n, np.int32)
        )
        kernels.stand(book, tree, reader, self._seed, seen, at)
        rows, moves = np.empty((n, self._columns)), np.empty((n, self._columns), np.int32)
        buckets = self._buckets(views, at.states[:, 3])
        kernels.choose(book, tree, reader, cards_of(self.rules), self._tables, buckets, seen, at, rows, moves)
        return Decisions(self._processed(rows, at.own), moves, at.node, at.off)

    def _buckets(self, views: Views, streets: Array) -> Array:
        """Of the hands on the streets that their tables have reached. int32 [n]"""
        out = np.empty(len(views), np.int32)
        for street, shown in enumerate(self.rules.board_sizes):
            there = np.flatnonzero(streets == street)
            if len(there):
                deals = np.concatenate([views.hole[there], views.board[there, :shown]], axis=1)
                out[there] = self.strategy.cards.buckets(deals, check=False)[:, 0, -1]
        return out

    def _processed(self, rows: Array, own: Array) -> Array:
        if self.post == "none":
            return rows
        share = _SHARES.get(self.post, 0.0) if self.share is None else self.share
        if self.post == "purify":
            after = purify(rows)
        elif self.post == "threshold":
            after = threshold(rows, share)
        else:
            after = tartanian7(rows, self._labels, share)
        spare = self.post == "new" if self.spare_first is None else self.spare_first
        return np.where((own == 0)[:, None], rows, after) if spare else after

    # --- for compiled loops -----------------------------------------------------------------------

    @cached_property
    def _seed(self) -> np.uint64:
        return np.uint64(self.seed % 2**64)

    @cached_property
    def _columns(self) -> int:
        tree = self.strategy.tree
        raises = np.bincount(tree.parent[1:][tree.kind[1:] == RAISE], minlength=1)
        return kernels.FIRST_RAISE + int(raises.max(initial=0))

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return ("f", "c", *["r"] * (self._columns - kernels.FIRST_RAISE))

    @cached_property
    def _tree(self) -> kernels.Tree:
        tree = self.strategy.tree
        return kernels.Tree(
            tree.actor,
            tree.street,
            tree.first,
            tree.count,
            tree.parent,
            tree.kind,
            tree.total,
            tree.spent,
            tree.slot,
        )

    @cached_property
    def _reader(self) -> kernels.Reader:
        stacks = book_of(self.rules).stacks
        return kernels.Reader(_CODES[self.translation], self.tie == "low", int(stacks.min()))

    @cached_property
    def _tables(self) -> tuple[Array, ...]:
        """Tables of one type, so that one compiled loop can choose among them."""
        average = self.strategy.average
        dtype: Any = average[0].dtype if len({table.dtype for table in average}) == 1 else np.float32
        return padded(np.require(table, dtype, ["C", "W"]) for table in average)
