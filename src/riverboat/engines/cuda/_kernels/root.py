"""Gadgets at the root of a subgame on a GPU, the counterpart of `riverboat.engines.cpu._kernels.node`, by one block.

`riverboat.engines.cuda.compilation` compiles the functions and sets the names that are None here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from riverboat.core.arrays import Array
from riverboat.engines.cpu._kernels.node import STOP, TINY
from riverboat.engines.cuda._kernels.intrinsics import cuda
from riverboat.engines.cuda._kernels.node import ONE, ZERO, U

PREDICTIVE: Any = None  # whether the schedule is predictive
MAX_SUMMING_THREADS = 32
THREE = U(3)  # actions of a set: see `CudaGadgets`


class CudaGadgets(NamedTuple):
    """Gadgets of all games, see `riverboat.engines.cpu._kernels.node.GadgetState`.

    In a game with `sets` sets that begin at `at`, action a of set k has the index 3 * at + a * sets + k: stop and enter
    (STOP), or the choice of hand k, and with limits stop and enter with it.
    """

    kind: Array  # int32 [games]
    player: Array  # int32 [games]
    at: Array  # int64 [games]
    sets: Array  # int32 [games]: rows × draws (STOP; set k belongs to row k modulo rows), or hands to choose from
    row: Array  # int32 [all sets]
    share: Array  # float64 […]
    factor: Array  # float64 […]
    offset: Array  # float64 […]
    entry: Array  # float64 […]
    limit: Array  # float64 […]
    multiplier: Array  # float64 […]: zero without limits
    regret: Array  # float64 [3 * all sets] INOUT
    average: Array  # float64 […] INOUT
    prediction: Array  # float64 […] INOUT
    opp_regret: Array  # float64 […]
    opp_prediction: Array  # float64 […]


def root_action_weight(gadgets, mine, i):
    """Return the weight of action i in regret matching: the positive part of its regret with the prediction.

    `mine`: whether to read the tables of the gadget's player, or the copies that its opponent plays against.
    """
    x = gadgets.regret[i] if mine else gadgets.opp_regret[i]
    if PREDICTIVE:
        x += gadgets.prediction[i] if mine else gadgets.opp_prediction[i]
    return max(x, 0.0)


def num_summing_threads():
    """Return the number of threads that sum; each uses one number in the shared memory of payoffs."""
    return min(U(cuda.blockDim.x), U(MAX_SUMMING_THREADS))


def block_sum(memory, at, x):
    """Return the sum of the summing threads' numbers x to each thread; `memory` is used from offset `at` on."""
    cuda.syncthreads()
    if U(cuda.threadIdx.x) < num_summing_threads():
        memory[at + U(cuda.threadIdx.x)] = x
    cuda.syncthreads()
    total, k = 0.0, ZERO
    while k < num_summing_threads():
        total += memory[at + k]
        k += ONE
    return total


def root_weight_sum(gadgets, base, sets, mine, memory, at):
    """Return the sum of the weights of all hands that can be chosen, by all threads of a block."""
    partial_sum, k = 0.0, U(cuda.threadIdx.x)
    while k < sets and U(cuda.threadIdx.x) < num_summing_threads():
        partial_sum += root_action_weight(gadgets, mine, base + k)
        k += num_summing_threads()
    return block_sum(memory, at, partial_sum)


def enter_probability(gadgets, base, sets, k, mine):
    """Return the probability that set k enters; `base` is the index of the first set's action stop."""
    stop_weight = root_action_weight(gadgets, mine, base + k)
    enter_weight = root_action_weight(gadgets, mine, base + sets + k)
    return enter_weight / (stop_weight + enter_weight) if stop_weight + enter_weight > TINY else 0.5


def root_probability(gadgets, base, sets, k, stop, mine, total):
    """Return the probability that set k enters (STOP), or that hand k is chosen; `total`: sum of the weights."""
    if stop:
        return enter_probability(gadgets, base, sets, k, mine)
    return root_action_weight(gadgets, mine, base + k) / total if total > TINY else 1.0 / sets


