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
    """A spot with notes for the user."""

    spot: Spot
    notes: list[str]


def resolve_spot(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    """Return the spot that a request describes."""
    given = [field for field in SOURCE_FIELDS if getattr(source, field) is not None]
    if len(given) != 1:
        raise InputError(f"a spot needs exactly one of {', '.join(SOURCE_FIELDS)}; given: {', '.join(given) or 'none'}")
    field = given[0]
    if field not in ("state", "line") and (source.agent or source.board or source.floor is not None):
        raise InputError(f"agent, board and floor are for state or line, not for {field}")
    resolved = _READERS[field](source, data, shelf)
    spot = resolved.spot
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
    return SpotWithNotes(spot, [*resolved.notes, *unreachable_locks(spot)])


def _with_locks(spot: Spot, entries: list[dict[str, Any]]) -> Spot:
    """Return a spot with other locks, given as entries of a spot file."""
    return spot_file.from_table(spot_file.to_table(replace(spot, locks=())) | {"lock": entries}, None, spot.name)


def _spot_from_entries(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    return SpotWithNotes(spot_file.from_table(source.spot or {}, None), [])


def _spot_from_request_text(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    return _parse_spot_text(source.text or "", "spot")


def _spot_from_file(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    path = data.path(source.file or "")
    if not path.is_file():
        raise InputError(f"file {short_repr(source.file)}: not in the data folder")
    text = read_toml_text(path, "spot file") if path.suffix.lower() == ".toml" else read_text(path, "spot file")
    return _parse_spot_text(text, path.stem)


def _parse_spot_text(text: str, name: str) -> SpotWithNotes:
    """Parse the text of a spot file or of another solver's file; files that it names are not read."""
    if is_other_solver_file(text):
        other = parse_other_solver_file(text, name)
        return SpotWithNotes(other.spot, list(other.notes))
    return SpotWithNotes(spot_file.loads(text, None, name), [])


def _spot_from_run(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    game = shelf.solution(source.run or "")[0].tree.game
    if not isinstance(game, Spot):
        raise InputError(f"run {short_repr(source.run)}: contains {game.name}, which is not a spot")
    return SpotWithNotes(game, [])


def _spot_from_match_state(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    agent = shelf.agent(source.agent)
    return SpotWithNotes(spot_from_match_state(source.state or "", ranges=agent, floor=source.floor), [])


def _spot_from_line(source: SpotSource, data: DataFolder, shelf: SolutionStore) -> SpotWithNotes:
    agent, name = shelf.agent(source.agent), f"{source.agent} {source.line} {source.board}"
    return SpotWithNotes(spot_from_line(source.line or "", source.board or "", agent, source.floor, name), [])


_READERS = {
    "spot": _spot_from_entries,
    "text": _spot_from_request_text,
    "file": _spot_from_file,
    "run": _spot_from_run,
    "state": _spot_from_match_state,
    "line": _spot_from_line,
}


def spot_response(spot_with_notes: SpotWithNotes) -> SpotResponse:
    """Return a valid spot for the page."""
    spot, notes = spot_with_notes
    weights = {name: hand_range.weights.tolist() for name, hand_range in zip(PLAYERS, spot.ranges, strict=True)}
    return SpotResponse(
        name=spot.name, board=format_cards(spot.board), pot=spot.pot, stack=spot.stack, notes=notes,
        spot=spot_file.to_table(spot), text=spot_file.dumps(spot), player=PLAYERS[int(spot.betting.actor[0])],
        moves=list(spot.betting.actions(0)), weights=weights,
    )  # fmt: skip
