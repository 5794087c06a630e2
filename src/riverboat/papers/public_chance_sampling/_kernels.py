"""Compiled joint counts: how often two buckets of the last street meet on boards, and which one wins."""

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.engines.sampling._kernels.public_chance import find_buckets, order_hands

U = np.uint64


@kernel
def count_bucket_pairs(
    game,  # Game
    look,  # LookUp
    hands,  # Hands
    b,  # Board
    boards,  # uint8 [boards, cards]
    met,  # float32 [numbers, numbers] scratch: pairs of the buckets on one board
    won,  # float32 [numbers, numbers] scratch
    pairs,  # float32 [buckets, buckets] INOUT: pairs of hands
    wins,  # float32 [buckets, buckets] INOUT: pairs that the first wins less pairs that it loses
):
    """Count how often two last-street buckets meet, and which one wins, over all pairs of disjoint hands on each board.

    Counts are added to `pairs` and `wins`; repeated boards count repeatedly.
    """
    last = len(hands.shown) - 1
    for k in range(len(boards)):
        for c in range(game.board):
            b.cards[game.hole + c] = boards[k, c]
        order_hands(game, hands, b)
        find_buckets(game, look, hands, b)
        kinds, live = b.kinds[last], b.live[last]
        for x in range(kinds):
            for y in range(kinds):
                met[x, y] = 0
                won[x, y] = 0
        for i in range(live):
            mask, rank, x = hands.mask[b.order[i]], b.rank[i], U(b.member[last, i])
            for j in range(i):  # weaker or equal hands
                if hands.mask[b.order[j]] & mask == U(0):
                    y = U(b.member[last, j])
                    met[x, y] += np.float32(1)
                    won[x, y] += np.float32(b.rank[j] < rank)
        for x in range(kinds):
            for y in range(kinds):
                at, to = b.bucket[last, x], b.bucket[last, y]
                pairs[at, to] += met[x, y] + met[y, x]
                wins[at, to] += won[x, y] - won[y, x]
