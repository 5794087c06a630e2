"""Compiled loops of exploitation. Arrays and scalars in, arrays out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.compiled.rng import random
from riverboat.games.base import CHANCE, TERMINAL, Array

SPEND, IF_AFFORDABLE, TO_THE_END, NEVER, ALWAYS = range(5)  # how k is used
TIE = 1e-9  # weight of a preference among equals
SLACK = 1e-12  # of a guarantee


@part
def best(gain, worst):  # float64 [corners] each
    """The corner that gains most."""
    at = 0
    for v in range(1, len(gain)):
        if gain[v] > gain[at] or (gain[v] == gain[at] and worst[v] > worst[at]):
            at = v
    return at


@kernel
def mix(
    gain,  # float64 [corners]: pay-off against the model
    worst,  # float64 [corners]: pay-off that is guaranteed
    floor,  # guarantee that is asked for
):
    """Corners a and b and a share s: (1 - s) a + s b gains most of all mixes that guarantee the floor."""
    low = best(gain, worst)
    if worst[low] >= floor - SLACK:
        return low, low, 0.0
    high = 0
    for v in range(1, len(worst)):
        if worst[v] > worst[high] + SLACK or (worst[v] > worst[high] - SLACK and gain[v] > gain[high]):
            high = v
    for _ in range(len(gain)):  # find the edge of the upper hull that crosses the floor
        rise, fall = worst[high] - worst[low], gain[low] - gain[high]
        at, most = -1, gain[low] * rise + worst[low] * fall + 1e-14 * (rise + fall)
        for v in range(len(gain)):
            here = gain[v] * rise + worst[v] * fall
            if here > most and v != low and v != high:
                at, most = v, here
        if at < 0:
            break
        if worst[at] >= floor - SLACK:
            high = at
        else:
            low = at
    share = (floor - worst[low]) / (worst[high] - worst[low])
    return low, high, min(max(share, 0.0), 1.0)


class Table(NamedTuple):
    """A small game with its corners, as one player sees it. The opponent decides once."""

    actor: Array  # int8 [nodes]
    end: Array  # int32 [nodes]
    data: Array  # int64 [nodes]: chance: first outcome; terminal: pay-off
    first: Array  # int32 [nodes]: at a decision, the first sequence of its moves
    last: Array  # int32 [nodes, 2]: the players' last sequences
    width: Array  # int16 [nodes]
    chance: Array  # float64 [outcomes]
    payoffs: Array  # float64 [pay-offs]: to the player
    cost: Array  # float64 [opponent sequences, own sequences]: pay-offs to the player, weighted by chance
    sets: Array  # int32 [opponent sets, 2]: first sequence and width
    set_of: Array  # int32 [opponent sequences]: the set that a sequence belongs to, -1 for the empty one
    alike: Array  # int32 [nodes, k]: at a terminal, what the opponent may have done as far as the player sees; -1: none
    seen: Array  # bool [nodes]: at a terminal, whether the opponent's hand is shown
    plans: Array  # float64 [corners, own sequences]
    worst: Array  # float64 [corners]


class Room(NamedTuple):
    """Scratch memory of one match."""

    counts: Array  # float64 [opponent sequences]: moves seen, with the prior's
    model: Array  # float64 [opponent sequences]
    weight: Array  # float64 [own sequences]: pay-offs against the model
    gain: Array  # float64 [corners]
    plan: Array  # float64 [own sequences]
    pays: Array  # float64 [opponent sequences]: what each of them pays to the player's plan
    other: Array  # float64 [opponent sequences]: what the opponent does now


@part
def budget(rule, k, risk, hands_left):
    """How much of the value the next plan may put at risk."""
    if rule == SPEND:
        return max(k, 0.0)
    if rule == IF_AFFORDABLE:
        return risk if risk <= k + SLACK else 0.0
    if rule == TO_THE_END:
        return risk if risk * hands_left <= k + SLACK else 0.0
    return np.inf if rule == ALWAYS else 0.0


@part
def lowest(pays, first, width):
    """What the player gets where the opponent does its best at one set."""
    least = pays[first]
    for s in range(first + 1, first + width):
        least = min(least, pays[s])
    return least


@part
def answer(table, rule, k, value, left, prefer, room):
    """Write the next plan, given the model's counts."""
    for i in range(len(table.sets)):
        first, width = table.sets[i, 0], table.sets[i, 1]
        total = 0.0
        for s in range(first, first + width):
            total += room.counts[s]
        for s in range(first, first + width):
            room.model[s] = room.counts[s] / total
    for o in range(len(room.weight)):
        total = 0.0
        for s in range(len(room.model)):
            total += table.cost[s, o] * room.model[s]
        room.weight[o] = total
    for v in range(len(room.gain)):
        total = TIE * prefer[v]
        for o in range(len(room.weight)):
            total += table.plans[v, o] * room.weight[o]
        room.gain[v] = total
    risk = value - table.worst[best(room.gain, table.worst)]
    low, high, share = mix(room.gain, table.worst, value - budget(rule, k, risk, left))
    for o in range(len(room.plan)):
        room.plan[o] = (1 - share) * table.plans[low, o] + share * table.plans[high, o]


