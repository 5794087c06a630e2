"""Recorded no-limit hold'em hands of any number of players, as sites and PHH files describe them.

    for step in replay(hand):
        step.player, step.street, step.to_call, step.pot, step.action

Players stand in the order in which they act after the flop: the first one has the small blind, the last one the button;
heads-up, the first one has the big blind and the last one the button. Amounts are whole chips, `scale` to the unit of
money. Unlike `hand_records`, which holds two players as arrays for agents, this is one object for each hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from riverboat.cards.ranking import rank_batch
from riverboat.core.errors import InputError
from riverboat.games.holdem.betting_rules import CALL, FOLD

BOARD_SIZES = (0, 3, 4, 5)  # cards on the board, by street
HEADS_UP = 2
LATE_POSITIONS = ("LJ", "HJ", "CO", "BTN")
EARLY_POSITIONS = ("UTG", "UTG+1", "UTG+2", "UTG+3")
BLIND_POSITIONS = ("SB", "BB")


@dataclass(frozen=True, slots=True)
class TableHand:
    """One hand of a table.

    Attributes
    ----------
    names
        Players, in the order of action after the flop.
    stacks
        Chips that each player may bet, before antes and blinds; in cap games at most the cap.
    blinds
        Blinds and straddles of each player; negative for live posts out of turn, as in PHH.
    actions
        Player and FOLD, CALL (also checks) or the total of the round after a bet or raise ("raise to").
    big_blind
        The table's big blind, whoever posted it.
    holes
        Hole cards; () if unknown.
    boards
        Board cards; several boards if the hand was run more than once.
    collected
        Chips that each player got from the pot; uncalled bets are not part of it.
    rake
        Chips that the house took, with all fees.
    antes
        Antes and dead blinds of each player.
    added
        Chips that the house put into the pot.
    hero
        Player whose cards the site showed from the start; -1 if nobody's.
    ante
        The table's ante; what players paid beyond it are dead blinds.
    seats
        Numbers of the seats.
    scale
        Chips per unit of money: 100 if chips are cents.
    number, site, time, table, currency, tournament
        What the site wrote about the hand; the currency is "" for play money and tournament chips.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, FOLD), (1, FOLD)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0,
    ... )
    >>> hand.winnings, hand.positions
    ((-1, -2, 3), ('SB', 'BB', 'BTN'))
    """

    names: tuple[str, ...]
    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    actions: tuple[tuple[int, int], ...]
    big_blind: int
    holes: tuple[tuple[int, ...], ...]
    boards: tuple[tuple[int, ...], ...]
    collected: tuple[int, ...]
    rake: int
    antes: tuple[int, ...] = ()
    added: int = 0
    hero: int = -1
    ante: int = 0
    seats: tuple[int, ...] = ()
    scale: int = 100
    number: str = ""
    site: str = ""
    time: str = ""
    table: str = ""
    currency: str = ""
    tournament: str = ""

    @property
    def players(self) -> int:
        """Number of players dealt in."""
        return len(self.names)

    @property
    def positions(self) -> tuple[str, ...]:
        """Names of the positions of all players, from the first one to act after the flop to the button."""
        if self.players > HEADS_UP and self.blinds[0] >= self.big_blind > 0:  # nobody has the small blind
            return positions(self.players + 1)[1:]
        return positions(self.players)

    @property
    def contributed(self) -> tuple[int, ...]:
        """Chips that each player put into the pot, without the uncalled bet."""
        table = Table(self)
        for player, action in self.actions:
            table.play(player, action)
        return tuple(table.called())

    @property
    def winnings(self) -> tuple[int, ...]:
        """Chips that each player won, after rake."""
        return tuple(got - put for got, put in zip(self.collected, self.contributed, strict=True))

    @property
    def small_blind(self) -> int:
        """The smallest blind that was posted in turn, or half of the big blind if there is none."""
        return min((blind for blind in self.blinds if 0 < blind < self.big_blind), default=self.big_blind // 2)


def positions(players: int) -> tuple[str, ...]:
    """Return the names of the positions of a table, in the order of action after the flop.

    Parameters
    ----------
    players
        Number of players, at least two.

    Returns
    -------
    tuple of str
        SB, BB, UTG, …, CO, BTN; heads-up BB and BTN.

    Examples
    --------
    >>> positions(6)
    ('SB', 'BB', 'UTG', 'HJ', 'CO', 'BTN')
    >>> positions(2)
    ('BB', 'BTN')
    """
    if players == HEADS_UP:
        return "BB", "BTN"
    others = players - len(BLIND_POSITIONS)
    if others < 4:
        return (*BLIND_POSITIONS, *LATE_POSITIONS[-others:])
    late = LATE_POSITIONS[1:] if others == 4 else LATE_POSITIONS
    return (*BLIND_POSITIONS, *EARLY_POSITIONS[: others - len(late)], *late)


class Step(NamedTuple):
    """An action and the state before it. Amounts in chips."""

    player: int
    street: int  # 0 before the flop
    action: int  # FOLD, CALL or the total of the round
    to_call: int  # chips that a call adds, at most the player's stack
    pot: int  # all chips in the middle
    behind: int  # chips that the player has left
    bet: int  # largest total of the round
    raises: int  # bets and raises of this round so far, without blinds
    live: int  # players who have not folded
    own: int  # total of the player in this round
    aggressor: int  # the last player who bet or raised in this round; -1: nobody
    previous_aggressor: int  # the same at the end of the previous round


class Table:
    """A replay: the state of a hand at a table, advanced action by action."""

    def __init__(self, hand: TableHand) -> None:
        n = hand.players
        self.players = n
        antes = hand.antes or (0,) * n
        dead = [min(ante, stack) for ante, stack in zip(antes, hand.stacks, strict=True)]
        self.before = dead  # chips of earlier rounds, antes and dead blinds
        self.dead = sum(dead)
        self.own = [
            min(abs(blind), stack - ante) for blind, stack, ante in zip(hand.blinds, hand.stacks, dead, strict=True)
        ]
        self.behind = [stack - ante - own for stack, ante, own in zip(hand.stacks, dead, self.own, strict=True)]
        self.folded = [False] * n
        self.acted = [False] * n
        self.street, self.raises, self.aggressor, self.previous_aggressor = 0, 0, -1, -1
        forced = [max(blind, 0) for blind in hand.blinds]
        self.bet = max(*self.own, hand.big_blind if any(hand.blinds) else 0)
        last = max(range(n), key=lambda k: (forced[k], k)) if any(forced) else n - 1
        self.actor = self._next(last)

    def _can_act(self, player: int) -> bool:
        return not self.folded[player] and self.behind[player] > 0

    def _next(self, player: int) -> int:
        """Return the next player who must act in this round; -1 if there is none."""
        live = [k for k in range(self.players) if not self.folded[k]]
        if len(live) < 2:
            return -1
        for step in range(1, self.players + 1):
            k = (player + step) % self.players
            if not self._can_act(k) or (self.acted[k] and self.own[k] >= self.bet):
                continue
            others = [j for j in live if j != k]
            if any(self.behind[j] > 0 for j in others) or self.own[k] < max(self.own[j] for j in others):
                return k
        return -1

    @property
    def live(self) -> int:
        """Number of players who have not folded."""
        return self.players - sum(self.folded)

    @property
    def finished(self) -> bool:
        """Whether no further action is possible."""
        if self.live < 2:
            return True
        if self.actor >= 0:
            return False
        return self.street == 3 or sum(map(self._can_act, range(self.players))) < 2

    def next_street(self) -> None:
        """Begin the next betting round."""
        self.before = [a + b for a, b in zip(self.before, self.own, strict=True)]
        self.own = [0] * self.players
        self.acted = [False] * self.players
        self.previous_aggressor = self.aggressor
        self.street, self.bet, self.raises, self.aggressor = self.street + 1, 0, 0, -1
        self.actor = self._next(self.players - 1)

    def to_call(self, player: int) -> int:
        """Return the chips that a call adds: not more than the others can win if all of them are all-in."""
        others = [k for k in range(self.players) if k != player and not self.folded[k]]
        bet = self.bet
        if not any(self.behind[k] for k in others):
            bet = max((self.own[k] for k in others), default=0)
        return min(max(bet - self.own[player], 0), self.behind[player])

    def step(self, player: int, action: int) -> Step:
        """Describe an action in the current state."""
        to_call = self.to_call(player)
        pot = sum(self.before) + sum(self.own)
        return Step(
            player, self.street, action, to_call, pot, self.behind[player], self.bet, self.raises, self.live,
            self.own[player], self.aggressor, self.previous_aggressor,
        )  # fmt: skip

    def play(self, player: int, action: int) -> None:
        """Play an action; the next street begins by itself when another player has to act there.

        Raises InputError if it is another player's turn or the amount is impossible.
        """
        while self.actor < 0 and not self.finished:
            self.next_street()
        if player != self.actor:
            whose = f"player {self.actor + 1}'s turn" if self.actor >= 0 else "the end of the betting"
            raise InputError(f"player {player + 1} acts, but it is {whose}")
        if action == FOLD:
            self.folded[player] = True
        else:
            added = self.to_call(player) if action == CALL else action - self.own[player]
            total = self.own[player] + added
            if added > self.behind[player]:
                raise InputError(f"player {player + 1} puts in {added} of {self.behind[player]} chips")
            if action != CALL and total <= self.bet:
                raise InputError(f"player {player + 1} raises to {total}, not above {self.bet}")
            self.own[player] += added
            self.behind[player] -= added
            if action != CALL:
                self.bet, self.aggressor = total, player
                self.raises += 1
                self.acted = [False] * self.players
        self.acted[player] = True
        self.actor = self._next(player)

    def called(self) -> list[int]:
        """Return the chips of each player in the pot, without the part of a bet that nobody called."""
        total = [a + b for a, b in zip(self.before, self.own, strict=True)]
        # only the current round can have an uncalled bet: earlier rounds ended with equal totals or all-ins
        top = max(range(self.players), key=self.own.__getitem__)
        second = max((own for k, own in enumerate(self.own) if k != top), default=0)
        total[top] -= self.own[top] - second
        return total


def replay(hand: TableHand) -> Iterator[Step]:
    """Replay a hand.

    Parameters
    ----------
    hand
        The hand.

    Yields
    ------
    Step
        Each action with the state before it.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("SB", "BB", "BTN"), stacks=(200, 200, 200), blinds=(1, 2, 0),
    ...     actions=((2, 6), (0, FOLD), (1, FOLD)), big_blind=2, holes=((), (), ()), boards=((),),
    ...     collected=(0, 0, 5), rake=0,
    ... )
    >>> [(step.player, step.to_call, step.pot) for step in replay(hand)]
    [(2, 2, 3), (0, 5, 9), (1, 4, 9)]
    """
    table = Table(hand)
    for player, action in hand.actions:
        while table.actor < 0 and not table.finished:
            table.next_street()
        yield table.step(player, action)
        table.play(player, action)


def side_pots(contributed: tuple[int, ...], folded: tuple[bool, ...]) -> list[tuple[int, tuple[int, ...]]]:
    """Divide the pot into main pot and side pots.

    Parameters
    ----------
    contributed
        Chips of each player, without an uncalled bet.
    folded
        Whether each player has folded.

    Returns
    -------
    list of tuple
        Chips of each pot and the players who can win it, the main pot first.

    Examples
    --------
    >>> side_pots((10, 30, 30, 5), (False, False, False, True))
    [(35, (0, 1, 2)), (40, (1, 2))]
    """
    levels = sorted({put for put, out in zip(contributed, folded, strict=True) if not out})
    pots, below = [], 0
    for level in levels:
        chips = sum(min(put, level) - min(put, below) for put in contributed)
        pots.append((chips, tuple(k for k, put in enumerate(contributed) if not folded[k] and put >= level)))
        below = level
    rest = sum(max(put - below, 0) for put in contributed)
    if rest and pots:
        pots[-1] = pots[-1][0] + rest, pots[-1][1]
    return pots


def pots_of(
    hand: TableHand, contributed: tuple[int, ...], folded: tuple[bool, ...]
) -> list[tuple[int, tuple[int, ...]]]:
    """Divide the pot of a hand: as `side_pots`, with dead blinds and chips of the house in the main pot.

    Parameters
    ----------
    hand
        The hand.
    contributed
        Chips of each player, without an uncalled bet.
    folded
        Whether each player has folded.

    Returns
    -------
    list of tuple
        Chips of each pot and the players who can win it, the main pot first.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("BB", "BTN"), stacks=(20, 20), blinds=(2, 1), actions=(), big_blind=2, holes=((), ()),
    ...     boards=((),), collected=(0, 0), rake=0, antes=(0, 1),
    ... )
    >>> pots_of(hand, (2, 3), (False, False))
    [(5, (0, 1))]
    """
    dead = [max(ante - hand.ante, 0) for ante in hand.antes or (0,) * hand.players]
    pots = side_pots(tuple(put - blind for put, blind in zip(contributed, dead, strict=True)), folded)
    return [(chips + (sum(dead) + hand.added if k == 0 else 0), eligible) for k, (chips, eligible) in enumerate(pots)]


def showdown_shares(hand: TableHand, contributed: tuple[int, ...], folded: tuple[bool, ...]) -> tuple[int, ...]:
    """Divide all pots by the hands shown, without rake; odd chips go to the first winner after the button.

    Parameters
    ----------
    hand
        A hand in which all players left have known cards.
    contributed
        Chips of each player, without an uncalled bet.
    folded
        Whether each player has folded.

    Returns
    -------
    tuple of int
        Chips of each player.

    Examples
    --------
    >>> hand = TableHand(
    ...     names=("BB", "BTN"), stacks=(20, 20), blinds=(2, 1), actions=((1, 20), (0, CALL)), big_blind=2,
    ...     holes=((0, 1), (48, 49)), boards=((8, 13, 22, 31, 40),), collected=(0, 0), rake=0,
    ... )
    >>> showdown_shares(hand, (20, 20), (False, False))
    (0, 40)
    """
    shares = [0] * hand.players
    live = [k for k in range(hand.players) if not folded[k]]
    runs = len(hand.boards)
    strengths = [
        dict(zip(live, rank_batch(np.array([[*hand.holes[k], *board] for k in live], np.uint8)).tolist(), strict=True))
        for board in hand.boards
    ]
    for pot, eligible in pots_of(hand, contributed, folded):
        for run, strength in enumerate(strengths):
            best = max(strength[player] for player in eligible)
            winners = [player for player in eligible if strength[player] == best]
            chips = pot // runs + (run < pot % runs)
            for place, player in enumerate(winners):
                shares[player] += chips // len(winners) + (place < chips % len(winners))
    return tuple(shares)
