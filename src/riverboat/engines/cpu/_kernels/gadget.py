"""Compiled choice at the root of a subgame: a stop pay-off for each hand, or the choice of a hand.

The choice is an information set like any other, or one for each row of hands: regret matching on [moves, sets], which a
user's rule replaces. Its numbers are few, and float64. `enter` and `learn_root` are called, not inlined: that cost walks
without a gadget 4 %.
"""

from __future__ import annotations

from typing import NamedTuple

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array

NONE, STOP, CHOOSE = 0, 1, 2
TINY = 1e-30  # positive regrets that sum to less count as none


class Gadget(NamedTuple):
    """One choice a row and draw (STOP: moves stop and enter), or one among all hands (CHOOSE: a move for each)."""

    kind: int
    player: int
    regret: Array  # float64 [moves, sets] INOUT
    average: Array  # float64 [moves, sets] INOUT: weighted mean of what was played
    prediction: Array  # float64 [moves, sets] INOUT, or empty
    opp_regret: Array  # what the opponent answers
    opp_prediction: Array
    row: Array  # int32 [rows × draws, or hands]: the row at the root
    share: Array  # float64 […]: how likely the draw is
    factor: Array  # float64 […]: what its value is worth
    offset: Array  # float64 […]: what stopping is worth; what is taken off a hand that was chosen
    entry: Array  # float64 […]: the opponent meets it so often when it enters or is chosen for certain
    sigma: Array  # float64 [moves, sets] scratch
    instant: Array  # float64 [moves, sets] scratch


@part
def root_play(regret, prediction, t, out):
    """Regret matching, on any number of information sets."""
    width, sets = regret.shape
    for s in range(sets):
        total = 0.0
        for a in range(width):
            x = regret[a, s]
            if len(prediction) > 0:
                x += prediction[a, s]
            x = max(x, 0.0)
            out[a, s] = x
            total += x
        for a in range(width):
            out[a, s] = out[a, s] / total if total > TINY else 1.0 / width


@part
def root_absorb(regret, prediction, step, instant):
    """Discount, add, floor."""
    width, sets = regret.shape
    for a in range(width):
        for s in range(sets):
            r = regret[a, s]
            r = r * (step[0] if r > 0 else step[1]) + instant[a, s]
            r = 0.0 if -TINY < r < TINY else r  # before it fades into denormal numbers, which are slow
            regret[a, s] = max(r, step[2])
            if len(prediction) > 0:
                prediction[a, s] = instant[a, s]


@kernel
def enter(g, me, rows, t, own, opp):
    """Reach at the root through the gadget: my own where the choice is mine, else the opponent's."""
    mine = me == g.player
    if mine:
        root_play(g.regret, g.prediction, t, g.sigma)
    else:
        root_play(g.opp_regret, g.opp_prediction, t, g.sigma)
    out = own if mine else opp
    for r in range(rows):
        out[r] = 0
    for k in range(len(g.row)):
        p = g.sigma[1, k] if g.kind == STOP else g.sigma[k, 0]
        if g.kind == STOP:
            out[g.row[k]] += p * g.share[k] if mine else p * g.entry[k]
        else:
            out[g.row[k]] = p if mine else p * g.entry[k]


@kernel
def learn_root(g, step, value, at):
    """What the choice has learnt from the values of its rows, which begin at `at`."""
    if g.kind == STOP:
        for k in range(len(g.row)):
            enters, stops = value[at + g.row[k]] * g.factor[k], g.offset[k]
            mean = g.sigma[0, k] * stops + g.sigma[1, k] * enters
            g.instant[0, k] = stops - mean
            g.instant[1, k] = enters - mean
    else:
        mean = 0.0
        for k in range(len(g.row)):
            x = value[at + g.row[k]] * g.factor[k] - g.offset[k]
            g.instant[k, 0] = x
            mean += g.sigma[k, 0] * x
        for k in range(len(g.row)):
            g.instant[k, 0] -= mean
    width, sets = g.regret.shape
    for a in range(width):
        for s in range(sets):
            g.average[a, s] = g.average[a, s] * step[3] + g.sigma[a, s] * step[5]
    root_absorb(g.regret, g.prediction, step, g.instant)
