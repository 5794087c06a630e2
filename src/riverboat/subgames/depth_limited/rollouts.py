"""Leaf values by rollouts of a blueprint, with biased continuation strategies of the opponent (Brown, Sandholm & Amos
2018).

    leaves = RolloutLeafValues.sample(strategy, leaves, board, hands, seat=0, runouts=48)

The value of a leaf is a number for two hands, and bilinear in two ranges. Hands are put into *groups*: the blueprint's
buckets on this board, divided further by equity. For each of some runouts (turn and river together), one hand is
sampled from each group. So a pair of groups has one number for each continuation: the mean over the runouts compatible
with both hands. Payoffs after the leaf are exact for the sampled hands: the probability of each terminal is a product
of both players' reach, so that all pairs are one matrix product.

Approximations: a hand has the value of its group, and the runouts are a sample. Card removal is exact. With a group for
each hand and all runouts the values are exact, which is possible with small decks.

Before the flop, values do not depend on any card: those of each leaf of the blueprint's tree are stored in the user's
cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from itertools import permutations
from operator import mul
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from riverboat.cards.deck import HAND_CARDS, Deck
from riverboat.cards.ranking import rank_batch
from riverboat.core.arrays import Array
from riverboat.core.cache import cached_arrays
from riverboat.core.errors import InputError
from riverboat.core.validation import check_name
from riverboat.games.holdem.action_tree import CALL, FOLD, RAISE
from riverboat.strategies.blueprint import Blueprint, hand_buckets
from riverboat.subgames.depth_limited.solver import SHOWDOWN_NODE, BlueprintLeaf, CompatibleWeights

# Continuation strategies of the opponent: the kind of action that each plays more often than the blueprint.
CONTINUATIONS = {"blueprint": None, "fold": FOLD, "call": CALL, "raise": RAISE}
BIAS = 5.0  # factor on the probability of that kind (Brown, Sandholm & Amos 2018)
MAX_GROUP_SIZE = 10  # hands per group
MAX_PREFLOP_GROUP_SIZE = 12  # before the flop: a class of offsuit hands, which are strategically identical
NUM_RUNOUTS = 48
RUNOUT_BATCH = 8
CACHE_VERSION = 1  # of cached preflop leaf values


class RolloutDeals(NamedTuple):
    """Runouts and the hands sampled for them, of the searching seat and of the opponent.

    Arrays start [2, runouts, groups].
    """

    drawn: Array  # int64: indices into the list of hands
    live: Array  # bool: whether the runout does not block the hand
    weight: Array  # float32 [runouts, groups]: number of unblocked hands of a group, the weight of the sample
    rank: Array  # int64: strength at showdown
    buckets: Array  # int64 [..., streets]: buckets of the blueprint
    cards: Array  # uint64: the two cards as bits


# --- groups and runouts -------------------------------------------------------------------------


def group_hands(strategy: Blueprint, board: Sequence[int], hands: Array, size: int | None = None) -> Array:
    """Group hands by bucket on this board, divided by equity into groups of at most `size` hands. int64 [hands]"""
    size = (MAX_GROUP_SIZE if len(board) else MAX_PREFLOP_GROUP_SIZE) if size is None else size
    if size < 1:
        raise InputError(f"groups of {size} hands: must be at least 1")
    if size == 1:
        return np.arange(len(hands))
    buckets = hand_buckets(strategy.cards, HAND_CARDS[hands], board)[:, -1]
    order = np.lexsort((_mean_strength(board, hands, strategy.rules.deck), buckets))
    groups, number = np.empty(len(hands), np.int64), 0
    for bucket_hands in np.split(order, np.flatnonzero(np.diff(buckets[order])) + 1):
        for members in np.array_split(bucket_hands, -(-len(bucket_hands) // size)):
            groups[members] = number
            number += 1
    return groups


def _mean_strength(board: Sequence[int], hands: Array, deck: Deck, count: int = 60) -> Array:
    """Return the mean share of beaten hands over sampled runouts. float64 [hands]"""
    remaining, rng = np.setdiff1d(deck.cards, board), np.random.default_rng(0)
    total, counts = np.zeros(len(hands)), np.full(len(hands), 1e-9)
    for _ in range(count):
        full_board = np.array([*board, *rng.choice(remaining, 5 - len(board), replace=False)], np.uint8)
        live = ~np.isin(HAND_CARDS[hands], full_board).any(axis=1)
        cards = np.concatenate([HAND_CARDS[hands[live]], np.tile(full_board, (int(live.sum()), 1))], axis=1)
        rank = rank_batch(cards, deck.rules, check=False)
        sorted_ranks = np.sort(rank)
        below, upto = (np.searchsorted(sorted_ranks, rank, side) for side in ("left", "right"))
        total[live] += (below + upto) / (2 * len(rank))
        counts[live] += 1
    mean: Array = total / counts
    return mean


def draw_runouts(board: Sequence[int], deck: Deck, count: int | None, rng: np.random.Generator) -> Array:
    """Sample `count` runouts, stratified by the next card; None returns all runouts. uint8 [runouts, cards]"""
    remaining, num_cards = np.setdiff1d(deck.cards, board), 5 - len(board)
    if count is None:
        return np.array(list(permutations(remaining.tolist(), num_cards)), np.uint8)
    if count < 1:
        raise InputError(f"{count} runouts: must be at least 1")
    first = np.concatenate([rng.permutation(remaining) for _ in range(-(-count // len(remaining)))])[:count]
    rest = [rng.choice(remaining[remaining != card], num_cards - 1, replace=False) for card in first]
    return np.concatenate([first[:, None], np.array(rest).reshape(count, num_cards - 1)], axis=1).astype(np.uint8)


def deal_rollouts(
    strategy: Blueprint, board: Sequence[int], hands: Array, groups: Array, runouts: Array, rng: np.random.Generator
) -> RolloutDeals:
    """Sample an unblocked hand of each group for each runout and each seat, uniformly."""
    count, num_groups = len(runouts), int(groups.max()) + 1
    blocked = np.zeros((count, len(hands)), bool)
    for column in runouts.T:
        blocked |= (HAND_CARDS[hands] == column[:, None, None]).any(axis=2)
    drawn = np.zeros((2, count, num_groups), np.int64)
    for seat in (0, 1):
        key = rng.random((count, len(hands))) + 2.0 * blocked
        order = np.lexsort((key, np.broadcast_to(groups, key.shape)), axis=1)
        drawn[seat] = order[:, np.searchsorted(groups[order[0]], np.arange(num_groups))]
    live = ~np.take_along_axis(blocked[None], drawn, axis=2)
    weight = (~blocked).astype(np.float32) @ (groups[:, None] == np.arange(num_groups)).astype(np.float32)
    full_boards = np.concatenate([np.tile(np.array(board, np.uint8), (count, 1)), runouts], axis=1)
    board_cards = np.broadcast_to(full_boards[:, None], (*drawn.shape, full_boards.shape[1]))
    deals = np.concatenate([HAND_CARDS[hands][drawn], board_cards], axis=3)
    rank = np.zeros(live.shape, np.int64)
    rank[live] = rank_batch(np.ascontiguousarray(deals[live]), strategy.rules.deck.rules, check=False)
    buckets = np.zeros((*live.shape, strategy.rules.rounds), np.int64)
    buckets[live] = strategy.cards.buckets(deals[live], check=False)[:, 0]
    bits = (np.uint64(1) << HAND_CARDS[hands].astype(np.uint64)).sum(axis=1)
    return RolloutDeals(drawn, live, weight, rank, buckets, bits[drawn])


# --- continuations ------------------------------------------------------------------------------


class BettingTerminals(NamedTuple):
    """Terminals of the betting after a leaf, and a seat's reach of them."""

    showdown: Array  # bool [terminals]
    pay: Array  # float32 [terminals]: payoff of the hand: seat 0's after a fold, the winner's at a showdown
    reach: dict[int, Array]  # float32 [buckets, terminals] by street: factors whose product is the seat's reach


