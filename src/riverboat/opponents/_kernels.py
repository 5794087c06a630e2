"""Kernels of safe exploitation in repeated small games (Ganzfried & Sandholm 2012, 2015)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random
from riverboat.games.base import CHANCE, TERMINAL, Array

SPEND, IF_AFFORDABLE, TO_THE_END, NEVER, ALWAYS = range(5)  # how the bank k is spent (`risk_budget`)
TIE_WEIGHT = 1e-9  # weight of tie-breaking preferences
GUARANTEE_TOLERANCE = 1e-12


@inline
def best_vertex(gain, guarantees):  # float64 [vertices] each
    """Return the index of the vertex with the largest gain; ties go to the larger guarantee."""
    best = 0
    for v in range(1, len(gain)):
        if gain[v] > gain[best] or (gain[v] == gain[best] and guarantees[v] > guarantees[best]):
            best = v
    return best


@kernel
def mix_vertices(
    gain,  # float64 [vertices]: payoff against the model
    guarantees,  # float64 [vertices]: guaranteed payoff
    floor,  # required guarantee
):
    """Return the mixture of vertices with the largest gain among those that guarantee `floor`; two vertices suffice.

    The result is two indices a, b and a share s: the mixture is (1 - s) plan_a + s plan_b.
    """
    low = best_vertex(gain, guarantees)
    if guarantees[low] >= floor - GUARANTEE_TOLERANCE:
        return low, low, 0.0
    high = 0
    for v in range(1, len(guarantees)):
        if guarantees[v] > guarantees[high] + GUARANTEE_TOLERANCE or (
            guarantees[v] > guarantees[high] - GUARANTEE_TOLERANCE and gain[v] > gain[high]
        ):
            high = v
    for _ in range(len(gain)):  # find the edge of the upper hull that crosses the floor
        rise, fall = guarantees[high] - guarantees[low], gain[low] - gain[high]
        best, largest = -1, gain[low] * rise + guarantees[low] * fall + 1e-14 * (rise + fall)
        for v in range(len(gain)):
            height = gain[v] * rise + guarantees[v] * fall
            if height > largest and v != low and v != high:
                best, largest = v, height
        if best < 0:
            break
        if guarantees[best] >= floor - GUARANTEE_TOLERANCE:
            high = best
        else:
            low = best
    share = (floor - guarantees[low]) / (guarantees[high] - guarantees[low])
    return low, high, min(max(share, 0.0), 1.0)


class RepeatedGameArrays(NamedTuple):
    """A small game, unrolled to histories, and the vertices of one player's plans. The opponent decides once a hand."""

    actor: Array  # int8 [nodes]
    end: Array  # int32 [nodes]
    data: Array  # int64 [nodes]: chance: first outcome; terminal: payoff
    first: Array  # int32 [nodes]: at a decision, the first sequence of its actions
    last: Array  # int32 [nodes, 2]: the last sequence of each player
    width: Array  # int16 [nodes]: number of actions or outcomes
    chance: Array  # float64 [outcomes]: probabilities
    payoffs: Array  # float64 [payoffs]: payoffs to the player
    cost: Array  # float64 [opponent sequences, own sequences]: payoffs to the player, weighted by chance
    sets: Array  # int32 [opponent infosets, 2]: first sequence and number of actions
    set_of: Array  # int32 [opponent sequences]: the infoset of a sequence, -1 for the empty one
    alike: Array  # int32 [nodes, k]: at a terminal, opponent sequences that the player cannot tell apart; -1: none
    seen: Array  # bool [nodes]: at a terminal, whether the opponent's hand is shown
    plans: Array  # float64 [vertices, own sequences]: realization plans
    worst: Array  # float64 [vertices]: guaranteed payoffs


