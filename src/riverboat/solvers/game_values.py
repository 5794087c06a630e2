"""Games whose payoffs are values of smaller games: solve those first and cache their values.

`game("bluff:2,1")` needs the value of bluff:1,1, because a lost die leads to it. Any game may declare such
continuations (`riverboat.games.base.GameWithContinuations`). The value used is the middle of a certified interval, no
wider than the game requires; the interval of the larger game holds for those payoffs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from riverboat.core import files
from riverboat.core.arguments import checked
from riverboat.core.cache import cache_folder
from riverboat.core.errors import InputError, short_repr
from riverboat.games import registry
from riverboat.games.base import Continuation, Game, GameWithContinuations, HistoryGame, PublicGame
from riverboat.games.boards.board_game import BoardGame
from riverboat.solvers.run_loop import step_until
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game

VERSION = 2  # part of the cache key: a new version computes all values again
SCHEDULE = "dcfr"
MAX_LP_INFOSETS = 2_000  # up to this many information sets a linear program is faster
MAX_ITERATIONS = 1_000_000

ValueCallback: TypeAlias = Callable[[str, float, float], None]  # game, current width, target width


@checked
def game(spec: str | Game, note: ValueCallback | None = None) -> Game:
    """Make a game from its spec, with the values of the smaller games that it needs.

    Parameters
    ----------
    spec
        Spec such as "leduc", "bluff:2,1" or `module:object`; or a game.
    note
        Callback while a smaller game is solved: its name, the width of its interval, the target width.

    Returns
    -------
    Game
        The game, complete with the values of its continuations.

    Raises
    ------
    InputError
        If the spec is invalid, or a continuation has no value.

    Notes
    -----
    Values of smaller games are the middle of a certified interval, and are cached.

    Examples
    --------
    >>> import riverboat as rb
    >>> rb.game("kuhn").name
    'kuhn'
    """
    base = registry.game_from_spec(spec) if isinstance(spec, str) else spec
    if isinstance(base, type):
        raise InputError(f"game={base.__name__}: is a class; give one of its objects, {base.__name__}()")
    if not isinstance(base, HistoryGame | PublicGame | BoardGame):
        raise InputError(
            f"game={short_repr(base)}: is not a game: give a name such as 'leduc', or an object with the methods that "
            "docs/your-own-game.md lists"
        )
    if not isinstance(base, GameWithContinuations):
        return base
    missing = {name: smaller for name, smaller in base.continuations.items() if name not in base.values}
    if not missing:
        return base
    values = {name: _continuation_value(base.name, smaller, note) for name, smaller in missing.items()}
    complete = base.with_values(values)
    name = registry.spec_of(base)
    if name is not None:
        registry.remember_spec(complete, name)
    return complete


def _continuation_value(larger: str, smaller: Continuation, note: ValueCallback | None) -> float:
    """Return the value of a smaller game to its player 0, from the cache or by solving it.

    `larger` is the name of the game that needs the value, for messages.
    """
    if not 0 < smaller.width < math.inf:
        raise InputError(f"{larger}: the value of {smaller.game.name} to within {smaller.width:g}: must be above zero")
    # A registered game is identified by its spec, any other game by its tree.
    name, tree = _cache_name(smaller.game), None
    if name is None:
        tree = compile_game(game(smaller.game, note))
        name = tree.fingerprint
    recipe = {"version": VERSION, "schedule": SCHEDULE, "width": smaller.width, "game": name}
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    path = cache_folder() / "values" / f"{re.sub('[^a-z0-9,]+', '-', smaller.game.name.lower())[:40]}-{digest}.json"
    try:
        cached = json.loads(path.read_text(encoding="utf-8"))
        if cached["recipe"] == recipe and float(cached["low"]) <= cached["value"] <= float(cached["high"]):
            return float(cached["value"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # no valid cache entry: solve it
    solved = _certified_value(larger, tree or compile_game(game(smaller.game, note)), smaller.width, note)
    with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
        files.write_text(path, json.dumps({"recipe": recipe, **solved}))
    return float(solved["value"])


def _cache_name(smaller: Game) -> str | None:
    """Return the spec of a game if the spec alone determines it, else None."""
    name = registry.spec_of(smaller) or smaller.name
    try:
        return name if registry.is_safe_spec(name) and registry.game_from_spec(name) == smaller else None
    except InputError:
        return None


# Solves a game, by an LP if it is small and by CFR, until an interval of this width certifies its value to player 0.
def _certified_value(larger: str, tree: Tree, width: float, note: ValueCallback | None) -> dict[str, Any]:
    if tree.constant_sum is None:
        raise InputError(
            f"{larger} continues as {tree.name}, which has no value: it must have two players and constant-sum payoffs"
        )
    low, high = -math.inf, math.inf
    if tree.infoset_count <= MAX_LP_INFOSETS:
        from riverboat.solvers.exact.lp import solve_lp  # imports SciPy and HiGHS

        low, high = solve_lp(tree).bracket
    solver = CFR(tree, SCHEDULE)

    def is_certified() -> bool:
        nonlocal low, high
        if solver.iteration:
            low, high = solver.quality().bracket
            if note is not None:
                note(tree.name, high - low, width)
        return high - low <= width

    if not step_until(solver, is_certified, MAX_ITERATIONS):
        raise InputError(f"{larger}: the value of {tree.name} was found to within {high - low:.2g} only, not {width:g}")
    low, high = sorted((low, high))  # rounding may swap them
    return {"value": (low + high) / 2, "low": low, "high": high}
