"""Games in normal form: a pay-off for every combination of pure strategies.

Compiled as a history game in which the players choose one after the other without seeing the
earlier choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array


@dataclass(frozen=True, eq=False)
class NormalForm:
    """`table[i, j, …, p]` is what player p gets when the players choose i, j, …"""

    table: Array  # float64 [actions of player 0, actions of player 1, …, players]
    labels: tuple[tuple[str, ...], ...]
    name: str = "matrix"
    unit: str = field(default="points")

    def __post_init__(self) -> None:
        if self.table.ndim != self.players + 1 or self.table.shape[-1] != self.players:
            raise InputError(
                f"{self.name}: pay-offs of shape {self.table.shape}: expected one axis for each of the "
                f"players and a last axis of that length"
            )
        for player, names in enumerate(self.labels):
            if len(names) != self.table.shape[player]:
                raise InputError(
                    f"{self.name}: {len(names)} names for the {self.table.shape[player]} moves of player {player}"
                )
            if len(set(names)) != len(names):
                raise InputError(f"{self.name}: two moves of player {player} have one name: {', '.join(names)}")
        if not np.all(np.isfinite(self.table)):
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(self.table))[0])
            raise InputError(f"{self.name}: the pay-off at {place} is {self.table[place]}: must be finite")

    @property
    def players(self) -> int:
        """How many choose."""
        return len(self.labels)

    def root(self) -> _Choice:
        """Player 0 chooses first, unseen."""
        return _Choice(self, ())


@dataclass(frozen=True, eq=False)
class _Choice:
    game: NormalForm
    chosen: tuple[int, ...]

    @property
    def actor(self) -> int:
        return len(self.chosen) if len(self.chosen) < self.game.players else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return self.game.labels[self.actor]

    def probabilities(self) -> Sequence[float]:
        return ()

    def child(self, index: int) -> _Choice:
        return _Choice(self.game, (*self.chosen, index))

    def infoset(self) -> str:
        return f"player {self.actor}"

    def payoffs(self) -> Sequence[float]:
        row: list[float] = self.game.table[self.chosen].tolist()
        return row


def matrix(
    payoffs: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    name: str = "matrix",
) -> NormalForm:
    """A two-player game: a matrix of player 0's pay-offs (zero-sum), or a pair of matrices."""
    try:
        first = np.asarray(payoffs, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: pay-offs are no matrix of numbers: {error}") from None
    if first.ndim == 3 and first.shape[0] == 2:
        table = np.stack([first[0], first[1]], axis=-1)
    elif first.ndim == 2 and first.size:
        table = np.stack([first, -first], axis=-1)
    else:
        raise InputError(
            f"{name}: pay-offs of shape {first.shape}: give a matrix, or two of one shape for a general-sum game"
        )
    m, n, _ = table.shape
    row_names = tuple(rows) if rows is not None else tuple(f"r{i + 1}" for i in range(m))
    column_names = tuple(columns) if columns is not None else tuple(f"c{j + 1}" for j in range(n))
    if len(row_names) != m or len(column_names) != n:
        raise InputError(f"{name}: {len(row_names)} row and {len(column_names)} column names for a {m} x {n} matrix")
    return NormalForm(table, (row_names, column_names), name)


def rock_paper_scissors() -> NormalForm:
    """Value 0."""
    moves = ("rock", "paper", "scissors")
    return matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], moves, moves, "rps")


def rpst() -> NormalForm:
    """Rock-paper-scissors-toothpick: player 1 has a fourth move that gives away gifts.

    Against rock, paper and scissors alike the toothpick loses (4, 3 and 3 points), so whoever
    throws it has made a gift of 10/3 to the equilibrium (Ganzfried & Sandholm 2012).
    """
    return matrix(
        [[0, -1, 1, 4], [1, 0, -1, 3], [-1, 1, 0, 3]],
        ("rock", "paper", "scissors"),
        ("rock", "paper", "scissors", "toothpick"),
        "rpst",
    )