def terminals_after(
    strategy: Blueprint, node: int, seat: int, rows: dict[int, Array], biased_kind: int | None = None
) -> BettingTerminals:
    """Compute a seat's reach of all terminals after a node of the blueprint's tree, for some buckets of each street.

    `rows` are these buckets by street. `biased_kind` is a kind of action whose probability is multiplied by BIAS.
    """
    tree = strategy.tree
    root_reach = {street: np.ones(len(buckets), np.float32) for street, buckets in rows.items()}
    stack, terminals, reaches = [(node, root_reach)], [], []
    while stack:
        current, reach = stack.pop()
        if tree.actor[current] < 0:
            terminals.append(current)
            reaches.append(reach)
            continue
        children, street = tree.children(current), int(tree.street[current])
        if tree.actor[current] != seat:
            stack += [(child, reach) for child in children]
            continue
        probabilities = strategy.probabilities(current, rows[street])
        if biased_kind is not None:
            kinds = tree.kind[children.start : children.stop]
            probabilities = probabilities * np.where(kinds == biased_kind, BIAS, 1.0)
            probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
        for probability, child in zip(probabilities.T, children, strict=True):
            stack.append((child, {**reach, street: reach[street] * probability.astype(np.float32)}))
    showdown = tree.showdown[terminals]
    by_street = {street: np.stack([reach[street] for reach in reaches], axis=1) for street in rows}
    return BettingTerminals(showdown, tree.payoff[terminals].astype(np.float32), by_street)


