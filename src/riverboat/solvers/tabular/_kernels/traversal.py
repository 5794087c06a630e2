"""Compiled CFR traversal with vectors of hands.

`traverse` visits the tree in preorder with vectors over hands. Full traversals, public chance sampling (Johanson et al.
2012), evaluation and best response are modes of it. It stores one frame per level and does not recurse.

`match_regrets` and `update_regrets` are the local rule; `update_regrets_and_average` fuses the latter with the step that
follows. A user-defined rule replaces all three by compiling the same kernels with other globals
(`riverboat.solvers.tabular.cfr`).

Three things make small games fast. Reach and values are rows that children point to, so nothing is copied on the way
down or up. Loops over hands are few, because a loop of six costs little more than its start. Functions take whole
arrays and a row, so that nothing is sliced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, unrolled_kernel
from riverboat.compiled.rng import random
from riverboat.games.base import TERMINAL, Array
from riverboat.trees._kernels.tree import COMPARE_PAYOFF, CONSTANT_PAYOFF, MATRIX_PAYOFF

UPDATE, COLLECT_REACH, EVALUATE, RESPOND = 0, 1, 2, 3
U = np.uint64  # index type: with signed indices every access first tests whether it is negative
# Strategy sums with a smaller total count as zero, as in `riverboat.strategies._kernels.table`.
MIN_AVERAGE_SUM = 1e-290
MIN_REGRET_SUM = 1e-30  # smaller sums of positive regrets count as zero: their reciprocal would overflow in float32


class RegretTables(NamedTuple):
    """Tables of one player: a block of rows [actions, hands] for each information set."""

    regret: Array  # float [rows, own hands] INOUT
    average: Array  # float [rows, own hands] INOUT; in EVALUATE the strategy, not normalized
    prediction: Array  # float [rows, own hands] INOUT, or [0, own hands] if the schedule is not predictive
    delta: Array  # float [rows, own hands] INOUT: pending increments if nodes share infosets; OUT in RESPOND; or [0, …]
    opp_regret: Array  # float [rows, opponent hands]: regrets that define the opponent's strategy
    opp_prediction: Array  # float [rows, opponent hands] or [0, opponent hands]
    opp_average: Array  # float [rows, opponent hands]: the opponent's strategy in EVALUATE and RESPOND


class HandSpan(NamedTuple):
    """Hand indices that a traversal covers: low … high - 1 of the traverser, opp_low … opp_high - 1 of the opponent."""

    low: int
    high: int
    opp_low: int
    opp_high: int


class TraversalTask(NamedTuple):
    """Traverser, root and mode of a traversal."""

    me: int  # the traverser
    root: int
    mode: int  # UPDATE: CFR; COLLECT_REACH: reach at cuts only; EVALUATE: values of a profile; RESPOND: best response
    sample: bool  # whether public chance is sampled
    shared: bool  # whether nodes share infosets, so that increments collect in RegretTables.delta


class SubtreeCuts(NamedTuple):
    """Subtrees that are traversed as separate tasks."""

    node: Array  # int32 [cuts]: their roots, ascending
    value: Array  # float [cuts, own hands]: their counterfactual values
    own: Array  # float [cuts, own hands] OUT: traverser's reach there
    opp: Array  # float [cuts, opponent hands] OUT: reach of opponent and chance there


class TraversalFrames(NamedTuple):
    """One frame per level of the traversal. Row level * width + k + 1 belongs to child k, row 0 to the root."""

    node: Array  # int32 [depth]
    turn: Array  # int32 [depth]: the child being visited
    own_at: Array  # int32 [depth]: row of own
    opp_at: Array  # int32 [depth]: row of opp
    value_at: Array  # int32 [depth]: row of value
    own: Array  # float [rows, own hands]: traverser's reach
    opp: Array  # float [rows, opponent hands]: reach of opponent and chance
    value: Array  # float [rows, own hands]: counterfactual values of a subtree
    sigma: Array  # float [rows, own hands]: traverser's strategy
    sigma_opp: Array  # float [width, opponent hands]: opponent's strategy, in traversals that sample it
    mass: Array  # float64 [opponent hands + 1]: prefix sums at showdowns (scratch)
    journal: Array  # int32 [nodes] or [0]: a node of each infoset with pending increments in RegretTables.delta
    stamp: Array  # int64 [table] or [0]: last traversal that recorded the infoset starting there in the journal
    visits: Array  # int64 [1]: nodes visited


def make_frames(dtype: str, depth: int, width: int, own: int, opp: int, journal: int, table: int) -> TraversalFrames:
    """Allocate the frames of a traversal.

    `width` is the largest number of actions, `own` and `opp` are the players' numbers of hands, `journal` and `table`
    the sizes of the journal (0: none) and of the regret table.
    """
    rows = depth * width + 1
    return TraversalFrames(
        node=np.zeros(depth, np.int32),
        turn=np.zeros(depth, np.int32),
        own_at=np.zeros(depth, np.int32),
        opp_at=np.zeros(depth, np.int32),
        value_at=np.zeros(depth, np.int32),
        own=np.zeros((rows, own), dtype),
        opp=np.zeros((rows, opp), dtype),
        value=np.zeros((rows, own), dtype),
        sigma=np.zeros((rows, own), dtype),
        sigma_opp=np.zeros((width, opp), dtype),
        mass=np.zeros(opp + 1),
        journal=np.zeros(journal, np.int32),
        stamp=np.zeros(table if journal else 0, np.int64),
        visits=np.zeros(1, np.int64),
    )


@inline
def match_regrets(regret, prediction, at, num_actions, low, high, t, reach, parent_row, out, row):
    """Compute regret matching, times the reach at the node in row `parent_row` unless `reach` is None.

    User-defined rules replace this function; only they read the iteration `t`.
    """
    at, num_actions, low, high = U(at), U(num_actions), U(low), U(high)
    parent_row, row = U(parent_row), U(row)
    kind = out.dtype.type
    uniform = kind(1) / kind(num_actions)
    predicts = len(prediction) > 0
    for h in range(low, high):
        total = kind(0)
        for a in range(num_actions):
            x = regret[at + a, h]
            if predicts:
                x += prediction[at + a, h]
            x = max(x, kind(0))
            out[row + a, h] = x
            total += x
        mass = kind(1) if reach is None else reach[parent_row, h]
        # branch-free, because the branch would be unpredictable
        any_positive = total > MIN_REGRET_SUM
        scale = mass / max(total, kind(MIN_REGRET_SUM))
        scale = scale if any_positive else kind(0)
        fallback = kind(0) if any_positive else mass * uniform
        for a in range(num_actions):
            out[row + a, h] = out[row + a, h] * scale + fallback


@inline
def regret_matching(
    regret,  # float [rows, hands]
    prediction,  # float [rows, hands] or [0, hands]
    at,  # first row of the information set
    num_actions,
    low,
    high,
    t,  # iteration; only user-defined rules read it
    strategy,  # float [rows, hands] OUT: probabilities for the hands low … high - 1
    strategy_row,  # first row of strategy
):
    """Compute the strategy by regret matching: proportional to positive regrets, uniform if none is positive.

    Hart & Mas-Colell (2000); in CFR Zinkevich et al. (2007), eq. 8; predictions as in Farina et al. (2021).
    """
    match_regrets(regret, prediction, at, num_actions, low, high, t, None, 0, strategy, strategy_row)


@inline
def child_reach(
    regret,  # float [rows, hands]
    prediction,  # float [rows, hands] or [0, hands]
    at,
    num_actions,
    low,
    high,
    t,  # iteration; only user-defined rules read it
    reach,  # float [rows, hands] INOUT
    parent_row,  # row of the reach at this node
    child_row,  # first row of the reach after each action
):
    """Compute reach after each action of the opponent: reach at the node times regret matching, which is not stored."""
    match_regrets(regret, prediction, at, num_actions, low, high, t, reach, parent_row, reach, child_row)


@inline
def update_regrets(
    regret,  # float [rows, hands] INOUT
    prediction,  # float [rows, hands] INOUT, or [0, hands]
    at,  # first row of the information set
    num_actions,
    low,
    high,
    step,  # float64 [6], see `traverse`
    instant_regret,  # float [rows, hands]: regrets of this iteration
    instant_row,  # first row of instant_regret
):
    """Update regrets: discount, add the regrets of this iteration, apply the floor."""
    kind = regret.dtype.type
    up, down, least = kind(step[0]), kind(step[1]), kind(step[2])
    predicts = len(prediction) > 0
    for a in range(num_actions):
        for h in range(low, high):
            r = regret[at + a, h]
            regret[at + a, h] = max(r * (up if r > 0 else down) + instant_regret[instant_row + a, h], least)
        if predicts:
            for h in range(low, high):
                prediction[at + a, h] = instant_regret[instant_row + a, h]


@inline
def update_regrets_and_average(
    tables,  # RegretTables INOUT
    at,
    num_actions,
    low,
    high,
    step,  # float64 [6]
    share,  # float64 [hands]: scale to counterfactual regrets; only user-defined rules need it
    instant_regret,  # float [rows, hands]: regrets of this iteration, in the scale of traversals
    reach,  # float [rows, hands]: reach after each action
    row,  # first row of instant_regret and reach
):
    """Update regrets as `update_regrets` does, and the average in the same loop."""
    regret, prediction, average = tables.regret, tables.prediction, tables.average
    at, num_actions, low, high, row = U(at), U(num_actions), U(low), U(high), U(row)
    kind = regret.dtype.type
    up, down, least, decay = kind(step[0]), kind(step[1]), kind(step[2]), kind(step[3])
    predicts = len(prediction) > 0
    for a in range(num_actions):
        for h in range(low, high):
            r = regret[at + a, h]
            regret[at + a, h] = max(r * (up if r > 0 else down) + instant_regret[row + a, h], least)
            average[at + a, h] = average[at + a, h] * decay + reach[row + a, h]
        if predicts:
            for h in range(low, high):
                prediction[at + a, h] = instant_regret[row + a, h]


@inline
def average_strategy(
    sums,  # float [rows, hands]
    at,
    num_actions,
    low,
    high,
    strategy,  # float [rows, hands] OUT
    strategy_row,
):
    """Normalize the strategy sums of an information set to probabilities; uniform where they sum to zero."""
    kind = strategy.dtype.type
    for h in range(low, high):
        total = kind(0)
        for a in range(num_actions):
            total += sums[at + a, h]
        for a in range(num_actions):
            strategy[strategy_row + a, h] = (
                sums[at + a, h] / total if total > MIN_AVERAGE_SUM else kind(1) / kind(num_actions)
            )


@inline
def terminal_values(
    side,  # PlayerArrays
    terminal,
    span,  # HandSpan
    opp,  # float [rows, opponent hands]: reach
    at,  # row of opp
    mass,  # float64 [opponent hands + 1] scratch
    values,  # float [rows, own hands] OUT
    values_row,  # row of values
):
    """Compute counterfactual values of a terminal for the traverser's hands: O(n) except for MATRIX payoffs."""
    terminal, at, values_row = U(terminal), U(at), U(values_row)
    low, high, opp_low, opp_high = U(span.low), U(span.high), U(span.opp_low), U(span.opp_high)
    kind, row = side.kind[terminal], U(side.row[terminal])
    win, tie, lose = side.pay[terminal, 0], side.pay[terminal, 1], side.pay[terminal, 2]
    exclude, order, place, below, upto = side.exclude, side.order, side.place, side.below, side.upto
    total = 0.0
    if kind == MATRIX_PAYOFF:
        matrix = side.matrix
        for h in range(low, high):
            total = 0.0
            for j in range(opp_low, opp_high):
                total += matrix[row, h, j] * opp[at, j]
            values[values_row, h] = total
    elif kind == CONSTANT_PAYOFF:
        for j in range(opp_low, opp_high):
            total += opp[at, j]
        for h in range(low, high):
            values[values_row, h] = win * total
    elif opp_high - opp_low == U(1):
        opp_place = place[row, opp_low]
        for h in range(low, high):
            u = win if opp_place < below[row, h] else (tie if opp_place < upto[row, h] else lose)
            values[values_row, h] = u * opp[at, opp_low]
    else:
        mass[0] = 0.0
        for k in range(opp_high):
            total += opp[at, U(order[row, k])]
            mass[k + U(1)] = total
        for h in range(low, high):
            values[values_row, h] = (
                lose * total + (win - tie) * mass[U(below[row, h])] + (tie - lose) * mass[U(upto[row, h])]
            )
    for k in range(U(exclude.shape[1])):
        for h in range(low, high):
            j = U(exclude[h, k])  # -1 becomes the largest uint64, which is no hand
            if opp_low <= j < opp_high:
                u = win
                if kind == COMPARE_PAYOFF and place[row, j] >= below[row, h]:
                    u = tie if place[row, j] < upto[row, h] else lose
                elif kind == MATRIX_PAYOFF:
                    u = side.matrix[row, h, j]
                values[values_row, h] -= u * opp[at, j]


