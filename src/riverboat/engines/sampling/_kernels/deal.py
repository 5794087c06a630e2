"""Compiled deals of sampling trainers: cards, buckets and results, a block at a time.

All random numbers of a deal come from its key: number k is `random_bits(key, k)`. So deal i of a run is the same on any
thread, and the draw of a decision does not depend on the order of visits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from riverboat.abstraction.cards._kernels import look_up_block
from riverboat.cards._kernels.ranking import INITIAL_KEY, rank_by_keys
from riverboat.cards.ranking import RankTables
from riverboat.compiled.jit import inline_optimized, kernel
from riverboat.compiled.rng import random_bits as random_bits
from riverboat.compiled.simd import prefetch
from riverboat.core.arrays import Array

U = np.uint64
STREETS = 4
RUNOUT_DRAW = 1 << 41  # draw of a deal: the key of the sampled runouts


class DirectLookup(NamedTuple):
    """Buckets by hand and set of board cards, for small decks where this is faster. Empty arrays: not used."""

    place: Array  # uint8 [52]: position of a card in the deck
    hand: Array  # int32 [cards ^ hole]: index of a hand
    board: Array  # uint16 [2 ^ cards]: index of a board among those of its size
    bucket: Array  # int32 [boards, hands] of all streets, concatenated
    start: Array  # int64 [streets]
    shown: Array  # int64 [streets]: board cards
    hands: int


class SamplingGame(NamedTuple):
    """Game and table layout for traversals."""

    nodes: Array  # int32 [4 · nodes]: word; first child; offset in a row of the table; payoff (float32)
    pay: Array  # float32 [4 · nodes]: the same memory
    base: Array  # int64 [streets]: first cell of a street's rows
    width: Array  # int64 [streets]: cells of a row
    deck: Array  # uint8 [cards]
    ranks: RankTables
    direct: DirectLookup
    hole: int
    board: int  # cards of a full board
    first_equity: Array  # float32 [hands, hands]: value of an all-in on the first street, -1 to 1; empty: sampled
    runouts: int  # sampled boards for an all-in before the last street; 0: only the dealt board


class DealRange(NamedTuple):
    """Deals begin … end - 1 of a run; threads take blocks of them in turn."""

    seed: Any  # uint64: deal i has the key random_bits(seed, i)
    begin: int
    end: int
    turn: Array  # int64 [1] INOUT: the next block, shared by all threads


class SamplingTally(NamedTuple):
    """Statistics of one thread's traversals."""

    decisions: Array  # int64 [2] INOUT: decisions of traversers and of opponents
    payoff: Array  # float64 [2] INOUT: sums of the values of each seat as traverser


class DealBlock(NamedTuple):
    """Memory of a block of deals."""

    keys: Array  # uint64 [LOOKUP_BLOCK]
    cards: Array  # uint8 [(LOOKUP_BLOCK + 1) · cards of a deal]: the last one is for sampled runouts
    layers: Array  # int64 [LOOKUP_BLOCK, streets]
    numbers: Array  # int64 [LOOKUP_BLOCK, 2, streets]
    buckets: Array  # int32 [LOOKUP_BLOCK, 2, streets]
    result: Array  # float32 [STREETS · LOOKUP_BLOCK]: by street of the last action, 1 if seat 0 wins, -1 if not
    rows: Array  # uint64 [8 · LOOKUP_BLOCK]: first cell of each row, at 8 · deal + street + 4 · seat
    weight: Array  # float32 [LOOKUP_BLOCK]: weight of a deal's increments of regrets and averages
    prune: Array  # bool [LOOKUP_BLOCK]: whether actions below the threshold are pruned


@inline_optimized
def uniform_from_bits(bits):
    """Return a uniform number in [0, 1) from the upper 24 of 64 bits; the lower 32 are left for rounding."""
    return np.float32(bits >> U(40)) * np.float32(1.0 / 16777216.0)


@inline_optimized
def low_bits(bits):
    """Return the lower 32 of 64 bits."""
    return np.uint32(bits & U(0xFFFFFFFF))


