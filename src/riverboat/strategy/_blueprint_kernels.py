"""Compiled passes over the tables of blueprints, which lie bucket by bucket (`games.action_tree.ActionTree`)."""

from __future__ import annotations

from riverboat.jit import kernel


@kernel
def to_steps(
    sums,  # number [buckets, moves of the street], not negative
    slot,  # int32 [decisions]: where each decision's moves begin
    count,  # int8 [decisions]
    whole,
    rest,  # float64 [most moves] OUT: what rounding down took away
    out,  # uint8 [buckets, moves of the street] OUT: the steps of a decision sum to whole, or to 0 where nothing was added
):
    """Round shares to steps of 1/whole by largest remainders, so that no share moves by a whole step."""
    for bucket in range(sums.shape[0]):
        for decision in range(len(slot)):
            at, moves = slot[decision], count[decision]
            total = 0.0
            for a in range(moves):
                total += sums[bucket, at + a]
            left = whole if total > 0 else 0
            for a in range(moves):
                share = sums[bucket, at + a] / total * whole if total > 0 else 0.0
                steps = int(share)
                rest[a] = share - steps
                out[bucket, at + a] = steps
                left -= steps
            while left > 0:
                best = 0
                for a in range(1, moves):
                    if rest[a] > rest[best]:
                        best = a
                rest[best] = -1.0
                out[bucket, at + best] += 1
                left -= 1
