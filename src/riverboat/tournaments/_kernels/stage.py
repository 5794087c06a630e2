"""Compiled fictitious play of three players' push or fold, and sums over hands of a player who has folded.

What a decision is worth is a sum over the classes of two other players. Fictitious play changes the best answers in a few
classes at a time, so what is summed over one of the two players is kept as a matrix over the other two, and only the
classes that changed are added or taken away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.simd import load, same, store
from riverboat.core.arrays import Array
from riverboat.tournaments._kernels.ring import WIDE, U, place_of

# Matrices: the class that is summed over later stands first, the class of the player who decides last.
JJ0, JJ1, JF0, JF1, FJ0, FJ1, JJ2, JF2, FJ2 = range(9)  # a decision of the big blind, and whose worth
KEPT = 9
# Lines in the order of action.
OPEN, SB_J, SB_F, BB_JJ, BB_JF, BB_FJ = range(6)


class Deals(NamedTuple):
    """Chances of classes and of the orders of their hands."""

    shares: Array  # float32 [triples, WIDE]: chances of the orders, for ascending classes
    ways: Array  # float32 [triples]: the chance of the classes
    dead: (
        Array  # float32 [classes, 3, classes, classes]: of two classes and their order, by the class of who has folded
    )
    pairs: Array  # float32 [classes, classes]: the chance of two classes


class Pays(NamedTuple):
    """What orders of the hands are worth."""

    threes: Array  # float32 [3, 6, WIDE]: what three add, for JJ0, JJ1, JJ2, by the order in which classes are held
    twos: Array  # float32 [KEPT, 3]: what two add; of JJ nothing
    walk: Array  # float32 [2]: what the first two players get when all fold


class Learnt(NamedTuple):
    """Strategies of fictitious play, and what is summed with them."""

    mean: Array  # float64 [6, classes]: the strategy
    held: Array  # float64 [6, classes]: the last best answers, at first a copy of it
    now: Array  # float32 [KEPT, classes, classes]: sums with the strategy
    last: Array  # float32 [KEPT, classes, classes]: sums with the best answers, at first a copy of them


@part
def add_rows(dead, x, weight, pay, out, at, turned):
    """Add the worth of x against y for all y, and all classes z of the player who folded: to [z, y], or turned to [y, z]."""
    n = len(dead)
    first, second, level = weight * pay[0], weight * pay[1], weight * pay[2]
    for z in range(n):
        if turned:
            for y in range(n):
                out[at, y, z] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]
        else:
            for y in range(n):
                out[at, z, y] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]


@part
def add_block(dead, z, weight, pay, out, at):
    """Add the worth of x against y for all of them, z having folded: to [x, y]."""
    n = len(dead)
    first, second, level = weight * pay[0], weight * pay[1], weight * pay[2]
    for x in range(n):
        for y in range(n):
            out[at, x, y] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]


@part
def paid(shares, at, pay, turn):
    """What three classes are worth: a sum in halves, which compilers do on whole vectors."""
    s, p = shares[at], pay[turn]
    a = s[0] * p[0] + s[8] * p[8]
    b = s[1] * p[1] + s[9] * p[9]
    c = s[2] * p[2] + s[10] * p[10]
    d = s[3] * p[3] + s[11] * p[11]
    e = s[4] * p[4] + s[12] * p[12]
    f = s[5] * p[5] + s[13] * p[13]
    g = s[6] * p[6] + s[14] * p[14]
    h = s[7] * p[7] + s[15] * p[15]
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@part
def add_threes(shares, ways, seat, x, weight, pay, out):
    """Add the worth of x against all y and z, all three being all-in, for the seat that holds x."""
    n = out.shape[1]
    for y in range(n):
        for z in range(y + 1):  # neighbours in the table
            for swap in range(2 if z < y else 1):
                first, second = (z, y) if swap else (y, z)
                if seat == 2:  # the others are the first two players
                    at, turn = place_of(np.int64(first), np.int64(second), np.int64(x))
                    w = weight * ways[at]
                    out[JJ0, second, first] += w * paid(shares, at, pay[0], turn)
                    out[JJ1, first, second] += w * paid(shares, at, pay[1], turn)
                else:  # of the second player: those around it
                    at, turn = place_of(np.int64(first), np.int64(x), np.int64(second))
                    out[JJ2, first, second] += weight * ways[at] * paid(shares, at, pay[2], turn)


@kernel
def add_class(deals, pays, line, x, weight, out):
    """A class is played more often at a line, or less."""
    shares, ways, dead, threes, twos = deals.shares, deals.ways, deals.dead, pays.threes, pays.twos
    w = np.float32(weight)
    if line == OPEN:
        add_rows(dead, x, w, twos[JF2], out, JF2, False)
        add_block(dead, x, w, twos[FJ2], out, FJ2)
    elif line == SB_J:
        add_threes(shares, ways, 1, x, w, threes, out)
    elif line == BB_JJ:
        add_threes(shares, ways, 2, x, w, threes, out)
    elif line == BB_JF:
        add_rows(dead, x, w, twos[JF0], out, JF0, False)
        add_rows(dead, x, w, twos[JF1], out, JF1, True)
    elif line == BB_FJ:
        add_rows(dead, x, w, twos[FJ0], out, FJ0, True)
        add_rows(dead, x, w, twos[FJ1], out, FJ1, False)


@part
def add_row(matrices, at, row, weight, out, line):
    """Add a row of a matrix."""
    w = np.float32(weight)
    for k in range(out.shape[1]):
        out[line, k] += w * matrices[at, row, k]


@part
def blend(old, new, share):
    """Go a share of the way from old matrices to new ones."""
    for k in range(KEPT):
        for x in range(old.shape[1]):
            for y in range(old.shape[2]):
                old[k, x, y] += share * (new[k, x, y] - old[k, x, y])


@part
def differences(matrices, pairs, walk, mean, out):
    """What going all-in is worth more than folding, at every line with every class."""
    out[:, :] = 0
    for x in range(len(pairs)):
        opens, called, first = mean[OPEN, x], mean[SB_J, x], mean[SB_F, x]
        add_row(matrices, JJ0, x, called, out, OPEN)
        add_row(matrices, JF0, x, 1 - called, out, OPEN)
        add_row(matrices, FJ0, x, -first, out, OPEN)
        add_row(matrices, JJ1, x, opens, out, SB_J)
        add_row(matrices, JF1, x, -opens, out, SB_J)
        add_row(matrices, FJ1, x, 1 - opens, out, SB_F)
        add_row(matrices, JJ2, x, opens, out, BB_JJ)
        add_row(matrices, JF2, x, 1 - called, out, BB_JF)
        add_row(matrices, FJ2, x, first, out, BB_FJ)
        for k in range(len(pairs)):
            out[OPEN, k] -= np.float32(1 - first) * walk[0] * pairs[x, k]
            out[SB_F, k] -= np.float32(1 - opens) * walk[1] * pairs[x, k]


@kernel
def fictitious_threes(
    deals,  # Deals
    pays,  # Pays
    learnt,  # Learnt INOUT
    memory,  # iterations that the strategy counts for
    iterations,  # at most
    until,  # float64: a gain that is small enough
    more,  # float32 [6, classes] OUT: what going all-in is worth more than folding
    gains,  # float64 [3] OUT: of the players, by their best answers to the mean
):
    """Fictitious play. The number of iterations."""
    mean, held, n, done = learnt.mean, learnt.held, len(deals.pairs), 0
    while True:
        differences(learnt.now, deals.pairs, pays.walk, mean, more)
        gains[:] = 0
        for line in range(6):
            seat = 0 if line == OPEN else 1 if line < BB_JJ else 2
            for x in range(n):
                if more[line, x] > 0:
                    gains[seat] += (1 - mean[line, x]) * more[line, x]
                else:
                    gains[seat] -= mean[line, x] * more[line, x]
        if done == iterations or (gains[0] <= until and gains[1] <= until and gains[2] <= until):
            return done
        done += 1
        step = 1 / (memory + done)
        for line in range(6):
            for x in range(n):
                best = 1.0 if more[line, x] > 0 else 0.0
                if held[line, x] != best:
                    add_class(deals, pays, line, x, best - held[line, x], learnt.last)
                    held[line, x] = best
                mean[line, x] += step * (best - mean[line, x])
        blend(learnt.now, learnt.last, np.float32(step))


# --- sums over one player's classes -----------------------------------------------------------


@kernel
def sum_threes(
    shares,  # float32 [triples, WIDE]
    ways,  # float32 [triples]
    turned,  # int64 [6, 13]: the order of ascending classes that an order of the players is
    place,  # which of the three players is summed over: 1 or 2
    classes,  # int64 [m]: its classes
    weights,  # float32 [m]
    exchanged,  # int64 [13]: the orders when the two others change places
    room,  # float32 [6, WIDE]
    out,  # float32 [classes, classes, 13] OUT: chances of the orders, by the classes of the two others
):
    """Three players all-in, one of whom has a range."""
    for y in range(len(out)):
        for z in range(y + 1):
            for turn in range(6):
                store(room, U(WIDE * turn), same(room, np.float32(0)))
            for i in range(len(classes)):
                if place == 2:
                    at, turn = place_of(np.int64(y), np.int64(z), classes[i])
                else:
                    at, turn = place_of(np.int64(y), classes[i], np.int64(z))
                to = U(WIDE * turn)
                store(room, to, load(room, to) + same(room, weights[i] * ways[at]) * load(shares, U(WIDE * at)))
            for k in range(13):
                total = np.float32(0)
                for turn in range(6):
                    total += room[turn, turned[turn, k]]
                out[y, z, k] = total
                out[z, y, exchanged[k]] = total


@kernel
def sum_rows(
    dead,  # float32 [classes, 3, classes, classes]
    classes,  # int64 [m]: of the first of two players
    weights,  # float32 [m]
    out,  # float32 [3, classes, classes] OUT: added: orders by the classes of who has folded, and of the second
):
    """Two players all-in, one of whom has a range, and a third who has folded."""
    n = len(dead)
    for z in range(n):
        for k in range(3):
            for i in range(len(classes)):
                for y in range(n):
                    out[k, z, y] += weights[i] * dead[z, k, classes[i], y]


@kernel
def sum_folded(
    dead,  # float32 [classes, 3, classes, classes]
    classes,  # int64 [m]: of who has folded
    weights,  # float32 [m]
    out,  # float32 [3, classes, classes] OUT: added: orders by the classes of the two others
):
    """Two players all-in, and a third who has folded with a range."""
    n = len(dead)
    for i in range(len(classes)):
        for k in range(3):
            for x in range(n):
                for y in range(n):
                    out[k, x, y] += weights[i] * dead[classes[i], k, x, y]
