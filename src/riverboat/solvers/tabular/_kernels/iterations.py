"""Compiled CFR iterations: the loops around `traversal.traverse`, and external and outcome sampling.

External and outcome sampling (Lanctot et al. 2009) traverse single hands with scalars.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel, unrolled_kernel
from riverboat.compiled.rng import random
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.solvers.tabular._kernels.traversal import (
    UPDATE,
    HandSpan,
    TraversalTask,
    regret_matching,
    sample_outcome,
    traverse,
    update_regrets,
)
from riverboat.trees._kernels.tree import COMPARE_PAYOFF, CONSTANT_PAYOFF


class InfosetRows(NamedTuple):
    """Table rows of one player's information sets in a history tree."""

    at: Array  # int64 [information sets]: first row
    width: Array  # int32 [information sets]: number of actions


class HandSampler(NamedTuple):
    """Tables that sample hands, and child lists of the nodes."""

    accept: Array  # float64 [pairs]: alias table of the joint deal
    alias: Array  # int32 [pairs]
    pair: Array  # int32 [pairs, 2]
    marginal: tuple[Array, Array]  # float64 [hands of player p]: probability of each hand
    cumulative: tuple[Array, Array]  # float64 [hands of player p]: cumulative sums of marginal
    total: float  # sum of the products of the weights over all pairs
    own_all: bool  # whether vectors carry all of the traverser's hands
    opp_all: bool  # whether vectors carry all of the opponent's hands
    kid_at: Array  # int32 [nodes]: first entry of kids
    kids: Array  # int32 [nodes - 1]: children, in order


@inline
def decay_averages(blocks, average, factor):
    """Multiply the averages of one player's information sets by a factor."""
    scale = average.dtype.type(factor)
    for i in range(len(blocks.at)):
        for a in range(blocks.width[i]):
            average[blocks.at[i] + a, 0] *= scale


@inline
def update_infoset(tables, at, width, step):
    """Update regrets of one information set by the increments in `tables.delta`, and clear these.

    Increments within the rounding bound count as zero.
    """
    for a in range(width):
        if abs(tables.delta[at + a, 0]) <= step[5]:
            tables.delta[at + a, 0] = 0
    update_regrets(tables.regret, tables.prediction, at, width, 0, 1, step, tables.delta, at)
    for a in range(width):
        tables.delta[at + a, 0] = 0


@inline
def update_infosets(blocks, tables, step):
    """Update regrets of all information sets of one player by the increments in `tables.delta`, once an iteration."""
    for i in range(len(blocks.at)):
        update_infoset(tables, blocks.at[i], blocks.width[i], step)


@inline
def update_journaled_infosets(nodes, tables, step, journal, count):
    """Update regrets by the increments in `tables.delta` of the information sets that a sampled traversal visited."""
    for i in range(count):
        update_infoset(tables, nodes.data[journal[i]], nodes.width[journal[i]], step)


@inline
def copy_table(
    source,  # float [rows, hands]
    target,  # float [rows, hands] OUT
):
    """Copy a table element by element: Numba compiles array assignment slowly."""
    for i in range(len(source)):
        for h in range(source.shape[1]):
            target[i, h] = source[i, h]


@unrolled_kernel
def full_iterations(
    nodes,  # TreeNodes
    sides,  # (PlayerArrays, …) one per player
    blocks,  # (InfosetRows, …) one per player, used if nodes share infosets
    tables,  # (RegretTables, …) one per player
    steps,  # float64 [iterations, 6]
    simultaneous,
    shared,
    rng,  # uint64 [1]
    no_cuts,  # SubtreeCuts, empty
    frames,  # (TraversalFrames, …) one per player
):
    """Run full-width iterations, with one traversal per player each.

    Constants are passed as typed values: a literal has a type of its own, for which `traverse` would be compiled again.
    """
    for i in range(len(steps)):
        step = steps[i]
        if simultaneous:  # each player responds to the opponent's strategy before this iteration
            for me in range(len(sides)):
                other = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
                copy_table(other.regret, tables[me].opp_regret)
                copy_table(other.prediction, tables[me].opp_prediction)
        for me in range(len(sides)):
            side, f, own_tables = sides[me], frames[me], tables[me]
            for h in range(len(side.weight)):
                f.own[0, h] = 1
            for j in range(len(side.weight_opp)):
                f.opp[0, j] = side.weight_opp[j]
            if shared:
                decay_averages(blocks[me], own_tables.average, step[3])
            task = TraversalTask(me, np.int64(0), np.int64(UPDATE), np.bool_(False), shared)
            span = HandSpan(np.int64(0), len(side.weight), np.int64(0), len(side.weight_opp))
            traverse(nodes, side, own_tables, step, task, span, rng, no_cuts, f)
            if shared:
                update_infosets(blocks[me], own_tables, step)


@inline
def sample_hand(cumulative, rng):
    """Sample a hand from cumulative probabilities."""
    x = random(rng) * cumulative[-1]
    h = 0
    while h < len(cumulative) - 1 and x >= cumulative[h]:
        h += 1
    return h


