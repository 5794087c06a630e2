"""The commands that read: strategies, best responses, games, traces, the cache."""

from __future__ import annotations

import shutil
from pathlib import Path

from riverboat.abstraction.cards import card_abstraction
from riverboat.api import respond as responding
from riverboat.cli.models import tournament
from riverboat.cli.progress import ProgressLine
from riverboat.cli.show import agent, spot
from riverboat.cli.show import blueprint as blueprint_reading
from riverboat.cli.show import card_abstraction as abstraction_reading
from riverboat.cli.show.spot import View
from riverboat.cli.terminal import emit, plain_console, say
from riverboat.core import artifacts
from riverboat.core.cache import folder as cache_folder
from riverboat.core.errors import InputError
from riverboat.core.formatting import show_bytes
from riverboat.core.tables import PROSE, Column, ReportTable
from riverboat.games import registry
from riverboat.solvers.game_values import game as make_game
from riverboat.strategies import blueprint, files
from riverboat.strategies.solution import Solution
from riverboat.strategies.tabular import Strategy
from riverboat.tournaments import run


def load(folder: Path, game: str | None) -> Strategy | Solution:
    """A strategy; the game is named by the user where it cannot be made from what stands in the folder."""
    with ProgressLine(f"reading {folder}"):
        return files.load_solved(folder, None if game is None else make_game(game))


def show(
    folder: Path, infoset: str | None, view: View, json: bool, abstraction: Path | None = None, game: str | None = None
) -> None:
    """An artefact's facts, and its strategy or one information set; of hold'em a node."""
    if agent.is_agent(folder):
        if abstraction is not None:
            raise InputError(f"agent {str(folder)!r} and --abstraction: write '{folder}?abstraction={abstraction}'")
        agent.show(str(folder), infoset, view, json, game)
        return
    entries = artifacts.manifest(files.newest(folder))
    if entries["kind"] == card_abstraction.KIND:
        abstraction_reading.show(folder, infoset, view, json)
        return
    if entries["kind"] == run.KIND:
        tournament.tournament(folder, tournament.Options(state=infoset, until=float("inf"), json=json))
        return
    if entries["kind"] in blueprint.KINDS:
        blueprint_reading.show(folder, infoset, view, json, abstraction)
        return
    if abstraction is not None:
        raise InputError(f"{folder}: holds a {entries['kind']}; --abstraction is for blueprints")
    strategy, limit = load(folder, game), view.limit
    if isinstance(strategy, Solution):
        spot.show(strategy, entries, infoset, view, json)
        return
    if view.asks or view.sort is not None:
        options = "--hand, --table, --sort, --range, --runouts, --values and pictures"
        raise InputError(f"{folder}: holds {entries['game']}; {options} are for hold'em")
    if infoset is not None:
        row = strategy[infoset]
        if json:
            emit({"infoset": infoset, "player": strategy.tree.infoset(infoset).player, "strategy": row})
        else:
            _rows(strategy, [infoset], 1)
        return
    facts = {"kind": entries["kind"], "game": entries["game"], "unit": strategy.tree.unit, "infosets": len(strategy)}
    facts |= entries.plain("provenance", 1)
    if json:
        emit(facts | {"strategy": _some(strategy, limit)})
        return
    console = plain_console()
    for key, value in facts.items():
        console.print(f"{key:>12}  {value}")
    _rows(strategy, None, limit)


def _some(strategy: Strategy, limit: int) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for name, row in strategy.items():
        if len(rows) >= limit:
            break
        rows[name] = row
    return rows


def _rows(strategy: Strategy, names: list[str] | None, limit: int) -> None:
    rows = {name: strategy[name] for name in names} if names is not None else _some(strategy, limit)
    told = [
        (name, str(strategy.tree.infoset(name).player), "  ".join(f"{a} {100 * p:5.1f}%" for a, p in row.items()))
        for name, row in rows.items()
    ]
    columns = Column("information set"), Column("player", rank=1), Column("strategy", PROSE)
    plain_console().print(ReportTable("", columns, tuple(told)))
    if names is None and len(strategy) > len(rows):
        say(f"… {len(strategy) - len(rows):,} more; name one, or raise --limit")


def respond(
    folder: Path, player: int | None, out: Path | None, limit: int, json: bool, game: str | None = None
) -> None:
    """Best responses to a strategy."""
    if out is not None and player is None:
        raise InputError("--out saves one response: say whose with --player")
    responses = responding.respond(folder, player, out=out, game=game)
    if out is not None:
        say(f"saved under {out}")
    if json:
        emit(responses.to_dict())
        return
    console = plain_console()
    for p, best in responses.items():
        console.print(f"{best.claim}, {best.gain:.3g} more than the strategy")
        mine = [i.name for i in best.strategy.tree.infosets() if i.player == p][:limit]
        _rows(best.strategy, mine, limit)


def games(json: bool) -> None:
    """The registered games."""
    if json:
        emit({"games": {n: {"about": e.about, "options": registry.options(n)} for n, e in registry.GAMES.items()}})
        return
    rows = [
        (name, entry.about, ", ".join(f"{k}={v}" for k, v in registry.options(name).items()))
        for name, entry in registry.GAMES.items()
    ]
    rows += [
        ("FILE.efg, FILE.nfg", "a Gambit file", ""),
        ("FILE.toml", "a hold'em spot (docs/spots.md)", ""),
        ("open_spiel:NAME(...)", "a game of OpenSpiel (install riverboat[openspiel])", ""),
        ("module:object", "a game of your own (docs/your-own-game.md)", ""),
    ]
    columns = Column("game"), Column("what it is", PROSE), Column("options", PROSE)
    plain_console().print(ReportTable("", columns, tuple(rows)))


def trace(spec: str, deal: str | None, schedule: str, iteration: int, svg: Path | None, json: bool) -> None:
    """One iteration of CFR, node by node."""
    from riverboat.solvers.tabular.trace import trace as trace_game
    from riverboat.trees.drawing import draw

    made = make_game(spec)
    traced = trace_game(made, deal=deal, schedule=schedule, iterations=iteration)
    if svg is not None:
        draw(made, deal=deal).save(svg)
        say(f"picture: {svg}")
    if json:
        emit(traced.to_dict())
    else:
        plain_console().print(traced)


def cache(clear: bool, json: bool) -> None:
    """What is kept between runs."""
    folder = cache_folder()
    kept = sorted(p for p in folder.rglob("*") if p.is_file()) if folder.is_dir() else []
    size = sum(p.stat().st_size for p in kept)
    if clear and folder.is_dir():
        shutil.rmtree(folder)
    if json:
        emit(
            {
                "folder": str(folder),
                "files": [str(p.relative_to(folder)) for p in kept],
                "bytes": size,
                "cleared": clear,
            }
        )
        return
    console = plain_console()
    console.print(f"{folder}: {len(kept)} files, {show_bytes(size)}" + (", deleted" if clear else ""))
    for path in kept:
        console.print(f"  {path.relative_to(folder)}")
