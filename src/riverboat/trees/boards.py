"""`BoardTree`: a hold'em game as betting × boards, for hands as vectors.

Betting does not look at the cards, so it is stored once (`riverboat.trees.streets`). Boards form a tree of their own:
one node for each class of boards that suits cannot tell apart. On a board, each player's hands are numbered; hands that a
remaining symmetry of suits exchanges share a row, which loses nothing. A table is [board][player][betting row, action][row],
so that whoever walks a board reads one piece of memory.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from itertools import combinations, permutations
from math import comb
from typing import NamedTuple

import numpy as np

from riverboat.cards.deck import HAND_CARDS, SUITS, hand_index
from riverboat.cards.notation import show_cards
from riverboat.cards.ranking import rank_batch
from riverboat.errors import InputError
from riverboat.games.base import TERMINAL, Array
from riverboat.games.board_game import BoardGame
from riverboat.lanes import LANES
from riverboat.trees import _board_kernels as kernels
from riverboat.trees.streets import forest, seat

HANDS = len(HAND_CARDS)
NOWHERE = kernels.NOWHERE


class Boards(NamedTuple):
    """The boards of all streets, street after street; the children of a board stand together."""

    rows: Array  # int32 [boards, 2]: of each player
    base: Array  # int64 [boards, 2]: first number of each player in a table
    child: Array  # int32 [boards + 1]: children of board b are child[b] … child[b + 1] - 1
    up_at: Array  # int64 [boards, 2]
    up: Array  # uint16 [sum of rows]: the row of the board before that a row comes from
    member: Array  # int32 [boards + 1]: boards that b stands for, members member[b] … member[b + 1] - 1
    down_at: Array  # int64 [members, 2]
    down: Array  # uint16 […]: for each row of the board before, the row it goes on in; rows[b] where it cannot
    chance: Array  # float64 [boards]: probability of one member, given two hands that it leaves
    hand_at: Array  # int64 [boards, 2]: where player p's hands begin in hand
    hands: Array  # int32 [boards, 2]: how many there are
    hand: Array  # uint16 [hands, 3]: from weak to strong: row, places in the running sums of its two cards
    rep_at: Array  # int64 [boards, 2]: where player p's rows begin in rep
    rep: Array  # uint16 [rows, 10]: row, the opponent's row with the same cards; then places in the opponent's
    # running sums: of all hands and of each card up to those that lose to mine, up to those that do not beat mine,
    # and of each card up to the end


class BoardTree:
    """A board game compiled."""

    def __init__(self, game: BoardGame) -> None:
        self.game = game
        self.name = game.name
        self.unit, self.per_chip = game.scale
        self.betting = game.betting
        self.streets = len(game.deals) + 1
        self.held = tuple(np.flatnonzero(w > 0).astype(np.int32) for w in game.weights)
        self._check()
        self._symmetries()
        self._lay_out()
        self.forest = forest(self.betting, self.streets)
        # a row of sixteen behind the last hand: vectors are walked by sixteen, and one zero must stand behind them
        self.stride = (int(self.boards_rows.max()) // LANES + 1) * LANES
        self._order()
        self._place_tables()
        self.seats = tuple(seat(self.forest, self.betting, me, self.stride) for me in (0, 1))

    def _check(self) -> None:
        if self.betting.street.max(initial=0) >= self.streets:
            raise InputError(f"{self.name}: {self.betting.street.max()} deals in the betting, {self.streets - 1} given")
        for player in (0, 1):
            if not len(self.held[player]):
                raise InputError(f"{self.name}: player {player} has no hand")
        for board in (self.game.board,):
            if len(set(board)) < len(board):
                raise InputError(f"{self.name}: a card is twice on the board {show_cards(board)}")

    # --- cards ------------------------------------------------------------------------------

    def _symmetries(self) -> None:
        """The permutations of suits that change neither the board nor a range."""
        suits = sorted(SUITS.index(s) for s in self.game.deck.suits)
        card_maps, hand_maps = [], []
        for image in permutations(suits):
            suit = np.arange(4)
            suit[suits] = image
            cards = np.array([4 * (c // 4) + suit[c % 4] for c in range(52)], np.uint8)
            hands = _HAND_INDEX[cards[HAND_CARDS[:, 0]], cards[HAND_CARDS[:, 1]]]
            fixes = {int(cards[c]) for c in self.game.board} == set(self.game.board)
            # a lock may name cards and hands that no other may stand for
            for lock in getattr(self.game, "locks", ()):
                fixes = fixes and all(
                    cards[c] == c for deal in self.betting.find(lock.line, self.game.joiner).dealt for c in deal
                )
                if lock.hands is not None:
                    fixes = fixes and np.array_equal(lock.hands.weights[hands], lock.hands.weights)
            if fixes and all(np.array_equal(w[hands], w) for w in self.game.weights):
                card_maps.append(cards)
                hand_maps.append(hands)
        self.card_maps: Array = np.array(card_maps)
        self.hand_maps: Array = np.array(hand_maps, np.int16)

    def _lay_out(self) -> None:
        """Boards and their rows, street by street."""
        root = _mask(self.game.board)
        masks: list[int] = [root]  # of all boards
        groups: list[Array] = [np.arange(len(self.card_maps))]  # symmetries that each board keeps
        self.parents: list[int] = [-1]
        self.dealt: list[tuple[int, ...]] = [()]
        self.street_at = [0, 1]
        child, member, chance = [1], [0, 1], [1.0]
        member_cards: list[int] = [0]
        member_by: list[int] = [0]
        for s, cards in enumerate(self.game.deals):
            for b in range(self.street_at[s], self.street_at[s + 1]):
                left = np.array([c for c in self.game.deck.cards if not masks[b] >> int(c) & 1], np.uint8)
                if len(left) < cards + 4:
                    raise InputError(f"{self.name}: {len(left)} cards left after {b} deals, too few for {cards} more")
                combos = left[_combinations(len(left), cards)]
                canon, by = np.zeros(len(combos), np.uint64), np.zeros(len(combos), np.int16)
                kernels.orbits(combos, self.card_maps[groups[b]], canon, by)
                order = np.argsort(canon, kind="stable")
                first = np.flatnonzero(np.concatenate([[True], canon[order][1:] != canon[order][:-1]]))
                for k, begin in enumerate(first):
                    stop = first[k + 1] if k + 1 < len(first) else len(order)
                    new = int(canon[order[begin]])
                    kept = [g for g in groups[b] if _image(new, self.card_maps[g]) == new]
                    masks.append(masks[b] | new)
                    groups.append(np.array(kept))
                    self.parents.append(b)
                    self.dealt.append(_cards(new))
                    for i in order[begin:stop]:
                        member_cards.append(_mask(combos[i]))
                        member_by.append(int(groups[b][by[i]]))
                    member.append(len(member_cards))
                    chance.append(1.0 / comb(len(left) - 4, cards))
                child.append(len(masks))
            self.street_at.append(len(masks))
        child += [len(masks)] * (len(masks) + 1 - len(child))
        self.masks, self.groups = np.array(masks, np.uint64), groups
        self._tree = np.array(child, np.int32), np.array(member, np.int32), np.array(chance)
        self._place_rows()
        self.member_masks, self.member_by = np.array(member_cards, np.uint64), np.array(member_by, np.int16)

    def _place_rows(self) -> None:
        count = len(self.masks)
        self.row_of = np.empty((count, 2, HANDS), np.uint16)
        self.boards_rows = np.zeros((count, 2), np.int32)
        self.hand_counts = np.zeros((count, 2), np.int32)
        self.rep_at = np.zeros((count, 2), np.int64)
        reps: list[Array] = []
        at = 0
        room = np.empty(HANDS, np.uint16)
        for b in range(count):
            images = self.hand_maps[self.groups[b]]
            for p in (0, 1):
                rows, hands = kernels.place_rows(
                    self.held[p], HAND_CARDS, self.masks[b], images, self.row_of[b, p], room
                )
                self.boards_rows[b, p], self.hand_counts[b, p], self.rep_at[b, p] = rows, hands, at
                reps.append(room[:rows].copy())
                at += rows
        self.rep_hand: Array = np.concatenate(reps)  # uint16: the hand that stands for each row of each board

    def reps(self, board: int, player: int) -> Array:
        """The hands that stand for a player's rows on a board. uint16 [rows]"""
        at = self.rep_at[board, player]
        return self.rep_hand[at : at + self.boards_rows[board, player]]

    def _order(self) -> None:
        """Maps between boards, and hands by strength on the boards of the last street."""
        count, rows = len(self.masks), self.boards_rows
        child, member, chance = self._tree
        cards_of, by = self.member_masks, self.member_by
        up = np.zeros(int(rows.sum()), np.uint16)
        above = np.array(self.parents)
        sizes = np.zeros((len(cards_of), 2), np.int64)
        for b in range(1, count):
            sizes[member[b] : member[b + 1]] = rows[above[b]]
        down_at = np.concatenate([[0], np.cumsum(sizes)])[:-1].reshape(-1, 2)
        down = np.zeros(int(sizes.sum()), np.uint16)
        hand_at = np.concatenate([[0], np.cumsum(self.hand_counts)])[:-1].reshape(-1, 2)
        hand = np.zeros((int(self.hand_counts.sum()), 3), np.uint16)
        rep = np.zeros((int(rows.sum()), 10), np.uint16)
        start, fill = np.zeros(53, np.int32), np.zeros(52, np.int32)
        alike, plain = np.zeros(HANDS, np.uint16), np.arange(HANDS, dtype=np.int16)
        last = self.street_at[-2]
        for low in range(0, count, 256):  # strengths of a few boards at a time
            strength, order = self._strengths(max(low, last), min(low + 256, count))
            for b in range(low, min(low + 256, count)):
                for p in (0, 1):
                    reps = self.reps(b, p)
                    at, n = self.rep_at[b, p], rows[b, p]
                    if b:
                        kernels.map_up(reps, self.row_of[above[b], p], up[at : at + n])
                        for m in range(member[b], member[b + 1]):
                            to = down_at[m, p]
                            kernels.map_down(
                                self.reps(above[b], p), self.hand_maps[by[m]], HAND_CARDS, cards_of[m],
                                self.row_of[b, p], n, down[to : to + rows[above[b], p]],
                            )  # fmt: skip
                    begin = hand_at[b, 1 - p]
                    k = b - max(low, last)
                    kernels.order_hands(
                        order[k] if b >= last else plain, strength[k] if b >= last else alike, HAND_CARDS,
                        self.row_of[b, p], reps, self.row_of[b, 1 - p], self.stride, start, fill,
                        hand[begin : begin + self.hand_counts[b, 1 - p]], rep[at : at + n],
                    )  # fmt: skip
        self._arrays = (child, self.rep_at, up, member, down_at, down, chance, hand_at, self.hand_counts, hand, rep)

    def _strengths(self, low: int, high: int) -> tuple[Array, Array]:
        """Strength of every hand on some boards of the last street, and the hands from weak to strong."""
        count, size = max(high - low, 0), len(self.game.board) + sum(self.game.deals)
        boards = np.array([_cards(int(m)) for m in self.masks[low:high]], np.uint8).reshape(count, size)
        cards = np.empty((count, HANDS, 2 + size), np.uint8)
        cards[:, :, :2], cards[:, :, 2:] = HAND_CARDS, boards[:, None, :]
        blocked = (HAND_CARDS[None, :, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
        strength = np.zeros((count, HANDS), np.uint16)
        if count:
            strength[~blocked] = rank_batch(cards[~blocked], check=False)
        return strength, np.argsort(strength, axis=1, kind="stable").astype(np.int16)

    # --- the table --------------------------------------------------------------------------

    def _place_tables(self) -> None:
        street = np.repeat(np.arange(self.streets), np.diff(self.street_at))
        sizes = self.forest.slots[street].astype(np.int64) * self.boards_rows
        base = np.concatenate([[0], np.cumsum(sizes)])
        self.table = int(base[-1])  # numbers in a table: one for each information set and action
        child, up_at, up, member, down_at, down, chance, hand_at, hands, hand, rep = self._arrays
        self.boards = Boards(
            self.boards_rows, base[:-1].reshape(-1, 2), child, up_at, up, member, down_at, down, chance,
            hand_at, hands, hand, self.rep_at, rep,
        )  # fmt: skip

    def street_of(self, board: int) -> int:
        """Deals behind a board."""
        return int(np.searchsorted(self.street_at, board, "right")) - 1

    @cached_property
    def nodes_by_street(self) -> Array:
        """Decisions of each player on each street. int64 [streets, 2]"""
        actor, first = self.forest.actor, self.forest.first
        return np.array(
            [[int((actor[first[s] : first[s + 1]] == p).sum()) for p in (0, 1)] for s in range(self.streets)]
        )

    @cached_property
    def infoset_count(self) -> int:
        """Information sets, where hands that suits cannot tell apart count once."""
        rows = np.add.reduceat(self.boards_rows, self.street_at[:-1], axis=0, dtype=np.int64)
        return int((rows * self.nodes_by_street).sum())

    @property
    def action_count(self) -> int:
        """Moves summed over the information sets: the size of a table."""
        return self.table

    @cached_property
    def layout_bytes(self) -> int:
        """Memory of the arrays that describe the tree."""
        return sum(a.nbytes for a in self.boards) + self.row_of.nbytes + self.rep_hand.nbytes

    @cached_property
    def weights(self) -> tuple[Array, Array]:
        """Deal weight of each row at the root, one hand of it. float64 [rows] each"""
        first, second = (np.asarray(self.game.weights[p])[self.reps(0, p)] for p in (0, 1))
        return first, second

    @cached_property
    def row_hands(self) -> tuple[Array, Array]:
        """How many hands share each row at the root. int64 [rows] each"""
        first, second = (np.bincount(self.row_of[0, p][self.held[p]], minlength=self.boards_rows[0, p]) for p in (0, 1))
        return first, second

    @cached_property
    def total(self) -> float:
        """Sum of the products of the weights over all pairs of hands that can be dealt together."""
        w = [np.asarray(self.game.weights[p]) for p in (0, 1)]
        by_card = [np.bincount(HAND_CARDS.ravel(), np.repeat(x, 2), minlength=52) for x in w]
        total = w[0].sum() * w[1].sum() - float(by_card[0] @ by_card[1]) + float(w[0] @ w[1])
        if not total > 1e-12 * w[0].sum() * w[1].sum():
            raise InputError(f"{self.name}: no pair of hands can be dealt")
        return float(total)

    @cached_property
    def constant(self) -> float | None:
        """What the pay-offs of a terminal sum to, in chips; None where they differ, as with rake."""
        sums = self.betting.pay.sum(axis=2)[self.betting.actor == TERMINAL]
        return float(sums.flat[0]) if np.abs(sums - sums.flat[0]).max() < 1e-9 else None

    def locate(self, dealt: tuple[tuple[int, ...], ...]) -> tuple[list[int], list[Array]]:
        """The boards that stand for some deals, the root's first, and the map of hands that leads to each. int16 [1326]"""
        boards, maps = [0], [np.arange(HANDS, dtype=np.int16)]
        cards = np.arange(52, dtype=np.uint8)
        for deal in dealt:
            b = boards[-1]
            first, end = (self.boards.member[self.boards.child[k]] for k in (b, b + 1))
            found = np.flatnonzero(self.member_masks[first:end] == _mask(tuple(cards[c] for c in deal)))
            if not len(found):
                raise InputError(f"{self.name}: {show_cards(deal)} cannot be dealt there")
            member = first + int(found[0])
            boards.append(int(np.searchsorted(self.boards.member, member, "right")) - 1)
            cards = self.card_maps[self.member_by[member]][cards]
            maps.append(_HAND_INDEX[cards[HAND_CARDS[:, 0]], cards[HAND_CARDS[:, 1]]])
        return boards, maps

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that a strategy for this tree depends on."""
        digest = hashlib.sha256()
        b = self.betting
        for array in (b.actor, b.end, b.street, b.showdown, b.pay, *self.game.weights):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((b.label, self.game.board, self.game.deals, self.game.deck)).encode())
        for lock in getattr(self.game, "locks", ()):
            digest.update(repr((lock.line, lock.strategy)).encode())
            digest.update(b"" if lock.hands is None else np.ascontiguousarray(lock.hands.weights).data)
        return digest.hexdigest()


def _hand_numbers() -> Array:
    table = np.zeros((52, 52), np.int16)
    for a, b in combinations(range(52), 2):
        table[a, b] = table[b, a] = hand_index(a, b)
    return table


_HAND_INDEX = _hand_numbers()
_COMBINATIONS: dict[tuple[int, int], Array] = {}


def _combinations(count: int, cards: int) -> Array:
    """All ways to take some of `count` things. int64 [ways, cards]"""
    if (count, cards) not in _COMBINATIONS:
        _COMBINATIONS[count, cards] = np.array(list(combinations(range(count), cards)))
    return _COMBINATIONS[count, cards]


def _mask(cards: Array | tuple[int, ...]) -> int:
    """A bit for each card."""
    return sum(1 << int(c) for c in cards)


def _cards(mask: int) -> tuple[int, ...]:
    return tuple(c for c in range(52) if mask >> c & 1)


def _image(mask: int, card_map: Array) -> int:
    return _mask(tuple(card_map[c] for c in _cards(mask)))