class RolloutLeafValues:
    """Leaf values by rollouts: a number for each leaf, continuation of the opponent, and pair of groups."""

    def __init__(self, hands: Array, groups: Array, values: Array, pots: Array) -> None:
        """Set the values to the opponent, float32 [leaves, continuations, opponent groups, searcher groups]."""
        self.values, self.pots, self.groups = values, pots, groups
        self.num_continuations = values.shape[1]
        num_groups, n = values.shape[2], len(hands)
        # After an all-in, values are the same for all continuations.
        self.is_continuation_free = ~(values[:, 1:] != values[:, :1]).any(axis=(1, 2, 3))
        self.fixed_values = np.ascontiguousarray(values[self.is_continuation_free, :1])
        self.continuation_values = np.ascontiguousarray(values[~self.is_continuation_free])
        self.num_groups, self.compatible_weights = num_groups, CompatibleWeights(hands)
        rows = np.concatenate([groups * 53 + 52, *(groups * 53 + card for card in self.compatible_weights.cards.T)])
        ones = np.ones(3 * n, np.float32)
        self.group_sums = csr_array((ones, (rows, np.tile(np.arange(n), 3))), shape=(53 * num_groups, n))
        self.within_group_values = values[:, :, groups, groups]  # values of pairs of hands in the same group

    @staticmethod
    def sample(
        strategy: Blueprint,
        leaves: Sequence[BlueprintLeaf],
        board: Sequence[int],
        hands: Array,
        seat: int,
        *,
        groups: Array | None = None,
        runouts: int | None = NUM_RUNOUTS,
        continuations: Sequence[str] = tuple(CONTINUATIONS),
        seed: int = 0,
    ) -> RolloutLeafValues:
        """Sample rollouts from the leaves of a street for the search of a seat; `runouts=None` takes all runouts.

        `groups` has the group of each hand; the default is `group_hands`. Preflop values come from the user's cache.
        """
        for continuation in continuations:
            check_name("continuation", continuation, CONTINUATIONS)
        rng, given_groups = np.random.default_rng([seed, *board]), groups
        groups = group_hands(strategy, board, hands) if given_groups is None else given_groups
        streets = range(strategy.rules.board_sizes.index(len(board)) + 1, strategy.rules.rounds)
        biased_kinds = [CONTINUATIONS[continuation] for continuation in continuations]

        @cache
        def deals() -> RolloutDeals:
            sampled = draw_runouts(board, strategy.rules.deck, runouts, rng)
            return deal_rollouts(strategy, board, hands, groups, sampled, rng)

        def cached_values(node: int) -> Array:
            kinds = "-".join(continuations)
            name = f"exits-{CACHE_VERSION}-{node}-{strategy.fingerprint}-{seat}-{runouts}-{kinds}-{seed}"
            return cached_arrays(
                name, lambda: {"values": rollout_values(strategy, [node], deals(), streets, seat, biased_kinds)[0]}
            )["values"]

        if len(board) or given_groups is not None or runouts is None:
            values = rollout_values(strategy, [leaf.node for leaf in leaves], deals(), streets, seat, biased_kinds)
        else:  # preflop: independent of the cards
            values = np.stack([cached_values(leaf.node) for leaf in leaves])
        pots = np.array([leaf.pot for leaf in leaves], np.float32)
        return RolloutLeafValues(hands, groups, values * pots[:, None, None, None], pots)

    # --- LeafValues protocol --------------------------------------------------------------------

    def opponent_values(self, reach: Array) -> Array:
        """Return counterfactual values of the opponent for each continuation. float64 [leaves, continuations, hands]"""
        own = reach[0]
        grouped = (self.group_sums @ own.T.astype(np.float32)).T.reshape(len(own), 1, self.num_groups, 53)
        out = np.empty((len(own), self.num_continuations, own.shape[1]))
        free = self.is_continuation_free
        for mask, values in ((free, self.fixed_values), (~free, self.continuation_values)):
            out[mask] = self._groups_to_hands(values @ grouped[mask])
        out += own[:, None] * self.within_group_values
        return out

    def searcher_values(self, reach: Array, continuation_reach: Array) -> Array:
        """Return counterfactual values of the searching seat, the rest of the pot. float64 [leaves, hands]"""
        num_leaves, _, n = continuation_reach.shape
        opponent_share = np.empty((num_leaves, n))
        free = self.is_continuation_free
        fixed = free, self.fixed_values, continuation_reach[free].sum(axis=1, keepdims=True)
        for mask, values, weights in (fixed, (~free, self.continuation_values, continuation_reach[~free])):
            grouped = (self.group_sums @ weights.reshape(-1, n).T.astype(np.float32)).T
            sums = values.swapaxes(2, 3) @ grouped.reshape(*weights.shape[:2], self.num_groups, 53)
            opponent_share[mask] = self._groups_to_hands(sums.sum(axis=1, keepdims=True))[:, 0]
        opponent_share += (continuation_reach * self.within_group_values).sum(axis=1)
        return self.pots[:, None] * self.compatible_weights(continuation_reach.sum(axis=1)) - opponent_share

    def _groups_to_hands(self, sums: Array) -> Array:
        """Convert sums over groups, in total and by card, to sums over compatible hands.

        [..., groups, 53] -> [..., hands]
        """
        first, second = self.compatible_weights.cards.T
        flat = sums.reshape(*sums.shape[:2], 53 * self.num_groups)
        offset = self.groups * 53
        return flat[..., offset + 52] - flat[..., offset + first] - flat[..., offset + second]


