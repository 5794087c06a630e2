"""Compiled steps at the nodes of a street: regret matching, reach down, values up, updates of regrets and averages.

Vectors over the rows of a board are processed sixteen elements at a time (`riverboat.compiled.simd`). A user-defined
rule replaces `regret_matching` and `update_regrets`, as in `riverboat.solvers.tabular.cfr`. The module also has the
loops of rows that share a bucket, and the gadgets at the root of a subgame. Regret matching: Zinkevich et al. 2007;
discounts: Brown & Sandholm 2019; predictions: Farina et al. 2021.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.atomics import fetch_add
from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import (
    SIMD_WIDTH,
    broadcast,
    load,
    load_masked,
    maximum,
    prefetch,
    select_greater,
    store,
    store_masked,
)
from riverboat.core.arrays import Array

UPDATE, EVALUATE, BEST_RESPONSE = 0, 1, 2
U = np.uint64
L = U(SIMD_WIDTH)
MIN_REGRET_SUM = 1e-30  # smaller sums of positive regrets count as zero
# Added and subtracted again, this turns regrets that have decayed to almost nothing into zeros. Otherwise they would
# become denormal numbers, on which some processors are a hundred times slower.
ROUNDING_DUST = 2.0**-40


class BoardTables(NamedTuple):
    """Tables of an engine: [board][player][decision, action][row], flat."""

    regret: Array  # float or int16 INOUT
    average: Array  # float or uint16 INOUT: weighted mean of reach × strategy; played except in UPDATE
    prediction: Array  # float or int16 INOUT, or empty
    opp_regret: Array  # regrets from which the opponent plays
    opp_prediction: Array
    lock: Array  # int32 [locks, 3]: board, node, offset of its strategy in locked; ascending
    locked: Array  # float [numbers]: probabilities [action][row] of a locked node, negative where a row is free


@inline
def proportional_strategy(
    table,  # regrets or averages
    prediction,  # table that is added to the first, or the same table if not predictive
    predictive,  # whether the prediction is added
    at,  # offset of the information sets of this node
    num_actions,
    num_hands,
    stride,
    reach,  # float [hand] from offset `begin`: the player's reach at this node
    begin,
    strategy,  # float [action, hand] OUT, from offset `to`
    stores,  # whether the strategy is written
    child_reach,  # float [action, hand] OUT: reach × strategy, from offset `to`
    to,  # offset of both outputs
):
    """Compute a strategy in proportion to the positive part of a table, and push reach to the children.

    The strategy is uniform where no entry is positive.
    """
    kind = child_reach.dtype.type
    zero, one = broadcast(child_reach, kind(0)), broadcast(child_reach, kind(1))
    tiny = broadcast(child_reach, kind(MIN_REGRET_SUM))
    uniform = broadcast(child_reach, kind(1) / kind(num_actions))
    for h in range(U(0), num_hands, L):
        count = min(num_hands - h, L)
        total = zero
        for a in range(num_actions):
            x = load_masked(table, at + a * num_hands + h, count)
            prefetch(table, at + (num_actions + a) * num_hands + h)  # table of the player's next node
            if predictive:
                x = x + load_masked(prediction, at + a * num_hands + h, count)
            x = maximum(x, zero)
            store(child_reach, to + a * stride + h, x)
            total = total + x
        scale = select_greater(total, tiny, one / maximum(total, tiny), zero)
        uniform_part = select_greater(total, tiny, zero, uniform)
        weight = load(reach, begin + h)
        for a in range(num_actions):
            x = load(child_reach, to + a * stride + h) * scale + uniform_part
            if stores:
                store(strategy, to + a * stride + h, x)
            store(child_reach, to + a * stride + h, x * weight)


@inline
def regret_matching(
    regret, prediction, at, num_actions, num_hands, t, stride, reach, begin, strategy, stores, child_reach, to
):
    """Compute the strategy by regret matching and push reach probabilities to the children.

    Actions are played in proportion to their positive regrets, uniformly where no regret is positive (Zinkevich et al.
    2007). Arguments are those of `proportional_strategy`; `t`, the iteration, is for user-defined rules.
    """
    predictive = len(prediction) > 0
    proportional_strategy(
        regret,
        prediction,
        predictive,
        at,
        num_actions,
        num_hands,
        stride,
        reach,
        begin,
        strategy,
        stores,
        child_reach,
        to,
    )


@inline
def update_regrets(
    regret,  # table INOUT
    prediction,  # table INOUT, or empty
    at,
    num_actions,
    num_hands,
    step,  # float64 [6], see `BoardEngine.iterate`
    stride,
    value,  # float: counterfactual values; of each action at `child_offsets`
    child_offsets,  # int64 [actions]
    node,  # offset in value of the node's own value OUT
    strategy,  # float: the node's strategy; a user-defined rule may overwrite it
    to,
    weight,  # float [actions]: weight of each action's regret
):
    """Compute the node's value and update its regrets: discount, add the instantaneous regrets, apply the floor.

    Regrets of actions may be weighted: the potential of regret matching is then a weighted sum of squared regrets.
    """
    kind = value.dtype.type
    positive_factor, negative_factor = broadcast(value, kind(step[0])), broadcast(value, kind(step[1]))
    floor = broadcast(value, kind(step[2]))
    zero, dust = broadcast(value, kind(0)), broadcast(value, kind(ROUNDING_DUST))
    predictive, t = len(prediction) > 0, U(step[4])
    for h in range(U(0), num_hands, L):
        count = min(num_hands - h, L)
        mean = load(strategy, to + h) * load(value, U(child_offsets[0]) + h)
        for a in range(U(1), num_actions):
            mean = mean + load(strategy, to + a * stride + h) * load(value, U(child_offsets[a]) + h)
        store(value, node + h, mean)
        for a in range(num_actions):
            entry = at + a * num_hands + h
            gain = (load(value, U(child_offsets[a]) + h) - mean) * broadcast(value, weight[a])
            r = load_masked(regret, entry, count)
            r = (r * select_greater(r, zero, positive_factor, negative_factor) + gain + dust) - dust
            store_masked(regret, entry, maximum(r, floor), count, t)
            if predictive:
                store_masked(prediction, entry, gain, count, t)


@inline
def update_average(
    average,  # table INOUT
    at,
    num_actions,
    num_hands,
    step,  # float64 [6]
    stride,
    own,  # float [action, hand] from offset `below`: the player's reach after each action
    below,
):
    """Update the weighted mean of reach × strategy in the table of averages."""
    kind = own.dtype.type
    old, new, t = broadcast(own, kind(step[3])), broadcast(own, kind(step[5])), U(step[4])
    for a in range(num_actions):
        for h in range(U(0), num_hands, L):
            count = min(num_hands - h, L)
            entry = at + a * num_hands + h
            x = load_masked(average, entry, count) * old + load(own, below + a * stride + h) * new
            store_masked(average, entry, x, count, t)


@inline
def find_lock(lock, board, node):
    """Return the index in `lock` of a node on a board, or -1 if the node is not locked there."""
    for i in range(len(lock)):
        if lock[i, 0] == board and lock[i, 1] == node:
            return i
    return -1


@inline
def push_reach_down(
    forest,  # BettingForest
    seat,  # SeatLayout of `me`
    me,
    first,
    end,  # nodes first … end - 1
    base,  # int64 [2]: offsets of the players' tables of the board
    rows,  # int32 [2]
    stride,
    tables,  # BoardTables
    step,  # float64 [6]
    mode,
    f,  # TraversalVectors
):
    """Compute the reach at all nodes of a street from the reach at its roots."""
    average = tables.average
    for n in range(first, end):
        who = forest.actor[n]
        if who < 0:
            continue
        width, count = U(forest.width[n]), U(rows[who])
        at = U(base[who]) + U(forest.slot[n]) * count
        below = U(seat.below[n])
        if who == me:
            begin = U(seat.own[n])
            if mode == UPDATE:
                regret_matching(
                    tables.regret, tables.prediction, at, width, count, step[4], stride, f.own, begin, f.sigma, True,
                    f.own, below,
                )  # fmt: skip
                for k in range(U(0), width * count, L):
                    prefetch(tables.average, at + k)  # for the pass up
            elif mode == EVALUATE:
                proportional_strategy(
                    average, average, False, at, width, count, stride, f.own, begin, f.sigma, True, f.own, below
                )
        else:
            begin = U(seat.opp[n])
            if mode == UPDATE:
                regret_matching(
                    tables.opp_regret, tables.opp_prediction, at, width, count, step[4], stride, f.opp, begin, f.sigma,
                    False, f.opp, below,
                )  # fmt: skip
            else:
                proportional_strategy(
                    average, average, False, at, width, count, stride, f.opp, begin, f.sigma, False, f.opp, below
                )


@inline
def pull_values_up(forest, seat, me, first, end, board, base, rows, stride, tables, step, mode, f):
    """Compute the values at all nodes of a street from the values at its leaves, and update regrets and averages."""
    child_offsets, weight, value = f.child_offsets, f.weight, f.value
    count = U(rows[me])
    for k in range(end - first):
        n = end - 1 - k
        who = forest.actor[n]
        if who < 0:
            continue
        width, to, below = U(forest.width[n]), U(seat.value[n]), U(seat.below[n])
        child = n + 1
        for a in range(width):
            child_offsets[a] = seat.value[child]
            weight[a] = forest.share[child]
            child = forest.end[child]
        if who != me:
            for h in range(U(0), count, L):
                total = load(value, U(child_offsets[0]) + h)
                for a in range(U(1), width):
                    total = total + load(value, U(child_offsets[a]) + h)
                store(value, to + h, total)
            continue
        at = U(base[me]) + U(forest.slot[n]) * count
        if mode == BEST_RESPONSE:
            for h in range(U(0), count, L):
                best = load(value, U(child_offsets[0]) + h)
                for a in range(U(1), width):
                    best = maximum(best, load(value, U(child_offsets[a]) + h))
                store(value, to + h, best)
        elif mode == UPDATE:
            update_regrets(
                tables.regret, tables.prediction, at, width, count, step, stride, value, child_offsets, to, f.sigma, below,
                weight,
            )  # fmt: skip
            update_average(tables.average, at, width, count, step, stride, f.own, below)
        else:
            for h in range(U(0), count, L):
                total = load(f.sigma, below + h) * load(value, U(child_offsets[0]) + h)
                for a in range(U(1), width):
                    total = total + load(f.sigma, below + a * stride + h) * load(value, U(child_offsets[a]) + h)
                store(value, to + h, total)
        if len(tables.lock) > 0 and mode != EVALUATE:
            apply_lock(tables, find_lock(tables.lock, board, n), at, width, count, mode, value, child_offsets, to)


@inline
def apply_lock(tables, lock, at, width, rows, mode, value, child_offsets, to):
    """Apply a lock: write regrets that play its strategy, or in BEST_RESPONSE use its value."""
    if lock < 0:
        return
    offset = U(tables.lock[lock, 2])
    for h in range(rows):
        if tables.locked[offset + h] >= 0:
            total = value[to + h] * 0
            for a in range(width):
                p = tables.locked[offset + a * rows + h]
                total += p * value[U(child_offsets[a]) + h]
                if mode == UPDATE:
                    tables.regret[at + a * rows + h] = p
                    if len(tables.prediction) > 0:
                        tables.prediction[at + a * rows + h] = 0
            if mode == BEST_RESPONSE:
                value[to + h] = total


# --- rows that share a bucket -------------------------------------------------------------------------


class TiedStreetRows(NamedTuple):
    """Rows of one player on the boards of one street, with their buckets."""

    base: Array  # int64 [boards]: offset of the player's table of each board
    rows: Array  # int64 [boards]
    first: Array  # int64 [boards]: offset of the rows of each board in bucket and weight
    bucket: Array  # int32 [rows of all boards]
    weight: Array  # float64 [rows of all boards]: share of the row in its bucket, by the deals that it represents
    slots: int  # vectors of a board: one for each decision and action
    buckets: int


@kernel
def average_tied_rows(
    table,  # INOUT: regrets, predictions or averages, in any format
    street,  # TiedStreetRows
    floor,
    rounding_step,  # iteration, for the dithered rounding of 16-bit tables
    counter,  # int64 [1] INOUT: next slot, shared by all threads
    mean,  # float [buckets] scratch
    vector,  # float [stride] scratch
):
    """Replace all rows of a bucket by their weighted mean, not below the floor; threads take slots in turn."""
    base, rows, first, bucket, weight = street.base, street.rows, street.first, street.bucket, street.weight
    kind = mean.dtype.type
    low, dust = kind(floor), kind(ROUNDING_DUST)
    while True:
        slot = fetch_add(counter)
        if slot >= street.slots:
            break
        for k in range(len(mean)):
            mean[k] = 0
        for b in range(len(rows)):
            count, at = U(rows[b]), U(base[b] + slot * rows[b])
            for h in range(U(0), count, L):
                store(vector, h, load_masked(table, at + h, min(count - h, L)))
            for r in range(rows[b]):
                mean[bucket[first[b] + r]] += weight[first[b] + r] * vector[r]
        for k in range(len(mean)):
            mean[k] = max((mean[k] + dust) - dust, low)  # rounding errors of zero become zero
        for b in range(len(rows)):
            count, at = U(rows[b]), U(base[b] + slot * rows[b])
            for r in range(rows[b]):
                vector[r] = mean[bucket[first[b] + r]]
            for h in range(U(0), count, L):
                store_masked(table, at + h, load(vector, h), min(count - h, L), U(rounding_step))


# --- gadget at the root of a subgame: a stop payoff for each hand, or the choice of a hand ---------------

NO_GADGET, STOP, CHOOSE = 0, 1, 2
TINY = 1e-30  # smaller sums of positive regrets count as zero


class GadgetState(NamedTuple):
    """State of a gadget at the root of a subgame.

    STOP has one information set for each row and draw, with the actions stop and enter. CHOOSE has one information set
    with an action for each hand. With limits on the values of hands, CHOOSE also has an information set with the actions
    stop and enter for each hand, which pays `multiplier` times the excess over the limit.
    """

    kind: int
    player: int
    regret: Array  # float64 [actions, rows × draws, or hands] INOUT; CHOOSE: choice, and with limits stop and enter
    average: Array  # float64 […] INOUT: weighted mean of the strategy; of an entry with a limit times its multiplier
    prediction: Array  # float64 […] INOUT, or empty
    opp_regret: Array  # regrets that the opponent faces
    opp_prediction: Array
    row: Array  # int32 [rows × draws, or hands]: row at the root
    share: Array  # float64 […]: probability of the draw
    factor: Array  # float64 […]: factor on the row's value
    offset: Array  # float64 […]: value of stopping; or shift of a chosen hand
    entry: Array  # float64 […]: reach at the root, as the opponent sees it, if it enters or is chosen with certainty
    limit: Array  # float64 [hands]: most that a hand may be worth, in the unit of `offset`; empty without limits
    multiplier: Array  # float64 [hands]: factor on the excess; empty without limits
    sigma: Array  # float64 [actions, …] scratch
    instant: Array  # float64 [actions, …] scratch


@inline
def match_stop_or_enter(regret, prediction, t, first, out):
    """Compute the strategy at decisions between actions `first` (stop) and `first` + 1 (enter) by regret matching."""
    for k in range(regret.shape[1]):
        stop, enter = regret[first, k], regret[first + 1, k]
        if len(prediction) > 0:
            stop += prediction[first, k]
            enter += prediction[first + 1, k]
        stop, enter = max(stop, 0.0), max(enter, 0.0)
        total = stop + enter
        out[first, k] = stop / total if total > TINY else 0.5
        out[first + 1, k] = enter / total if total > TINY else 0.5


@inline
def match_choice(regret, prediction, t, out):
    """Compute the strategy of the choice of a hand by regret matching."""
    hands, total = regret.shape[1], 0.0
    for k in range(hands):
        x = regret[0, k]
        if len(prediction) > 0:
            x += prediction[0, k]
        out[0, k] = max(x, 0.0)
        total += out[0, k]
    for k in range(hands):
        out[0, k] = out[0, k] / total if total > TINY else 1.0 / hands


@inline
def update_root_regrets(regret, prediction, step, instant):
    """Update the gadget's regrets: discount, add the instantaneous regrets, apply the floor."""
    for a in range(regret.shape[0]):
        for s in range(regret.shape[1]):
            r = regret[a, s]
            r = r * (step[0] if r > 0 else step[1]) + instant[a, s]
            r = 0.0 if -TINY < r < TINY else r  # before it decays into denormal numbers, which are slow
            regret[a, s] = max(r, step[2])
            if len(prediction) > 0:
                prediction[a, s] = instant[a, s]


