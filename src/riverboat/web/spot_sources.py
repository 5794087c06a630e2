"""Spots from all that can be opened: entries, a file's text, a file or run of the data folder, a table state, a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

from riverboat.api.seating import rules_for
from riverboat.cards.notation import parse_board, show_cards
from riverboat.cli.solve import many_boards, table_states
from riverboat.cli.solve.options import TableFlags
from riverboat.cli.solve.spot_estimate import estimate
from riverboat.core.errors import InputError, shown
from riverboat.core.text_files import read_text, read_toml
from riverboat.formats import spot_file
from riverboat.formats.other_solvers import is_other, loads_other
from riverboat.games.holdem.betting import Betting
from riverboat.games.holdem.match_state import settled
from riverboat.games.spots.locks import add_locks, check_locks, unreachable
from riverboat.games.spots.spot import Spot
from riverboat.strategies.table_spot import table_spot
from riverboat.web.data_folder import DataFolder
from riverboat.web.models import Source
from riverboat.web.runs.solutions import Shelf

WAYS = ("spot", "text", "file", "run", "state", "line")
MOST_LOCKS = 2_000
SUITS = 4


class NotedSpot(NamedTuple):
    """A spot, and what there is to say about it."""

    spot: Spot
    notes: list[str]


def find(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    """The spot that a request means."""
    given = [way for way in WAYS if getattr(source, way) is not None]
    if len(given) != 1:
        raise InputError(f"a spot comes from one of {', '.join(WAYS)}; given: {', '.join(given) or 'none'}")
    way = given[0]
    if way not in ("state", "line") and (source.agent or source.board or source.floor is not None):
        raise InputError(f"agent, board and floor go with state or line, not with {way}")
    noted = _READERS[way](source, data, shelf)
    spot = noted.spot
    for entries in filter(None, (source.locks, source.add_locks)):
        if len(entries) > MOST_LOCKS:
            raise InputError(f"{len(entries):,} locks: {MOST_LOCKS:,} are the most; hands that play alike share one")
    if source.locks is not None:
        spot = _with_locks(spot, source.locks)
    if source.add_locks is not None:
        spot = add_locks(spot, _with_locks(spot, source.add_locks).locks)
    check_locks(spot)
    return NotedSpot(spot, [*noted.notes, *unreachable(spot)])


def _with_locks(spot: Spot, entries: list[dict[str, Any]]) -> Spot:
    """Return a spot with other locks, from the entries of a spot file."""
    return spot_file.from_table(spot_file.to_table(replace(spot, locks=())) | {"lock": entries}, None, spot.name)


def _entries(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    return NotedSpot(spot_file.from_table(source.spot or {}, None), [])


def _text(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    return _words(source.text or "", "spot")


def _file(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    path = data.path(source.file or "")
    if not path.is_file():
        raise InputError(f"file {shown(source.file)}: not in the data folder")
    text = read_toml(path, "spot file") if path.suffix.lower() == ".toml" else read_text(path, "spot file")
    return _words(text, path.stem)


def _words(text: str, name: str) -> NotedSpot:
    """A spot file's text, or another solver's; files that it names are not read."""
    if is_other(text):
        other = loads_other(text, name)
        return NotedSpot(other.spot, list(other.notes))
    return NotedSpot(spot_file.loads(text, None, name), [])


def _run(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    game = shelf.solution(source.run or "")[0].tree.game
    if not isinstance(game, Spot):
        raise InputError(f"run {shown(source.run)}: holds {game.name}, which is no spot")
    return NotedSpot(game, [])


def _state(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    agent = shelf.agent(source.agent)
    return NotedSpot(table_states.spot_of(source.state or "", agent, TableFlags(floor=source.floor)), [])


def _line(source: Source, data: DataFolder, shelf: Shelf) -> NotedSpot:
    """A line of an agent as a spot: the same as a table state, without a hand at the table."""
    agent = shelf.agent(source.agent)
    rules = rules_for([agent], None)
    state = settled(Betting.from_line(rules, source.line or ""))
    menu = table_states.menu_of(agent, rules, None)
    floor = 0.0 if source.floor is None else source.floor
    name = f"{source.agent} {source.line} {source.board}"
    spot = table_spot(state, parse_board(source.board or ""), agent, menu=menu, floor=floor, name=name)
    return NotedSpot(spot, [])


def size(spot: Spot, schedule: str | None, threads: int, where: str | None) -> dict[str, Any]:
    """Return the estimate of a solve. Many boards are solved one after the other: their seconds are added up, and memory is
    that of the largest. Boards with the same suit symmetries take about the same, so that one of each kind is estimated."""
    if where is None:
        return estimate(spot, schedule, threads) | {"solves": 1}
    kinds: dict[int, list[Spot]] = {}
    for here in many_boards.place(spot, many_boards.read(where)):
        kinds.setdefault(suit_symmetries(here.board), []).append(here)
    sizes = {kind: estimate(some[0], schedule, threads) for kind, some in kinds.items()}
    largest = max(sizes.values(), key=lambda facts: facts["infoset_actions"])
    seconds = sum(len(some) * sizes[kind]["seconds_to_target"] for kind, some in kinds.items())
    return largest | {"seconds_to_target": seconds, "solves": sum(map(len, kinds.values()))}


def suit_symmetries(board: Sequence[int]) -> int:
    """Return how many permutations of the suits leave a board as it is; the more, the fewer cards differ behind it."""
    cards = {divmod(card, SUITS) for card in board}
    return sum({(rank, to[suit]) for rank, suit in cards} == cards for to in permutations(range(SUITS)))


_READERS = {"spot": _entries, "text": _text, "file": _file, "run": _run, "state": _state, "line": _line}


def told(noted: NotedSpot) -> dict[str, Any]:
    """A spot as `SpotTold`."""
    spot = noted.spot
    start = spot.betting
    return {
        "name": spot.name,
        "spot": spot_file.to_table(spot),
        "text": spot_file.dumps(spot),
        "board": show_cards(spot.board),
        "pot": spot.pot,
        "stack": spot.stack,
        "player": ("oop", "ip")[int(start.actor[0])],
        "moves": list(start.moves(0)),
        "weights": {name: held.weights.tolist() for name, held in zip(("oop", "ip"), spot.ranges, strict=True)},
        "notes": noted.notes,
    }