def enter_root(gadgets, game, table, slots, mine_at, theirs_at, memory):
    """Compute the reach at the root of the gadget's player from the gadget's strategy, with all threads of a block.

    It is written to `mine_at` of `slots` if the traversing player is the gadget's player, else to `theirs_at`.
    """
    if gadgets.kind[game] == 0:
        return
    own, stop = U(gadgets.player[game]) == table.me, gadgets.kind[game] == STOP
    at, sets = U(gadgets.at[game]), U(gadgets.sets[game])
    base = THREE * at
    out, rows = (mine_at, table.rows) if own else (theirs_at, table.others)
    total = 0.0 if stop else root_weight_sum(gadgets, base, sets, own, memory, table.pays)
    r = U(cuda.threadIdx.x)
    while r < rows:
        x, k = 0.0, r
        while stop and k < sets:  # all draws of the row
            p = root_probability(gadgets, base, sets, k, stop, own, total)
            x += p * (gadgets.share[at + k] if own else gadgets.entry[at + k])
            k += rows
        slots[out + r] = x
        r += U(cuda.blockDim.x)
    cuda.syncthreads()
    k = U(cuda.threadIdx.x)
    while not stop and k < sets:
        p = root_probability(gadgets, base, sets, k, stop, own, total)
        if gadgets.multiplier[at + k] > 0:
            p += gadgets.multiplier[at + k] * enter_probability(gadgets, base + sets, sets, k, own)
        slots[out + U(gadgets.row[at + k])] = p if own else p * gadgets.entry[at + k]
        k += U(cuda.blockDim.x)
    cuda.syncthreads()


def update_root_regret(gadgets, i, instant, played, step):
    """Update the average and the regret of action i: discount, add the instantaneous regret, apply the floor."""
    gadgets.average[i] = gadgets.average[i] * step[3] + played * step[5]
    r = gadgets.regret[i]
    r = r * (step[0] if r > 0 else step[1]) + instant
    r = 0.0 if -TINY < r < TINY else r
    gadgets.regret[i] = max(r, step[2])
    if PREDICTIVE:
        gadgets.prediction[i] = instant


def update_root(gadgets, game, table, slots, value, step, memory):
    """Update the gadget's regrets and averages from its player's values at the root, from offset `value` of `slots`."""
    if gadgets.kind[game] == 0 or U(gadgets.player[game]) != table.me:
        return
    stop, at, sets = gadgets.kind[game] == STOP, U(gadgets.at[game]), U(gadgets.sets[game])
    base = THREE * at
    total = 0.0 if stop else root_weight_sum(gadgets, base, sets, True, memory, table.pays)
    partial_sum, k = 0.0, U(cuda.threadIdx.x)
    if not stop:
        while k < sets and U(cuda.threadIdx.x) < num_summing_threads():
            x = slots[value + U(gadgets.row[at + k])] * gadgets.factor[at + k] - gadgets.offset[at + k]
            partial_sum += root_probability(gadgets, base, sets, k, stop, True, total) * x
            k += num_summing_threads()
    mean = block_sum(memory, table.pays, partial_sum)
    k = U(cuda.threadIdx.x)
    while k < sets:
        p = root_probability(gadgets, base, sets, k, stop, True, total)
        x = slots[value + U(gadgets.row[at + k])] * gadgets.factor[at + k]
        if stop:
            stop_value = gadgets.offset[at + k]
            mean = (1.0 - p) * stop_value + p * x
            update_root_regret(gadgets, base + k, stop_value - mean, 1.0 - p, step)
            update_root_regret(gadgets, base + sets + k, x - mean, p, step)
        else:
            update_root_regret(gadgets, base + k, x - gadgets.offset[at + k] - mean, p, step)
            multiplier = gadgets.multiplier[at + k]
            if multiplier > 0:
                enter, excess = enter_probability(gadgets, base + sets, sets, k, True), x - gadgets.limit[at + k]
                stop_at = base + sets + k
                update_root_regret(gadgets, stop_at, -enter * excess, multiplier * (1.0 - enter), step)
                update_root_regret(gadgets, stop_at + sets, (1.0 - enter) * excess, multiplier * enter, step)
        k += U(cuda.blockDim.x)
    cuda.syncthreads()
