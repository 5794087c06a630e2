"""Kernels of safe exploitation in repeated small games (Ganzfried & Sandholm 2012, 2015)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import inline, kernel
from riverboat.compiled.rng import random
from riverboat.games.base import CHANCE, TERMINAL, Array

SPEND, IF_AFFORDABLE, TO_THE_END, NEVER, ALWAYS = range(5)  # how the bank k is spent
TIE_WEIGHT = 1e-9  # weight of tie-breaking preferences
GUARANTEE_TOLERANCE = 1e-12


@inline
def best_vertex(gain, guarantees):  # float64 [vertices] each
    """Return the vertex with the largest gain; ties go to the larger guarantee."""
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
    """Return the mixture of two vertices with the largest gain among mixtures that guarantee the floor.

    The result is a, b and a share s for the mixture (1 - s) a + s b.
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
    """A small game with the vertices of one player's plans. The opponent decides once."""

    actor: Array  # int8 [nodes]
    end: Array  # int32 [nodes]
    data: Array  # int64 [nodes]: chance: first outcome; terminal: payoff
    first: Array  # int32 [nodes]: at a decision, the first sequence of its actions
    last: Array  # int32 [nodes, 2]: the players' last sequences
    width: Array  # int16 [nodes]
    chance: Array  # float64 [outcomes]
    payoffs: Array  # float64 [payoffs]: to the player
    cost: Array  # float64 [opponent sequences, own sequences]: payoffs to the player, weighted by chance
    sets: Array  # int32 [opponent sets, 2]: first sequence and width
    set_of: Array  # int32 [opponent sequences]: the set of a sequence, -1 for the empty one
    alike: Array  # int32 [nodes, k]: at a terminal, opponent sequences that the player cannot tell apart; -1: none
    seen: Array  # bool [nodes]: at a terminal, whether the opponent's hand is shown
    plans: Array  # float64 [vertices, own sequences]
    worst: Array  # float64 [vertices]: guaranteed payoffs


class RepeatedGameWorkspace(NamedTuple):
    """Scratch memory of one match."""

    counts: Array  # float64 [opponent sequences]: observed actions plus prior counts
    model: Array  # float64 [opponent sequences]
    weight: Array  # float64 [own sequences]: payoffs against the model
    gain: Array  # float64 [vertices]
    plan: Array  # float64 [own sequences]
    pays: Array  # float64 [opponent sequences]: payoff of each to the player's plan
    other: Array  # float64 [opponent sequences]: the opponent's current strategy


@inline
def risk_budget(rule, k, risk, hands_left):
    """Return the part of the value that the next plan may risk."""
    if rule == SPEND:
        return max(k, 0.0)
    if rule == IF_AFFORDABLE:
        return risk if risk <= k + GUARANTEE_TOLERANCE else 0.0
    if rule == TO_THE_END:
        return risk if risk * hands_left <= k + GUARANTEE_TOLERANCE else 0.0
    return np.inf if rule == ALWAYS else 0.0


@inline
def worst_value(pays, first, width):
    """Return the player's payoff if the opponent best-responds at one information set."""
    least = pays[first]
    for s in range(first + 1, first + width):
        least = min(least, pays[s])
    return least


@inline
def respond_to_model(game, rule, k, value, left, prefer, workspace):
    """Compute the next plan, given the counts of the model."""
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
    """Compute the opponent's best response to the plan.

    Ties go to the last action with weight `aggression`, else to the first.
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
    """Play one hand to a terminal node. Chance, opponent and player have separate random streams."""
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
    """Return the gift that is certain in this hand: the minimum over all consistent opponent sequences."""
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

    rule: int  # SPEND, IF_AFFORDABLE, TO_THE_END, NEVER, ALWAYS
    realised: bool  # k counts realized winnings, instead of certain gifts
    prior: Array  # float64 [opponent sequences]: counts before the first hand
    prefer: Array  # float64 [vertices]: tie-breaking preference


class MatchOpponents(NamedTuple):
    """Opponents of the matches, one per match."""

    behaviour: Array  # float64 [matches, opponent sequences]
    change: int  # first hand in which the opponent best-responds (the nemesis)
    aggression: float  # tie-breaking of the nemesis


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
    """Play matches against many opponents, one after the other."""
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
