"""Compiled fictitious play of three-player push or fold, and showdowns of ranges of three and four players.

The value of a decision is a sum over the classes of two other players. Fictitious play changes best responses in a few
classes at a time. So the sum over one of the two players is stored as a matrix over the other two, and an update adds
or subtracts only the classes that changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.simd import broadcast, load, store
from riverboat.core.arrays import Array

# --- Showdowns of three and four ranges ---

U = np.uint64
ORDER_WIDTH = 16  # row width of a triple: 13 orders, zero-padded to a SIMD vector


@inline
def triple_position(a, b, c):
    """Return the row of three classes in tables of triples, and the number of the permutation that sorts them.

    Permutations are numbered as in `permutations(range(3))`: number 3 means that a, b, c have ascending places 1, 2, 0.
    """
    if a <= b:
        if b <= c:
            return a + b * (b + 1) // 2 + c * (c + 1) * (c + 2) // 6, 0
        if a <= c:
            return a + c * (c + 1) // 2 + b * (b + 1) * (b + 2) // 6, 1
        return c + a * (a + 1) // 2 + b * (b + 1) * (b + 2) // 6, 3
    if a <= c:
        return b + a * (a + 1) // 2 + c * (c + 1) * (c + 2) // 6, 2
    if b <= c:
        return b + c * (c + 1) // 2 + a * (a + 1) * (a + 2) // 6, 4
    return c + b * (b + 1) // 2 + a * (a + 1) * (a + 2) // 6, 5


@kernel
def three_range_orders(
    shares,  # float32 [triples, ORDER_WIDTH]: probabilities of the orders, for ascending classes
    hands,  # float32 [triples]: probability of the classes
    permuted_orders,  # int64 [6, 13]: order of ascending classes for each permutation and order of the players
    second,  # int64 [n]: classes in the second player's range
    weight2,  # float32 [n]
    third,  # int64 [m]
    weight3,  # float32 [m]
    workspace,  # float32 [6, ORDER_WIDTH]
    out,  # float64 [classes, 13] OUT: weight of each order, by the class of the first player
):
    """Compute the weight of each showdown order, by the first player's class, against ranges of the other two."""
    for c in range(len(out)):
        for k in range(workspace.size // 16):
            store(workspace, U(16 * k), broadcast(workspace, np.float32(0)))
        for i in range(len(second)):
            for j in range(len(third)):
                at, turn = triple_position(np.int64(c), second[i], third[j])
                w = hands[at] * weight2[i] * weight3[j]
                to = U(ORDER_WIDTH * turn)
                store(workspace, to, load(workspace, to) + broadcast(workspace, w) * load(shares, U(ORDER_WIDTH * at)))
        for k in range(13):
            total = 0.0
            for turn in range(6):
                total += workspace[turn, permuted_orders[turn, k]]
            out[c, k] = total


@kernel
def four_range_orders(
    classes,  # uint8 [samples, 4]: classes of four hands
    order,  # uint8 [samples]: index of their order at showdown, one of 75
    seat_permutations,  # int64 [24, 4]: hand of each player
    permuted_orders,  # int64 [24, 75]: order of the players for each permutation
    weights,  # float32 [4, classes]: ranges; that of `player` is not used
    player,  # the player whose class indexes the output
    out,  # float64 [classes, 75] INOUT: weights are added
):
    """Add sampled four-way showdowns by order and class of one player, weighted by the ranges of the other three.

    Each sampled deal counts once for each of the 24 ways to give its hands to the players.
    """
    for s in range(len(classes)):
        for turn in range(len(seat_permutations)):
            w = np.float32(1)
            for p in range(4):
                if p != player:
                    w *= weights[p, classes[s, seat_permutations[turn, p]]]
            if w > 0:
                out[classes[s, seat_permutations[turn, player]], permuted_orders[turn, order[s]]] += w


# Matrices, named by the line at which the big blind acts and the player (0 button, 1 small blind, 2 big blind) whose
# values they have. First axis: the class that is summed over later; last axis: the class of the acting player.
JJ0, JJ1, JF0, JF1, FJ0, FJ1, JJ2, JF2, FJ2 = range(9)  # JF1: behind J and F, values of player 1
NUM_MATRICES = 9
# Lines at which a player decides, as indices of strategies: first in, behind J or F, behind JJ, JF or FJ.
OPEN, SB_J, SB_F, BB_JJ, BB_JF, BB_FJ = range(6)


class ClassDealArrays(NamedTuple):
    """Probabilities of classes dealt to two or three players, and of their showdown orders."""

    shares: Array  # float32 [triples, ORDER_WIDTH]: probabilities of the orders, for ascending classes
    ways: Array  # float32 [triples]: probability of the classes
    dead: Array  # float32 [classes, 3, classes, classes]: two classes and their order, by class of the folded player
    pairs: Array  # float32 [classes, classes]: probability of two classes


class StagePayoffArrays(NamedTuple):
    """Payoff changes when the big blind calls instead of folding, by showdown order; FJ2 has the opposite sign."""

    threes: Array  # float32 [3, 6, ORDER_WIDTH]: three-way showdowns for JJ0, JJ1, JJ2, by permutation of classes
    twos: Array  # float32 [NUM_MATRICES, 3]: two-way showdowns; zero for JJ
    walk: Array  # float32 [2]: payoffs of the first two players when all fold


class FictitiousPlayState(NamedTuple):
    """Average strategy and last best responses of fictitious play, with the decision matrices of both."""

    mean: Array  # float64 [6, classes]: average strategy
    best: Array  # float64 [6, classes]: last best responses, initially a copy of `mean`
    mean_matrices: Array  # float32 [NUM_MATRICES, classes, classes]: sums with `mean`
    best_matrices: Array  # float32 [NUM_MATRICES, classes, classes]: sums with `best`, initially a copy of the others


@inline
def add_rows(dead, x, weight, pay, out, at, turned):
    """Add weight × payoff of class x against every class y, by the folded player's class z, to matrix `out[at]`.

    Entries are [z, y], or [y, z] if `turned`. `pay`: payoffs of a win, a loss and a tie of x.
    """
    n = len(dead)
    first, second, level = weight * pay[0], weight * pay[1], weight * pay[2]
    for z in range(n):
        if turned:
            for y in range(n):
                out[at, y, z] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]
        else:
            for y in range(n):
                out[at, z, y] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]


