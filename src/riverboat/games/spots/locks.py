"""Node locks of a spot: strategies that are fixed at some decisions, and the check that they are consistent.

A lock applies to all or some hands of the player who acts at a line, on the cards that the line names; `*` is any card.
A later lock may be an exception to an earlier one if its scope is within that of the earlier one. Locks that overlap in
any other way with different strategies contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from riverboat.cards.notation import format_cards, format_hand
from riverboat.cards.ranges import Range
from riverboat.core.arrays import Array
from riverboat.core.errors import InputError, located_errors, short_repr, unknown_name_error
from riverboat.games.boards.board_game import ANY_CARD, DealtCards
from riverboat.games.holdem.menus import SEATS

if TYPE_CHECKING:
    from riverboat.games.spots.spot import Spot


@dataclass(frozen=True)
class NodeLock:
    """A strategy that is fixed at one decision, for all hands or for some."""

    line: str  # `*` in it is any card
    strategy: tuple[tuple[str, float], ...]  # actions and their probabilities; omitted actions have probability 0
    hands: Range | None = None  # None: all


class LockScope(NamedTuple):
    """Node, deals and hands that a lock applies to, and the strategy that it fixes."""

    where: str  # name of the lock in messages
    node: int  # node of the betting tree
    dealt: DealtCards  # cards of each deal before it; ANY_CARD for `*`
    hands: Array  # bool [1326]
    played: dict[str, float]  # probability of each action that is above zero


def check_locks(spot: Spot) -> None:
    """Raise InputError unless every lock fits the tree and no two contradict each other."""
    scopes = _lock_scopes(spot)
    for first, second in combinations(scopes, 2):
        shared = first.hands & second.hands
        if first.node == second.node and shared.any() and _deals_overlap(first.dealt, second.dealt):
            _check_pair(first, second, shared)


def _check_pair(first: LockScope, second: LockScope, shared: Array) -> None:
    """Raise InputError if the second lock has another strategy than the first, and is not an exception to it.

    `shared` are the hands that both locks apply to, bool [1326].
    """
    if first.played == second.played:
        return
    narrower = _deals_within(second.dealt, first.dealt) and not (second.hands & ~first.hands).any()
    if narrower and (second.dealt != first.dealt or (first.hands & ~second.hands).any()):
        return
    raise InputError(
        f"{second.where} contradicts {first.where.partition(' at ')[0]}: both apply to {format_hand(int(shared.argmax()))} "
        "with different strategies; use different hands, or put the one for fewer hands or cards last, as an exception"
    )


def _deals_overlap(first: DealtCards, second: DealtCards) -> bool:
    """Return whether some cards match the deals of both lines, each of which may have `*`."""
    pairs = list(zip(first, second, strict=True))
    cards = [card for a, b in pairs for card in (a or b)]  # each card can be dealt once
    return all(ANY_CARD in (a, b) or a == b for a, b in pairs) and len(set(cards)) == len(cards)


def _deals_within(inner: DealtCards, outer: DealtCards) -> bool:
    """Return whether all cards that match the deals `inner` also match `outer`; `*` matches any card."""
    return all(b in (ANY_CARD, a) for a, b in zip(inner, outer, strict=True))


def _lock_scopes(spot: Spot) -> list[LockScope]:
    """Return the scopes of all locks of a spot."""
    return [_lock_scope(spot, lock, f"lock {n} at {short_repr(lock.line)}") for n, lock in enumerate(spot.locks, 1)]


def _lock_scope(spot: Spot, lock: NodeLock, where: str) -> LockScope:
    """Return the scope of a lock, or raise InputError if it does not fit the tree."""
    betting = spot.betting
    with located_errors(where):
        node, dealt = betting.find(lock.line, any_card=True)
    board = spot.board
    for cards in dealt:
        if cards == ANY_CARD:
            continue
        if len(cards) != 1:
            raise InputError(
                f"{where}: {short_repr(format_cards(cards))} cannot be dealt at once; there is one card per street"
            )
        if cards[0] in board or cards[0] not in spot.deck.cards:
            raise InputError(f"{where}: {format_cards(cards)} cannot be dealt; the board is {format_cards(board)}")
        board = (*board, *cards)
    player = int(betting.actor[node])
    if player < 0:
        raise InputError(f"{where}: nobody acts there; give the line of a decision")
    actions = betting.actions(node)
    for action, _ in lock.strategy:
        if action not in actions:
            raise InputError(f"{where}: {unknown_name_error('action', action, actions)}")
    probabilities = [probability for _, probability in lock.strategy]
    if not all(0 <= probability <= 1 for probability in probabilities) or abs(sum(probabilities) - 1) > 1e-6:
        raise InputError(f"{where}: probabilities {probabilities}: must be 0 to 1 and sum to 1")
    return LockScope(
        where, node, dealt, _scope_hands(spot, lock, player, where), {m: p for m, p in lock.strategy if p > 0}
    )


def _scope_hands(spot: Spot, lock: NodeLock, player: int, where: str) -> Array:
    """Return which hands of the player a lock applies to. bool [1326]"""
    held: Array = spot.weights[player] > 0
    if lock.hands is None:
        return held
    weights = lock.hands.weights
    partial = np.flatnonzero((weights > 0) & (weights < 1))
    if len(partial):
        raise InputError(
            f"{where}: weight {weights[partial[0]]:g} of {format_hand(int(partial[0]))}: "
            "a hand must be locked in full or not at all; omit weights in hands, and mix actions in strategy"
        )
    if not (held & (weights > 0)).any():
        raise InputError(f"{where}: {SEATS[player]} acts there and holds none of {abbreviate_range(lock.hands)!r}")
    return held & (weights > 0)


def add_locks(spot: Spot, added: Sequence[NodeLock]) -> Spot:
    """Return a spot with more locks, which take precedence over earlier ones.

    Hands of an added lock are removed from earlier locks at its node whose deals it covers. Where an earlier lock
    covers more deals (`*`), the added one is appended as an exception to it, for the hands that both have.
    """
    for lock in added:
        scope = _lock_scope(spot, lock, f"lock at {short_repr(lock.line)}")
        remaining: list[NodeLock] = []
        separate = scope.hands
        exceptions: list[Array] = []
        for old, old_scope in zip(spot.locks, _lock_scopes(spot), strict=True):
            if old_scope.node == scope.node and _deals_within(old_scope.dealt, scope.dealt):
                left = old_scope.hands & ~scope.hands
                remaining += [replace(old, hands=Range(left.astype(float)))] if left.any() else []
                continue
            remaining.append(old)
            shared = separate & old_scope.hands
            if old_scope.node == scope.node and _deals_within(scope.dealt, old_scope.dealt) and shared.any():
                exceptions.append(shared)
                separate = separate & ~old_scope.hands
        unchanged = [lock] if not exceptions else []
        parts = [replace(lock, hands=Range(hands.astype(float))) for hands in (separate, *exceptions) if hands.any()]
        spot = replace(spot, locks=(*remaining, *(unchanged or parts)))
    check_locks(spot)
    return spot


def locked_hands(spot: Spot, node: int, dealt: DealtCards) -> Array:
    """Return which hands of the player to act are locked at a node of the betting after some deals. bool [1326]"""
    out: Array = np.zeros(len(spot.weights[0]), bool)
    for scope in _lock_scopes(spot):
        if scope.node == node and _deals_within(dealt, scope.dealt):
            out |= scope.hands
    return out


def unreachable_locks(spot: Spot) -> Iterator[str]:
    """Yield a message for each lock that no hand can reach, because other locks exclude an action on the path."""
    betting = spot.betting
    scopes = _lock_scopes(spot)
    for lock in scopes:
        for blocker in scopes:
            steps = [child for child in betting.children(blocker.node) if child <= lock.node < betting.end[child]]
            if not steps:
                continue
            action = betting.label[steps[0]]
            has_exception = any(action in other.played for other in scopes if other.node == blocker.node)
            all_hands = (blocker.hands == (spot.weights[int(betting.actor[blocker.node])] > 0)).all()
            if all_hands and not has_exception and _deals_within(lock.dealt[: len(blocker.dealt)], blocker.dealt):
                yield f"{lock.where} is never reached: {blocker.where} never plays {action}"
                break


def abbreviate_range(held: Range) -> str:
    """Return a range as a text of at most 40 letters, for messages."""
    text = str(held)
    return text if len(text) <= 40 else text[:39] + "…"
