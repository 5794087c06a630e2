"""Normal-form games: a payoff for every combination of pure strategies.

They are compiled as history games in which the players choose one after the other without seeing earlier choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from riverboat.core.arguments import checked
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, Array


@dataclass(frozen=True, eq=False)
class NormalForm:
    """A normal-form game: `table[i, j, …, p]` is the payoff of player p when the players choose i, j, …

    Attributes
    ----------
    table
        Payoffs. float64 [actions of player 0, actions of player 1, …, players]
    labels
        Names of the actions of each player.
    name
        Name of the game.
    unit
        Unit of the payoffs.

    Raises
    ------
    InputError
        If shapes or names do not match, or a payoff is not finite.

    Examples
    --------
    >>> game = matrix([[1, -1], [-1, 1]])
    >>> game.players, game.table.shape
    (2, (2, 2, 2))
    """

    table: Array  # float64 [actions of player 0, actions of player 1, …, players]
    labels: tuple[tuple[str, ...], ...]
    name: str = "matrix"
    unit: str = field(default="points")

    def __post_init__(self) -> None:
        if self.table.ndim != self.players + 1 or self.table.shape[-1] != self.players:
            raise InputError(
                f"{self.name}: payoffs of shape {self.table.shape}: expected one axis for each of the "
                f"players and a last axis of that length"
            )
        for player, names in enumerate(self.labels):
            if len(names) != self.table.shape[player]:
                raise InputError(
                    f"{self.name}: {len(names)} names for the {self.table.shape[player]} actions of player {player}"
                )
            if len(set(names)) != len(names):
                raise InputError(f"{self.name}: duplicate action names of player {player}: {', '.join(names)}")
        if not np.all(np.isfinite(self.table)):
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(self.table))[0])
            raise InputError(f"{self.name}: the payoff at {index} is {self.table[index]}: must be finite")

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.labels)

    def root(self) -> _NormalFormState:
        """Return the initial state: player 0 chooses a row, which player 1 does not see."""
        return _NormalFormState(self, ())


@dataclass(frozen=True, eq=False)
class _NormalFormState:
    game: NormalForm
    chosen: tuple[int, ...]

    @property
    def actor(self) -> int:
        return len(self.chosen) if len(self.chosen) < self.game.players else TERMINAL

    def actions(self) -> tuple[str, ...]:
        return self.game.labels[self.actor]

    def probabilities(self) -> Sequence[float]:
        return ()

    def child(self, index: int) -> _NormalFormState:
        return _NormalFormState(self.game, (*self.chosen, index))

    def infoset(self) -> str:
        return f"player {self.actor}"

    def payoffs(self) -> Sequence[float]:
        row: list[float] = self.game.table[self.chosen].tolist()
        return row


@checked
def matrix(
    payoffs: Any,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    name: str = "matrix",
) -> NormalForm:
    """Make a two-player game from a matrix of player 0's payoffs (zero-sum), or from a pair of matrices.

    Parameters
    ----------
    payoffs
        Matrix of player 0's payoffs, or a pair of matrices, one for each player.
    rows
        Names of player 0's actions; `r1`, `r2`, … by default.
    columns
        Names of player 1's actions; `c1`, `c2`, … by default.
    name
        Name of the game.

    Returns
    -------
    NormalForm
        The game.

    Raises
    ------
    InputError
        If the payoffs are no matrix of numbers, or the names do not match it.

    Examples
    --------
    >>> matrix([[3, 0], [5, 1]], rows=("up", "down")).labels
    (('up', 'down'), ('c1', 'c2'))
    """
    try:
        first = np.asarray(payoffs, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: the payoffs are not a matrix of numbers: {error}") from None
    if first.ndim == 3 and first.shape[0] == 2:
        table = np.stack([first[0], first[1]], axis=-1)
    elif first.ndim == 2 and first.size:
        table = np.stack([first, -first], axis=-1)
    else:
        raise InputError(
            f"{name}: payoffs of shape {first.shape}: give a matrix, or two of one shape for a general-sum game"
        )
    m, n, _ = table.shape
    row_names = tuple(rows) if rows is not None else tuple(f"r{i + 1}" for i in range(m))
    column_names = tuple(columns) if columns is not None else tuple(f"c{j + 1}" for j in range(n))
    if len(row_names) != m or len(column_names) != n:
        raise InputError(f"{name}: {len(row_names)} row and {len(column_names)} column names for a {m} x {n} matrix")
    return NormalForm(table, (row_names, column_names), name)


def rock_paper_scissors() -> NormalForm:
    """Make rock-paper-scissors, with value 0.

    Returns
    -------
    NormalForm
        The game.

    Examples
    --------
    >>> rock_paper_scissors().labels[0]
    ('rock', 'paper', 'scissors')
    """
    moves = ("rock", "paper", "scissors")
    return matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], moves, moves, "rps")


def rpst() -> NormalForm:
    """Make rock-paper-scissors-toothpick, where player 1 has a fourth action that is a gift.

    The toothpick loses against rock, paper and scissors alike (4, 3 and 3 points), so playing it is a gift of 10/3
    relative to the equilibrium (Ganzfried & Sandholm 2012).

    Returns
    -------
    NormalForm
        The game.

    References
    ----------
    .. [1] Ganzfried and Sandholm, "Safe opponent exploitation", EC 2012.

    Examples
    --------
    >>> rpst().table[:, 3, 0].tolist()
    [4.0, 3.0, 3.0]
    """
    return matrix(
        [[0, -1, 1, 4], [1, 0, -1, 3], [-1, 1, 0, 3]],
        ("rock", "paper", "scissors"),
        ("rock", "paper", "scissors", "toothpick"),
        "rpst",
    )
