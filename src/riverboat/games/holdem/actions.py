"""Numbers for hold'em actions, as tables and records of hands store them.

FOLD = -1, CALL = 0 for a check or call, and for a raise the TOTAL that the player has then put in over the whole hand,
in limit games too. `cr300c/` is 0, 300, 0. Batches of betting states are replayed in compiled loops.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from riverboat.core.arrays import Array
from riverboat.games.holdem import _kernels as kernels
from riverboat.games.holdem._kernels import FOLDED as FOLDED
from riverboat.games.holdem._kernels import CompactBettingRules as CompactBettingRules
from riverboat.games.holdem.betting import BettingState, acpc_label
from riverboat.games.holdem.betting_rules import CALL as CALL
from riverboat.games.holdem.betting_rules import FOLD as FOLD
from riverboat.games.holdem.betting_rules import UNLIMITED as UNLIMITED
from riverboat.games.holdem.betting_rules import CompactBettingState
from riverboat.games.holdem.rules import PokerRules

END_OF_LINE = -2  # follows the last action of a line
HIDDEN_CARD = 255  # a card that is not visible or not dealt


def format_action(action: int, rules: PokerRules) -> str:
    """Format an action as in the ACPC protocol: f, c, r300, in limit games r."""
    return acpc_label(rules.limit, action)


def fit_to_stacks(actions: Iterable[int], state: BettingState) -> tuple[int, ...]:
    """Increase raises of a menu or a tree to the smallest legal raise of a table with unequal stacks.

    Menus limit totals to the shorter stack, which may be less than the minimum raise of the deeper one.
    """
    raises = state.raise_range()
    return tuple(move if move <= CALL or raises is None else max(move, raises.least) for move in actions)


# --- batches of betting states ---

STATE_FIELDS = len(CompactBettingState._fields)  # columns of an array of states: the fields of CompactBettingState


@lru_cache(maxsize=64)
def compact_rules_arrays(rules: PokerRules) -> CompactBettingRules:
    """Convert rules to arrays for compiled loops; rules with rake or dead money raise InputError."""
    rules.require_zero_sum("agents play")
    fields: list[Any] = [np.array(field, np.int64) if isinstance(field, tuple) else field for field in rules.compact]
    return CompactBettingRules(*fields)


def replay_lines(rules: PokerRules, actions: Array, length: Array) -> tuple[Array, tuple[int, int] | None]:
    """Replay lines; return their final states, and line and position of the first illegal action, if there is one.

    `actions` int32 [n, most], `length` int32 [n] -> states int64 [n, STATE_FIELDS]
    """
    out = np.empty((len(length), STATE_FIELDS), np.int64)
    line, position = kernels.first_illegal(compact_rules_arrays(rules), actions, length, out)
    return out, None if line < 0 else (line, position)


def call_and_raise_bounds(rules: PokerRules, states: Array) -> Array:
    """Return, for each state, the chips to call, and the smallest and largest total of a raise (0, -1: no raise).

    int64 [n, STATE_FIELDS] -> int64 [n, 3]
    """
    out = np.empty((len(states), 3), np.int64)
    kernels.call_and_raise_bounds(compact_rules_arrays(rules), states, out)
    return out