class RepeatedGameWorkspace(NamedTuple):
    """Scratch memory of one match."""

    counts: Array  # float64 [opponent sequences]: observed actions plus prior counts
    model: Array  # float64 [opponent sequences]: behavior strategy of the model
    weight: Array  # float64 [own sequences]: payoffs against the model
    gain: Array  # float64 [vertices]: payoff against the model, with the tie-breaking preference
    plan: Array  # float64 [own sequences]: the player's plan of this hand
    pays: Array  # float64 [opponent sequences]: payoff of the player's plan against each, weighted by chance
    other: Array  # float64 [opponent sequences]: the opponent's current behavior strategy


@inline
def risk_budget(rule, k, risk, hands_left):
    """Return the ε of the next hand's ε-safe best response, by the rule that spends the bank k.

    `risk` is what an unrestricted best response to the model risks: value of the game minus its guarantee.
    """
    if rule == SPEND:
        return max(k, 0.0)
    if rule == IF_AFFORDABLE:
        return risk if risk <= k + GUARANTEE_TOLERANCE else 0.0
    if rule == TO_THE_END:
        return risk if risk * hands_left <= k + GUARANTEE_TOLERANCE else 0.0
    return np.inf if rule == ALWAYS else 0.0


@inline
def worst_value(pays, first, width):
    """Return the least payoff to the player at an opponent's infoset, whose sequences are first … first + width - 1."""
    least = pays[first]
    for s in range(first + 1, first + width):
        least = min(least, pays[s])
    return least


@inline
def respond_to_model(game, rule, k, value, left, prefer, workspace):
    """Compute `workspace.plan`, the next hand's ε-safe best response to the model in `workspace.counts`.

    `rule`: how the bank `k` is spent; `value`: value of the game; `left`: hands left; `prefer`: tie-breaking by vertex.
    """
    for i in range(len(game.sets)):
        first, width = game.sets[i, 0], game.sets[i, 1]
        total = 0.0
        for s in range(first, first + width):
            total += workspace.counts[s]
        for s in range(first, first + width):
            workspace.model[s] = workspace.counts[s] / total
    for o in range(len(workspace.weight)):
        total = 0.0
        for s in range(len(workspace.model)):
            total += game.cost[s, o] * workspace.model[s]
        workspace.weight[o] = total
    for v in range(len(workspace.gain)):
        total = TIE_WEIGHT * prefer[v]
        for o in range(len(workspace.weight)):
            total += game.plans[v, o] * workspace.weight[o]
        workspace.gain[v] = total
    risk = value - game.worst[best_vertex(workspace.gain, game.worst)]
    low, high, share = mix_vertices(workspace.gain, game.worst, value - risk_budget(rule, k, risk, left))
    for o in range(len(workspace.plan)):
        workspace.plan[o] = (1 - share) * game.plans[low, o] + share * game.plans[high, o]


@inline
def respond_to_plan(game, aggression, workspace):
    """Compute `workspace.other`, the opponent's best response to the player's plan, from the payoffs `workspace.pays`.

    Of several best actions the last has probability `aggression`, and the first the rest.
    """
    for i in range(len(game.sets)):
        first, width = game.sets[i, 0], game.sets[i, 1]
        least = worst_value(workspace.pays, first, width)
        a, b = -1, -1
        for s in range(first, first + width):
            workspace.other[s] = 0.0
            if workspace.pays[s] <= least + GUARANTEE_TOLERANCE:
                a = s if a < 0 else a
                b = s
        workspace.other[a] += 1 - aggression
        workspace.other[b] += aggression


@inline
def play_hand(game, player, workspace, states):  # uint64 [3, 1] INOUT: random states of chance, opponent, player
    """Sample one hand and return its terminal node. Chance, opponent and player have separate random streams."""
    n = 0
    while game.actor[n] != TERMINAL:
        actor = game.actor[n]
        child, k, remaining = n + 1, 0, 0.0
        if actor == CHANCE:
            remaining = random(states[0])
        elif actor == player:
            remaining = random(states[2]) * workspace.plan[game.last[n, player]]
        else:
            remaining = random(states[1])
        while k < game.width[n] - 1:
            if actor == CHANCE:
                remaining -= game.chance[game.data[n] + k]
            elif actor == player:
                remaining -= workspace.plan[game.first[n] + k]
            else:
                remaining -= workspace.other[game.first[n] + k]
            if remaining < 0:
                break
            k += 1
            child = game.end[child]
        n = child
    return n


