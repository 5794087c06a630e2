"""Bluff (liar's dice, Dudo), with the rules of Johanson et al. 2012.

Each player rolls its dice in secret; faces are 1 to 5 and a star, which is wild and counts as the highest face in the
order of bids. Players bid in turn, each bid `x-y` (at least x dice show y or a star) higher than the last by quantity,
then face, or say `bluff`. If the last bid was true the caller loses a die, otherwise the bidder does. A player without
dice has lost the match (-1 against +1); otherwise the winner of the round starts the smaller game, whose value is the
payoff here.

A history is an increasing subset of the 6 (D1 + D2) bids, so the tree has 2^(6 (D1 + D2) + 1) - 1 public nodes. Its
arrays are filled by doubling, without a traversal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from riverboat.core.errors import InputError
from riverboat.games.base import TERMINAL, ComparisonPayoff, Continuation, NoPublicChance, Payoff, PrivateDeal
from riverboat.games.tree_layout import PublicTreeLayout

FACES = "12345*"
# By number of dice: the smallest game can be solved precisely; a few digits for three dice take a minute.
VALUE_INTERVAL_WIDTH = {2: 1e-5, 3: 5e-4}


def _distinct_rolls(dice: int) -> tuple[tuple[str, ...], list[float]]:
    """Return the distinct rolls of `dice` dice and the number of permutations of each."""
    rolls = ["".join(r) for r in combinations_with_replacement(FACES, dice)]
    multiplicities = [factorial(dice) // prod(map(factorial, Counter(roll).values())) for roll in rolls]
    return tuple(rolls), list(map(float, multiplicities))


@dataclass(frozen=True)
class Bluff:
    """One round of Bluff; player 0 starts with `dice[0]` dice.

    `values["bluff:1,2"]` is the value, to its starter, of the game in which the starter has one die and the opponent
    two; `continuations` are the games whose values are needed.

    Attributes
    ----------
    dice
        Number of dice of player 0, who bids first, and of player 1.
    values
        Known values of smaller games to their starters, by name.

    Examples
    --------
    >>> game = Bluff((1, 1))
    >>> game.name, game.legal_actions(-1)[:3]
    ('bluff:1,1', ('1-1', '1-2', '1-3'))
    """

    dice: tuple[int, int]
    values: Mapping[str, float] = field(default_factory=dict, hash=False, compare=False)
    unit: str = field(default="matches", init=False)
    joiner: str = field(default=",", init=False)

    def __post_init__(self) -> None:
        if min(self.dice) < 1:
            raise InputError(f"bluff:{self.dice[0]},{self.dice[1]}: each player needs at least one die")
        if sum(self.dice) > 4:
            raise InputError(
                f"bluff:{self.dice[0]},{self.dice[1]}: 2^{6 * sum(self.dice) + 1} public nodes; at most four dice fit"
            )

    @property
    def name(self) -> str:
        """Name of the game on the command line."""
        return f"bluff:{self.dice[0]},{self.dice[1]}"

    @property
    def continuations(self) -> dict[str, Continuation]:
        """Smaller games whose values this game needs."""
        a, b = self.dice
        smaller = [Bluff(pair) for pair in sorted({(b, a - 1), (a, b - 1)}) if min(pair) > 0]
        return {game.name: Continuation(game, VALUE_INTERVAL_WIDTH[sum(game.dice)]) for game in smaller}

    def with_values(self, values: Mapping[str, float]) -> Bluff:
        """Return the game with the values of smaller games.

        Parameters
        ----------
        values
            Values of smaller games to their starters, by name.
        """
        return replace(self, values={**self.values, **values})

    def _value_to_starter(self, a: int, b: int) -> float:
        # Value, to its starter, of the game with `a` dice of the starter and `b` of the opponent, who has lost at 0.
        if b == 0:
            return 1.0
        name = f"bluff:{a},{b}"
        if name not in self.values:
            raise InputError(f"{self.name} needs the value of {name}: riverboat.game({self.name!r}) computes it")
        value = self.values[name]
        if not -1 <= value <= 1:
            raise InputError(f"{self.name}: the value of {name} is {value:g}: must be between -1 and 1")
        return value

    @property
    def values_after_loss(self) -> tuple[float, float]:
        """Value of the match to player 0 after player 0 has lost a die, and after player 1 has."""
        a, b = self.dice
        return -self._value_to_starter(b, a - 1), self._value_to_starter(a, b - 1)

    @cached_property
    def bids(self) -> tuple[tuple[int, str], ...]:
        """All bids, ascending."""
        return tuple((x, y) for x in range(1, sum(self.dice) + 1) for y in FACES)

    @cached_property
    def hands(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Rolls of each player, with sorted faces."""
        return _distinct_rolls(self.dice[0])[0], _distinct_rolls(self.dice[1])[0]

    @cached_property
    def deal(self) -> PrivateDeal:
        """Distribution of independent dice."""
        return PrivateDeal.independent(_distinct_rolls(self.dice[0])[1], _distinct_rolls(self.dice[1])[1])

    def legal_actions(self, last: int) -> tuple[str, ...]:
        """Return the actions after bid number `last` (-1: no bid yet).

        Parameters
        ----------
        last
            Number of the last bid; -1 if there is none.
        """
        higher = tuple(f"{x}-{y}" for x, y in self.bids[last + 1 :])
        return higher if last < 0 else ("bluff", *higher)

    def challenge_payoff(self, last: int, caller: int) -> Payoff:
        """Return the payoff when `caller` challenges bid number `last`.

        Parameters
        ----------
        last
            Number of the challenged bid.
        caller
            Player who challenges.
        """
        x, y = self.bids[last]
        have0 = (sum(f in (y, "*") for f in roll) for roll in self.hands[0])
        have1 = (sum(f in (y, "*") for f in roll) for roll in self.hands[1])
        # The bid is true iff have0 >= x - have1; doubled and shifted so that there are no ties.
        strengths = tuple(2 * j + 1 for j in have0), tuple(2 * (x - j) for j in have1)
        when_true = self.values_after_loss[caller]
        when_false = self.values_after_loss[1 - caller]
        return ComparisonPayoff(strengths, (when_true, -when_true), (0.0, 0.0), (when_false, -when_false))

    def root(self) -> _BluffState:
        """Return the state before the first bid."""
        return _BluffState(self, -1, 0, False)

    def layout(self) -> PublicTreeLayout:
        """Return the tree in preorder, filled by doubling.

        The subtree after bid k is [decision, call] followed by the subtrees after bids k + 1, …; all but the first of
        those are also the continuation inside the subtree after bid k + 1.
        """
        last = np.zeros(0, np.int32)
        depth = np.zeros(0, np.int8)
        count = len(self.bids)
        for k in reversed(range(count)):
            last = np.concatenate([np.array([k, k], np.int32), last, last[2:]])
            depth = np.concatenate([np.array([0, 0], np.int8), depth + np.int8(1), depth[2:]])
        # The root decides among the subtrees after bids 0, 1, …, one level down.
        last = np.concatenate([np.array([-1], np.int32), last, last[2:]])
        depth = np.concatenate([np.array([0], np.int8), depth + np.int8(1), depth[2:]])
        nodes = len(last)
        calls = np.zeros(nodes, bool)
        calls[2:] = (last[2:] == last[1:-1]) & (depth[2:] == depth[1:-1])
        parity = (depth & 1).astype(np.int8)
        size = np.where(calls, 1, np.left_shift(1, count - last))
        size[0] = nodes
        return PublicTreeLayout(
            actor=np.where(calls, np.int8(TERMINAL), parity),
            end=(np.arange(nodes) + size).astype(np.int32),
            index=np.where(calls, 2 * last + parity, last + 1).astype(np.int32),
            action_labels=tuple(self.legal_actions(k) for k in range(-1, count)),
            chance_outcomes=(),
            payoffs=tuple(self.challenge_payoff(k, caller) for k in range(count) for caller in (0, 1)),
        )


@dataclass(frozen=True)
class _BluffState(NoPublicChance):
    game: Bluff
    last: int  # number of the last bid; -1 before the first
    actor_to_move: int  # at the end, the player who challenged
    called: bool  # whether the last bid was challenged

    @property
    def actor(self) -> int:
        return TERMINAL if self.called else self.actor_to_move

    def actions(self) -> tuple[str, ...]:
        return self.game.legal_actions(self.last)

    def child(self, index: int) -> _BluffState:
        if self.last >= 0 and index == 0:
            return _BluffState(self.game, self.last, self.actor_to_move, True)
        bid = index if self.last < 0 else self.last + index
        return _BluffState(self.game, bid, 1 - self.actor_to_move, False)

    def payoff(self) -> Payoff:
        return self.game.challenge_payoff(self.last, self.actor_to_move)