@inline
def sample_hand_pair(sampler, rng):
    """Sample a pair of hands by the alias method."""
    x = random(rng) * len(sampler.accept)
    k = int(x)
    if x - k >= sampler.accept[k]:
        k = sampler.alias[k]
    return sampler.pair[k, 0], sampler.pair[k, 1]


@unrolled_kernel
def public_chance_iterations(
    nodes,  # TreeNodes
    sides,  # (PlayerArrays, …) one per player
    sampler,  # HandSampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    shared,
    rng,  # uint64 [1] INOUT
    no_cuts,  # SubtreeCuts, empty
    frames,  # (TraversalFrames, …)
):
    """Run PCS, OPCS, SPCS or chance sampling (Johanson et al. 2012): public chance is sampled, hands are all or one.

    Reach is divided by the probability of a sampled hand, so that updates have the expectation of a full traversal.
    """
    for _ in range(count):
        for me in range(len(sides)):
            side, f = sides[me], frames[me]
            low, high, opp_low, opp_high = 0, len(side.weight), 0, len(side.weight_opp)
            probability = 1.0
            if not sampler.own_all and not sampler.opp_all:
                pair = sample_hand_pair(sampler, rng)
                low, opp_low = (pair[0], pair[1]) if me == 0 else (pair[1], pair[0])
                high, opp_high = low + 1, opp_low + 1
                probability = side.weight[low] * side.weight_opp[opp_low] / sampler.total
            elif not sampler.own_all:
                low = sample_hand(sampler.cumulative[0] if me == 0 else sampler.cumulative[1], rng)
                high = low + 1
                probability = (sampler.marginal[0] if me == 0 else sampler.marginal[1])[low]
            elif not sampler.opp_all:
                opp_low = sample_hand(sampler.cumulative[1] if me == 0 else sampler.cumulative[0], rng)
                opp_high = opp_low + 1
                probability = (sampler.marginal[1] if me == 0 else sampler.marginal[0])[opp_low]
            for h in range(low, high):
                f.own[0, h] = 1
            for j in range(opp_low, opp_high):
                f.opp[0, j] = side.weight_opp[j] / probability
            task = TraversalTask(me, np.int64(0), np.int64(UPDATE), np.bool_(True), shared)
            journaled = traverse(
                nodes, side, tables[me], step, task, HandSpan(low, high, opp_low, opp_high), rng, no_cuts, f
            )
            if shared:
                update_journaled_infosets(nodes, tables[me], step, f.journal, journaled)


@inline
def terminal_payoff(side, e, h, j):
    """Return the payoff with index `e` of a terminal to the player of `side`, with hand h against hand j."""
    if side.kind[e] == CONSTANT_PAYOFF:
        return side.pay[e, 0]
    row = side.row[e]
    if side.kind[e] == COMPARE_PAYOFF:
        place = side.place[row, j]
        return side.pay[e, 0 if place < side.below[row, h] else (1 if place < side.upto[row, h] else 2)]
    return side.matrix[row, h, j]


@inline
def sample_action(sigma, row, width, h, rng):
    """Sample an action from the strategy of hand h, whose first row is `row`."""
    x = random(rng)
    a = 0
    while a < width - 1:
        x -= sigma[row + a, h]
        if x < 0:
            break
        a += 1
    return a


@inline
def deal_hands(sampler, players, me, rng, hands):
    """Sample the players' hands; return the traverser's and that of the opponent, 0 unless there are two players."""
    pair = sample_hand_pair(sampler, rng)
    hands[0] = pair[0]
    if players > 1:
        hands[1] = pair[1]
    return hands[me], hands[1 - me] if players == 2 else 0


@unrolled_kernel
def external_iterations(
    nodes,  # TreeNodes
    sides,  # (PlayerArrays, …) one per player
    sampler,  # HandSampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    rng,  # uint64 [1] INOUT
    hands,  # int64 [players] scratch: hands
    frames,  # (TraversalFrames, …)
):
    """Run external sampling (Lanctot et al. 2009): sample chance and opponents, traverse all own actions.

    The opponents' averages are updated with their strategy at the sampled nodes.
    """
    actor, widths, data = nodes.actor, nodes.width, nodes.data
    kid_at, kids = sampler.kid_at, sampler.kids
    for _ in range(count):
        for me in range(len(sides)):
            side, f, own_tables = sides[me], frames[me], tables[me]
            opp_tables = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
            h, j = deal_hands(sampler, len(sides), me, rng, hands)
            path, turn, sigma, sigma_opp, action = f.node, f.turn, f.sigma, f.sigma_opp, f.value
            span = len(sigma_opp)
            d = 0
            n = 0
            while True:
                f.visits[0] += 1
                player = actor[n]
                value = 0.0
                if player == CHANCE:
                    k, _ = sample_outcome(side, data[n], widths[n], HandSpan(h, h + 1, j, j + 1), rng)
                    n = kids[kid_at[n] + k]
                    continue
                if player == TERMINAL:
                    value = terminal_payoff(side, data[n], h, j)
                else:
                    at, width, g = data[n], widths[n], hands[player]
                    if player != me:
                        regret_matching(
                            opp_tables.regret, opp_tables.prediction, at, width, g, g + 1, step[4], sigma_opp, 0
                        )
                        for a in range(width):
                            opp_tables.average[at + a, g] += sigma_opp[a, g]
                        n = kids[kid_at[n] + sample_action(sigma_opp, 0, width, g, rng)]
                        continue
                    regret_matching(
                        own_tables.regret, own_tables.prediction, at, width, g, g + 1, step[4], sigma, d * span + 1
                    )
                    path[d] = n
                    turn[d] = 0
                    n = kids[kid_at[n]]
                    d += 1
                    continue
                # pass the value up
                while d > 0:
                    d -= 1
                    n = path[d]
                    k = turn[d]
                    row, at, width = d * span + 1, data[n], widths[n]
                    action[row + k, h] = value
                    k += 1
                    if k < width:
                        turn[d] = k
                        n = kids[kid_at[n] + k]
                        d += 1
                        break
                    value = 0.0
                    for a in range(width):
                        value += sigma[row + a, h] * action[row + a, h]
                    for a in range(width):
                        action[row + a, h] -= value
                    update_regrets(own_tables.regret, own_tables.prediction, at, width, h, h + 1, step, action, row)
                else:
                    break


