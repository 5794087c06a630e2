"""Hands on record: what was played, as arrays, whatever it was read from.

    hands, refused = read_hands("heads_up.phhs.gz")
    hands.betting(7).line, hands.won[7]

Hands of one record have the same deck and the same kind of betting; blinds, stacks and players may differ from hand to hand.
Seats are those of the ACPC: heads-up, seat 0 has the big blind. Files are read and written by `riverboat.formats.hand_files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache

import numpy as np

from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL
from riverboat.games.holdem.actions import END, HIDDEN, moves_of, play_move
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.betting_batch import FIELDS, FOLDED, states_after
from riverboat.games.holdem.match_state import settle
from riverboat.games.holdem.rules import Rules

UNKNOWN = np.iinfo(np.int64).min  # chips won, where nobody can tell


@dataclass(frozen=True, eq=False)
class Hands:
    """n hands for two players, in the order in which they were played."""

    rules: Rules  # deck and kind of betting of all of them; its blinds and stacks are those of no hand in particular
    scale: int  # chips of one unit of money: 100 where cents were played
    names: tuple[str, ...]  # of everybody who plays in any hand
    player: Array  # int32 [n, 2]: who sits in each seat, by place in `names`
    number: Array  # int64 [n]: what the file or the match calls it
    blinds: Array  # int64 [n, 2]: chips, by seat
    stacks: Array  # int64 [n, 2]: chips, by seat, blinds included
    ante: Array  # int64 [n]: chips of each seat, beside its blind
    cards: Array  # uint8 [n, 2 hands and board]: seat 0, seat 1, board; HIDDEN where nobody saw them
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END behind the last
    length: Array  # int32 [n]
    won: Array  # int64 [n, 2]: chips by seat, before rake; UNKNOWN where nobody can tell

    def __len__(self) -> int:
        return len(self.number)

    def take(self, chosen: Array) -> Hands:
        """Some of the hands, by number or by mask."""
        arrays = {f.name: getattr(self, f.name)[chosen] for f in fields(self) if f.name not in _SHARED}
        return replace(self, **arrays)

    def players(self, i: int) -> tuple[str, str]:
        """Names by seat."""
        first, second = self.player[i].tolist()
        return self.names[first], self.names[second]

    def of(self, name: str) -> Array:
        """Which hands somebody plays in. bool [n]"""
        if name not in self.names:
            raise InputError(f"player {name!r}: plays in none of these {len(self):,} hands")
        played: Array = (self.player == self.names.index(name)).any(axis=1)
        return played

    def seat_of(self, name: str) -> Array:
        """Where somebody sits in each hand, -1 where it does not play. int8 [n]"""
        who = self.names.index(name) if name in self.names else -1
        return np.where(self.player[:, 0] == who, 0, np.where(self.player[:, 1] == who, 1, -1)).astype(np.int8)

    def rules_of(self, i: int) -> Rules:
        """The rules of one hand, with its blinds and stacks."""
        return with_chips(self.rules, tuple(self.blinds[i].tolist()), tuple(self.stacks[i].tolist()), int(self.ante[i]))

    def betting(self, i: int, moves: int | None = None) -> Betting:
        """The betting of a hand, at its end or after so many moves."""
        state = Betting.start(self.rules_of(i))
        for move in self.moves[i, : self.length[i]][:moves].tolist():
            state = play_move(state, move)
        return state

    def hole(self, i: int, seat: int) -> tuple[int, ...]:
        """A player's cards; () where nobody saw them."""
        size = self.rules.hole
        cards = self.cards[i, seat * size : (seat + 1) * size].tolist()
        return () if HIDDEN in cards else tuple(cards)

    def board(self, i: int) -> tuple[int, ...]:
        """The board as far as it was dealt."""
        cards = self.cards[i, 2 * self.rules.hole :].tolist()
        return tuple(card for card in cards if card != HIDDEN)

    def seen_by(self, name: str) -> Hands:
        """The hands as somebody who plays in them saw them: where somebody folded, without the cards of the other seat and
        without those of the board that were not dealt.
        """
        hole, cards, seat = self.rules.hole, self.cards.copy(), self.seat_of(name)
        ends = self._ends()
        folded = ends[:, 8] == FOLDED
        for other in (0, 1):
            cards[folded & (seat != other), other * hole : (other + 1) * hole] = HIDDEN
        dealt = np.array(self.rules.board_sizes)[ends[:, 3]]
        undealt = np.arange(cards.shape[1] - 2 * hole) >= dealt[:, None]
        cards[:, 2 * hole :][folded[:, None] & undealt] = HIDDEN
        return replace(self, cards=cards)

    @property
    def chips(self) -> Array:
        """What tells the rules of hands apart: blinds, stacks and ante. int64 [n, 5]"""
        return np.concatenate([self.blinds, self.stacks, self.ante[:, None]], axis=1)

    def _ends(self) -> Array:
        """States of the betting at the end, as `games.holdem.betting_batch` has them. int64 [n, 9]"""
        out = np.empty((len(self), FIELDS), np.int64)
        chips, kind = np.unique(self.chips, axis=0, return_inverse=True)
        for k in range(len(chips)):
            some = np.flatnonzero(kind.reshape(-1) == k)
            moves, length = np.ascontiguousarray(self.moves[some]), np.ascontiguousarray(self.length[some])
            out[some], wrong = states_after(self.rules_of(int(some[0])), moves, length)
            if wrong is not None:
                self.betting(int(some[wrong[0]]))  # says what is wrong
        return out


