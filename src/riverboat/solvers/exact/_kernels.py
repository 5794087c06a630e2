"""Compiled passes over one player's sequences. Parents come before children in the order of information sets."""

import numpy as np

from riverboat.compiled.jit import allocating_kernel


@allocating_kernel
def realization_plan(
    parent,  # int32 [infosets]: sequence that leads to it
    first,  # int32 [infosets]: its first sequence
    width,  # int32 [infosets]
    behavior,  # float64 [sequences]: probability of the last action of each sequence
    plan,  # float64 [sequences] OUT: product of the probabilities along each sequence
):
    """Convert a behavior strategy to a realization plan."""
    plan[0] = 1.0
    for i in range(len(parent)):
        for s in range(first[i], first[i] + width[i]):
            plan[s] = plan[parent[i]] * behavior[s]


@allocating_kernel
def entropy_weights(
    parent,  # int32 [infosets]
    first,  # int32 [infosets]
    width,  # int32 [infosets]
    sequences,
):
    """Compute the weights of the dilated entropy (Farina, Kroer & Sandholm 2021). float64 [infosets]

    The weight of an information set is 1 + the largest sum of weights of the information sets that follow one action.
    """
    weight = np.ones(len(parent))
    below = np.zeros(sequences)
    for i in range(len(parent) - 1, -1, -1):
        weight[i] += below[first[i] : first[i] + width[i]].max()
        below[parent[i]] += weight[i]
    return weight


@allocating_kernel
def smoothed_best_response(
    parent,  # int32 [infosets]
    first,  # int32 [infosets]
    width,  # int32 [infosets]
    weight,  # float64 [infosets]: weight of its entropy
    mu,  # smoothing
    value,  # float64 [sequences] INOUT: payoff of ending there; becomes the smoothed value from there
    logs,  # float64 [sequences] INOUT: log-behavior of the center; becomes that of the response
    plan,  # float64 [sequences] OUT: the response
):
    """Maximize value·x - mu Σ weight_i x(parent_i) KL(x at i | center at i) over plans x. The maximum is value[0].

    Children come before parents. Each information set is a softmax around the center, with the largest exponent
    subtracted first so that nothing overflows.
    """
    for i in range(len(parent) - 1, -1, -1):
        scale = mu * weight[i]
        start, stop = first[i], first[i] + width[i]
        top = -np.inf
        for s in range(start, stop):
            logs[s] += value[s] / scale
            top = max(top, logs[s])
        total = 0.0
        for s in range(start, stop):
            total += np.exp(logs[s] - top)
        norm = top + np.log(total)
        for s in range(start, stop):
            logs[s] -= norm
        value[parent[i]] += scale * norm
    plan[0] = 1.0
    for i in range(len(parent)):
        for s in range(first[i], first[i] + width[i]):
            plan[s] = plan[parent[i]] * np.exp(logs[s])
