"""OpenSpiel games as history games: `open_spiel:NAME(...)`.

They need the extra `riverboat[openspiel]`; pyspiel is imported when the first such game is loaded. Simultaneous-move
games become turn-based: players choose one after the other, without seeing earlier choices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar

from riverboat.core.errors import InputError, RiverboatError, short_repr, unknown_name_error
from riverboat.formats.open_spiel_layout import layout_of_game, open_spiel_error, unique_labels
from riverboat.games.base import CHANCE, TERMINAL
from riverboat.games.tree_layout import HistoryTreeLayout, PayoffCheck

PREFIX = "open_spiel:"

_T = TypeVar("_T")


def load_open_spiel_game(spec: str) -> OpenSpielGame:
    """Load an OpenSpiel game.

    Parameters
    ----------
    spec
        Name and parameters, such as `kuhn_poker` or `liars_dice(dice_sides=4)`.

    Returns
    -------
    OpenSpielGame
        The game; simultaneous moves are made turn-based.

    Raises
    ------
    InputError
        OpenSpiel is not installed, or does not know the game, or its histories cannot be enumerated.

    Examples
    --------
    >>> load_open_spiel_game("kuhn_poker").players  # doctest: +SKIP
    2
    """
    pyspiel = import_pyspiel()
    spec = spec.strip()
    name = PREFIX + spec
    short = spec.partition("(")[0]
    if not short:
        raise InputError(f"game {short_repr(name)}: the name is missing; write for example 'open_spiel:kuhn_poker'")
    if short not in pyspiel.registered_names():
        import open_spiel.python.games  # noqa: F401  # registers the games that are written in Python
    known = pyspiel.registered_names()
    if short not in known:
        raise unknown_name_error("OpenSpiel game", short, known)
    _check_parameters(name, next(kind for kind in pyspiel.registered_games() if kind.short_name == short))
    with open_spiel_errors(f"game {short_repr(name)}"):
        game = pyspiel.load_game(spec)
        kind = game.get_type()
        _check_supported(name, kind)
        if kind.dynamics == kind.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        return OpenSpielGame(name, game.num_players(), game)


def import_pyspiel() -> Any:
    """Import pyspiel, or raise an error that says how to install it.

    Returns
    -------
    module
        pyspiel.

    Raises
    ------
    InputError
        OpenSpiel is not installed.

    Examples
    --------
    >>> import_pyspiel().__name__  # doctest: +SKIP
    'pyspiel'
    """
    try:
        import pyspiel
    except ImportError:
        raise InputError("OpenSpiel is not installed: install riverboat[openspiel]") from None
    return pyspiel


def is_registered(name: str) -> bool:
    """Return whether OpenSpiel is installed and has a game of this name.

    Parameters
    ----------
    name
        Name without parameters.

    Returns
    -------
    bool
        False if OpenSpiel is not installed.

    Examples
    --------
    >>> is_registered("no such game")
    False
    """
    try:
        return name in import_pyspiel().registered_names()
    except InputError:
        return False


@contextmanager
def open_spiel_errors(where: str) -> Iterator[None]:
    """Turn exceptions of OpenSpiel inside the block into InputErrors.

    Parameters
    ----------
    where
        What was being done, for messages.

    Yields
    ------
    None

    Raises
    ------
    InputError
        OpenSpiel has raised an exception.

    Examples
    --------
    >>> with open_spiel_errors("game 'x'"):
    ...     raise RuntimeError("no such game")
    Traceback (most recent call last):
    riverboat.core.errors.InputError: game 'x': OpenSpiel says: no such game
    """
    try:
        yield
    except (RiverboatError, MemoryError):
        raise
    except Exception as error:  # pyspiel's own, C++ exceptions, and those of games written in Python
        raise open_spiel_error(where, error) from None


def _translate_errors(method: Callable[..., _T]) -> Callable[..., _T]:
    """Decorate a method of `_OpenSpielState`: turn OpenSpiel's exceptions into InputErrors that name the history."""

    @wraps(method)
    def call(self: _OpenSpielState, *arguments: Any) -> _T:
        try:
            return method(self, *arguments)
        except (RiverboatError, MemoryError):
            raise
        except Exception as error:
            raise open_spiel_error(f"{self.name} after {self.state.history()}", error) from None

    return call


