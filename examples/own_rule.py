"""Two local rules of your own, in place of regret matching. They run in every traversal of every game.

riverboat solve leduc --schedule examples.own_rule:HEDGE
"""

import math

from numba import njit

from riverboat.solvers.schedules import Rule

RATE = 30.0  # learning rate of Hedge; regrets are counterfactual: in the game's unit, times a probability


@njit
def softmax(regret, prediction, t, out):
    """Hedge (Freund & Schapire 1997): exponential in the regrets with a falling rate; the largest is subtracted first."""
    actions, hands = regret.shape
    for h in range(hands):
        top = regret[0, h]
        for a in range(1, actions):
            top = max(top, regret[a, h])
        total = 0.0
        for a in range(actions):
            out[a, h] = math.exp(RATE * (regret[a, h] - top) / math.sqrt(t))
            total += out[a, h]
        for a in range(actions):
            out[a, h] /= total


@njit
def match(regret, prediction, t, out):
    """Regret matching, as an exercise: the same as schedule `vanilla`."""
    actions, hands = regret.shape
    for h in range(hands):
        total = 0.0
        for a in range(actions):
            out[a, h] = max(regret[a, h], 0.0)
            total += out[a, h]
        for a in range(actions):
            out[a, h] = out[a, h] * (1.0 / total) if total > 0 else 1.0 / actions


@njit
def add(regret, prediction, instant, t):
    """Sum the regrets of all iterations."""
    regret += instant


HEDGE = Rule(softmax, add, "hedge", gamma=1.0)
REGRET_MATCHING = Rule(match, add, "regret matching", alternating=False)
