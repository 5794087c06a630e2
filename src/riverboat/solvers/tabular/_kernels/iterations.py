"""Compiled iterations: the loops around `_kernels.walk`, and the scalar walks of external and outcome sampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import random
from riverboat.games.base import CHANCE, TERMINAL, Array
from riverboat.solvers.tabular._kernels.traversal import LEARN, Span, Task, draw_outcome, learn, match, walk
from riverboat.trees.arrays import COMPARE, CONSTANT


class Blocks(NamedTuple):
    """Where one player's information sets live in the table of a history tree."""

    at: Array  # int64 [information sets]: first row
    width: Array  # int32 [information sets]


class Sampler(NamedTuple):
    """How to draw hands, and where children are."""

    accept: Array  # float64 [pairs]: alias table of the joint deal
    alias: Array  # int32 [pairs]
    pair: Array  # int32 [pairs, 2]
    marginal: tuple[Array, Array]  # float64 [hands of player p]: probability of each hand
    cumulative: tuple[Array, Array]  # float64 [hands of player p]
    total: float  # sum of the products of the weights over all pairs
    own_all: bool  # whether a walk with vectors carries all of the traverser's hands
    opp_all: bool  # … and all of the opponent's
    kid_at: Array  # int32 [nodes]: first entry of kids
    kids: Array  # int32 [nodes - 1]: children, in order


@part
def decay_blocks(blocks, average, factor):
    """Age the average of one player's information sets."""
    scale = average.dtype.type(factor)
    for i in range(len(blocks.at)):
        for a in range(blocks.width[i]):
            average[blocks.at[i] + a, 0] *= scale


@part
def learn_block(tables, at, width, step):
    """Apply what waits in tables.delta to one information set; sums that are rounding errors count as zero."""
    for a in range(width):
        if abs(tables.delta[at + a, 0]) <= step[5]:
            tables.delta[at + a, 0] = 0
    learn(tables.regret, tables.prediction, at, width, 0, 1, step, tables.delta, at)
    for a in range(width):
        tables.delta[at + a, 0] = 0


@part
def learn_blocks(blocks, tables, step):
    """Apply what waits in tables.delta to one player's information sets, once an iteration."""
    for i in range(len(blocks.at)):
        learn_block(tables, blocks.at[i], blocks.width[i], step)


@part
def learn_journal(nodes, tables, step, journal, count):
    """Apply what waits in tables.delta at the blocks that a sampled walk has visited."""
    for i in range(count):
        learn_block(tables, nodes.data[journal[i]], nodes.width[journal[i]], step)


@part
def copy_rows(
    source,  # float [rows, hands]
    target,  # float [rows, hands] OUT
):
    """Copy a table, without the machinery of array assignment that is slow to compile."""
    for i in range(len(source)):
        for h in range(source.shape[1]):
            target[i, h] = source[i, h]


@kernel
def full_iterations(
    nodes,  # Nodes
    sides,  # (Side, …) one per player
    blocks,  # (Blocks, …) used where nodes share blocks
    tables,  # (RegretTables, …) one per player
    steps,  # float64 [iterations, 6]
    simultaneous,
    shared,
    rng,  # uint64 [1]
    no_cuts,  # Cuts, empty
    room,  # (WalkFrames, …) one per player
):
    """Full-width iterations, one walk per player each.

    Constants are passed as typed values: a literal would be a type of its own, and `walk` compiled once more for it.
    """
    for i in range(len(steps)):
        step = steps[i]
        if simultaneous:  # what each answers is the other's strategy before this iteration
            for me in range(len(sides)):
                other = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
                copy_rows(other.regret, tables[me].opp_regret)
                copy_rows(other.prediction, tables[me].opp_prediction)
        for me in range(len(sides)):
            side, f, mine = sides[me], room[me], tables[me]
            for h in range(len(side.weight)):
                f.own[0, h] = 1
            for j in range(len(side.weight_opp)):
                f.opp[0, j] = side.weight_opp[j]
            if shared:
                decay_blocks(blocks[me], mine.average, step[3])
            task = Task(me, np.int64(0), np.int64(LEARN), np.bool_(False), shared)
            span = Span(np.int64(0), len(side.weight), np.int64(0), len(side.weight_opp))
            walk(nodes, side, mine, step, task, span, rng, no_cuts, f)
            if shared:
                learn_blocks(blocks[me], mine, step)


@part
def draw(cumulative, rng):
    """A hand by its cumulative probabilities."""
    x = random(rng) * cumulative[-1]
    h = 0
    while h < len(cumulative) - 1 and x >= cumulative[h]:
        h += 1
    return h


