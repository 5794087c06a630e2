"""Games whose pay-offs are the values of smaller games: those are solved first, and kept in the cache.

`game("bluff:2,1")` needs the value of bluff:1,1, because a lost die leads to it. The value used is the middle
of a certified interval no wider than WIDTH; the interval of the larger game holds for those pay-offs.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import TypeAlias

from riverboat import disk
from riverboat.games import registry
from riverboat.games.base import Game
from riverboat.games.bluff import Bluff
from riverboat.kept import folder as cache_folder
from riverboat.solving.cfr import CFR
from riverboat.trees.compile import compile_game

VERSION = 1  # of the recipe below
SCHEDULE = "dcfr"
# The (1,1) game is small enough to be solved closely; what (2,1) needs is a few digits in a minute.
WIDTH = {2: 1e-5, 3: 5e-4}

Note: TypeAlias = Callable[[str, float, float], None]  # game, width reached, width wanted


def game(spec: str | Game, note: Note | None = None) -> Game:
    """A game by name (or as it is), with the values of the smaller games it needs."""
    made = registry.make(spec) if isinstance(spec, str) else spec
    if isinstance(made, Bluff):
        missing = [pair for pair in made.continuations if pair not in made.values]
        if missing:
            name = registry.spec_of(made) or made.name
            made = made.with_values({pair: bluff_value(pair, note) for pair in missing})
            registry.remember(made, name)
    return made


def bluff_value(dice: tuple[int, int], note: Note | None = None) -> float:
    """The value of Bluff to its starter, from the cache or by solving it."""
    width = WIDTH[sum(dice)]
    path = cache_folder() / "values" / f"bluff-{dice[0]}-{dice[1]}.json"
    recipe = {"version": VERSION, "schedule": SCHEDULE, "width": width}
    try:
        kept = json.loads(path.read_text())
        if kept["recipe"] == recipe and -1 <= kept["value"] <= 1:
            return float(kept["value"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # not there, or not ours: solve it
    smaller = game(f"bluff:{dice[0]},{dice[1]}", note)
    solver = CFR(compile_game(smaller), SCHEDULE)
    low, high = -1.0, 1.0
    if note is not None:
        note(smaller.name, high - low, width)
    while high - low > width:
        solver.step(max(10, solver.iteration // 4))
        low, high = solver.quality().bracket
        if note is not None:
            note(smaller.name, high - low, width)
    value = (low + high) / 2
    with contextlib.suppress(OSError):  # a place that cannot be written to only costs time
        disk.write_text(path, json.dumps({"recipe": recipe, "value": value, "low": low, "high": high}))
    return value
