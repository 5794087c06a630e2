"""Decisions: what a strategy does, hand by hand or set by set, beside what a player can see there.

One row for each information set: features by name, moves that can be made, what is played, how often it comes up, and, where
it is known, what each move is worth. Everything in this room is learned from, or measured on, such a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.strategies.rule_list import CALL, Columns, Feature, Move

Cost: TypeAlias = Callable[[Array], dict[str, float]]  # what playing so at all decisions costs, figures by name


@dataclass(frozen=True, eq=False)
class Decisions:
    """n decisions of one player, or of several that play by one list."""

    title: str
    features: tuple[Feature, ...]
    columns: Columns  # by feature, float64 [n] each
    moves: tuple[Move, ...]
    possible: Array  # bool [n, moves]
    played: Array  # float64 [n, moves]: rows sum to one
    weight: Array  # float64 [n]: how often it comes up; sums to one
    names: tuple[str, ...]  # as people write them: `AsKs`, `Ks:cr`
    group: Array  # int64 [n]: what is alike; held out together
    worth: Array | None = None  # float64 [n, moves]: what each move earns, in `unit`
    unit: str = ""
    emphasis: Array | None = None  # float64 [n]: what rules are learned by, where not by how often decisions come up

    def __post_init__(self) -> None:
        n, shape = len(self.weight), (len(self.weight), len(self.moves))
        if n == 0 or not self.weight.sum() > 0:
            raise InputError(f"{self.title}: no decision there is ever reached")
        if self.possible.shape != shape or self.played.shape != shape or len(self.names) != n or len(self.group) != n:
            raise InputError(f"{self.title}: arrays of {n} decisions over {len(self.moves)} moves do not fit together")

    def __len__(self) -> int:
        return len(self.weight)

    def take(self, rows: Array) -> Decisions:
        """Some of them, by number or mask, with weights that sum to one again."""
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        weight = self.weight[chosen]
        if not weight.sum() > 0:
            raise InputError(f"{self.title}: none of the chosen decisions is ever reached")
        return replace(
            self,
            columns={name: x[chosen] for name, x in self.columns.items()},
            possible=self.possible[chosen],
            played=self.played[chosen],
            weight=weight / weight.sum(),
            names=tuple(self.names[k] for k in chosen.tolist()),
            group=self.group[chosen],
            worth=None if self.worth is None else self.worth[chosen],
            emphasis=None if self.emphasis is None else self.emphasis[chosen],
        )

    @property
    def matters(self) -> Array:
        """What rules are learned by. float64 [n]"""
        return self.weight if self.emphasis is None else self.emphasis

    @cached_property
    def call(self) -> int | None:
        """The column of check or call, which others fall back to; None where moves are not poker's."""
        return next((k for k, move in enumerate(self.moves) if move.kind == CALL), None)

    def folds(self, parts: int, seed: int = 0) -> Array:
        """A number from 0 to parts − 1 for each decision, the same for all of a group. int64 [n]"""
        groups, inverse = np.unique(self.group, return_inverse=True)
        numbers = np.arange(len(groups)) % min(parts, len(groups))
        parts_of: Array = np.random.default_rng(seed).permutation(numbers)[inverse]
        return parts_of


def joined(parts: Sequence[Decisions], title: str, shares: Sequence[float] | None = None) -> Decisions:
    """Several tables over the same features as one; `shares` say how often each comes up, equally by default."""
    first = parts[0]
    often = np.ones(len(parts)) if shares is None else np.array(shares, float)
    often = often / often.sum()
    moves = tuple(dict.fromkeys(move for part in parts for move in part.moves))

    def widened(part: Decisions, array: Array) -> Array:
        out = np.zeros((len(part), len(moves)), array.dtype)
        out[:, [moves.index(move) for move in part.moves]] = array
        return out

    worths = [part.worth for part in parts]
    known = all(worth is not None for worth in worths)
    return Decisions(
        title,
        first.features,
        {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
        moves,
        np.concatenate([widened(part, part.possible) for part in parts]),
        np.concatenate([widened(part, part.played) for part in parts]),
        np.concatenate([share * part.weight for part, share in zip(parts, often, strict=True)]),
        tuple(name for part in parts for name in part.names),
        np.concatenate([part.group for part in parts]),
        np.concatenate([widened(part, worth) for part, worth in zip(parts, worths, strict=True) if worth is not None])
        if known
        else None,
        first.unit,
    )
