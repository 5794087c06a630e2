"""The compiled walks of counterfactual regret minimisation.

`walk` carries vectors over hands through the tree in preorder: full traversals, the public-chance samplers,
evaluation and best response are modes of it. It keeps one frame per level and never recurses.

`match` and `learn` are the local rule; `reach_on` and `absorb` are the same fused with what follows. A user's rule takes
their place by compiling the same kernels with other globals (`riverboat.solvers.tabular.rules`).

What makes small games fast: reach and values are rows that children point to, so going down and up copies nothing;
loops over hands are few, because a loop of six costs little more than its start; functions take whole arrays and a
row, so that nothing is sliced.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import random
from riverboat.games.base import TERMINAL, Array
from riverboat.trees.arrays import COMPARE, CONSTANT, MATRIX

LEARN, COLLECT, EVALUATE, RESPOND = 0, 1, 2, 3
U = np.uint64  # indices: with signed ones every access first asks whether it counts from the end
FADED = 1e-290  # accumulated weights that sum to less count as none, as in `riverboat.strategies._kernels.tabular`
TINY = 1e-30  # positive regrets that sum to less count as none: one over them would overflow in float32


class RegretTables(NamedTuple):
    """What is learnt, as one player sees it: a block of rows [actions, hands] for each information set."""

    regret: Array  # float [rows, own hands] INOUT
    average: Array  # float [rows, own hands] INOUT; in EVALUATE the strategy, not normalised
    prediction: Array  # float [rows, own hands] INOUT, or [0, own hands] where the schedule does not predict
    delta: Array  # float [rows, own hands] INOUT: increments where nodes share blocks; OUT in RESPOND; or [0, …]
    opp_regret: Array  # float [rows, opponent hands]: what the opponent's strategy is read from
    opp_prediction: Array  # float [rows, opponent hands] or [0, opponent hands]
    opp_average: Array  # float [rows, opponent hands]: the opponent's strategy in EVALUATE and RESPOND


class Span(NamedTuple):
    """Which hands are walked: mine, low … high - 1, and the opponent's, opp_low … opp_high - 1."""

    low: int
    high: int
    opp_low: int
    opp_high: int


class Task(NamedTuple):
    """What a walk is for."""

    me: int
    root: int
    mode: int  # LEARN; COLLECT: reach at the cuts only; EVALUATE; RESPOND
    sample: bool  # whether public chance is sampled
    shared: bool  # whether nodes share blocks, so that increments wait in RegretTables.delta


class Cuts(NamedTuple):
    """Subtrees that are walked elsewhere."""

    node: Array  # int32 [cuts]: their roots, ascending
    value: Array  # float [cuts, own hands]: what they are worth
    own: Array  # float [cuts, own hands] OUT: my reach there
    opp: Array  # float [cuts, opponent hands] OUT: the opponent's


class WalkFrames(NamedTuple):
    """One frame per level of the walk. Row level * width + k + 1 belongs to child k, row 0 to the root."""

    node: Array  # int32 [depth]
    turn: Array  # int32 [depth]: the child that is being walked
    own_at: Array  # int32 [depth]: row of own
    opp_at: Array  # int32 [depth]: row of opp
    value_at: Array  # int32 [depth]: row of value
    own: Array  # float [rows, own hands]: my reach
    opp: Array  # float [rows, opponent hands]: reach of opponent and chance
    value: Array  # float [rows, own hands]: what a subtree is worth
    sigma: Array  # float [rows, own hands]: my strategy
    sigma_opp: Array  # float [width, opponent hands]: the opponent's, in walks that sample it
    mass: Array  # float64 [opponent hands + 1]: scratch of the showdown
    journal: Array  # int32 [nodes] or [0]: one node for each block whose increments wait in RegretTables.delta
    stamp: Array  # int64 [table] or [0]: the walk that has last noted the block that starts there
    visits: Array  # int64 [1]: nodes entered


