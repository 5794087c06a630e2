"""Registry of games by name: `kuhn`, `kuhn:cards=6`, `holdem:2-1`, a file, `open_spiel:NAME(...)`, `module:object`."""

from __future__ import annotations

import contextlib
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riverboat.core import plugins
from riverboat.core.errors import InputError, short_repr, unknown_name_error
from riverboat.games.base import Game, HistoryGame, PublicGame
from riverboat.games.boards import holdem
from riverboat.games.small import normal_form, poker, toy_games
from riverboat.games.small.bluff import Bluff


@dataclass(frozen=True)
class RegisteredGame:
    """A named game.

    Attributes
    ----------
    make
        Function that makes the game from its options.
    description
        Sentence for lists of games.
    aliases
        Other names of the same game, such as OpenSpiel's.

    Examples
    --------
    >>> GAMES["rps"].description
    'rock-paper-scissors'
    """

    make: Callable[..., Game]
    description: str
    aliases: tuple[str, ...] = ()


def _bluff(first: int = 1, second: int = 1) -> Bluff:
    return Bluff((first, second))


GAMES: dict[str, RegisteredGame] = {
    "kuhn": RegisteredGame(
        poker.kuhn, "Kuhn poker: one card each, one round of betting; kuhn:players=3", ("kuhn_poker",)
    ),
    "leduc": RegisteredGame(
        poker.leduc, "Leduc poker: one card each, a public card, two rounds; leduc:players=3", ("leduc_poker",)
    ),
    "bluff": RegisteredGame(_bluff, "Bluff (liar's dice) with D1 and D2 dice, star wild: bluff:D1,D2", ("liars_dice",)),
    "holdem": RegisteredGame(holdem.holdem, "limit hold'em from the deal; holdem:2-1 has two rounds with one bet each"),
    "flop_holdem": RegisteredGame(
        holdem.flop_holdem, "no-limit hold'em of two rounds; flop_holdem:small, large, nested, one-bet"
    ),
    "rhode_island": RegisteredGame(
        poker.rhode_island, "Rhode Island hold'em: one card each and two public ones, three rounds"
    ),
    "negotiation": RegisteredGame(
        toy_games.negotiation, "a seller and a buyer with secret limits name prices by turns"
    ),
    "coin_toss": RegisteredGame(toy_games.CoinToss, "Coin Toss, the smallest endgame-solving example"),
    "clairvoyance": RegisteredGame(toy_games.clairvoyance_with_chips, "one player knows who wins and bets any size"),
    "rps": RegisteredGame(normal_form.rock_paper_scissors, "rock-paper-scissors", ("rock_paper_scissors", "roshambo")),
    "rpst": RegisteredGame(normal_form.rpst, "rock-paper-scissors-toothpick, a game with gifts"),
}

ALIASES = {alias: name for name, entry in GAMES.items() for alias in entry.aliases}
SPOT = "spot"  # used by commands that take a spot as options; not a game by itself
FILE_LOADERS = {".efg": "gambit:load_efg", ".nfg": "gambit:load_nfg", ".toml": "spot_file:load"}


def game_from_spec(spec: str) -> Game:
    """Return the game that `spec` names. `riverboat.game` also solves the smaller games it may need.

    Parameters
    ----------
    spec
        Name of a game with options: `kuhn:cards=6`, a file, `open_spiel:NAME`, or `module:object`.

    Returns
    -------
    Game
        The game.

    Raises
    ------
    InputError
        If there is no such game, or an option is unknown or invalid.

    Examples
    --------
    >>> game_from_spec("kuhn:cards=6").name, game_from_spec("liars_dice").name
    ('kuhn', 'bluff:1,1')
    """
    head, colon, tail = spec.partition(":")
    spec = f"{ALIASES.get(head, head)}{colon}{tail}"
    game = _game_from_spec(spec)
    remember_spec(game, spec)
    return game


def is_safe_spec(spec: str) -> bool:
    """Return whether a game can be made without importing user code or reading files.

    Only such names are accepted from files.

    Parameters
    ----------
    spec
        Name of a game with options: `kuhn:cards=6`, a file, `open_spiel:NAME`, or `module:object`.

    Returns
    -------
    bool
        Whether the name is one of Riverboat's own games, or of an OpenSpiel game that reads no file.

    Examples
    --------
    >>> is_safe_spec("leduc"), is_safe_spec("my_module:game")
    (True, False)
    """
    head, _, tail = spec.partition(":")
    if Path(spec).suffix.lower() in FILE_LOADERS:
        return False
    return head in GAMES or head in ALIASES or (head == "open_spiel" and "file" not in tail.lower())