@inline
def sample_outcome(
    side,  # PlayerArrays
    first,  # first outcome of the chance node in side.chance
    width,  # number of its outcomes
    span,  # HandSpan; a player whose span has one hand has a fixed hand
    rng,  # uint64 [1] INOUT
):
    """Sample an outcome of public chance that fixed hands allow; return its index and its importance weight.

    The weight is the outcome's probability divided by the probability of sampling it.
    """
    low, high, opp_low, opp_high = span.low, span.high, span.opp_low, span.opp_high
    total = 0.0
    for k in range(width):
        if (high - low > 1 or side.live[first + k, low] > 0) and (
            opp_high - opp_low > 1 or side.live_opp[first + k, opp_low] > 0
        ):
            total += side.chance[first + k]
    x = random(rng) * total
    chosen = -1
    for k in range(width):
        if (high - low > 1 or side.live[first + k, low] > 0) and (
            opp_high - opp_low > 1 or side.live_opp[first + k, opp_low] > 0
        ):
            chosen = k
            x -= side.chance[first + k]
            if x < 0:
                break
    return chosen, total


@inline
def finish_own_node(
    tables,  # RegretTables
    at,
    num_actions,
    side,  # PlayerArrays
    task,  # TraversalTask
    step,  # float64 [6]
    span,  # HandSpan
    frames,  # TraversalFrames: strategy, reach after each action, and its value, which becomes its regret
    row,  # first row of the children in sigma, own and value
    value_row,  # row of value for the value of this node
):
    """Compute the value of a traverser node from its children, and in UPDATE update its regrets and average.

    In RESPOND the value is that of the best action, which is marked in `tables.delta`.
    """
    sigma, own, value = frames.sigma, frames.own, frames.value
    at, num_actions, low, high, row, value_row = U(at), U(num_actions), U(span.low), U(span.high), U(row), U(value_row)
    if task.mode == RESPOND:
        delta = tables.delta
        for h in range(low, high):
            best = U(0)
            for a in range(U(1), num_actions):
                if value[row + a, h] > value[row + best, h]:
                    best = a
            value[value_row, h] = value[row + best, h]
            if len(delta) > 0:
                for a in range(num_actions):
                    delta[at + a, h] = a == best
        return
    kind = value.dtype.type
    noise = kind(step[5])
    for h in range(low, high):
        total = sigma[row, h] * value[row, h]
        for a in range(U(1), num_actions):
            total += sigma[row + a, h] * value[row + a, h]
        value[value_row, h] = total
        for a in range(num_actions):
            regret = value[row + a, h] - total
            value[row + a, h] = regret if abs(regret) > noise else kind(0)
    if task.mode != UPDATE:
        return
    if task.shared:
        delta, average = tables.delta, tables.average
        for a in range(num_actions):
            for h in range(low, high):
                delta[at + a, h] += value[row + a, h]
                average[at + a, h] += own[row + a, h]
        return
    update_regrets_and_average(tables, at, num_actions, low, high, step, side.share, value, own, row)