@kernel
def enter_root(gadget, me, rows, t, own, opp):
    """Compute the gadget's strategy and the reach at the root of its player's hands.

    If `me` is the gadget's player the reach is written to `own`, else to `opp`.
    """
    is_gadget_player = me == gadget.player
    regret = gadget.regret if is_gadget_player else gadget.opp_regret
    prediction = gadget.prediction if is_gadget_player else gadget.opp_prediction
    out = own if is_gadget_player else opp
    for r in range(rows):
        out[r] = 0
    if gadget.kind == STOP:
        match_stop_or_enter(regret, prediction, t, 0, gadget.sigma)
        for k in range(len(gadget.row)):
            p = gadget.sigma[1, k]
            out[gadget.row[k]] += p * gadget.share[k] if is_gadget_player else p * gadget.entry[k]
        return
    match_choice(regret, prediction, t, gadget.sigma)
    limited = len(gadget.limit) > 0
    if limited:
        match_stop_or_enter(regret, prediction, t, 1, gadget.sigma)
    for k in range(len(gadget.row)):
        p = gadget.sigma[0, k]
        if limited:
            p += gadget.multiplier[k] * gadget.sigma[2, k]
        out[gadget.row[k]] = p if is_gadget_player else p * gadget.entry[k]


@kernel
def update_root(gadget, step, value, at):
    """Update the gadget's regrets and averages from its player's values at the root, from offset `at` of `value`."""
    sigma, instant = gadget.sigma, gadget.instant
    if gadget.kind == STOP:
        for k in range(len(gadget.row)):
            enter_value, stop_value = value[at + gadget.row[k]] * gadget.factor[k], gadget.offset[k]
            mean = sigma[0, k] * stop_value + sigma[1, k] * enter_value
            instant[0, k] = stop_value - mean
            instant[1, k] = enter_value - mean
    else:
        mean = 0.0
        for k in range(len(gadget.row)):
            x = value[at + gadget.row[k]] * gadget.factor[k]
            instant[0, k] = x - gadget.offset[k]
            mean += sigma[0, k] * instant[0, k]
            if len(gadget.limit) > 0:
                excess = x - gadget.limit[k]
                instant[1, k] = -sigma[2, k] * excess
                instant[2, k] = sigma[1, k] * excess
        for k in range(len(gadget.row)):
            instant[0, k] -= mean
    for a in range(sigma.shape[0]):
        for s in range(sigma.shape[1]):
            weight = step[5] * gadget.multiplier[s] if gadget.kind == CHOOSE and a > 0 else step[5]
            gadget.average[a, s] = gadget.average[a, s] * step[3] + sigma[a, s] * weight
    update_root_regrets(gadget.regret, gadget.prediction, step, instant)