def remember_spec(game: Game, spec: str) -> None:
    """Remember on a game how it was named, so that artifacts can name it again.

    Parameters
    ----------
    game
        A game.
    spec
        Name of a game with options: `kuhn:cards=6`, a file, `open_spiel:NAME`, or `module:object`.

    Examples
    --------
    >>> game = GAMES["rps"].make()
    >>> remember_spec(game, "rps")
    >>> spec_of(game)
    'rps'
    """
    with contextlib.suppress(AttributeError):  # a class with slots
        object.__setattr__(game, "_spec", spec)  # games are frozen; this is no part of their value


def spec_of(game: Game) -> str | None:
    """Return the name that a game was made by, if any.

    Parameters
    ----------
    game
        A game.

    Returns
    -------
    str | None
        The name, or None if the game was not made by name.

    Examples
    --------
    >>> spec_of(game_from_spec("leduc"))
    'leduc'
    """
    spec: str | None = getattr(game, "_spec", None)
    return spec


def _game_from_spec(spec: str) -> Game:
    head, _, tail = spec.partition(":")
    if Path(spec).suffix.lower() in FILE_LOADERS:
        module, _, name = FILE_LOADERS[Path(spec).suffix.lower()].partition(":")
        loader: Callable[[str], Game] = getattr(importlib.import_module(f"riverboat.formats.{module}"), name)
        return loader(spec)
    if head == "open_spiel":
        from riverboat.formats import open_spiel_games

        return open_spiel_games.load_open_spiel_game(tail)
    if head in GAMES:
        return _call_maker(GAMES[head].make, spec, tail)
    if tail.isidentifier() and all(part.isidentifier() for part in head.split(".")):
        return _import_game(spec, head, tail)
    if spec == SPOT:
        raise InputError(
            "game 'spot': a spot needs a board, ranges and sizes: use a .toml file, rb.Spot.make(board=…), or the options of "
            "'riverboat solve spot'"
        )
    files = (f"FILE{suffix}" for suffix in FILE_LOADERS)
    known = [*GAMES, SPOT, "open_spiel:NAME", *files, "module:object"]
    raise unknown_name_error("game", head, known, _suggestions(spec))


def _suggestions(spec: str) -> list[str]:
    """Return names that an unknown name may mean besides the registered ones: aliases, and games of OpenSpiel."""
    from riverboat.formats import open_spiel_games

    name = spec.partition("(")[0]
    return [*ALIASES, *([f"open_spiel:{spec}"] if open_spiel_games.is_registered(name) else [])]


def game_options(name: str) -> dict[str, Any]:
    """Return the options of a named game with their defaults.

    Parameters
    ----------
    name
        Name of a game without options.

    Returns
    -------
    dict[str, Any]
        Default of each option.

    Raises
    ------
    InputError
        If there is no such game.

    Examples
    --------
    >>> game_options("negotiation")
    {'limits': 5, 'offers': 3}
    """
    if name not in GAMES:
        raise unknown_name_error("game", name, GAMES)
    parameters = inspect.signature(GAMES[name].make).parameters
    return {p.name: p.default for p in parameters.values()}


def _call_maker(maker: Callable[..., Game], spec: str, tail: str) -> Game:
    """Call a factory with `a,b,key=value` options, converted to the types of its parameters."""
    parameters = {p.name: p for p in inspect.signature(maker).parameters.values()}
    options: dict[str, Any] = {}
    for position, text in enumerate(t for t in tail.split(",") if t):
        key, equals, value = text.partition("=")
        if not equals:
            if position >= len(parameters):
                raise InputError(
                    f"game {short_repr(spec)}: {short_repr(text)} is one option too many; known: {', '.join(parameters)}"
                )
            key, value = list(parameters)[position], text
        if key not in parameters:
            raise InputError(f"game {short_repr(spec)}: {unknown_name_error('option', key, parameters)}")
        if key in options:
            raise InputError(f"game {short_repr(spec)}: option {short_repr(key)} is given twice")
        options[key] = _convert(spec, key, value, str(parameters[key].annotation))
    return maker(**options)


def _convert(spec: str, key: str, value: str, annotation: str) -> Any:
    if "str" in annotation:
        return value
    kind = float if "float" in annotation else int
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            f"game {short_repr(spec)}: {key}={short_repr(value)} is not {'a number' if kind is float else 'a whole number'}"
        ) from None


def _import_game(spec: str, module: str, name: str) -> Game:
    game = plugins.import_user_object("game", spec, module, name)
    if callable(game) and (isinstance(game, type) or not isinstance(game, HistoryGame | PublicGame)):
        with plugins.user_code_errors("game", spec, f"{name} cannot be called; it must take no arguments"):
            game = game()
    if not isinstance(game, HistoryGame | PublicGame):
        raise InputError(
            f"game {short_repr(spec)}: {type(game).__name__} is not a game; see docs/your-own-game.md for the protocol"
        )
    return game
