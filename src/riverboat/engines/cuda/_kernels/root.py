"""The choice at the root of a subgame on a GPU: what `riverboat.engines.cpu._kernels.gadget` does for processors, by one block.

Compiled by `riverboat.engines.cuda.compilation`, which sets the names that are None here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.gadget import STOP, TINY
from riverboat.engines.cuda._kernels.node import ONE, TWO, ZERO, U
from riverboat.engines.cuda._kernels.numbers import cuda

GUESSES: Any = None  # whether a schedule predicts
ADDERS = 32


class Gadgets(NamedTuple):
    """Those of all games, see `riverboat.engines.cpu._kernels.gadget.Gadget`; of a game with `sets` sets that begin at `at`, move a
    of set k is number 2 * at + a * sets + k."""

    kind: Array  # int32 [games]
    player: Array  # int32 [games]
    at: Array  # int64 [games]
    sets: Array  # int32 [games]: rows × draws (STOP; set k is of row k modulo rows), or hands that are chosen from
    row: Array  # int32 [all sets]
    share: Array  # float64 […]
    factor: Array  # float64 […]
    offset: Array  # float64 […]
    entry: Array  # float64 […]
    regret: Array  # float64 [2 * all sets] INOUT
    average: Array  # float64 […] INOUT
    prediction: Array  # float64 […] INOUT
    opp_regret: Array  # float64 […]
    opp_prediction: Array  # float64 […]


def root_weight(gadgets, mine, i):
    """What a move is played in proportion to."""
    x = gadgets.regret[i] if mine else gadgets.opp_regret[i]
    if GUESSES:
        x += gadgets.prediction[i] if mine else gadgets.opp_prediction[i]
    return max(x, 0.0)


def adders():
    """Threads that sum; each has a number in the block's memory, where else pay-offs are noted."""
    return min(U(cuda.blockDim.x), U(ADDERS))


def block_sum(memory, at, x):
    """The sum of what the adders have, for each thread of the block."""
    cuda.syncthreads()
    if U(cuda.threadIdx.x) < adders():
        memory[at + U(cuda.threadIdx.x)] = x
    cuda.syncthreads()
    total, k = 0.0, ZERO
    while k < adders():
        total += memory[at + k]
        k += ONE
    return total


def root_total(gadgets, base, sets, mine, memory, at):
    """Weights of all hands that may be chosen."""
    some, k = 0.0, U(cuda.threadIdx.x)
    while k < sets and U(cuda.threadIdx.x) < adders():
        some += root_weight(gadgets, mine, base + k)
        k += adders()
    return block_sum(memory, at, some)


def root_share(gadgets, base, sets, k, stop, mine, total):
    """How often a set enters (of STOP), or a hand is chosen."""
    if stop:
        out, go = root_weight(gadgets, mine, base + k), root_weight(gadgets, mine, base + sets + k)
        return go / (out + go) if out + go > TINY else 0.5
    return root_weight(gadgets, mine, base + k) / total if total > TINY else 1.0 / sets


def enter_root(gadgets, game, table, slots, mine_at, theirs_at, memory):
    """Reach at the root through the gadget: my own where the choice is mine, else the opponent's."""
    if gadgets.kind[game] == 0:
        return
    mine, stop = U(gadgets.player[game]) == table.me, gadgets.kind[game] == STOP
    at, sets = U(gadgets.at[game]), U(gadgets.sets[game])
    out, rows = (mine_at, table.rows) if mine else (theirs_at, table.others)
    total = 0.0 if stop else root_total(gadgets, TWO * at, sets, mine, memory, table.pays)
    r = U(cuda.threadIdx.x)
    while r < rows:
        x, k = 0.0, r
        while stop and k < sets:  # its draws
            p = root_share(gadgets, TWO * at, sets, k, stop, mine, total)
            x += p * (gadgets.share[at + k] if mine else gadgets.entry[at + k])
            k += rows
        slots[out + r] = x
        r += U(cuda.blockDim.x)
    cuda.syncthreads()
    k = U(cuda.threadIdx.x)
    while not stop and k < sets:
        p = root_share(gadgets, TWO * at, sets, k, stop, mine, total)
        slots[out + U(gadgets.row[at + k])] = p if mine else p * gadgets.entry[at + k]
        k += U(cuda.blockDim.x)
    cuda.syncthreads()


def absorb_root(gadgets, i, instant, played, step):
    """The average, and the regret: discount, add, floor."""
    gadgets.average[i] = gadgets.average[i] * step[3] + played * step[5]
    r = gadgets.regret[i]
    r = r * (step[0] if r > 0 else step[1]) + instant
    r = 0.0 if -TINY < r < TINY else r
    gadgets.regret[i] = max(r, step[2])
    if GUESSES:
        gadgets.prediction[i] = instant


def learn_root(gadgets, game, table, slots, value, step, memory):
    """What the choice has learnt from the values of its rows, which begin at `value`."""
    if gadgets.kind[game] == 0 or U(gadgets.player[game]) != table.me:
        return
    stop, at, sets = gadgets.kind[game] == STOP, U(gadgets.at[game]), U(gadgets.sets[game])
    base = TWO * at
    total = 0.0 if stop else root_total(gadgets, base, sets, True, memory, table.pays)
    some, k = 0.0, U(cuda.threadIdx.x)
    if not stop:
        while k < sets and U(cuda.threadIdx.x) < adders():
            x = slots[value + U(gadgets.row[at + k])] * gadgets.factor[at + k] - gadgets.offset[at + k]
            some += root_share(gadgets, base, sets, k, stop, True, total) * x
            k += adders()
    mean = block_sum(memory, table.pays, some)
    k = U(cuda.threadIdx.x)
    while k < sets:
        p = root_share(gadgets, base, sets, k, stop, True, total)
        x = slots[value + U(gadgets.row[at + k])] * gadgets.factor[at + k]
        if stop:
            stops = gadgets.offset[at + k]
            mean = (1.0 - p) * stops + p * x
            absorb_root(gadgets, base + k, stops - mean, 1.0 - p, step)
            absorb_root(gadgets, base + sets + k, x - mean, p, step)
        else:
            absorb_root(gadgets, base + k, x - gadgets.offset[at + k] - mean, p, step)
        k += U(cuda.blockDim.x)
    cuda.syncthreads()
