"""`riverboat solve SPOT --estimate`: what a spot comes to, in chips, bytes and seconds, before anything is solved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from riverboat.cli.progress import ProgressLine
from riverboat.cli.solve import tree_estimate
from riverboat.cli.terminal import emit, plain_console
from riverboat.core.formatting import show_bytes, show_seconds
from riverboat.core.tables import FIGURE, Column, ReportTable
from riverboat.engines.tables import FORMATS
from riverboat.games.base import CHANCE
from riverboat.games.boards.board_game import BoardGame
from riverboat.games.spots.spot import STREETS, Spot
from riverboat.solvers import schedules
from riverboat.solvers.limits import SPOT_TARGET
from riverboat.solvers.selection import bytes_of_tables, default_schedule
from riverboat.strategies.reports.node import names
from riverboat.trees.boards import BoardTree

TARGET = SPOT_TARGET  # where nothing says when to stop
LINES_SHOWN = 40  # of a street, for people
# Measured in seconds of one core of a server (2026), compact tables and the default schedule, on the spots of
# examples/spots: 3.3 to 4.2 ns for each information set and action, from 10,000 to 95 million of them.
SECONDS_EACH = 3.8e-9  # an information set and action, in one iteration
SECONDS_NODE = 6e-8  # a node of the betting on a board
START = 3e-6  # an iteration
ITERATIONS, CHECKS = 100, 8  # to the target: 50 to 125 there; a check costs about as much as an iteration
# Bets far above the pot take longer to settle. Measured on a turn with two sizes: 86 iterations where all-in is 4 pots, 127
# at 10, 361 at 40; without all-in 52 to 58.
LARGE_BET = 2.5  # pots: from here on iterations grow with the root of the largest bet


def menus(tree: BoardTree) -> Iterator[dict[str, Any]]:
    """Every decision of the betting: its line (`*` for any card), who acts, the pot, and the moves in chips."""
    betting, game = tree.betting, tree.game
    start = getattr(game, "pot", 0)
    work: list[tuple[int, str]] = [(0, "")]
    while work:
        node, line = work.pop()
        if betting.actor[node] == CHANCE:
            work.append((node + 1, f"{line}/*"))
            continue
        if betting.actor[node] >= 0:
            pot = start + float(betting.spent[node].sum())
            who = names(game)[betting.actor[node]]
            street = int(betting.street[node])
            yield {"line": line, "street": street, "player": who, "pot": pot, "moves": list(betting.moves(node))}
        below = [
            (c, f"{line}{game.joiner}{betting.label[c]}" if line else betting.label[c]) for c in betting.children(node)
        ]
        work += reversed(below)


class Times(NamedTuple):
    """How long a solve may take."""

    iteration: float  # seconds
    iterations: int | None  # to the target; None where nothing was measured that it could be like
    target: float | None  # seconds, with checks


def times(tree: BoardTree, threads: int) -> Times:
    """From the sizes of a tree and the rates above. Threads share the boards of the last street."""
    boards = np.diff(tree.street_at)
    nodes = float((np.diff(tree.forest.first) * boards).sum())
    lanes = max(1, min(threads, int(boards[-1])))
    each = START + (SECONDS_EACH * tree.table + SECONDS_NODE * nodes) / lanes
    if not isinstance(tree.game, Spot):
        return Times(each, None, None)
    iterations = round(ITERATIONS * max(1.0, largest_bet(tree) / LARGE_BET) ** 0.5)
    return Times(each, iterations, each * (iterations + CHECKS))


def largest_bet(tree: BoardTree) -> float:
    """Return the largest bet or raise of a spot's tree over the pot that it is made into."""
    spot, betting, nodes = tree.game, tree.betting, np.flatnonzero(tree.betting.actor >= 0)
    assert isinstance(spot, Spot)
    spent, actor = betting.spent[nodes] + np.array(spot.start.spent), betting.actor[nodes]
    rows = np.arange(len(nodes))
    faced = np.maximum(spent[rows, 1 - actor] - spent[rows, actor], 0.0)  # chips to call
    before = spot.rules.pot + spent.sum(axis=1) - faced
    return float((faced / before).max(initial=0.0))


