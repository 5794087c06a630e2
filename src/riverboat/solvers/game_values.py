"""Games whose pay-offs are the values of smaller games: those are solved first, and kept in the cache.

`game("bluff:2,1")` needs the value of bluff:1,1, because a lost die leads to it. Any game may say how it goes on
(`riverboat.games.base.Continuing`). The value used is the middle of a certified interval no wider than the game asks for; the
interval of the larger game holds for those pay-offs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeAlias

from riverboat.core import atomic_io
from riverboat.core.cache import folder as cache_folder
from riverboat.core.errors import InputError
from riverboat.games import registry
from riverboat.games.base import Continuation, Continuing, Game
from riverboat.solvers.run_loop import stepped
from riverboat.solvers.tabular.cfr import CFR
from riverboat.strategies.tabular import Tree
from riverboat.trees.compile import compile_game

VERSION = 2  # of the recipe below
SCHEDULE = "dcfr"
SMALL = 2_000  # information sets: a linear program is quicker
MOST = 1_000_000  # iterations

Note: TypeAlias = Callable[[str, float, float], None]  # game, width reached, width wanted


def game(spec: str | Game, note: Note | None = None) -> Game:
    """A game by name (or as it is), with the values of the smaller games it needs."""
    made = registry.make(spec) if isinstance(spec, str) else spec
    if not isinstance(made, Continuing):
        return made
    missing = {name: smaller for name, smaller in made.continuations.items() if name not in made.values}
    if not missing:
        return made
    whole = made.with_values({name: _value(made.name, smaller, note) for name, smaller in missing.items()})
    name = registry.spec_of(made)
    if name is not None:
        registry.remember(whole, name)
    return whole


def _value(larger: str, smaller: Continuation, note: Note | None) -> float:
    """The value of a smaller game to its player 0, from the cache or by solving it."""
    if not 0 < smaller.width < math.inf:
        raise InputError(f"{larger}: the value of {smaller.game.name} to within {smaller.width:g}: must be above zero")
    # A game of ours is known by its name alone; of any other the tree is what counts.
    name, tree = _known_as(smaller.game), None
    if name is None:
        tree = compile_game(game(smaller.game, note))
        name = tree.fingerprint
    recipe = {"version": VERSION, "schedule": SCHEDULE, "width": smaller.width, "game": name}
    digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:16]
    path = cache_folder() / "values" / f"{re.sub('[^a-z0-9,]+', '-', smaller.game.name.lower())[:40]}-{digest}.json"
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["recipe"] == recipe and float(kept["low"]) <= kept["value"] <= float(kept["high"]):
            return float(kept["value"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # not there, or not ours: solve it
    solved = _solve(larger, tree or compile_game(game(smaller.game, note)), smaller.width, note)
    with contextlib.suppress(OSError):  # a place that cannot be written to only costs time
        atomic_io.write_text(path, json.dumps({"recipe": recipe, **solved}))
    return float(solved["value"])


def _known_as(smaller: Game) -> str | None:
    """The name of a game that this version of Riverboat makes the same everywhere."""
    name = registry.spec_of(smaller) or smaller.name
    try:
        return name if registry.inert(name) and registry.make(name) == smaller else None
    except InputError:
        return None


def _exact(tree: Tree) -> tuple[float, float]:
    from riverboat.solvers.exact.lp import solve_lp  # brings SciPy and HiGHS along

    return solve_lp(tree).bracket


def _solve(larger: str, tree: Tree, width: float, note: Note | None) -> dict[str, Any]:
    if tree.constant_sum is None:
        raise InputError(
            f"{larger} goes on as {tree.name}, which has no value: it needs two players and pay-offs with a constant sum"
        )
    low, high = _exact(tree) if tree.infoset_count <= SMALL else (-math.inf, math.inf)
    solver, more = CFR(tree, SCHEDULE), True
    while high - low > width:
        if not more or solver.iteration > MOST:
            raise InputError(f"{larger}: the value of {tree.name} is known to {high - low:.2g} only, not to {width:g}")
        more = stepped(solver, max(10, solver.iteration // 4))
        low, high = solver.quality().bracket
        if note is not None:
            note(tree.name, high - low, width)
    low, high = sorted((low, high))  # rounding may cross them
    return {"value": (low + high) / 2, "low": low, "high": high}
