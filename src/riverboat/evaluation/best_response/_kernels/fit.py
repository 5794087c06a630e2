"""What the ends of the last street are worth to each bucket: what a response of the abstract game is fitted on."""

from __future__ import annotations

import numpy as np

from riverboat.compiled.jit import kernel
from riverboat.compiled.simd import lanes_of
from riverboat.compiled.simd import load_fitting as load
from riverboat.compiled.simd import store_fitting as store
from riverboat.evaluation.best_response._kernels.last_street import MOVE, SHOWN, BoardHands, find_rows, sweep_batch

U = np.uint64


@kernel
def add_ends(
    cards,  # Cards
    last,  # LastStreet
    room,  # Room, as a walk of one board has left it
    out,  # float [rows · buckets · lanes] INOUT: a row for each end, as those of its pay
):
    """Add up what the ends are worth on one board, by bucket of the responder's hand."""
    s, inner = len(cards.shown) - 1, room.last
    first, second, bucket, live = room.first[s], room.second[s], room.bucket[s], room.live[s]
    two = cards.hole == 2
    hands = BoardHands(cards.deck, first, second, room.rank, two, room.source[s], live, len(cards.mask))
    lanes = lanes_of(inner.reach)
    buckets = U(len(out) // len(last.pay))
    find_rows(last, bucket, live, inner)
    weight = last.weight if len(last.weight) else inner.weight
    for b in range(len(last.batch)):
        if not inner.alive[b]:
            continue
        sweep_batch(last, weight, b, hands, inner)
        shown, size = U(last.batch[b, 1]) * lanes, U(last.batch[b, 2]) * lanes
        for i in range(last.batch[b, 3], last.batch[b, 4]):
            if last.op[i, 0] == MOVE:
                continue
            q, row = U(last.op[i, 1]) * lanes, U(last.op[i, 4])
            pay, total = load(last.pay, row * lanes), load(inner.total, q)
            for k in range(live):
                met = total - load(inner.sums, U(first[k]) * size + q) - load(inner.sums, U(second[k]) * size + q)
                if two:
                    met = met + load(inner.reach, U(k) * size + q)
                x = pay * (load(inner.beats, U(k) * shown + q) - met) if last.op[i, 0] == SHOWN else pay * met
                to = (row * buckets + U(bucket[k])) * lanes
                store(out, to, load(out, to) + x)