@inline
def add_block(dead, z, weight, pay, out, at):
    """Add weight × payoff of every class x against every class y, where class z has folded, to matrix `out[at]`.

    Entries are [x, y]. `pay`: payoffs of a win, a loss and a tie of x.
    """
    n = len(dead)
    first, second, level = weight * pay[0], weight * pay[1], weight * pay[2]
    for x in range(n):
        for y in range(n):
            out[at, x, y] += first * dead[z, 0, x, y] + second * dead[z, 1, x, y] + level * dead[z, 2, x, y]


@inline
def triple_payoff(shares, at, pay, turn):
    """Return the expected payoff of the triple in row `at`: a dot product over orders, unrolled to be vectorized."""
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


@inline
def add_threes(shares, ways, seat, x, weight, pay, out):
    """Add weight × payoff of three-way all-ins in which a seat (1 or 2) holds class x, to the matrices of the others.

    Seat 2 changes JJ0 and JJ1, seat 1 changes JJ2.
    """
    n = out.shape[1]
    for y in range(n):
        for z in range(y + 1):  # consecutive rows of the table
            for swap in range(2 if z < y else 1):
                first, second = (z, y) if swap else (y, z)
                if seat == 2:  # the others are the first two players
                    at, turn = triple_position(np.int64(first), np.int64(second), np.int64(x))
                    w = weight * ways[at]
                    out[JJ0, second, first] += w * triple_payoff(shares, at, pay[0], turn)
                    out[JJ1, first, second] += w * triple_payoff(shares, at, pay[1], turn)
                else:  # seat 1: the others are players 0 and 2
                    at, turn = triple_position(np.int64(first), np.int64(x), np.int64(second))
                    out[JJ2, first, second] += weight * ways[at] * triple_payoff(shares, at, pay[2], turn)


@kernel
def add_class(deals, payoffs, line, x, weight, out):
    """Update the decision matrices `out` after the all-in frequency of class x at a line has changed by `weight`."""
    shares, ways, dead, threes, twos = deals.shares, deals.ways, deals.dead, payoffs.threes, payoffs.twos
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


@inline
def add_row(matrices, at, row, weight, out, line):
    """Add weight × one row of matrix `at` to the values of a line: `out[line]`."""
    w = np.float32(weight)
    for k in range(out.shape[1]):
        out[line, k] += w * matrices[at, row, k]


@inline
def move_toward(old, new, share):
    """Interpolate strategy matrices in place: move old ones a fraction of the way to new ones."""
    for k in range(NUM_MATRICES):
        for x in range(old.shape[1]):
            for y in range(old.shape[2]):
                old[k, x, y] += share * (new[k, x, y] - old[k, x, y])