@unrolled_kernel
def traverse(
    nodes,  # TreeNodes
    side,  # PlayerArrays of the player
    tables,  # RegretTables of the player
    step,  # float64 [6]: positive, negative, floor, decay, t, rounding bound (smaller regrets count as zero)
    task,  # TraversalTask
    span,  # HandSpan
    rng,  # uint64 [1] INOUT
    subtree_cuts,  # SubtreeCuts
    frames,  # TraversalFrames; reach at the root is in own[0] and opp[0], the result in value[0]
):
    """Traverse the tree for one player: reach down, values up, regret and average updates on the way.

    Returns the number of infosets in the journal (sampled traversals of trees whose nodes share infosets).
    """
    me, mode, sample, shared = task.me, task.mode, task.sample, task.shared
    low, high, opp_low, opp_high = span.low, span.high, span.opp_low, span.opp_high
    actor, end, widths, data = nodes.actor, nodes.end, nodes.width, nodes.data
    chance, live, live_opp = side.chance, side.live, side.live_opp
    path, turn, own_at, opp_at, value_at = frames.node, frames.turn, frames.own_at, frames.opp_at, frames.value_at
    own, opp, value, sigma = frames.own, frames.opp, frames.value, frames.sigma
    kind = own.dtype.type
    updating = mode == UPDATE or mode == COLLECT_REACH
    level = len(frames.sigma_opp)  # rows per level
    cuts = len(subtree_cuts.node)
    next_cut = 0
    journal = 0
    visits = 0
    traversal_id = frames.visits[0] + 1  # unique: every traversal visits at least one node
    d = 0
    n = task.root
    own_at[0] = 0
    opp_at[0] = 0
    value_at[0] = 0
    while True:
        # --- enter node n at level d
        visits += 1
        player = actor[n]
        leaf = True
        if next_cut < cuts and subtree_cuts.node[next_cut] == n:
            for h in range(low, high):
                subtree_cuts.own[next_cut, h] = own[own_at[d], h]
                value[value_at[d], h] = subtree_cuts.value[next_cut, h]
            for j in range(opp_low, opp_high):
                subtree_cuts.opp[next_cut, j] = opp[opp_at[d], j]
            next_cut += 1
        elif player == TERMINAL:
            if mode != COLLECT_REACH:
                terminal_values(side, data[n], span, opp, opp_at[d], frames.mass, value, value_at[d])
        else:
            leaf = False
            path[d] = n
            turn[d] = 0
            row, at, width = d * level + 1, data[n], widths[n]
            if width == 1:
                pass  # a forced action: reach and value are the child's
            elif player == me:
                if updating:
                    regret_matching(tables.regret, tables.prediction, at, width, low, high, step[4], sigma, row)
                elif mode == EVALUATE:
                    average_strategy(tables.average, at, width, low, high, sigma, row)
                if mode != RESPOND:
                    reach_row = own_at[d]
                    for a in range(width):
                        for h in range(low, high):
                            own[row + a, h] = own[reach_row, h] * sigma[row + a, h]
            elif player >= 0:
                reach_row = opp_at[d]
                if updating:
                    regret, prediction = tables.opp_regret, tables.opp_prediction
                    child_reach(regret, prediction, at, width, opp_low, opp_high, step[4], opp, reach_row, row)
                else:
                    average_strategy(tables.opp_average, at, width, opp_low, opp_high, opp, row)
                    for a in range(width):
                        for j in range(opp_low, opp_high):
                            opp[row + a, j] *= opp[reach_row, j]
        child = n + 1
        # --- return from finished subtrees
        while leaf:
            if d == 0:
                frames.visits[0] += visits
                return journal
            child = end[n]
            below = value_at[d]
            d -= 1
            n = path[d]
            player = actor[n]
            k = turn[d]
            turn[d] = k + 1
            has_more = k + 1 < widths[n]
            to = value_at[d]
            if player >= 0 and widths[n] == 1:
                if player == me and mode == RESPOND and len(tables.delta) > 0:
                    for h in range(low, high):
                        tables.delta[data[n], h] = 1
            elif player == me:
                if has_more:
                    break
                if mode != COLLECT_REACH:
                    finish_own_node(tables, data[n], widths[n], side, task, step, span, frames, d * level + 1, to)
                if shared and sample and frames.stamp[data[n]] != traversal_id:
                    frames.stamp[data[n]] = traversal_id
                    frames.journal[journal] = n
                    journal += 1
            elif player >= 0:
                if k > 0:  # the first child wrote to this node's row
                    for h in range(low, high):
                        value[to, h] += value[below, h]
                if has_more:
                    break
            else:
                outcome = data[n] + k
                fresh = k == 0 or sample
                for h in range(low, high):
                    part = value[below, h] * kind(live[outcome, h])
                    value[to, h] = part if fresh else value[to, h] + part
                if has_more and not sample:
                    break
        # --- descend to child turn[d]
        k = turn[d]
        row = d * level + 1
        own_at[d + 1] = own_at[d]
        opp_at[d + 1] = opp_at[d]
        value_at[d + 1] = row  # children at other actors' nodes share a row: their values are summed
        if player >= 0 and widths[n] == 1:
            value_at[d + 1] = value_at[d]
        elif player == me:
            if mode != RESPOND:
                own_at[d + 1] = row + k
            value_at[d + 1] = row + k
        elif player >= 0:
            opp_at[d + 1] = row + k
            if k == 0:
                value_at[d + 1] = value_at[d]
        else:
            outcome = data[n] + k
            weight = chance[outcome]
            if sample:
                k, weight = sample_outcome(side, data[n], widths[n], span, rng)
                outcome = data[n] + k
                turn[d] = k
                for _ in range(k):
                    child = end[child]
            scale = kind(weight)
            for h in range(low, high):
                own[row, h] = own[own_at[d], h] * kind(live[outcome, h])
            for j in range(opp_low, opp_high):
                opp[row, j] = opp[opp_at[d], j] * kind(live_opp[outcome, j]) * scale
            own_at[d + 1] = row
            opp_at[d + 1] = row
        n = child
        d += 1