@part
def nemesis(table, aggression, room):
    """Write the opponent's best response to the plan. Of equals the last with weight `aggression`, else the first."""
    for i in range(len(table.sets)):
        first, width = table.sets[i, 0], table.sets[i, 1]
        least = lowest(room.pays, first, width)
        a, b = -1, -1
        for s in range(first, first + width):
            room.other[s] = 0.0
            if room.pays[s] <= least + SLACK:
                a = s if a < 0 else a
                b = s
        room.other[a] += 1 - aggression
        room.other[b] += aggression


@part
def deal(table, me, room, states):  # uint64 [3, 1] INOUT: chance, opponent, player
    """Play one hand to a terminal node. Chance and the opponent have random numbers of their own."""
    n = 0
    while table.actor[n] != TERMINAL:
        who = table.actor[n]
        child, k, left = n + 1, 0, 0.0
        if who == CHANCE:
            left = random(states[0])
        elif who == me:
            left = random(states[2]) * room.plan[table.last[n, me]]
        else:
            left = random(states[1])
        while k < table.width[n] - 1:
            if who == CHANCE:
                left -= table.chance[table.data[n] + k]
            elif who == me:
                left -= room.plan[table.first[n] + k]
            else:
                left -= room.other[table.first[n] + k]
            if left < 0:
                break
            k += 1
            child = table.end[child]
        n = child
    return n


@part
def gift(table, end, pays):
    """What the opponent certainly gave up in this hand: the least over all that it may have done."""
    least = np.inf
    for j in range(table.alike.shape[1]):
        s = table.alike[end, j]
        if s == 0:  # it did not move
            least = min(least, 0.0)
        elif s > 0:
            i = table.set_of[s]
            least = min(least, pays[s] - lowest(pays, table.sets[i, 0], table.sets[i, 1]))
    return least


class Style(NamedTuple):
    """How the player spends what it was given."""

    rule: int  # SPEND, IF_AFFORDABLE, TO_THE_END, NEVER, ALWAYS
    realised: bool  # k counts what was won, not what the opponent gave
    prior: Array  # float64 [opponent sequences]: counts before the first hand
    prefer: Array  # float64 [corners]: what to prefer among equals


class Opponents(NamedTuple):
    """Who is met, one a match."""

    behaviour: Array  # float64 [matches, opponent sequences]
    change: int  # the hand from which on the opponent is the nemesis
    aggression: float  # of the nemesis, among equals


class Earned(NamedTuple):
    """What came of the matches."""

    mean: Array  # float64 [matches]: expected pay-off per hand
    least: Array  # float64 [matches]: smallest k
    profit: Array  # float64 [0 or matches, hands]: expected pay-off so far
    bank: Array  # float64 [0 or matches, hands]: k before each hand


@kernel
def matches(
    table,  # Table
    me,
    style,  # Style
    opponents,  # Opponents
    seeds,  # uint64 [matches, 3, 1] INOUT
    hands,
    room,  # Room
    out,  # Earned OUT
):
    """Repeated play against many opponents, one after the other."""
    prior, profit, bank = style.prior, out.profit, out.bank
    value = table.worst[0]
    for v in range(len(table.worst)):
        value = max(value, table.worst[v])
    for m in range(len(opponents.behaviour)):
        k, total, smallest = 0.0, 0.0, 0.0
        room.model[0] = 1.0
        for s in range(len(prior)):
            room.counts[s] = prior[s]
            room.other[s] = opponents.behaviour[m, s]
        for t in range(hands):
            answer(table, style.rule, k, value, hands - t, style.prefer, room)
            for s in range(len(room.pays)):
                pay = 0.0
                for o in range(len(room.plan)):
                    pay += table.cost[s, o] * room.plan[o]
                room.pays[s] = pay
            if t >= opponents.change:
                nemesis(table, opponents.aggression, room)
            expected = room.pays[0]
            worst = room.pays[0]
            for i in range(len(table.sets)):
                first, width = table.sets[i, 0], table.sets[i, 1]
                worst += lowest(room.pays, first, width)
                for s in range(first, first + width):
                    expected += room.pays[s] * room.other[s]
            total += expected
            if len(profit):
                profit[m, t] = total
                bank[m, t] = k
            end = deal(table, me, room, seeds[m])
            if style.realised:
                k += table.payoffs[table.data[end]] - value
            else:
                k += worst + gift(table, end, room.pays) - value
                smallest = min(smallest, k)
            if table.seen[end]:
                room.counts[table.last[end, 1 - me]] += 1.0
        out.mean[m] = total / hands
        out.least[m] = smallest
