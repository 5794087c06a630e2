"""Push or fold: every player in turn goes all-in or folds, with any stacks, blinds, antes and prizes.

Players are in the order of action: the last two post the small and the big blind. Payoffs are chips, or the values of
the stacks by the independent chip model. A line has a letter for each player who has acted, J for jammed (or called an
all-in) and F for folded: at `JF` the third player acts behind a jam and a fold.

    spot = PushFold((10, 10, 15), blinds=(0.5, 1), payouts=(50, 30, 20))
    spot.final_stacks("JFJ", (0, None, 1))        # stacks when the first player wins against the third
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, short_repr
from riverboat.tournaments.icm import ICM, icm_values_batch

JAM, FOLD = "J", "F"
MIN_PLAYERS, MAX_PLAYERS = 2, 9
POSITIONS = ("UTG", "UTG+1", "UTG+2", "LJ", "HJ", "CO", "BTN", "SB", "BB")


@dataclass(frozen=True)
class PushFold:
    """A hand of a tournament, or of a cash game without payouts.

    Parameters
    ----------
    stacks
        Chips in the order of action, before blinds and antes; 2 to 9 players.
    blinds
        Small and big blind.
    ante
        Chips that each player pays.
    payouts
        Prizes, first place first; None for payoffs in chips.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> spot = PushFold((10, 10, 15), payouts=(50, 30, 20))
    >>> spot.positions, spot.lines
    (('BTN', 'SB', 'BB'), ('', 'J', 'F', 'JJ', 'JF', 'FJ'))
    >>> spot.final_stacks("JFJ", (0, None, 1))
    (20.5, 9.5, 5.0)
    """

    stacks: tuple[float, ...]  # in the order of action, before blinds and antes
    blinds: tuple[float, float] = (0.5, 1.0)  # small, big
    ante: float = 0.0  # paid by each player
    payouts: tuple[float, ...] | None = None  # first place first; None for payoffs in chips

    def __post_init__(self) -> None:
        if not MIN_PLAYERS <= len(self.stacks) <= MAX_PLAYERS:
            raise InputError(f"{len(self.stacks)} stacks: {MIN_PLAYERS} to {MAX_PLAYERS} players are supported")
        if self.payouts is not None:
            ICM(self.stacks, self.payouts)  # checks both
        for name, numbers in (("stacks", self.stacks), ("blinds", self.blinds), ("ante", (self.ante,))):
            for position, number in enumerate(numbers, 1):
                if not np.isfinite(number) or number < 0 or (number == 0 and name == "stacks"):
                    minimum = "above zero" if name == "stacks" else "zero or more"
                    raise InputError(f"{name}: number {position} is {short_repr(number)}: must be {minimum}")
        if len(self.blinds) != 2 or not self.blinds[0] <= self.blinds[1] or not self.blinds[1] + self.ante > 0:
            raise InputError(f"blinds {self.blinds}: give the small and the big blind, such as (0.5, 1)")

    @property
    def players(self) -> int:
        """Number of players."""
        return len(self.stacks)

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the players' positions."""
        return POSITIONS[-self.players :]

    @cached_property
    def posted(self) -> tuple[float, ...]:
        """Chips that each player posts: ante first, then blind, up to the stack."""
        blinds = (*[0.0] * (self.players - 2), *self.blinds)
        return tuple(min(stack, self.ante + blind) for stack, blind in zip(self.stacks, blinds, strict=True))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Lines at which a player acts, in the order of action; a walk needs no decision of the big blind."""
        lines = ("".join(moves) for k in range(self.players) for moves in product((JAM, FOLD), repeat=k))
        return tuple(line for line in lines if JAM in line or len(line) < self.players - 1)

    @cached_property
    def terminal_lines(self) -> tuple[str, ...]:
        """Lines at which the hand ends."""
        lines = ("".join(moves) for moves in product((JAM, FOLD), repeat=self.players))
        return tuple(line for line in lines if JAM in line[:-1] or line[-1] == FOLD)

    def final_stacks(self, line: str, order: Sequence[int | None]) -> tuple[float, ...]:
        """Return the stacks at the end of a line.

        Parameters
        ----------
        line
            One letter for each player: J all-in, F folded.
        order
            For each player all-in the number of better hands; None for the others.
        """
        all_in = [i for i, move in enumerate(line) if move == JAM] or [self.players - 1]  # or a walk of the big blind
        contributions = [self.stacks[i] if line[i] == JAM else self.posted[i] for i in range(self.players)]
        if len(all_in) == 1:
            won = [sum(contributions) * (i == all_in[0]) for i in range(self.players)]
        else:
            won = split_pots(contributions, [order[i] if i in all_in else None for i in range(self.players)])
        return tuple(stack - chips + back for stack, chips, back in zip(self.stacks, contributions, won, strict=True))

    def payoffs(self, stacks: Array) -> Array:
        """Return the payoffs of final stacks to each player: chips won, or money.

        Parameters
        ----------
        stacks
            Final stacks, float64 [n, players].
        """
        if self.payouts is None:
            return np.asarray(stacks - np.array(self.stacks))
        # prizes of eliminated players, ranked by their initial stacks, and ICM values of the others
        prizes = np.array((*self.payouts, *[0.0] * (len(self.stacks) - len(self.payouts))))
        out = np.zeros(stacks.shape)
        alive = stacks > 1e-9
        for pattern in np.unique(alive, axis=0):
            rows = np.flatnonzero((alive == pattern).all(axis=1))
            remaining = np.flatnonzero(pattern)
            out[np.ix_(rows, remaining)] = icm_values_batch(stacks[np.ix_(rows, remaining)], prizes[: len(remaining)])
            eliminated = np.flatnonzero(~pattern).tolist()
            for i in eliminated:
                out[rows, i] = elimination_prize(prizes, self.stacks, eliminated, i)
        return out

    @property
    def unit(self) -> str:
        """Unit of the payoffs."""
        return "chips" if self.payouts is None else "of the payouts"


def seat_ranks(line: str, orders: Sequence[Sequence[int]]) -> tuple[tuple[int | None, ...], ...]:
    """Return orders at showdown as the rank of every seat.

    Parameters
    ----------
    line
        Line at which the hand ends.
    orders
        Number of better hands for each seat all-in, in the order of the seats.

    Returns
    -------
    tuple
        For each order, the number of better hands for each seat all-in, None for the others.

    Examples
    --------
    >>> seat_ranks("JFJ", [(0, 1), (1, 0)])
    ((0, None, 1), (1, None, 0))
    """
    all_in = [seat for seat, move in enumerate(line) if move == JAM]
    ranks = [dict(zip(all_in, order, strict=True)) for order in orders]
    return tuple(tuple(map(rank.get, range(len(line)))) for rank in ranks)


def split_pots(contributions: Sequence[float], ranks: Sequence[int | None]) -> list[float]:
    """Return the chips that each player gets back from the main pot and the side pots.

    The best hands among the players who paid a level of chips share it. Unmatched chips go back.

    Parameters
    ----------
    contributions
        Chips that each player has put in.
    ranks
        At showdown the number of better hands; None for folded players.

    Returns
    -------
    list of float
        Chips for each player.

    Examples
    --------
    >>> split_pots([10, 5, 10], [1, 0, 1])
    [5.0, 15.0, 5.0]
    """
    back = [0.0] * len(contributions)
    low = 0.0
    for high in sorted({chips for chips in contributions if chips > 0}):
        payers = [i for i, chips in enumerate(contributions) if chips >= high]
        eligible = [i for i in payers if ranks[i] is not None]
        if not eligible:  # only folded players paid this level: the largest contributors at showdown take it
            shown = [i for i, rank in enumerate(ranks) if rank is not None]
            eligible = [i for i in shown if contributions[i] == max(contributions[other] for other in shown)]
        best = min(ranks[i] for i in eligible)  # type: ignore[type-var]
        winners = [i for i in eligible if ranks[i] == best]
        for i in winners:
            back[i] += (high - low) * len(payers) / len(winners)
        low = high
    return back


def elimination_prize(
    prizes: Sequence[float] | Array, before: Sequence[float], eliminated: list[int], seat: int
) -> float:
    """Return the prize of a player who is eliminated: ranked by initial stacks, equal stacks share their places.

    Parameters
    ----------
    prizes
        Prize of each place.
    before
        Stacks of all players before the hand.
    eliminated
        Seats of the players eliminated in this hand.
    seat
        Seat of one of them.

    Returns
    -------
    float
        The mean prize of the places that it shares.

    Examples
    --------
    >>> elimination_prize((50.0, 30.0, 20.0), (5, 4, 4), [1, 2], seat=1)
    25.0
    """
    place = len(before) - len(eliminated) + sum(before[other] > before[seat] for other in eliminated)
    tied = sum(before[other] == before[seat] for other in eliminated)
    return float(np.mean(prizes[place : place + tied]))
