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
from riverboat.games.holdem._kernels import (
    FOLDED,
    apply_action_and_deal,
    initial_state,
    is_legal,
    load_state,
    store_state,
)

U = np.uint64


class MatchDealer(NamedTuple):
    """Data for dealing and for comparing hands."""

    deck: Array  # uint8 [cards]
    ranks: RankTables
    hole: int
    board: int  # cards, when all are dealt


class MatchTables(NamedTuple):
    """State of all tables. Hands 2 k and 2 k + 1 belong to deal k, with the seats exchanged."""

    cards: Array  # uint8 [deals, 2 hands and board]
    states: Array  # int64 [hands, STATE_FIELDS]: as `CompactBettingState`
    moves: Array  # int32 [hands, most]
    length: Array  # int32 [hands]


@kernel
def draw_match_deals(
    dealer,  # MatchDealer
    seed,  # uint64: deal i has the key random_bits(seed, i)
    first,  # the first deal
    flat_cards,  # uint8 [deals · cards of a deal] OUT
    result,  # int8 [deals] OUT: 1 if seat 0's hand is better, -1 if it is worse
):
    """Deal cards, and find the winners."""
    size = 2 * dealer.hole + dealer.board
    for k in range(len(result)):
        deal_cards(dealer.deck, random_bits(seed, U(first + k)), U(0), 0, flat_cards, k * size, size)
        result[k] = np.int8(compare_hands(dealer, flat_cards, k * size))


@kernel
def deal_hands(
    dealer,  # MatchDealer
    book,  # CompactBettingRules
    seed,  # uint64: deal i has the key random_bits(seed, i)
    first,  # the first deal
    flat_cards,  # uint8 [deals · cards of a deal] OUT: the memory of tables.cards
    result,  # int8 [deals] OUT: 1 if seat 0's hand is better, -1 if it is worse
    tables,  # MatchTables OUT
):
    """Deal the cards and post the blinds."""
    draw_match_deals(dealer, seed, first, flat_cards, result)
    for t in range(2 * len(result)):
        store_state(initial_state(book), tables.states, t)
        tables.length[t] = 0


@kernel
def observe_tables(
    dealer,  # MatchDealer
    book,  # CompactBettingRules
    tables,  # MatchTables
    chosen,  # int64 [n]: hands
    seat,  # int8 [n] OUT
    hole,  # uint8 [n, hole] OUT
    board,  # uint8 [n, board] OUT: 255 if not dealt
    moves,  # int32 [n, columns] OUT
    length,  # int32 [n] OUT
):
    """Write the observations of the players to act."""
    for i in range(len(chosen)):
        t = chosen[i]
        turn, street = np.int64(tables.states[t, 2]), np.int64(tables.states[t, 3])
        seat[i] = turn
        length[i] = tables.length[t]
        for k in range(dealer.hole):
            hole[i, k] = tables.cards[t >> 1, turn * dealer.hole + k]
        for k in range(dealer.board):
            board[i, k] = tables.cards[t >> 1, 2 * dealer.hole + k] if k < book.shown[street] else 255
        for k in range(moves.shape[1]):
            moves[i, k] = tables.moves[t, k]


@kernel
def apply_actions(
    book,  # CompactBettingRules
    chosen,  # int64 [n]: hands
    actions,  # int32 [n]
    tables,  # MatchTables INOUT
):
    """Apply an action in each hand; return the index of the first illegal one, or -1."""
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


@kernel
def compute_winnings(
    tables,  # MatchTables
    result,  # int8 [deals]
    won,  # int64 [hands] OUT: by seat 0
):
    """Compute the winnings of finished hands; the uncalled part of a bet is returned."""
    for t in range(len(won)):
        s = load_state(tables.states, t)
        stake = min(s.spent0, s.spent1)
        if s.over == FOLDED:
            won[t] = -stake if s.turn == 0 else stake
        else:
            won[t] = stake * result[t >> 1]


# --- Duels of two blueprints over one betting tree ---

BLOCK = 64  # deals played together, so that prefetches overlap


