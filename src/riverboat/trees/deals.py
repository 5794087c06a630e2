"""Boards that can be dealt, up to a permutation of suits.

A permutation of suits is a symmetry of a game if it changes neither the board at the root nor a range, a lock or the
values of a gadget at the root. Boards that a symmetry exchanges are equivalent: one of them represents the others, its
*members*. The symmetries that fix a board exchange hands on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from riverboat.cards.deck import FULL_DECK, HAND_CARDS, NUM_HANDS, Deck, card_masks
from riverboat.cards.isomorphism import suit_permutations
from riverboat.cards.notation import format_cards
from riverboat.core.budget import BuildMonitor
from riverboat.core.errors import InputError
from riverboat.games.base import Array
from riverboat.games.boards.board_game import BoardGame, DealtCards

BYTES_PER_BOARD = 4 * NUM_HANDS  # memory of a board in a `BoardTree`: the row of each player's hands
BYTES_PER_ROW = 24  # memory of a row of hands: maps to the parent and child boards, and the showdown layout


@dataclass(frozen=True, eq=False)
class BoardDeals:
    """Tree of boards up to suit symmetry, street by street; the children of a board are contiguous."""

    card_maps: Array  # uint8 [symmetries, 52]: image of each card under each symmetry of the root
    hand_maps: Array  # int16 [symmetries, 1326]: image of each hand
    masks: Array  # uint64 [boards]: bit mask of the cards of a board
    stabilizers: tuple[Array, ...]  # int64 [symmetries] each: the symmetries that fix a board
    parents: Array  # int32 [boards]: parent board, -1 at the root
    street_start: tuple[int, ...]  # boards of street s are street_start[s] … street_start[s + 1] - 1
    child_start: Array  # int32 [boards + 1]: children of board b are child_start[b] … child_start[b + 1] - 1
    member_start: Array  # int32 [boards + 1]: members of board b are member_start[b] … member_start[b + 1] - 1
    member_masks: Array  # uint64 [members]: bit mask of the cards dealt
    member_symmetry: Array  # int16 [members]: symmetry that maps the cards dealt to those of the representative board
    chance: Array  # float64 [boards]: probability of one member, given two hands that it does not block

    def board_cards(self, board: int) -> tuple[int, ...]:
        """Return the cards of a board, ascending."""
        return cards_of(int(self.masks[board]))

    def dealt_cards(self, board: int) -> tuple[int, ...]:
        """Return the cards of the deal that leads to a board, ascending."""
        parent = int(self.parents[board])
        return cards_of(int(self.masks[board]) & ~int(self.masks[parent])) if parent >= 0 else ()

    def deals_to(self, board: int) -> DealtCards:
        """Return the cards of each deal on the path to a board."""
        deals = []
        while board > 0:
            deals.append(self.dealt_cards(board))
            board = int(self.parents[board])
        return tuple(reversed(deals))

    def locate(self, dealt: DealtCards) -> tuple[list[int], list[Array]]:
        """Return the representative board after each deal of a path, and the map from real hands to hands on it.

        Lists begin with the root. Maps are int16 [1326]: entry h is the hand on the representative board for hand h.
        """
        boards, maps = [0], [np.arange(NUM_HANDS, dtype=np.int16)]
        cards = np.arange(52, dtype=np.uint8)
        for deal in dealt:
            b = boards[-1]
            first, end = (self.member_start[self.child_start[k]] for k in (b, b + 1))
            matches = np.flatnonzero(self.member_masks[first:end] == mask_of(cards[list(deal)]))
            if not len(matches):
                raise InputError(
                    f"{format_cards(deal)} cannot be dealt on {format_cards(self.board_cards(b)) or 'an empty board'}"
                )
            member = first + int(matches[0])
            boards.append(int(np.searchsorted(self.member_start, member, "right")) - 1)
            symmetry = self.member_symmetry[member]
            cards = self.card_maps[symmetry][cards]
            maps.append(self.hand_maps[symmetry][maps[-1]])
        return boards, maps


def min_tree_bytes(game: BoardGame) -> float:
    """Return a lower bound on the memory of a game's tree.

    No class of boards, or of hands on them, is larger than the number of symmetries.
    """
    symmetries = len(_symmetries(game)[0]) if game.deals else 1
    held = sum(len(hands) for hands in game.hand_indices)
    left = len(game.deck.cards) - len(game.board)
    boards, unblocked, size = 1, 1, 0.0  # number of deals so far; number of those that do not block a given hand
    for count in game.deals:
        boards *= comb(left, count)
        unblocked *= comb(left - 2, count)
        left -= count
        size += BYTES_PER_BOARD * boards / symmetries + BYTES_PER_ROW * held * unblocked / symmetries
    return size


def enumerate_deals(game: BoardGame) -> BoardDeals:
    """Enumerate the boards of a game up to suit symmetry, street by street."""
    with BuildMonitor(game.name, "listing the boards of", "boards", BYTES_PER_BOARD) as monitor:
        return _enumerate_street_deals(game, monitor)


def _enumerate_street_deals(game: BoardGame, grown: BuildMonitor) -> BoardDeals:
    """Enumerate the boards of a game; `grown` reports progress and limits memory."""
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
                    f"{game.name}: {len(left)} cards are left before deal {s + 1}, too few for {count} cards and two hands"
                )
            dealt = left[_combinations(len(left), count)]
            # the smallest card mask among the images of each deal, and the symmetry that maps the deal to it
            images = (np.uint64(1) << card_maps[groups[b]].astype(np.uint64))[:, dealt].sum(axis=2, dtype=np.uint64)
            canon, symmetry, deal_masks = images.min(axis=0), images.argmin(axis=0), card_masks(dealt)
            order = np.argsort(canon, kind="stable")
            for members in np.split(order, np.flatnonzero(np.diff(canon[order])) + 1):
                new = canon[members[0]]
                representative = members[np.argmax(deal_masks[members] == new)]
                masks.append(masks[b] | int(new))
                groups.append(groups[b][images[:, representative] == new])
                parents.append(b)
                member_masks += deal_masks[members].tolist()
                member_by += groups[b][symmetry[members]].tolist()
                member.append(len(member_masks))
                chance.append(1.0 / comb(len(left) - 4, count))
            child.append(len(masks))
        street_at.append(len(masks))
    child += [len(masks)] * (len(masks) + 1 - len(child))
    return BoardDeals(
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
    """Return the permutations of suits that change nothing at the root, as maps of cards and of hands."""
    invariants = list(game.weights)  # vectors over hands that a symmetry must not change
    fixed: set[int] = set()  # cards that a symmetry must fix
    parts = getattr(game, "board_parts", (game.board,))  # cards of the board by street, if the order matters
    for lock in getattr(game, "locks", ()):
        fixed |= {c for deal in game.betting.find(lock.line, game.joiner, any_card=True).dealt for c in deal}
        invariants += [lock.hands.weights] if lock.hands is not None else []
    gadget = getattr(game, "gadget", None)
    invariants += [] if gadget is None else [np.where(game.weights[gadget.player] > 0, v, 0.0) for v in gadget.vectors]
    card_maps, hand_maps = _suit_maps(game.deck)
    is_symmetry = np.ones(len(card_maps), np.bool_)
    for part in (*parts, *((c,) for c in fixed)):
        cards = np.array(sorted(part), np.int64)
        is_symmetry &= (np.sort(card_maps[:, cards], axis=1) == cards).all(axis=1)
    symmetries = [g for g in np.flatnonzero(is_symmetry) if all(np.array_equal(w[hand_maps[g]], w) for w in invariants)]
    return card_maps[symmetries], hand_maps[symmetries]


@cache
def _suit_maps(deck: Deck) -> tuple[Array, Array]:
    """Return all permutations of a deck's suits, as maps of cards and of all hands. uint8 [n, 52], int16 [n, 1326]"""
    card_maps, _ = suit_permutations(deck)
    return card_maps, np.array([FULL_DECK.hand_indices(image[HAND_CARDS]) for image in card_maps], np.int16)


def mask_of(cards: Array | tuple[int, ...]) -> int:
    """Return a bit mask of cards."""
    return sum(1 << int(c) for c in cards)


def cards_of(mask: int) -> tuple[int, ...]:
    """Return the cards of a bit mask, ascending."""
    return tuple(c for c in range(52) if mask >> c & 1)


@cache
def _combinations(count: int, cards: int) -> Array:
    """Return all subsets of size `cards` of `count` items. int64 [subsets, cards]"""
    return np.array(list(combinations(range(count), cards)))
