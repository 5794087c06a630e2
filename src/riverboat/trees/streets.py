"""Betting, street by street: what the walk over boards follows.

A betting tree is cut at its deals. The pieces that lie on one street form a forest: its roots are what the deals of the
street before lead to, its leaves are terminals and the next deals (*exits*). Exit k of a street and root k of the next
one are the two ends of one deal. On the last street roots are walked in batches, so that the terminals of several fill the
sixteen lanes in which they are paid (`riverboat.compiled.simd`), while the batch stays in the cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.simd import LANES
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.boards.board_game import BettingTree

MOST_MOVES = 127  # at one decision: they are counted in eight bits
BATCH = 112  # terminals of a batch, at most: a multiple of the lanes that leaves a core's cache for the tables


class Forest(NamedTuple):
    """The betting nodes of all streets, street after street, each in preorder."""

    first: Array  # int32 [streets + 1]: nodes of street s are first[s] … first[s + 1] - 1
    node: Array  # int32 [nodes]: which node of the betting tree it is
    actor: Array  # int8 [nodes]: player, CHANCE at an exit, TERMINAL
    end: Array  # int32 [nodes]: end of the subtree on this street
    width: Array  # int8 [nodes]
    slot: Array  # int32 [nodes]: decision: first row of its actor on this street; exit: its number on this street
    batch_at: Array  # int32 [streets + 1]: batches of street s
    batch: Array  # int32 [batches, 2]: first node, end
    deal_at: Array  # int32 [batches + 1]: deals of a batch, sixteen roots each
    root_at: Array  # int32 [batches + 1]: roots of a batch, in root
    root: Array  # int32 [roots]: nodes, street after street
    slots: Array  # int32 [streets, 2]: rows of each player on a street
    share: Array  # float64 [nodes]: the least stake of the moves at the decision above, over the node's own (`stakes`)


class Seat(NamedTuple):
    """Where a walk for one player keeps its vectors, as offsets, and how terminals pay it."""

    own: Array  # int64 [nodes]: my reach
    opp: Array  # int64 [nodes]: the opponent's
    value: Array  # int64 [nodes]
    below: Array  # int64 [nodes]: decision: the vectors of its first child, in own (my node) or opp
    lane_opp: Array  # int64 [chunks, 16]: opponent's reach at the terminals of a chunk
    lane_value: Array  # int64 [chunks, 16]: where their values go
    lane_fold: Array  # int64 [chunks, 16]: where the value of my fold goes that faces the same hands as a showdown
    pay: Array  # float64 [chunks, 4, 16]: factor on what I beat, on what I do not lose to, on everything; that of the fold
    chunk: Array  # int32 [batches, 3]: first chunk, first without showdowns, end
    exit: Array  # int64 [3, deals, 16]: own, opp and value at the exits that lead to the roots of a deal
    root: Array  # int64 [3, deals, 16]: the same at the roots
    rows: Array  # int64 [3]: vectors needed in own, opp and value


class Shape(NamedTuple):
    """What trees of one betting share, whatever their boards and ranges."""

    betting: BettingTree
    forest: Forest
    stride: int  # numbers of a vector: more than a player has rows on any board
    seats: tuple[Seat, Seat]


def shape(betting: BettingTree, streets: int, rows: int) -> Shape:
    """The shape for trees with at most so many rows on a board."""
    woods = forest(betting, streets)
    # a row of sixteen behind the last hand: vectors are walked by sixteen, and one zero must stand behind them
    stride = (rows // LANES + 1) * LANES
    return Shape(betting, woods, stride, (seat(woods, betting, 0, stride), seat(woods, betting, 1, stride)))


def forest(betting: BettingTree, streets: int) -> Forest:
    """Cut a betting tree into streets."""
    order = np.concatenate([np.flatnonzero(betting.street == s) for s in range(streets)]).astype(np.int32)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first = np.searchsorted(betting.street[order], np.arange(streets + 1)).astype(np.int32)
    actor = betting.actor[order]
    # of the subtree, the nodes on the same street come right behind the node
    end = np.empty(len(order), np.int32)
    for s in range(streets):
        on_street = np.concatenate([[0], np.cumsum(betting.street == s)])
        mine = order[first[s] : first[s + 1]]
        end[first[s] : first[s + 1]] = first[s] + on_street[betting.end[mine]]
    width = np.zeros(len(order), np.int8)
    slot = np.zeros(len(order), np.int32)
    slots = np.zeros((streets, 2), np.int32)
    roots, root_street = [], []
    for s in range(streets):
        exits = 0
        behind = first[s]  # end of the root that is open
        for n in range(first[s], first[s + 1]):
            if n == behind:
                roots.append(n)
                root_street.append(s)
                behind = end[n]
            if actor[n] >= 0:
                moves = sum(1 for _ in betting.children(int(order[n])))
                if moves > MOST_MOVES:
                    raise InputError(f"{moves} moves at one decision: {MOST_MOVES} at most; give fewer bet sizes")
                width[n] = moves
                slot[n] = slots[s, actor[n]]
                slots[s, actor[n]] += width[n]
            elif actor[n] == CHANCE:
                slot[n] = exits
                exits += 1
    batch_at, batch, root_at, deal_at = [0], [], [0], [0]
    for s in range(streets):
        here = [n for n, street in zip(roots, root_street, strict=True) if street == s]
        for group in _groups(here, end, actor, last=s == streets - 1):
            batch.append((group[0], int(end[group[-1]])))
            root_at.append(root_at[-1] + len(group))
            deal_at.append(deal_at[-1] + -(-len(group) // LANES))
        batch_at.append(len(batch))
    return Forest(
        first,
        order,
        actor,
        end,
        width,
        slot,
        np.array(batch_at, np.int32),
        np.array(batch, np.int32),
        np.array(deal_at, np.int32),
        np.array(root_at, np.int32),
        np.array(roots, np.int32),
        slots,
        _shares(betting)[order],
    )


def stakes(betting: BettingTree) -> Array:
    """The pot that hands would be shown for if everybody checked and called from a node on. float64 [nodes]"""
    pot: Array = np.ptp(betting.pay.reshape(len(betting.actor), -1), axis=1).astype(
        float
    )  # of who wins and who loses it
    for node in reversed(range(len(betting.actor))):
        if betting.actor[node] != TERMINAL:
            pot[node] = pot[next((n for n in betting.children(node) if not _folds(betting, n)), node + 1)]
    return pot


def _folds(betting: BettingTree, node: int) -> bool:
    return bool(betting.actor[node] == TERMINAL and not betting.showdown[node])


def _shares(betting: BettingTree) -> Array:
    pot, share = stakes(betting), np.ones(len(betting.actor))
    for node in np.flatnonzero(betting.actor >= 0).tolist():
        below = [*betting.children(node)]
        if (least := pot[below].min()) > 0:
            share[below] = least / pot[below]
    return share


def _groups(roots: list[int], end: Array, actor: Array, last: bool) -> list[list[int]]:
    """Roots that are walked together: all of an inner street, on the last one until there are enough terminals."""
    if not last:
        return [roots]
    groups: list[list[int]] = [[]]
    terminals = 0
    for root in roots:
        more = int((actor[root : end[root]] == TERMINAL).sum())
        if groups[-1] and terminals + more > BATCH:
            groups.append([])
            terminals = 0
        groups[-1].append(root)
        terminals += more
    return groups


def seat(forest: Forest, betting: BettingTree, me: int, stride: int) -> Seat:
    """The vectors of a walk for player `me`, each `stride` numbers long, and the pay-offs as it sees them.

    Vectors of inner streets stand one after the other; the batches of the last street use the same ones in turn.
    """
    count = len(forest.actor)
    own, opp, value, below = (np.zeros(count, np.int64) for _ in range(4))
    base = [0, 0, 0]  # own, opp, value
    most = [0, 0, 0]
    streets = len(forest.first) - 1
    for s in range(streets):
        for b in range(forest.batch_at[s], forest.batch_at[s + 1]):
            at = list(base)
            roots = set(forest.root[forest.root_at[b] : forest.root_at[b + 1]].tolist())
            for n in range(forest.batch[b, 0], forest.batch[b, 1]):
                if n in roots:
                    own[n], opp[n] = at[0], at[1]
                    at[0] += 1
                    at[1] += 1
                value[n] = at[2]
                at[2] += 1
                if forest.actor[n] >= 0:
                    mine = forest.actor[n] == me
                    fresh = at[0] if mine else at[1]
                    below[n] = fresh
                    at[0 if mine else 1] += int(forest.width[n])
                    child = n + 1
                    for k in range(forest.width[n]):
                        own[child] = fresh + k if mine else own[n]
                        opp[child] = opp[n] if mine else fresh + k
                        child = int(forest.end[child])
            most = [max(m, a) for m, a in zip(most, at, strict=True)]
        base = list(most)
    # Lanes that nothing stands in read zeros and write where nobody reads: the last vectors of each kind.
    zero, spare = most[1], (most[0], most[1] + 1, most[2])
    pieces = [_lanes(forest, betting, me, batch, opp, value, (zero, spare[2])) for batch in forest.batch]
    lane_opp, lane_value, lane_fold, pay = (
        np.concatenate(parts) for parts in zip(*(p[:4] for p in pieces), strict=True)
    )
    ends = np.cumsum([len(piece[0]) for piece in pieces])
    starts = ends - [len(piece[0]) for piece in pieces]
    chunk = np.stack([starts, starts + [piece[4] for piece in pieces], ends], axis=1).astype(np.int32)
    exits = [-1, *np.flatnonzero(forest.actor == CHANCE)]  # exit k of all streets leads to root k + 1
    deals = int(forest.deal_at[-1])
    exit_, root = (np.repeat(np.array(spare)[:, None, None], deals, 1).repeat(LANES, 2) for _ in range(2))
    for b in range(len(forest.batch)):
        for k, number in enumerate(range(forest.root_at[b], forest.root_at[b + 1])):
            deal, lane = forest.deal_at[b] + k // LANES, k % LANES
            n = forest.root[number]
            root[:, deal, lane] = own[n], opp[n], value[n]
            if number:
                n = exits[number]
                exit_[:, deal, lane] = own[n], opp[n], value[n]
    sizes = np.array([most[0] + 1, most[1] + 2, most[2] + 1])
    return Seat(
        own * stride, opp * stride, value * stride, below * stride, lane_opp * stride, lane_value * stride,
        lane_fold * stride, pay, chunk, exit_ * stride, root * stride, sizes,
    )  # fmt: skip


def _lanes(
    forest: Forest, betting: BettingTree, me: int, batch: Array, opp: Array, value: Array, unused: tuple[int, int]
) -> tuple[Array, Array, Array, Array, int]:
    """The terminals of a batch, sixteen side by side, showdowns first: where they read and write, what they pay, and how many
    chunks have showdowns.

    Where I may fold or call, both face the same hands, so the fold is paid beside the showdown.
    """
    low, high = batch
    ends = np.flatnonzero(forest.actor[low:high] == TERMINAL) + low
    shows = betting.showdown[forest.node[ends]]
    facing: dict[int, list[int]] = {}  # folds by the hands that they face
    for n in ends[~shows]:
        facing.setdefault(int(opp[n]), []).append(int(n))
    folds = [facing[int(opp[n])].pop() if facing.get(int(opp[n])) else -1 for n in ends[shows]]
    single = sorted(n for rest in facing.values() for n in rest)
    chunks = -(-(len(folds) + len(single)) // LANES)
    lane_opp = np.full((chunks, LANES), unused[0], np.int64)
    lane_value, lane_fold = (np.full((chunks, LANES), unused[1], np.int64) for _ in range(2))
    pay = np.zeros((chunks, 4, LANES))
    for k, n in enumerate([*ends[shows], *single]):
        c, lane = k // LANES, k % LANES
        lane_opp[c, lane], lane_value[c, lane] = opp[n], value[n]
        above, tie, under = betting.pay[forest.node[n]][:: 1 if me == 0 else -1, me]
        pay[c, :3, lane] = above - tie, tie - under, under
        if k < len(folds) and folds[k] >= 0:
            lane_fold[c, lane], pay[c, 3, lane] = value[folds[k]], betting.pay[forest.node[folds[k]], 1, me]
    return lane_opp, lane_value, lane_fold, pay, -(-len(folds) // LANES)
