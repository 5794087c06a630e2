"""OpenSpiel games as history games: `open_spiel:NAME(...)`.

Needs the extra `riverboat[openspiel]`; pyspiel is imported when the first such game is loaded. Games in
which players move at the same time become turn-based: they choose one after the other, unseen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, TypeVar

from riverboat.core.errors import InputError, RiverboatError, shown, unknown
from riverboat.games.base import CHANCE, TERMINAL

PREFIX = "open_spiel:"

_T = TypeVar("_T")


def load(spec: str) -> OpenSpielGame:
    """The OpenSpiel game that `spec` describes, such as `kuhn_poker` or `liars_dice(dice_sides=4)`."""
    pyspiel = import_pyspiel()
    spec = spec.strip()
    name = PREFIX + spec
    short = spec.partition("(")[0]
    if not short:
        raise InputError(f"game {shown(name)}: the name is missing; write for example 'open_spiel:kuhn_poker'")
    if short not in pyspiel.registered_names():
        import open_spiel.python.games  # noqa: F401  # registers the games that are written in Python
    known = pyspiel.registered_names()
    if short not in known:
        raise unknown("OpenSpiel game", short, known)
    _check_parameters(name, next(kind for kind in pyspiel.registered_games() if kind.short_name == short))
    with spiel_errors(f"game {shown(name)}"):
        game = pyspiel.load_game(spec)
        kind = game.get_type()
        _check(name, kind)
        if kind.dynamics == kind.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        return OpenSpielGame(name, game.num_players(), game)


def import_pyspiel() -> Any:
    """The module, or an error that says how to install it."""
    try:
        import pyspiel
    except ImportError:
        raise InputError("OpenSpiel is not installed: install riverboat[openspiel]") from None
    return pyspiel


@contextmanager
def spiel_errors(where: str) -> Iterator[None]:
    """Turn OpenSpiel's errors into ours."""
    try:
        yield
    except (RiverboatError, MemoryError):
        raise
    except Exception as error:  # its own, those of the C++ library, and whatever a game written in Python raises
        raise _said(where, error) from None


def _said(where: str, error: Exception) -> InputError:
    """An error of OpenSpiel on one line."""
    # An unknown name is followed by one line for each known game.
    text = " ".join(str(error).partition(" Available games")[0].split())
    return InputError(f"{where}: OpenSpiel says: {text or type(error).__name__}")


def _asked(method: Callable[..., _T]) -> Callable[..., _T]:
    """A question to a state, whose errors become ours; the place is only worked out when there is one."""

    @wraps(method)
    def ask(self: _State, *arguments: Any) -> _T:
        try:
            return method(self, *arguments)
        except (RiverboatError, MemoryError):
            raise
        except Exception as error:
            raise _said(f"{self.name} after {self.state.history()}", error) from None

    return ask


def _check_parameters(name: str, kind: Any) -> None:
    """Refuse a game that needs parameters and has none, before OpenSpiel misses them one by one."""
    if not kind.default_loadable and "(" not in name:
        needed = ", ".join(f"{key}=…" for key in sorted(kind.parameter_specification)) or "…"
        raise InputError(f"game {shown(name)} needs parameters: write it as {name}({needed})")


def _check(name: str, kind: Any) -> None:
    """Refuse the games whose histories or information sets cannot be listed."""
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise InputError(f"game {shown(name)}: a mean-field game has no tree of histories; choose another game")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise InputError(
            f"game {shown(name)}: chance is only sampled, its outcomes cannot be listed; "
            f"choose a game with explicit chance nodes"
        )
    if not kind.provides_information_state_string:
        raise InputError(
            f"game {shown(name)}: OpenSpiel does not name its information states (information_state_string); "
            f"choose a game that has them"
        )


@dataclass(frozen=True, eq=False)
class OpenSpielGame:
    """A turn-based pyspiel game."""

    name: str
    players: int
    game: Any  # pyspiel.Game
    unit: str = field(default="points", init=False)

    def root(self) -> _State:
        """The first state."""
        return _State(self.name, self.game.new_initial_state(), {})


@dataclass(frozen=True, eq=False)
class _State:
    name: str
    state: Any  # pyspiel.State, never changed
    owners: dict[str, int]  # who first used the name of an information set; shared by all states of a walk

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

    @_asked
    def actions(self) -> tuple[str, ...]:
        moves = self._moves
        labels = [self.state.action_to_string(move) for move in moves]
        if len(set(labels)) == len(labels):
            return tuple(labels)
        count = Counter(labels)
        return tuple(t if count[t] == 1 else f"{t} #{move}" for t, move in zip(labels, moves, strict=True))

    @_asked
    def probabilities(self) -> Sequence[float]:
        return [probability for _, probability in self.state.chance_outcomes()]

    @_asked
    def child(self, index: int) -> _State:
        return _State(self.name, self.state.child(self._moves[index]), self.owners)

    @_asked
    def infoset(self) -> str:
        # Some games (phantom_ttt) use one string for both players; the later player's gets a mark.
        name: str = self.state.information_state_string()
        player = self.actor
        return name if self.owners.setdefault(name, player) == player else f"{name} (player {player})"

    @_asked
    def payoffs(self) -> Sequence[float]:
        returns: list[float] = self.state.returns()
        return returns
