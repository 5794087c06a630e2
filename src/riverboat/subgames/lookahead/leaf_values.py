"""Values of the leaves of a depth-limited subgame: continuation strategies, a table, or a function.

- With *continuation strategies* (Brown, Sandholm & Amos 2018) the opponent chooses at each leaf, with each hand, how it
  continues: by the blueprint, or by one of its variants. The searching player continues by its blueprint, or chooses as
  well (Brown & Sandholm 2019).
- A *table* has a value for each public state and hand, whatever the ranges.
- A *function* values leaves for the ranges with which play comes there (Moravcik et al. 2017), in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np

from riverboat.core import validation
from riverboat.core.arrays import safe_divide
from riverboat.core.errors import InputError, short_repr
from riverboat.games.base import TERMINAL, Array, append_label
from riverboat.solvers.tabular.best_response import check_zero_sum
from riverboat.strategies.tabular import Strategy
from riverboat.subgames.lookahead.trees import LeafState, PairEvaluator, normalized_range, public_strategy
from riverboat.trees.public import PublicTree

BLUEPRINT, UNIFORM = "blueprint", "uniform"
Ranges: TypeAlias = tuple[Array, Array]  # float64 [states, hands of player p], rows sum to one
ValueFunction: TypeAlias = Callable[[Sequence[LeafState], Ranges], tuple[Any, Any]]
ValueTable: TypeAlias = Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Continuations:
    """Continuation strategies that players choose among at leaves.

    Attributes
    ----------
    strategies
        `"blueprint"`; `"uniform"`; `"PATTERN:FACTOR"`, the blueprint with the probability of the actions whose labels match
        a shell pattern multiplied, such as `"r*:5"`; or a `Strategy` of the same game.
    both
        Whether the searching player chooses as well, at the same time. Otherwise it follows the blueprint.
    responses
        Number of best responses that are added at most, one after the other: each responds to the solution so far
        where it continues by the blueprint. Enough of them make leaf values exact for a blueprint that stays.

    Raises
    ------
    InputError
        If there is no strategy, or one is not understood.

    Examples
    --------
    >>> Continuations(["blueprint", "f:5", "c:5", "r*:5"]).strategies[1]
    'f:5'
    """

    strategies: Sequence[str | Strategy] = (BLUEPRINT,)
    both: bool = False
    responses: int = 0

    def __post_init__(self) -> None:
        given = self.strategies
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise InputError(
                f"strategies={short_repr(given)}: give a list of continuation strategies, such as ['blueprint']"
            )
        for strategy in given:
            if isinstance(strategy, str):
                parse_bias(strategy)
            elif not isinstance(strategy, Strategy):
                raise InputError(f"continuation {short_repr(strategy)}: {KNOWN_CONTINUATIONS}")
        validation.check_integer("responses", self.responses, 0)
        if self.both and self.responses:
            raise InputError("responses=…: best responses need both=False: only the opponent chooses among them")


Leaves: TypeAlias = Continuations | ValueTable | ValueFunction
KNOWN_CONTINUATIONS = "must be 'blueprint', 'uniform', 'PATTERN:FACTOR' such as 'r*:5', or a Strategy"


def parse_bias(text: str) -> tuple[str, float] | None:
    """Read the text of a continuation strategy.

    Parameters
    ----------
    text
        `"blueprint"`, `"uniform"` or `"PATTERN:FACTOR"`.

    Returns
    -------
    tuple[str, float] | None
        Pattern and factor of a biased blueprint; None for the names of the others.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> parse_bias("r*:5"), parse_bias("uniform")
    (('r*', 5.0), None)
    """
    if text in (BLUEPRINT, UNIFORM):
        return None
    pattern, _, number = text.rpartition(":")
    try:
        factor = float(number)
    except ValueError:
        factor = -1.0
    if not pattern or not 0 <= factor < np.inf:
        raise InputError(f"continuation {short_repr(text)}: {KNOWN_CONTINUATIONS}")
    return pattern, factor


def biased(base: Strategy, pattern: str, factor: float) -> Strategy:
    """Multiply the probability of all actions whose labels match a pattern, and normalize.

    Parameters
    ----------
    base
        Strategy.
    pattern
        Shell pattern of action labels: `r*` matches `r` and `r300`.
    factor
        Factor, 0 or more. Information sets that would have no action left keep their strategy.

    Returns
    -------
    Strategy
        The biased strategy, of all players.

    Examples
    --------
    >>> import riverboat as rb
    >>> uniform = rb.Strategy.uniform(rb.compile_game(rb.game("kuhn")))
    >>> biased(uniform, "r", 3.0)["K:"]
    {'c': 0.25, 'r': 0.75}
    """
    tree, table = base.tree, np.array(base.probabilities, float)
    for infoset in tree.infosets():
        by = [factor if fnmatchcase(action, pattern) else 1.0 for action in infoset.actions]
        row = table[infoset.offset : infoset.offset + len(by) * infoset.stride : infoset.stride]
        if (row * by).sum() > 0:
            row[:] = row * by / (row * by).sum()
    return Strategy(tree, table, {**base.provenance, "biased": f"{pattern}:{factor:g}"})


def value_table(strategy: Strategy) -> dict[str, tuple[Array, Array]]:
    """Compute the value of every hand at every public state if both players follow a strategy.

    Parameters
    ----------
    strategy
        Strategy of a two-player zero-sum public game.

    Returns
    -------
    dict[str, tuple[Array, Array]]
        For each line the values of both players' hands, given the hand: float64 [hands]. Ranges are those of the
        strategy; at public states that it never reaches, all possible hands.

    Examples
    --------
    >>> import riverboat as rb
    >>> table = value_table(rb.Strategy.uniform(rb.compile_game(rb.game("kuhn"))))
    >>> table["r"][0].round(9).tolist()  # player 0 has bet with J, Q, K
    [-0.5, 0.5, 1.5]
    """
    tree = public_strategy(strategy).tree
    assert isinstance(tree, PublicTree)
    check_zero_sum(tree)
    pairs, compatible, found = PairEvaluator(tree), tree.deal.joint() > 0, {}
    tables = tree.player_tables(np.asarray(strategy.probabilities))
    waiting = [(0, "", tree.deal.weights)]
    while waiting:
        node, line, reach = waiting.pop()
        who, at = int(tree.nodes.actor[node]), int(tree.nodes.data[node])
        if who == TERMINAL:
            continue
        possible = LeafState(tree, node).possible
        values = pairs.values(node, strategy.probabilities, strategy.probabilities) * compatible
        own, other = (normalized_range(reach[p] * possible[p], 1.0 * possible[p]) for p in (0, 1))
        first = safe_divide(values @ other, compatible @ other) * possible[0]
        second = safe_divide(own @ -values, own @ compatible) * possible[1]
        found[line] = first, second
        for k, (child, label) in enumerate(zip(tree.children(node), tree.labels(node), strict=True)):
            after = [tables[p][at + k] * reach[p] if p == who else reach[p] for p in (0, 1)]
            waiting.append((child, append_label(line, tree.joiner, label), (after[0], after[1])))
    return found
