"""The arrays that every compiled walk reads.

Both shapes of tree compile to `Nodes` in preorder and one `Side` per player. A `PublicTree` has many
hands and one block of the table per node; a `HistoryTree` has one hand and nodes that share the block
of their information set. One kernel therefore serves both.

A table (regrets, averages, probabilities) is flat on disk and in `Strategy`; `tree.views(table)` gives each player's rows,
[rows, hands]. A decision node owns `width` rows from `data[node]` on, one for each action.
"""

from __future__ import annotations

from typing import NamedTuple

from riverboat.games.base import Array

CONSTANT, COMPARE, MATRIX = 0, 1, 2
ROUNDING = 1e-9  # what sums of pay-offs may be off by, as a share of them above one


def constant(sums: Array) -> float | None:
    """What pay-offs sum to, where that is the same everywhere; None where it is not."""
    low, high = float(sums.min()), float(sums.max())
    if high - low > ROUNDING * max(1.0, abs(low), abs(high)):
        return None
    return 0.0 if abs(high) <= ROUNDING and abs(low) <= ROUNDING else (low + high) / 2


class Nodes(NamedTuple):
    """Preorder: the first child of n is n + 1, its subtree is n … end[n] - 1."""

    actor: Array  # int8 [nodes]: player, CHANCE or TERMINAL
    end: Array  # int32 [nodes]
    width: Array  # int16 [nodes]: number of children
    data: Array  # int64 [nodes]: decision: first row in the table; chance: first outcome; terminal: pay-off


class Side(NamedTuple):
    """The game as one player sees it."""

    weight: Array  # float64 [own hands]: deal weights
    weight_opp: Array  # float64 [opponent hands]
    share: Array  # float64 [own hands]: weight / all pairs; times this a hand's values in a walk are counterfactual
    exclude: Array  # int32 [own hands, k]: opponent hands that cannot be dealt with it, -1 = none
    kind: Array  # int8 [pay-offs]: CONSTANT, COMPARE or MATRIX
    pay: Array  # float64 [pay-offs, 3]: when my strength is higher, equal, lower
    row: Array  # int32 [pay-offs]: row of the next four (COMPARE) or of matrix (MATRIX)
    order: Array  # int32 [rows, opponent hands]: the opponent's hands from weak to strong
    place: Array  # int32 [rows, opponent hands]: where each stands in that order
    below: Array  # int32 [rows, own hands]: how many of them my hand beats
    upto: Array  # int32 [rows, own hands]: how many it beats or ties
    matrix: Array  # float64 [rows, own hands, opponent hands]
    chance: Array  # float64 [outcomes]: probability given a pair of hands that allows it
    live: Array  # float64 [outcomes, own hands]: 1, or 0 where the outcome makes the hand impossible
    live_opp: Array  # float64 [outcomes, opponent hands]
