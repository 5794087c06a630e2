"""`riverboat solve GAME --estimate` where the game is not hold'em: how large its tree and tables are, before it is built.

Small trees are built and counted. Of larger ones random lines tell the order of magnitude (`games.tree_size`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from riverboat.cli.terminal import plain_console
from riverboat.core.formatting import show_bytes
from riverboat.games import tree_size
from riverboat.games.base import Continuing, Game, PublicGame
from riverboat.games.layout import Layout
from riverboat.solvers import schedules
from riverboat.solvers.run import default_schedule
from riverboat.solvers.tabular import cfr
from riverboat.trees.compile import compile_game

SECONDS = 2.0  # for random lines
SMALL = 50_000  # nodes of a tree that is built and counted
EXACT, GUESSED = "exact", "estimates from random lines through the tree: the order of magnitude"


def estimate(game: Game, schedule: str | None) -> dict[str, Any]:
    """What `--estimate --json` prints of it."""
    if isinstance(game, Continuing):  # what the smaller games are worth does not change the size of this one
        game = game.with_values(dict.fromkeys(game.continuations, 0.0))
    if isinstance(game, PublicGame) and hasattr(game, "layout"):
        return _public(game, _laid_out(game.layout()), schedule, EXACT)
    about = tree_size.measure(game.root(), SECONDS)
    if about.nodes <= SMALL:
        return _counted(game, schedule)
    if isinstance(game, PublicGame):
        return _public(game, about, schedule, GUESSED)
    return {"game": game.name, "nodes": round(about.nodes), "figures_are": GUESSED}


def _laid_out(layout: Layout) -> tree_size.Size:
    """Sizes of a tree that a game fills without walking it."""
    widths = np.array([len(menu) for menu in layout.menus])
    size = tree_size.Size(float(len(layout.actor)))
    for player in (0, 1):
        menus = layout.index[layout.actor == player]
        size.decisions[player], size.moves[player] = float(len(menus)), float(widths[menus].sum())
    return size


def _public(game: PublicGame, size: tree_size.Size, schedule: str | None, what: str) -> dict[str, Any]:
    """Every hand has a row at each of its player's decisions."""
    hands = [len(own) for own in game.hands]
    infosets, moves = (
        round(sum(count.get(player, 0.0) * own for player, own in enumerate(hands)))
        for count in (size.decisions, size.moves)
    )
    parsed = schedules.parse("dcfr" if schedule is None else schedule)
    numbers = cfr.tables_of(parsed, shared=False) * moves
    return {
        "game": game.name,
        "nodes": round(size.nodes),
        "infosets": infosets,
        "infoset_actions": moves,
        "schedule": str(parsed),
        "bytes": {"float64": 8 * numbers, "float32": 4 * numbers},
        "figures_are": what,
    }


def _counted(game: Game, schedule: str | None) -> dict[str, Any]:
    tree = compile_game(game)
    parsed = schedules.parse(default_schedule(tree) if schedule is None else schedule)
    return {
        "game": tree.name,
        "nodes": len(tree.nodes.actor),
        "infosets": tree.infoset_count,
        "infoset_actions": tree.action_count,
        "schedule": str(parsed),
        "bytes": {dtype: cfr.table_bytes(tree, parsed, dtype) for dtype in cfr.DTYPES},
        "figures_are": EXACT,
    }


def report(facts: Mapping[str, Any]) -> None:
    """The same for people."""
    exact = facts["figures_are"] == EXACT
    about = "" if exact else "about "

    def number(x: int) -> str:
        return f"{x:,}" if exact else f"{x:.2g}"

    console = plain_console()
    console.print(f"{facts['game']}: {about}{number(facts['nodes'])} nodes of the tree")
    if "infosets" in facts:
        console.print(
            f"{about}{number(facts['infosets'])} information sets, {number(facts['infoset_actions'])} with their actions"
        )
        tables = ", ".join(f"{name} {show_bytes(size)}" for name, size in facts["bytes"].items())
        console.print(f"tables ({facts['schedule']}): {about}{tables}")
    if not exact:
        console.print(f"{GUESSED}; solving counts while it builds, and stops where memory does not suffice")