_SHARED = ("rules", "scale", "names")


@lru_cache(maxsize=1 << 14)
def with_chips(rules: Rules, blinds: tuple[int, int], stacks: tuple[int, int], ante: int) -> Rules:
    """The same game with other blinds, stacks and ante; one without stacks keeps none."""
    return replace(rules, blinds=blinds, stacks=stacks if rules.stacks is not None else None, ante=ante)


@dataclass(frozen=True)
class Played:
    """One hand that is to join a record."""

    number: int
    names: tuple[str, str]  # by seat
    betting: Betting
    cards: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # of seat 0, of seat 1, on the board; () unseen
    folds: int | None = None  # the seat that showed nothing at the end, and so lost
    moves: tuple[int, ...] | None = None  # those of the betting, where they are at hand


def record(played: Sequence[Played], rules: Rules, scale: int = 1) -> Hands:
    """Hands as a record. Each has come to its end; what it won is worked out here, from its betting and cards."""
    names = list(dict.fromkeys(name for hand in played for name in hand.names))
    place = {name: k for k, name in enumerate(names)}
    n, hole, board = len(played), rules.hole, rules.board_sizes[-1]
    cards = np.full((n, 2 * hole + board), HIDDEN, np.uint8)
    lines = [moves_of(hand.betting.rules, hand.betting.line) if hand.moves is None else hand.moves for hand in played]
    moves = np.full((n, max([1, *map(len, lines)])), END, np.int32)
    for i, hand in enumerate(played):
        if hand.betting.actor != TERMINAL:
            raise InputError(f"hand {hand.number}: the betting {hand.betting.line!r} is not at its end")
        for at, part in zip((0, hole, 2 * hole), hand.cards, strict=True):
            cards[i, at : at + len(part)] = part
        moves[i, : len(lines[i])] = lines[i]
    stacks = [hand.betting.rules.stacks or (0, 0) for hand in played]
    return Hands(
        rules,
        scale,
        tuple(names),
        np.array([[place[name] for name in hand.names] for hand in played], np.int32).reshape(n, 2),
        np.array([hand.number for hand in played], np.int64),
        np.array([hand.betting.rules.blinds for hand in played], np.int64).reshape(n, 2),
        np.array(stacks, np.int64).reshape(n, 2),
        np.array([hand.betting.rules.ante for hand in played], np.int64),
        cards,
        moves,
        np.array([len(line) for line in lines], np.int32),
        _won(played, cards, hole),
    )


def _won(played: Sequence[Played], cards: Array, hole: int) -> Array:
    """Chips by seat: the stake of the hand to whoever folded not, to whoever showed, or to the better hand."""
    won = np.full((len(played), 2), UNKNOWN, np.int64)
    shown = (cards != HIDDEN).all(axis=1)
    better = np.zeros(len(played), np.int64)
    if shown.any():
        seen = cards[shown]
        first, second = np.delete(seen, np.s_[hole : 2 * hole], axis=1), seen[:, hole:]
        better[shown] = np.sign(rank_batch(first).astype(np.int64) - rank_batch(second).astype(np.int64))
    for i, hand in enumerate(played):
        loser = hand.betting.folded if hand.betting.folded is not None else None if shown[i] else hand.folds
        if loser is not None or shown[i]:
            sign = int(better[i]) if loser is None else 2 * loser - 1
            won[i] = settle(hand.betting, sign)
    return won


def join(parts: Iterable[Hands]) -> Hands:
    """Records of one kind of game, one after the other."""
    hands = list(parts)
    if not hands:
        raise InputError("no hands: a record has at least one part")
    first = hands[0]
    if any(kind_of_game(p) != kind_of_game(first) for p in hands):
        raise InputError("records of different games or units of money cannot be joined")
    names = tuple(dict.fromkeys(name for p in hands for name in p.names))
    most = max(p.moves.shape[1] for p in hands)
    arrays = {
        name: np.concatenate([getattr(p, name) for p in hands])
        for name in ("number", "blinds", "stacks", "ante", "cards")
    }
    return Hands(
        first.rules,
        first.scale,
        names,
        player=np.concatenate([np.array([names.index(n) for n in p.names], np.int32)[p.player] for p in hands]),
        moves=np.concatenate(
            [np.pad(p.moves, ((0, 0), (0, most - p.moves.shape[1])), constant_values=END) for p in hands]
        ),
        length=np.concatenate([p.length for p in hands]),
        won=np.concatenate([p.won for p in hands]),
        **arrays,
    )


def kind_of_game(hands: Hands) -> tuple[object, ...]:
    """What all hands of a record share; records that differ in it cannot be joined."""
    rules = hands.rules
    betting = rules.limit, rules.least_bet, rules.first, rules.stacks is None
    return hands.scale, rules.suits, rules.ranks, rules.hole, rules.board, *betting