@part
def draw_pair(sampler, rng):
    """A pair of hands by the alias method."""
    x = random(rng) * len(sampler.accept)
    k = int(x)
    if x - k >= sampler.accept[k]:
        k = sampler.alias[k]
    return sampler.pair[k, 0], sampler.pair[k, 1]


@kernel
def public_iterations(
    nodes,  # Nodes
    sides,  # (Side, …)
    sampler,  # Sampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    shared,
    rng,  # uint64 [1] INOUT
    no_cuts,  # Cuts, empty
    room,  # (WalkFrames, …)
):
    """PCS, OPCS, SPCS and chance sampling: public chance is sampled, hands are all or one.

    A sampled hand divides by its probability, so that what is added has the expectation of a full walk.
    """
    for _ in range(count):
        for me in range(len(sides)):
            side, f = sides[me], room[me]
            low, high, opp_low, opp_high = 0, len(side.weight), 0, len(side.weight_opp)
            probability = 1.0
            if not sampler.own_all and not sampler.opp_all:
                pair = draw_pair(sampler, rng)
                low, opp_low = (pair[0], pair[1]) if me == 0 else (pair[1], pair[0])
                high, opp_high = low + 1, opp_low + 1
                probability = side.weight[low] * side.weight_opp[opp_low] / sampler.total
            elif not sampler.own_all:
                low = draw(sampler.cumulative[0] if me == 0 else sampler.cumulative[1], rng)
                high = low + 1
                probability = (sampler.marginal[0] if me == 0 else sampler.marginal[1])[low]
            elif not sampler.opp_all:
                opp_low = draw(sampler.cumulative[1] if me == 0 else sampler.cumulative[0], rng)
                opp_high = opp_low + 1
                probability = (sampler.marginal[1] if me == 0 else sampler.marginal[0])[opp_low]
            for h in range(low, high):
                f.own[0, h] = 1
            for j in range(opp_low, opp_high):
                f.opp[0, j] = side.weight_opp[j] / probability
            task = Task(me, np.int64(0), np.int64(LEARN), np.bool_(True), shared)
            noted = walk(nodes, side, tables[me], step, task, Span(low, high, opp_low, opp_high), rng, no_cuts, f)
            if shared:
                learn_journal(nodes, tables[me], step, f.journal, noted)


@part
def payoff(side, e, h, j):
    """What a terminal pays my hand h against j."""
    if side.kind[e] == CONSTANT:
        return side.pay[e, 0]
    row = side.row[e]
    if side.kind[e] == COMPARE:
        place = side.place[row, j]
        return side.pay[e, 0 if place < side.below[row, h] else (1 if place < side.upto[row, h] else 2)]
    return side.matrix[row, h, j]


@part
def draw_action(sigma, row, width, h, rng):
    """An action by the strategy of hand h, whose first row is given."""
    x = random(rng)
    a = 0
    while a < width - 1:
        x -= sigma[row + a, h]
        if x < 0:
            break
        a += 1
    return a


@kernel
def external_iterations(
    nodes,  # Nodes
    sides,  # (Side, …)
    sampler,  # Sampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    rng,  # uint64 [1] INOUT
    held,  # int64 [players] scratch: hands
    room,  # (WalkFrames, …)
):
    """External sampling (Lanctot et al. 2009): chance and opponents are sampled, own actions are all walked.

    The opponents' averages grow where they are sampled, by their strategy.
    """
    actor, widths, data = nodes.actor, nodes.width, nodes.data
    kid_at, kids = sampler.kid_at, sampler.kids
    for _ in range(count):
        for me in range(len(sides)):
            side, f, mine = sides[me], room[me], tables[me]
            theirs = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
            pair = draw_pair(sampler, rng)
            held[0] = pair[0]
            if len(sides) > 1:
                held[1] = pair[1]
            h = held[me]
            j = held[1 - me] if len(sides) == 2 else 0
            path, turn, sigma, sigma_opp, action = f.node, f.turn, f.sigma, f.sigma_opp, f.value
            span = len(sigma_opp)
            d = 0
            n = 0
            while True:
                f.visits[0] += 1
                who = actor[n]
                value = 0.0
                if who == CHANCE:
                    k, _ = draw_outcome(side, data[n], widths[n], Span(h, h + 1, j, j + 1), rng)
                    n = kids[kid_at[n] + k]
                    continue
                if who == TERMINAL:
                    value = payoff(side, data[n], h, j)
                else:
                    at, width, g = data[n], widths[n], held[who]
                    if who != me:
                        match(theirs.regret, theirs.prediction, at, width, g, g + 1, step[4], sigma_opp, 0)
                        for a in range(width):
                            theirs.average[at + a, g] += sigma_opp[a, g]
                        n = kids[kid_at[n] + draw_action(sigma_opp, 0, width, g, rng)]
                        continue
                    match(mine.regret, mine.prediction, at, width, g, g + 1, step[4], sigma, d * span + 1)
                    path[d] = n
                    turn[d] = 0
                    n = kids[kid_at[n]]
                    d += 1
                    continue
                # a value is known: hand it up
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
                    learn(mine.regret, mine.prediction, at, width, h, h + 1, step, action, row)
                else:
                    break


