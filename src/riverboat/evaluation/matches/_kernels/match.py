"""Compiled tables of matches: deals, views of the player to act, moves and results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.deal import compare, deal_cards, draw
from riverboat.games.holdem._kernels.betting import FOLDED, begin, legal, read, step, write

U = np.uint64


class Dealer(NamedTuple):
    """What it takes to deal and to compare hands."""

    deck: Array  # uint8 [cards]
    ranks: RankTables
    hole: int
    board: int  # cards, when all are dealt


class MatchTables(NamedTuple):
    """Hands 2 k and 2 k + 1 are those of deal k, with the seats exchanged."""

    cards: Array  # uint8 [deals, 2 hands and board]
    states: Array  # int64 [hands, FIELDS]: as `games.holdem._kernels.betting.State`
    moves: Array  # int32 [hands, most]
    length: Array  # int32 [hands]


@kernel
def draw_deals(
    dealer,  # Dealer
    seed,  # uint64: deal i has the key draw(seed, i)
    first,  # the first deal
    flat,  # uint8 [deals · cards of a deal] OUT
    result,  # int8 [deals] OUT: 1 where seat 0's hand is better, -1 where it is worse
):
    """Cards, and who wins with them."""
    size = 2 * dealer.hole + dealer.board
    for k in range(len(result)):
        deal_cards(dealer.deck, draw(seed, U(first + k)), U(0), 0, flat, k * size, size)
        result[k] = np.int8(compare(dealer, flat, k * size))


@kernel
def deal(
    dealer,  # Dealer
    book,  # Book
    seed,  # uint64: deal i has the key draw(seed, i)
    first,  # the first deal
    flat,  # uint8 [deals · cards of a deal] OUT: the memory of tables.cards
    result,  # int8 [deals] OUT: 1 where seat 0's hand is better, -1 where it is worse
    tables,  # MatchTables OUT
):
    """Deal and post the blinds."""
    draw_deals(dealer, seed, first, flat, result)
    for t in range(2 * len(result)):
        write(begin(book), tables.states, t)
        tables.length[t] = 0


@kernel
def look(
    dealer,  # Dealer
    book,  # Book
    tables,  # MatchTables
    chosen,  # int64 [n]: hands
    seat,  # int8 [n] OUT
    hole,  # uint8 [n, hole] OUT
    board,  # uint8 [n, board] OUT: 255 where not dealt
    moves,  # int32 [n, some] OUT
    length,  # int32 [n] OUT
):
    """What the players to act see."""
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
def advance(
    book,  # Book
    chosen,  # int64 [n]: hands
    actions,  # int32 [n]
    tables,  # MatchTables INOUT
):
    """Play a move in each hand; the first of them that is illegal, or -1."""
    for i in range(len(chosen)):
        t = chosen[i]
        s = read(tables.states, t)
        move = np.int64(actions[i])
        if not legal(book, s, move):
            return i
        tables.moves[t, tables.length[t]] = move
        tables.length[t] += 1
        write(step(book, s, move), tables.states, t)
    return -1


@kernel
def settle(
    tables,  # MatchTables
    result,  # int8 [deals]
    won,  # int64 [hands] OUT: by seat 0
):
    """Pay the hands, all of which are over: what nobody called goes back."""
    for t in range(len(won)):
        s = read(tables.states, t)
        stake = min(s.spent0, s.spent1)
        if s.over == FOLDED:
            won[t] = -stake if s.turn == 0 else stake
        else:
            won[t] = stake * result[t >> 1]