@inline_optimized
def deal_cards(deck, key, taken, tries, cards, at, count):
    """Draw `count` cards that are not in `taken`, a bit mask of positions in the deck, to offset `at` of `cards`.

    `tries`: draws of the key that have been used. Returns the new mask and the new number of draws.
    """
    size = U(len(deck))
    end = at + count
    while at < end:
        bits = random_bits(key, tries >> 1)
        bits = bits >> U(32) if tries & 1 else bits & U(0xFFFFFFFF)
        tries += 1
        position = (bits * size) >> U(32)
        cards[at] = deck[position]
        at += np.int64((taken >> position & U(1)) ^ U(1))  # a card that is taken is overwritten, without a branch
        taken |= U(1) << position
    return taken, tries


@inline_optimized
def compare_hands(game, cards, at):
    """Return 1, 0 or -1: seat 0's hand beats, ties or loses to seat 1's; the deal begins at offset `at` of `cards`."""
    board = at + 2 * game.hole
    key, mask = INITIAL_KEY, U(0)
    for k in range(board, board + game.board):
        key += game.ranks.key[cards[k]]
        mask += game.ranks.mask[cards[k]]
    strength = (np.int64(0), np.int64(0))
    for p in range(2):
        own, bits = key, mask
        for k in range(at + p * game.hole, at + (p + 1) * game.hole):
            own += game.ranks.key[cards[k]]
            bits += game.ranks.mask[cards[k]]
        strength = (strength[1], rank_by_keys(game.ranks, own, bits, game.hole + game.board))
    return np.float32(strength[0] > strength[1]) - np.float32(strength[0] < strength[1])


@inline_optimized
def showdown_results(game, block, k):
    """Compute the result of the showdown of deal k in a block, for each street of the last action.

    An all-in before the last street is evaluated by the mean over sampled boards. It has the same expectation as the
    dealt board with much less variance, and there are no decisions after it.
    """
    size, streets = 2 * game.hole + game.board, len(game.base)
    dealt = compare_hands(game, block.cards, k * size)
    for street in range(STREETS):
        block.result[STREETS * k + street] = dealt
    if game.runouts == 0:
        return
    runout_at = len(block.cards) - size
    for c in range(size):
        block.cards[runout_at + c] = block.cards[k * size + c]
    key, tries, taken, seen = random_bits(block.keys[k], RUNOUT_DRAW), 0, U(0), 0
    for street in range(streets - 1):
        num_known = 2 * game.hole + game.direct.shown[street]
        for c in range(seen, num_known):
            taken |= U(1) << U(game.direct.place[block.cards[k * size + c]])
            block.cards[runout_at + c] = block.cards[k * size + c]
        seen, total = num_known, np.float32(0)
        if street == 0 and len(game.first_equity) > 0:
            block.result[STREETS * k] = game.first_equity[block.numbers[k, 0, 0], block.numbers[k, 1, 0]]
            continue
        for _ in range(game.runouts):
            _, tries = deal_cards(game.deck, key, taken, tries, block.cards, runout_at + num_known, size - num_known)
            total += compare_hands(game, block.cards, runout_at)
        block.result[STREETS * k + street] = total / np.float32(game.runouts)


@inline_optimized
def bucket_rows(game, buckets, at, rows, k):
    """Write the first cell of each seat's row on each street to `rows` as deal k, for `buckets` with index `at`."""
    for p in range(2):
        for r in range(len(game.base)):
            rows[8 * k + 4 * p + r] = U(game.base[r] + buckets[at, p, r] * game.width[r])


@inline_optimized
def look_up_buckets(game, block, count):
    """Look up the buckets of a block's deals by `DirectLookup`: first all indices, so that memory loads overlap."""
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
def prepare_deals(
    game,  # SamplingGame
    look,  # BucketLookup
    seed,  # uint64: deal i has the key random_bits(seed, i)
    first,
    count,  # deals first … first + count - 1 of a run
    block,  # DealBlock OUT
):
    """Draw some deals, look up their buckets and compare their hands."""
    size = 2 * game.hole + game.board
    for k in range(count):
        key = random_bits(seed, first + k)
        block.keys[k] = key
        deal_cards(game.deck, key, U(0), 0, block.cards, k * size, size)
    if len(game.direct.bucket) > 0:
        look_up_buckets(game, block, count)
    else:
        look_up_block(look, block.cards, 0, count, 2, block.layers, block.numbers, block.buckets)
    for k in range(count):
        showdown_results(game, block, k)
        bucket_rows(game, block.buckets, k, block.rows, k)
