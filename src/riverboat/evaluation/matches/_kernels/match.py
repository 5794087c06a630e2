"""Kernels of duplicate matches of agents, and of duels of two blueprints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.deal import compare_hands, deal_cards, random_bits, uniform_from_bits
from riverboat.engines.sampling._kernels.external import FIRST_NODE_DRAW
from riverboat.games.holdem._kernels import apply_action_and_deal, is_legal, load_state, store_state

U = np.uint64


class MatchDealer(NamedTuple):
    """Deck, ranking tables and numbers of cards, for dealing and for comparing hands."""

    deck: Array  # uint8 [cards]
    ranks: RankTables
    hole: int  # cards of a hand
    board: int  # cards of a complete board


class MatchTables(NamedTuple):
    """State of all tables. Hands 2 k and 2 k + 1 belong to deal k, with the seats exchanged."""

    cards: Array  # uint8 [deals, 2 hands and board]
    states: Array  # int64 [hands, STATE_FIELDS]: as `CompactBettingState`
    moves: Array  # int32 [hands, most]
    length: Array  # int32 [hands]


@kernel
def draw_deals(
    dealer,  # MatchDealer
    seed,  # uint64: deal i has the key random_bits(seed, i)
    first,  # the first deal
    keys,  # uint64 [deals] OUT
    flat_cards,  # uint8 [deals · cards of a deal] OUT
    result,  # int8 [deals] OUT: 1 if seat 0's hand is better, -1 if it is worse
):
    """Deal the cards of consecutive deals, and find the winner of each at a showdown."""
    size = 2 * dealer.hole + dealer.board
    for k in range(len(result)):
        keys[k] = random_bits(seed, U(first + k))
        deal_cards(dealer.deck, keys[k], U(0), 0, flat_cards, k * size, size)
        result[k] = np.int8(compare_hands(dealer, flat_cards, k * size))


@kernel
def observe_tables(
    shown,  # int64 [streets]: board cards
    tables,  # MatchTables
    chosen,  # int64 [n]: indices of the hands
    seat,  # int8 [n] OUT
    hole,  # uint8 [n, hole] OUT
    board,  # uint8 [n, board] OUT: 255 if not dealt
    moves,  # int32 [n, columns] OUT
    length,  # int32 [n] OUT
):
    """Write the observations of the players to act in the chosen hands."""
    own = hole.shape[1]
    for i in range(len(chosen)):
        t = chosen[i]
        turn, street = np.int64(tables.states[t, 2]), np.int64(tables.states[t, 3])
        seat[i], length[i] = turn, tables.length[t]
        for k in range(own):
            hole[i, k] = tables.cards[t >> 1, turn * own + k]
        for k in range(board.shape[1]):
            board[i, k] = tables.cards[t >> 1, 2 * own + k] if k < shown[street] else 255
        for k in range(moves.shape[1]):
            moves[i, k] = tables.moves[t, k]


@kernel
def apply_actions(
    book,  # CompactBettingRules
    chosen,  # int64 [n]: indices of the hands
    actions,  # int32 [n]: FOLD, CALL, or the total of a raise
    tables,  # MatchTables INOUT
):
    """Apply an action in each chosen hand, and deal due streets; return the index of the first illegal one, or -1."""
    for i in range(len(chosen)):
        t = chosen[i]
        s = load_state(tables.states, t)
        move = np.int64(actions[i])
        if not is_legal(book, s, move):
            return i
        tables.moves[t, tables.length[t]] = move
        tables.length[t] += 1
        store_state(apply_action_and_deal(book, s, move), tables.states, t)
    return -1


# --- Duels of two blueprints over one betting tree ---

BLOCK = 64  # deals played together, so that prefetches overlap


class PlayedTree(NamedTuple):
    """Arrays of an `ActionTree` for loops that play to its terminals."""

    actor: Array  # int8 [nodes]: seat to act; -1 at terminals
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]: first child
    count: Array  # type: ignore[assignment]  # int8 [nodes]: number of actions
    parent: Array  # int32 [nodes]
    showdown: Array  # bool [nodes]: whether a terminal is a showdown
    payoff: Array  # int32 [nodes]: payoff of seat 0 after a fold; of the winner at a showdown
    slot: Array  # int32 [nodes]: column of the first action in the rows of its street


class StrategyTables(NamedTuple):
    """Tables of one strategy in the layout of compiled loops."""

    tables: tuple[Array, ...]  # one per street: weights of actions, flat
    stride: Array  # int64 [streets]: between the rows of two buckets; 0 if all buckets share one row


class DuelDeals(NamedTuple):
    """Deals with the buckets of both strategies."""

    keys: Array  # uint64 [deals]
    cards: Array  # uint8 [deals, 2 hands and board]
    result: Array  # int8 [deals]: 1 if seat 0's hand is better, -1 if it is worse
    buckets: Array  # int32 [deals, 2, streets]: of the first strategy
    second_buckets: Array  # int32 [deals, 2, streets]: of the second strategy


class DuelWorkspace(NamedTuple):
    """Scratch memory of a block. Hands 2 k and 2 k + 1 belong to deal k of the block."""

    node: Array  # int32 [2 · BLOCK]: current node of each hand
    active: Array  # int32 [2 · BLOCK]: hands that are not over
    won: Array  # int64 [BLOCK]: by the first strategy, in both hands of a deal


@inline
def row_offset(tree, side, buckets, k, node):
    """Return the offset of a decision's action weights for deal k in the table of its street (`side.tables`)."""
    street = np.int64(tree.street[node])
    bucket = np.int64(buckets[k, np.int64(tree.actor[node]), street])
    return U(bucket * side.stride[street] + np.int64(tree.slot[node]))


