"""Compiled steps at the nodes of a street: what is played, reach down, values up, and what is learnt.

Vectors over the rows of a board are taken sixteen at a time (`riverboat.compiled.simd`). `play` and `absorb` are regret matching and
its update; a user's rule takes their place as in `riverboat.solvers.tabular.rules`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import part
from riverboat.compiled.simd import LANES, fetch, keep, larger, load, prefetch, same, store, where_above
from riverboat.core.arrays import Array

LEARN, EVALUATE, RESPOND = 0, 1, 2
U = np.uint64
L = U(LANES)
TINY = 1e-30  # positive regrets that sum to less count as none
# Added and taken away again, this makes zeros of regrets that have faded to almost nothing. Left alone they would end as
# denormal numbers, on which some processors are a hundred times slower.
DUST = 2.0**-40


class BoardTables(NamedTuple):
    """What is learnt: [board][player][betting row, action][row], flat."""

    regret: Array  # float or int16 INOUT
    average: Array  # float or uint16 INOUT: weighted mean of reach × strategy; in EVALUATE and RESPOND what is played
    prediction: Array  # float or int16 INOUT, or empty
    opp_regret: Array  # what the opponent plays from
    opp_prediction: Array
    lock: Array  # int32 [locks, 3]: board, node, where its strategy begins in locked; ascending
    locked: Array  # float [numbers]: probabilities [action][row] of a locked node, below zero where a row is free


@part
def matched(
    table,  # regrets or averages
    guess,  # table that is added to the first, or the same one again
    guesses,  # whether it is
    at,  # first number of the information sets
    width,
    rows,
    stride,
    reach,  # float: how hands come here
    begin,
    sigma,  # float OUT: probabilities, one vector for each action
    keeps,  # whether they are wanted
    out,  # float OUT: reach after each action
    to,  # where both are written
):
    """Proportional to the positive part, uniform where there is none."""
    kind = out.dtype.type
    zero, tiny, one = same(out, kind(0)), same(out, kind(TINY)), same(out, kind(1))
    uniform = same(out, kind(1) / kind(width))
    for h in range(U(0), rows, L):
        some = min(rows - h, L)
        total = zero
        for a in range(width):
            x = fetch(table, at + a * rows + h, some)
            prefetch(table, at + (width + a) * rows + h)  # the player's next node follows
            if guesses:
                x = x + fetch(guess, at + a * rows + h, some)
            x = larger(x, zero)
            store(out, to + a * stride + h, x)
            total = total + x
        share = where_above(total, tiny, one / larger(total, tiny), zero)
        rest = where_above(total, tiny, zero, uniform)
        weight = load(reach, begin + h)
        for a in range(width):
            x = load(out, to + a * stride + h) * share + rest
            if keeps:
                store(sigma, to + a * stride + h, x)
            store(out, to + a * stride + h, x * weight)


@part
def play(regret, prediction, at, width, rows, t, stride, reach, begin, sigma, keeps, out, to):
    """Regret matching."""
    guesses = len(prediction) > 0
    matched(regret, prediction, guesses, at, width, rows, stride, reach, begin, sigma, keeps, out, to)


@part
def mean_play(average, at, width, rows, stride, reach, begin, sigma, keeps, out, to):
    """The strategy that a table of averages stands for."""
    matched(average, average, False, at, width, rows, stride, reach, begin, sigma, keeps, out, to)


@part
def absorb(
    regret,  # table INOUT
    prediction,  # table INOUT, or empty
    at,
    width,
    rows,
    step,  # float64 [6]
    stride,
    value,  # float: value of each action at offsets kids
    kids,  # int64 [width]
    node,  # offset in value of the node's own value, which is written
    sigma,  # float: the node's strategy; no longer needed afterwards
    to,
    weight,  # float [width]: how much each action counts
):
    """The node's value; discount the regrets, add what each action would have gained, floor.

    Regret matching may weigh actions as it likes: the potential that falls is then a weighted sum of squares.
    """
    kind = value.dtype.type
    up, down, floor = same(value, kind(step[0])), same(value, kind(step[1])), same(value, kind(step[2]))
    zero, dust = same(value, kind(0)), same(value, kind(DUST))
    predicts, turn = len(prediction) > 0, U(step[4])
    for h in range(U(0), rows, L):
        some = min(rows - h, L)
        mean = load(sigma, to + h) * load(value, U(kids[0]) + h)
        for a in range(U(1), width):
            mean = mean + load(sigma, to + a * stride + h) * load(value, U(kids[a]) + h)
        store(value, node + h, mean)
        for a in range(width):
            here = at + a * rows + h
            gain = (load(value, U(kids[a]) + h) - mean) * same(value, weight[a])
            r = fetch(regret, here, some)
            r = (r * where_above(r, zero, up, down) + gain + dust) - dust
            keep(regret, here, larger(r, floor), some, turn)
            if predicts:
                keep(prediction, here, gain, some, turn)


@part
def add_average(
    average,  # table INOUT
    at,
    width,
    rows,
    step,  # float64 [6]
    stride,
    own,  # float: reach after each action
    below,
):
    """The mean of reach × strategy so far."""
    kind = own.dtype.type
    old, new, turn = same(own, kind(step[3])), same(own, kind(step[5])), U(step[4])
    for a in range(width):
        for h in range(U(0), rows, L):
            some = min(rows - h, L)
            here = at + a * rows + h
            keep(average, here, fetch(average, here, some) * old + load(own, below + a * stride + h) * new, some, turn)


@part
def find_lock(lock, board, node):
    """Which lock stands at a node of a board, or -1."""
    for i in range(len(lock)):
        if lock[i, 0] == board and lock[i, 1] == node:
            return i
    return -1


@part
def down(
    forest,  # Forest
    seat,  # Seat of `me`
    me,
    first,
    end,  # nodes first … end - 1
    base,  # int64 [2]: where the players' tables of the board begin
    rows,  # int32 [2]
    stride,
    tables,  # BoardTables
    step,  # float64 [6]
    mode,
    f,  # WalkVectors
):
    """Reach at all nodes of a street, from reach at its roots."""
    for n in range(first, end):
        who = forest.actor[n]
        if who < 0:
            continue
        width, count = U(forest.width[n]), U(rows[who])
        at = U(base[who]) + U(forest.slot[n]) * count
        below = U(seat.below[n])
        if who == me:
            begin = U(seat.own[n])
            if mode == LEARN:
                play(
                    tables.regret, tables.prediction, at, width, count, step[4], stride, f.own, begin, f.sigma, True,
                    f.own, below,
                )  # fmt: skip
                for k in range(U(0), width * count, L):
                    prefetch(tables.average, at + k)  # for the way up
            elif mode == EVALUATE:
                mean_play(tables.average, at, width, count, stride, f.own, begin, f.sigma, True, f.own, below)
        else:
            begin = U(seat.opp[n])
            if mode == LEARN:
                play(
                    tables.opp_regret, tables.opp_prediction, at, width, count, step[4], stride, f.opp, begin, f.sigma,
                    False, f.opp, below,
                )  # fmt: skip
            else:
                mean_play(tables.average, at, width, count, stride, f.opp, begin, f.sigma, False, f.opp, below)


@part
def up(
    forest,
    seat,
    me,
    first,
    end,
    board,
    base,
    rows,
    stride,
    tables,
    step,
    mode,
    f,
):
    """Values at all nodes of a street, from values at its leaves; regrets and averages on the way."""
    kids, weight, value = f.kids, f.weight, f.value
    count = U(rows[me])
    for k in range(end - first):
        n = end - 1 - k
        who = forest.actor[n]
        if who < 0:
            continue
        width, to, below = U(forest.width[n]), U(seat.value[n]), U(seat.below[n])
        child = n + 1
        for a in range(width):
            kids[a] = seat.value[child]
            weight[a] = forest.share[child]
            child = forest.end[child]
        if who != me:
            for h in range(U(0), count, L):
                total = load(value, U(kids[0]) + h)
                for a in range(U(1), width):
                    total = total + load(value, U(kids[a]) + h)
                store(value, to + h, total)
            continue
        at = U(base[me]) + U(forest.slot[n]) * count
        if mode == RESPOND:
            for h in range(U(0), count, L):
                best = load(value, U(kids[0]) + h)
                for a in range(U(1), width):
                    best = larger(best, load(value, U(kids[a]) + h))
                store(value, to + h, best)
        elif mode == LEARN:
            absorb(
                tables.regret, tables.prediction, at, width, count, step, stride, value, kids, to, f.sigma, below, weight
            )  # fmt: skip
            add_average(tables.average, at, width, count, step, stride, f.own, below)
        else:
            for h in range(U(0), count, L):
                total = load(f.sigma, below + h) * load(value, U(kids[0]) + h)
                for a in range(U(1), width):
                    total = total + load(f.sigma, below + a * stride + h) * load(value, U(kids[a]) + h)
                store(value, to + h, total)
        if len(tables.lock) > 0 and mode != EVALUATE:
            hold(tables, find_lock(tables.lock, board, n), at, width, count, mode, value, kids, to)


@part
def hold(tables, lock, at, width, rows, mode, value, kids, to):
    """At a locked node: regrets that play the given strategy, or in RESPOND its value."""
    if lock < 0:
        return
    given = U(tables.lock[lock, 2])
    for h in range(rows):
        if tables.locked[given + h] >= 0:
            total = value[to + h] * 0
            for a in range(width):
                p = tables.locked[given + a * rows + h]
                total += p * value[U(kids[a]) + h]
                if mode == LEARN:
                    tables.regret[at + a * rows + h] = p
                    if len(tables.prediction) > 0:
                        tables.prediction[at + a * rows + h] = 0
            if mode == RESPOND:
                value[to + h] = total
