"""The commands `riverboat show`, `respond`, `games`, `trace` and `cache`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from riverboat.api import artifacts, tournaments
from riverboat.api import respond as respond_api
from riverboat.api import show as show_api
from riverboat.cli.models import tournament
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show import blueprint, card_abstraction, spot
from riverboat.cli.show.spot import ShowOptions
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core.cache import cache_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import format_bytes
from riverboat.core.tables import PROSE, ReportColumn, ReportTable
from riverboat.games import registry

if TYPE_CHECKING:
    from riverboat.strategies.solution import Solution
    from riverboat.strategies.tabular import Strategy


def load_strategy(folder: Path, game: str | None) -> Strategy | Solution:
    """Load a strategy; `game` names its game if the folder cannot recreate it."""
    with ProgressLine(f"reading {folder}"):
        return artifacts.load_solved(folder, game)


def show_artifact(
    folder: Path,
    infoset: str | None,
    view: ShowOptions,
    json: bool,
    abstraction: Path | None = None,
    game: str | None = None,
) -> None:
    """Print the description of an artifact, and its strategy, one information set, or one node of hold'em."""
    found = artifacts.describe(folder)
    if found.type == "agent":
        if abstraction is not None:
            raise InputError(f"agent {str(folder)!r} and --abstraction: write '{folder}?abstraction={abstraction}'")
        blueprint.show_agent(str(folder), infoset, view, json, game)
        return
    if found.type == "abstraction":
        card_abstraction.show_abstraction(folder, infoset, view, json)
        return
    if found.type == "tournament":
        state = None if infoset is None else tournament.parse_numbers(infoset, "state")
        result = tournaments.load_tournament(folder, state=state)
        emit(result.to_dict()) if json else tournament.print_tournament(result)
        return
    if found.type == "blueprint":
        blueprint.show_blueprint(folder, infoset, view, json, abstraction)
        return
    kind = "strategy" if found.entries is None else found.entries["kind"]
    if abstraction is not None:
        raise InputError(f"{folder}: contains a {kind}; --abstraction is for blueprints")
    strategy, limit = load_strategy(folder, game), view.limit
    assert found.entries is not None  # a folder of many boards holds no strategy and raises an error above
    entries = found.entries
    if artifacts.is_solution(strategy):
        spot.show_solution(strategy, entries, infoset, view, json)
        return
    if view.needs_node or view.sort is not None:
        options = "--hand, --table, --sort, --range, --runouts, --values and pictures"
        raise InputError(f"{folder}: contains {entries['game']}; {options} are for hold'em")
    if infoset is not None:
        row = strategy[infoset]
        if json:
            emit({"infoset": infoset, "player": strategy.tree.infoset(infoset).player, "strategy": row})
        else:
            _print_infosets(strategy, [infoset], 1)
        return
    facts = {"kind": entries["kind"], "game": entries["game"], "unit": strategy.tree.unit, "infosets": len(strategy)}
    facts |= entries.plain_table("provenance", 1)
    if json:
        emit(facts | {"strategy": _first_rows(strategy, limit)})
        return
    console = plain_console()
    for key, value in facts.items():
        console.print(f"{key:>12}  {value}")
    _print_infosets(strategy, None, limit)


def _first_rows(strategy: Strategy, limit: int) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, row in strategy.items():
        if len(rows) >= limit:
            break
        rows[name] = row
    return rows


def _print_infosets(strategy: Strategy, names: list[str] | None, limit: int) -> None:
    rows = {name: strategy[name] for name in names} if names is not None else _first_rows(strategy, limit)
    table_rows = [
        (name, str(strategy.tree.infoset(name).player), "  ".join(f"{a} {100 * p:5.1f}%" for a, p in row.items()))
        for name, row in rows.items()
    ]
    columns = ReportColumn("information set"), ReportColumn("player", rank=1), ReportColumn("strategy", PROSE)
    plain_console().print(ReportTable("", columns, tuple(table_rows)))
    if names is None and len(strategy) > len(rows):
        say(f"… {len(strategy) - len(rows):,} more; name one, or increase --limit")


def show_best_responses(
    folder: Path, player: int | None, out: Path | None, limit: int, json: bool, game: str | None = None
) -> None:
    """Print best responses to a strategy."""
    if out is not None and player is None:
        raise InputError("--out saves one response: name the responder with --player")
    responses = respond_api.respond(folder, player, out=out, game=game)
    if out is not None:
        say(f"saved under {out}")
    if json:
        emit(responses.to_dict())
        return
    console = plain_console()
    for p, best in responses.items():
        console.print(f"{best.claim}, a gain of {best.gain:.3g} over the strategy")
        infosets = [i.name for i in best.strategy.tree.infosets() if i.player == p][:limit]
        _print_infosets(best.strategy, infosets, limit)


def list_games(json: bool) -> None:
    """Print the registered games."""
    if json:
        emit(
            {
                "games": {
                    n: {"about": e.description, "options": registry.game_options(n)} for n, e in registry.GAMES.items()
                }
            }
        )
        return
    rows = [
        (name, entry.description, ", ".join(f"{k}={v}" for k, v in registry.game_options(name).items()))
        for name, entry in registry.GAMES.items()
    ]
    rows += [
        ("FILE.efg, FILE.nfg", "a Gambit file", ""),
        ("FILE.toml", "a hold'em spot (docs/spots.md)", ""),
        ("open_spiel:NAME(...)", "an OpenSpiel game (install riverboat[openspiel])", ""),
        ("module:object", "your own game (docs/your-own-game.md)", ""),
    ]
    columns = ReportColumn("game"), ReportColumn("description", PROSE), ReportColumn("options", PROSE)
    plain_console().print(ReportTable("", columns, tuple(rows)))


def show_trace(spec: str, deal: str | None, schedule: str, iteration: int, svg: Path | None, json: bool) -> None:
    """Print one iteration of CFR, node by node."""
    traced = show_api.trace(spec, deal=deal, schedule=schedule, iteration=iteration, svg=svg)
    if svg is not None:
        say(f"picture: {svg}")
    if json:
        emit(traced.to_dict())
    else:
        plain_console().print(traced)


def show_cache(clear: bool, json: bool) -> None:
    """Print or clear the cached tables."""
    folder = cache_folder()
    cached = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    size = sum(p.stat().st_size for p in cached)
    if clear and folder.is_dir():
        shutil.rmtree(folder)
    if json:
        emit(
            {
                "folder": str(folder),
                "files": [str(p.relative_to(folder)) for p in cached],
                "bytes": size,
                "cleared": clear,
            }
        )
        return
    console = plain_console()
    console.print(f"{folder}: {len(cached)} files, {format_bytes(size)}" + (", deleted" if clear else ""))
    for path in cached:
        console.print(f"  {path.relative_to(folder)}")
