"""What exits of a street are worth where both go on as a blueprint says, or the opponent with one of its biases.

    leaves = Rollouts.draw(strategy, exits, board, hands, seat=0, runouts=48)

For two hands the value of an exit is a number; for two ranges it is linear in each of them. Hands are put into *groups*: the
blueprint's buckets on this board, cut further by equity. From each group a hand is drawn for each of some runouts (turn and
river together), so that a pair of groups has one number for each continuation: the mean over the runouts that both hands
leave. Pay-offs behind the exit are exact for the hands that were drawn: the probability of each end of the betting is a
product of what the two play, so all pairs are one product of matrices.

What is approximate: a hand is valued as its group, and the runouts are a sample. Cards are removed exactly. With a group for
each hand and all runouts nothing is lost, which small decks allow.

Before the flop values do not depend on any card: each exit of the blueprint's tree has them once, kept in the user's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.cache import kept
from riverboat.core.errors import InputError, unknown
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE
from riverboat.strategies.blueprint import BlueprintStrategy
from riverboat.subgames.depth_limited.street_game import Beside

CONTINUATIONS = {"blueprint": None, "fold": FOLD, "call": CALL, "raise": RAISE}  # the move that is made more often
SHOWN = -1  # no betting behind an exit, or none that the blueprint knows
BIAS = 5.0  # how much more often (Brown, Sandholm, Amos 2018)
GROUP_SIZE = 10  # hands of a group, at most
CLASS_SIZE = 12  # the same before the flop: a class of offsuit hands, which nothing tells apart
RUNOUTS = 48
CHUNK = 8  # runouts at once
VERSION = 1  # of what is kept of exits before the flop


class Exit(NamedTuple):
    """Where a street ends at the table, and what of the blueprint stands for it."""

    node: int  # of the blueprint's tree: the first decision of the next street; SHOWN: hands are shown down there
    pot: float  # the real one


class Dealt(NamedTuple):
    """Runouts and the hands drawn for them, of the searching seat and of the other. Arrays begin [2, runouts, groups]."""

    drawn: Array  # int64: places in the list of hands
    live: Array  # bool: whether the runout leaves the hand
    weight: Array  # float32 [runouts, groups]: how many hands of a group it leaves: as much it says of the group
    rank: Array  # int64: how strong it is in the end
    buckets: Array  # int64 [..., streets]: of the blueprint
    cards: Array  # uint64: the two cards as bits


# --- groups and runouts -------------------------------------------------------------------------


def groups_of(strategy: BlueprintStrategy, board: Sequence[int], hands: Array, size: int | None = None) -> Array:
    """The group of each hand: its bucket on this board, cut by equity into parts of at most `size` hands. int64 [hands]"""
    size = (GROUP_SIZE if len(board) else CLASS_SIZE) if size is None else size
    if size < 1:
        raise InputError(f"groups of {size} hands: at least 1")
    if size == 1:
        return np.arange(len(hands))
    deals = np.concatenate([HAND_CARDS[hands], np.tile(np.array(board, np.uint8), (len(hands), 1))], axis=1)
    buckets = strategy.cards.buckets(deals, check=False)[:, 0, -1]
    order = np.lexsort((_strength(board, hands, strategy.rules.deck), buckets))
    groups, number = np.empty(len(hands), np.int64), 0
    for part in np.split(order, np.flatnonzero(np.diff(buckets[order])) + 1):
        for some in np.array_split(part, -(-len(part) // size)):
            groups[some] = number
            number += 1
    return groups


def _strength(board: Sequence[int], hands: Array, deck: Deck, count: int = 60) -> Array:
    """Mean share of the hands that are beaten, over some runouts. float64 [hands]"""
    left, rng = np.setdiff1d(deck.cards, board), np.random.default_rng(0)
    total, times = np.zeros(len(hands)), np.full(len(hands), 1e-9)
    for _ in range(count):
        shown = np.array([*board, *rng.choice(left, 5 - len(board), replace=False)], np.uint8)
        live = ~np.isin(HAND_CARDS[hands], shown).any(axis=1)
        cards = np.concatenate([HAND_CARDS[hands[live]], np.tile(shown, (int(live.sum()), 1))], axis=1)
        rank = rank_batch(cards, deck.rules, check=False)
        level = np.sort(rank)
        total[live] += (np.searchsorted(level, rank, "left") + np.searchsorted(level, rank, "right")) / (2 * len(rank))
        times[live] += 1
    mean: Array = total / times
    return mean


def draw_runouts(board: Sequence[int], deck: Deck, count: int | None, rng: np.random.Generator) -> Array:
    """Ways to deal the rest of a board: every next card about as often; all ways for None. uint8 [runouts, cards]"""
    left, more = np.setdiff1d(deck.cards, board), 5 - len(board)
    if count is None:
        return np.array(list(permutations(left.tolist(), more)), np.uint8)
    if count < 1:
        raise InputError(f"{count} runouts: at least 1")
    first = np.concatenate([rng.permutation(left) for _ in range(-(-count // len(left)))])[:count]
    rest = [rng.choice(left[left != card], more - 1, replace=False) for card in first]
    return np.concatenate([first[:, None], np.array(rest).reshape(count, more - 1)], axis=1).astype(np.uint8)


def deal(
    strategy: BlueprintStrategy,
    board: Sequence[int],
    hands: Array,
    groups: Array,
    runouts: Array,
    rng: np.random.Generator,
) -> Dealt:
    """Draw a hand of each group for each runout and each seat: among those that it leaves, all alike."""
    count, kinds = len(runouts), int(groups.max()) + 1
    blocked = np.zeros((count, len(hands)), bool)
    for column in runouts.T:
        blocked |= (HAND_CARDS[hands] == column[:, None, None]).any(axis=2)
    drawn = np.zeros((2, count, kinds), np.int64)
    for seat in (0, 1):
        key = rng.random((count, len(hands))) + 2.0 * blocked
        order = np.lexsort((key, np.broadcast_to(groups, key.shape)), axis=1)
        drawn[seat] = order[:, np.searchsorted(groups[order[0]], np.arange(kinds))]
    live = ~np.take_along_axis(blocked[None], drawn, axis=2)
    weight = (~blocked).astype(np.float32) @ (groups[:, None] == np.arange(kinds)).astype(np.float32)
    shown = np.concatenate([np.tile(np.array(board, np.uint8), (count, 1)), runouts], axis=1)
    deals = np.concatenate(
        [HAND_CARDS[hands][drawn], np.broadcast_to(shown[:, None], (2, count, kinds, shown.shape[1]))], axis=3
    )
    rank = np.zeros(live.shape, np.int64)
    rank[live] = rank_batch(np.ascontiguousarray(deals[live]), strategy.rules.deck.rules, check=False)
    buckets = np.zeros((*live.shape, strategy.rules.rounds), np.int64)
    buckets[live] = strategy.cards.buckets(deals[live], check=False)[:, 0]
    bits = (np.uint64(1) << HAND_CARDS[hands].astype(np.uint64)).sum(axis=1)
    return Dealt(drawn, live, weight, rank, buckets, bits[drawn])


# --- what is played behind an exit --------------------------------------------------------------


class Ends(NamedTuple):
    """The ends of the betting behind an exit."""

    showdown: Array  # bool [ends]
    pay: Array  # float32 [ends]: over the whole hand: after a fold what seat 0 wins, at a showdown what the winner wins
    reach: dict[int, Array]  # float32 [buckets, ends] by street: how often a seat plays so


def ends_of(strategy: BlueprintStrategy, node: int, seat: int, rows: dict[int, Array], more: int | None = None) -> Ends:
    """What a seat plays behind a node with some buckets of each street; `more`: a kind of move that it makes more often."""
    tree = strategy.tree
    begin = {street: np.ones(len(some), np.float32) for street, some in rows.items()}
    work, ends, reached = [(node, begin)], [], []
    while work:
        here, reach = work.pop()
        if tree.actor[here] < 0:
            ends.append(here)
            reached.append(reach)
            continue
        children, street = tree.children(here), int(tree.street[here])
        if tree.actor[here] != seat:
            work += [(child, reach) for child in children]
            continue
        shares = strategy.probabilities(here, rows[street])
        if more is not None:
            shares = shares * np.where(tree.kind[children.start : children.stop] == more, BIAS, 1.0)
            shares = shares / shares.sum(axis=1, keepdims=True)
        for share, child in zip(shares.T, children, strict=True):
            work.append((child, {**reach, street: reach[street] * share.astype(np.float32)}))
    showdown = tree.showdown[ends]
    by_street = {street: np.stack([reach[street] for reach in reached], axis=1) for street in rows}
    return Ends(showdown, tree.pay[ends].astype(np.float32), by_street)


class Rollouts:
    """`Leaves` by rollouts: a number for each exit, continuation of the opponent, and pair of groups."""

    def __init__(self, hands: Array, groups: Array, values: Array, pots: Array) -> None:
        """`values`: float32 [exits, ways, groups of the other seat, groups of the searching seat], to the other seat."""
        self.values, self.pots, self.groups = values, pots, groups
        self.choices = values.shape[1]
        kinds, n = values.shape[2], len(hands)
        self.even = ~(values[:, 1:] != values[:, :1]).any(axis=(1, 2, 3))  # all-in: however the opponent goes on
        self.first = np.ascontiguousarray(values[self.even, :1])
        self.open = np.ascontiguousarray(values[~self.even])
        self.kinds, self.beside = kinds, Beside(hands)
        rows = np.concatenate([groups * 53 + 52, *(groups * 53 + card for card in self.beside.cards.T)])
        ones = np.ones(3 * n, np.float32)
        self.sums = csr_array((ones, (rows, np.tile(np.arange(n), 3))), shape=(53 * kinds, n))
        self.same = values[:, :, groups, groups]  # of a pair of hands of one group

    @staticmethod
    def draw(
        strategy: BlueprintStrategy,
        exits: Sequence[Exit],
        board: Sequence[int],
        hands: Array,
        seat: int,
        *,
        groups: Array | None = None,
        runouts: int | None = RUNOUTS,
        ways: Sequence[str] = tuple(CONTINUATIONS),
        seed: int = 0,
    ) -> Rollouts:
        """Values for the search of a seat; `runouts` of None takes all."""
        for way in ways:
            if way not in CONTINUATIONS:
                raise unknown("continuation", way, CONTINUATIONS)
        rng, own = np.random.default_rng([seed, *board]), groups
        groups = groups_of(strategy, board, hands) if own is None else own
        streets = range(strategy.rules.board_sizes.index(len(board)) + 1, strategy.rules.rounds)
        more = [CONTINUATIONS[way] for way in ways]

        @cache
        def dealt() -> Dealt:
            return deal(strategy, board, hands, groups, draw_runouts(board, strategy.rules.deck, runouts, rng), rng)

        def once(node: int) -> Array:
            name = f"exits-{VERSION}-{node}-{strategy.fingerprint}-{seat}-{runouts}-{'-'.join(ways)}-{seed}"
            return kept(name, lambda: {"values": rolled_out(strategy, [node], dealt(), streets, seat, more)[0]})[
                "values"
            ]

        if len(board) or own is not None or runouts is None:
            values = rolled_out(strategy, [e.node for e in exits], dealt(), streets, seat, more)
        else:  # the same for every hand that is ever played
            values = np.stack([once(e.node) for e in exits])
        pots = np.array([e.pot for e in exits], np.float32)
        return Rollouts(hands, groups, values * pots[:, None, None, None], pots)

    # --- as `Leaves` ----------------------------------------------------------------------------

    def chooser(self, reach: Array) -> Array:
        """To the other seat, for each way."""
        own = reach[0]
        grouped = (self.sums @ own.T.astype(np.float32)).T.reshape(len(own), 1, self.kinds, 53)
        out = np.empty((len(own), self.choices, own.shape[1]))
        out[self.even] = self._hands(self.first @ grouped[self.even])
        out[~self.even] = self._hands(self.open @ grouped[~self.even])
        out += own[:, None] * self.same
        return out

    def searcher(self, reach: Array, picked: Array) -> Array:
        """To the searching seat: what is left of the pot."""
        exits, _, n = picked.shape
        lost = np.empty((exits, n))
        for some, values, weights in (
            (self.even, self.first, picked[self.even].sum(axis=1, keepdims=True)),
            (~self.even, self.open, picked[~self.even]),
        ):
            grouped = (self.sums @ weights.reshape(-1, n).T.astype(np.float32)).T
            sums = values.swapaxes(2, 3) @ grouped.reshape(*weights.shape[:2], self.kinds, 53)
            lost[some] = self._hands(sums.sum(axis=1, keepdims=True))[:, 0]
        lost += (picked * self.same).sum(axis=1)
        return self.pots[:, None] * self.beside(picked.sum(axis=1)) - lost

    def _hands(self, sums: Array) -> Array:
        """Sums over groups, in all and by card, as sums over what hands leave. [..., groups, 53] -> [..., hands]"""
        first, second = self.beside.cards.T
        flat = sums.reshape(*sums.shape[:2], 53 * self.kinds)
        at = self.groups * 53
        left: Array = flat[..., at + 52] - flat[..., at + first] - flat[..., at + second]
        return left


def rolled_out(
    strategy: BlueprintStrategy,
    nodes: Sequence[int],
    dealt: Dealt,
    streets: Sequence[int],
    seat: int,
    ways: Sequence[int | None],
) -> Array:
    """To the opponent of a seat, behind each node and for each way, of pairs of groups. float32 [nodes, ways, groups, groups]

    In pots of the node. `streets` are those that are still to come. A pair that no runout left gets the mean over all others.
    """
    tree, other = strategy.tree, 1 - seat
    unique = {street: np.unique(dealt.buckets[..., street], return_inverse=True) for street in streets}
    rows = {street: some for street, (some, _) in unique.items()}
    place = {street: at.reshape(dealt.live.shape) for street, (_, at) in unique.items()}
    count, kinds = dealt.live.shape[1:]
    out, times = np.zeros((len(nodes), len(ways), kinds, kinds), np.float32), np.zeros((kinds, kinds), np.float32)
    parts = [slice(begin, begin + CHUNK) for begin in range(0, count, CHUNK)]
    meets, beats = [], []
    for some in parts:
        live = dealt.live[1, some, :, None] & dealt.live[0, some, None, :]
        live &= (dealt.cards[1, some, :, None] & dealt.cards[0, some, None, :]) == 0
        meets.append(dealt.weight[some, :, None] * dealt.weight[some, None, :] * live)
        beats.append(
            np.sign(dealt.rank[1, some, :, None] - dealt.rank[0, some, None, :]).astype(np.float32) * meets[-1]
        )
        times += meets[-1].sum(axis=0)
    for e, node in enumerate(nodes):
        if node == SHOWN:
            out[e] += sum((meet + beat).sum(axis=0) for meet, beat in zip(meets, beats, strict=True)) / 2
            continue
        own, pot = ends_of(strategy, node, seat, rows), float(tree.spent[node].sum())
        flat_pay = np.where(own.showdown, 0.0, own.pay if other == 0 else -own.pay) + float(tree.spent[node, other])
        flat_pay, shown_pay = (
            (flat_pay / pot).astype(np.float32),
            np.where(own.showdown, own.pay / pot, 0.0).astype(np.float32),
        )
        for w, way in enumerate(ways):
            theirs = ends_of(strategy, node, other, rows, way)
            for k, some in enumerate(parts):
                mine = _played(own, {s: at[0, some] for s, at in place.items()}).swapaxes(1, 2)
                reach = _played(theirs, {s: at[1, some] for s, at in place.items()})
                flat = np.matmul(reach * flat_pay, mine)
                out[e, w] += (flat * meets[k] + np.matmul(reach * shown_pay, mine) * beats[k]).sum(axis=0)
    met = times > 0
    out /= np.where(met, times, 1.0)
    mean = (out * met).sum(axis=(2, 3)) / max(int(met.sum()), 1)
    filled: Array = np.where(met, out, mean[:, :, None, None])
    return filled


def _played(ends: Ends, place: dict[int, Array]) -> Array:
    """How often each drawn hand plays to each end. float32 [runouts, groups, ends]"""
    out: Array | None = None
    for street, rows in place.items():
        part = ends.reach[street][rows]
        out = part if out is None else out * part
    assert out is not None
    return out