@kernel
def outcome_iterations(
    nodes,  # Nodes
    sides,  # (Side, …)
    sampler,  # Sampler
    tables,  # (RegretTables, …) one per player
    step,  # float64 [6]
    count,
    epsilon,
    rng,  # uint64 [1] INOUT
    held,  # int64 [players] scratch: hands
    room,  # (WalkFrames, …)
):
    """Outcome sampling (Lanctot et al. 2009): one trajectory, own actions drawn from σ mixed with ε uniform.

    Averages grow at the opponents' nodes by σ / (probability of the traverser's own samples), which has
    the expectation of external sampling.
    """
    actor, widths, data = nodes.actor, nodes.width, nodes.data
    kid_at, kids = sampler.kid_at, sampler.kids
    for _ in range(count):
        for me in range(len(sides)):
            side, f, mine = sides[me], room[me], tables[me]
            theirs = tables[(me + 1) % len(tables)]  # in a history tree all players share one table
            pair = draw_pair(sampler, rng)
            held[0] = pair[0]
            if len(sides) > 1:
                held[1] = pair[1]
            h = held[me]
            j = held[1 - me] if len(sides) == 2 else 0
            path, turn, sigma, sigma_opp, action = f.node, f.turn, f.sigma, f.sigma_opp, f.value
            span = len(sigma_opp)
            d = 0
            n = 0
            sampled = 1.0  # probability of the traverser's samples so far
            while actor[n] != TERMINAL:
                f.visits[0] += 1
                who = actor[n]
                k = 0
                if who == CHANCE:
                    k, _ = draw_outcome(side, data[n], widths[n], Span(h, h + 1, j, j + 1), rng)
                else:
                    at, width, g = data[n], widths[n], held[who]
                    if who == me:
                        row = d * span + 1
                        match(mine.regret, mine.prediction, at, width, g, g + 1, step[4], sigma, row)
                        if random(rng) < epsilon:
                            k = min(int(random(rng) * width), width - 1)
                        else:
                            k = draw_action(sigma, row, width, g, rng)
                        sampled *= epsilon / width + (1 - epsilon) * sigma[row + k, g]
                        path[d] = n
                        turn[d] = k
                        d += 1
                    else:
                        match(theirs.regret, theirs.prediction, at, width, g, g + 1, step[4], sigma_opp, 0)
                        for a in range(width):
                            theirs.average[at + a, g] += sigma_opp[a, g] / sampled
                        k = draw_action(sigma_opp, 0, width, g, rng)
                n = kids[kid_at[n] + k]
            f.visits[0] += 1
            tail = payoff(side, data[n], h, j) / sampled  # times σ of the own actions below
            while d > 0:
                d -= 1
                n, k = path[d], turn[d]
                row, at, width = d * span + 1, data[n], widths[n]
                p = sigma[row + k, h]
                for a in range(width):
                    action[row + a, h] = tail * (1 - p) if a == k else -tail * p
                learn(mine.regret, mine.prediction, at, width, h, h + 1, step, action, row)
                tail *= p


@kernel
def discount_table(
    average,  # float [rows, hands] INOUT
    regret,  # float [rows, hands] INOUT
    positive,
    negative,
    decay,
):
    """A tick of the schedule's clock in a sampled run: age regrets and averages everywhere."""
    up, down, old = regret.dtype.type(positive), regret.dtype.type(negative), average.dtype.type(decay)
    for i in range(len(regret)):
        for h in range(regret.shape[1]):
            regret[i, h] *= up if regret[i, h] > 0 else down
            average[i, h] *= old


@kernel
def current_strategy(
    nodes,  # Nodes
    me,
    tables,  # RegretTables
    t,
    out,  # float64 [rows, hands] OUT
):
    """What the regrets of one player play."""
    hands = out.shape[1]
    for n in range(len(nodes.actor)):
        if nodes.actor[n] == me:
            at = nodes.data[n]
            match(tables.regret, tables.prediction, at, nodes.width[n], 0, hands, t, out, at)
