"""Spots from every kind of source: entries, a file's text, a file or run of the data folder, a match state, a line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from riverboat.api.spots import spot_from_line, spot_from_match_state
from riverboat.cards.notation import format_cards
from riverboat.core.errors import InputError, short_repr
from riverboat.core.files import read_text, read_toml_text
from riverboat.formats import spot_file
from riverboat.formats.other_solvers import is_other_solver_file, parse_other_solver_file
from riverboat.games.spots.locks import add_locks, check_locks, unreachable_locks
from riverboat.games.spots.spot import PLAYERS, Spot
from riverboat.web.data_folder import DataFolder
from riverboat.web.models import SpotResponse, SpotSource
from riverboat.web.solutions import SolutionStore

SOURCE_FIELDS = ("spot", "text", "file", "run", "state", "line")
MAX_LOCKS = 2_000


class SpotWithNotes(NamedTuple):
    """A spot with notes for the user: what was left out of another solver's file, and locks that are never reached."""

    spot: Spot
    notes: tuple[str, ...] = ()


def resolve_spot(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    """Return the spot that a request describes, with its locks applied and checked."""
    given = [field for field in SOURCE_FIELDS if getattr(source, field) is not None]
    if len(given) != 1:
        raise InputError(f"a spot needs exactly one of {', '.join(SOURCE_FIELDS)}; given: {', '.join(given) or 'none'}")
    field = given[0]
    if field not in ("state", "line") and (source.agent or source.board or source.floor is not None):
        raise InputError(f"agent, board and floor are for state or line, not for {field}")
    spot, notes = _read_spot(source, field, data, shelf)
    for entries in filter(None, (source.locks, source.add_locks)):
        if len(entries) > MAX_LOCKS:
            raise InputError(
                f"{len(entries):,} locks: the limit is {MAX_LOCKS:,}; hands with the same strategy can share one"
            )
    if source.locks is not None:
        spot = _with_locks(spot, source.locks)
    if source.add_locks is not None:
        spot = add_locks(spot, _with_locks(spot, source.add_locks).locks)
    check_locks(spot)
    return SpotWithNotes(spot, (*notes, *unreachable_locks(spot)))


def _with_locks(spot: Spot, entries: list[dict[str, Any]]) -> Spot:
    """Return a spot with other locks, given as entries of a spot file."""
    return spot_file.from_table(spot_file.to_table(replace(spot, locks=())) | {"lock": entries}, None, spot.name)


def _read_spot(source: SpotSource, field: str, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    """Return the spot that the given field of a request names, without the request's locks."""
    value: Any = getattr(source, field)
    if field == "spot":
        return SpotWithNotes(spot_file.from_table(value, None))
    if field == "text":
        return _parse_spot_text(value, "spot")
    if field == "file":
        path = data.path(value)
        if not path.is_file():
            raise InputError(f"file {short_repr(value)}: not in the data folder")
        text = read_toml_text(path, "spot file") if path.suffix.lower() == ".toml" else read_text(path, "spot file")
        return _parse_spot_text(text, path.stem)
    if field == "run":
        game = shelf.solution(value)[0].tree.game
        if not isinstance(game, Spot):
            raise InputError(f"run {short_repr(value)}: contains {game.name}, which is not a spot")
        return SpotWithNotes(game)
    agent = shelf.agent(source.agent)
    if field == "state":
        return SpotWithNotes(spot_from_match_state(value, ranges=agent, floor=source.floor))
    name = f"{source.agent} {value} {source.board}"
    return SpotWithNotes(spot_from_line(value, source.board or "", agent, source.floor, name))


def _parse_spot_text(text: str, name: str) -> SpotWithNotes:
    """Parse the text of a spot file or of another solver's file; files that it names are not read."""
    if is_other_solver_file(text):
        other = parse_other_solver_file(text, name)
        return SpotWithNotes(other.spot, other.notes)
    return SpotWithNotes(spot_file.loads(text, None, name))


def spot_response(spot_with_notes: SpotWithNotes) -> SpotResponse:
    """Convert a valid spot to a response: its file, its first player and actions, and both ranges."""
    spot, notes = spot_with_notes
    weights = {name: hand_range.weights.tolist() for name, hand_range in zip(PLAYERS, spot.ranges, strict=True)}
    return SpotResponse(
        name=spot.name, board=format_cards(spot.board), pot=spot.pot, stack=spot.stack, notes=list(notes),
        spot=spot_file.to_table(spot), text=spot_file.dumps(spot), player=PLAYERS[int(spot.betting.actor[0])],
        moves=list(spot.betting.actions(0)), weights=weights,
    )  # fmt: skip
