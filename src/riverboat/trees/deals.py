"""The boards that may be dealt, up to the names of suits.

Permutations of suits that change neither the board at the root nor a range (nor a lock, nor what a gadget at the root says
of hands) are symmetries of a game. Boards
that a symmetry exchanges are alike: one of them stands for all, its *members*. What is left of the symmetries on a board
exchanges hands there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import comb

import numpy as np

from riverboat.cards.deck import HAND_CARDS, HANDS, SUITS, hand_index
from riverboat.cards.notation import show_cards
from riverboat.core.budget import Growth
from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame
from riverboat.trees._kernels import board as kernels

BOARD_BYTES = 4 * HANDS  # of a board in a `BoardTree`: the row of each player's hands
ROW_BYTES = 24  # of a row of hands there: where it comes from and goes to, and what it meets at a showdown


@dataclass(frozen=True, eq=False)
class Deals:
    """A tree of boards, street after street; the children of a board stand together."""

    card_maps: Array  # uint8 [symmetries, 52]: where each symmetry of the root takes a card
    hand_maps: Array  # int16 [symmetries, 1326]: and a hand
    masks: Array  # uint64 [boards]: a bit for each card of a board
    groups: tuple[Array, ...]  # int64 [symmetries left] each: those that a board keeps
    parents: Array  # int32 [boards]: the board before, -1 at the root
    street_at: tuple[int, ...]  # boards of street s are street_at[s] … street_at[s + 1] - 1
    child: Array  # int32 [boards + 1]: children of board b are child[b] … child[b + 1] - 1
    member: Array  # int32 [boards + 1]: members of board b are member[b] … member[b + 1] - 1
    member_masks: Array  # uint64 [members]: the cards dealt
    member_by: Array  # int16 [members]: the symmetry that makes them those of the board
    chance: Array  # float64 [boards]: probability of one member, given two hands that it leaves

    def cards(self, board: int) -> tuple[int, ...]:
        """The cards of a board, ascending."""
        return cards_of(int(self.masks[board]))

    def dealt(self, board: int) -> tuple[int, ...]:
        """The cards of the deal that leads to a board, ascending."""
        above = int(self.parents[board])
        return cards_of(int(self.masks[board]) & ~int(self.masks[above])) if above >= 0 else ()

    def locate(self, dealt: tuple[tuple[int, ...], ...]) -> tuple[list[int], list[Array]]:
        """The boards that stand for some deals, the root's first, and the map of hands that leads to each. int16 [1326]"""
        boards, maps = [0], [np.arange(HANDS, dtype=np.int16)]
        cards = np.arange(52, dtype=np.uint8)
        for deal in dealt:
            b = boards[-1]
            first, end = (self.member[self.child[k]] for k in (b, b + 1))
            matches = np.flatnonzero(self.member_masks[first:end] == mask_of(cards[list(deal)]))
            if not len(matches):
                raise InputError(
                    f"{show_cards(deal)} cannot be dealt on {show_cards(self.cards(b)) or 'an empty board'}"
                )
            member = first + int(matches[0])
            boards.append(int(np.searchsorted(self.member, member, "right")) - 1)
            cards = self.card_maps[self.member_by[member]][cards]
            maps.append(_hand_map(cards))
        return boards, maps


def least_bytes(game: BoardGame) -> float:
    """What the tree of a game takes at the least: no class of boards, or of hands on them, is larger than its symmetries."""
    symmetries = len(_symmetries(game)[0])
    held = sum(len(hands) for hands in game.held)
    left = len(game.deck.cards) - len(game.board)
    boards, met, need = 1, 1, 0.0  # deals so far; those that leave a hand
    for count in game.deals:
        boards *= comb(left, count)
        met *= comb(left - 2, count)
        left -= count
        need += BOARD_BYTES * boards / symmetries + ROW_BYTES * held * met / symmetries
    return need


def deals(game: BoardGame) -> Deals:
    """Lay out the boards of a game, street by street."""
    with Growth(game.name, "listing the boards of", "boards", BOARD_BYTES) as grown:
        return _deals(game, grown)


