"""Finishing probabilities as the independent chip model is usually stated: a sum over all orders. Slow."""

from itertools import permutations

import numpy as np


def finish_probabilities_by_permutation(stacks):
    """Return the probability of each player for each place. float64 [players, places]"""
    probabilities = np.zeros((len(stacks), len(stacks)))
    for order in permutations(range(len(stacks))):
        probability, chips_left = 1.0, float(sum(stacks))
        for i in order:
            probability *= stacks[i] / chips_left
            chips_left -= stacks[i]
        for place, i in enumerate(order):
            probabilities[i, place] += probability
    return probabilities