def print_estimate(game: Any, schedule: str | None, threads: int, json: bool, traversal: str = "full") -> None:
    """The compiled tree: sizes in chips, nodes and boards of each street, memory and time. Nothing is solved."""
    boards = isinstance(game, BoardGame)
    with ProgressLine(f"building the tree of {game.name}"):
        facts = estimate(game, schedule, threads, traversal) if boards else tree_estimate.estimate(game, schedule)
    if json:
        emit(facts)
    elif boards:
        _print_estimate(facts)
    else:
        tree_estimate.report(facts)


def estimate(game: Any, schedule: str | None, threads: int, traversal: str = "full") -> dict[str, Any]:
    """What `--estimate --json` prints of hold'em."""
    tree = BoardTree(game)
    lines = list(menus(tree))
    streets = [
        {
            "street": (STREETS[len(game.board) - 3 :] if isinstance(game, Spot) else range(tree.streets))[s],
            "boards": tree.street_at[s + 1] - tree.street_at[s],
            "nodes": int(tree.forest.first[s + 1] - tree.forest.first[s]),
            **{f"decisions_{name}": int(tree.nodes_by_street[s, p]) for p, name in enumerate(names(game))},
        }
        for s in range(tree.streets)
    ]
    parsed = schedules.parse(default_schedule(tree, traversal) if schedule is None else schedule)
    sizes = {name: bytes_of_tables(tree, parsed, name, traversal) for name in FORMATS}
    expected = times(tree, threads)
    return {
        "game": tree.name,
        "streets": streets,
        "infosets": tree.infoset_count,
        "infoset_actions": tree.table,
        "bytes_32": sizes["compact"],
        "bytes_16": sizes["16-bit"],
        "bytes": sizes,
        "bytes_tree": tree.layout_bytes,
        "schedule": str(parsed),
        "seconds_per_iteration": expected.iteration,
        "iterations_to_target": expected.iterations,
        "seconds_to_target": expected.target,
        "target_pct": TARGET,
        "threads": threads,
        "seconds_are": "an estimate from rates of one machine: a factor of three off at most is usual",
        "menus": lines,
    }


def _print_estimate(facts: Mapping[str, Any]) -> None:
    console = plain_console()
    console.print(
        f"{facts['game']}: {facts['infosets']:,} information sets, {facts['infoset_actions']:,} with their actions"
    )
    first, *others = facts["streets"][0]
    columns = Column(first), *(Column(name, FIGURE, name.replace("_", " ")) for name in others)
    rows = [(str(row[first]), *(f"{row[name]:,}" for name in others)) for row in facts["streets"]]
    console.print(ReportTable("", columns, tuple(rows)))
    tables = ", ".join(f"{name} {show_bytes(size)}" for name, size in facts["bytes"].items())
    console.print(f"tables ({facts['schedule']}): {tables}; the tree itself {show_bytes(facts['bytes_tree'])}")
    told = f"about {show_seconds(facts['seconds_per_iteration'])} an iteration on {facts['threads']} thread"
    told += "s" if facts["threads"] > 1 else ""
    if facts["seconds_to_target"] is not None:
        whole = show_seconds(facts["seconds_to_target"])
        told += f", {whole} to {TARGET:g} % of the pot if that takes {facts['iterations_to_target']} iterations"
    console.print(f"{told} (an estimate; yours may be three times as fast or as slow)")
    console.print("sizes in chips, as totals on the street; * is any card")
    for number, row in enumerate(facts["streets"]):
        mine = [line for line in facts["menus"] if line["street"] == number]
        console.print(f"{row['street']}:")
        for line in mine[:LINES_SHOWN]:
            where = f"{line['line'] or 'root'}: {line['player']}, pot {line['pot']:g}"
            console.print(f"  {where}: {' '.join(line['moves'])}")
        if len(mine) > LINES_SHOWN:
            console.print(f"  … {len(mine) - LINES_SHOWN:,} more; --json has all")
