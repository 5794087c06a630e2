"""The commands `riverboat show`, `export`, `respond`, `games`, `trace` and `cache`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riverboat.api import artifacts, general_sum, tournaments
from riverboat.api import respond as respond_api
from riverboat.api import show as show_api
from riverboat.api.options import Count, Flag, Limits
from riverboat.cli.models import tournament
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show import blueprint, card_abstraction, spot
from riverboat.cli.solve.multiplayer import methods_table
from riverboat.cli.terminal import make_table, print_result, prose, say
from riverboat.core.cache import cache_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes
from riverboat.core.tables import ReportColumn, ReportTable
from riverboat.games import registry

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution
    from riverboat.strategies.tabular import Strategy


def load_strategy(folder: Path, game: str | None) -> Strategy | Solution:
    """Load the strategy of a run; for hold'em its solution, with EVs."""
    with ProgressLine(f"reading {folder}"):
        return artifacts.load_solved(folder, game)


def show(
    folder: Path,
    line: str | None = None,
    *,
    limit: Count = 60,
    hand: str | None = None,
    table: str | None = None,
    player: str | None = None,
    range_text: Annotated[bool, Flag("--range")] = False,
    runouts: bool = False,
    values: bool = False,
    picture: Path | None = None,
    sort: str | None = None,
    board: str | None = None,
    abstraction: Path | None = None,
    game: str | None = None,
    json: bool = False,
) -> None:
    """Show an artifact: its description, its strategy, one information set or one node.

    Parameters
    ----------
    folder
        Folder of a run or a strategy; or an agent with its options: demo?purify.
    line
        Information set hand:line; spots: b94-c/8h, * for any card; blueprints: preflop or cr300c/; root.
    limit
        Rows to print at most.
    hand
        Spots: one hand, KsJs; a class, AK, AKs, QQ; or a range.
    table
        Spots: combos, classes, made, draws, groups or equity.
    player
        Spots: oop or ip; by default the player to act.
    range_text
        Hold'em: print the range of --player as text.
    runouts
        Spots: EVs and frequencies for each next card.
    values
        Blueprints: EVs of hands and of best responses.
    picture
        Spots: draw the grid.
    sort
        Spots: sort the table by a column, such as ev.
    board
        Blueprints, agents and card abstractions: the board, AsKd2c.
    abstraction
        Blueprints: current folder of the card abstraction.
    game
        The game that was solved, if it was module:object.
    """
    view = spot.ShowOptions(hand, table, player, runouts, picture, sort, limit, board, range_text, values)
    found = artifacts.describe(folder)
    if found.type == "agent":
        if abstraction is not None:
            raise InputError(f"agent {str(folder)!r} and --abstraction: write '{folder}?abstraction={abstraction}'")
        blueprint.show_agent(str(folder), line, view, json, game)
        return
    if found.type == "abstraction":
        card_abstraction.show_abstraction(folder, line, view, json)
        return
    if found.type == "tournament":
        state = None if line is None else tournament.parse_numbers(line, "state")
        result = tournaments.load_tournament(folder, state=state)
        print_result(result, tournament.tournament_parts(result), json)
        return
    if found.type == "blueprint":
        blueprint.show_blueprint(folder, line, view, json, abstraction)
        return
    kind = "strategy" if found.entries is None else found.entries["kind"]
    if abstraction is not None:
        raise InputError(f"{folder}: contains a {kind}; --abstraction is for blueprints")
    strategy = load_strategy(folder, game)
    assert found.entries is not None  # a folder of many boards holds no strategy and raises an error above
    entries = found.entries
    if artifacts.is_solution(strategy):
        spot.show_solution(strategy, entries, line, view, json)
        return
    if view.needs_node or view.sort is not None:
        options = "--hand, --table, --sort, --range, --runouts, --values and pictures"
        raise InputError(f"{folder}: contains {entries['game']}; {options} are for hold'em")
    if line is not None:
        row = strategy[line]
        facts = {"infoset": line, "player": strategy.tree.infoset(line).player, "strategy": row}
        print_result(facts, [_infoset_table(strategy, {line: row})], json)
        return
    facts = {"kind": entries["kind"], "game": entries["game"], "unit": strategy.tree.unit, "infosets": len(strategy)}
    facts |= entries.plain_table("provenance", 1)
    rows = dict(islice(strategy.items(), limit))
    lines = [f"{key:>12}  {value}" for key, value in facts.items()]
    print_result(facts | {"strategy": rows}, [*lines, _infoset_table(strategy, rows)], json)
    if len(strategy) > len(rows) and not json:
        say(f"… {len(strategy) - len(rows):,} more; name one, or increase --limit")


