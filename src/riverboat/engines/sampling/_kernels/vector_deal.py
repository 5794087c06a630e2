"""Compiled deals of training by vectors: boards, their hands from weak to strong, and those of each bucket side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.atomics import take
from riverboat.compiled.jit import kernel
from riverboat.compiled.rng import draw
from riverboat.core.arrays import Array
from riverboat.engines.sampling._kernels.deal import deal_cards
from riverboat.engines.sampling._kernels.public_chance import find_buckets, order_hands

U, V = np.uint64, np.uint32
CARD_BITS, TIE, BUCKET, RUN = 6, 12, 13, 16  # as in `_vector_cuda_kernels`


class Boards(NamedTuple):
    """What is dealt, see `_vector_cuda_kernels.Dealt`; where that of a street begins, and how many runs a board has there."""

    seen: Array  # uint32
    by_bucket: Array  # int32
    run: Array  # int32
    at: Array  # int64 [streets]
    run_at: Array  # int64 [streets]
    runs: Array  # int64 [streets]
    first: Array  # int32 [hands + 1] scratch of a thread


@kernel
def deal_boards(game, look, hands, b, deals, out):
    """Boards begin … end - 1 of a run, taken in turn by threads."""
    last = len(hands.shown) - 1
    while True:
        number = take(deals.turn)
        if deals.begin + number >= deals.end:
            return
        deal_cards(game.deck, draw(deals.seed, deals.begin + number), U(0), 0, b.cards, game.hole, game.board)
        order_hands(game, hands, b)
        find_buckets(game, look, hands, b)
        for s in range(last + 1):
            live, kinds = b.live[s], b.kinds[s]
            at = out.at[s] + number * live
            for j in range(kinds + 1):
                out.first[j] = 0
            for i in range(live):
                bucket, tie = b.bucket[s, b.member[s, i]], i + 1 >= b.live[last] or b.rank[i + 1] != b.rank[i]
                held = V(b.first[i]) | V(b.second[i]) << V(CARD_BITS) | V(tie) << V(TIE) | V(bucket) << V(BUCKET)
                out.seen[at + i] = held
                out.first[b.member[s, i] + 1] += 1
            r, to = (out.run_at[s] + number * out.runs[s]) * 3, 0
            for j in range(kinds):
                some, begin = out.first[j + 1], to
                out.first[j] = to
                to += some
                while begin < to:
                    out.run[r], out.run[r + 1], out.run[r + 2] = begin, min(RUN, to - begin), b.bucket[s, j]
                    r, begin = r + 3, begin + RUN
            end = (out.run_at[s] + (number + 1) * out.runs[s]) * 3
            while r < end:
                out.run[r + 1] = 0
                r += 3
            for i in range(live):
                j = b.member[s, i]
                out.by_bucket[at + out.first[j]] = i
                out.first[j] += 1