@unrolled_kernel
def outcome_iterations(
    nodes,  # TreeNodes
    sides,  # (PlayerArrays, …) one per player
    sampler,  # HandSampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    epsilon,
    rng,  # uint64 [1] INOUT
    hands,  # int64 [players] scratch: hands
    frames,  # (TraversalFrames, …)
):
    """Run outcome sampling (Lanctot et al. 2009): one trajectory, own actions drawn from σ mixed with ε uniform.

    The opponents' averages grow by σ / (probability of the traverser's own samples), which has the expectation of
    external sampling.
    """
    actor, widths, data = nodes.actor, nodes.width, nodes.data
    kid_at, kids = sampler.kid_at, sampler.kids
    for _ in range(count):
        for me in range(len(sides)):
            side, f, own_tables = sides[me], frames[me], tables[me]
            opp_tables = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
            h, j = deal_hands(sampler, len(sides), me, rng, hands)
            path, turn, sigma, sigma_opp, action = f.node, f.turn, f.sigma, f.sigma_opp, f.value
            span = len(sigma_opp)
            d = 0
            n = 0
            sampled = 1.0  # probability of the traverser's samples so far
            while actor[n] != TERMINAL:
                f.visits[0] += 1
                player = actor[n]
                k = 0
                if player == CHANCE:
                    k, _ = sample_outcome(side, data[n], widths[n], HandSpan(h, h + 1, j, j + 1), rng)
                else:
                    at, width, g = data[n], widths[n], hands[player]
                    if player == me:
                        row = d * span + 1
                        regret_matching(
                            own_tables.regret, own_tables.prediction, at, width, g, g + 1, step[4], sigma, row
                        )
                        if random(rng) < epsilon:
                            k = min(int(random(rng) * width), width - 1)
                        else:
                            k = sample_action(sigma, row, width, g, rng)
                        sampled *= epsilon / width + (1 - epsilon) * sigma[row + k, g]
                        path[d] = n
                        turn[d] = k
                        d += 1
                    else:
                        regret_matching(
                            opp_tables.regret, opp_tables.prediction, at, width, g, g + 1, step[4], sigma_opp, 0
                        )
                        for a in range(width):
                            opp_tables.average[at + a, g] += sigma_opp[a, g] / sampled
                        k = sample_action(sigma_opp, 0, width, g, rng)
                n = kids[kid_at[n] + k]
            f.visits[0] += 1
            tail = terminal_payoff(side, data[n], h, j) / sampled  # times σ of the own actions below
            while d > 0:
                d -= 1
                n, k = path[d], turn[d]
                row, at, width = d * span + 1, data[n], widths[n]
                p = sigma[row + k, h]
                for a in range(width):
                    action[row + a, h] = tail * (1 - p) if a == k else -tail * p
                update_regrets(own_tables.regret, own_tables.prediction, at, width, h, h + 1, step, action, row)
                tail *= p


@kernel
def discount_table(
    average,  # float [rows, hands] INOUT
    regret,  # float [rows, hands] INOUT
    positive,
    negative,
    decay,
):
    """Discount all regrets and averages, once per tick of the schedule in a sampled run."""
    up, down, old = regret.dtype.type(positive), regret.dtype.type(negative), average.dtype.type(decay)
    for i in range(len(regret)):
        for h in range(regret.shape[1]):
            regret[i, h] *= up if regret[i, h] > 0 else down
            average[i, h] *= old


@kernel
def current_strategy(
    nodes,  # TreeNodes
    me,
    tables,  # RegretTables
    t,
    out,  # float64 [rows, hands] OUT
):
    """Compute the current strategy of one player by regret matching."""
    hands = out.shape[1]
    for n in range(len(nodes.actor)):
        if nodes.actor[n] == me:
            at = nodes.data[n]
            regret_matching(tables.regret, tables.prediction, at, nodes.width[n], 0, hands, t, out, at)