def _infoset_table(strategy: Strategy, rows: Mapping[str, Mapping[str, float]]) -> ReportTable:
    cells = (
        (name, str(strategy.tree.infoset(name).player), "  ".join(f"{a} {100 * p:5.1f}%" for a, p in row.items()))
        for name, row in rows.items()
    )
    columns = "information set", ReportColumn("player", rank=1), prose("strategy")
    return make_table(columns, cells)


def export(
    folder: Path,
    *,
    csv: bool = False,
    json: bool = False,
    line: str | None = None,
    depth: Annotated[int, Limits(1)] | None = None,
    out: Path | None = None,
    game: str | None = None,
) -> None:
    """Export strategies, EVs, equities and reach probabilities of every hand.

    Parameters
    ----------
    csv
        Comma-separated values.
    json
        One JSON object.
    line
        The node, such as b94-c/8h; the root by default.
    depth
        Export all nodes below it, over this many streets.
    out
        File to write; stdout by default.
    game
        The game that was solved, if it was module:object.
    """
    spot.export_strategy(load_strategy(folder, game), line, depth, out, csv=csv, json=json)


def respond(
    folder: Path,
    *,
    player: int | None = None,
    out: Path | None = None,
    limit: Count = 30,
    game: str | None = None,
    json: bool = False,
) -> None:
    """Compute a best response to a strategy, and its value.

    Parameters
    ----------
    player
        Seat of the responder; all by default.
    out
        Save the best response as a strategy (needs --player).
    limit
        Rows to print at most.
    game
        The game that was solved, if it was module:object.
    """
    if out is not None and player is None:
        raise InputError("--out saves one response: name the responder with --player")
    responses = respond_api.respond(folder, player, out=out, game=game)
    if out is not None:
        say(f"saved under {out}")
    print_result(responses, _response_parts(responses, limit), json)


def _response_parts(responses: respond_api.BestResponses, limit: int) -> Iterator[Any]:
    for p, best in responses.items():
        yield f"{best.claim}, a gain of {best.gain:.3g} over the strategy"
        infosets = [each.name for each in best.strategy.tree.infosets() if each.player == p][:limit]
        yield _infoset_table(best.strategy, {name: best.strategy[name] for name in infosets})


def games(*, methods: bool = False, json: bool = False) -> None:
    """List the games with their options.

    Parameters
    ----------
    methods
        List the methods for more than two players and for general sums instead.
    """
    if methods:
        offered = {"methods": [asdict(method) for method in general_sum.OFFERED]}
        print_result(offered, [methods_table()], json)
        return
    known, rows = {}, []
    for name, entry in registry.GAMES.items():
        options = registry.game_options(name)
        known[name] = {"about": entry.description, "options": options}
        rows.append((name, entry.description, ", ".join(f"{k}={v}" for k, v in options.items())))
    rows += [
        ("FILE.efg, FILE.nfg", "a Gambit file", ""),
        ("FILE.toml", "a hold'em spot (docs/spots.md)", ""),
        ("open_spiel:NAME(...)", "an OpenSpiel game (install riverboat[openspiel])", ""),
        ("module:object", "your own game (docs/your-own-game.md)", ""),
    ]
    print_result({"games": known}, [make_table(["game", prose("description"), prose("options")], rows)], json)


def trace(game: str = "kuhn", *, svg: Path | None = None, json: bool = False, **options: Any) -> None:
    """Show one iteration of CFR, node by node.

    Parameters
    ----------
    game
        A small game.
    svg
        Draw the tree of the deal as SVG.
    """
    traced = show_api.trace(game, svg=svg, **options)
    if svg is not None:
        say(f"picture: {svg}")
    print_result(traced, [traced], json)


def cache(*, clear: bool = False, json: bool = False) -> None:
    """Show or clear the tables that are cached between runs.

    Parameters
    ----------
    clear
        Delete the cached tables.
    """
    folder = cache_folder()
    cached = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    size = sum(p.stat().st_size for p in cached)
    if clear and folder.is_dir():
        shutil.rmtree(folder)
    names = [str(p.relative_to(folder)) for p in cached]
    facts = {"folder": str(folder), "files": names, "bytes": size, "cleared": clear}
    summary = f"{folder}: {len(cached)} files, {format_bytes(size)}" + (", deleted" if clear else "")
    print_result(facts, [summary, *(f"  {name}" for name in names)], json)
