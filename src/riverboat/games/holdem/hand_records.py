"""Records of played hands as arrays, independent of the file format.

    hands, skipped = read_hands("heads_up.phhs.gz")
    hands.betting(7).line, hands.won[7]

Hands of one record have the same deck and the same kind of betting; blinds, stacks and players may differ from hand to
hand. Seats are those of the ACPC: heads-up, seat 0 has the big blind. `riverboat.formats.hand_files` reads and writes
files.
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
from riverboat.games.holdem import _kernels as kernels
from riverboat.games.holdem.actions import (
    END_OF_LINE,
    FOLDED,
    HIDDEN_CARD,
    STATE_FIELDS,
    compact_rules_arrays,
    replay_lines,
)
from riverboat.games.holdem.betting import BettingState
from riverboat.games.holdem.betting_rules import UNLIMITED
from riverboat.games.holdem.match_state import payoffs_of_result
from riverboat.games.holdem.rules import PokerRules

UNKNOWN_RESULT = np.iinfo(np.int64).min  # chips won, if unknown


@dataclass(frozen=True, eq=False)
class HandRecords:
    """Records of n heads-up hands, in the order in which they were played."""

    rules: PokerRules  # deck and kind of betting of all hands; its blinds and stacks are placeholders
    scale: int  # chips per unit of money: 100 if chips are cents
    names: tuple[str, ...]  # names of all players
    player: Array  # int32 [n, 2]: player in each seat, as an index of `names`
    number: Array  # int64 [n]: number in the file or the match
    blinds: Array  # int64 [n, 2]: chips, by seat
    stacks: Array  # int64 [n, 2]: chips, by seat, including blinds
    ante: Array  # int64 [n]: chips of each seat, in addition to its blind
    cards: Array  # uint8 [n, 2 hands and board]: seat 0, seat 1, board; HIDDEN_CARD if unknown
    moves: Array  # int32 [n, most]: FOLD, CALL or the total of a raise; END_OF_LINE after the last
    length: Array  # int32 [n]
    won: Array  # int64 [n, 2]: chips by seat, before rake; UNKNOWN_RESULT if unknown

    def __len__(self) -> int:
        return len(self.number)

    def take(self, chosen: Array) -> HandRecords:
        """Return some of the hands, by index or by mask."""
        arrays = {f.name: getattr(self, f.name)[chosen] for f in fields(self) if f.name not in _SHARED_FIELDS}
        return replace(self, **arrays)

    def players(self, i: int) -> tuple[str, str]:
        """Return the names of the players, by seat."""
        first, second = self.player[i].tolist()
        return self.names[first], self.names[second]

    def played_by(self, name: str) -> Array:
        """Return a mask of the hands in which a player plays. bool [n]"""
        if name not in self.names:
            raise InputError(f"player {name!r}: plays in none of these {len(self):,} hands")
        return np.asarray((self.player == self.names.index(name)).any(axis=1))

    def seat_of(self, name: str) -> Array:
        """Return the seat of a player in each hand, -1 where it does not play. int8 [n]"""
        player = self.names.index(name) if name in self.names else -1
        return np.where(self.player[:, 0] == player, 0, np.where(self.player[:, 1] == player, 1, -1)).astype(np.int8)

    def rules_of(self, i: int) -> PokerRules:
        """Return the rules of one hand, with its blinds and stacks."""
        return with_chips(self.rules, tuple(self.blinds[i].tolist()), tuple(self.stacks[i].tolist()), int(self.ante[i]))

    def betting(self, i: int, moves: int | None = None) -> BettingState:
        """Return the betting state of a hand, at its end or after `moves` actions."""
        state = BettingState.start(self.rules_of(i))
        for action in self.moves[i, : self.length[i]][:moves].tolist():
            state = state.play(action)
        return state

    def hole(self, i: int, seat: int) -> tuple[int, ...]:
        """Return the hole cards of a seat; () if they are unknown."""
        size = self.rules.hole
        cards = self.cards[i, seat * size : (seat + 1) * size].tolist()
        return () if HIDDEN_CARD in cards else tuple(cards)

    def board(self, i: int) -> tuple[int, ...]:
        """Return the board cards that were dealt."""
        cards = self.cards[i, 2 * self.rules.hole :].tolist()
        return tuple(card for card in cards if card != HIDDEN_CARD)

    def seen_by(self, name: str) -> HandRecords:
        """Return the hands as one of their players observed them.

        After a fold, the opponent's hole cards, and board cards of streets that were not reached, are hidden.
        """
        hole, cards, seat = self.rules.hole, self.cards.copy(), self.seat_of(name)
        ends = self._final_states()
        folded = ends[:, 8] == FOLDED
        for other in (0, 1):
            cards[folded & (seat != other), other * hole : (other + 1) * hole] = HIDDEN_CARD
        dealt = np.array(self.rules.board_sizes)[ends[:, 3]]
        undealt = np.arange(cards.shape[1] - 2 * hole) >= dealt[:, None]
        cards[:, 2 * hole :][folded[:, None] & undealt] = HIDDEN_CARD
        return replace(self, cards=cards)

    @property
    def chip_settings(self) -> Array:
        """Blinds (2), stacks (2) and ante of each hand: all in which the rules of hands differ. int64 [n, 5]"""
        return np.concatenate([self.blinds, self.stacks, self.ante[:, None]], axis=1)

    def _final_states(self) -> Array:
        """Return the betting states at the end of the hands. int64 [n, STATE_FIELDS]"""
        out = np.empty((len(self), STATE_FIELDS), np.int64)
        chips, kind = np.unique(self.chip_settings, axis=0, return_inverse=True)
        for k in range(len(chips)):
            selected = np.flatnonzero(kind.reshape(-1) == k)
            moves, length = np.ascontiguousarray(self.moves[selected]), np.ascontiguousarray(self.length[selected])
            out[selected], illegal = replay_lines(self.rules_of(int(selected[0])), moves, length)
            if illegal is not None:
                self.betting(int(selected[illegal[0]]))  # raises an error that says what is wrong
        return out


_SHARED_FIELDS = ("rules", "scale", "names")


@lru_cache(maxsize=1 << 14)
def with_chips(rules: PokerRules, blinds: tuple[int, int], stacks: tuple[int, int], ante: int) -> PokerRules:
    """Return the rules with other blinds, stacks and ante; `stacks` are ignored in games without stacks."""
    return replace(rules, blinds=blinds, stacks=stacks if rules.stacks is not None else None, ante=ante)


@dataclass(frozen=True)
class RecordedHand:
    """One hand to be added to a record."""

    number: int
    names: tuple[str, str]  # by seat
    betting: BettingState
    cards: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # seat 0, seat 1, board; () if unknown
    mucked_by: int | None = None  # the seat that did not show its hand at the end, and so lost


def build_records(hands: Sequence[RecordedHand], rules: PokerRules, scale: int = 1) -> HandRecords:
    """Build a record from finished hands, and compute the chips won from their betting and cards.

    `rules` gives deck and kind of betting of all hands, `scale` the chips per unit of money.
    """
    names = list(dict.fromkeys(name for hand in hands for name in hand.names))
    index_of = {name: k for k, name in enumerate(names)}
    n, hole, board = len(hands), rules.hole, rules.board_sizes[-1]
    cards = np.full((n, 2 * hole + board), HIDDEN_CARD, np.uint8)
    lines = [hand.betting.actions for hand in hands]
    moves = np.full((n, max([1, *map(len, lines)])), END_OF_LINE, np.int32)
    for i, hand in enumerate(hands):
        if hand.betting.actor != TERMINAL:
            raise InputError(f"hand {hand.number}: the betting {hand.betting.line!r} is not finished")
        for offset, part in zip((0, hole, 2 * hole), hand.cards, strict=True):
            cards[i, offset : offset + len(part)] = part
        moves[i, : len(lines[i])] = lines[i]
    player = np.array([[index_of[name] for name in hand.names] for hand in hands], np.int32).reshape(n, 2)
    number, length = np.array([hand.number for hand in hands], np.int64), np.array([*map(len, lines)], np.int32)
    hand_rules = [hand.betting.rules for hand in hands]
    blinds = np.array([own.blinds for own in hand_rules], np.int64).reshape(n, 2)
    stacks = np.array([own.stacks or (0, 0) for own in hand_rules], np.int64).reshape(n, 2)
    ante, won = np.array([own.ante for own in hand_rules], np.int64), _chips_won(hands, cards, hole)
    chips = blinds, stacks, ante
    return HandRecords(rules, scale, tuple(names), player, number, *chips, cards, moves, length, won)


def _chips_won(played: Sequence[RecordedHand], cards: Array, hole: int) -> Array:
    """Return the chips won by seat: the stake goes to the player who did not fold, who showed, or has the better hand.

    `hole` is the number of hole cards. int64 [n, 2]; UNKNOWN_RESULT if no winner can be determined.
    """
    won = np.full((len(played), 2), UNKNOWN_RESULT, np.int64)
    shown = (cards != HIDDEN_CARD).all(axis=1)
    result = np.zeros(len(played), np.int64)
    if shown.any():
        known_cards = cards[shown]
        first, second = np.delete(known_cards, np.s_[hole : 2 * hole], axis=1), known_cards[:, hole:]
        result[shown] = np.sign(rank_batch(first).astype(np.int64) - rank_batch(second).astype(np.int64))
    for i, hand in enumerate(played):
        loser = hand.betting.folded if hand.betting.folded is not None else None if shown[i] else hand.mucked_by
        if loser is not None or shown[i]:
            sign = int(result[i]) if loser is None else 2 * loser - 1
            won[i] = payoffs_of_result(hand.betting, sign)
    return won


def concatenate_records(parts: Iterable[HandRecords]) -> HandRecords:
    """Concatenate records with equal `game_signature`; others raise InputError."""
    hands = list(parts)
    if not hands:
        raise InputError("no records to join: give at least one")
    first = hands[0]
    if any(game_signature(p) != game_signature(first) for p in hands):
        raise InputError("records of different games or units of money cannot be joined")
    names = tuple(dict.fromkeys(name for p in hands for name in p.names))
    most = max(p.moves.shape[1] for p in hands)
    shared = ("number", "blinds", "stacks", "ante", "cards", "length", "won")
    arrays = {name: np.concatenate([getattr(p, name) for p in hands]) for name in shared}
    player = np.concatenate([np.array([names.index(n) for n in p.names], np.int32)[p.player] for p in hands])
    padding = [((0, 0), (0, most - p.moves.shape[1])) for p in hands]
    moves = [np.pad(p.moves, pad, constant_values=END_OF_LINE) for p, pad in zip(hands, padding, strict=True)]
    return HandRecords(first.rules, first.scale, names, player=player, moves=np.concatenate(moves), **arrays)


def game_signature(hands: HandRecords) -> tuple[object, ...]:
    """Return scale, deck and kind of betting, which all hands of a record share; records are joined only if equal."""
    rules = hands.rules
    betting = rules.limit, rules.least_bet, rules.first, rules.stacks is None
    return hands.scale, rules.suits, rules.ranks, rules.hole, rules.board, *betting


# --- decisions ---


@dataclass(frozen=True, eq=False)
class RecordedDecisions:
    """All decisions of a record in order, with the state before each and the action. All arrays: int64 [decisions]"""

    hand: Array  # index of the hand in the record
    player: Array  # player to act, as an index of `hands.names`
    seat: Array  # seat to act
    street: Array  # betting round, from 0
    raises: Array  # bets and raises of this round so far, not counting blinds
    to_call: Array  # chips that a call adds
    larger_total: Array  # larger total of both seats, over the whole hand
    previous_aggressor: Array  # the seat that bet or raised last on the previous round; -1: nobody
    action: Array  # FOLD, CALL or the total of a raise

    def __len__(self) -> int:
        return len(self.hand)

    def take(self, chosen: Array) -> RecordedDecisions:
        """Return some of the decisions, by index or by mask."""
        return RecordedDecisions(*(getattr(self, f.name)[chosen] for f in fields(self)))


def trace_decisions(hands: HandRecords) -> RecordedDecisions:
    """Replay the hands of a record and return every decision; legality of the actions is not checked again."""
    chips = hands.chip_settings
    if hands.rules.stacks is None:
        chips[:, 2:4] = UNLIMITED
    moves, length = np.ascontiguousarray(hands.moves), np.ascontiguousarray(hands.length)
    out = np.empty((int(length.sum()), kernels.NUM_COLUMNS), np.int64)
    kernels.trace_decisions(compact_rules_arrays(hands.rules), chips, moves, length, np.zeros(10, np.int64), out)
    hand = np.repeat(np.arange(len(hands)), length)
    actions = moves[np.arange(moves.shape[1]) < length[:, None]].astype(np.int64)
    seat, street, raises, to_call, larger_total, aggressor = (column.copy() for column in out.T)
    player = hands.player[hand, seat].astype(np.int64)
    return RecordedDecisions(hand, player, seat, street, raises, to_call, larger_total, aggressor, actions)