def _deals(game: BoardGame, grown: Growth) -> Deals:
    card_maps, hand_maps = _symmetries(game)
    masks, groups, parents, street_at = [mask_of(game.board)], [np.arange(len(card_maps))], [-1], [0, 1]
    child, member, chance = [1], [0, 1], [1.0]
    member_masks, member_by = [0], [0]
    for s, count in enumerate(game.deals):
        for b in range(street_at[s], street_at[s + 1]):
            grown(len(masks))
            left = np.array([c for c in game.deck.cards if not masks[b] >> int(c) & 1], np.uint8)
            if len(left) < count + 4:
                raise InputError(
                    f"{game.name}: {len(left)} cards are left before deal {s + 1}, too few for {count} and two hands"
                )
            dealt = left[_combinations(len(left), count)]
            canon, by = np.zeros(len(dealt), np.uint64), np.zeros(len(dealt), np.int16)
            kernels.orbits(dealt, card_maps[groups[b]], canon, by)
            order = np.argsort(canon, kind="stable")
            for alike in np.split(order, np.flatnonzero(np.diff(canon[order])) + 1):
                new = int(canon[alike[0]])
                masks.append(masks[b] | new)
                groups.append(np.array([g for g in groups[b] if mask_of(card_maps[g][list(cards_of(new))]) == new]))
                parents.append(b)
                member_masks += [mask_of(dealt[i]) for i in alike]
                member_by += groups[b][by[alike]].tolist()
                member.append(len(member_masks))
                chance.append(1.0 / comb(len(left) - 4, count))
            child.append(len(masks))
        street_at.append(len(masks))
    child += [len(masks)] * (len(masks) + 1 - len(child))
    return Deals(
        card_maps,
        hand_maps,
        np.array(masks, np.uint64),
        tuple(groups),
        np.array(parents, np.int32),
        tuple(street_at),
        np.array(child, np.int32),
        np.array(member, np.int32),
        np.array(member_masks, np.uint64),
        np.array(member_by, np.int16),
        np.array(chance),
    )


def _symmetries(game: BoardGame) -> tuple[Array, Array]:
    """The permutations of suits that change nothing at the root, as maps of cards and of hands."""
    suits = sorted(SUITS.index(s) for s in game.deck.suits)
    alike = list(game.weights)  # what a symmetry must keep, hand by hand
    fixed: set[int] = set()  # and the cards that it must
    parts = getattr(game, "board_parts", (game.board,))  # where it matters, which cards of the board came together
    for lock in getattr(game, "locks", ()):
        fixed |= {c for deal in game.betting.find(lock.line, game.joiner, any_card=True).dealt for c in deal}
        alike += [lock.hands.weights] if lock.hands is not None else []
    gadget = getattr(game, "gadget", None)
    alike += [] if gadget is None else [np.where(game.weights[gadget.player] > 0, v, 0.0) for v in gadget.vectors]
    card_maps, hand_maps = _suit_maps(tuple(suits))
    keeps = np.ones(len(card_maps), np.bool_)
    for part in (*parts, *((c,) for c in fixed)):
        cards = np.array(sorted(part), np.int64)
        keeps &= (np.sort(card_maps[:, cards], axis=1) == cards).all(axis=1)
    kept = [g for g in np.flatnonzero(keeps) if all(np.array_equal(w[hand_maps[g]], w) for w in alike)]
    return card_maps[kept], hand_maps[kept]


@cache
def _suit_maps(suits: tuple[int, ...]) -> tuple[Array, Array]:
    """All permutations of some suits, as maps of cards and of hands. uint8 [n, 52], int [n, hands]"""
    maps = []
    for image in permutations(suits):
        suit = np.arange(4)
        suit[list(suits)] = image
        cards = np.array([4 * (c // 4) + suit[c % 4] for c in range(52)], np.uint8)
        maps.append((cards, _hand_map(cards)))
    return np.array([cards for cards, _ in maps]), np.array([hands for _, hands in maps])


def mask_of(cards: Array | tuple[int, ...]) -> int:
    """A bit for each card."""
    return sum(1 << int(c) for c in cards)


def cards_of(mask: int) -> tuple[int, ...]:
    """The cards of a mask, ascending."""
    return tuple(c for c in range(52) if mask >> c & 1)


@cache
def _hand_numbers() -> Array:
    table = np.zeros((52, 52), np.int16)
    for a, b in combinations(range(52), 2):
        table[a, b] = table[b, a] = hand_index(a, b)
    return table


def _hand_map(cards: Array) -> Array:
    """Where a map of cards takes each hand. int16 [1326]"""
    numbers: Array = _hand_numbers()[cards[HAND_CARDS[:, 0]], cards[HAND_CARDS[:, 1]]]
    return numbers


@cache
def _combinations(count: int, cards: int) -> Array:
    """All ways to take some of `count` things. int64 [ways, cards]"""
    return np.array(list(combinations(range(count), cards)))
