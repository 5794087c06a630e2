"""Compiled deals of sampled solvers: cards, buckets and results, a block at a time.

All random numbers of a deal come from its key: number k is `draw(key, k)`. So deal i of a run is the same on any thread, and
what a decision draws does not depend on the order of visits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels.lookup import look_up_block
from riverboat.cards._kernels.ranking import START, plain_value, ranked
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import kernel
from riverboat.compiled.jit import walked_part as part
from riverboat.compiled.rng import draw as draw
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array

U = np.uint64
STREETS = 4
FOR_RUNOUTS = 1 << 41  # of a deal's numbers: the key of the boards that are drawn anew


class Direct(NamedTuple):
    """Buckets by hand and set of board cards, for decks so small that this is quicker. Empty arrays: not used."""

    place: Array  # uint8 [52]: of a card in the deck
    hand: Array  # int32 [cards ^ hole]: number of a hand
    board: Array  # uint16 [2 ^ cards]: number of a board among those of its size
    bucket: Array  # int32 [streets, one after the other: boards, hands]
    start: Array  # int64 [streets]
    shown: Array  # int64 [streets]: board cards
    hands: int


class Game(NamedTuple):
    """What a walk reads of the game and of where tables lie."""

    nodes: Array  # int32 [4 · nodes]: word; first child; cells of the row before its own; pay-off (float32)
    pay: Array  # float32 [4 · nodes]: the same memory
    base: Array  # int64 [streets]: cell where a street's rows begin
    width: Array  # int64 [streets]: cells of a row
    deck: Array  # uint8 [cards]
    ranks: RankTables
    direct: Direct
    hole: int
    board: int  # cards, when all are dealt
    first_equity: Array  # float32 [hands, hands]: of an all-in on the first street, -1 to 1; empty: boards are drawn
    runouts: int  # boards that an all-in before the last street is paid on, drawn anew; 0: the one that was dealt


class Deals(NamedTuple):
    """Deals begin … end - 1 of a run; threads take blocks of them in turn."""

    seed: Any  # uint64: deal i has the key draw(seed, i)
    begin: int
    end: int
    turn: Array  # int64 [1] INOUT: the next block, shared by all threads


class Tally(NamedTuple):
    """What a thread has done."""

    decisions: Array  # int64 [2] INOUT: of traversers and of opponents
    payoff: Array  # float64 [2] INOUT: sums of what each seat won as traverser


class Block(NamedTuple):
    """Room for a block of deals."""

    keys: Array  # uint64 [BLOCK]
    cards: Array  # uint8 [(BLOCK + 1) · cards of a deal]: the last place is for boards that are drawn anew
    layers: Array  # int64 [BLOCK, streets]
    numbers: Array  # int64 [BLOCK, 2, streets]
    buckets: Array  # int32 [BLOCK, 2, streets]
    result: (
        Array  # float32 [STREETS · BLOCK]: by the street of the last move, 1 where seat 0's hand is better, -1 worse
    )
    rows: Array  # uint64 [8 · BLOCK]: first cell of each row, at 8 · deal + street + 4 · seat
    weight: Array  # float32 [BLOCK]: of what a deal adds to regrets and averages
    prune: Array  # bool [BLOCK]: whether moves below the threshold are skipped


@part
def share_of(bits):
    """Uniform in [0, 1), from the upper 24 of 64 bits; the lower 32 are left for rounding."""
    return np.float32(bits >> U(40)) * np.float32(1.0 / 16777216.0)


@part
def low_bits(bits):
    """The lower 32 of 64 bits."""
    return np.uint32(bits & U(0xFFFFFFFF))


@part
def deal_cards(deck, key, taken, tries, cards, at, count):
    """Draw cards that are not among `taken` (a bit for each place in the deck). Returns taken and tries so far."""
    size = U(len(deck))
    end = at + count
    while at < end:
        bits = draw(key, tries >> 1)
        bits = bits >> U(32) if tries & 1 else bits & U(0xFFFFFFFF)
        tries += 1
        place = (bits * size) >> U(32)
        cards[at] = deck[place]
        at += np.int64((taken >> place & U(1)) ^ U(1))  # one that is gone is written over: no branch to predict
        taken |= U(1) << place
    return taken, tries


@part
def compare(game, cards, at):
    """1, 0 or -1: seat 0's hand beats, ties or loses to seat 1's on the full board."""
    board = at + 2 * game.hole
    key, mask = START, U(0)
    for k in range(board, board + game.board):
        key += game.ranks.key[cards[k]]
        mask += game.ranks.mask[cards[k]]
    strength = (np.int64(0), np.int64(0))
    for p in range(2):
        own, bits = key, mask
        for k in range(at + p * game.hole, at + (p + 1) * game.hole):
            own += game.ranks.key[cards[k]]
            bits += game.ranks.mask[cards[k]]
        if game.hole + game.board >= 5:
            value = np.int64(ranked(own, bits, game.ranks.offset, game.ranks.value, game.ranks.flush))
        else:
            value = np.int64(plain_value(own, game.ranks.offset, game.ranks.value))
        strength = (strength[1], value)
    return np.float32(strength[0] > strength[1]) - np.float32(strength[0] < strength[1])


@part
def results_of(game, block, k):
    """What a showdown of a deal comes to, by the street of the last move.

    Who is all-in before the last street is paid the mean over boards that are drawn anew: the same on average as what the
    dealt board says, with far less noise, and nobody decides anything after it.
    """
    size, streets = 2 * game.hole + game.board, len(game.base)
    dealt = compare(game, block.cards, k * size)
    for street in range(STREETS):
        block.result[STREETS * k + street] = dealt
    if game.runouts == 0:
        return
    spare = len(block.cards) - size
    for c in range(size):
        block.cards[spare + c] = block.cards[k * size + c]
    key, tries, taken, seen = draw(block.keys[k], FOR_RUNOUTS), 0, U(0), 0
    for street in range(streets - 1):
        known = 2 * game.hole + game.direct.shown[street]
        for c in range(seen, known):
            taken |= U(1) << U(game.direct.place[block.cards[k * size + c]])
            block.cards[spare + c] = block.cards[k * size + c]
        seen, total = known, np.float32(0)
        if street == 0 and len(game.first_equity) > 0:
            block.result[STREETS * k] = game.first_equity[block.numbers[k, 0, 0], block.numbers[k, 1, 0]]
            continue
        for _ in range(game.runouts):
            _, tries = deal_cards(game.deck, key, taken, tries, block.cards, spare + known, size - known)
            total += compare(game, block.cards, spare)
        block.result[STREETS * k + street] = total / np.float32(game.runouts)


@part
def rows_of(game, buckets, at, rows, k):
    """First cells of the rows of a deal."""
    for p in range(2):
        for r in range(len(game.base)):
            rows[8 * k + 4 * p + r] = U(game.base[r] + buckets[at, p, r] * game.width[r])


@part
def look_up_direct(game, block, count):
    """Buckets of a block from tables by hand and board; all places first, so that loads from memory overlap."""
    direct, size, streets = game.direct, 2 * game.hole + game.board, len(game.base)
    for k in range(count):
        at = k * size
        for p in range(2):
            hand = np.int64(0)
            for h in range(at + p * game.hole, at + (p + 1) * game.hole):
                hand = hand * len(game.deck) + np.int64(direct.place[block.cards[h]])
            block.numbers[k, p, 0] = direct.hand[hand]
        mask, seen = np.int64(0), at + 2 * game.hole
        for r in range(streets):
            for c in range(seen, at + 2 * game.hole + direct.shown[r]):
                mask |= np.int64(1) << np.int64(direct.place[block.cards[c]])
            seen = at + 2 * game.hole + direct.shown[r]
            block.layers[k, r] = mask
            prefetch(direct.board, U(mask))
    for k in range(count):
        for r in range(streets):
            row = direct.start[r] + np.int64(direct.board[U(block.layers[k, r])]) * direct.hands
            block.layers[k, r] = row
            prefetch(direct.bucket, U(row + block.numbers[k, 0, 0]))
            prefetch(direct.bucket, U(row + block.numbers[k, 1, 0]))
    for k in range(count):
        for p in range(2):
            for r in range(streets):
                block.buckets[k, p, r] = direct.bucket[U(block.layers[k, r] + block.numbers[k, p, 0])]


@kernel
def prepare(
    game,  # Game
    look,  # LookUp
    seed,  # uint64: deal i has the key draw(seed, i)
    first,
    count,  # deals first … first + count - 1 of a run
    block,  # Block OUT
):
    """Draw, look up and rank some deals."""
    size = 2 * game.hole + game.board
    for k in range(count):
        key = draw(seed, first + k)
        block.keys[k] = key
        deal_cards(game.deck, key, U(0), 0, block.cards, k * size, size)
    if len(game.direct.bucket) > 0:
        look_up_direct(game, block, count)
    else:
        look_up_block(look, block.cards, 0, count, 2, block.layers, block.numbers, block.buckets)
    for k in range(count):
        results_of(game, block, k)
        rows_of(game, block.buckets, k, block.rows, k)