def _check_parameters(name: str, kind: Any) -> None:
    """Raise InputError for a game that needs parameters and has none, before OpenSpiel reports them one by one."""
    if not kind.default_loadable and "(" not in name:
        needed = ", ".join(f"{key}=…" for key in sorted(kind.parameter_specification)) or "…"
        raise InputError(f"game {short_repr(name)} needs parameters: write it as {name}({needed})")


def _check_supported(name: str, kind: Any) -> None:
    """Raise InputError for games whose histories or information sets cannot be enumerated."""
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise InputError(f"game {short_repr(name)}: a mean-field game has no tree of histories; choose another game")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(
            f"game {short_repr(name)}: chance outcomes are only sampled and cannot be enumerated; "
            f"choose a game with explicit chance nodes"
        )
    if not kind.provides_information_state_string:
        raise InputError(
            f"game {short_repr(name)}: OpenSpiel has no names of its information states (information_state_string); "
            f"choose a game that has them"
        )


@dataclass(frozen=True, eq=False)
class OpenSpielGame:
    """A turn-based OpenSpiel game.

    Parameters
    ----------
    name
        Name for people: `open_spiel:` and the specification.
    players
        Number of players.
    game
        The `pyspiel.Game`.

    Examples
    --------
    >>> load_open_spiel_game("kuhn_poker").name  # doctest: +SKIP
    'open_spiel:kuhn_poker'
    """

    name: str
    players: int
    game: Any  # pyspiel.Game
    unit: str = field(default="points", init=False)

    def root(self) -> _OpenSpielState:
        """Return the initial state."""
        return _OpenSpielState(self.name, self.game.new_initial_state(), {})

    def layout(self, check_payoffs: PayoffCheck | None = None) -> HistoryTreeLayout:
        """Return the tree as arrays, from the cache if it is there.

        Parameters
        ----------
        check_payoffs
            Function that is called with each new row of payoffs and may raise an error.
        """
        return layout_of_game(self.name, self.game, self.root, check_payoffs)


@dataclass(frozen=True, eq=False)
class _OpenSpielState:
    name: str
    state: Any  # pyspiel.State, never modified
    owners: dict[str, int]  # player who first used the name of an information set; shared by all states of a traversal

    @cached_property
    def actor(self) -> int:
        player = int(self.state.current_player())
        return player if player >= 0 else CHANCE if self.state.is_chance_node() else TERMINAL

    @cached_property
    def _moves(self) -> list[int]:
        if self.actor == CHANCE:
            return [action for action, _ in self.state.chance_outcomes()]
        moves: list[int] = self.state.legal_actions()
        return moves

    @_translate_errors
    def actions(self) -> tuple[str, ...]:
        moves = self._moves
        labels = [self.state.action_to_string(move) for move in moves]
        return unique_labels(labels, moves)

    @_translate_errors
    def probabilities(self) -> Sequence[float]:
        return [probability for _, probability in self.state.chance_outcomes()]

    @_translate_errors
    def child(self, index: int) -> _OpenSpielState:
        return _OpenSpielState(self.name, self.state.child(self._moves[index]), self.owners)

    @_translate_errors
    def infoset(self) -> str:
        # Some games (phantom_ttt) use the same string for both players; the second player's gets a suffix.
        name: str = self.state.information_state_string()
        player = self.actor
        return name if self.owners.setdefault(name, player) == player else f"{name} (player {player})"

    @_translate_errors
    def payoffs(self) -> Sequence[float]:
        returns: list[float] = self.state.returns()
        return returns