@inline
def jam_advantages(matrices, pairs, walk, mean, out):
    """Compute the value of going all-in less that of folding, at every line with every class, from the matrices."""
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
def fictitious_play_three_players(
    deals,  # ClassDealArrays
    payoffs,  # StagePayoffArrays
    state,  # FictitiousPlayState INOUT
    memory,  # weight of the initial strategy, in iterations
    iterations,  # at most
    until,  # float64: stop when no player gains more
    advantages,  # float32 [6, classes] OUT: value of going all-in less that of folding
    gains,  # float64 [3] OUT: gain of each player by its best response to the mean
):
    """Run fictitious play of a three-player stage until no player gains more than `until`; return the iterations."""
    mean, best, n, done = state.mean, state.best, len(deals.pairs), 0
    while True:
        jam_advantages(state.mean_matrices, deals.pairs, payoffs.walk, mean, advantages)
        gains[:] = 0
        for line in range(6):
            seat = 0 if line == OPEN else 1 if line < BB_JJ else 2
            for x in range(n):
                if advantages[line, x] > 0:
                    gains[seat] += (1 - mean[line, x]) * advantages[line, x]
                else:
                    gains[seat] -= mean[line, x] * advantages[line, x]
        if done == iterations or (gains[0] <= until and gains[1] <= until and gains[2] <= until):
            return done
        done += 1
        step = 1 / (memory + done)
        for line in range(6):
            for x in range(n):
                jam = 1.0 if advantages[line, x] > 0 else 0.0
                if best[line, x] != jam:
                    add_class(deals, payoffs, line, x, jam - best[line, x], state.best_matrices)
                    best[line, x] = jam
                mean[line, x] += step * (jam - mean[line, x])
        move_toward(state.mean_matrices, state.best_matrices, np.float32(step))


# --- Sums over the range of one player ---


@kernel
def sum_threes(
    shares,  # float32 [triples, ORDER_WIDTH]
    ways,  # float32 [triples]
    permuted_orders,  # int64 [6, 13]: order of ascending classes for each permutation and order of the players
    seat,  # which of the three players is summed over: 1 or 2
    classes,  # int64 [m]: classes in its range
    weights,  # float32 [m]
    swapped_orders,  # int64 [13]: orders with the two others swapped
    workspace,  # float32 [6, ORDER_WIDTH]
    out,  # float32 [classes, classes, 13] OUT: probabilities of the orders, by the classes of the two others
):
    """Compute order probabilities of three players all-in, summed over the range of one, by classes of the others."""
    for y in range(len(out)):
        for z in range(y + 1):
            for turn in range(6):
                store(workspace, U(ORDER_WIDTH * turn), broadcast(workspace, np.float32(0)))
            for i in range(len(classes)):
                if seat == 2:
                    at, turn = triple_position(np.int64(y), np.int64(z), classes[i])
                else:
                    at, turn = triple_position(np.int64(y), classes[i], np.int64(z))
                to = U(ORDER_WIDTH * turn)
                store(
                    workspace,
                    to,
                    load(workspace, to)
                    + broadcast(workspace, weights[i] * ways[at]) * load(shares, U(ORDER_WIDTH * at)),
                )
            for k in range(13):
                total = np.float32(0)
                for turn in range(6):
                    total += workspace[turn, permuted_orders[turn, k]]
                out[y, z, k] = total
                out[z, y, swapped_orders[k]] = total


@kernel
def sum_rows(
    dead,  # float32 [classes, 3, classes, classes]
    classes,  # int64 [m]: range of the first of two players
    weights,  # float32 [m]
    out,  # float32 [3, classes, classes] INOUT: orders by the classes of the folded and of the second player
):
    """Add order probabilities of two players all-in behind a fold, summed over the range of the first of the two."""
    n = len(dead)
    for z in range(n):
        for k in range(3):
            for i in range(len(classes)):
                for y in range(n):
                    out[k, z, y] += weights[i] * dead[z, k, classes[i], y]


@kernel
def sum_folded(
    dead,  # float32 [classes, 3, classes, classes]
    classes,  # int64 [m]: range of the folded player
    weights,  # float32 [m]
    out,  # float32 [3, classes, classes] INOUT: orders by the classes of the two others
):
    """Add order probabilities of two players all-in, summed over the range of the third, who has folded."""
    n = len(dead)
    for i in range(len(classes)):
        for k in range(3):
            for x in range(n):
                for y in range(n):
                    out[k, x, y] += weights[i] * dead[classes[i], k, x, y]
