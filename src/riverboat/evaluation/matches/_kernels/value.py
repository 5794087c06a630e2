"""Compiled samples of what hands are worth at every node of a blueprint's tree, by bucket, where both play on as they say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from riverboat.compiled.jit import kernel, part
from riverboat.core.arrays import Array


class Tree(NamedTuple):
    """What is read of an `ActionTree`, and where the values of its nodes lie."""

    actor: Array  # int8 [nodes]
    street: Array  # int8 [nodes]
    first: Array  # int32 [nodes]
    count: Array  # type: ignore[assignment]  # int8 [nodes]
    parent: Array  # int32 [nodes]
    showdown: Array  # bool [nodes]
    pay: Array  # int32 [nodes]
    slot: Array  # int32 [nodes]
    after: Array  # int32 [nodes]: row of its value by the buckets of the street of the move that leads there; -1: none
    begin: Array  # int32 [nodes]: row of its value by the buckets of its own street, where it begins one; -1: none


class Room(NamedTuple):
    """Of one deal."""

    reach: Array  # float64 [2, nodes]: what each seat's moves contribute
    chance: Array  # float64 [nodes]: of the move that leads there
    value: Array  # float64 [nodes]: to seat 0


@part
def go_down(tree, first, second, buckets, k, room):
    """Probabilities of all moves, and of each seat's moves up to every node."""
    room.reach[0, 0], room.reach[1, 0], room.chance[0] = 1.0, 1.0, 1.0
    for node in range(len(tree.actor)):
        if tree.actor[node] < 0:
            continue
        seat, street, child = np.int64(tree.actor[node]), np.int64(tree.street[node]), np.int64(tree.first[node])
        moves, slot, total = np.int64(tree.count[node]), np.int64(tree.slot[node]), 0.0
        bucket = np.int64(buckets[k, seat, street])
        played = first[street] if seat == 0 else second[street]
        for a in range(moves):
            total += np.float64(played[bucket, slot + a])
        for a in range(moves):
            chance = np.float64(played[bucket, slot + a]) / total if total > 0 else 1.0 / moves
            room.chance[child + a] = chance
            room.reach[seat, child + a] = room.reach[seat, node] * chance
            room.reach[1 - seat, child + a] = room.reach[1 - seat, node]


@part
def come_up(tree, result, room):
    """Values of all nodes with these cards."""
    for back in range(len(tree.actor)):
        node = len(tree.actor) - 1 - back
        if tree.actor[node] < 0:
            room.value[node] = np.float64(tree.pay[node]) * (result if tree.showdown[node] else 1.0)
            continue
        value, child = 0.0, np.int64(tree.first[node])
        for a in range(tree.count[node]):
            value += room.chance[child + a] * room.value[child + a]
        room.value[node] = value


@part
def note(sums, bucket, row, weight, value):
    """Add a value with its weight."""
    sums[bucket, row, 0] += np.float32(weight * value)
    sums[bucket, row, 1] += np.float32(weight)


@kernel
def sample(
    tree,  # Tree
    first,  # by street: weights of seat 0's moves [buckets, moves of the street]
    second,  # the same of seat 1
    buckets,  # int32 [deals, 2, streets]
    result,  # int8 [deals]: 1 where seat 0's hand is better, -1 where it is worse
    room,  # Room
    after,  # by street: float32 [2, buckets, rows, 2] INOUT: sums of weighted values to seat 0, and of weights
    begin,  # the same for nodes that begin a street
):
    """Add what every node is worth with some deals, to both seats' buckets, weighted by what the other plays to there."""
    for k in range(len(result)):
        go_down(tree, first, second, buckets, k, room)
        come_up(tree, np.float64(result[k]), room)
        for node in range(len(tree.actor)):
            for seat in range(2):
                weight = room.reach[1 - seat, node]
                if weight <= 0:
                    continue
                if tree.after[node] >= 0:
                    street = np.int64(tree.street[tree.parent[node]])
                    bucket = np.int64(buckets[k, seat, street])
                    note(after[street][seat], bucket, tree.after[node], weight, room.value[node])
                if tree.begin[node] >= 0:
                    street = np.int64(tree.street[node])
                    bucket = np.int64(buckets[k, seat, street])
                    note(begin[street][seat], bucket, tree.begin[node], weight, room.value[node])