@inline
def certain_gift(game, end, pays):
    """Return the gift that is certain after terminal node `end`: the minimum over all consistent opponent sequences.

    A sequence's gift is the payoff to the player beyond that of the opponent's best response at the same infoset.
    """
    least = np.inf
    for j in range(game.alike.shape[1]):
        s = game.alike[end, j]
        if s == 0:  # the opponent did not act
            least = min(least, 0.0)
        elif s > 0:
            i = game.set_of[s]
            least = min(least, pays[s] - worst_value(pays, game.sets[i, 0], game.sets[i, 1]))
    return least


class SpendingRule(NamedTuple):
    """Rule of safe exploitation: how much of the bank k of gifts so far may be risked in a hand."""

    rule: int  # SPEND, IF_AFFORDABLE, TO_THE_END, NEVER or ALWAYS
    realised: bool  # k counts realized winnings, instead of certain gifts
    prior: Array  # float64 [opponent sequences]: counts before the first hand
    prefer: Array  # float64 [vertices]: tie-breaking preference


class MatchOpponents(NamedTuple):
    """Opponents of the matches, one per match."""

    behaviour: Array  # float64 [matches, opponent sequences]: behavior strategies
    change: int  # first hand in which the opponent best-responds (the nemesis)
    aggression: float  # probability with which the nemesis takes the last of several best actions, not the first


@kernel
def play_matches(
    game,  # RepeatedGameArrays
    player,
    style,  # SpendingRule
    opponents,  # MatchOpponents
    seeds,  # uint64 [matches, 3, 1] INOUT
    hands,
    workspace,  # RepeatedGameWorkspace
    out,  # RepeatedMatchResults OUT
):
    """Play a match of `hands` hands against each opponent, and store exact expected payoffs and the bank."""
    prior, profit, bank = style.prior, out.profit, out.bank
    value = game.worst[0]
    for v in range(len(game.worst)):
        value = max(value, game.worst[v])
    for m in range(len(opponents.behaviour)):
        k, total, smallest = 0.0, 0.0, 0.0
        workspace.model[0] = 1.0
        for s in range(len(prior)):
            workspace.counts[s] = prior[s]
            workspace.other[s] = opponents.behaviour[m, s]
        for t in range(hands):
            respond_to_model(game, style.rule, k, value, hands - t, style.prefer, workspace)
            for s in range(len(workspace.pays)):
                pay = 0.0
                for o in range(len(workspace.plan)):
                    pay += game.cost[s, o] * workspace.plan[o]
                workspace.pays[s] = pay
            if t >= opponents.change:
                respond_to_plan(game, opponents.aggression, workspace)
            expected = workspace.pays[0]
            worst = workspace.pays[0]
            for i in range(len(game.sets)):
                first, width = game.sets[i, 0], game.sets[i, 1]
                worst += worst_value(workspace.pays, first, width)
                for s in range(first, first + width):
                    expected += workspace.pays[s] * workspace.other[s]
            total += expected
            if len(profit):
                profit[m, t] = total
                bank[m, t] = k
            end = play_hand(game, player, workspace, seeds[m])
            if style.realised:
                k += game.payoffs[game.data[end]] - value
            else:
                k += worst + certain_gift(game, end, workspace.pays) - value
                smallest = min(smallest, k)
            if game.seen[end]:
                workspace.counts[game.last[end, 1 - player]] += 1.0
        out.mean[m] = total / hands
        out.least[m] = smallest
