"""Betting trees cut into streets: the layout that board engines traverse.

A betting tree is cut at its deals. The pieces on one street form a forest. Its roots follow the deals of the previous
street; its leaves are terminals and the next deals (*exits*). Exit k of a street and root k of the next street are the
two ends of one deal. Roots are traversed in batches. On the last street the terminals of several roots fill the sixteen
elements of a SIMD vector (`riverboat.compiled.simd`) while the batch stays in the cache; on inner streets a few batches
share the work among threads. The exits of a batch lead to batches of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.simd import SIMD_WIDTH
from riverboat.core.errors import InputError
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.games.boards.board_game import BettingTree
from riverboat.trees.public import child_nodes

MAX_ACTIONS = 127  # most actions at one decision: widths are stored in eight bits
MAX_BATCH_TERMINALS = 112  # a multiple of the SIMD width that leaves space in a core's cache for the tables
# Batches on the second street, if it is not the last, let more threads share it. They are as many as fit without more than
# this part of the next street's SIMD vectors in addition, since the vectors of a batch may be partly filled.
INNER_BATCHES, EXTRA_VECTORS = 4, 0.02


class BettingForest(NamedTuple):
    """Betting nodes of all streets, street by street, each street in preorder."""

    first: Array  # int32 [streets + 1]: nodes of street s are first[s] … first[s + 1] - 1
    node: Array  # int32 [nodes]: index in the betting tree
    actor: Array  # int8 [nodes]: player, CHANCE at an exit, TERMINAL
    end: Array  # int32 [nodes]: end of the subtree on this street
    width: Array  # int8 [nodes]
    slot: Array  # int32 [nodes]: decision: index of its first action among its actor's on the street; exit: index
    batch_at: Array  # int32 [streets + 1]: batches of street s are batch_at[s] … batch_at[s + 1] - 1
    batch: Array  # int32 [batches, 2]: first node of a batch, end
    child_at: Array  # int32 [batches + 1]: batches of the next street that follow a batch
    deal_at: Array  # int32 [batches + 1]: deals of a batch: groups of up to sixteen of its roots
    root_at: Array  # int32 [batches + 1]: roots of batch b are root[root_at[b]] … root[root_at[b + 1] - 1]
    root: Array  # int32 [roots]: nodes, street after street
    slots: Array  # int32 [streets, 2]: number of actions at all decisions of each player on a street
    share: Array  # float64 [nodes]: smallest check-down pot among the siblings, divided by the node's own


class SeatLayout(NamedTuple):
    """Offsets of one player's vectors in a traversal, and the player's payoffs at terminals.

    Offsets refer to the arrays `own`, `opp` and `value` of `TraversalVectors`. A chunk is sixteen terminals that are
    evaluated together, one for each SIMD element (lane).
    """

    own: Array  # int64 [nodes]: the player's reach
    opp: Array  # int64 [nodes]: the opponent's reach
    value: Array  # int64 [nodes]
    below: Array  # int64 [nodes]: decision: vector of its first child, in own (the player's node) or opp
    lane_opp: Array  # int64 [chunks, 16]: opponent's reach at the terminals of a chunk
    lane_value: Array  # int64 [chunks, 16]: values of these terminals
    lane_fold: Array  # int64 [chunks, 16]: value of the player's fold that faces the same hands as the showdown
    pay: Array  # float64 [chunks, 4, 16]: factors on hands beaten, hands beaten or tied, all hands; factor of the fold
    chunk: Array  # int32 [batches, 3]: first chunk, first chunk without showdowns, end
    exit: Array  # int64 [3, deals, 16]: own, opp and value at the exits of the previous street that lead to the roots
    root: Array  # int64 [3, deals, 16]: own, opp and value at the roots
    rows: Array  # int64 [3]: number of vectors in own, opp and value


class BettingShape(NamedTuple):
    """Layout of a betting tree for traversals, independent of boards and ranges: trees with this betting share it."""

    betting: BettingTree
    forest: BettingForest
    stride: int  # length of a vector: more than the rows of a player on any board
    seats: tuple[SeatLayout, SeatLayout]


def make_shape(betting: BettingTree, streets: int, rows: int) -> BettingShape:
    """Lay out a betting tree over `streets` streets for boards on which a player has at most `rows` rows of hands."""
    forest = make_forest(betting, streets)
    # Vectors are processed sixteen elements at a time, and at least one zero must follow the last hand.
    stride = (rows // SIMD_WIDTH + 1) * SIMD_WIDTH
    seats = make_seat_layout(forest, betting, 0, stride), make_seat_layout(forest, betting, 1, stride)
    return BettingShape(betting, forest, stride, seats)


def make_forest(betting: BettingTree, streets: int) -> BettingForest:
    """Cut a betting tree into one forest for each street, and group the roots of each street into batches."""
    order = np.argsort(betting.street, kind="stable").astype(np.int32)
    first = np.searchsorted(betting.street[order], np.arange(streets + 1)).astype(np.int32)
    actor, parents = betting.actor[order], betting.parents
    width = np.where(actor >= 0, np.bincount(parents[1:], minlength=len(order))[order], 0)
    too_many = width[width > MAX_ACTIONS]
    if len(too_many):
        raise InputError(
            f"{too_many[0]} actions at one decision, at most {MAX_ACTIONS} are supported: use fewer bet sizes"
        )
    is_root = (parents[order] < 0) | (betting.actor[parents[order]] == CHANCE)
    end, slot = np.empty(len(order), np.int32), np.zeros(len(order), np.int32)
    slots = np.zeros((streets, 2), np.int32)
    roots: list[list[int]] = []
    batch: list[tuple[int, int]] = []
    batch_at, child_at, root_at, deal_at = [0], [1], [0], [0]
    for s in range(streets):
        nodes = np.arange(first[s], first[s + 1])
        # The nodes of a subtree that lie on the same street follow the node directly.
        on_street = np.concatenate([[0], np.cumsum(betting.street == s)])
        end[nodes] = first[s] + on_street[betting.end[order[nodes]]]
        for kind in (0, 1, CHANCE):
            own = nodes[actor[nodes] == kind]
            sizes = np.ones_like(own) if kind == CHANCE else width[own]
            slot[own] = np.cumsum(sizes) - sizes
            if kind != CHANCE:
                slots[s, kind] = sizes.sum()
        roots.append(nodes[is_root[nodes]].tolist())
        terminals = np.concatenate([[0], np.cumsum(actor[nodes] == TERMINAL)])
        exits = np.concatenate([[0], np.cumsum(actor[nodes] == CHANCE)])
        begin = 0
        for low, high in batch[batch_at[s - 1] :] if s else [(0, int(first[1]))]:
            count = int((actor[low:high] == CHANCE).sum()) if s else 1
            followers = roots[s][begin : begin + count]
            spans = np.array(followers, int) - first[s], end[followers] - first[s]
            sizes = (terminals[spans[1]] - terminals[spans[0]]).tolist()
            if s == streets - 1:
                groups = _batch_roots(followers, sizes, MAX_BATCH_TERMINALS)
            else:
                batches = INNER_BATCHES if s == 1 else 1
                groups = _inner_batches(followers, sizes, (exits[spans[1]] - exits[spans[0]]).tolist(), batches)
            for group in groups:
                batch.append((group[0], int(end[group[-1]])))
                root_at.append(root_at[-1] + len(group))
                deal_at.append(deal_at[-1] + -(-len(group) // SIMD_WIDTH))
            begin += count
            if s:
                child_at.append(len(batch))
        batch_at.append(len(batch))
    child_at += [len(batch)] * (len(batch) + 1 - len(child_at))
    lists = tuple(
        np.array(numbers, np.int32) for numbers in (batch_at, batch, child_at, deal_at, root_at, np.concatenate(roots))
    )
    return BettingForest._make(
        (first, order, actor, end, width.astype(np.int8), slot, *lists, slots, _stake_ratios(betting)[order])
    )


def checkdown_pots(betting: BettingTree) -> Array:
    """Return the pot at showdown if both players check and call from each node on. float64 [nodes]"""
    # The difference between winning and losing.
    pots: Array = np.ptp(betting.payoffs.reshape(len(betting.actor), -1), axis=1).astype(float)
    folds = set(np.flatnonzero((betting.actor == TERMINAL) & ~betting.showdown).tolist())
    for node in reversed(range(len(betting.actor))):
        if betting.actor[node] != TERMINAL:
            pots[node] = pots[next((n for n in betting.children(node) if n not in folds), node + 1)]
    return pots


def _stake_ratios(betting: BettingTree) -> Array:
    """Return the smallest check-down pot among each node's siblings, divided by the node's own. float64 [nodes]"""
    pot, share = checkdown_pots(betting), np.ones(len(betting.actor))
    for node in np.flatnonzero(betting.actor >= 0).tolist():
        children = [*betting.children(node)]
        if (smallest := pot[children].min()) > 0:
            share[children] = smallest / pot[children]
    return share


def _batch_roots(roots: list[int], sizes: list[int], most: int) -> list[list[int]]:
    """Group consecutive roots for traversal; a group of several roots has at most `most` terminals.

    `sizes`: number of terminals below each root.
    """
    groups: list[list[int]] = []
    terminals = 0
    for root, count in zip(roots, sizes, strict=True):
        if not groups or terminals + count > most:
            groups.append([])
            terminals = 0
        groups[-1].append(root)
        terminals += count
    return groups


def _inner_batches(roots: list[int], sizes: list[int], exits: list[int], most: int) -> list[list[int]]:
    """Group consecutive roots of an inner street into about `most` batches or fewer, see `EXTRA_VECTORS`.

    `sizes`, `exits`: number of terminals, and of exits to the next street, below each root.
    """
    exits_of = dict(zip(roots, exits, strict=True))
    for batches in range(most, 1, -1):
        groups = _batch_roots(roots, sizes, -(-sum(sizes) // batches))
        vectors = sum(-(-sum(exits_of[root] for root in group) // SIMD_WIDTH) for group in groups)
        if vectors <= (1 + EXTRA_VECTORS) * -(-sum(exits) // SIMD_WIDTH):
            return groups
    return [roots] if roots else []


def make_seat_layout(forest: BettingForest, betting: BettingTree, me: int, stride: int) -> SeatLayout:
    """Lay out the vectors of a traversal for player `me`, each of length `stride`, and this player's payoffs.

    The vectors of the streets follow each other; the batches of a street use the same vectors in turn.
    """
    count = len(forest.actor)
    own, opp, value, below = (np.zeros(count, np.int64) for _ in range(4))
    base = [0, 0, 0]  # own, opp, value
    peak = [0, 0, 0]
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
                    acts = forest.actor[n] == me
                    first_child = at[0] if acts else at[1]
                    below[n] = first_child
                    at[0 if acts else 1] += int(forest.width[n])
                    for k, child in enumerate(child_nodes(forest, n)):
                        own[child] = first_child + k if acts else own[n]
                        opp[child] = opp[n] if acts else first_child + k
            peak = [max(m, a) for m, a in zip(peak, at, strict=True)]
        base = list(peak)
    # Unused SIMD elements read a vector of zeros and write to a vector that is never read: the last ones of each kind.
    zero, unused = peak[1], (peak[0], peak[1] + 1, peak[2])
    pieces = [_pack_terminals(forest, betting, me, batch, opp, value, (zero, unused[2])) for batch in forest.batch]
    lane_opp, lane_value, lane_fold, pay = (
        np.concatenate(parts) for parts in zip(*(p[:4] for p in pieces), strict=True)
    )
    ends = np.cumsum([len(piece[0]) for piece in pieces])
    starts = ends - [len(piece[0]) for piece in pieces]
    chunk = np.stack([starts, starts + [piece[4] for piece in pieces], ends], axis=1).astype(np.int32)
    exits = [-1, *np.flatnonzero(forest.actor == CHANCE)]  # exit k of all streets leads to root k + 1
    deals = int(forest.deal_at[-1])
    exit_, root = (np.repeat(np.array(unused)[:, None, None], deals, 1).repeat(SIMD_WIDTH, 2) for _ in range(2))
    for b in range(len(forest.batch)):
        for k, number in enumerate(range(forest.root_at[b], forest.root_at[b + 1])):
            deal, lane = forest.deal_at[b] + k // SIMD_WIDTH, k % SIMD_WIDTH
            n = forest.root[number]
            root[:, deal, lane] = own[n], opp[n], value[n]
            if number:
                n = exits[number]
                exit_[:, deal, lane] = own[n], opp[n], value[n]
    sizes = np.array([peak[0] + 1, peak[1] + 2, peak[2] + 1])
    return SeatLayout(
        own * stride, opp * stride, value * stride, below * stride, lane_opp * stride, lane_value * stride,
        lane_fold * stride, pay, chunk, exit_ * stride, root * stride, sizes,
    )  # fmt: skip


def _pack_terminals(
    forest: BettingForest, betting: BettingTree, me: int, batch: Array, opp: Array, value: Array, spare: tuple[int, int]
) -> tuple[Array, Array, Array, Array, int]:
    """Pack the terminals of a batch into chunks of sixteen, showdowns first.

    Returns `lane_opp`, `lane_value`, `lane_fold` and `pay` of `SeatLayout`, and the number of chunks with showdowns. A
    fold and a showdown that read the same vector of the opponent share an element. `spare`: a vector of zeros to read
    and an unused one to write, for elements without a terminal.
    """
    low, high = batch
    terminals = np.flatnonzero(forest.actor[low:high] == TERMINAL) + low
    is_showdown = betting.showdown[forest.node[terminals]]
    facing: dict[int, list[int]] = {}  # folds by the opponent's reach vector
    for n in terminals[~is_showdown]:
        facing.setdefault(int(opp[n]), []).append(int(n))
    folds = [facing[int(opp[n])].pop() if facing.get(int(opp[n])) else -1 for n in terminals[is_showdown]]
    single = sorted(n for folds_left in facing.values() for n in folds_left)
    chunks = -(-(len(folds) + len(single)) // SIMD_WIDTH)
    lane_opp = np.full((chunks, SIMD_WIDTH), spare[0], np.int64)
    lane_value, lane_fold = (np.full((chunks, SIMD_WIDTH), spare[1], np.int64) for _ in range(2))
    pay = np.zeros((chunks, 4, SIMD_WIDTH))
    for k, n in enumerate([*terminals[is_showdown], *single]):
        c, lane = k // SIMD_WIDTH, k % SIMD_WIDTH
        lane_opp[c, lane], lane_value[c, lane] = opp[n], value[n]
        win, tie, lose = betting.payoffs[forest.node[n]][:: 1 if me == 0 else -1, me]
        pay[c, :3, lane] = win - tie, tie - lose, lose
        if k < len(folds) and folds[k] >= 0:
            lane_fold[c, lane], pay[c, 3, lane] = value[folds[k]], betting.payoffs[forest.node[folds[k]], 1, me]
    return lane_opp, lane_value, lane_fold, pay, -(-len(folds) // SIMD_WIDTH)