def frames(dtype: str, depth: int, width: int, own: int, opp: int, journal: int, table: int) -> WalkFrames:
    """Room for a walk."""
    rows = depth * width + 1
    return WalkFrames(
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


@part
def match(
    regret,  # float [rows, hands]
    prediction,  # float [rows, hands] or [0, hands]
    at,  # first row of the information set
    width,
    low,
    high,
    t,
    out,  # float [rows, hands] OUT: probabilities for the hands low … high - 1
    to,  # first row of out
):
    """Regret matching: proportional to the positive part, uniform where there is none."""
    at, width, low, high, to = U(at), U(width), U(low), U(high), U(to)
    kind = out.dtype.type
    uniform = kind(1) / kind(width)
    predicts = len(prediction) > 0
    for h in range(low, high):
        total = kind(0)
        for a in range(width):
            x = regret[at + a, h]
            if predicts:
                x += prediction[at + a, h]
            x = max(x, kind(0))
            out[to + a, h] = x
            total += x
        # without a branch, which nobody could predict
        some = total > TINY
        share = kind(1) / max(total, kind(TINY))
        share = share if some else kind(0)
        rest = kind(0) if some else uniform
        for a in range(width):
            out[to + a, h] = out[to + a, h] * share + rest


@part
def reach_on(
    regret,  # float [rows, hands]
    prediction,  # float [rows, hands] or [0, hands]
    at,
    width,
    low,
    high,
    t,
    reach,  # float [rows, hands] INOUT
    here,  # row of the reach
    row,  # first row of the reach after each action
):
    """`match` times reach, where the strategy itself is not needed: at the opponent's nodes."""
    at, width, low, high, here, row = U(at), U(width), U(low), U(high), U(here), U(row)
    kind = reach.dtype.type
    uniform = kind(1) / kind(width)
    predicts = len(prediction) > 0
    for h in range(low, high):
        total = kind(0)
        for a in range(width):
            x = regret[at + a, h]
            if predicts:
                x += prediction[at + a, h]
            x = max(x, kind(0))
            reach[row + a, h] = x
            total += x
        some = total > TINY
        share = reach[here, h] / max(total, kind(TINY))
        share = share if some else kind(0)
        rest = kind(0) if some else reach[here, h] * uniform
        for a in range(width):
            reach[row + a, h] = reach[row + a, h] * share + rest


@part
def learn(
    regret,  # float [rows, hands] INOUT
    prediction,  # float [rows, hands] INOUT, or [0, hands]
    at,  # first row of the information set
    width,
    low,
    high,
    step,  # float64 [6]
    instant,  # float [rows, hands]: regrets of this iteration
    to,  # first row of instant
):
    """Discount, add, floor."""
    kind = regret.dtype.type
    up, down, least = kind(step[0]), kind(step[1]), kind(step[2])
    predicts = len(prediction) > 0
    for a in range(width):
        for h in range(low, high):
            r = regret[at + a, h]
            regret[at + a, h] = max(r * (up if r > 0 else down) + instant[to + a, h], least)
        if predicts:
            for h in range(low, high):
                prediction[at + a, h] = instant[to + a, h]


@part
def absorb(
    tables,  # RegretTables INOUT
    at,
    width,
    low,
    high,
    step,  # float64 [6]
    share,  # float64 [hands]: for a user's rule, which is told counterfactual regrets; matching is the same for any scale
    instant,  # float [rows, hands]: regrets of this iteration, in the scale of walks
    reach,  # float [rows, hands]: reach after each action
    row,  # first row of instant and reach
):
    """`learn`, and the average in the same loop."""
    regret, prediction, average = tables.regret, tables.prediction, tables.average
    at, width, low, high, row = U(at), U(width), U(low), U(high), U(row)
    kind = regret.dtype.type
    up, down, least, decay = kind(step[0]), kind(step[1]), kind(step[2]), kind(step[3])
    predicts = len(prediction) > 0
    for a in range(width):
        for h in range(low, high):
            r = regret[at + a, h]
            regret[at + a, h] = max(r * (up if r > 0 else down) + instant[row + a, h], least)
            average[at + a, h] = average[at + a, h] * decay + reach[row + a, h]
        if predicts:
            for h in range(low, high):
                prediction[at + a, h] = instant[row + a, h]


@part
def normalised(
    sums,  # float [rows, hands]
    at,
    width,
    low,
    high,
    out,  # float [rows, hands] OUT
    to,
):
    """The strategy that accumulated weights stand for."""
    kind = out.dtype.type
    for h in range(low, high):
        total = kind(0)
        for a in range(width):
            total += sums[at + a, h]
        for a in range(width):
            out[to + a, h] = sums[at + a, h] / total if total > FADED else kind(1) / kind(width)


@part
def settle(
    side,  # Side
    e,
    span,  # Span
    opp,  # float [rows, opponent hands]: reach
    at,  # row of opp
    mass,  # float64 [opponent hands + 1] scratch
    out,  # float [rows, own hands] OUT
    to,  # row of out
):
    """Value of a terminal for my hands of the span: O(n), but for MATRIX pay-offs."""
    e, at, to = U(e), U(at), U(to)
    low, high, opp_low, opp_high = U(span.low), U(span.high), U(span.opp_low), U(span.opp_high)
    kind, row = side.kind[e], U(side.row[e])
    win, tie, lose = side.pay[e, 0], side.pay[e, 1], side.pay[e, 2]
    exclude, order, place, below, upto = side.exclude, side.order, side.place, side.below, side.upto
    total = 0.0
    if kind == MATRIX:
        matrix = side.matrix
        for h in range(low, high):
            total = 0.0
            for j in range(opp_low, opp_high):
                total += matrix[row, h, j] * opp[at, j]
            out[to, h] = total
    elif kind == CONSTANT:
        for j in range(opp_low, opp_high):
            total += opp[at, j]
        for h in range(low, high):
            out[to, h] = win * total
    elif opp_high - opp_low == U(1):
        here = place[row, opp_low]
        for h in range(low, high):
            u = win if here < below[row, h] else (tie if here < upto[row, h] else lose)
            out[to, h] = u * opp[at, opp_low]
    else:
        mass[0] = 0.0
        for k in range(opp_high):
            total += opp[at, U(order[row, k])]
            mass[k + U(1)] = total
        for h in range(low, high):
            out[to, h] = lose * total + (win - tie) * mass[U(below[row, h])] + (tie - lose) * mass[U(upto[row, h])]
    for k in range(U(exclude.shape[1])):
        for h in range(low, high):
            j = U(exclude[h, k])  # -1 becomes the largest number, which is no hand
            if opp_low <= j < opp_high:
                u = win
                if kind == COMPARE and place[row, j] >= below[row, h]:
                    u = tie if place[row, j] < upto[row, h] else lose
                elif kind == MATRIX:
                    u = side.matrix[row, h, j]
                out[to, h] -= u * opp[at, j]


@part
def draw_outcome(
    side,
    first,
    width,
    span,  # Span
    rng,  # uint64 [1] INOUT
):
    """Sample a public outcome that a fixed hand allows; its number, and probability / sampling probability."""
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


@part
def finish(
    tables,  # RegretTables
    at,
    width,
    side,  # Side
    task,  # Task
    step,  # float64 [6]
    span,  # Span
    f,  # WalkFrames: strategy, reach after each action, and its value, which becomes its regret
    row,  # first row of the children in sigma, own and value
    to,  # row of value that the node's own value goes to
):
    """An own node whose actions are all valued: its value, and in LEARN its regrets and average."""
    sigma, own, value = f.sigma, f.own, f.value
    at, width, low, high, row, to = U(at), U(width), U(span.low), U(span.high), U(row), U(to)
    if task.mode == RESPOND:
        delta = tables.delta
        for h in range(low, high):
            best = U(0)
            for a in range(U(1), width):
                if value[row + a, h] > value[row + best, h]:
                    best = a
            value[to, h] = value[row + best, h]
            if len(delta) > 0:
                for a in range(width):
                    delta[at + a, h] = a == best
        return
    kind = value.dtype.type
    noise = kind(step[5])
    for h in range(low, high):
        total = sigma[row, h] * value[row, h]
        for a in range(U(1), width):
            total += sigma[row + a, h] * value[row + a, h]
        value[to, h] = total
        for a in range(width):
            regret = value[row + a, h] - total
            value[row + a, h] = regret if abs(regret) > noise else kind(0)
    if task.mode != LEARN:
        return
    if task.shared:
        delta, average = tables.delta, tables.average
        for a in range(width):
            for h in range(low, high):
                delta[at + a, h] += value[row + a, h]
                average[at + a, h] += own[row + a, h]
        return
    absorb(tables, at, width, low, high, step, side.share, value, own, row)


@kernel
def walk(
    nodes,  # Nodes
    side,  # Side of the player
    tables,  # RegretTables of the player
    step,  # float64 [6]: positive, negative, floor, decay, t, noise (regrets up to it are rounding errors)
    task,  # Task
    span,  # Span
    rng,  # uint64 [1] INOUT
    cut,  # Cuts
    f,  # WalkFrames; reach at the root is in own[0] and opp[0], the answer in value[0]
):
    """One walk for a player: values up, reach down, regrets and averages on the way.

    Returns how many blocks were noted in the journal (sampled walks of trees whose nodes share blocks).
    """
    me, mode, sample, shared = task.me, task.mode, task.sample, task.shared
    low, high, opp_low, opp_high = span.low, span.high, span.opp_low, span.opp_high
    actor, end, widths, data = nodes.actor, nodes.end, nodes.width, nodes.data
    chance, live, live_opp = side.chance, side.live, side.live_opp
    path, turn, own_at, opp_at, value_at = f.node, f.turn, f.own_at, f.opp_at, f.value_at
    own, opp, value, sigma = f.own, f.opp, f.value, f.sigma
    kind = own.dtype.type
    learning = mode == LEARN or mode == COLLECT
    level = len(f.sigma_opp)  # rows of one
    cuts = len(cut.node)
    next_cut = 0
    journal = 0
    visits = 0
    mark = f.visits[0] + 1  # of this walk: every walk visits some node
    d = 0
    n = task.root
    own_at[0] = 0
    opp_at[0] = 0
    value_at[0] = 0
    while True:
        # --- enter node n at level d
        visits += 1
        who = actor[n]
        leaf = True
        if next_cut < cuts and cut.node[next_cut] == n:
            for h in range(low, high):
                cut.own[next_cut, h] = own[own_at[d], h]
                value[value_at[d], h] = cut.value[next_cut, h]
            for j in range(opp_low, opp_high):
                cut.opp[next_cut, j] = opp[opp_at[d], j]
            next_cut += 1
        elif who == TERMINAL:
            if mode != COLLECT:
                settle(side, data[n], span, opp, opp_at[d], f.mass, value, value_at[d])
        else:
            leaf = False
            path[d] = n
            turn[d] = 0
            row, at, width = d * level + 1, data[n], widths[n]
            if width == 1:
                pass  # a forced move: nothing to decide, reach and value are the child's
            elif who == me:
                if learning:
                    match(tables.regret, tables.prediction, at, width, low, high, step[4], sigma, row)
                elif mode == EVALUATE:
                    normalised(tables.average, at, width, low, high, sigma, row)
                if mode != RESPOND:
                    here = own_at[d]
                    for a in range(width):
                        for h in range(low, high):
                            own[row + a, h] = own[here, h] * sigma[row + a, h]
            elif who >= 0:
                here = opp_at[d]
                if learning:
                    reach_on(
                        tables.opp_regret, tables.opp_prediction, at, width, opp_low, opp_high, step[4], opp, here, row
                    )
                else:
                    normalised(tables.opp_average, at, width, opp_low, opp_high, opp, row)
                    for a in range(width):
                        for j in range(opp_low, opp_high):
                            opp[row + a, j] *= opp[here, j]
        child = n + 1
        # --- climb out of finished subtrees
        while leaf:
            if d == 0:
                f.visits[0] += visits
                return journal
            child = end[n]
            below = value_at[d]
            d -= 1
            n = path[d]
            who = actor[n]
            k = turn[d]
            turn[d] = k + 1
            more = k + 1 < widths[n]
            to = value_at[d]
            if who >= 0 and widths[n] == 1:
                if who == me and mode == RESPOND and len(tables.delta) > 0:
                    for h in range(low, high):
                        tables.delta[data[n], h] = 1
            elif who == me:
                if more:
                    break
                if mode != COLLECT:
                    finish(tables, data[n], widths[n], side, task, step, span, f, d * level + 1, to)
                if shared and sample and f.stamp[data[n]] != mark:
                    f.stamp[data[n]] = mark
                    f.journal[journal] = n
                    journal += 1
            elif who >= 0:
                if k > 0:  # the first child has written to the node's own row
                    for h in range(low, high):
                        value[to, h] += value[below, h]
                if more:
                    break
            else:
                outcome = data[n] + k
                fresh = k == 0 or sample
                for h in range(low, high):
                    part = value[below, h] * kind(live[outcome, h])
                    value[to, h] = part if fresh else value[to, h] + part
                if more and not sample:
                    break
        # --- go down to child turn[d]
        k = turn[d]
        row = d * level + 1
        own_at[d + 1] = own_at[d]
        opp_at[d + 1] = opp_at[d]
        value_at[d + 1] = row  # children of others share a row: their values are added up
        if who >= 0 and widths[n] == 1:
            value_at[d + 1] = value_at[d]
        elif who == me:
            if mode != RESPOND:
                own_at[d + 1] = row + k
            value_at[d + 1] = row + k
        elif who >= 0:
            opp_at[d + 1] = row + k
            if k == 0:
                value_at[d + 1] = value_at[d]
        else:
            outcome = data[n] + k
            weight = chance[outcome]
            if sample:
                k, weight = draw_outcome(side, data[n], widths[n], span, rng)
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