class DuelGame(NamedTuple):
    """Betting tree and cards of a duel."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    count: Array  # type: ignore[assignment]  # int8 [nodes]
    showdown: Array  # bool [nodes]
    pay: Array  # int32 [nodes]
    slot: Array  # int32 [nodes]
    deck: Array  # uint8 [cards]
    ranks: RankTables
    hole: int
    board: int  # cards, when all are dealt


class StrategyTables(NamedTuple):
    """Tables of one strategy."""

    tables: tuple[Array, ...]  # one per street: weights of actions, flat
    stride: Array  # int64 [streets]: between the rows of two buckets; 0 if all buckets share one row


class DuelDeals(NamedTuple):
    """Deals with the buckets of both strategies."""

    keys: Array  # uint64 [deals]
    cards: Array  # uint8 [deals, 2 hands and board]
    result: Array  # float32 [deals]: 1 if seat 0's hand is better, -1 if it is worse
    buckets: Array  # int32 [deals, 2, streets]: of the first strategy
    second_buckets: Array  # int32 [deals, 2, streets]: of the second strategy


class DuelWorkspace(NamedTuple):
    """Scratch memory of a block. Hands 2 k and 2 k + 1 belong to deal k of the block."""

    node: Array  # int32 [2 · BLOCK]: current node of each hand
    active: Array  # int32 [2 · BLOCK]: hands that are not over
    won: Array  # int64 [BLOCK]: by the first strategy, in both hands of a deal


@kernel
def draw_duel_deals(
    game,  # DuelGame
    seed,  # uint64: deal i has the key random_bits(seed, i)
    begin,  # the first deal
    keys,  # uint64 [deals] OUT
    cards,  # uint8 [deals · cards of a deal] OUT
    result,  # float32 [deals] OUT
):
    """Deal cards and compare hands."""
    size = 2 * game.hole + game.board
    for k in range(len(keys)):
        keys[k] = random_bits(seed, U(begin + k))
        deal_cards(game.deck, keys[k], U(0), 0, cards, k * size, size)
        result[k] = compare_hands(game, cards, k * size)


@inline
def row_offset(side, buckets, k, seat, street, slot):
    """Return the offset of the weights of a decision."""
    return U(np.int64(buckets[k, seat, street]) * side.stride[street] + slot)


@inline
def sample_action(table, at, count, share):
    """Sample an action in proportion to its weight; uniformly if all weights are zero."""
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
def prefetch_row(game, first, second, deals, k, swapped, node):
    """Prefetch the weights that a hand needs next."""
    seat, street, slot = np.int64(game.actor[node]), np.int64(game.street[node]), np.int64(game.slot[node])
    if seat == swapped:
        prefetch(first.tables[street], row_offset(first, deals.buckets, k, seat, street, slot))
    else:
        prefetch(second.tables[street], row_offset(second, deals.second_buckets, k, seat, street, slot))


@kernel
def play_deals(
    game,  # DuelGame
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
            prefetch_row(game, first, second, deals, begin + (g >> 1), g & 1, 0)
        while num_active > 0:
            num_remaining = 0
            for i in range(num_active):
                g = np.int64(workspace.active[i])
                k, swapped, node = begin + (g >> 1), g & 1, np.int64(workspace.node[g])
                seat, street, slot = np.int64(game.actor[node]), np.int64(game.street[node]), np.int64(game.slot[node])
                num_actions = np.int64(game.count[node])
                uniform = np.float64(uniform_from_bits(random_bits(deals.keys[k], U(FIRST_NODE_DRAW) + U(node))))
                if seat == swapped:
                    at = row_offset(first, deals.buckets, k, seat, street, slot)
                    action = sample_action(first.tables[street], at, num_actions, uniform)
                else:
                    at = row_offset(second, deals.second_buckets, k, seat, street, slot)
                    action = sample_action(second.tables[street], at, num_actions, uniform)
                node = np.int64(game.first[node]) + action
                if game.actor[node] >= 0:
                    workspace.node[g] = node
                    workspace.active[num_remaining] = g
                    num_remaining += 1
                    prefetch_row(game, first, second, deals, k, swapped, node)
                    continue
                pay = np.int64(game.pay[node])
                if game.showdown[node]:
                    pay = pay * np.int64(deals.result[k])
                workspace.won[g >> 1] += pay if swapped == 0 else -pay
            num_active = num_remaining
        for k in range(count):
            won = np.float64(workspace.won[k])
            total += won
            squares += won * won
    out[0] = total
    out[1] = squares