@inline
def sample_action(tree, side, buckets, k, node, share):
    """Sample the index of an action in proportion to its weight, uniformly if all weights are zero.

    `share` is a uniform random number in [0, 1) that decides.
    """
    table, at = side.tables[np.int64(tree.street[node])], row_offset(tree, side, buckets, k, node)
    count = np.int64(tree.count[node])
    total = np.float64(0)
    for a in range(count):
        total += np.float64(table[at + U(a)])
    if total <= 0:
        return min(np.int64(share * count), count - 1)
    left = share * total
    chosen = np.int64(0)
    for a in range(count):
        weight = np.float64(table[at + U(a)])
        if weight > 0:
            chosen = a
            left -= weight
            if left < 0:
                break
    return chosen


@inline
def prefetch_row(tree, first, second, deals, k, swapped, node):
    """Prefetch the action weights of a hand's current node; `swapped` is the seat of the first strategy."""
    street = np.int64(tree.street[node])
    if tree.actor[node] == swapped:
        prefetch(first.tables[street], row_offset(tree, first, deals.buckets, k, node))
    else:
        prefetch(second.tables[street], row_offset(tree, second, deals.second_buckets, k, node))


@kernel
def play_deals(
    tree,  # PlayedTree
    first,  # StrategyTables
    second,  # StrategyTables
    deals,  # DuelDeals
    workspace,  # DuelWorkspace
    out,  # float64 [2] OUT: sum of the first strategy's winnings per deal, and of their squares
):
    """Play every deal twice: the first strategy has seat 0 in even hands and seat 1 in odd ones."""
    total, squares = np.float64(0), np.float64(0)
    for begin in range(0, len(deals.keys), BLOCK):
        count = min(BLOCK, len(deals.keys) - begin)
        num_active = 2 * count
        for g in range(num_active):
            workspace.node[g] = 0
            workspace.active[g] = g
            workspace.won[g >> 1] = 0
            prefetch_row(tree, first, second, deals, begin + (g >> 1), g & 1, 0)
        while num_active > 0:
            num_remaining = 0
            for i in range(num_active):
                g = np.int64(workspace.active[i])
                k, swapped, node = begin + (g >> 1), g & 1, np.int64(workspace.node[g])
                uniform = np.float64(uniform_from_bits(random_bits(deals.keys[k], U(FIRST_NODE_DRAW) + U(node))))
                if tree.actor[node] == swapped:
                    action = sample_action(tree, first, deals.buckets, k, node, uniform)
                else:
                    action = sample_action(tree, second, deals.second_buckets, k, node, uniform)
                node = np.int64(tree.first[node]) + action
                if tree.actor[node] >= 0:
                    workspace.node[g] = node
                    workspace.active[num_remaining] = g
                    num_remaining += 1
                    prefetch_row(tree, first, second, deals, k, swapped, node)
                    continue
                pay = np.int64(tree.payoff[node])
                if tree.showdown[node]:
                    pay = pay * np.int64(deals.result[k])
                workspace.won[g >> 1] += pay if swapped == 0 else -pay
            num_active = num_remaining
        for k in range(count):
            won = np.float64(workspace.won[k])
            total += won
            squares += won * won
    out[0] = total
    out[1] = squares