def rollout_values(
    strategy: Blueprint,
    nodes: Sequence[int],
    deals: RolloutDeals,
    streets: Sequence[int],
    seat: int,
    continuations: Sequence[int | None],
) -> Array:
    """Compute the opponent's values after nodes, for pairs of groups. float32 [nodes, continuations, groups, groups]

    Values are in pots of the node, and the opponent's group comes first. `streets` are the later streets, and
    `continuations` kinds of actions to bias. A pair without a compatible runout gets the mean of all others.
    """
    tree, other = strategy.tree, 1 - seat
    unique = {street: np.unique(deals.buckets[..., street], return_inverse=True) for street in streets}
    rows = {street: batch for street, (batch, _) in unique.items()}
    bucket_rows = {street: index.reshape(deals.live.shape) for street, (_, index) in unique.items()}
    count, num_groups = deals.live.shape[1:]
    out = np.zeros((len(nodes), len(continuations), num_groups, num_groups), np.float32)
    total_weight = np.zeros((num_groups, num_groups), np.float32)
    batches = [slice(begin, begin + RUNOUT_BATCH) for begin in range(0, count, RUNOUT_BATCH)]
    pair_weights, signed_wins = [], []
    for batch in batches:
        live = deals.live[1, batch, :, None] & deals.live[0, batch, None, :]
        live &= (deals.cards[1, batch, :, None] & deals.cards[0, batch, None, :]) == 0
        pair_weights.append(deals.weight[batch, :, None] * deals.weight[batch, None, :] * live)
        wins = np.sign(deals.rank[1, batch, :, None] - deals.rank[0, batch, None, :]).astype(np.float32)
        signed_wins.append(wins * pair_weights[-1])
        total_weight += pair_weights[-1].sum(axis=0)
    for e, node in enumerate(nodes):
        if node == SHOWDOWN_NODE:
            out[e] += sum((weight + win).sum(axis=0) for weight, win in zip(pair_weights, signed_wins, strict=True)) / 2
            continue
        own_terminals, pot = terminals_after(strategy, node, seat, rows), float(tree.spent[node].sum())
        opponent_pay = own_terminals.pay if other == 0 else -own_terminals.pay
        fold_payoff = np.where(own_terminals.showdown, 0.0, opponent_pay) + float(tree.spent[node, other])
        fold_payoff = (fold_payoff / pot).astype(np.float32)
        showdown_payoff = np.where(own_terminals.showdown, own_terminals.pay / pot, 0.0).astype(np.float32)
        for c, biased_kind in enumerate(continuations):
            opponent_terminals = terminals_after(strategy, node, other, rows, biased_kind)
            for k, batch in enumerate(batches):
                own_rows, opponent_rows = ({s: rows[side, batch] for s, rows in bucket_rows.items()} for side in (0, 1))
                own_reach = _terminal_reach(own_terminals, own_rows).swapaxes(1, 2)
                reach = _terminal_reach(opponent_terminals, opponent_rows)
                fold_values = np.matmul(reach * fold_payoff, own_reach) * pair_weights[k]
                showdown_values = np.matmul(reach * showdown_payoff, own_reach) * signed_wins[k]
                out[e, c] += (fold_values + showdown_values).sum(axis=0)
    valid = total_weight > 0
    out /= np.where(valid, total_weight, 1.0)
    mean = (out * valid).sum(axis=(2, 3)) / max(int(valid.sum()), 1)
    return np.where(valid, out, mean[:, :, None, None])


def _terminal_reach(ends: BettingTerminals, bucket_rows: dict[int, Array]) -> Array:
    """Return the reach of each terminal by each sampled hand. float32 [runouts, groups, terminals]"""
    return reduce(mul, (ends.reach[street][rows] for street, rows in bucket_rows.items()))
