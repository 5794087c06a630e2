"""Two local rules of your own, in place of regret matching. They run in every traversal of every game.

riverboat solve leduc --schedule examples.own_rule:HEDGE
"""

import math

from numba import njit

from riverboat import Rule

RATE = 4.0  # how sharply Hedge reacts; regrets are in the game's unit, times the weights of the deal


@njit
def softmax(regret, prediction, t, out):
    """Hedge (Freund & Schapire 1997): exponential in the regrets, ever slower, the largest taken out first."""
    for h in range(regret.shape[1]):
        top, total = regret[:, h].max(), 0.0
        for a in range(regret.shape[0]):
            out[a, h] = math.exp(RATE * (regret[a, h] - top) / math.sqrt(t))
            total += out[a, h]
        out[:, h] /= total


@njit
def match(regret, prediction, t, out):
    """Regret matching once more, as an exercise: the same as schedule `vanilla`."""
    for h in range(regret.shape[1]):
        total = 0.0
        for a in range(regret.shape[0]):
            out[a, h] = max(regret[a, h], 0.0)
            total += out[a, h]
        for a in range(regret.shape[0]):
            out[a, h] = out[a, h] * (1.0 / total) if total > 0 else 1.0 / regret.shape[0]


@njit
def add(regret, prediction, instant, t):
    """Sum the regrets of all iterations."""
    regret += instant


HEDGE = Rule(softmax, add, "hedge", gamma=1.0)
REGRET_MATCHING = Rule(match, add, "regret matching", alternating=False)
