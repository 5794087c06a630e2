"""Games by name: `kuhn`, `kuhn:cards=6`, `holdem:2-1`, a file, `open_spiel:NAME(...)`, `module:object`."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.core import plugins
from riverboat.core.errors import InputError, shown, unknown
from riverboat.games.base import Game, HistoryGame, PublicGame
from riverboat.games.boards import flop_holdem, full_holdem
from riverboat.games.small import coin_toss, half_street, multiplayer_poker, negotiation, normal_form, rhode_island
from riverboat.games.small.bluff import Bluff


@dataclass(frozen=True)
class Entry:
    """A game that has a name."""

    make: Callable[..., Game]
    about: str


def _bluff(first: int = 1, second: int = 1) -> Bluff:
    return Bluff((first, second))


GAMES: dict[str, Entry] = {
    "kuhn": Entry(multiplayer_poker.kuhn, "Kuhn poker: one card each, one round of betting; kuhn:players=3"),
    "leduc": Entry(multiplayer_poker.leduc, "Leduc poker: one card each, a public card, two rounds; leduc:players=3"),
    "bluff": Entry(_bluff, "Bluff (liar's dice) with D1 and D2 dice, star wild: bluff:D1,D2"),
    "holdem": Entry(full_holdem.holdem, "limit hold'em from the deal; holdem:2-1 has two rounds with one bet each"),
    "flop_holdem": Entry(
        flop_holdem.flop_holdem, "no-limit hold'em of two rounds; flop_holdem:small, large, nested, one-bet"
    ),
    "rhode_island": Entry(
        rhode_island.rhode_island, "Rhode Island hold'em: one card each and two public ones, three rounds"
    ),
    "negotiation": Entry(negotiation.negotiation, "a seller and a buyer with secret limits name prices by turns"),
    "coin_toss": Entry(coin_toss.CoinToss, "Coin Toss, the smallest endgame-solving example"),
    "clairvoyance": Entry(half_street.clairvoyance_with_chips, "one player knows who wins and bets any size"),
    "rps": Entry(normal_form.rock_paper_scissors, "rock-paper-scissors"),
    "rpst": Entry(normal_form.rpst, "rock-paper-scissors-toothpick, a game with gifts"),
}

SPOT = "spot"  # the word of commands for a spot by options; no game by itself
FILES = {".efg": "gambit:load_efg", ".nfg": "gambit:load_nfg", ".toml": "spot_file:load"}


def make(spec: str) -> Game:
    """The game that `spec` names. `riverboat.game` also solves the smaller games it may need."""
    game = _make(spec)
    remember(game, spec)
    return game


def inert(spec: str) -> bool:
    """Whether making the game imports nothing of the user's and reads no file: only such a name is taken from a file."""
    head, _, tail = spec.partition(":")
    if Path(spec).suffix.lower() in FILES:
        return False
    return head in GAMES or (head == "open_spiel" and "file" not in tail.lower())


def remember(game: Game, spec: str) -> None:
    """Note on a game how it was named, so that artefacts can name it again."""
    with contextlib.suppress(AttributeError):  # a class with slots
        object.__setattr__(game, "_spec", spec)  # games are frozen; this changes nothing of what they are


def spec_of(game: Game) -> str | None:
    """How a game was named, if it was made by name."""
    spec: str | None = getattr(game, "_spec", None)
    return spec


def _make(spec: str) -> Game:
    head, _, tail = spec.partition(":")
    if Path(spec).suffix.lower() in FILES:
        module, _, name = FILES[Path(spec).suffix.lower()].partition(":")
        loader: Callable[[str], Game] = getattr(importlib.import_module(f"riverboat.games.{module}"), name)
        return loader(spec)
    if head == "open_spiel":
        from riverboat.formats import open_spiel_games

        return open_spiel_games.load(tail)
    if head in GAMES:
        return _call(GAMES[head].make, spec, tail)
    if tail.isidentifier() and all(part.isidentifier() for part in head.split(".")):
        return _import(spec, head, tail)
    if spec == SPOT:
        raise InputError(
            "game 'spot': a spot needs board, ranges and sizes: a .toml file, rb.Spot.make(board=…), or the options of "
            "'riverboat solve spot'"
        )
    files = (f"FILE{suffix}" for suffix in FILES)
    raise unknown("game", head, [*GAMES, SPOT, "open_spiel:NAME", *files, "module:object"])


def options(name: str) -> dict[str, Any]:
    """The options of a named game with their defaults."""
    if name not in GAMES:
        raise unknown("game", name, GAMES)
    parameters = inspect.signature(GAMES[name].make).parameters
    return {p.name: p.default for p in parameters.values()}


def _call(maker: Callable[..., Game], spec: str, tail: str) -> Game:
    """Call a maker with `a,b,key=value` options, converted to the types of its parameters."""
    parameters = {p.name: p for p in inspect.signature(maker).parameters.values()}
    given: dict[str, Any] = {}
    for place, text in enumerate(t for t in tail.split(",") if t):
        key, equals, value = text.partition("=")
        if not equals:
            if place >= len(parameters):
                raise InputError(f"game {shown(spec)}: {shown(text)} is one option too many")
            key, value = list(parameters)[place], text
        if key not in parameters:
            raise InputError(f"game {shown(spec)}: {unknown('option', key, parameters)}")
        if key in given:
            raise InputError(f"game {shown(spec)}: option {shown(key)} is given twice")
        given[key] = _convert(spec, key, value, str(parameters[key].annotation))
    return maker(**given)


def _convert(spec: str, key: str, value: str, annotation: str) -> Any:
    if "str" in annotation:
        return value
    kind = float if "float" in annotation else int
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            f"game {shown(spec)}: {key}={shown(value)} is not {'a number' if kind is float else 'a whole number'}"
        ) from None


def _import(spec: str, module: str, name: str) -> Game:
    game = plugins.attribute("game", spec, module, name)
    if callable(game) and (isinstance(game, type) or not isinstance(game, HistoryGame | PublicGame)):
        with plugins.told("game", spec, f"{name} cannot be made; a maker takes no arguments"):
            game = game()
    if not isinstance(game, HistoryGame | PublicGame):
        raise InputError(
            f"game {shown(spec)}: {type(game).__name__} is no game; see docs/your-own-game.md for what it must answer"
        )
    return game
