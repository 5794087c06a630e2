"""Locks of a spot: strategies that are fixed at some decisions, and what makes a list of them sound.

A lock speaks of the hands of the player who acts at a line, all or some, on the cards that the line names; `*` in it is any
card. A later lock may be an exception to an earlier one, if all that it speaks of is part of that. Locks that overlap
in any other way and play differently contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from riverboat.cards.notation import show_cards, show_hand
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.boards.board_game import ANY, Dealt

if TYPE_CHECKING:
    from riverboat.games.spots.spot import Spot

NAMES = ("oop", "ip")


@dataclass(frozen=True)
class Lock:
    """A strategy that is fixed at one decision, for all hands or for some."""

    line: str  # `*` in it is any card
    strategy: tuple[tuple[str, float], ...]  # moves and their probabilities; moves left out are never made
    hands: Range | None = None  # None: all


class Reach(NamedTuple):
    """What a lock speaks of."""

    where: str  # for messages
    node: int
    dealt: Dealt
    hands: Array  # bool [1326]
    played: dict[str, float]


def check_locks(spot: Spot) -> None:
    """Raise unless every lock fits the tree and none contradicts another."""
    reached = [_reach(spot, lock, f"lock {number} at {shown(lock.line)}") for number, lock in enumerate(spot.locks, 1)]
    for first, second in combinations(reached, 2):
        shared = first.hands & second.hands
        if first.node == second.node and shared.any() and _meet(first.dealt, second.dealt):
            _check_pair(first, second, shared)


def _check_pair(first: Reach, second: Reach, shared: Array) -> None:
    """Of two locks that overlap, the later one must play the same or be an exception to the earlier one."""
    if first.played == second.played:
        return
    narrower = _within(second.dealt, first.dealt) and not (second.hands & ~first.hands).any()
    if narrower and (second.dealt != first.dealt or (first.hands & ~second.hands).any()):
        return
    raise InputError(
        f"{second.where} contradicts {first.where.partition(' at ')[0]}: both speak of {show_hand(int(shared.argmax()))} "
        "and play differently; name hands apart, or put the one for fewer hands or cards last, as an exception"
    )


def _meet(first: Dealt, second: Dealt) -> bool:
    """Whether two lines can be dealt the same cards."""
    pairs = list(zip(first, second, strict=True))
    cards = [card for a, b in pairs for card in (a or b)]  # each may be dealt once
    return all(ANY in (a, b) or a == b for a, b in pairs) and len(set(cards)) == len(cards)


def _within(inner: Dealt, outer: Dealt) -> bool:
    """Whether all that one line may be dealt may be dealt to the other."""
    return all(b in (ANY, a) for a, b in zip(inner, outer, strict=True))


def _reach(spot: Spot, lock: Lock, where: str) -> Reach:
    """What a lock speaks of, or an error that says why it cannot."""
    betting = spot.betting
    try:
        node, dealt = betting.find(lock.line, any_card=True)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    board = spot.board
    for cards in dealt:
        if cards == ANY:
            continue
        if len(cards) != 1:
            raise InputError(f"{where}: {shown(show_cards(cards))} is dealt at once; one card a street")
        if cards[0] in board or cards[0] not in spot.deck.cards:
            raise InputError(f"{where}: {show_cards(cards)} cannot be dealt; the board is {show_cards(board)}")
        board = (*board, *cards)
    player = int(betting.actor[node])
    if player < 0:
        raise InputError(f"{where}: nobody acts there; name the line to a decision")
    moves = betting.moves(node)
    for move, _ in lock.strategy:
        if move not in moves:
            raise InputError(f"{where}: {unknown('move', move, moves)}")
    chances = [chance for _, chance in lock.strategy]
    if not all(0 <= chance <= 1 for chance in chances) or abs(sum(chances) - 1) > 1e-6:
        raise InputError(f"{where}: probabilities {chances}: must be 0 to 1 and sum to 1")
    return Reach(where, node, dealt, _hands(spot, lock, player, where), {m: p for m, p in lock.strategy if p > 0})


def _hands(spot: Spot, lock: Lock, player: int, where: str) -> Array:
    """Which hands of the player a lock is for. bool [1326]"""
    held: Array = spot.weights[player] > 0
    if lock.hands is None:
        return held
    weights = lock.hands.weights
    part = np.flatnonzero((weights > 0) & (weights < 1))
    if len(part):
        raise InputError(
            f"{where}: weight {weights[part[0]]:g} of {show_hand(int(part[0]))}: a hand is locked or it is not; "
            "leave weights out of hands, and mix moves in strategy"
        )
    if not (held & (weights > 0)).any():
        raise InputError(f"{where}: {NAMES[player]} acts there and holds none of {_short(lock.hands)!r}")
    return held & (weights > 0)


def add_locks(spot: Spot, added: Sequence[Lock]) -> Spot:
    """Return a spot with more locks. Where an earlier lock speaks of the same hands, the added one holds.

    Hands that an added lock takes over leave earlier locks of the same or fewer cards. Of an earlier lock for more cards it
    is an exception, in a lock of its own.
    """
    for lock in added:
        new = _reach(spot, lock, f"lock at {shown(lock.line)}")
        older: list[Lock] = []
        apart = new.hands
        exceptions: list[Array] = []
        for old in spot.locks:
            known = _reach(spot, old, f"lock at {shown(old.line)}")
            if known.node == new.node and _within(known.dealt, new.dealt):
                left = known.hands & ~new.hands
                older += [replace(old, hands=Range(left.astype(float)))] if left.any() else []
                continue
            older.append(old)
            if known.node == new.node and _within(new.dealt, known.dealt) and (apart & known.hands).any():
                exceptions.append(apart & known.hands)
                apart = apart & ~known.hands
        whole = [lock] if not exceptions else []
        parts = [replace(lock, hands=Range(hands.astype(float))) for hands in (apart, *exceptions) if hands.any()]
        spot = replace(spot, locks=(*older, *(whole or parts)))
    check_locks(spot)
    return spot


def locked_hands(spot: Spot, node: int, dealt: Dealt) -> Array:
    """Return which hands of the player to act are locked at a node of the betting after some deals. bool [1326]"""
    out: Array = np.zeros(len(spot.weights[0]), bool)
    for lock in spot.locks:
        known = _reach(spot, lock, f"lock at {shown(lock.line)}")
        if known.node == node and _within(dealt, known.dealt):
            out |= known.hands
    return out


def unreachable(spot: Spot) -> Iterator[str]:
    """For each lock that no hand can reach, since others rule out the moves that lead there: a sentence that says so."""
    betting = spot.betting
    reached = [_reach(spot, lock, f"lock {number} at {shown(lock.line)}") for number, lock in enumerate(spot.locks, 1)]
    for lock in reached:
        for gate in reached:
            steps = [child for child in betting.children(gate.node) if child <= lock.node < betting.end[child]]
            if not steps:
                continue
            move = betting.label[steps[0]]
            some = any(move in other.played for other in reached if other.node == gate.node)  # perhaps an exception
            everyone = (gate.hands == (spot.weights[int(betting.actor[gate.node])] > 0)).all()
            if everyone and not some and _within(lock.dealt[: len(gate.dealt)], gate.dealt):
                yield f"{lock.where} is never reached: {gate.where} plays no {move}"
                break


def _short(held: Range) -> str:
    text = str(held)
    return text if len(text) <= 40 else text[:39] + "…"
